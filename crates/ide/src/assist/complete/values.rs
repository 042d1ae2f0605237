//! Values: operands, tests, what is known of a compared path, strings.

use super::{Completion, CompletionBuilder, CompletionKind, escaped};
use crate::assist::chain::{Chain, Segment};
use crate::assist::context::Named;
use crate::assist::cursor::{Mode, tokens};
use crate::assist::entries::Entry;
use crate::assist::member::{self, Field, PathTarget};
use crate::assist::vocabulary::{self, Role};
use averment_builtins::table;
use averment_engine::check::DeclarationKind;
use averment_runs::run::Kind;
use averment_syntax::statements;

impl CompletionBuilder<'_, '_> {
    pub(super) fn operators(&mut self) {
        self.tests();
        self.words(Role::Operator, CompletionKind::Operator);
        self.push(
            CompletionKind::Operator,
            "|",
            "| ${1:function}()",
            "pipe",
            "gives the value to a function as its first argument",
        );
        self.modifiers();
    }

    pub(super) fn tests(&mut self) {
        if matches!(self.cursor.before.last(), Some(&"is")) {
            return self.behind_is();
        }
        self.words(Role::Test, CompletionKind::Operator);
    }

    pub(super) fn behind_is(&mut self) {
        self.words(Role::Type, CompletionKind::Type);
        self.schemas();
        for word in ["json", "empty", "missing", "not"] {
            self.push(CompletionKind::Operator, word, word, "", "");
        }
    }

    pub(super) fn schemas(&mut self) {
        let schemas: Vec<Named> =
            self.context.names.iter().filter(|one| one.kind == DeclarationKind::Schema).cloned().collect();
        schemas.iter().for_each(|one| self.named(one));
    }

    pub(super) fn operands(&mut self) {
        match self.cursor.before.last().copied() {
            Some("is") => return self.behind_is(),
            Some("json") => return self.schemas(),
            Some("|") => return self.functions(),
            _ => {}
        }
        self.compared_values();
        self.locals();
        self.step_fields();
        let values: Vec<Named> = self.context.names.iter().filter(|one| is_value(one.kind)).cloned().collect();
        values.iter().for_each(|one| self.named(one));
        self.roots();
        self.functions();
        self.words(Role::Constant, CompletionKind::Value);
        for (label, insert) in [
            ("any … in", "any ${1:x} in ${2:calls}: ${3:condition}"),
            ("all … in", "all ${1:x} in ${2:calls}: ${3:condition}"),
            ("no … in", "no ${1:x} in ${2:calls}: ${3:condition}"),
            ("count … in", "(count ${1:x} in ${2:calls}: ${3:condition}) >= 1"),
            ("if … then … else", "if ${1:condition} then ${2:a} else ${3:b}"),
        ] {
            self.push(CompletionKind::Operator, label, insert, "expression", "");
        }
        for form in statements::LISTS {
            self.push(CompletionKind::Operator, &format!("… {} …", form.words), form.snippet, "expression", form.doc);
        }
    }

    pub(super) fn roots(&mut self) {
        if self.cursor.in_invariant {
            self.push(CompletionKind::Root, "response", "response", "any", "what the call answered");
        }
        self.words(Role::Root, CompletionKind::Root);
        let context = self.context;
        for (name, one) in context.run.iter().flat_map(|run| &run.root.fields) {
            if vocabulary::word(name, &[Role::Root]).is_none() {
                self.field(CompletionKind::Root, &member::of_skeleton(&format!("run.{name}"), one));
            }
        }
    }

    pub(super) fn locals(&mut self) {
        for name in self.cursor.locals.clone() {
            let detail = if name.starts_with('$') { "binding" } else { "of this statement" };
            let insert = escaped(&name);
            self.push(CompletionKind::Variable, &name, &insert, detail, "");
        }
    }

    pub(super) fn step_fields(&mut self) {
        let Some(scope) = self.cursor.scope.clone() else { return };
        let kind = scope.kind.as_deref().and_then(member::kind_of).unwrap_or(Kind::Call);
        for field in member::fields(&PathTarget::Step(kind, scope.tools), self.context) {
            self.field(CompletionKind::Field, &field);
        }
    }

    /// Behind a comparison: the values that a schema allows or that were recorded for the path in front.
    pub(super) fn compared_values(&mut self) {
        let compares =
            self.cursor.before.last().is_some_and(|word| matches!(*word, "==" | "!=" | "in" | "[" | "contains"));
        if !compares {
            return;
        }
        let scan = tokens(self.cursor.text);
        let before = scan.tokens.iter().take_while(|token| token.end <= self.cursor.range.start).count();
        let word = |index: usize| {
            scan.tokens.get(index).and_then(|token| self.cursor.text.get(token.start..token.end)).unwrap_or("")
        };
        let mut operator = before;
        while operator > 0 && !matches!(word(operator - 1), "==" | "!=" | "in" | "contains") {
            operator -= 1;
        }
        let operator = operator.saturating_sub(1);
        let operator = if word(operator.saturating_sub(1)) == "not" { operator - 1 } else { operator };
        let Some(chain) = Chain::ending(self.cursor.text, &scan.tokens, operator) else { return };
        let left = matches!(self.cursor.mode, Mode::Arguments(_) | Mode::Value(..));
        let places = member::places(&chain, self.cursor.scope.as_ref(), left, self.context);
        self.examples(places.iter().map(member::itself));
    }

    pub(super) fn examples(&mut self, fields: impl Iterator<Item = Field>) {
        let fields = member::merged(fields.map(|field| Field { name: String::new(), ..field }));
        for example in fields.iter().flat_map(|field| &field.examples) {
            let insert = escaped(example);
            self.push(CompletionKind::Value, example, &insert, "value", "");
        }
    }

    pub(super) fn functions(&mut self) {
        let piped = self.cursor.before.last() == Some(&"|");
        for builtin in table::BUILTINS {
            let parameters = builtin.parameters.iter().skip(usize::from(piped)).filter(|one| !one.optional);
            let holes: Vec<String> =
                parameters.enumerate().map(|(index, one)| format!("${{{}:{}}}", index + 1, one.name)).collect();
            let insert = format!("{}({})", builtin.name, holes.join(", "));
            let doc = crate::assist::hover::of_builtin(builtin);
            self.push(CompletionKind::Function, builtin.name, &insert, &builtin.signature(), &doc);
        }
        let defs: Vec<Named> =
            self.context.names.iter().filter(|one| one.kind == DeclarationKind::Def).cloned().collect();
        defs.iter().for_each(|one| self.named(one));
    }

    pub(super) fn named(&mut self, one: &Named) {
        let kind = match one.kind {
            DeclarationKind::Def => CompletionKind::Function,
            DeclarationKind::DefStep => CompletionKind::Step,
            DeclarationKind::Schema => CompletionKind::Schema,
            DeclarationKind::Tool => CompletionKind::Tool,
            DeclarationKind::Rule | DeclarationKind::Case | DeclarationKind::Invariant => CompletionKind::Rule,
            DeclarationKind::Param | DeclarationKind::Let => CompletionKind::Variable,
        };
        let holes = one.parameters.iter().enumerate();
        let holes: Vec<String> = holes.map(|(index, name)| format!("${{{}:{}}}", index + 1, escaped(name))).collect();
        let call = matches!(one.kind, DeclarationKind::Def | DeclarationKind::DefStep) && !holes.is_empty();
        let insert = if call { format!("{}({})", one.name, holes.join(", ")) } else { one.name.clone() };
        let doc = crate::assist::hover::of_named(one);
        self.push(kind, &one.name, &insert, &one.signature, &doc);
    }

    /// In a string: a path, a name that the run holds, a rule.
    pub(super) fn text(&mut self) {
        let before = match self.cursor.before.last().copied().unwrap_or("") {
            "," | "|" | "or" if self.cursor.mode == Mode::Step => self.cursor.listed.as_str(),
            before => before,
        };
        let kind = match before {
            "use" | "from" | "file" | "template" => {
                self.path = Some(self.cursor.prefix.to_owned());
                return;
            }
            "skill" => Some(Kind::Skill),
            "span" => Some(Kind::Span),
            "handover" => Some(Kind::Handover),
            "read" => Some(Kind::Read),
            "write" => Some(Kind::Write),
            "command" => Some(Kind::Command),
            "http" => Some(Kind::Http),
            _ => None,
        };
        let context = self.context;
        let names = kind.and_then(|kind| context.run.as_ref()?.steps.get(&kind));
        for name in names.into_iter().flatten().filter(|name| !name.contains(['"', '\n'])) {
            self.push(CompletionKind::Value, name, &escaped(name), "in the run", "");
        }
        if let Mode::Object(Entry::StepValue(_, "tool")) = self.cursor.mode {
            for name in context.tool_names() {
                self.push(CompletionKind::Tool, name, &escaped(name), "tool", "");
            }
        }
        self.text_values();
    }

    /// Between quotes behind a comparison or an argument's colon: what is known of the path, without its quotes.
    pub(super) fn text_values(&mut self) {
        let before = self.items.len();
        match self.cursor.mode.clone() {
            Mode::Value(steps, path) => {
                let segments = path.iter().map(|name| Segment::Name(name.clone())).collect();
                let places = member::places(&Chain { segments }, Some(&steps), true, self.context);
                self.examples(places.iter().map(member::itself));
            }
            _ => self.compared_values(),
        }
        let inner = |item: Completion| {
            let text = item.label.strip_prefix('"')?.strip_suffix('"')?.to_owned();
            Some(Completion { insert: escaped(&text), label: text, ..item })
        };
        let found = self.items.split_off(before);
        self.items.extend(found.into_iter().filter_map(inner));
    }
}

pub(super) fn is_value(kind: DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Param | DeclarationKind::Let)
}

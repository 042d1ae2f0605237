//! Completion of values: operands, tests, known values of a compared path, strings.

use super::{Completion, CompletionBuilder, CompletionKind, escape_snippet};
use crate::assist::chain::{PathPrefix, PrefixPart};
use crate::assist::context::DeclaredName;
use crate::assist::cursor::{ComparedWhole, StatementPart, scan_bounded};
use crate::assist::entries::ObjectKind;
use crate::assist::member::{self, KnownField, PathTarget};
use crate::assist::vocabulary;
use crate::assist::word_role::Role;
use averment_builtins::table;
use averment_checker::DeclarationKind;
use averment_runs::run::StepKind;
use averment_syntax::statements;

impl CompletionBuilder<'_, '_> {
    pub(super) fn add_operators(&mut self) {
        let last = self.cursor.before.last().copied();
        match self.cursor.compared {
            ComparedWhole::Nothing => {}
            ComparedWhole::Calls if last == Some("match") => {
                self.add_words(Role::MatchExtent, CompletionKind::Operator);
                return self.add_operands();
            }
            ComparedWhole::Calls if last == Some("of") => return self.add_operands(),
            ComparedWhole::Calls => {
                self.add_words(Role::MatchClause, CompletionKind::Operator);
                return self.add_modifiers();
            }
            ComparedWhole::Part if last == Some("like") => return self.add_operands(),
            ComparedWhole::Part => self.add_words(Role::LikeClause, CompletionKind::Operator),
        }
        self.add_tests();
        self.add_words(Role::Operator, CompletionKind::Operator);
        self.push_item(
            CompletionKind::Operator,
            "|",
            "| ${1:function}()",
            "pipe",
            "gives the value to a function as its first argument",
        );
        self.add_modifiers();
    }

    pub(super) fn add_tests(&mut self) {
        if matches!(self.cursor.before.last(), Some(&"is")) {
            return self.behind_is();
        }
        self.add_words(Role::Test, CompletionKind::Operator);
    }

    pub(super) fn behind_is(&mut self) {
        self.add_words(Role::Type, CompletionKind::Type);
        self.add_schemas();
        for word in ["json", "xml", "sql", "empty", "missing", "not"] {
            self.push_item(CompletionKind::Operator, word, word, "", "");
        }
    }

    pub(super) fn add_schemas(&mut self) {
        let schemas: Vec<DeclaredName> =
            self.context.names.iter().filter(|one| one.kind == DeclarationKind::Schema).cloned().collect();
        schemas.iter().for_each(|one| self.add_declared(one));
    }

    pub(super) fn add_operands(&mut self) {
        match self.cursor.before.last().copied() {
            Some("is") => return self.behind_is(),
            Some("json") => return self.add_schemas(),
            Some("|") => return self.add_functions(),
            _ => {}
        }
        self.add_compared_values();
        self.add_locals();
        self.step_fields();
        let values: Vec<DeclaredName> = self.context.names.iter().filter(|one| is_value(one.kind)).cloned().collect();
        values.iter().for_each(|one| self.add_declared(one));
        self.add_roots();
        self.add_functions();
        self.add_words(Role::Constant, CompletionKind::Value);
        for (label, insert) in [
            ("any … in", "any ${1:x} in ${2:calls}: ${3:condition}"),
            ("all … in", "all ${1:x} in ${2:calls}: ${3:condition}"),
            ("no … in", "no ${1:x} in ${2:calls}: ${3:condition}"),
            ("count … in", "(count ${1:x} in ${2:calls}: ${3:condition}) >= 1"),
            ("if … then … else", "if ${1:condition} then ${2:a} else ${3:b}"),
        ] {
            self.push_item(CompletionKind::Operator, label, insert, "expression", "");
        }
        for form in statements::LISTS {
            self.push_item(
                CompletionKind::Operator,
                &format!("… {} …", form.words),
                form.snippet,
                "expression",
                form.doc,
            );
        }
    }

    pub(super) fn add_roots(&mut self) {
        if self.cursor.in_invariant {
            self.push_item(CompletionKind::Root, "response", "response", "any", "what the call answered");
        }
        self.add_words(Role::Root, CompletionKind::Root);
        let context = self.context;
        for (name, one) in context.run.iter().flat_map(|run| &run.root.fields) {
            if vocabulary::find_word(name, &[Role::Root]).is_none() {
                self.add_field(CompletionKind::Root, &member::skeleton_field(&format!("run.{name}"), one));
            }
        }
    }

    pub(super) fn add_locals(&mut self) {
        for name in self.cursor.locals.clone() {
            let detail = if name.starts_with('$') { "binding" } else { "of this statement" };
            let insert = escape_snippet(&name);
            self.push_item(CompletionKind::Variable, &name, &insert, detail, "");
        }
    }

    pub(super) fn step_fields(&mut self) {
        let Some(scope) = self.cursor.scope.clone() else { return };
        let kind = scope.kind.as_deref().and_then(member::step_kind).unwrap_or(StepKind::Call);
        for field in member::target_fields(&PathTarget::Step(kind, scope.tools), self.context) {
            self.add_field(CompletionKind::Field, &field);
        }
    }

    /// After a comparison: adds values that the schema allows or the run recorded for the path.
    pub(super) fn add_compared_values(&mut self) {
        let compares =
            self.cursor.before.last().is_some_and(|word| matches!(*word, "==" | "!=" | "in" | "[" | "contains"));
        if !compares {
            return;
        }
        let scan = scan_bounded(self.cursor.text);
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
        let Some(chain) = PathPrefix::ending_at(self.cursor.text, &scan.tokens, operator) else { return };
        let left = matches!(self.cursor.mode, StatementPart::Arguments(_) | StatementPart::Value(..));
        let places = member::resolve_path(&chain, self.cursor.scope.as_ref(), left, self.context);
        self.add_examples(places.iter().map(member::value_field));
    }

    pub(super) fn add_examples(&mut self, fields: impl Iterator<Item = KnownField>) {
        let fields = member::merge_fields(fields.map(|field| KnownField { name: String::new(), ..field }));
        for example in fields.iter().flat_map(|field| &field.examples) {
            let insert = escape_snippet(example);
            self.push_item(CompletionKind::Value, example, &insert, "value", "");
        }
    }

    pub(super) fn add_functions(&mut self) {
        let piped = self.cursor.before.last() == Some(&"|");
        for builtin in table::BUILTINS {
            let parameters = builtin.parameters.iter().skip(usize::from(piped)).filter(|one| !one.optional);
            let holes: Vec<String> =
                parameters.enumerate().map(|(index, one)| format!("${{{}:{}}}", index + 1, one.name)).collect();
            let insert = format!("{}({})", builtin.name, holes.join(", "));
            let doc = crate::assist::hover::builtin_page(builtin);
            self.push_item(CompletionKind::Function, builtin.name, &insert, &builtin.signature(), &doc);
        }
        let defs: Vec<DeclaredName> =
            self.context.names.iter().filter(|one| one.kind == DeclarationKind::Def).cloned().collect();
        defs.iter().for_each(|one| self.add_declared(one));
    }

    pub(super) fn add_declared(&mut self, one: &DeclaredName) {
        let kind = match one.kind {
            DeclarationKind::Def => CompletionKind::Function,
            DeclarationKind::DefStep => CompletionKind::Step,
            DeclarationKind::Schema => CompletionKind::Schema,
            DeclarationKind::Tool => CompletionKind::Tool,
            DeclarationKind::Rule | DeclarationKind::Case | DeclarationKind::Invariant => CompletionKind::Rule,
            DeclarationKind::Param | DeclarationKind::Let => CompletionKind::Variable,
        };
        let holes = one.parameters.iter().enumerate();
        let holes: Vec<String> =
            holes.map(|(index, name)| format!("${{{}:{}}}", index + 1, escape_snippet(name))).collect();
        let call = matches!(one.kind, DeclarationKind::Def | DeclarationKind::DefStep) && !holes.is_empty();
        let insert = if call { format!("{}({})", one.name, holes.join(", ")) } else { one.name.clone() };
        let doc = crate::assist::hover::declaration_page(one);
        self.push_item(kind, &one.name, &insert, &one.signature, &doc);
    }

    /// In a string: completes a path, a name from the run, or a rule.
    pub(super) fn complete_text(&mut self) {
        let before = match self.cursor.before.last().copied().unwrap_or("") {
            "," | "|" | "or" if self.cursor.mode == StatementPart::Step => self.cursor.listed.as_str(),
            before => before,
        };
        let kind = match before {
            "use" | "from" | "file" | "template" => {
                self.path = Some(self.cursor.prefix.to_owned());
                return;
            }
            "skill" => Some(StepKind::Skill),
            "span" => Some(StepKind::Span),
            "handover" => Some(StepKind::Handover),
            "read" => Some(StepKind::Read),
            "write" => Some(StepKind::Write),
            "command" => Some(StepKind::Command),
            "http" => Some(StepKind::Http),
            _ => None,
        };
        let context = self.context;
        let names = kind.and_then(|kind| context.run.as_ref()?.steps.get(&kind));
        for name in names.into_iter().flatten().filter(|name| !name.contains(['"', '\n'])) {
            self.push_item(CompletionKind::Value, name, &escape_snippet(name), "in the run", "");
        }
        if let StatementPart::Object(ObjectKind::StepValue(_, "tool")) = self.cursor.mode {
            for name in context.tool_names() {
                self.push_item(CompletionKind::Tool, name, &escape_snippet(name), "tool", "");
            }
        }
        if kind.is_none() && matches!(self.cursor.mode, StatementPart::Step | StatementPart::Call) {
            self.tool_texts();
        }
        self.text_values();
    }

    /// In a text that names a tool: adds the known tools, and parameters.
    fn tool_texts(&mut self) {
        let context = self.context;
        for name in context.tool_names().into_iter().filter(|name| !name.contains(['"', '\n'])) {
            self.push_item(CompletionKind::Tool, name, &escape_snippet(name), "tool", "");
        }
        let is_text = |one: &DeclaredName| one.kind == DeclarationKind::Param && one.signature.contains(": string");
        for one in context.names.iter().filter(|one| is_text(one)) {
            let label = format!("${{{}}}", one.name);
            let (insert, doc) = (escape_snippet(&label), one.doc.clone().unwrap_or_default());
            self.push_item(CompletionKind::Variable, &label, &insert, "the tool that a parameter names", &doc);
        }
    }

    /// In a string after a comparison or an argument's colon: adds known values of the path, without quotes.
    pub(super) fn text_values(&mut self) {
        let before = self.items.len();
        match self.cursor.mode.clone() {
            StatementPart::Value(steps, path) => {
                let segments = path.iter().map(|name| PrefixPart::Name(name.clone())).collect();
                let places = member::resolve_path(&PathPrefix { segments }, Some(&steps), true, self.context);
                self.add_examples(places.iter().map(member::value_field));
            }
            _ => self.add_compared_values(),
        }
        let inner = |item: Completion| {
            let text = item.label.strip_prefix('"')?.strip_suffix('"')?.to_owned();
            Some(Completion { insert: escape_snippet(&text), label: text, ..item })
        };
        let found = self.items.split_off(before);
        self.items.extend(found.into_iter().filter_map(inner));
    }
}

pub(super) fn is_value(kind: DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Param | DeclarationKind::Let)
}

//! Steps, what follows them, and what stands in their parentheses.

use super::values::is_value;
use super::{CompletionBuilder, CompletionKind, escaped};
use crate::assist::chain::{Chain, Segment};
use crate::assist::context::Named;
use crate::assist::cursor::{Mode, Steps, tokens};
use crate::assist::member::{self, Field, PathTarget, kind_of};
use crate::assist::vocabulary::{self, Role};
use averment_engine::check::DeclarationKind;
use averment_runs::run::Kind;
use averment_syntax::statements;

impl CompletionBuilder<'_, '_> {
    pub(super) fn steps(&mut self) {
        self.tools(true);
        let steps = self.context.names.iter().filter(|one| one.kind == DeclarationKind::DefStep);
        let steps: Vec<Named> = steps.cloned().collect();
        steps.iter().for_each(|one| self.named(one));
        self.words(Role::Kind, CompletionKind::StepKind);
        let words: &[(&str, &str)] = match (self.cursor.head.as_str(), self.cursor.before.last().copied()) {
            ("before" | "after", Some("before" | "after")) => &[("each", "one for each")],
            ("immediately", Some("immediately")) => &[("before", ""), ("after", "")],
            ("sequence", Some("sequence")) => {
                &[("only", "the steps that match any are exactly these"), ("exactly", "all calls are exactly these")]
            }
            ("never", Some("never")) => &[("repeat", "the same call again and again")],
            _ => &[],
        };
        for (word, doc) in words {
            self.push(CompletionKind::Operator, word, word, "", doc);
        }
        if matches!(self.cursor.head.as_str(), "no" | "some" | "count" | "if") {
            self.predicates();
            self.roots();
        }
    }

    pub(super) fn predicates(&mut self) {
        let defs: Vec<Named> =
            self.context.names.iter().filter(|one| one.kind == DeclarationKind::Def).cloned().collect();
        for one in &defs {
            self.push(CompletionKind::Function, &one.name, &one.name, &one.signature, one.doc.as_deref().unwrap_or(""));
        }
    }

    /// The tools of the catalogue and of the run.
    pub(super) fn tools(&mut self, with_arguments: bool) {
        let context = self.context;
        for name in context.tool_names() {
            let declared = context.tools.get(name);
            let called = context.run.as_ref().and_then(|run| run.tools.get(name));
            let detail = match (declared.is_some(), called) {
                (true, Some(called)) => format!("declared, called {}", times(called.count)),
                (false, Some(called)) => format!("called {} in the run", times(called.count)),
                _ => "declared".to_owned(),
            };
            let doc = declared.and_then(|tool| tool.description.clone()).unwrap_or_default();
            let written = written_tool(name);
            let insert = escaped(&written);
            self.push(CompletionKind::Tool, &written, &insert, &detail, &doc);
        }
        if with_arguments && context.tool_names().is_empty() {
            let bare: Vec<String> = self.words_used_as_tools();
            for name in bare {
                self.push(CompletionKind::Tool, &name, &name, "named in this file", "");
            }
        }
    }

    /// Without a catalogue and a run: the names that stand before parentheses or arrows in the text itself.
    pub(super) fn words_used_as_tools(&self) -> Vec<String> {
        let scan = tokens(self.cursor.text);
        let word = |index: usize| {
            scan.tokens.get(index).and_then(|token| self.cursor.text.get(token.start..token.end)).unwrap_or("")
        };
        let mut names = Vec::new();
        for index in 1..scan.tokens.len() {
            let (before, name) = (word(index - 1), word(index));
            let step =
                matches!(before, "require" | "never" | "before" | "after" | "first" | "last" | "->" | "each" | "some");
            let fits = name.len() > 1 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let known = vocabulary::word(name, &[Role::Statement, Role::Kind, Role::Declaration]).is_some();
            if step && fits && !known && !self.cursor.range.contains(&scan.tokens.get(index).map_or(0, |t| t.start)) {
                names.push(name.to_owned());
            }
        }
        names.sort();
        names.dedup();
        names
    }

    pub(super) fn behind_step(&mut self) {
        let rows: &[(&str, &str, &str)] = &[
            ("->", "-> ${1:step}", "the next step"),
            ("where", "where ${1:condition}", "only steps that meet the condition"),
            ("ok", "ok", "calls that succeeded"),
            ("failed", "failed", "calls that failed"),
            ("tagged", "tagged ${1:destructive}", "calls of tools with this tag"),
            ("by", "by ${1:agent}", "steps that this agent took"),
            ("within", "within ${1:3} calls", "not further apart"),
            ("then", "then ${1:step}", "what has to occur as well"),
            ("after", "after ${1:step}", "in the window behind this step"),
            ("before", "before ${1:step}", "in the window before this step"),
            ("between", "between ${1:open} and ${2:close}", "in the window between two steps"),
            ("until", "until ${1:step}", "where the window ends"),
            ("more than", "more than ${1:3} times", "how often in a row is too often"),
            ("times", "${1:2} times", "how often"),
            ("in", "in ${1:output}", "where a predicate looks"),
        ];
        let head = statements::head(&self.cursor.head);
        let of_any = |label: &str| matches!(label, "where" | "ok" | "failed" | "by" | "tagged");
        let fits = |label: &str| of_any(label) || head.is_some_and(|head| head.behind.contains(&label));
        for (label, insert, doc) in rows.iter().filter(|(label, ..)| fits(label)) {
            self.push(CompletionKind::Operator, label, insert, "", doc);
        }
        if self.cursor.head == "count" {
            self.comparisons();
        }
        self.modifiers();
    }

    pub(super) fn comparisons(&mut self) {
        let comparisons = ["<=", ">=", "==", "!=", "<", ">", "in"];
        for word in comparisons.iter().filter_map(|word| vocabulary::word(word, &[Role::Test])) {
            self.word(word, CompletionKind::Operator);
        }
    }

    pub(super) fn within(&mut self) {
        for (label, doc) in [("calls", "tool calls"), ("turns", "turns of the assistant"), ("5s", "a length of time")] {
            self.push(CompletionKind::Value, label, label, "", doc);
        }
        self.modifiers();
    }

    pub(super) fn members(&mut self) {
        let Some(chain) = &self.cursor.chain else { return };
        let left = matches!(self.cursor.mode, Mode::Arguments(_)) && !self.cursor.behind_operand;
        let left = left || matches!(self.cursor.mode, Mode::Arguments(_));
        if matches!(self.cursor.mode, Mode::Use) {
            return self.modules();
        }
        let places = member::places(chain, self.cursor.scope.as_ref(), left, self.context);
        let fields = places.iter().flat_map(|place| member::fields(place, self.context));
        for field in member::merged(fields) {
            self.field(CompletionKind::Field, &field);
        }
        if places.iter().any(|place| matches!(place, PathTarget::Steps(..))) {
            self.push(CompletionKind::Field, "[*]", "[*].${1:field}", "every element", "");
        }
    }

    pub(super) fn field(&mut self, kind: CompletionKind, field: &Field) {
        let plain = field.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if !plain || field.name.is_empty() {
            return;
        }
        let detail = if field.required { format!("{}, required", field.ty) } else { field.ty.clone() };
        let doc = crate::assist::hover::of_field(field);
        self.push(kind, &field.name, &field.name, detail.trim_start_matches(", "), &doc);
    }

    /// The arguments of a pattern's tools, or the fields of its kind.
    pub(super) fn arguments(&mut self, steps: &Steps) {
        let kind = steps.kind.as_deref().and_then(kind_of).unwrap_or(Kind::Call);
        let step = PathTarget::Step(kind, steps.tools.clone());
        let fields = if kind == Kind::Call {
            let chain = Chain { segments: vec![Segment::Name("args".to_owned())] };
            let places = member::places(&chain, Some(steps), false, self.context);
            places.iter().flat_map(|place| member::fields(place, self.context)).collect()
        } else {
            member::fields(&step, self.context)
        };
        for field in member::merged(fields) {
            let before = self.items.len();
            self.field(CompletionKind::Argument, &field);
            if let Some(item) = self.items.get_mut(before) {
                item.insert = format!("{}: ", item.insert);
            }
        }
        if kind == Kind::Call {
            for (name, doc) in [("args", "all arguments"), ("result", "what the call answered")] {
                self.push(CompletionKind::Field, name, name, "", doc);
            }
        }
        self.defined_step_parameters(steps);
    }

    pub(super) fn defined_step_parameters(&mut self, steps: &Steps) {
        let step = steps.tools.last().and_then(|name| self.context.named(name, &[DeclarationKind::DefStep])).cloned();
        if step.is_some() {
            self.operands();
        }
    }

    /// Behind `path:` in a pattern's parentheses.
    pub(super) fn argument_values(&mut self, steps: &Steps, path: &[String]) {
        let segments = path.iter().map(|name| Segment::Name(name.clone())).collect();
        let places = member::places(&Chain { segments }, Some(steps), true, self.context);
        self.examples(places.iter().map(member::itself));
        let bindings: Vec<String> = self.cursor.locals.clone();
        if let Some(last) = path.last()
            && !bindings.iter().any(|known| known.trim_start_matches('$') == last)
        {
            let label = format!("${last}");
            self.push(
                CompletionKind::Variable,
                &label,
                &escaped(&label),
                "new binding",
                "the same value wherever it stands in this statement",
            );
        }
        self.locals();
        let values: Vec<Named> = self.context.names.iter().filter(|one| is_value(one.kind)).cloned().collect();
        values.iter().for_each(|one| self.named(one));
        self.roots();
        self.words(Role::Constant, CompletionKind::Value);
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// The name of a tool as rules write it: quoted where a bare name could not be read as one.
fn written_tool(name: &str) -> String {
    let bare = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let word = averment_syntax::words::KINDS.contains(&name) || averment_syntax::words::is_reserved(name);
    if bare && !word { name.to_owned() } else { format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")) }
}

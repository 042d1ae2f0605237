//! Completion of steps, their clauses, and the contents of their parentheses.

use super::values::is_value;
use super::{CompletionBuilder, CompletionKind, escape_snippet};
use crate::assist::chain::{PathPrefix, PrefixPart};
use crate::assist::context::DeclaredName;
use crate::assist::cursor::{StatementPart, StepScope, scan_bounded};
use crate::assist::member::{self, KnownField, PathTarget, step_kind};
use crate::assist::vocabulary;
use crate::assist::word_role::Role;
use averment_checker::DeclarationKind;
use averment_runs::run::StepKind;
use averment_syntax::statements;

impl CompletionBuilder<'_, '_> {
    pub(super) fn add_steps(&mut self) {
        self.add_tools(true);
        let steps = self.context.names.iter().filter(|one| one.kind == DeclarationKind::DefStep);
        let steps: Vec<DeclaredName> = steps.cloned().collect();
        steps.iter().for_each(|one| self.add_declared(one));
        self.add_words(Role::Kind, CompletionKind::StepKind);
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
            self.push_item(CompletionKind::Operator, word, word, "", doc);
        }
        if matches!(self.cursor.head.as_str(), "no" | "some" | "count" | "if") {
            self.add_predicates();
            self.add_roots();
        }
    }

    pub(super) fn add_predicates(&mut self) {
        let defs: Vec<DeclaredName> =
            self.context.names.iter().filter(|one| one.kind == DeclarationKind::Def).cloned().collect();
        for one in &defs {
            self.push_item(
                CompletionKind::Function,
                &one.name,
                &one.name,
                &one.signature,
                one.doc.as_deref().unwrap_or(""),
            );
        }
    }

    pub(super) fn add_tools(&mut self, with_arguments: bool) {
        let context = self.context;
        for name in context.tool_names() {
            let declared = context.tools.get(name);
            let called = context.run.as_ref().and_then(|run| run.tools.get(name));
            let detail = match (declared.is_some(), called) {
                (true, Some(called)) => format!("declared, called {}", times_called(called.count)),
                (false, Some(called)) => format!("called {} in the run", times_called(called.count)),
                _ => "declared".to_owned(),
            };
            let doc = declared.and_then(|tool| tool.description.clone()).unwrap_or_default();
            let written = written_tool(name);
            let insert = escape_snippet(&written);
            self.push_item(CompletionKind::Tool, &written, &insert, &detail, &doc);
        }
        if with_arguments && context.tool_names().is_empty() {
            let bare: Vec<String> = self.words_used_as_tools();
            for name in bare {
                self.push_item(CompletionKind::Tool, &name, &name, "named in this file", "");
            }
        }
    }

    /// Returns names before parentheses or arrows in the text, for use without a catalog or a run.
    pub(super) fn words_used_as_tools(&self) -> Vec<String> {
        let scan = scan_bounded(self.cursor.text);
        let word = |index: usize| {
            scan.tokens.get(index).and_then(|token| self.cursor.text.get(token.start..token.end)).unwrap_or("")
        };
        let mut names = Vec::new();
        for index in 1..scan.tokens.len() {
            let (before, name) = (word(index - 1), word(index));
            let step =
                matches!(before, "require" | "never" | "before" | "after" | "first" | "last" | "->" | "each" | "some");
            let fits = name.len() > 1 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let known = vocabulary::find_word(name, &[Role::Statement, Role::Kind, Role::Declaration]).is_some();
            if step && fits && !known && !self.cursor.range.contains(&scan.tokens.get(index).map_or(0, |t| t.start)) {
                names.push(name.to_owned());
            }
        }
        names.sort();
        names.dedup();
        names
    }

    pub(super) fn behind_step(&mut self) {
        let head = statements::find_head(&self.cursor.head);
        let of_any = |label: &str| matches!(label, "where" | "ok" | "failed" | "by" | "tagged");
        let fits = |label: &str| of_any(label) || head.is_some_and(|head| head.behind.contains(&label));
        for word in vocabulary::words_with_role(Role::StepClause).filter(|word| fits(word.word)) {
            self.push_item(CompletionKind::Operator, word.word, word.snippet, "", word.doc);
        }
        if self.cursor.head == "count" {
            self.add_comparisons();
        }
        self.add_modifiers();
    }

    pub(super) fn add_comparisons(&mut self) {
        let comparisons = ["<=", ">=", "==", "!=", "<", ">", "in"];
        for word in comparisons.iter().filter_map(|word| vocabulary::find_word(word, &[Role::Test])) {
            self.add_word(word, CompletionKind::Operator);
        }
    }

    pub(super) fn add_within(&mut self) {
        for (label, doc) in [("calls", "tool calls"), ("turns", "turns of the assistant"), ("5s", "a length of time")] {
            self.push_item(CompletionKind::Value, label, label, "", doc);
        }
        self.add_modifiers();
    }

    pub(super) fn add_members(&mut self) {
        let Some(chain) = &self.cursor.chain else { return };
        let left = matches!(self.cursor.mode, StatementPart::Arguments(_)) && !self.cursor.behind_operand;
        let left = left || matches!(self.cursor.mode, StatementPart::Arguments(_));
        if matches!(self.cursor.mode, StatementPart::Use) {
            return self.add_modules();
        }
        let places = member::resolve_path(chain, self.cursor.scope.as_ref(), left, self.context);
        let fields = places.iter().flat_map(|place| member::target_fields(place, self.context));
        for field in member::merge_fields(fields) {
            self.add_field(CompletionKind::Field, &field);
        }
        if places.iter().any(|place| matches!(place, PathTarget::Steps(..))) {
            self.push_item(CompletionKind::Field, "[*]", "[*].${1:field}", "every element", "");
        }
    }

    pub(super) fn add_field(&mut self, kind: CompletionKind, field: &KnownField) {
        let plain = field.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if !plain || field.name.is_empty() {
            return;
        }
        let detail = if field.required { format!("{}, required", field.ty) } else { field.ty.clone() };
        let doc = crate::assist::hover::field_page(field);
        self.push_item(kind, &field.name, &field.name, detail.trim_start_matches(", "), &doc);
    }

    pub(super) fn add_arguments(&mut self, steps: &StepScope) {
        let kind = steps.kind.as_deref().and_then(step_kind).unwrap_or(StepKind::Call);
        let step = PathTarget::Step(kind, steps.tools.clone());
        let fields = if kind == StepKind::Call {
            let chain = PathPrefix { segments: vec![PrefixPart::Name("args".to_owned())] };
            let places = member::resolve_path(&chain, Some(steps), false, self.context);
            places.iter().flat_map(|place| member::target_fields(place, self.context)).collect()
        } else {
            member::target_fields(&step, self.context)
        };
        for field in member::merge_fields(fields) {
            let before = self.items.len();
            self.add_field(CompletionKind::Argument, &field);
            if let Some(item) = self.items.get_mut(before) {
                item.insert = format!("{}: ", item.insert);
            }
        }
        if kind == StepKind::Call {
            for (name, doc) in [("args", "all arguments"), ("result", "what the call answered")] {
                self.push_item(CompletionKind::Field, name, name, "", doc);
            }
        }
        self.add_step_parameters(steps);
    }

    pub(super) fn add_step_parameters(&mut self, steps: &StepScope) {
        let step =
            steps.tools.last().and_then(|name| self.context.find_name(name, &[DeclarationKind::DefStep])).cloned();
        if step.is_some() {
            self.add_operands();
        }
    }

    pub(super) fn argument_values(&mut self, steps: &StepScope, path: &[String]) {
        let segments = path.iter().map(|name| PrefixPart::Name(name.clone())).collect();
        let places = member::resolve_path(&PathPrefix { segments }, Some(steps), true, self.context);
        self.add_examples(places.iter().map(member::value_field));
        let bindings: Vec<String> = self.cursor.locals.clone();
        if let Some(last) = path.last()
            && !bindings.iter().any(|known| known.trim_start_matches('$') == last)
        {
            let label = format!("${last}");
            self.push_item(
                CompletionKind::Variable,
                &label,
                &escape_snippet(&label),
                "new binding",
                "the same value wherever it stands in this statement",
            );
        }
        self.add_locals();
        let values: Vec<DeclaredName> = self.context.names.iter().filter(|one| is_value(one.kind)).cloned().collect();
        values.iter().for_each(|one| self.add_declared(one));
        self.add_roots();
        self.add_words(Role::Constant, CompletionKind::Value);
    }
}

fn times_called(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// Returns a tool name for use in rules: quoted if it is not a valid bare name.
fn written_tool(name: &str) -> String {
    let bare = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let word = averment_syntax::words::KINDS.contains(&name) || averment_syntax::words::is_reserved(name);
    if bare && !word { name.to_owned() } else { format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")) }
}

//! What can be written at a place.

use super::cursor::{Body, Cursor, Mode, Steps};
use super::entries::{Entry, RUN_KEYS};
use super::facts::{Facts, Named};
use super::member::{self, Field, Place};
use super::vocabulary::{self, Role, Word};
use crate::builtins::{stdlib, table};
use crate::check::DeclarationKind;
use crate::diagnostic::Slug;
use crate::trace::run::Kind;
use std::ops::Range;

/// What a completion inserts, for the icon beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum CompletionKind {
    Statement,
    Declaration,
    Modifier,
    Root,
    Field,
    Argument,
    Tool,
    StepKind,
    Step,
    Function,
    Variable,
    Schema,
    Rule,
    Operator,
    Type,
    Value,
    Module,
    File,
    Key,
    Slug,
}

/// One thing that can be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// What is shown and matched against what is typed.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// Its type or signature, short.
    pub detail: String,
    /// More, as Markdown; may be empty.
    pub doc: String,
    /// What to insert, with `${1:…}` for what is to be filled in; see [`plain`].
    pub insert: String,
}

/// Everything that can be written at a place, the likeliest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completions {
    /// The bytes that a completion replaces.
    pub range: Range<usize>,
    /// The candidates. They are not chosen by what is typed already.
    pub items: Vec<Completion>,
    /// In a string that names a file: what is typed of its path. The names come from whoever reads files.
    pub path: Option<String>,
}

impl Completions {
    /// Those whose label begins with what is typed, upper and lower case alike.
    pub fn starting_with<'c>(&'c self, typed: &str) -> impl Iterator<Item = &'c Completion> {
        let typed = typed.to_lowercase();
        self.items.iter().filter(move |item| item.label.to_lowercase().starts_with(&typed))
    }
}

/// A snippet as plain text: `before ${1:approve} -> ${2:refund}` becomes `before approve -> refund`.
#[must_use]
pub fn plain(snippet: &str) -> String {
    let mut out = String::new();
    let mut letters = snippet.chars().peekable();
    // Places that are open, so that only their braces are left out.
    let mut open = 0_usize;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            '}' if open > 0 => open -= 1,
            '$' if letters.next_if_eq(&'{').is_some() => {
                while letters.next_if(char::is_ascii_digit).is_some() {}
                if letters.next_if_eq(&'|').is_some() {
                    first_choice(&mut letters, &mut out);
                } else {
                    letters.next_if_eq(&':');
                    open += 1;
                }
            }
            '$' if letters.peek().is_some_and(char::is_ascii_digit) => {
                while letters.next_if(char::is_ascii_digit).is_some() {}
            }
            other => out.push(other),
        }
    }
    out
}

/// The first of `a,b,c|}`.
fn first_choice(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    let mut first = true;
    while let Some(letter) = letters.next() {
        match letter {
            '|' if letters.next_if_eq(&'}').is_some() => return,
            ',' => first = false,
            _ if first => out.push(letter),
            _ => {}
        }
    }
}

/// A text that stands in a snippet as it is.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// What can be written at a byte offset.
#[must_use]
pub fn complete(text: &str, at: usize, facts: &Facts) -> Completions {
    let cursor = Cursor::new(text, at);
    let mut found = Found { cursor: &cursor, facts, items: Vec::new(), path: None };
    found.collect();
    let Found { items, path, .. } = found;
    let mut distinct: Vec<Completion> = Vec::with_capacity(items.len());
    let mut seen = std::collections::BTreeSet::new();
    for item in items {
        if seen.insert((item.label.clone(), item.kind)) {
            distinct.push(item);
        }
    }
    Completions { range: cursor.range.clone(), items: distinct, path }
}

struct Found<'c, 't> {
    cursor: &'c Cursor<'t>,
    facts: &'c Facts,
    items: Vec<Completion>,
    path: Option<String>,
}

impl Found<'_, '_> {
    fn collect(&mut self) {
        if self.cursor.in_comment {
            self.comment();
        } else if self.cursor.in_text {
            self.text();
        } else if self.cursor.chain.is_some() {
            self.members();
        } else {
            self.by_mode(self.cursor.mode.clone());
        }
    }

    fn push(&mut self, kind: CompletionKind, label: &str, insert: &str, detail: &str, doc: &str) {
        self.items.push(Completion {
            label: label.to_owned(),
            kind,
            detail: detail.to_owned(),
            doc: doc.to_owned(),
            insert: insert.to_owned(),
        });
    }

    fn by_mode(&mut self, mode: Mode) {
        let behind = self.cursor.behind_operand;
        match mode {
            Mode::Start(body) => self.start(body),
            Mode::Step if behind => self.behind_step(),
            Mode::Step => self.steps(),
            Mode::Expression if behind => self.operators(),
            Mode::Expression => self.operands(),
            Mode::Arguments(_) if behind => self.tests(),
            Mode::Arguments(steps) => self.arguments(&steps),
            Mode::Value(steps, path) => self.argument_values(&steps, &path),
            Mode::Type => self.words(Role::Type, CompletionKind::Type),
            Mode::Severity if behind && self.cursor.before.last() != Some(&"severity") => self.modifiers(),
            Mode::Severity => self.words(Role::Severity, CompletionKind::Value),
            Mode::Use => self.modules(),
            Mode::Test => self.test_words(),
            Mode::Call => self.tools(false),
            Mode::Object(entry) => self.entries(entry),
            Mode::Within => self.within(),
            Mode::Free if behind => self.modifiers(),
            Mode::Free => self.header_words(),
        }
    }

    fn words(&mut self, role: Role, kind: CompletionKind) {
        for word in vocabulary::words(role) {
            self.word(word, kind);
        }
    }

    fn word(&mut self, word: &Word, kind: CompletionKind) {
        let doc = super::hover::of_word(word);
        let detail = word.doc.split_once(": ").map_or("", |(ty, _)| ty);
        let detail = if matches!(word.role, Role::Root | Role::Field) { detail } else { word.role.noun() };
        self.push(kind, word.word, word.snippet, detail, &doc);
    }

    fn start(&mut self, body: Body) {
        use CompletionKind as K;
        let declarations: &[&str] = match body {
            Body::File => &[
                "rule",
                "use",
                "param",
                "let",
                "def",
                "def step",
                "schema",
                "tools from",
                "tool",
                "test",
                "suite",
                "case",
                "pre",
                "post",
                "invariant",
            ],
            Body::Suite => &["case", "rule", "workspace", "runner", "pre", "post", "invariant"],
            Body::Invariant => &["call", "for each tool", "test"],
            Body::Assertions | Body::Case => &["test"],
            _ => &[],
        };
        let settings: &[&str] = match body {
            Body::Case => &["prompt", "timeout"],
            Body::Workspace => &["template", "bootstrap"],
            Body::Runner => &["agent", "model", "command", "timeout", "env"],
            Body::Invariant => &["expect ok", "expect error"],
            _ => &[],
        };
        for name in settings {
            vocabulary::word(name, &[Role::Setting]).iter().for_each(|word| self.word(word, K::Modifier));
        }
        if !matches!(body, Body::Workspace | Body::Runner) {
            self.words(Role::Statement, K::Statement);
        }
        for name in declarations {
            vocabulary::word(name, &[Role::Declaration]).iter().for_each(|word| self.word(word, K::Declaration));
        }
        if !matches!(body, Body::Workspace | Body::Runner) {
            self.world();
            self.operands();
            self.modifiers();
        }
    }

    /// Statements of the world that begin like declarations.
    fn world(&mut self) {
        let rows = [
            ("env … is set", "env ${1:API_KEY} is set", "holds when the environment variable is set"),
            ("tool … is available", "tool ${1:exec} is available", "holds when the tool is among those of the run"),
            (
                "http … status",
                "http \"${1:example.com}\" status == ${2:200}",
                "holds when every traced request to it has this status",
            ),
        ];
        for (label, insert, doc) in rows {
            self.push(CompletionKind::Statement, label, insert, "statement", doc);
        }
    }

    fn modifiers(&mut self) {
        self.words(Role::Modifier, CompletionKind::Modifier);
    }

    /// Between the head of a declaration and its body.
    fn header_words(&mut self) {
        if matches!(self.cursor.before.last(), Some(&"args")) {
            self.push(CompletionKind::Operator, "valid", "valid", "", "the arguments fit the declared schemas");
        }
        if self.cursor.before.last() == Some(&"expect") {
            self.push(CompletionKind::Modifier, "fail", "fail \"${1:why}\"", "", "a known failure");
        }
    }

    fn steps(&mut self) {
        self.tools(true);
        let steps = self.facts.names.iter().filter(|one| one.kind == DeclarationKind::DefStep);
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

    fn predicates(&mut self) {
        let defs: Vec<Named> =
            self.facts.names.iter().filter(|one| one.kind == DeclarationKind::Def).cloned().collect();
        for one in &defs {
            self.push(CompletionKind::Function, &one.name, &one.name, &one.signature, one.doc.as_deref().unwrap_or(""));
        }
    }

    /// The tools of the catalogue and of the run.
    fn tools(&mut self, with_arguments: bool) {
        let facts = self.facts;
        for name in facts.tool_names() {
            let declared = facts.tools.get(name);
            let called = facts.run.as_ref().and_then(|run| run.tools.get(name));
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
        if with_arguments && facts.tool_names().is_empty() {
            let bare: Vec<String> = self.words_used_as_tools();
            for name in bare {
                self.push(CompletionKind::Tool, &name, &name, "named in this file", "");
            }
        }
    }

    /// Without a catalogue and a run: the names that stand before parentheses or arrows in the text itself.
    fn words_used_as_tools(&self) -> Vec<String> {
        let scan = super::cursor::tokens(self.cursor.text);
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

    fn behind_step(&mut self) {
        let rows: &[(&str, &str, &str)] = &[
            ("->", "-> ${1:step}", "the next step"),
            ("where", "where ${1:condition}", "only steps that meet the condition"),
            ("ok", "ok", "calls that succeeded"),
            ("failed", "failed", "calls that failed"),
            ("within", "within ${1:3} calls", "not further apart"),
            ("then", "then ${1:step}", "what has to occur as well"),
            ("after", "after ${1:step}", "in the window behind this step"),
            ("before", "before ${1:step}", "in the window before this step"),
            ("between", "between ${1:open} and ${2:close}", "in the window between two steps"),
            ("until", "until ${1:step}", "where the window ends"),
            ("more than", "more than ${1:3} times", "how often in a row is too often"),
            ("times", "${1:2} times", "how often"),
            ("only after", "only after ${1:step}", "the same as `before`, the other way round"),
            ("iff", "iff ${1:step}", "both or none"),
            ("in", "in ${1:output}", "where a predicate looks"),
        ];
        let head = self.cursor.head.as_str();
        let fits = |word: &str| match word {
            "->" => matches!(head, "before" | "after" | "immediately" | "sequence" | "flow"),
            "within" => matches!(head, "before" | "after" | "immediately" | "sequence" | "never"),
            "then" => head == "if",
            "after" | "before" | "between" => head == "never",
            "until" => matches!(head, "never" | "after"),
            "more than" => head == "never",
            "times" => head == "require",
            "in" => head == "no",
            "only after" | "iff" => false,
            _ => true,
        };
        for (label, insert, doc) in rows.iter().filter(|(label, ..)| fits(label)) {
            self.push(CompletionKind::Operator, label, insert, "", doc);
        }
        if head == "count" {
            self.comparisons();
        }
        self.modifiers();
    }

    fn comparisons(&mut self) {
        let comparisons = ["<=", ">=", "==", "!=", "<", ">", "in"];
        for word in comparisons.iter().filter_map(|word| vocabulary::word(word, &[Role::Test])) {
            self.word(word, CompletionKind::Operator);
        }
    }

    fn within(&mut self) {
        for (label, doc) in [("calls", "tool calls"), ("turns", "turns of the assistant"), ("5s", "a length of time")] {
            self.push(CompletionKind::Value, label, label, "", doc);
        }
        self.modifiers();
    }

    fn operators(&mut self) {
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

    fn tests(&mut self) {
        if matches!(self.cursor.before.last(), Some(&"is")) {
            return self.behind_is();
        }
        self.words(Role::Test, CompletionKind::Operator);
    }

    fn behind_is(&mut self) {
        self.words(Role::Type, CompletionKind::Type);
        self.schemas();
        for word in ["json", "empty", "missing", "not"] {
            self.push(CompletionKind::Operator, word, word, "", "");
        }
    }

    fn schemas(&mut self) {
        let schemas: Vec<Named> =
            self.facts.names.iter().filter(|one| one.kind == DeclarationKind::Schema).cloned().collect();
        schemas.iter().for_each(|one| self.named(one));
    }

    fn operands(&mut self) {
        match self.cursor.before.last().copied() {
            Some("is") => return self.behind_is(),
            Some("json") => return self.schemas(),
            Some("|") => return self.functions(),
            _ => {}
        }
        self.compared_values();
        self.locals();
        self.step_fields();
        let values: Vec<Named> = self.facts.names.iter().filter(|one| is_value(one.kind)).cloned().collect();
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
    }

    fn roots(&mut self) {
        if self.cursor.in_invariant {
            self.push(CompletionKind::Root, "response", "response", "any", "what the call answered");
        }
        self.words(Role::Root, CompletionKind::Root);
        let facts = self.facts;
        for (name, one) in facts.run.iter().flat_map(|run| &run.root.fields) {
            if vocabulary::word(name, &[Role::Root]).is_none() {
                self.field(CompletionKind::Root, &member::of_skeleton(&format!("run.{name}"), one));
            }
        }
    }

    fn locals(&mut self) {
        for name in self.cursor.locals.clone() {
            let detail = if name.starts_with('$') { "binding" } else { "of this statement" };
            let insert = escaped(&name);
            self.push(CompletionKind::Variable, &name, &insert, detail, "");
        }
    }

    fn step_fields(&mut self) {
        let Some(scope) = self.cursor.scope.clone() else { return };
        let kind = scope.kind.as_deref().and_then(member::kind_of).unwrap_or(Kind::Call);
        for field in member::fields(&Place::Step(kind, scope.tools), self.facts) {
            self.field(CompletionKind::Field, &field);
        }
    }

    /// Behind a comparison: the values that a schema allows or that were recorded for the path in front.
    fn compared_values(&mut self) {
        let compares =
            self.cursor.before.last().is_some_and(|word| matches!(*word, "==" | "!=" | "in" | "[" | "contains"));
        if !compares {
            return;
        }
        let scan = super::cursor::tokens(self.cursor.text);
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
        let Some(chain) = super::chain::Chain::ending(self.cursor.text, &scan.tokens, operator) else { return };
        let left = matches!(self.cursor.mode, Mode::Arguments(_) | Mode::Value(..));
        let places = member::places(&chain, self.cursor.scope.as_ref(), left, self.facts);
        self.examples(places.iter().map(member::itself));
    }

    fn examples(&mut self, fields: impl Iterator<Item = Field>) {
        let fields = member::merged(fields.map(|field| Field { name: String::new(), ..field }));
        for example in fields.iter().flat_map(|field| &field.examples) {
            let insert = escaped(example);
            self.push(CompletionKind::Value, example, &insert, "value", "");
        }
    }

    fn functions(&mut self) {
        let piped = self.cursor.before.last() == Some(&"|");
        for builtin in table::BUILTINS {
            let parameters = builtin.parameters.iter().skip(usize::from(piped)).filter(|one| !one.optional);
            let holes: Vec<String> =
                parameters.enumerate().map(|(index, one)| format!("${{{}:{}}}", index + 1, one.name)).collect();
            let insert = format!("{}({})", builtin.name, holes.join(", "));
            let doc = super::hover::of_builtin(builtin);
            self.push(CompletionKind::Function, builtin.name, &insert, &builtin.signature(), &doc);
        }
        let defs: Vec<Named> =
            self.facts.names.iter().filter(|one| one.kind == DeclarationKind::Def).cloned().collect();
        defs.iter().for_each(|one| self.named(one));
    }

    fn named(&mut self, one: &Named) {
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
        let doc = super::hover::of_named(one);
        self.push(kind, &one.name, &insert, &one.signature, &doc);
    }

    fn members(&mut self) {
        let Some(chain) = &self.cursor.chain else { return };
        let left = matches!(self.cursor.mode, Mode::Arguments(_)) && !self.cursor.behind_operand;
        let left = left || matches!(self.cursor.mode, Mode::Arguments(_));
        if matches!(self.cursor.mode, Mode::Use) {
            return self.modules();
        }
        let places = member::places(chain, self.cursor.scope.as_ref(), left, self.facts);
        let fields = places.iter().flat_map(|place| member::fields(place, self.facts));
        for field in member::merged(fields) {
            self.field(CompletionKind::Field, &field);
        }
        if places.iter().any(|place| matches!(place, Place::Steps(..))) {
            self.push(CompletionKind::Field, "[*]", "[*].${1:field}", "every element", "");
        }
    }

    fn field(&mut self, kind: CompletionKind, field: &Field) {
        let plain = field.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if !plain || field.name.is_empty() {
            return;
        }
        let detail = if field.required { format!("{}, required", field.ty) } else { field.ty.clone() };
        let doc = super::hover::of_field(field);
        self.push(kind, &field.name, &field.name, detail.trim_start_matches(", "), &doc);
    }

    /// The arguments of a pattern's tools, or the fields of its kind.
    fn arguments(&mut self, steps: &Steps) {
        let kind = steps.kind.as_deref().and_then(member::kind_of).unwrap_or(Kind::Call);
        let step = Place::Step(kind, steps.tools.clone());
        let fields = if kind == Kind::Call {
            let chain = super::chain::Chain { segments: vec![super::chain::Segment::Name("args".to_owned())] };
            let places = member::places(&chain, Some(steps), false, self.facts);
            places.iter().flat_map(|place| member::fields(place, self.facts)).collect()
        } else {
            member::fields(&step, self.facts)
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

    fn defined_step_parameters(&mut self, steps: &Steps) {
        let step = steps.tools.last().and_then(|name| self.facts.named(name, &[DeclarationKind::DefStep])).cloned();
        if step.is_some() {
            self.operands();
        }
    }

    /// Behind `path:` in a pattern's parentheses.
    fn argument_values(&mut self, steps: &Steps, path: &[String]) {
        let segments = path.iter().map(|name| super::chain::Segment::Name(name.clone())).collect();
        let places = member::places(&super::chain::Chain { segments }, Some(steps), true, self.facts);
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
        let values: Vec<Named> = self.facts.names.iter().filter(|one| is_value(one.kind)).cloned().collect();
        values.iter().for_each(|one| self.named(one));
        self.roots();
        self.words(Role::Constant, CompletionKind::Value);
    }

    fn modules(&mut self) {
        let dotted = self.cursor.chain.is_some();
        for name in stdlib::names() {
            let label = if dotted { name.to_owned() } else { format!("std.{name}") };
            let about = stdlib::module(name).map_or("", |module| module.text.lines().next().unwrap_or(""));
            self.push(CompletionKind::Module, &label, &label, "module", about.trim_start_matches(['#', ' ']));
        }
    }

    fn test_words(&mut self) {
        let last = self.cursor.before.last().copied().unwrap_or("");
        match last {
            "test" => self.push(
                CompletionKind::Value,
                "\"…\"",
                "\"${1:what is shown}\" expect ${2|pass,fail,vacuous,undecided,error|} ",
                "name",
                "",
            ),
            "expect" => self.words(Role::Verdict, CompletionKind::Value),
            _ if self.cursor.before.contains(&"expect") || !last.starts_with(['"', '\'']) => {
                let rules: Vec<Named> = self.facts.names.iter().filter(|one| is_rule(one.kind)).cloned().collect();
                rules.iter().for_each(|one| self.named(one));
                self.push(CompletionKind::Operator, "from", "from \"${1:run.json}\"", "", "takes the run from a file");
            }
            _ => self.push(
                CompletionKind::Operator,
                "expect",
                "expect ${1|pass,fail,vacuous,undecided,error|}",
                "",
                "what has to come out",
            ),
        }
    }

    fn entries(&mut self, entry: Entry) {
        match entry {
            Entry::Run => {
                for (key, value) in RUN_KEYS {
                    let doc = vocabulary::word(key, &[Role::Root]).map_or(String::new(), super::hover::of_word);
                    self.push(CompletionKind::Key, key, &format!("{key}: {value}"), "key of a run", &doc);
                }
            }
            Entry::Arguments => {
                let steps = self.cursor.scope.clone().unwrap_or_default();
                self.arguments(&steps);
            }
            Entry::StepValue(_, "tool") => {
                for name in self.facts.tool_names() {
                    let label = format!("\"{name}\"");
                    self.push(CompletionKind::Tool, &label, &escaped(&label), "tool", "");
                }
            }
            Entry::StepValue(_, "status") => {
                for word in ["\"ok\"", "\"failed\"", "\"denied\"", "\"pending\""] {
                    self.push(CompletionKind::Value, word, word, "status", "");
                }
            }
            Entry::StepValue(..) => self.words(Role::Constant, CompletionKind::Value),
            _ => {
                for key in entry.keys() {
                    let doc = vocabulary::word(key, &[Role::Field]).map_or(String::new(), super::hover::of_word);
                    self.push(CompletionKind::Key, key, &format!("{key}: "), "key", &doc);
                }
            }
        }
    }

    /// In a string: a path, a name that the run holds, a rule.
    fn text(&mut self) {
        let before = self.cursor.before.last().copied().unwrap_or("");
        let kind = match before {
            "use" | "from" | "file" | "template" => {
                self.path = Some(self.cursor.prefix.to_owned());
                return;
            }
            "skill" => Some(Kind::Skill),
            "span" => Some(Kind::Span),
            "read" => Some(Kind::Read),
            "write" => Some(Kind::Write),
            "command" => Some(Kind::Command),
            "http" => Some(Kind::Http),
            _ => None,
        };
        let facts = self.facts;
        let names = kind.and_then(|kind| facts.run.as_ref()?.steps.get(&kind));
        for name in names.into_iter().flatten().filter(|name| !name.contains(['"', '\n'])) {
            self.push(CompletionKind::Value, name, &escaped(name), "in the run", "");
        }
        if let Mode::Object(Entry::StepValue(_, "tool")) = self.cursor.mode {
            for name in facts.tool_names() {
                self.push(CompletionKind::Tool, name, &escaped(name), "tool", "");
            }
        }
        self.text_values();
    }

    /// Between quotes behind a comparison or an argument's colon: what is known of the path, without its quotes.
    fn text_values(&mut self) {
        let before = self.items.len();
        match self.cursor.mode.clone() {
            Mode::Value(steps, path) => {
                let segments = path.iter().map(|name| super::chain::Segment::Name(name.clone())).collect();
                let places = member::places(&super::chain::Chain { segments }, Some(&steps), true, self.facts);
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

    /// In a comment: the slugs behind `allow:`.
    fn comment(&mut self) {
        let line = self.cursor.text.get(..self.cursor.range.end).unwrap_or("").rsplit('\n').next().unwrap_or("");
        let Some((_, comment)) = line.split_once('#') else { return };
        if comment.trim_start().starts_with("allow:") {
            for slug in Slug::ALL {
                self.push(CompletionKind::Slug, slug.as_str(), slug.as_str(), "", slug.title());
            }
        }
    }
}

fn is_value(kind: DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Param | DeclarationKind::Let)
}

fn is_rule(kind: DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Rule | DeclarationKind::Case | DeclarationKind::Invariant)
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
    let word = crate::syntax::words::KINDS.contains(&name) || crate::syntax::words::is_reserved(name);
    if bare && !word { name.to_owned() } else { format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")) }
}

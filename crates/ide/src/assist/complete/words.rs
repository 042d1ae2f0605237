//! At the start of a statement, in headers, in objects, in comments.

use super::{CompletionBuilder, CompletionKind, escaped};
use crate::assist::context::Named;
use crate::assist::cursor::Body;
use crate::assist::entries::{Entry, RUN_KEYS};
use crate::assist::vocabulary::{self, Role};
use averment_base::diagnostic::Slug;
use averment_builtins::stdlib;
use averment_engine::check::DeclarationKind;
use averment_syntax::statements;

impl CompletionBuilder<'_, '_> {
    pub(super) fn start(&mut self, body: Body) {
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
            Body::Case => &["prompt", "timeout", "max_steps", "classify"],
            Body::Workspace => &["template", "worktree", "revision", "bootstrap", "cwd", "env"],
            Body::Runner => &["agent", "model", "command", "args", "timeout", "max_steps", "env", "pass_env", "trace"],
            Body::Suite => &[
                "repeat",
                "retries",
                "timeout",
                "max_steps",
                "schedule",
                "parallel",
                "select",
                "snapshots",
                "cwd",
                "env",
                "classify",
            ],
            Body::Invariant => &["expect ok", "expect error", "classify"],
            Body::File | Body::Assertions => &["classify"],
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
    pub(super) fn world(&mut self) {
        for form in statements::FORMS.iter().filter(|form| form.words.contains('…')) {
            self.push(CompletionKind::Statement, form.words, form.snippet, "statement", form.doc);
        }
    }

    pub(super) fn modifiers(&mut self) {
        self.words(Role::Modifier, CompletionKind::Modifier);
    }

    /// Between the head of a declaration and its body.
    pub(super) fn header_words(&mut self) {
        if matches!(self.cursor.before.last(), Some(&"args")) {
            self.push(CompletionKind::Operator, "valid", "valid", "", "the arguments fit the declared schemas");
        }
        if self.cursor.before.last() == Some(&"expect") {
            self.push(CompletionKind::Modifier, "fail", "fail \"${1:why}\"", "", "a known failure");
        }
    }

    pub(super) fn modules(&mut self) {
        let dotted = self.cursor.chain.is_some();
        for name in stdlib::names() {
            let label = if dotted { name.to_owned() } else { format!("std.{name}") };
            let about = stdlib::module(name).map_or("", |module| module.text.lines().next().unwrap_or(""));
            self.push(CompletionKind::Module, &label, &label, "module", about.trim_start_matches(['#', ' ']));
        }
    }

    pub(super) fn test_words(&mut self) {
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
                let rules: Vec<Named> = self.context.names.iter().filter(|one| is_rule(one.kind)).cloned().collect();
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

    pub(super) fn entries(&mut self, entry: Entry) {
        match entry {
            Entry::Run => {
                for (key, value) in RUN_KEYS {
                    let doc = vocabulary::word(key, &[Role::Root]).map_or(String::new(), crate::assist::hover::of_word);
                    self.push(CompletionKind::Key, key, &format!("{key}: {value}"), "key of a run", &doc);
                }
            }
            Entry::Arguments => {
                let steps = self.cursor.scope.clone().unwrap_or_default();
                self.arguments(&steps);
            }
            Entry::StepValue(_, "tool") => {
                for name in self.context.tool_names() {
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
                    let doc =
                        vocabulary::word(key, &[Role::Field]).map_or(String::new(), crate::assist::hover::of_word);
                    self.push(CompletionKind::Key, key, &format!("{key}: "), "key", &doc);
                }
            }
        }
    }

    /// In a comment: the slugs behind `allow:`.
    pub(super) fn comment(&mut self) {
        let line = self.cursor.text.get(..self.cursor.range.end).unwrap_or("").rsplit('\n').next().unwrap_or("");
        let Some((_, comment)) = line.split_once('#') else { return };
        if comment.trim_start().starts_with("allow:") {
            for slug in Slug::ALL {
                self.push(CompletionKind::Slug, slug.as_str(), slug.as_str(), "", slug.title());
            }
        }
    }
}

fn is_rule(kind: DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Rule | DeclarationKind::Case | DeclarationKind::Invariant)
}

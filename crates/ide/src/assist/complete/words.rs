//! Completion at the start of a statement, in headers, in objects, in comments.

use super::{CompletionBuilder, CompletionKind, escape_snippet};
use crate::assist::chain::PathPrefix;
use crate::assist::context::DeclaredName;
use crate::assist::cursor::EnclosingBody;
use crate::assist::entries::{ObjectKind, RUN_KEYS};
use crate::assist::vocabulary;
use crate::assist::word_role::Role;
use averment_base::diagnostic::Slug;
use averment_builtins::stdlib;
use averment_checker::DeclarationKind;
use averment_syntax::statements;

impl CompletionBuilder<'_, '_> {
    pub(super) fn add_statements(&mut self, body: EnclosingBody) {
        use CompletionKind as K;
        let declarations: &[&str] = match body {
            EnclosingBody::File => &[
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
            EnclosingBody::Suite => &["case", "rule", "workspace", "runner", "pre", "post", "invariant"],
            EnclosingBody::Invariant => &["call", "for each tool", "test"],
            EnclosingBody::Assertions | EnclosingBody::Case => &["test"],
            _ => &[],
        };
        let settings: &[&str] = match body {
            EnclosingBody::Case => &["prompt", "timeout", "max_steps", "classify"],
            EnclosingBody::Workspace => &["template", "worktree", "revision", "bootstrap", "cwd", "env"],
            EnclosingBody::Runner => {
                &["agent", "model", "command", "args", "timeout", "max_steps", "env", "pass_env", "trace"]
            }
            EnclosingBody::Suite => &[
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
            EnclosingBody::Invariant => &["expect ok", "expect error", "classify"],
            EnclosingBody::File | EnclosingBody::Assertions => &["classify"],
            _ => &[],
        };
        for name in settings {
            vocabulary::find_word(name, &[Role::Setting]).iter().for_each(|word| self.add_word(word, K::Modifier));
        }
        if !matches!(body, EnclosingBody::Workspace | EnclosingBody::Runner) {
            self.add_words(Role::Statement, K::Statement);
        }
        for name in declarations {
            vocabulary::find_word(name, &[Role::Declaration])
                .iter()
                .for_each(|word| self.add_word(word, K::Declaration));
        }
        if !matches!(body, EnclosingBody::Workspace | EnclosingBody::Runner) {
            self.add_world();
            self.add_operands();
            self.add_modifiers();
        }
    }

    pub(super) fn add_world(&mut self) {
        for form in statements::FORMS.iter().filter(|form| form.words.contains('…')) {
            self.push_item(CompletionKind::Statement, form.words, form.snippet, "statement", form.doc);
        }
    }

    pub(super) fn add_modifiers(&mut self) {
        self.add_words(Role::Modifier, CompletionKind::Modifier);
    }

    pub(super) fn header_words(&mut self) {
        if matches!(self.cursor.before.last(), Some(&"args")) {
            self.push_item(CompletionKind::Operator, "valid", "valid", "", "the arguments fit the declared schemas");
        }
        if self.cursor.before.last() == Some(&"expect") {
            self.push_item(CompletionKind::Modifier, "fail", "fail \"${1:why}\"", "", "a known failure");
        }
    }

    pub(super) fn add_modules(&mut self) {
        let chain = self.cursor.chain.as_ref().map(PathPrefix::dotted_name);
        for name in stdlib::module_names() {
            let whole = format!("std.{name}");
            // After `std.packs.`, only the rest of the name is inserted.
            let label = match &chain {
                Some(chain) => whole.strip_prefix(chain.as_str()).and_then(|rest| rest.strip_prefix('.')),
                None => Some(whole.as_str()),
            };
            let Some(label) = label.map(str::to_owned) else { continue };
            let about = stdlib::find_module(name).map_or("", |module| module.text.lines().next().unwrap_or(""));
            self.push_item(CompletionKind::Module, &label, &label, "module", about.trim_start_matches(['#', ' ']));
        }
    }

    pub(super) fn test_words(&mut self) {
        let last = self.cursor.before.last().copied().unwrap_or("");
        match last {
            "test" => self.push_item(
                CompletionKind::Value,
                "\"…\"",
                "\"${1:what is shown}\" expect ${2|pass,fail,vacuous,undecided,error|} ",
                "name",
                "",
            ),
            "expect" => self.add_words(Role::Verdict, CompletionKind::Value),
            _ if self.cursor.before.contains(&"expect") || !last.starts_with(['"', '\'']) => {
                let rules: Vec<DeclaredName> =
                    self.context.names.iter().filter(|one| is_rule(one.kind)).cloned().collect();
                rules.iter().for_each(|one| self.add_declared(one));
                self.push_item(
                    CompletionKind::Operator,
                    "from",
                    "from \"${1:run.json}\"",
                    "",
                    "takes the run from a file",
                );
            }
            _ => self.push_item(
                CompletionKind::Operator,
                "expect",
                "expect ${1|pass,fail,vacuous,undecided,error|}",
                "",
                "what has to come out",
            ),
        }
    }

    pub(super) fn add_entries(&mut self, entry: ObjectKind) {
        match entry {
            ObjectKind::Run => {
                for (key, value) in RUN_KEYS {
                    let doc = vocabulary::find_word(key, &[Role::Root])
                        .map_or(String::new(), crate::assist::hover::word_page);
                    self.push_item(CompletionKind::Key, key, &format!("{key}: {value}"), "key of a run", &doc);
                }
            }
            ObjectKind::Arguments => {
                let steps = self.cursor.scope.clone().unwrap_or_default();
                self.add_arguments(&steps);
            }
            ObjectKind::StepValue(_, "tool") => {
                for name in self.context.tool_names() {
                    let label = format!("\"{name}\"");
                    self.push_item(CompletionKind::Tool, &label, &escape_snippet(&label), "tool", "");
                }
            }
            ObjectKind::StepValue(_, "status") => {
                for word in ["\"ok\"", "\"failed\"", "\"denied\"", "\"pending\""] {
                    self.push_item(CompletionKind::Value, word, word, "status", "");
                }
            }
            ObjectKind::StepValue(..) => self.add_words(Role::Constant, CompletionKind::Value),
            _ => {
                for key in entry.known_keys() {
                    let doc = vocabulary::find_word(key, &[Role::Field])
                        .map_or(String::new(), crate::assist::hover::word_page);
                    self.push_item(CompletionKind::Key, key, &format!("{key}: "), "key", &doc);
                }
            }
        }
    }

    pub(super) fn complete_comment(&mut self) {
        let line = self.cursor.text.get(..self.cursor.range.end).unwrap_or("").rsplit('\n').next().unwrap_or("");
        let Some((_, comment)) = line.split_once('#') else { return };
        if comment.trim_start().starts_with("allow:") {
            for slug in Slug::ALL {
                self.push_item(CompletionKind::Slug, slug.as_str(), slug.as_str(), "", slug.title());
            }
        }
    }
}

fn is_rule(kind: DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Rule | DeclarationKind::Case | DeclarationKind::Invariant)
}

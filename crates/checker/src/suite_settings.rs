//! The settings of suites, workspaces, runners and cases: one table of keys with what each takes.

use super::Checker;
use super::blocks::BodyKind;
use super::fold::text_of;
use super::settings;
use crate::ir::{Constant, SessionSettings, SettingContent, SettingValue, SuitePlan};
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, BodySetting, ExprKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingOwner {
    Suite,
    Workspace,
    Runner,
    Case,
}

impl SettingOwner {
    fn noun(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Workspace => "workspace",
            Self::Runner => "runner",
            Self::Case => "case",
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum SettingKind {
    Text,
    Words,
    One(&'static [&'static str]),
    Labels,
    Time,
    Count(u64),
    Pairs(&'static [&'static str]),
}

/// The agents whose command lines are known.
pub const AGENTS: &[&str] = &["claude-code", "codex", "copilot", "cursor-agent", "opencode"];
/// Values of `workspace`.
pub const WORKSPACES: &[&str] = &["isolated", "none", "shared"];
/// The order in which sessions are run.
pub const SCHEDULES: &[&str] = &["isolated_by_runner", "parallel", "serial"];
/// Values of `snapshots`.
pub const SNAPSHOTS: &[&str] = &["absolute", "metric", "path", "percent"];

const KEYS: &[(SettingOwner, &str, SettingKind)] = &[
    (SettingOwner::Suite, "cwd", SettingKind::Text),
    (SettingOwner::Suite, "env", SettingKind::Pairs(&[])),
    (SettingOwner::Suite, "max_steps", SettingKind::Count(1)),
    (SettingOwner::Suite, "parallel", SettingKind::Count(1)),
    (SettingOwner::Suite, "repeat", SettingKind::Count(1)),
    (SettingOwner::Suite, "retries", SettingKind::Count(0)),
    (SettingOwner::Suite, "schedule", SettingKind::One(SCHEDULES)),
    (SettingOwner::Suite, "select", SettingKind::Labels),
    (SettingOwner::Suite, "snapshots", SettingKind::Pairs(SNAPSHOTS)),
    (SettingOwner::Suite, "timeout", SettingKind::Time),
    (SettingOwner::Workspace, "bootstrap", SettingKind::Words),
    (SettingOwner::Workspace, "cwd", SettingKind::Text),
    (SettingOwner::Workspace, "env", SettingKind::Pairs(&[])),
    (SettingOwner::Workspace, "revision", SettingKind::Text),
    (SettingOwner::Workspace, "template", SettingKind::Text),
    (SettingOwner::Workspace, "timeout", SettingKind::Time),
    (SettingOwner::Workspace, "worktree", SettingKind::Text),
    (SettingOwner::Runner, "agent", SettingKind::One(AGENTS)),
    (SettingOwner::Runner, "args", SettingKind::Words),
    (SettingOwner::Runner, "command", SettingKind::Words),
    (SettingOwner::Runner, "env", SettingKind::Pairs(&[])),
    (SettingOwner::Runner, "max_steps", SettingKind::Count(1)),
    (SettingOwner::Runner, "model", SettingKind::Text),
    (SettingOwner::Runner, "pass_env", SettingKind::Words),
    (SettingOwner::Runner, "timeout", SettingKind::Time),
    (SettingOwner::Runner, "trace", SettingKind::Text),
    (SettingOwner::Case, "max_steps", SettingKind::Count(1)),
    (SettingOwner::Case, "prompt", SettingKind::Text),
    (SettingOwner::Case, "timeout", SettingKind::Time),
];

fn known_keys(owner: SettingOwner) -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(move |(of, ..)| *of == owner).map(|(_, key, _)| *key)
}

pub(super) fn is_of(owner: SettingOwner, key: &str) -> bool {
    known_keys(owner).any(|one| one == key)
}

pub(super) fn key_owners(key: &str) -> Option<String> {
    let owners: Vec<String> =
        KEYS.iter().filter(|(_, one, _)| *one == key).map(|(owner, ..)| format!("a {}", owner.noun())).collect();
    let (last, first) = owners.split_last()?;
    Some(if first.is_empty() { last.clone() } else { format!("{} or {last}", first.join(", ")) })
}

impl<'a> Checker<'a> {
    pub(super) fn read_workspace(&mut self, plan: &mut SuitePlan, mode: &'a ast::Name, settings: &'a [BodySetting]) {
        if plan.workspace.is_some() {
            let message = "a suite has one workspace";
            self.report_diagnostic(Diagnostic::new(Slug::Duplicate, mode.span, message).with_help("keep one of them"));
        }
        self.one_of("a workspace", &mode.text, mode.span, WORKSPACES);
        let taken = self.settings_of(SettingOwner::Workspace, settings);
        plan.workspace = Some((mode.text.clone(), mode.span, taken));
    }

    pub(super) fn read_runner(&mut self, plan: &mut SuitePlan, name: &'a ast::Name, settings: &'a [BodySetting]) {
        if plan.runners.iter().any(|(known, ..)| *known == name.text) {
            let message = format!("the runner `{}` occurs twice", name.text);
            self.report_diagnostic(
                Diagnostic::new(Slug::Duplicate, name.span, message).with_help("give one of them another name"),
            );
        }
        let taken = self.settings_of(SettingOwner::Runner, settings);
        plan.runners.push((name.text.clone(), name.span, taken));
    }

    fn settings_of(&mut self, owner: SettingOwner, settings: &'a [BodySetting]) -> SessionSettings {
        let mut taken = SessionSettings::default();
        settings.iter().for_each(|setting| self.read_setting(owner, setting, &mut taken));
        taken
    }

    pub(super) fn read_setting(&mut self, owner: SettingOwner, setting: &'a BodySetting, taken: &mut SessionSettings) {
        let (key, value, timeout) = match setting {
            BodySetting::Modifier(modifier) => {
                let message = format!("a {} has no setting `{}`", owner.noun(), settings::word_of(&modifier.kind));
                let help = format!("it has {}", known_keys(owner).collect::<Vec<_>>().join(", "));
                return self
                    .report_diagnostic(Diagnostic::new(Slug::Misplaced, modifier.span, message).with_help(help));
            }
            // The grammar has none here.
            BodySetting::Classify { .. } => return,
            BodySetting::Key { key, value, timeout } => (key, value.as_ref(), timeout.as_ref()),
        };
        let Some((.., kind)) = KEYS.iter().find(|(of, known, _)| *of == owner && *known == key.text) else {
            return self.unknown_setting(owner, key);
        };
        if taken.get(&key.text).is_some() {
            let message = format!("`{}` occurs twice", key.text);
            return self
                .report_diagnostic(Diagnostic::new(Slug::Duplicate, key.span, message).with_help("keep one of them"));
        }
        let timeout = timeout.and_then(|number| self.read_timeout(number));
        let Some(value) = value else {
            let message = format!("`{}` is set to nothing", key.text);
            return self
                .report_diagnostic(Diagnostic::new(Slug::TypeMismatch, key.span, message).with_help(help_of(*kind)));
        };
        match self.setting_value(*kind, value).and_then(require_usable) {
            Ok(value) => taken.0.push(SettingValue { key: key.text.clone(), value, timeout, span: key.span }),
            Err(None) => {}
            Err(Some(message)) => {
                let message = format!("`{}` {message}", key.text);
                self.report_diagnostic(
                    Diagnostic::new(Slug::TypeMismatch, value.span, message).with_help(help_of(*kind)),
                );
            }
        }
    }

    fn unknown_setting(&mut self, owner: SettingOwner, key: &ast::Name) {
        if let (SettingOwner::Suite, Some(owners)) = (owner, key_owners(&key.text)) {
            let message =
                format!("`{}` is a setting of {owners} and has no meaning in {}", key.text, BodyKind::Suite.noun());
            let help = format!("put `{}` into {owners}", key.text);
            return self.report_diagnostic(Diagnostic::new(Slug::Misplaced, key.span, message).with_help(help));
        }
        let message = format!("a {} has no setting `{}`", owner.noun(), key.text);
        let diagnostic = Diagnostic::new(Slug::Misplaced, key.span, message);
        self.report_diagnostic(match suggest_name(&key.text, known_keys(owner)) {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                key.span,
                near,
            ),
            None => diagnostic.with_help(format!("it has {}", known_keys(owner).collect::<Vec<_>>().join(", "))),
        });
    }

    /// `Err(None)` means that the problem was already reported.
    fn setting_value(&mut self, kind: SettingKind, value: &'a ast::Expr) -> Result<SettingContent, Option<String>> {
        match (kind, &value.kind) {
            (SettingKind::Time, ExprKind::Number(number)) => {
                self.read_timeout(number).map(SettingContent::Time).ok_or(None)
            }
            (SettingKind::Count(least), ExprKind::Number(number)) => {
                read_count(number, least).map(SettingContent::Count)
            }
            (SettingKind::Labels, ExprKind::Name(name)) => Ok(SettingContent::Words(vec![name.clone()])),
            (SettingKind::Labels, ExprKind::List(names)) => {
                names.iter().map(|name| self.read_label(name)).collect::<Result<_, _>>().map(SettingContent::Words)
            }
            (SettingKind::One(words), ExprKind::Name(_) | ExprKind::Text(_)) => {
                let word = self.read_label(value)?;
                if self.one_of("this", &word, value.span, words) { Ok(SettingContent::Text(word)) } else { Err(None) }
            }
            (SettingKind::Text, ExprKind::Text(text)) => self.plain_text(text).map(SettingContent::Text).ok_or(None),
            (SettingKind::Labels | SettingKind::Words, ExprKind::Text(text)) => {
                let text = self.plain_text(text).ok_or(None)?;
                match kind {
                    SettingKind::Labels => Ok(SettingContent::Words(vec![text])),
                    _ => shell_words::split(&text)
                        .map(SettingContent::Words)
                        .map_err(|_| Some("has a quote that is not closed".to_owned())),
                }
            }
            (SettingKind::Words, ExprKind::List(_)) | (SettingKind::Pairs(_), ExprKind::Object(_)) => {
                self.read_collection(kind, value)
            }
            _ => Err(Some("cannot be that".to_owned())),
        }
    }

    fn read_collection(&mut self, kind: SettingKind, value: &'a ast::Expr) -> Result<SettingContent, Option<String>> {
        let plain = |value: Constant| match value {
            Constant::Text(_) | Constant::Number(_) | Constant::Boolean(_) => Ok(text_of(&value)),
            _ => Err(Some("holds something that is no text".to_owned())),
        };
        if let (SettingKind::Pairs(names), ExprKind::Object(entries)) = (kind, &value.kind) {
            for (name, _) in entries.iter().filter(|_| !names.is_empty()) {
                if !self.one_of("this", &name.text, name.span, names) {
                    return Err(None);
                }
            }
            let pairs = self.constant_entries(value).ok_or(None)?;
            return pairs
                .into_iter()
                .map(|(name, value)| Ok((name, plain(value)?)))
                .collect::<Result<_, _>>()
                .map(SettingContent::Pairs);
        }
        let ExprKind::List(words) = &value.kind else { return Err(Some("cannot be that".to_owned())) };
        words.iter().map(|word| self.read_label(word)).collect::<Result<_, _>>().map(SettingContent::Words)
    }

    fn read_label(&mut self, value: &'a ast::Expr) -> Result<String, Option<String>> {
        match &value.kind {
            ExprKind::Name(name) => Ok(name.clone()),
            ExprKind::Text(text) => self.plain_text(text).ok_or(None),
            _ => Err(Some("holds something that is no text".to_owned())),
        }
    }

    fn read_timeout(&mut self, number: &ast::NumberLiteral) -> Option<u64> {
        if number.unit != ast::NumberUnit::Duration {
            let help = format!("write `timeout {}s`", number.value);
            self.report_diagnostic(
                Diagnostic::new(Slug::TypeMismatch, number.span, "a timeout is a duration").with_help(help),
            );
            return None;
        }
        let whole = number.value.split('.').next().unwrap_or_default();
        let milliseconds = whole.parse::<u64>().ok().filter(|time| (1..=LONGEST).contains(time));
        if milliseconds.is_none() {
            let help = "write a time from `1ms` to `30d`";
            self.report_diagnostic(
                Diagnostic::new(Slug::TypeMismatch, number.span, "no session takes so long").with_help(help),
            );
        }
        milliseconds
    }

    fn one_of(&mut self, what: &str, word: &str, span: Span, words: &'static [&'static str]) -> bool {
        if words.contains(&word) {
            return true;
        }
        let all: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let diagnostic = Diagnostic::new(Slug::Misplaced, span, format!("{what} cannot be `{word}`"));
        self.report_diagnostic(match suggest_name(word, words.iter().copied()) {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                span,
                near,
            ),
            None => diagnostic.with_help(format!("it is one of {}", all.join(", "))),
        });
        false
    }
}

fn require_usable(value: SettingContent) -> Result<SettingContent, Option<String>> {
    match unusable_reason(&value) {
        Some(why) => Err(Some(why)),
        None => Ok(value),
    }
}

fn unusable_reason(value: &SettingContent) -> Option<String> {
    let texts: Vec<&String> = match value {
        SettingContent::Text(text) => vec![text],
        SettingContent::Words(words) => words.iter().collect(),
        SettingContent::Pairs(pairs) => pairs.iter().flat_map(|(name, value)| [name, value]).collect(),
        SettingContent::Time(_) | SettingContent::Count(_) => Vec::new(),
    };
    if texts.iter().any(|text| text.contains('\0')) {
        return Some("holds a NUL character, and no program can be given one".to_owned());
    }
    let SettingContent::Pairs(pairs) = value else { return None };
    let (name, _) = pairs.iter().find(|(name, _)| name.is_empty() || name.contains('='))?;
    Some(format!("names the variable `{name}`, and a name is not empty and has no `=`"))
}

/// Longest session time in milliseconds: thirty days.
const LONGEST: u64 = 30 * 24 * 3_600_000;

fn read_count(number: &ast::NumberLiteral, least: u64) -> Result<u64, Option<String>> {
    let value = number.value.parse::<u64>().ok().filter(|value| (least..=MOST).contains(value));
    value
        .filter(|_| number.unit == ast::NumberUnit::None)
        .ok_or_else(|| Some(format!("is a whole number from {least} to {MOST}")))
}

/// Maximum of a whole-number setting.
const MOST: u64 = 100_000;

fn help_of(kind: SettingKind) -> String {
    match kind {
        SettingKind::Text => "write a text in quotes".to_owned(),
        SettingKind::Words => {
            "write the words of the command: `[\"sh\", \"setup.sh\"]`, or `\"sh setup.sh\"`".to_owned()
        }
        SettingKind::One(words) => format!("write one of {}", words.join(", ")),
        SettingKind::Labels => "write names: `smoke, auth`".to_owned(),
        SettingKind::Time => "write a time, such as `120s`".to_owned(),
        SettingKind::Count(least) => format!("write a whole number, such as `{}`", least.max(3)),
        SettingKind::Pairs(names) => match names {
            [] => "write names with values: `{ NAME: \"value\" }`".to_owned(),
            names => format!("write `{{ {}: … }}`, with {}", names.first().unwrap_or(&""), names.join(", ")),
        },
    }
}

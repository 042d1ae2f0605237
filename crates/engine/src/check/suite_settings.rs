//! The settings of suites, workspaces, runners and cases: one table of keys with what each takes.

use super::Checker;
use super::body::BodyKind;
use super::fold::text_of;
use super::settings;
use crate::ir::{Constant, SessionSettings, SettingValue, SuitePlan, Taken};
use averment_base::diagnostic::suggest::nearest;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, ExprKind, Setting};

/// What has settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Suite,
    Workspace,
    Runner,
    Case,
}

impl Owner {
    fn noun(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Workspace => "workspace",
            Self::Runner => "runner",
            Self::Case => "case",
        }
    }
}

/// What a setting takes.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// A text.
    Text,
    /// A command: a list of its words, or a text that is read as words.
    Words,
    /// One of these words.
    One(&'static [&'static str]),
    /// Names.
    Labels,
    /// A time.
    Time,
    /// A whole number, at least so large.
    Count(u64),
    /// Names with their values; one of these names, where there are any.
    Pairs(&'static [&'static str]),
}

/// The agents whose command lines are known.
pub const AGENTS: &[&str] = &["claude-code", "codex", "copilot", "cursor-agent", "opencode"];
/// What a workspace can be.
pub const WORKSPACES: &[&str] = &["isolated", "none", "shared"];
/// The order in which sessions are run.
pub const SCHEDULES: &[&str] = &["isolated_by_runner", "parallel", "serial"];
/// What `snapshots` holds.
pub const SNAPSHOTS: &[&str] = &["absolute", "metric", "path", "percent"];

/// The keys of each owner, with what they take.
const KEYS: &[(Owner, &str, Kind)] = &[
    (Owner::Suite, "cwd", Kind::Text),
    (Owner::Suite, "env", Kind::Pairs(&[])),
    (Owner::Suite, "max_steps", Kind::Count(1)),
    (Owner::Suite, "parallel", Kind::Count(1)),
    (Owner::Suite, "repeat", Kind::Count(1)),
    (Owner::Suite, "retries", Kind::Count(0)),
    (Owner::Suite, "schedule", Kind::One(SCHEDULES)),
    (Owner::Suite, "select", Kind::Labels),
    (Owner::Suite, "snapshots", Kind::Pairs(SNAPSHOTS)),
    (Owner::Suite, "timeout", Kind::Time),
    (Owner::Workspace, "bootstrap", Kind::Words),
    (Owner::Workspace, "cwd", Kind::Text),
    (Owner::Workspace, "env", Kind::Pairs(&[])),
    (Owner::Workspace, "revision", Kind::Text),
    (Owner::Workspace, "template", Kind::Text),
    (Owner::Workspace, "timeout", Kind::Time),
    (Owner::Workspace, "worktree", Kind::Text),
    (Owner::Runner, "agent", Kind::One(AGENTS)),
    (Owner::Runner, "args", Kind::Words),
    (Owner::Runner, "command", Kind::Words),
    (Owner::Runner, "env", Kind::Pairs(&[])),
    (Owner::Runner, "max_steps", Kind::Count(1)),
    (Owner::Runner, "model", Kind::Text),
    (Owner::Runner, "pass_env", Kind::Words),
    (Owner::Runner, "timeout", Kind::Time),
    (Owner::Runner, "trace", Kind::Text),
    (Owner::Case, "max_steps", Kind::Count(1)),
    (Owner::Case, "prompt", Kind::Text),
    (Owner::Case, "timeout", Kind::Time),
];

fn known(owner: Owner) -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(move |(of, ..)| *of == owner).map(|(_, key, _)| *key)
}

/// Whether a key is one of an owner's.
pub(super) fn is_of(owner: Owner, key: &str) -> bool {
    known(owner).any(|one| one == key)
}

/// Whose setting a key is, in words.
pub(super) fn owners(key: &str) -> Option<String> {
    let owners: Vec<String> =
        KEYS.iter().filter(|(_, one, _)| *one == key).map(|(owner, ..)| format!("a {}", owner.noun())).collect();
    let (last, first) = owners.split_last()?;
    Some(if first.is_empty() { last.clone() } else { format!("{} or {last}", first.join(", ")) })
}

impl<'a> Checker<'a> {
    /// `workspace MODE {…}`.
    pub(super) fn workspace(&mut self, plan: &mut SuitePlan, mode: &'a ast::Name, settings: &'a [Setting]) {
        if plan.workspace.is_some() {
            let message = "a suite has one workspace";
            self.report(Diagnostic::new(Slug::Duplicate, mode.span, message).help("keep one of them"));
        }
        self.one_of("a workspace", &mode.text, mode.span, WORKSPACES);
        let taken = self.settings_of(Owner::Workspace, settings);
        plan.workspace = Some((mode.text.clone(), mode.span, taken));
    }

    /// `runner NAME {…}`.
    pub(super) fn runner(&mut self, plan: &mut SuitePlan, name: &'a ast::Name, settings: &'a [Setting]) {
        if plan.runners.iter().any(|(known, ..)| *known == name.text) {
            let message = format!("the runner `{}` stands twice", name.text);
            self.report(Diagnostic::new(Slug::Duplicate, name.span, message).help("give one of them another name"));
        }
        let taken = self.settings_of(Owner::Runner, settings);
        plan.runners.push((name.text.clone(), name.span, taken));
    }

    fn settings_of(&mut self, owner: Owner, settings: &'a [Setting]) -> SessionSettings {
        let mut taken = SessionSettings::default();
        settings.iter().for_each(|setting| self.setting(owner, setting, &mut taken));
        taken
    }

    /// Reads a setting: a known key, once, with what it takes.
    pub(super) fn setting(&mut self, owner: Owner, setting: &'a Setting, taken: &mut SessionSettings) {
        let (key, value, timeout) = match setting {
            Setting::Modifier(modifier) => {
                let message = format!("a {} has no setting `{}`", owner.noun(), settings::word_of(&modifier.kind));
                let help = format!("it has {}", known(owner).collect::<Vec<_>>().join(", "));
                return self.report(Diagnostic::new(Slug::Misplaced, modifier.span, message).help(help));
            }
            // The grammar has none here.
            Setting::Classify { .. } => return,
            Setting::Key { key, value, timeout } => (key, value.as_ref(), timeout.as_ref()),
        };
        let Some((.., kind)) = KEYS.iter().find(|(of, known, _)| *of == owner && *known == key.text) else {
            return self.unknown_setting(owner, key);
        };
        if taken.get(&key.text).is_some() {
            let message = format!("`{}` stands twice", key.text);
            return self.report(Diagnostic::new(Slug::Duplicate, key.span, message).help("keep one of them"));
        }
        let timeout = timeout.and_then(|number| self.time(number));
        let Some(value) = value else {
            let message = format!("`{}` is set to nothing", key.text);
            return self.report(Diagnostic::new(Slug::TypeMismatch, key.span, message).help(help_of(*kind)));
        };
        match self.setting_value(*kind, value).and_then(usable) {
            Ok(value) => taken.0.push(SettingValue { key: key.text.clone(), value, timeout, span: key.span }),
            Err(None) => {}
            Err(Some(message)) => {
                let message = format!("`{}` {message}", key.text);
                self.report(Diagnostic::new(Slug::TypeMismatch, value.span, message).help(help_of(*kind)));
            }
        }
    }

    fn unknown_setting(&mut self, owner: Owner, key: &ast::Name) {
        if let (Owner::Suite, Some(owners)) = (owner, owners(&key.text)) {
            let message =
                format!("`{}` is a setting of {owners} and has no meaning in {}", key.text, BodyKind::Suite.noun());
            let help = format!("put `{}` into {owners}", key.text);
            return self.report(Diagnostic::new(Slug::Misplaced, key.span, message).help(help));
        }
        let message = format!("a {} has no setting `{}`", owner.noun(), key.text);
        let diagnostic = Diagnostic::new(Slug::Misplaced, key.span, message);
        self.report(match nearest(&key.text, known(owner)) {
            Some(near) => {
                diagnostic.help(format!("did you mean `{near}`?")).fix(format!("replace with `{near}`"), key.span, near)
            }
            None => diagnostic.help(format!("it has {}", known(owner).collect::<Vec<_>>().join(", "))),
        });
    }

    /// What a value is for a setting; an error says what is wrong with it, or that it has been said.
    fn setting_value(&mut self, kind: Kind, value: &'a ast::Expr) -> Result<Taken, Option<String>> {
        match (kind, &value.kind) {
            (Kind::Time, ExprKind::Number(number)) => self.time(number).map(Taken::Time).ok_or(None),
            (Kind::Count(least), ExprKind::Number(number)) => count(number, least).map(Taken::Count),
            (Kind::Labels, ExprKind::Name(name)) => Ok(Taken::Words(vec![name.clone()])),
            (Kind::Labels, ExprKind::List(names)) => {
                names.iter().map(|name| self.label(name)).collect::<Result<_, _>>().map(Taken::Words)
            }
            (Kind::One(words), ExprKind::Name(_) | ExprKind::Text(_)) => {
                let word = self.label(value)?;
                if self.one_of("this", &word, value.span, words) { Ok(Taken::Text(word)) } else { Err(None) }
            }
            (Kind::Text, ExprKind::Text(text)) => self.plain_text(text).map(Taken::Text).ok_or(None),
            (Kind::Labels | Kind::Words, ExprKind::Text(text)) => {
                let text = self.plain_text(text).ok_or(None)?;
                match kind {
                    Kind::Labels => Ok(Taken::Words(vec![text])),
                    _ => shell_words::split(&text)
                        .map(Taken::Words)
                        .map_err(|_| Some("has a quote that is not closed".to_owned())),
                }
            }
            (Kind::Words, ExprKind::List(_)) | (Kind::Pairs(_), ExprKind::Object(_)) => self.collected(kind, value),
            _ => Err(Some("cannot be that".to_owned())),
        }
    }

    /// A list of texts, or an object of names and values.
    fn collected(&mut self, kind: Kind, value: &'a ast::Expr) -> Result<Taken, Option<String>> {
        let plain = |value: Constant| match value {
            Constant::Text(_) | Constant::Number(_) | Constant::Boolean(_) => Ok(text_of(&value)),
            _ => Err(Some("holds something that is no text".to_owned())),
        };
        if let (Kind::Pairs(names), ExprKind::Object(entries)) = (kind, &value.kind) {
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
                .map(Taken::Pairs);
        }
        let ExprKind::List(words) = &value.kind else { return Err(Some("cannot be that".to_owned())) };
        words.iter().map(|word| self.label(word)).collect::<Result<_, _>>().map(Taken::Words)
    }

    /// A word or a text.
    fn label(&mut self, value: &'a ast::Expr) -> Result<String, Option<String>> {
        match &value.kind {
            ExprKind::Name(name) => Ok(name.clone()),
            ExprKind::Text(text) => self.plain_text(text).ok_or(None),
            _ => Err(Some("holds something that is no text".to_owned())),
        }
    }

    /// A duration, which a timeout is.
    fn time(&mut self, number: &ast::Number) -> Option<u64> {
        if number.unit != ast::Unit::Duration {
            let help = format!("write `timeout {}s`", number.value);
            self.report(Diagnostic::new(Slug::TypeMismatch, number.span, "a timeout is a duration").help(help));
            return None;
        }
        let whole = number.value.split('.').next().unwrap_or_default();
        let milliseconds = whole.parse::<u64>().ok().filter(|time| (1..=LONGEST).contains(time));
        if milliseconds.is_none() {
            let help = "write a time from `1ms` to `30d`";
            self.report(Diagnostic::new(Slug::TypeMismatch, number.span, "no session takes so long").help(help));
        }
        milliseconds
    }

    /// Whether a word is one of these; says so where it is not.
    fn one_of(&mut self, what: &str, word: &str, span: Span, words: &'static [&'static str]) -> bool {
        if words.contains(&word) {
            return true;
        }
        let all: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let diagnostic = Diagnostic::new(Slug::Misplaced, span, format!("{what} cannot be `{word}`"));
        self.report(match nearest(word, words.iter().copied()) {
            Some(near) => {
                diagnostic.help(format!("did you mean `{near}`?")).fix(format!("replace with `{near}`"), span, near)
            }
            None => diagnostic.help(format!("it is one of {}", all.join(", "))),
        });
        false
    }
}

/// A value, where programs can be given it.
fn usable(value: Taken) -> Result<Taken, Option<String>> {
    match wrong(&value) {
        Some(why) => Err(Some(why)),
        None => Ok(value),
    }
}

/// Why no program can be given a value, as words of its command line or as variables.
fn wrong(value: &Taken) -> Option<String> {
    let texts: Vec<&String> = match value {
        Taken::Text(text) => vec![text],
        Taken::Words(words) => words.iter().collect(),
        Taken::Pairs(pairs) => pairs.iter().flat_map(|(name, value)| [name, value]).collect(),
        Taken::Time(_) | Taken::Count(_) => Vec::new(),
    };
    if texts.iter().any(|text| text.contains('\0')) {
        return Some("holds a NUL character, and no program can be given one".to_owned());
    }
    let Taken::Pairs(pairs) = value else { return None };
    let (name, _) = pairs.iter().find(|(name, _)| name.is_empty() || name.contains('='))?;
    Some(format!("names the variable `{name}`, and a name is not empty and has no `=`"))
}

/// The longest time of a session, in milliseconds: thirty days.
const LONGEST: u64 = 30 * 24 * 3_600_000;

fn count(number: &ast::Number, least: u64) -> Result<u64, Option<String>> {
    let value = number.value.parse::<u64>().ok().filter(|value| (least..=MOST).contains(value));
    value
        .filter(|_| number.unit == ast::Unit::None)
        .ok_or_else(|| Some(format!("is a whole number from {least} to {MOST}")))
}

/// The largest number of anything.
const MOST: u64 = 100_000;

fn help_of(kind: Kind) -> String {
    match kind {
        Kind::Text => "write a text in quotes".to_owned(),
        Kind::Words => "write the words of the command: `[\"sh\", \"setup.sh\"]`, or `\"sh setup.sh\"`".to_owned(),
        Kind::One(words) => format!("write one of {}", words.join(", ")),
        Kind::Labels => "write names: `smoke, auth`".to_owned(),
        Kind::Time => "write a time, such as `120s`".to_owned(),
        Kind::Count(least) => format!("write a whole number, such as `{}`", least.max(3)),
        Kind::Pairs(names) => match names {
            [] => "write names with values: `{ NAME: \"value\" }`".to_owned(),
            names => format!("write `{{ {}: … }}`, with {}", names.first().unwrap_or(&""), names.join(", ")),
        },
    }
}

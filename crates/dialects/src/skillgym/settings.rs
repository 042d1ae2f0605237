//! Settings: of `skillgym.config.*` and of the workspace of a suite, as settings of the language.

use super::groups::why;
use super::operators::milliseconds;
use super::program::Program;
use super::value::{Item, Value};
use crate::shape::listed;
use crate::writer::{is_identifier, label, object_key, quoted};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use averment_engine::check::files::normalized;
use averment_engine::check::{AGENTS, WORKSPACES};
use std::path::Path;

/// A line of settings, or a block of them.
#[derive(Debug)]
pub(super) enum Setting {
    Line(Span, String),
    Block(Span, String, Vec<Setting>),
}

/// The folder that paths of settings start in, as seen from the suite: `../` for each folder between them.
pub(super) struct Base(pub(super) String);

impl Base {
    /// A path as seen from the suite.
    fn path(&self, path: &str) -> String {
        if Path::new(path).is_absolute() || self.0.is_empty() && path.starts_with("./") {
            return path.to_owned();
        }
        let joined = normalized(&Path::new(&self.0).join(path)).to_string_lossy().into_owned();
        let is_told = joined.starts_with("../") || joined == "..";
        if is_told { joined } else { format!("./{joined}").trim_end_matches('/').to_owned() }
    }

    /// A word of a command: a path where it begins like one.
    fn word(&self, word: &str) -> String {
        let is_path = [".", ".."].contains(&word) || word.starts_with("./") || word.starts_with("../");
        if is_path { self.path(word) } else { word.to_owned() }
    }
}

const CONFIG: &[&str] = &["run", "defaults", "runners", "snapshots"];
const RUN: &[&str] = &[
    "cwd",
    "outputDir",
    "reporter",
    "schedule",
    "maxParallel",
    "repeat",
    "repeatFailure",
    "retryFailed",
    "maxSteps",
    "tags",
    "workspace",
];
const AGENT: &[&str] = &["type", "model", "command", "commandArgs", "env"];
const WORKSPACE: &[&str] = &["mode", "cwd", "templateDir", "bootstrap"];
const BOOTSTRAP: &[&str] = &["command", "args", "timeoutMs", "env"];
const SNAPSHOTS: &[&str] = &["path", "metric", "tolerance"];
const METRICS: &[(&str, &str)] = &[
    ("totalTokens", "total_tokens"),
    ("inputTokens", "input_tokens"),
    ("outputTokens", "output_tokens"),
    ("reasoningTokens", "reasoning_tokens"),
    ("cacheTokens", "cache_read_tokens"),
];
const SCHEDULES: &[(&str, &str)] =
    &[("serial", "serial"), ("parallel", "parallel"), ("isolated-by-runner", "isolated_by_runner")];

impl Program<'_, '_> {
    /// What is wrong with a value that has to be something else.
    fn wrong(&mut self, place: Span, path: &str, wanted: &str) {
        let message = format!("`{path}` is not what SkillGym takes");
        self.lowering.said.error(Slug::TypeMismatch, place, message, format!("write {wanted}"));
    }

    /// The entries of an object with these keys; `None`, and said, where it is none.
    pub(super) fn known_keys(&mut self, item: &Item, path: &str, known: &[&str]) -> Option<Vec<(String, Item)>> {
        match &item.value {
            Value::Object(entries) => {
                let entries = entries.clone();
                for (key, value) in entries.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
                    self.lowering.said.unknown_name(value.span, key, path, known);
                }
                Some(entries)
            }
            Value::Open(_) | Value::Api(_) => {
                let why = why(&item.value);
                self.not_read(item.span, &why);
                None
            }
            _ => {
                self.wrong(item.span, path, "an object");
                None
            }
        }
    }

    /// The text of a key; said where it is none.
    pub(super) fn text_of(&mut self, entries: &[(String, Item)], key: &str, path: &str) -> Option<(String, Span)> {
        let item = find(entries, key)?;
        match &item.value {
            Value::Text(text) if !text.trim().is_empty() => return Some((text.clone(), item.span)),
            Value::Open(_) | Value::Api(_) => {
                self.not_read(item.span, &format!("{} for `{path}.{key}`", why(&item.value)))
            }
            _ => self.wrong(item.span, &format!("{path}.{key}"), "a text that is not empty"),
        }
        None
    }

    /// The whole number of a key.
    pub(super) fn number_of(
        &mut self,
        entries: &[(String, Item)],
        key: &str,
        path: &str,
        least: f64,
    ) -> Option<(f64, Span)> {
        let item = find(entries, key)?;
        match &item.value {
            Value::Number(number) if number.fract() == 0.0 && *number >= least => return Some((*number, item.span)),
            Value::Open(_) | Value::Api(_) => {
                self.not_read(item.span, &format!("{} for `{path}.{key}`", why(&item.value)))
            }
            _ => self.wrong(item.span, &format!("{path}.{key}"), &format!("a whole number, at least {least}")),
        }
        None
    }

    /// The texts of a key that holds a list of them.
    pub(super) fn texts_of(
        &mut self,
        entries: &[(String, Item)],
        key: &str,
        path: &str,
    ) -> Option<(Vec<String>, Span)> {
        let item = find(entries, key)?.clone();
        let texts = match &item.value {
            Value::List(items) => items
                .iter()
                .map(|item| item.text().filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned))
                .collect(),
            _ => None,
        };
        if texts.is_none() {
            match &item.value {
                Value::Open(_) | Value::Api(_) => {
                    self.not_read(item.span, &format!("{} for `{path}.{key}`", why(&item.value)))
                }
                _ => self.wrong(item.span, &format!("{path}.{key}"), "a list of texts that are not empty"),
            }
        }
        texts.map(|texts| (texts, item.span))
    }

    /// One of some words, as it is called here.
    fn word_of(
        &mut self,
        entries: &[(String, Item)],
        key: &str,
        path: &str,
        words: &[(&str, &str)],
    ) -> Option<(String, Span)> {
        let (text, span) = self.text_of(entries, key, path)?;
        let known = words.iter().find(|(word, _)| *word == text).map(|(_, here)| (*here).to_owned());
        if known.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(span, &format!("{path}.{key}"), &format!("one of {}", listed(&words)));
        }
        known.map(|known| (known, span))
    }

    /// Names of variables with their values.
    fn variables(&mut self, entries: &[(String, Item)], path: &str) -> Option<Setting> {
        let item = find(entries, "env")?.clone();
        let Value::Object(variables) = &item.value else {
            self.wrong(item.span, &format!("{path}.env"), "an object of texts");
            return None;
        };
        let mut written = Vec::new();
        for (name, value) in variables {
            match value.text() {
                Some(text) => written.push(format!("{}: {}", object_key(name), quoted(text))),
                None => self
                    .not_read(value.span, &format!("the variable `{name}`, whose value only a running program shows")),
            }
        }
        (!written.is_empty()).then(|| Setting::Line(item.span, format!("env {{ {} }}", written.join(", "))))
    }

    /// The settings of a configuration.
    pub(super) fn config(&mut self, config: &Item, base: &Base, own_workspace: bool) -> Vec<Setting> {
        let mut settings = Vec::new();
        let Some(entries) = self.known_keys(config, "config", CONFIG) else { return settings };
        if let Some(run) = find(&entries, "run") {
            self.run_settings(&run.clone(), base, own_workspace, &mut settings);
        }
        if let Some(defaults) = find(&entries, "defaults").cloned()
            && let Some(defaults) = self.known_keys(&defaults, "defaults", &["timeoutMs"])
            && let Some((time, span)) = self.number_of(&defaults, "timeoutMs", "defaults", 2.0)
        {
            settings.push(Setting::Line(span, format!("timeout {}", milliseconds(time))));
        }
        if let Some(snapshots) = find(&entries, "snapshots").cloned() {
            settings.extend(self.snapshots(&snapshots, base));
        }
        match find(&entries, "runners").cloned() {
            Some(Item { value: Value::Object(runners), .. }) if !runners.is_empty() => {
                for (name, runner) in &runners {
                    settings.extend(self.runner(name, runner, base));
                }
            }
            Some(other) if matches!(other.value, Value::Open(_) | Value::Api(_)) => {
                let why = why(&other.value);
                self.not_read(other.span, &why);
            }
            other => {
                self.wrong(other.map_or(config.span, |item| item.span), "runners", "an object with at least one runner")
            }
        }
        settings
    }

    fn run_settings(&mut self, run: &Item, base: &Base, own_workspace: bool, settings: &mut Vec<Setting>) {
        let Some(entries) = self.known_keys(run, "run", RUN) else { return };
        let mut line = |span, text: String| settings.push(Setting::Line(span, text));
        if let Some((schedule, span)) = self.word_of(&entries, "schedule", "run", SCHEDULES) {
            line(span, format!("schedule {schedule}"));
        }
        // The older name of the second one counts where the newer one is not there.
        let retries = if find(&entries, "repeatFailure").is_some() { "repeatFailure" } else { "retryFailed" };
        let counts = [
            ("maxParallel", "parallel", 1.0),
            ("repeat", "repeat", 1.0),
            (retries, "retries", 0.0),
            ("maxSteps", "max_steps", 1.0),
        ];
        for (there, here, least) in counts {
            if let Some((number, span)) = self.number_of(&entries, there, "run", least) {
                line(span, format!("{here} {number}"));
            }
        }
        if let Some((tags, span)) = self.texts_of(&entries, "tags", "run")
            && !tags.is_empty()
        {
            line(span, format!("select {}", tags.iter().map(|tag| label(tag)).collect::<Vec<_>>().join(", ")));
        }
        if let Some((cwd, span)) = self.text_of(&entries, "cwd", "run") {
            line(span, format!("cwd {}", quoted(&base.path(&cwd))));
        }
        for (key, flag) in [("outputDir", "--out DIR"), ("reporter", "--format, --report")] {
            if let Some(item) = find(&entries, key) {
                let message = format!("`run.{key}` is no setting here");
                self.lowering.said.info(Slug::Misplaced, item.span, message, format!("`aver run` has {flag}"));
            }
        }
        if let Some(workspace) = find(&entries, "workspace").filter(|_| !own_workspace).cloned() {
            settings.extend(self.workspace(&workspace, base));
        }
    }

    /// A workspace, of a suite or of a configuration.
    pub(super) fn workspace(&mut self, workspace: &Item, base: &Base) -> Option<Setting> {
        let entries = self.known_keys(workspace, "workspace", WORKSPACE)?;
        let modes: Vec<(&str, &str)> = WORKSPACES.iter().map(|mode| (*mode, *mode)).collect();
        let mode =
            self.word_of(&entries, "mode", "workspace", &modes).map_or_else(|| "none".to_owned(), |(mode, _)| mode);
        let misplaced: &[&str] = if mode == "none" { &["templateDir", "bootstrap"] } else { &["cwd"] };
        for key in misplaced {
            if let Some(item) = find(&entries, key) {
                let message = format!("`{key}` has no place in a workspace of the mode `{mode}`");
                self.lowering.said.error(Slug::Misplaced, item.span, message, "take it out, or choose another mode");
            }
        }
        let mut inner = Vec::new();
        if let Some((cwd, span)) = self.text_of(&entries, "cwd", "workspace") {
            inner.push(Setting::Line(span, format!("cwd {}", quoted(&base.path(&cwd)))));
        }
        if let Some((template, span)) = self.text_of(&entries, "templateDir", "workspace") {
            inner.push(Setting::Line(span, format!("template {}", quoted(&base.path(&template)))));
        }
        if let Some(bootstrap) = find(&entries, "bootstrap").cloned()
            && let Some(bootstrap_entries) = self.known_keys(&bootstrap, "bootstrap", BOOTSTRAP)
        {
            match self.text_of(&bootstrap_entries, "command", "bootstrap") {
                Some((command, _)) => {
                    let args = self
                        .texts_of(&bootstrap_entries, "args", "bootstrap")
                        .map(|(args, _)| args)
                        .unwrap_or_default();
                    let words: Vec<String> =
                        [command].iter().chain(&args).map(|word| quoted(&base.word(word))).collect();
                    let time = self.number_of(&bootstrap_entries, "timeoutMs", "bootstrap", 2.0);
                    let time = time.map(|(time, _)| format!(" timeout {}", milliseconds(time))).unwrap_or_default();
                    inner.push(Setting::Line(bootstrap.span, format!("bootstrap [{}]{time}", words.join(", "))));
                }
                None if find(&bootstrap_entries, "command").is_none() => {
                    self.wrong(bootstrap.span, "bootstrap.command", "the command that makes a workspace ready");
                }
                None => {}
            }
            inner.extend(self.variables(&bootstrap_entries, "bootstrap"));
        }
        Some(Setting::Block(workspace.span, format!("workspace {mode}"), inner))
    }

    fn runner(&mut self, name: &str, runner: &Item, base: &Base) -> Option<Setting> {
        let path = format!("runners.{name}");
        let entries = self.known_keys(runner, &path, &["agent"])?;
        let Some(agent) = find(&entries, "agent").cloned() else {
            self.wrong(runner.span, &format!("{path}.agent"), "an object with `type` and `model`");
            return None;
        };
        let path = format!("{path}.agent");
        let entries = self.known_keys(&agent, &path, AGENT)?;
        let agents: Vec<(&str, &str)> = AGENTS.iter().map(|agent| (*agent, *agent)).collect();
        let mut inner = Vec::new();
        for (key, what) in [("type", "the agent"), ("model", "the name of a model")] {
            if find(&entries, key).is_none() {
                self.wrong(agent.span, &format!("{path}.{key}"), what);
            }
        }
        if let Some((kind, span)) = self.word_of(&entries, "type", &path, &agents) {
            inner.push(Setting::Line(span, format!("agent {kind}")));
        }
        if let Some((model, span)) = self.text_of(&entries, "model", &path) {
            inner.push(Setting::Line(span, format!("model {}", quoted(&model))));
        }
        if let Some((command, span)) = self.text_of(&entries, "command", &path) {
            inner.push(Setting::Line(span, format!("command [{}]", quoted(&base.word(&command)))));
        }
        if let Some((args, span)) = self.texts_of(&entries, "commandArgs", &path)
            && !args.is_empty()
        {
            let args: Vec<String> = args.iter().map(|word| quoted(&base.word(word))).collect();
            inner.push(Setting::Line(span, format!("args [{}]", args.join(", "))));
        }
        inner.extend(self.variables(&entries, &path));
        let called = if is_identifier(&name.replace(['-', '.'], "_")) { name.to_owned() } else { label(name) };
        Some(Setting::Block(runner.span, format!("runner {called}"), inner))
    }

    fn snapshots(&mut self, snapshots: &Item, base: &Base) -> Option<Setting> {
        let entries = self.known_keys(snapshots, "snapshots", SNAPSHOTS)?;
        let metric = self.word_of(&entries, "metric", "snapshots", METRICS);
        let mut parts =
            vec![format!("metric: {}", quoted(&metric.map_or("total_tokens".to_owned(), |(metric, _)| metric)))];
        let Some(tolerance) = find(&entries, "tolerance").cloned() else {
            self.wrong(snapshots.span, "snapshots.tolerance", "`{ absolute: 100 }` or `{ percent: 10 }`");
            return None;
        };
        let bounds = self.known_keys(&tolerance, "snapshots.tolerance", &["absolute", "percent"])?;
        for key in ["absolute", "percent"] {
            match find(&bounds, key).map(|item| (item.number(), item.span)) {
                Some((Some(number), _)) if number >= 0.0 => parts.push(format!("{key}: {number}")),
                Some((_, span)) => self.wrong(span, &format!("snapshots.tolerance.{key}"), "a number, at least 0"),
                None => {}
            }
        }
        let path =
            self.text_of(&entries, "path", "snapshots").map_or("skillgym.snapshots.json".to_owned(), |(path, _)| path);
        parts.push(format!("path: {}", quoted(&base.path(&path))));
        Some(Setting::Line(snapshots.span, format!("snapshots {{ {} }}", parts.join(", "))))
    }
}

pub(super) fn find<'a>(entries: &'a [(String, Item)], key: &str) -> Option<&'a Item> {
    entries.iter().find(|(known, item)| known == key && !matches!(item.value, Value::Undefined)).map(|(_, item)| item)
}

//! Translates settings of `skillgym.config.*` and of a suite's workspace.

use super::groups::open_reason;
use super::operators::duration_literal;
use super::program::SuiteProgram;
use super::value::{JsValue, LocatedValue};
use crate::shape::listed_names;
use crate::writer::{is_identifier, object_key, quote_text, to_label};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use averment_checker::files::normalize_path;
use averment_checker::{AGENTS, WORKSPACES};
use std::path::Path;

#[derive(Debug)]
pub(super) enum SettingLine {
    Line(Span, String),
    Block(Span, String, Vec<SettingLine>),
}

/// Path from the suite to the folder of the settings: `../` for each folder between them.
pub(super) struct PathBase(pub(super) String);

impl PathBase {
    fn rebase_path(&self, path: &str) -> String {
        if Path::new(path).is_absolute() || self.0.is_empty() && path.starts_with("./") {
            return path.to_owned();
        }
        let joined = normalize_path(&Path::new(&self.0).join(path)).to_string_lossy().into_owned();
        let is_told = joined.starts_with("../") || joined == "..";
        if is_told { joined } else { format!("./{joined}").trim_end_matches('/').to_owned() }
    }

    /// Rebases a word if it looks like a path.
    fn rebase_word(&self, word: &str) -> String {
        let is_path = [".", ".."].contains(&word) || word.starts_with("./") || word.starts_with("../");
        if is_path { self.rebase_path(word) } else { word.to_owned() }
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

impl SuiteProgram<'_, '_> {
    fn report_wrong(&mut self, place: Span, path: &str, wanted: &str) {
        let message = format!("`{path}` is not what SkillGym takes");
        self.lowering.sink.error(Slug::TypeMismatch, place, message, format!("write {wanted}"));
    }

    /// Returns the entries of an object with known keys; otherwise reports an error and returns `None`.
    pub(super) fn known_keys(
        &mut self,
        item: &LocatedValue,
        path: &str,
        known: &[&str],
    ) -> Option<Vec<(String, LocatedValue)>> {
        match &item.value {
            JsValue::Object(entries) => {
                let entries = entries.clone();
                for (key, value) in entries.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
                    self.lowering.sink.unknown_name(value.span, key, path, known);
                }
                Some(entries)
            }
            JsValue::RuntimeOnly(_) | JsValue::Api(_) => {
                let why = open_reason(&item.value);
                self.record_unread(item.span, &why);
                None
            }
            _ => {
                self.report_wrong(item.span, path, "an object");
                None
            }
        }
    }

    pub(super) fn text_of(
        &mut self,
        entries: &[(String, LocatedValue)],
        key: &str,
        path: &str,
    ) -> Option<(String, Span)> {
        let item = setting_entry(entries, key)?;
        match &item.value {
            JsValue::Text(text) if !text.trim().is_empty() => return Some((text.clone(), item.span)),
            JsValue::RuntimeOnly(_) | JsValue::Api(_) => {
                self.record_unread(item.span, &format!("{} for `{path}.{key}`", open_reason(&item.value)))
            }
            _ => self.report_wrong(item.span, &format!("{path}.{key}"), "a text that is not empty"),
        }
        None
    }

    pub(super) fn number_of(
        &mut self,
        entries: &[(String, LocatedValue)],
        key: &str,
        path: &str,
        least: f64,
    ) -> Option<(f64, Span)> {
        let item = setting_entry(entries, key)?;
        match &item.value {
            JsValue::Number(number) if number.fract() == 0.0 && *number >= least => return Some((*number, item.span)),
            JsValue::RuntimeOnly(_) | JsValue::Api(_) => {
                self.record_unread(item.span, &format!("{} for `{path}.{key}`", open_reason(&item.value)))
            }
            _ => self.report_wrong(item.span, &format!("{path}.{key}"), &format!("a whole number, at least {least}")),
        }
        None
    }

    pub(super) fn texts_of(
        &mut self,
        entries: &[(String, LocatedValue)],
        key: &str,
        path: &str,
    ) -> Option<(Vec<String>, Span)> {
        let item = setting_entry(entries, key)?.clone();
        let texts = match &item.value {
            JsValue::List(items) => items
                .iter()
                .map(|item| item.as_text().filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned))
                .collect(),
            _ => None,
        };
        if texts.is_none() {
            match &item.value {
                JsValue::RuntimeOnly(_) | JsValue::Api(_) => {
                    self.record_unread(item.span, &format!("{} for `{path}.{key}`", open_reason(&item.value)))
                }
                _ => self.report_wrong(item.span, &format!("{path}.{key}"), "a list of texts that are not empty"),
            }
        }
        texts.map(|texts| (texts, item.span))
    }

    fn word_of(
        &mut self,
        entries: &[(String, LocatedValue)],
        key: &str,
        path: &str,
        words: &[(&str, &str)],
    ) -> Option<(String, Span)> {
        let (text, span) = self.text_of(entries, key, path)?;
        let known = words.iter().find(|(word, _)| *word == text).map(|(_, here)| (*here).to_owned());
        if known.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.report_wrong(span, &format!("{path}.{key}"), &format!("one of {}", listed_names(&words)));
        }
        known.map(|known| (known, span))
    }

    fn variable_block(&mut self, entries: &[(String, LocatedValue)], path: &str) -> Option<SettingLine> {
        let item = setting_entry(entries, "env")?.clone();
        let JsValue::Object(variables) = &item.value else {
            self.report_wrong(item.span, &format!("{path}.env"), "an object of texts");
            return None;
        };
        let mut written = Vec::new();
        for (name, value) in variables {
            match value.as_text() {
                Some(text) => written.push(format!("{}: {}", object_key(name), quote_text(text))),
                None => self.record_unread(
                    value.span,
                    &format!("the variable `{name}`, whose value only a running program shows"),
                ),
            }
        }
        (!written.is_empty()).then(|| SettingLine::Line(item.span, format!("env {{ {} }}", written.join(", "))))
    }

    pub(super) fn config_settings(
        &mut self,
        config: &LocatedValue,
        base: &PathBase,
        own_workspace: bool,
    ) -> Vec<SettingLine> {
        let mut settings = Vec::new();
        let Some(entries) = self.known_keys(config, "config", CONFIG) else { return settings };
        if let Some(run) = setting_entry(&entries, "run") {
            self.run_settings(&run.clone(), base, own_workspace, &mut settings);
        }
        if let Some(defaults) = setting_entry(&entries, "defaults").cloned()
            && let Some(defaults) = self.known_keys(&defaults, "defaults", &["timeoutMs"])
            && let Some((time, span)) = self.number_of(&defaults, "timeoutMs", "defaults", 2.0)
        {
            settings.push(SettingLine::Line(span, format!("timeout {}", duration_literal(time))));
        }
        if let Some(snapshots) = setting_entry(&entries, "snapshots").cloned() {
            settings.extend(self.snapshot_block(&snapshots, base));
        }
        match setting_entry(&entries, "runners").cloned() {
            Some(LocatedValue { value: JsValue::Object(runners), .. }) if !runners.is_empty() => {
                for (name, runner) in &runners {
                    settings.extend(self.runner_block(name, runner, base));
                }
            }
            Some(other) if matches!(other.value, JsValue::RuntimeOnly(_) | JsValue::Api(_)) => {
                let why = open_reason(&other.value);
                self.record_unread(other.span, &why);
            }
            other => self.report_wrong(
                other.map_or(config.span, |item| item.span),
                "runners",
                "an object with at least one runner",
            ),
        }
        settings
    }

    fn run_settings(
        &mut self,
        run: &LocatedValue,
        base: &PathBase,
        own_workspace: bool,
        settings: &mut Vec<SettingLine>,
    ) {
        let Some(entries) = self.known_keys(run, "run", RUN) else { return };
        let mut line = |span, text: String| settings.push(SettingLine::Line(span, text));
        if let Some((schedule, span)) = self.word_of(&entries, "schedule", "run", SCHEDULES) {
            line(span, format!("schedule {schedule}"));
        }
        // The older name of the second key counts only if the newer one is missing.
        let retries = if setting_entry(&entries, "repeatFailure").is_some() { "repeatFailure" } else { "retryFailed" };
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
            line(span, format!("select {}", tags.iter().map(|tag| to_label(tag)).collect::<Vec<_>>().join(", ")));
        }
        if let Some((cwd, span)) = self.text_of(&entries, "cwd", "run") {
            line(span, format!("cwd {}", quote_text(&base.rebase_path(&cwd))));
        }
        for (key, flag) in [("outputDir", "--out DIR"), ("reporter", "--format, --report")] {
            if let Some(item) = setting_entry(&entries, key) {
                let message = format!("`run.{key}` is no setting here");
                self.lowering.sink.info(Slug::Misplaced, item.span, message, format!("`aver run` has {flag}"));
            }
        }
        if let Some(workspace) = setting_entry(&entries, "workspace").filter(|_| !own_workspace).cloned() {
            settings.extend(self.workspace_block(&workspace, base, false));
        }
    }

    /// Writes the workspace. In a configuration, `cwd` is a separate key and so is not allowed in the workspace.
    pub(super) fn workspace_block(
        &mut self,
        workspace: &LocatedValue,
        base: &PathBase,
        is_of_suite: bool,
    ) -> Option<SettingLine> {
        let entries = self.known_keys(workspace, "workspace", WORKSPACE)?;
        let modes: Vec<(&str, &str)> = WORKSPACES.iter().map(|mode| (*mode, *mode)).collect();
        let mode =
            self.word_of(&entries, "mode", "workspace", &modes).map_or_else(|| "none".to_owned(), |(mode, _)| mode);
        // A shared workspace is an existing folder, unless it is created from a template.
        let has = |key: &str| setting_entry(&entries, key).is_some();
        let is_there = mode == "shared" && !has("templateDir");
        let mode = if is_there { "none".to_owned() } else { mode };
        if is_there && let Some(item) = setting_entry(&entries, "bootstrap") {
            let message = "`bootstrap` in a shared workspace without a template would change the folder that is there";
            let help = "write `templateDir`, from which the workspace is made, or `mode: \"isolated\"`";
            self.lowering.sink.error(Slug::Misplaced, item.span, message, help);
        }
        let misplaced: &[&str] = match mode.as_str() {
            "none" if is_there && is_of_suite => &[],
            "none" if is_there => &["cwd"],
            "none" => &["templateDir", "bootstrap"],
            _ => &["cwd"],
        };
        for key in misplaced {
            if let Some(item) = setting_entry(&entries, key) {
                let message = format!("`{key}` has no place in a workspace of the mode `{mode}`");
                self.lowering.sink.error(Slug::Misplaced, item.span, message, "take it out, or choose another mode");
            }
        }
        let mut inner = Vec::new();
        if let Some((cwd, span)) = self.text_of(&entries, "cwd", "workspace") {
            inner.push(SettingLine::Line(span, format!("cwd {}", quote_text(&base.rebase_path(&cwd)))));
        }
        if let Some((template, span)) = self.text_of(&entries, "templateDir", "workspace") {
            inner.push(SettingLine::Line(span, format!("template {}", quote_text(&base.rebase_path(&template)))));
        }
        if let Some(bootstrap) = setting_entry(&entries, "bootstrap").cloned()
            && let Some(bootstrap_entries) = self.known_keys(&bootstrap, "bootstrap", BOOTSTRAP)
        {
            match self.text_of(&bootstrap_entries, "command", "bootstrap") {
                Some((command, _)) => {
                    let args = self
                        .texts_of(&bootstrap_entries, "args", "bootstrap")
                        .map(|(args, _)| args)
                        .unwrap_or_default();
                    let words: Vec<String> =
                        [command].iter().chain(&args).map(|word| quote_text(&base.rebase_word(word))).collect();
                    let time = self.number_of(&bootstrap_entries, "timeoutMs", "bootstrap", 2.0);
                    let time = time.map(|(time, _)| format!(" timeout {}", duration_literal(time))).unwrap_or_default();
                    inner.push(SettingLine::Line(bootstrap.span, format!("bootstrap [{}]{time}", words.join(", "))));
                }
                None if setting_entry(&bootstrap_entries, "command").is_none() => {
                    self.report_wrong(bootstrap.span, "bootstrap.command", "the command that makes a workspace ready");
                }
                None => {}
            }
            inner.extend(self.variable_block(&bootstrap_entries, "bootstrap"));
        }
        Some(SettingLine::Block(workspace.span, format!("workspace {mode}"), inner))
    }

    fn runner_block(&mut self, name: &str, runner: &LocatedValue, base: &PathBase) -> Option<SettingLine> {
        let path = format!("runners.{name}");
        let entries = self.known_keys(runner, &path, &["agent"])?;
        let Some(agent) = setting_entry(&entries, "agent").cloned() else {
            self.report_wrong(runner.span, &format!("{path}.agent"), "an object with `type` and `model`");
            return None;
        };
        let path = format!("{path}.agent");
        let entries = self.known_keys(&agent, &path, AGENT)?;
        let agents: Vec<(&str, &str)> = AGENTS.iter().map(|agent| (*agent, *agent)).collect();
        let mut inner = Vec::new();
        for (key, what) in [("type", "the agent"), ("model", "the name of a model")] {
            if setting_entry(&entries, key).is_none() {
                self.report_wrong(agent.span, &format!("{path}.{key}"), what);
            }
        }
        if let Some((kind, span)) = self.word_of(&entries, "type", &path, &agents) {
            inner.push(SettingLine::Line(span, format!("agent {kind}")));
        }
        if let Some((model, span)) = self.text_of(&entries, "model", &path) {
            inner.push(SettingLine::Line(span, format!("model {}", quote_text(&model))));
        }
        if let Some((command, span)) = self.text_of(&entries, "command", &path) {
            inner.push(SettingLine::Line(span, format!("command [{}]", quote_text(&base.rebase_word(&command)))));
        }
        if let Some((args, span)) = self.texts_of(&entries, "commandArgs", &path)
            && !args.is_empty()
        {
            let args: Vec<String> = args.iter().map(|word| quote_text(&base.rebase_word(word))).collect();
            inner.push(SettingLine::Line(span, format!("args [{}]", args.join(", "))));
        }
        inner.extend(self.variable_block(&entries, &path));
        let called = if is_identifier(&name.replace(['-', '.'], "_")) { name.to_owned() } else { to_label(name) };
        Some(SettingLine::Block(runner.span, format!("runner {called}"), inner))
    }

    fn snapshot_block(&mut self, snapshots: &LocatedValue, base: &PathBase) -> Option<SettingLine> {
        let entries = self.known_keys(snapshots, "snapshots", SNAPSHOTS)?;
        let metric = self.word_of(&entries, "metric", "snapshots", METRICS);
        let mut parts =
            vec![format!("metric: {}", quote_text(&metric.map_or("total_tokens".to_owned(), |(metric, _)| metric)))];
        let Some(tolerance) = setting_entry(&entries, "tolerance").cloned() else {
            self.report_wrong(snapshots.span, "snapshots.tolerance", "`{ absolute: 100 }` or `{ percent: 10 }`");
            return None;
        };
        let bounds = self.known_keys(&tolerance, "snapshots.tolerance", &["absolute", "percent"])?;
        for key in ["absolute", "percent"] {
            match setting_entry(&bounds, key).map(|item| (item.as_number(), item.span)) {
                Some((Some(number), _)) if number >= 0.0 => parts.push(format!("{key}: {number}")),
                Some((_, span)) => {
                    self.report_wrong(span, &format!("snapshots.tolerance.{key}"), "a number, at least 0")
                }
                None => {}
            }
        }
        let path =
            self.text_of(&entries, "path", "snapshots").map_or("skillgym.snapshots.json".to_owned(), |(path, _)| path);
        parts.push(format!("path: {}", quote_text(&base.rebase_path(&path))));
        Some(SettingLine::Line(snapshots.span, format!("snapshots {{ {} }}", parts.join(", "))))
    }
}

pub(super) fn setting_entry<'a>(entries: &'a [(String, LocatedValue)], key: &str) -> Option<&'a LocatedValue> {
    entries.iter().find(|(known, item)| known == key && !matches!(item.value, JsValue::Undefined)).map(|(_, item)| item)
}

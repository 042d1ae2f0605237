//! Reads the text of `averment.toml` into [`Project`]; checks that every key is known, every value has the right type, and every path stays inside of
//! the folder.

use super::{LoadOptions, Project};
use crate::lint::LintLevel;
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Family, Slug};
use averment_base::source::{FileId, Span};
use averment_syntax::words::is_label;
use serde_json::{Map, Value};
use std::path::{Component, Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const TOP: &[&str] = &[
    "rules",
    "tools",
    "traces",
    "tags",
    "format",
    "baseline",
    "prices",
    "deny",
    "allow",
    "params",
    "permissions",
    "lint",
    "test",
    "report",
];
const PERMISSIONS: &[&str] = &["read", "run"];
const REPORT: &[&str] = &["formats", "folder", "redact"];
const TEST: &[&str] = &["cases", "minimum-coverage"];

type TomlEntry<'v, 't> = &'v Spanned<DeValue<'t>>;

/// Reads the text of a project file.
pub fn read_project(file: &Path, text: &str, id: FileId, options: LoadOptions) -> (Project, Diagnostics) {
    let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut reader = ProjectReader { folder: folder.clone(), id, options, diagnostics: Diagnostics::default() };
    let mut project = Project { file: file.to_path_buf(), folder, ..Project::default() };
    match DeTable::parse(text) {
        Ok(table) => reader.read_top(table.get_ref(), &mut project),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            reader.report_error(
                span,
                error.message().to_lowercase(),
                "the file is written in TOML: `key = value` and `[section]`",
            );
        }
    }
    (project, reader.diagnostics)
}

struct ProjectReader {
    folder: PathBuf,
    id: FileId,
    options: LoadOptions,
    diagnostics: Diagnostics,
}

impl ProjectReader {
    fn report_error(&mut self, span: std::ops::Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let place = Span::new(self.id, span.start, span.end);
        self.diagnostics.push(Diagnostic::new(Slug::Project, place, message).with_help(help));
    }

    fn report_unknown(&mut self, span: std::ops::Range<usize>, what: &str, word: &str, known: &[&str]) {
        let message = format!("there is no {what} `{word}`");
        let help = match suggest_name(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")),
        };
        self.report_error(span, message, help);
    }

    fn read_top(&mut self, table: &DeTable<'_>, project: &mut Project) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "rules" => project.rules = self.read_paths(value),
                "tools" => project.tools = self.read_paths(value),
                "traces" => project.traces = self.read_patterns(value),
                "tags" => project.tags = self.read_tags(value),
                "format" => project.format = self.read_text(value).map(str::to_owned),
                "baseline" => {
                    project.baseline = self.read_text(value).and_then(|text| self.resolve_path(text, value.span()))
                }
                "prices" => {
                    project.prices = self.read_text(value).and_then(|text| self.resolve_path(text, value.span()))
                }
                "deny" => {
                    let words = ["vacuous", "unjudged", "unexercised", "near-names", "undecided"];
                    project.deny = self.read_words(value, &words);
                }
                "allow" => project.allow = self.read_words(value, &["undecided", "empty"]),
                "params" => project.params = self.read_params(value),
                "permissions" => self.read_permissions(value, project),
                "lint" => self.read_lint(value, project),
                "test" => self.read_test(value, project),
                "report" => self.read_report(value, project),
                other => self.report_unknown(key.span(), "setting", other, TOP),
            }
        }
    }

    fn read_permissions(&mut self, value: TomlEntry<'_, '_>, project: &mut Project) {
        let Some(table) = self.read_table(value) else { return };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "read" => {
                    let trusted = std::mem::replace(&mut self.options.trusted, true);
                    project.requested.read = self.read_paths(value);
                    self.options.trusted = trusted;
                }
                "run" => project.requested.run = self.read_boolean(value).unwrap_or(false),
                other => self.report_unknown(key.span(), "permission", other, PERMISSIONS),
            }
        }
    }

    fn read_lint(&mut self, value: TomlEntry<'_, '_>, project: &mut Project) {
        let Some(table) = self.read_table(value) else { return };
        for (key, value) in table {
            let word = key.get_ref().as_ref();
            let level = self.read_level(value);
            match (Slug::parse(word), Family::parse(word)) {
                (Some(slug), _) if !slug.is_configurable() => {
                    let message = format!("`{word}` is an error of the language and has no level");
                    self.report_error(
                        key.span(),
                        message,
                        "remove the line; `aver lint --list` shows what has a level",
                    );
                }
                (Some(slug), _) => project.lint.slugs.extend(level.map(|level| (slug, level))),
                (None, Some(family)) => project.lint.families.extend(level.map(|level| (family, level))),
                (None, None) => {
                    let mut known: Vec<&str> = Family::ALL.iter().map(|family| family.as_str()).collect();
                    known.extend(Slug::ALL.iter().filter(|slug| slug.is_configurable()).map(|slug| slug.as_str()));
                    let message = format!("there is no lint or family of lints `{word}`");
                    let help = match suggest_name(word, known) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "`aver lint --list` shows all".to_owned(),
                    };
                    self.report_error(key.span(), message, help);
                }
            }
        }
    }

    fn read_level(&mut self, value: TomlEntry<'_, '_>) -> Option<LintLevel> {
        let word = self.read_text(value)?;
        let level = LintLevel::parse(word);
        if level.is_none() {
            let near = match word {
                "off" | "ignore" | "none" => Some("allow"),
                "warning" | "on" => Some("warn"),
                "deny" | "forbid" => Some("error"),
                _ => suggest_name(word, LintLevel::WORDS),
            };
            let help = near.map_or("the levels are `allow`, `info`, `warn`, `error`".to_owned(), |near| {
                format!("did you mean `{near}`?")
            });
            self.report_error(value.span(), format!("there is no level `{word}`"), help);
        }
        level
    }

    fn read_test(&mut self, value: TomlEntry<'_, '_>, project: &mut Project) {
        let Some(table) = self.read_table(value) else { return };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "cases" => project.test.cases = self.read_paths(value),
                "minimum-coverage" => project.test.minimum_coverage = self.read_share(value),
                other => self.report_unknown(key.span(), "setting of `[test]`", other, TEST),
            }
        }
    }

    fn read_report(&mut self, value: TomlEntry<'_, '_>, project: &mut Project) {
        let Some(table) = self.read_table(value) else { return };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "formats" => {
                    project.report.formats =
                        self.read_texts(value).into_iter().map(|(word, _)| word.to_owned()).collect();
                }
                "redact" => {
                    project.report.redact =
                        self.read_texts(value).into_iter().map(|(path, _)| path.to_owned()).collect();
                }
                "folder" => {
                    project.report.folder = self.read_text(value).and_then(|text| self.resolve_path(text, value.span()))
                }
                other => self.report_unknown(key.span(), "setting of `[report]`", other, REPORT),
            }
        }
    }

    /// Reads a share: `0.9`, or `"90%"`.
    fn read_share(&mut self, value: TomlEntry<'_, '_>) -> Option<f64> {
        let found = match value.get_ref() {
            DeValue::Float(number) => number.as_str().replace('_', "").parse::<f64>().ok(),
            DeValue::Integer(number) => number.as_str().replace('_', "").parse::<f64>().ok(),
            DeValue::String(text) => {
                text.trim().strip_suffix('%').and_then(|text| Some(text.parse::<f64>().ok()? / 100.0))
            }
            _ => None,
        };
        let share = found.filter(|share| (0.0..=1.0).contains(share));
        if share.is_none() {
            self.report_error(
                value.span(),
                "this is no share",
                "write a number from 0 to 1, or a text such as \"90%\"",
            );
        }
        share
    }

    fn read_params(&mut self, value: TomlEntry<'_, '_>) -> Vec<(String, Value)> {
        let Some(table) = self.read_table(value) else { return Vec::new() };
        table.iter().filter_map(|(key, value)| Some((key.get_ref().to_string(), self.read_json(value)?))).collect()
    }

    /// Reads a value as JSON. The TOML parser bounds the depth.
    fn read_json(&mut self, value: TomlEntry<'_, '_>) -> Option<Value> {
        Some(match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Integer(number) if number.radix() == 10 => self.read_number(number.as_str(), value)?,
            DeValue::Float(number) => self.read_number(number.as_str(), value)?,
            DeValue::Array(values) => {
                Value::Array(values.iter().map(|one| self.read_json(one)).collect::<Option<_>>()?)
            }
            DeValue::Table(table) => {
                let mut object = Map::new();
                for (key, value) in table {
                    object.insert(key.get_ref().to_string(), self.read_json(value)?);
                }
                Value::Object(object)
            }
            DeValue::Integer(_) | DeValue::Datetime(_) => {
                self.report_error(
                    value.span(),
                    "a parameter cannot have this value",
                    "write a decimal number or a text in quotes",
                );
                return None;
            }
        })
    }

    fn read_number(&mut self, text: &str, value: TomlEntry<'_, '_>) -> Option<Value> {
        let plain = text.replace('_', "");
        let number = serde_json::from_str(plain.strip_prefix('+').unwrap_or(&plain)).ok();
        if number.is_none() {
            self.report_error(value.span(), format!("`{text}` is no number of JSON"), "write a decimal number");
        }
        number
    }

    fn wrong_type(&mut self, value: TomlEntry<'_, '_>, wanted: &str, help: &str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a section",
        };
        self.report_error(value.span(), format!("this is {found}, and {wanted} is expected"), help);
    }

    fn read_table<'v, 't>(&mut self, value: TomlEntry<'v, 't>) -> Option<&'v DeTable<'t>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => {
                self.wrong_type(value, "a section", "write `[name]` on a line of its own and the settings below it");
                None
            }
        }
    }

    fn read_boolean(&mut self, value: TomlEntry<'_, '_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(value) => Some(*value),
            _ => {
                self.wrong_type(value, "true or false", "write `true` or `false` without quotes");
                None
            }
        }
    }

    fn read_text<'v>(&mut self, value: TomlEntry<'v, '_>) -> Option<&'v str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.as_ref()),
            _ => {
                self.wrong_type(value, "a text", "write it in quotes");
                None
            }
        }
    }

    fn read_texts<'v>(&mut self, value: TomlEntry<'v, '_>) -> Vec<(&'v str, std::ops::Range<usize>)> {
        match value.get_ref() {
            DeValue::String(text) => vec![(text.as_ref(), value.span())],
            DeValue::Array(values) => {
                values.iter().filter_map(|one| Some((self.read_text(one)?, one.span()))).collect()
            }
            _ => {
                self.wrong_type(value, "a list of texts", "write `[\"one\", \"two\"]`");
                Vec::new()
            }
        }
    }

    fn read_tags(&mut self, value: TomlEntry<'_, '_>) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for (tag, span) in self.read_texts(value) {
            if !is_label(tag) {
                self.report_error(
                    span,
                    format!("`{tag}` is no tag"),
                    "a tag is a name of letters, digits, `_`, `-` and `.`",
                );
            } else if !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
        tags
    }

    fn read_words(&mut self, value: TomlEntry<'_, '_>, known: &[&str]) -> Vec<String> {
        let mut words = Vec::new();
        for (word, span) in self.read_texts(value) {
            if known.contains(&word) {
                words.push(word.to_owned());
            } else {
                self.report_unknown(span, "value", word, known);
            }
        }
        words
    }

    fn read_paths(&mut self, value: TomlEntry<'_, '_>) -> Vec<PathBuf> {
        let texts = self.read_texts(value);
        texts.into_iter().filter_map(|(text, span)| self.resolve_path(text, span)).collect()
    }

    fn read_patterns(&mut self, value: TomlEntry<'_, '_>) -> Vec<String> {
        self.read_paths(value).into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    fn resolve_path(&mut self, text: &str, span: std::ops::Range<usize>) -> Option<PathBuf> {
        if text.is_empty() || text.contains('\0') {
            self.report_error(span, "this is no path", "write a path relative to this file, such as \"rules/\"");
            return None;
        }
        if !self.options.trusted && (leaves_folder(Path::new(text)) || leads_out(self.folder.as_ref(), Path::new(text)))
        {
            let message = format!("`{text}` leads out of the folder of the project");
            self.report_error(span, message, "name it on the command line, or trust this file with `--trust-project`");
            return None;
        }
        let plain = Path::new(text).components().filter(|part| *part != Component::CurDir).collect::<PathBuf>();
        let joined = self.folder.join(plain);
        Some(if joined.as_os_str().is_empty() { PathBuf::from(".") } else { joined })
    }
}

/// True if a symbolic link leads out of the folder. Of a pattern, the part before the first wildcard is checked.
fn leads_out(folder: &Path, path: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(root) = folder.canonicalize() else { return false };
    let mut here = folder.to_path_buf();
    for part in path.components() {
        here.push(part);
        // A path that does not exist leads nowhere.
        let Ok(place) = here.canonicalize() else { return false };
        if !place.starts_with(&root) {
            return true;
        }
    }
    false
}

fn leaves_folder(path: &Path) -> bool {
    let mut depth = 0_usize;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(_) => depth = depth.saturating_add(1),
            Component::ParentDir if depth > 0 => depth = depth.saturating_sub(1),
            _ => return true,
        }
    }
    false
}

//! Translates rule files of other systems into the rule language.
//!
//! Each dialect is a folder that only lowers: it reads a file of its system and writes equivalent text of the rule language. That text is compiled
//! like any other rule file, so there is one meaning, one evaluator and one set of reports. Diagnostics are mapped back to the foreign file
//! ([`MappedText::places`]). Where a system gives a similar word another meaning (missing values, the order of steps), the written text spells it
//! out.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests measure time"))]

mod adk;
mod agentv;
mod assay;
mod deepeval;
mod dogwood;
mod foreign_program;
mod jsonpath;
mod promptfoo;
mod pydantic_evals;
pub mod regex_flavour;
mod runsight;
pub mod shape;
mod skillgym;
mod spelling;
mod stop;
mod tolokaforge;
pub mod typescript;
mod wallfacer;
mod weighted;
pub mod writer;
pub mod yaml;

use averment_base::diagnostic::Diagnostics;
use averment_base::source::{FileId, SourceMap};
use averment_checker::files::Files;
use averment_engine::bytecode::program::ForeignVerdicts;
pub use dogwood::export::{ExportedPolicies, export_dogwood};
pub use foreign_program::{CompiledForeign, compile_foreign};
use shape::DiagnosticSink;
pub use writer::MappedText;
use writer::RuleWriter;
use yaml::YamlNode;

/// A system whose rule files can be read: a row of [`DIALECTS`].
pub struct Dialect {
    /// Description of its files for messages.
    pub files: &'static str,
    /// The syntax of its files.
    pub reads: FileSyntax,
    /// The system's own names for its verdicts and for itself.
    pub verdicts: ForeignVerdicts,
}

/// The syntax of a system's rule files.
pub enum FileSyntax {
    /// YAML.
    Yaml(YamlDialect),
    /// TypeScript; the function writes the rules of the file.
    TypeScript(fn(&mut Lowering<'_>)),
    /// JSON that contains both rules and the runs that they apply to.
    Json(JsonDialect),
    /// A policy language with its own file extension.
    Policies {
        /// The file extension.
        ending: &'static str,
        /// Writes the rules of the file.
        lower: fn(&mut Lowering<'_>),
    },
}

/// A system whose files are JSON with runs in it.
pub struct JsonDialect {
    /// Returns true if a text is a file of this system.
    pub is_one: fn(&str) -> bool,
    /// Writes the rules of the file.
    pub lower: fn(&mut Lowering<'_>),
}

/// A system whose files are YAML.
pub struct YamlDialect {
    /// Top-level keys that identify a file of this system even while it is not yet valid YAML.
    pub marks: &'static [&'static str],
    /// The YAML schema, which decides which plain words are not texts.
    pub schema: yaml::YamlSchema,
    /// Returns true if a document is a file of this system.
    pub is_one: fn(&YamlNode) -> bool,
    /// Writes the rules of a document.
    pub lower: fn(&YamlNode, &mut Lowering<'_>),
}

impl Dialect {
    fn yaml_dialect(&self) -> Option<&YamlDialect> {
        match &self.reads {
            FileSyntax::Yaml(of_yaml) => Some(of_yaml),
            FileSyntax::TypeScript(_) | FileSyntax::Json(_) | FileSyntax::Policies { .. } => None,
        }
    }

    /// Returns the name of the system in its usual spelling.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.verdicts.system
    }
}

impl std::fmt::Debug for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// All dialects. If a document fits several of them, the first one reads it.
pub static DIALECTS: &[Dialect] = &[
    runsight::DIALECT,
    wallfacer::DIALECT,
    stop::DIALECT,
    agentv::DIALECT,
    promptfoo::CONFIG,
    adk::DIALECT,
    deepeval::DIALECT,
    assay::DIALECT,
    pydantic_evals::DIALECT,
    skillgym::DIALECT,
    tolokaforge::DIALECT,
    dogwood::DIALECT,
];

/// The input and output of lowering a file.
pub struct Lowering<'a> {
    /// All files read so far. Files that the root file refers to are added.
    pub sources: &'a mut SourceMap,
    /// The file to lower.
    pub root: FileId,
    /// Access to the files that it refers to.
    pub files: &'a dyn Files,
    /// Options of the caller.
    pub options: ForeignOptions<'a>,
    /// Collects diagnostics.
    pub sink: DiagnosticSink,
    /// Collects the written rules.
    pub out: RuleWriter,
    /// The parameters of the file, with their values.
    pub params: Vec<(String, String)>,
    /// The report formats that the file requests, by their names in Averment.
    pub reports: Vec<String>,
}

/// A foreign file, translated into the rule language.
#[derive(Debug)]
pub struct LoweredFile {
    /// The dialect of the file.
    pub dialect: &'static Dialect,
    /// The text, with the locations that its pieces were written for.
    pub written: MappedText,
    /// The parameters of the file, with their values.
    pub params: Vec<(String, String)>,
    /// The report formats that the file requests, by their names in Averment.
    pub reports: Vec<String>,
    /// Diagnostics about the file.
    pub diagnostics: Diagnostics,
}

/// Inputs for lowering foreign files.
#[derive(Clone, Copy)]
pub struct LoweringInputs<'a> {
    /// Access to the files that they refer to.
    pub files: &'a dyn Files,
    /// Options of the caller.
    pub options: ForeignOptions<'a>,
}

/// Options for reading foreign files.
#[derive(Debug, Clone, Copy, Default)]
pub struct ForeignOptions<'a> {
    /// Names and values of parameters. The values are inlined into the written rules.
    pub given: &'a [(String, String)],
    /// True if parameters without a given value stay parameters of the written rules, where the rule language allows that.
    pub keep_params: bool,
    /// True if the newest release wins where it differs from its documentation.
    pub newest: bool,
    /// True if promptfoo's files are judged as promptfoo does: vacuous passes, and undecided fails.
    pub as_promptfoo: bool,
    /// Metrics that an embedding program adds to those of Assay: the name of each, and its assertions in the rule language.
    pub metrics: &'a [(String, String)],
    /// True if reports go into a folder; then the reports that the file requests are written.
    pub in_folder: bool,
    /// True if unreadable parts of a foreign program are listed; otherwise they are errors.
    pub partly: bool,
    /// True if a case with an unreadable assertion becomes undecided; otherwise it is an error.
    pub undecided: bool,
}

/// Returns the names of Assay's built-in metrics, which an embedding program cannot redefine.
pub fn own_metrics() -> impl Iterator<Item = &'static str> {
    assay::own_metrics()
}

/// Returns true if a text may be a file of another system: YAML, TypeScript, JSON or policies.
#[must_use]
pub fn may_be_foreign(name: &str, text: &str) -> bool {
    ["yaml", "yml"].contains(&file_extension(name))
        || is_typescript(name)
        || policy_dialect(name).is_some()
        || is_json(name) && (brings_runs(name, text) || is_json_document(text))
        || (name == "-" && begins_like_yaml(text))
}

/// True if a JSON text may be a file of a system that also accepts YAML.
fn is_json_document(text: &str) -> bool {
    promptfoo::looks_like_config(text)
        || adk::looks_like_eval_set(text)
        || deepeval::looks_like_test_cases(text)
        || pydantic_evals::looks_like_dataset(text)
}

/// Returns true if a file of another system also contains the runs that its rules apply to.
#[must_use]
pub fn brings_runs(name: &str, text: &str) -> bool {
    is_json(name) && json_dialects().any(|(_, of_json)| (of_json.is_one)(text))
}

fn json_dialects() -> impl Iterator<Item = (&'static Dialect, &'static JsonDialect)> {
    [&promptfoo::RESULTS].into_iter().filter_map(|dialect| match &dialect.reads {
        FileSyntax::Json(of_json) => Some((dialect, of_json)),
        _ => None,
    })
}

/// Returns the policy dialect with the file extension of `name`.
fn policy_dialect(name: &str) -> Option<&'static Dialect> {
    let has = |dialect: &&Dialect| matches!(dialect.reads, FileSyntax::Policies { ending, .. } if ending == file_extension(name));
    DIALECTS.iter().find(has)
}

fn is_json(name: &str) -> bool {
    ["json", "jsonl", "ndjson"].contains(&file_extension(name))
}

fn is_typescript(name: &str) -> bool {
    ["ts", "mts", "cts", "js", "mjs", "cjs"].contains(&file_extension(name))
}

fn file_extension(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or("")
}

/// Returns true if the first line that is not a comment has a top-level key.
fn begins_like_yaml(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    first.is_some_and(|line| {
        let key = line.split_once(':').map(|(key, behind)| (key, behind.starts_with([' ', '\r']) || behind.is_empty()));
        line.starts_with("---")
            || line.starts_with("%YAML")
            || key.is_some_and(|(key, ends)| ends && writer::is_identifier(key))
    })
}

/// Returns the system whose rules this file contains, or would contain if it were valid YAML.
#[must_use]
pub fn system_of(name: &str, text: &str) -> Option<&'static Dialect> {
    if let Some(dialect) = policy_dialect(name) {
        return Some(dialect);
    }
    if is_typescript(name) {
        return text.contains("skillgym").then(typescript_dialect).flatten();
    }
    if let Some((dialect, _)) = json_dialects().find(|(_, of_json)| is_json(name) && (of_json.is_one)(text)) {
        return Some(dialect);
    }
    let mut dialects = DIALECTS.iter().filter_map(|dialect| Some((dialect, dialect.yaml_dialect()?)));
    let found = match first_read(text, FileId(0)) {
        Ok(document) => dialects.find(|(_, of_yaml)| (of_yaml.is_one)(&document)),
        Err(_) => dialects.find(|(_, of_yaml)| {
            text.lines().any(|line| line.split_once(':').is_some_and(|(key, _)| of_yaml.marks.contains(&key)))
        }),
    };
    found.map(|(dialect, _)| dialect)
}

fn typescript_dialect() -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| matches!(dialect.reads, FileSyntax::TypeScript(_)))
}

/// Lowers a file of another system.
///
/// # Errors
/// Diagnostics, with locations in the file.
pub fn lower_foreign(
    sources: &mut SourceMap,
    root: FileId,
    how: LoweringInputs<'_>,
) -> Result<LoweredFile, Diagnostics> {
    let (name, text) = sources.get(root).map(|file| (file.name.clone(), file.text.clone())).unwrap_or_default();
    let LoweringInputs { files, options } = how;
    let (said, out, params, reports) = (DiagnosticSink::default(), RuleWriter::default(), Vec::new(), Vec::new());
    let mut lowering = Lowering { sources, root, files, options, sink: said, out, params, reports };
    let of_json = || json_dialects().find(|(_, of_json)| is_json(&name) && (of_json.is_one)(&text));
    let by_name = policy_dialect(&name).or_else(|| typescript_dialect().filter(|_| is_typescript(&name)));
    let dialect = match by_name.or_else(|| of_json().map(|(dialect, _)| dialect)) {
        Some(dialect) => {
            match &dialect.reads {
                FileSyntax::TypeScript(lower) | FileSyntax::Policies { lower, .. } => lower(&mut lowering),
                FileSyntax::Json(of_json) => (of_json.lower)(&mut lowering),
                FileSyntax::Yaml(_) => {}
            }
            dialect
        }
        None => {
            let (dialect, lower, document) = document_dialect(&text, root)?;
            lower(&document, &mut lowering);
            dialect
        }
    };
    let Lowering { sink: said, out, params, reports, .. } = lowering;
    match said.has_errors() {
        true => Err(said.diagnostics),
        false => Ok(LoweredFile { dialect, written: out.finish(), params, reports, diagnostics: said.diagnostics }),
    }
}

type LowerDocument = fn(&YamlNode, &mut Lowering<'_>);

fn document_dialect(text: &str, root: FileId) -> Result<(&'static Dialect, LowerDocument, YamlNode), Diagnostics> {
    let found = first_read(text, root).map_err(|error| Diagnostics(vec![*error]))?;
    let mut dialects = DIALECTS.iter().filter_map(|dialect| Some((dialect, dialect.yaml_dialect()?)));
    let Some((dialect, of_yaml)) = dialects.find(|(_, of_yaml)| (of_yaml.is_one)(&found)) else {
        return Err(Diagnostics(vec![unknown_system(&found)]));
    };
    let document = match of_yaml.schema {
        yaml::YamlSchema::Core => found,
        other => yaml::parse_document(text, root, other).map_err(|error| Diagnostics(vec![*error]))?,
    };
    Ok((dialect, of_yaml.lower, document))
}

/// Reads the file as YAML. If unquoted placeholders prevent that, they are masked first.
fn first_read(text: &str, root: FileId) -> Result<YamlNode, Box<averment_base::diagnostic::Diagnostic>> {
    yaml::parse_document(text, root, yaml::YamlSchema::Core).or_else(|error| {
        let covered = wallfacer::template::readable_text(text).ok_or_else(|| error.clone())?;
        yaml::parse_document(&covered, root, yaml::YamlSchema::Core).map_err(|_| error)
    })
}

fn unknown_system(document: &YamlNode) -> averment_base::diagnostic::Diagnostic {
    use averment_base::diagnostic::{Diagnostic, Slug, suggest};
    let known: Vec<String> = DIALECTS.iter().map(|dialect| format!("{} ({})", dialect.name(), dialect.files)).collect();
    let place = document.entries().first().map_or(document.span.at_start(), |(key, _)| key.span);
    let marks = || DIALECTS.iter().filter_map(Dialect::yaml_dialect).flat_map(|of_yaml| of_yaml.marks.iter().copied());
    let meant = document
        .entries()
        .iter()
        .take(100)
        .find_map(|(key, _)| Some((key, suggest::suggest_name(&key.key_text(), marks())?)));
    let (place, help) = match meant {
        Some((key, mark)) => (key.span, format!("did you mean `{mark}`?")),
        None => (place, format!("rule files are `.assert` files, and those of {}", known.join(", "))),
    };
    Diagnostic::new(Slug::Syntax, place, "this YAML holds no rules of a system that is read here").with_help(help)
}

#[cfg(test)]
#[path = "../../../benches/clock/mod.rs"]
mod clock;

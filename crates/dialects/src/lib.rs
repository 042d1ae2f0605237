//! Rule files of other systems, as sentences of the language.
//!
//! Each dialect is a folder that only lowers: it reads a file of its system and writes the text of the language that means the same. That text is
//! compiled like any other, so that there is one meaning, one evaluation and one set of reports; what is said of it is said at the place in the
//! foreign file that it was made of ([`MappedText::places`]). Where a system means something else than the language by a like word (what is missing,
//! which order counts), the text says so openly.

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

/// A system whose rule files are read: a row of [`DIALECTS`].
pub struct Dialect {
    /// What its files are called.
    pub files: &'static str,
    /// How they are read.
    pub reads: FileSyntax,
    /// Its own names for verdicts and for itself.
    pub verdicts: ForeignVerdicts,
}

/// How the files of a system are read.
pub enum FileSyntax {
    /// They are YAML.
    Yaml(YamlDialect),
    /// They are TypeScript: writes the sentences of the file.
    TypeScript(fn(&mut Lowering<'_>)),
    /// They are JSON that also holds the runs that they are about.
    Json(JsonDialect),
    /// They are policies in a language of their own, told by the ending of their names.
    Policies {
        /// The ending.
        ending: &'static str,
        /// Writes the sentences of the file.
        lower: fn(&mut Lowering<'_>),
    },
}

/// A system whose files are JSON with runs in it.
pub struct JsonDialect {
    /// True if the text of a file is one of its files.
    pub is_one: fn(&str) -> bool,
    /// Writes the sentences of the file.
    pub lower: fn(&mut Lowering<'_>),
}

/// A system whose files are YAML.
pub struct YamlDialect {
    /// Keys at the top of its files, which tell them while they are no YAML yet.
    pub marks: &'static [&'static str],
    /// Which words of YAML are no text.
    pub schema: yaml::YamlSchema,
    /// True if a document is one of its files.
    pub is_one: fn(&YamlNode) -> bool,
    /// Writes the sentences of a document.
    pub lower: fn(&YamlNode, &mut Lowering<'_>),
}

impl Dialect {
    fn yaml_dialect(&self) -> Option<&YamlDialect> {
        match &self.reads {
            FileSyntax::Yaml(of_yaml) => Some(of_yaml),
            FileSyntax::TypeScript(_) | FileSyntax::Json(_) | FileSyntax::Policies { .. } => None,
        }
    }

    /// Its name, as people write it.
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

/// All dialects. The first whose file a document is reads it.
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
    /// All files that are read for it; others that it names are added.
    pub sources: &'a mut SourceMap,
    /// The file itself.
    pub root: FileId,
    /// Where the files are read that it names.
    pub files: &'a dyn Files,
    /// What was given beside it.
    pub options: ForeignOptions<'a>,
    /// Diagnostics about it.
    pub sink: DiagnosticSink,
    /// The sentences.
    pub out: RuleWriter,
    /// Its parameters, with the values that they have.
    pub params: Vec<(String, String)>,
    /// The formats of the reports that it asks for, as they are called here.
    pub reports: Vec<String>,
}

/// A foreign file as text of the language.
#[derive(Debug)]
pub struct LoweredFile {
    /// Whose file it is.
    pub dialect: &'static Dialect,
    /// The text, with the places that it was made of.
    pub written: MappedText,
    /// Its parameters, with the values that they have.
    pub params: Vec<(String, String)>,
    /// The formats of the reports that it asks for, as they are called here.
    pub reports: Vec<String>,
    /// Diagnostics about the file.
    pub diagnostics: Diagnostics,
}

/// How foreign files are lowered.
#[derive(Clone, Copy)]
pub struct LoweringInputs<'a> {
    /// Where the files are read that they name.
    pub files: &'a dyn Files,
    /// What was given beside them.
    pub options: ForeignOptions<'a>,
}

/// What is given beside foreign files.
#[derive(Debug, Clone, Copy, Default)]
pub struct ForeignOptions<'a> {
    /// Values of parameters, as they were given, with their names: they are put into what the file says.
    pub given: &'a [(String, String)],
    /// True if the parameters of a file stay parameters where the language has a place for them, but for those that are given.
    pub keep_params: bool,
    /// True if the newest release decides where it and its documentation disagree.
    pub newest: bool,
    /// True if promptfoo's files are judged as promptfoo judges: what is vacuous passes, and what is undecided fails.
    pub as_promptfoo: bool,
    /// Metrics that a program adds to those of Assay: the name of each, and its assertions in the language.
    pub metrics: &'a [(String, String)],
    /// True if reports go into a folder: reports that the file asks for are then written.
    pub in_folder: bool,
    /// True if unreadable parts of a program are listed instead of refusing the file.
    pub partly: bool,
    /// True if a case of a program that lacks an assertion is undecided instead of refusing the file.
    pub undecided: bool,
}

/// The names of the metrics that Assay has itself: no program gives them another meaning.
pub fn own_metrics() -> impl Iterator<Item = &'static str> {
    assay::own_metrics()
}

/// True if a text may be a file of another system: YAML, TypeScript or policies, unlike any rule file.
#[must_use]
pub fn may_be_foreign(name: &str, text: &str) -> bool {
    ["yaml", "yml"].contains(&file_extension(name))
        || is_typescript(name)
        || policy_dialect(name).is_some()
        || is_json(name) && (brings_runs(name, text) || is_json_document(text))
        || (name == "-" && begins_like_yaml(text))
}

/// True if JSON may be a file of a system whose files are YAML otherwise.
fn is_json_document(text: &str) -> bool {
    promptfoo::looks_like_config(text)
        || adk::looks_like_eval_set(text)
        || deepeval::looks_like_test_cases(text)
        || pydantic_evals::looks_like_dataset(text)
}

/// True if a file of another system also holds the runs that its rules are about.
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

/// The dialect whose files have this ending.
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

/// Tests for a top-level key on the first line that is no comment.
fn begins_like_yaml(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    first.is_some_and(|line| {
        let key = line.split_once(':').map(|(key, behind)| (key, behind.starts_with([' ', '\r']) || behind.is_empty()));
        line.starts_with("---")
            || line.starts_with("%YAML")
            || key.is_some_and(|(key, ends)| ends && writer::is_identifier(key))
    })
}

/// The system whose rules a file of this name holds, or would if it were YAML.
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
/// What keeps it from being read, with places in it.
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

/// Unquoted placeholders are masked if they prevent parsing.
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

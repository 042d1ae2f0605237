//! Loads rule files: from bytes to programs, with their diagnostics.

use crate::error::{Diagnostics, Problem};
use averment_base::diagnostic::{Diagnostic, Diagnostics as Said, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_checker::files::{Files, Memory};
use averment_checker::{CheckOptions, CheckResult, check_with_tools};
pub use averment_dialects::{
    ExportedPolicies, ForeignOptions, brings_runs, export_dogwood, may_be_foreign, own_metrics, system_of,
};
use averment_dialects::{LoweredFile, LoweringInputs};
use averment_engine::bytecode::codec::{self, DecodedFile};
use averment_engine::bytecode::program::{Program, ProgramSource};
use averment_engine::compile::compile;
use std::collections::BTreeSet;
use std::path::Path;

/// Settings for compiling rule files.
#[derive(Clone, Copy)]
pub struct LoadSettings<'a> {
    /// Source of the files that rules name.
    pub files: &'a dyn Files,
    /// Files that declare tools, each with its name and text: catalogues in JSON, and rule files (`.assert`).
    pub tools: &'a [(String, String)],
    /// Limits of sizes and depths.
    pub limits: Limits,
    /// Options for files of other systems.
    pub foreign: ForeignOptions<'a>,
}

impl<'a> LoadSettings<'a> {
    /// Returns settings without tool catalogues and options.
    #[must_use]
    pub fn with_limits(files: &'a dyn Files, limits: Limits) -> Self {
        Self { files, tools: &[], limits, foreign: ForeignOptions::default() }
    }
}

/// A rule file after loading.
pub struct LoadedRuleFile {
    /// The program; `None` if the file does not compile.
    pub program: Option<Program>,
    /// The file and its imports. The file itself is the first.
    pub sources: SourceMap,
    /// Its diagnostics.
    pub diagnostics: Said,
    /// The checked rules; `None` if there is no text to check.
    pub checked: Option<CheckResult>,
    /// The converted sentences, if it is a file of another system.
    pub lowered: Option<LoweredFile>,
}

impl LoadedRuleFile {
    /// True if it does not compile.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.program.is_none()
    }
}

/// Compiles a rule file, or loads a compiled program. `folder` is the base of its relative paths.
///
/// # Errors
/// Returns an error if a compiled program is invalid.
pub fn load_rules(
    name: &str,
    folder: Option<&Path>,
    bytes: Vec<u8>,
    how: LoadSettings<'_>,
) -> Result<LoadedRuleFile, Problem> {
    if codec::is_program(&bytes) {
        return load_compiled(name, &bytes, how);
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) if text.len() <= how.limits.rule_file_bytes => text,
        Ok(_) => {
            let message = format!("the file is larger than {} MiB", how.limits.rule_file_bytes >> 20);
            return Ok(unusable_file(name, Slug::TooLarge, message, "split the file"));
        }
        Err(error) => return Ok(not_text(name, &error)),
    };
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new(name, folder, text));
    Ok(compiled_from(sources, root, how))
}

/// Joins the programs and diagnostics of several files. A file that several others import is read for each of them, but its diagnostics are kept only
/// once.
#[must_use]
pub fn join_programs(files: Vec<LoadedRuleFile>) -> (Vec<Program>, Diagnostics) {
    let (mut programs, mut all, mut known) = (Vec::new(), Diagnostics::default(), BTreeSet::new());
    for LoadedRuleFile { program, sources, mut diagnostics, .. } in files {
        diagnostics.0.retain(|one| {
            let place = (sources.file_name(one.span).to_owned(), one.span.start, one.span.end);
            known.insert((place, one.slug, one.message.clone()))
        });
        diagnostics.0.iter_mut().for_each(averment_report::redact::redact_diagnostic);
        programs.extend(program);
        all.by_file_mut().push((sources, diagnostics));
    }
    (programs, all)
}

/// Reports the first byte that is not UTF-8, with the text around it.
fn not_text(name: &str, error: &std::string::FromUtf8Error) -> LoadedRuleFile {
    let at = error.utf8_error().valid_up_to();
    let byte = error.as_bytes().get(at).copied().unwrap_or_default();
    let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let mut sources = SourceMap::default();
    let file = sources.add_file(SourceFile::new(name, None, shown));
    // The displayed text has a replacement character for the byte.
    let sign = char::REPLACEMENT_CHARACTER.len_utf8();
    let message = format!("the file is not UTF-8 text: the byte 0x{byte:02X} begins no character");
    let diagnostic =
        Diagnostic::new(Slug::NotText, Span::new(file, at, at + sign), message).with_help("save the file as UTF-8");
    LoadedRuleFile { program: None, sources, diagnostics: Said(vec![diagnostic]), checked: None, lowered: None }
}

fn unusable_file(name: &str, slug: Slug, message: String, help: &str) -> LoadedRuleFile {
    let mut sources = SourceMap::default();
    let file = sources.add_file(SourceFile::new(name, None, ""));
    let diagnostics = Said(vec![Diagnostic::new(slug, Span::new(file, 0, 0), message).with_help(help)]);
    LoadedRuleFile { program: None, sources, diagnostics, checked: None, lowered: None }
}

fn compiled_from(mut sources: SourceMap, root: FileId, how: LoadSettings<'_>) -> LoadedRuleFile {
    if sources.get(root).is_some_and(|file| averment_dialects::may_be_foreign(&file.name, &file.text)) {
        return load_foreign(sources, root, how);
    }
    let LoadSettings { files, tools, limits, .. } = how;
    let tools: Vec<FileId> = tools
        .iter()
        .map(|(name, text)| {
            sources.add_file(SourceFile::new(
                name.as_str(),
                Path::new(name).parent().or(Some(Path::new(""))),
                text.as_str(),
            ))
        })
        .collect();
    let checked = check_with_tools(&mut sources, root, &tools, &CheckOptions { limits, files });
    let program = (!checked.diagnostics.has_errors()).then(|| compile(&checked.module, &sources));
    LoadedRuleFile { program, sources, diagnostics: checked.diagnostics.clone(), checked: Some(checked), lowered: None }
}

fn load_foreign(mut sources: SourceMap, root: FileId, how: LoadSettings<'_>) -> LoadedRuleFile {
    let LoadSettings { files, tools, limits, foreign } = how;
    let compiled = averment_dialects::compile_foreign(
        &mut sources,
        root,
        tools,
        limits,
        LoweringInputs { files, options: foreign },
    );
    let averment_dialects::CompiledForeign { program, diagnostics, lowered } = compiled;
    LoadedRuleFile { program, sources, diagnostics, checked: None, lowered }
}

/// Loads a compiled program. A program of another version is recompiled from its sources.
fn load_compiled(name: &str, bytes: &[u8], how: LoadSettings<'_>) -> Result<LoadedRuleFile, Problem> {
    match codec::decode(bytes) {
        Ok(DecodedFile::Program(program)) => Ok(LoadedRuleFile {
            program: Some(*program),
            sources: SourceMap::default(),
            diagnostics: Said::default(),
            checked: None,
            lowered: None,
        }),
        Ok(DecodedFile::Sources { sources, .. }) => Ok(compile_again(&sources, how)),
        Err(error) => Err(Problem::new(format!("`{name}`: {error}"), "")),
    }
}

fn compile_again(sources: &[ProgramSource], how: LoadSettings<'_>) -> LoadedRuleFile {
    let mut map = SourceMap::default();
    let Some(first) = sources.first() else {
        let message = "the compiled program holds no sources".to_owned();
        return unusable_file("", Slug::Import, message, "compile the rules again");
    };
    // The names are paths relative to where the rules were compiled, and may contain `..`. A deep imaginary folder gives each a unique path.
    let place = |name: &str| Path::new(NOWHERE).join(name);
    let files = Memory::new(sources.iter().map(|source| (place(&source.name), source.text.clone())));
    let folder = place(&first.name).parent().map(Path::to_path_buf).unwrap_or_default();
    let root = map.add_file(SourceFile::new(first.name.as_str(), Some(&folder), first.text.as_str()));
    LoadedRuleFile { checked: None, ..compiled_from(map, root, LoadSettings { files: &files, ..how }) }
}

/// A deeply nested folder that does not exist.
const NOWHERE: &str = "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a";

/// Reads the bytes of a file, at most one more than the limit, so that too large a file is detected without reading all of it.
///
/// # Errors
/// Returns the error of the system.
#[cfg(feature = "files")]
pub fn read_limited(path: &Path, limits: Limits) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    averment_base::files::open_named(path)?.take(size_limit(limits)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Maximum number of bytes that are read of a rule file or a compiled program.
#[cfg(feature = "files")]
#[must_use]
pub fn size_limit(limits: Limits) -> u64 {
    u64::try_from(limits.rule_file_bytes.max(codec::SIZE_LIMIT)).unwrap_or(u64::MAX).saturating_add(1)
}

/// Returns access to the files on the disk that rules may name: those in these folders.
#[cfg(feature = "files")]
#[must_use]
pub fn rule_disk(limits: Limits, folders: Vec<std::path::PathBuf>) -> averment_checker::files::Disk {
    averment_checker::files::Disk::within(folders, limits.rule_file_bytes)
}

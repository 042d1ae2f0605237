//! Loads rules for a command: files, folders and compiled programs, with their diagnostics.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::inputs::{TraceInput, read_input};
use averment::Diagnostics;
use averment::stages::load::{self, ForeignOptions, LoadSettings, LoadedRuleFile};
use averment_base::diagnostic::render::{self, TextColor, TextStyle, paint_text};
use averment_base::diagnostic::{self, Severity, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceMap, Span};
use averment_checker::{CheckResult, files};
use averment_engine::bytecode::codec;
use averment_engine::bytecode::program::Program;
use averment_ide::lint::{self, LintOptions};
use averment_ide::project::Project;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum number of certain warnings that a command prints.
const CERTAIN_SHOWN: usize = 20;

/// Loaded rules: a program per file, and the diagnostics of each.
#[derive(Default)]
pub struct CompiledRules {
    /// The programs, in the order of the files.
    pub programs: Vec<Program>,
    /// The diagnostics, with the sources of each file.
    pub diagnostics: Diagnostics,
    /// The formats of the reports that files of other systems ask for.
    pub reports: Vec<String>,
    broken: bool,
}

impl CompiledRules {
    /// True if a rule file does not compile.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// True if there is a diagnostic above `info`.
    pub fn has_findings(&self) -> bool {
        self.diagnostics
            .by_file()
            .iter()
            .flat_map(|(_, diagnostics)| &diagnostics.0)
            .any(|one| one.severity != Severity::Info)
    }

    /// Sets the severities that the project chose.
    pub fn take_levels(&mut self, levels: &lint::LintLevels) {
        self.diagnostics.by_file_mut().iter_mut().for_each(|(_, diagnostics)| levels.apply_to(diagnostics));
    }

    /// Returns the counts of diagnostics by severity, without the certain ones.
    fn diagnostics_count(&self) -> Option<String> {
        let all = self.diagnostics.by_file().iter().flat_map(|(_, diagnostics)| diagnostics.0.iter());
        let all = all.filter(|one| !one.slug.is_certain()).cloned().collect();
        render::count_by_severity(&diagnostic::Diagnostics(all))
    }

    /// Returns the certain warnings, one per line. They are about assertions that never check what they seem to check.
    pub fn certain_warnings(&self) -> String {
        let mut lines = Vec::new();
        for (sources, diagnostics) in self.diagnostics.by_file() {
            for one in diagnostics.0.iter().filter(|one| one.slug.is_certain() && one.severity == Severity::Warning) {
                let at = sources.line_column(one.span);
                let place = format!("{}:{}:{}", sources.file_name(one.span), at.line, at.column);
                let help = one.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
                let line = format!("warning: {place}: {}{help}", one.message);
                lines.push(format!("{}\n", render::one_line(&line)));
            }
        }
        let more = lines.len().saturating_sub(CERTAIN_SHOWN);
        lines.truncate(CERTAIN_SHOWN);
        if more > 0 {
            lines.push(format!("warning: {more} more like these; `aver lint` shows them\n"));
        }
        lines.concat()
    }

    /// Returns the names of the files that were read, as the user wrote them.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.diagnostics.by_file().iter().flat_map(|(sources, _)| sources.iter().map(|(_, file)| file.name.as_str()))
    }

    /// Returns all diagnostics, drawn over the source.
    pub fn drawn_diagnostics(&self, style: TextStyle) -> String {
        self.render_each(|diagnostics, sources| {
            averment_report::diagnostic::draw_diagnostics(diagnostics, sources, style)
        })
    }

    /// Returns all diagnostics, one per line.
    pub fn diagnostics_lines(&self) -> String {
        self.diagnostics.to_string()
    }

    /// Returns all diagnostics as JSON.
    pub fn diagnostics_data(&self) -> serde_json::Value {
        self.diagnostics.data()
    }

    fn render_each(&self, show: impl Fn(&diagnostic::Diagnostics, &SourceMap) -> String) -> String {
        self.diagnostics.by_file().iter().map(|(sources, diagnostics)| show(diagnostics, sources)).collect()
    }

    /// Prints the errors, and returns an error if the rules do not compile. Warnings of rules that compile are left to `aver lint`, so that they do
    /// not bury the output of other commands.
    pub fn report_errors(&self, color: ColorChoice) -> Result<(), CommandError> {
        let style = OutputStream::Err.style(color);
        if self.is_broken() {
            eprint_redacted(&self.drawn_diagnostics(style));
            return Err(CommandError::AlreadyReported(Exit::Rules));
        }
        if let Some(count) = self.diagnostics_count() {
            eprint_redacted(&format!(
                "{}: {count} in the rules; `aver lint` shows them\n",
                paint_text(style, TextColor::Yellow, "note")
            ));
        }
        Ok(())
    }
}

/// A file of a project that declares tools: its name and text.
pub type ToolFile = (String, String);

/// Reads the files of a project that declare tools.
pub fn project_tools(project: Option<&Project>, limits: Limits) -> Result<Vec<ToolFile>, CommandError> {
    project.iter().flat_map(|project| &project.tools).map(|path| tool_file(path, limits)).collect()
}

/// Reads a file that declares tools.
pub fn tool_file(path: &Path, limits: Limits) -> Result<ToolFile, CommandError> {
    let name = path.display().to_string();
    let failed =
        |why: String| CommandError::usage(format!("`{name}`, which declares tools, cannot be read: {why}"), "");
    let bytes = load::read_limited(path, limits).map_err(|error| failed(super::io_error_text(&error)))?;
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".to_owned()))?;
    Ok((name, text))
}

/// Compiles a program without rules, which holds only the tool declarations of files.
pub fn tools_program(
    name: &str,
    tools: &[ToolFile],
    limits: Limits,
    color: ColorChoice,
) -> Result<Option<Program>, CommandError> {
    let files = load::rule_disk(limits, Vec::new());
    let how = LoadSettings { tools, ..LoadSettings::with_limits(&files, limits) };
    let loaded = load::load_rules(name, None, Vec::new(), how)?;
    let mut rules = merge_loaded(vec![loaded]);
    if rules.is_broken() {
        rules.report_errors(color)?;
    }
    Ok(rules.programs.pop())
}

/// Options for reading rules.
#[derive(Debug, Clone, Copy)]
pub struct RuleReadOptions<'a> {
    /// Sizes and depths.
    pub limits: Limits,
    /// Additional folders from which rules may name files.
    pub read: &'a [PathBuf],
    /// Files of the project that declare tools.
    pub tools: &'a [ToolFile],
    /// Options for files of other systems.
    pub foreign: ForeignOptions<'a>,
}

/// `--compat` of commands that read files of other systems.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct CompatFlag {
    /// Rule files of other systems: follow their `documents` or their `newest` release [default: documents]; `promptfoo`: judge its files
    /// as promptfoo does; `skillgym`: read transcripts as SkillGym does
    #[arg(long, value_enum, value_name = "WHICH", hide_possible_values = true)]
    compat: Option<CompatMode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CompatMode {
    /// What the documents promise
    Documents,
    /// What the newest release does
    Newest,
    /// What is vacuous passes, and what is undecided fails, as in promptfoo
    Promptfoo,
    /// Transcripts are read as SkillGym reads them
    Skillgym,
}

impl CompatFlag {
    /// Returns the word of the flag's value, for another command line.
    #[cfg(any(feature = "probe", feature = "run"))]
    pub fn flag_word(self) -> Option<String> {
        use clap::ValueEnum as _;
        Some(self.compat?.to_possible_value()?.get_name().to_owned())
    }

    /// True if agent transcripts are read as SkillGym reads them.
    pub fn is_skillgym(self) -> bool {
        self.compat == Some(CompatMode::Skillgym)
    }

    /// Returns an error for a compatibility mode that only affects traces, for commands that read none.
    pub fn refuse_trace_compat(self) -> Result<Self, CommandError> {
        if self.is_skillgym() {
            let help = "give it to `aver check`, `aver explain` or `aver trace`";
            return Err(CommandError::usage("`--compat skillgym` says how transcripts of agents are read", help));
        }
        Ok(self)
    }

    /// Options for files of other systems.
    pub fn foreign_options<'a>(self, given: &'a [(String, String)]) -> ForeignOptions<'a> {
        ForeignOptions {
            given,
            newest: self.compat == Some(CompatMode::Newest),
            as_promptfoo: self.compat == Some(CompatMode::Promptfoo),
            ..ForeignOptions::default()
        }
    }
}

impl<'a> RuleReadOptions<'a> {
    /// Returns options with these limits, and no additional permissions.
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, read: &[], tools: &[], foreign: ForeignOptions::default() }
    }

    /// Sets the files that declare tools.
    pub fn with_tools(self, tools: &'a [ToolFile]) -> Self {
        Self { tools, ..self }
    }

    /// Sets the options for files of other systems.
    pub fn with_foreign(self, foreign: ForeignOptions<'a>) -> Self {
        Self { foreign, ..self }
    }
}

/// `--allow-read` of commands that only read rules.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ReadFlag {
    /// Let rules name files in this folder, as well as in their project and the working directory
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,
}

impl ReadFlag {
    /// Returns the options for reading rules.
    pub fn read_options(&self, limits: Limits) -> RuleReadOptions<'_> {
        RuleReadOptions { read: &self.allow_read, ..RuleReadOptions::with_limits(limits) }
    }
}

/// Returns the folders from which a rule file may name files: its own folder, its project's folder, the working directory, and the allowed ones.
pub fn readable_folders(input: &TraceInput, read: &[PathBuf]) -> Vec<PathBuf> {
    let own = match input {
        TraceInput::File(path) => averment_ide::project::readable_folders(path.parent().unwrap_or(Path::new(""))),
        TraceInput::Stdin | TraceInput::Made { .. } => Vec::new(),
    };
    own.into_iter().chain([PathBuf::new()]).chain(read.iter().cloned()).collect()
}

/// Loads rule files.
pub fn load_rules(inputs: &[TraceInput], reading: RuleReadOptions<'_>) -> Result<CompiledRules, CommandError> {
    inputs.iter().map(|input| load_one(input, None, reading)).collect::<Result<_, _>>().map(merge_loaded)
}

/// Loads rules for a check. Of the lints, only the certain ones run.
pub fn load_for_check(
    inputs: &[TraceInput],
    reading: RuleReadOptions<'_>,
    levels: &lint::LintLevels,
) -> Result<CompiledRules, CommandError> {
    let mut files: Vec<LoadedRuleFile> =
        inputs.iter().map(|input| load_one(input, None, reading)).collect::<Result<_, _>>()?;
    for LoadedRuleFile { checked, sources, diagnostics, .. } in &mut files {
        levels.apply_to(diagnostics);
        if let Some(checked) = checked.as_ref().filter(|_| !diagnostics.has_errors()) {
            diagnostics.extend(lint::lint_certain(sources, ROOT, checked, levels));
        }
    }
    Ok(merge_loaded(files))
}

/// Loads one rule file, and keeps everything that was found in it.
pub fn load_alone(input: &TraceInput, reading: RuleReadOptions<'_>) -> Result<LoadedRuleFile, CommandError> {
    load_one(input, None, reading)
}

/// Loads rules and runs the lints on every named file.
pub fn load_linted(
    inputs: &[TraceInput],
    reading: RuleReadOptions<'_>,
    options: &LintOptions,
) -> Result<CompiledRules, CommandError> {
    let mut files: Vec<LoadedRuleFile> =
        inputs.iter().map(|input| load_one(input, None, reading)).collect::<Result<_, _>>()?;
    files.iter_mut().for_each(|file| find_lints(file, options));
    // Declarations that another named file imports are not unused.
    let used: BTreeSet<DeclarationPlace> = files.iter().flat_map(imported_uses).collect();
    for LoadedRuleFile { sources, diagnostics, .. } in files.iter_mut().filter(|_| !used.is_empty()) {
        diagnostics.0.retain(|one| !(is_unused(one.slug) && used.contains(&declaration_place(sources, one.span))));
    }
    Ok(merge_loaded(files))
}

/// Converts one loaded file into compiled rules.
pub fn from_loaded(file: LoadedRuleFile) -> CompiledRules {
    merge_loaded(vec![file])
}

fn merge_loaded(files: Vec<LoadedRuleFile>) -> CompiledRules {
    let broken = files.iter().any(LoadedRuleFile::is_broken);
    let reports = files.iter().filter_map(|file| file.lowered.as_ref()).flat_map(|file| file.reports.clone()).collect();
    let (programs, said) = load::join_programs(files);
    CompiledRules { programs, diagnostics: said, reports, broken }
}

fn find_lints(file: &mut LoadedRuleFile, options: &LintOptions) {
    if let Some(checked) = &file.checked {
        file.diagnostics = lint::report_file(&file.sources, ROOT, checked, options);
    }
}

/// The id of the rule file itself, before its imports.
const ROOT: FileId = FileId(0);

/// One rule file with its diagnostics.
pub struct LintedFile {
    /// Its text; `None` if there is no text to change, such as for a compiled program.
    pub text: Option<String>,
    /// The id of the file.
    pub root: FileId,
    /// Diagnostics of the file and its imports.
    pub diagnostics: diagnostic::Diagnostics,
    /// True if it does not compile.
    pub broken: bool,
}

/// Runs the lints on a file, or on another text in its place.
pub fn lint_input(
    input: &TraceInput,
    text: Option<String>,
    reading: RuleReadOptions<'_>,
    options: &LintOptions,
) -> Result<LintedFile, CommandError> {
    let mut file = load_one(input, text, reading)?;
    find_lints(&mut file, options);
    let text = file.sources.get(ROOT).map(|source| source.text.to_string()).filter(|text| !text.is_empty());
    Ok(LintedFile { text, root: ROOT, broken: file.is_broken(), diagnostics: file.diagnostics })
}

/// Reads the text of a rule file, without parsing it.
pub fn read_rule_text(path: &Path, limits: Limits) -> Result<String, CommandError> {
    let shown = path.display();
    if path.is_dir() {
        let help = "name one rule file; it can import others with `use`";
        return Err(CommandError::usage(format!("`{shown}` is a folder"), help));
    }
    let inputs = super::inputs::rule_inputs(&[path.to_path_buf()])?;
    let bytes = match inputs.first() {
        Some(input @ TraceInput::File(_)) => read_input(input, limits)?,
        _ => return Err(CommandError::usage("the rules cannot come from standard input here", "name a rule file")),
    };
    if codec::is_program(&bytes) {
        return Err(CommandError::usage(
            format!("`{shown}` is a compiled program"),
            "name the rule file that it was made of",
        ));
    }
    String::from_utf8(bytes)
        .map_err(|_| CommandError::usage(format!("`{shown}` is not UTF-8 text"), "save the file as UTF-8"))
}

/// Where something is declared: the normalized path and the offset.
type DeclarationPlace = (String, u32);

fn declaration_place(sources: &SourceMap, span: Span) -> DeclarationPlace {
    (files::normalize_path(Path::new(sources.file_name(span))).to_string_lossy().into_owned(), span.start)
}

fn is_unused(slug: Slug) -> bool {
    matches!(slug, Slug::UnusedLet | Slug::UnusedParam | Slug::UnusedDef | Slug::UnusedStep | Slug::UnusedSchema)
}

fn imported_uses(file: &LoadedRuleFile) -> Vec<DeclarationPlace> {
    let Some(CheckResult { symbols, .. }) = &file.checked else { return Vec::new() };
    let from_root = symbols.references.iter().filter(|(place, _)| place.file == ROOT);
    let declared = from_root.filter_map(|(_, number)| symbols.declarations.get(*number));
    declared.filter(|one| one.span.file != ROOT).map(|one| declaration_place(&file.sources, one.span)).collect()
}

fn load_one(
    input: &TraceInput,
    replaced: Option<String>,
    reading: RuleReadOptions<'_>,
) -> Result<LoadedRuleFile, CommandError> {
    let RuleReadOptions { limits, read: further, tools, foreign } = reading;
    let bytes = match replaced {
        Some(text) => text.into_bytes(),
        None => read_input(input, limits)?,
    };
    let folder = match input {
        TraceInput::File(path) => path.parent().map(Path::to_path_buf).unwrap_or_default(),
        TraceInput::Stdin | TraceInput::Made { .. } => std::path::PathBuf::new(),
    };
    let how =
        LoadSettings { files: &load::rule_disk(limits, readable_folders(input, further)), tools, limits, foreign };
    Ok(load::load_rules(&input.display_name(), Some(&folder), bytes, how)?)
}

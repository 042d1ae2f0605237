//! Loading rules for a command: files, folders and compiled programs, with everything that is to be said about them.

use super::console::{ColorChoice, Stream, say};
use super::exit::{Exit, Stop};
use super::inputs::Input;
use averment::Diagnostics;
use averment::stages::load::{self, Loaded, Loading, Options};
use averment_base::diagnostic::render::{self, Ink, Style, paint};
use averment_base::diagnostic::{self, Severity, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceMap, Span};
use averment_engine::bytecode::codec;
use averment_engine::bytecode::program::Program;
use averment_engine::check::{Checked, files};
use averment_ide::lint::{self, LintOptions};
use averment_ide::project::Project;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What came of loading rules: a program per file, and what was said about each.
#[derive(Default)]
pub struct Rules {
    /// The programs, in the order of the files.
    pub programs: Vec<Program>,
    /// What was said, with the sources of each file.
    pub said: Diagnostics,
    /// The formats of the reports that files of other systems ask for.
    pub reports: Vec<String>,
    /// True when something does not compile.
    broken: bool,
}

impl Rules {
    /// True when something does not compile.
    pub fn broken(&self) -> bool {
        self.broken
    }

    /// True when anything was said that is more than a remark.
    pub fn has_findings(&self) -> bool {
        self.said.by_file().iter().flat_map(|(_, diagnostics)| &diagnostics.0).any(|one| one.severity != Severity::Info)
    }

    /// Gives what was said the levels that a project chose.
    pub fn take_levels(&mut self, levels: &lint::Levels) {
        self.said.by_file_mut().iter_mut().for_each(|(_, diagnostics)| levels.apply(diagnostics));
    }

    /// How much was said, in words; `None` for nothing.
    fn counted(&self) -> Option<String> {
        let all = self.said.by_file().iter().flat_map(|(_, diagnostics)| diagnostics.0.iter().cloned()).collect();
        render::counted(&diagnostic::Diagnostics(all))
    }

    /// The files that were read, as people name them.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.said.by_file().iter().flat_map(|(sources, _)| sources.iter().map(|(_, file)| file.name.as_str()))
    }

    /// Everything that was said, drawn.
    pub fn drawn(&self, style: Style) -> String {
        self.each(|diagnostics, sources| averment_report::diagnostic::graphical(diagnostics, sources, style))
    }

    /// Everything that was said, a line each.
    pub fn lines(&self) -> String {
        self.said.to_string()
    }

    /// Everything that was said, as data.
    pub fn data(&self) -> serde_json::Value {
        self.said.data()
    }

    fn each(&self, show: impl Fn(&diagnostic::Diagnostics, &SourceMap) -> String) -> String {
        self.said.by_file().iter().map(|(sources, diagnostics)| show(diagnostics, sources)).collect()
    }

    /// Says what is to be said to a person, and ends the command where the rules do not compile. Warnings of rules that compile are
    /// `lint`'s business: elsewhere they must not bury what the command is asked for.
    pub fn tell(&self, color: ColorChoice) -> Result<(), Stop> {
        let style = Stream::Err.style(color);
        if self.broken() {
            say(&self.drawn(style));
            return Err(Stop::Said(Exit::Rules));
        }
        if let Some(count) = self.counted() {
            say(&format!("{}: {count} in the rules; `aver lint` shows them\n", paint(style, Ink::Yellow, "note")));
        }
        Ok(())
    }
}

/// A file of a project that declares tools: its name and its text.
pub type ToolFile = (String, String);

/// The files of a project that declare tools.
pub fn tools(project: Option<&Project>, limits: Limits) -> Result<Vec<ToolFile>, Stop> {
    project.iter().flat_map(|project| &project.tools).map(|path| tool_file(path, limits)).collect()
}

/// A file that declares tools.
pub fn tool_file(path: &Path, limits: Limits) -> Result<ToolFile, Stop> {
    let name = path.display().to_string();
    let failed = |why: String| Stop::usage(format!("`{name}`, which declares tools, cannot be read: {why}"), "");
    let bytes = load::read(path, limits).map_err(|error| failed(super::said(&error)))?;
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".to_owned()))?;
    Ok((name, text))
}

/// A program without rules, with what files say that declare tools.
pub fn of_tools(name: &str, tools: &[ToolFile], limits: Limits, color: ColorChoice) -> Result<Option<Program>, Stop> {
    let files = load::disk(limits, Vec::new());
    let how = Loading { tools, ..Loading::plain(&files, limits) };
    let loaded = load::one(name, None, Vec::new(), how)?;
    let mut rules = together(vec![loaded]);
    if rules.broken() {
        rules.tell(color)?;
    }
    Ok(rules.programs.pop())
}

/// How rules are read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Sizes and depths.
    pub limits: Limits,
    /// Further folders of which they may name files.
    pub read: &'a [PathBuf],
    /// The files of the project that declare tools.
    pub tools: &'a [ToolFile],
    /// What is given beside files of other systems.
    pub foreign: Options<'a>,
}

/// `--compat` of commands that read files of other systems.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct CompatFlag {
    /// What decides in rule files of other systems where their documents and their newest release disagree: documents, newest
    /// [default: documents]; skillgym: transcripts of agents are read as SkillGym reads them
    #[arg(long, value_enum, value_name = "WHICH", hide_possible_values = true)]
    compat: Option<Compat>,
}

/// `--compat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Compat {
    /// What the documents promise
    Documents,
    /// What the newest release does
    Newest,
    /// Transcripts are read as SkillGym reads them
    Skillgym,
}

impl CompatFlag {
    /// What was written, for another command line.
    #[cfg(any(feature = "probe", feature = "run"))]
    pub fn word(self) -> Option<String> {
        use clap::ValueEnum as _;
        Some(self.compat?.to_possible_value()?.get_name().to_owned())
    }

    /// Whether transcripts are read as SkillGym reads them.
    pub fn is_skillgym(self) -> bool {
        self.compat == Some(Compat::Skillgym)
    }

    /// The same for a command that reads no traces with it.
    pub fn of_rules(self) -> Result<Self, Stop> {
        if self.is_skillgym() {
            let help = "give it to `aver check`, `aver explain` or `aver trace`";
            return Err(Stop::usage("`--compat skillgym` says how transcripts of agents are read", help));
        }
        Ok(self)
    }

    /// What is given beside files of other systems, with it.
    pub fn reading<'a>(self, given: &'a [(String, String)]) -> Options<'a> {
        Options { given, newest: self.compat == Some(Compat::Newest), ..Options::default() }
    }
}

impl<'a> Reading<'a> {
    /// With what every command allows.
    pub fn plain(limits: Limits) -> Self {
        Self { limits, read: &[], tools: &[], foreign: Options::default() }
    }

    /// The same with files that declare tools.
    pub fn with(self, tools: &'a [ToolFile]) -> Self {
        Self { tools, ..self }
    }

    /// The same with what is known for files of other systems.
    pub fn foreign(self, foreign: Options<'a>) -> Self {
        Self { foreign, ..self }
    }
}

/// `--allow-read` of commands that only read rules.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ReadFlag {
    /// Rules may name files in this folder, beside those of their project and of the working directory
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,
}

impl ReadFlag {
    /// How rules are read with it.
    pub fn reading(&self, limits: Limits) -> Reading<'_> {
        Reading { read: &self.allow_read, ..Reading::plain(limits) }
    }
}

/// The folders of which the rules of a file may name files: their own, that of their project, the working directory, and those that are allowed.
pub fn readable(input: &Input, read: &[PathBuf]) -> Vec<PathBuf> {
    let own = match input {
        Input::File(path) => averment_ide::project::readable(path.parent().unwrap_or(Path::new(""))),
        Input::Stdin | Input::Made { .. } => Vec::new(),
    };
    own.into_iter().chain([PathBuf::new()]).chain(read.iter().cloned()).collect()
}

/// Loads rules.
pub fn load(inputs: &[Input], reading: Reading<'_>) -> Result<Rules, Stop> {
    inputs.iter().map(|input| load_one(input, None, reading)).collect::<Result<_, _>>().map(together)
}

/// Loads one file of rules, with all that is known of it.
pub fn load_alone(input: &Input, reading: Reading<'_>) -> Result<Loaded, Stop> {
    load_one(input, None, reading)
}

/// Loads rules and looks for lints in every file that is named.
pub fn load_linted(inputs: &[Input], reading: Reading<'_>, options: &LintOptions) -> Result<Rules, Stop> {
    let mut files: Vec<Loaded> = inputs.iter().map(|input| load_one(input, None, reading)).collect::<Result<_, _>>()?;
    files.iter_mut().for_each(|file| find_lints(file, options));
    // What another of these files imports is used.
    let used: BTreeSet<Place> = files.iter().flat_map(uses).collect();
    for Loaded { sources, diagnostics, .. } in files.iter_mut().filter(|_| !used.is_empty()) {
        diagnostics.0.retain(|one| !(is_unused(one.slug) && used.contains(&place_of(sources, one.span))));
    }
    Ok(together(files))
}

/// The rules of one file that was loaded.
pub fn of_one(file: Loaded) -> Rules {
    together(vec![file])
}

fn together(files: Vec<Loaded>) -> Rules {
    let broken = files.iter().any(Loaded::is_broken);
    let reports = files.iter().filter_map(|file| file.lowered.as_ref()).flat_map(|file| file.reports.clone()).collect();
    let (programs, said) = load::together(files);
    Rules { programs, said, reports, broken }
}

/// Says of a file what the linter finds beside what the checker says.
fn find_lints(file: &mut Loaded, options: &LintOptions) {
    if let Some(checked) = &file.checked {
        file.diagnostics = lint::report(&file.sources, ROOT, checked, options);
    }
}

/// The number of the file itself among those that are read for it.
const ROOT: FileId = FileId(0);

/// One rule file with all that is found in it.
pub struct Linted {
    /// Its text; `None` where there is none to change (a compiled program, a file that is no text).
    pub text: Option<String>,
    /// Its number.
    pub root: FileId,
    /// What was found, in it and in what it imports.
    pub diagnostics: diagnostic::Diagnostics,
    /// True when it does not compile.
    pub broken: bool,
}

/// Looks for lints in a file, or in another text in its place.
pub fn linted(
    input: &Input,
    text: Option<String>,
    reading: Reading<'_>,
    options: &LintOptions,
) -> Result<Linted, Stop> {
    let mut file = load_one(input, text, reading)?;
    find_lints(&mut file, options);
    let text = file.sources.get(ROOT).map(|source| source.text.to_string()).filter(|text| !text.is_empty());
    Ok(Linted { text, root: ROOT, broken: file.is_broken(), diagnostics: file.diagnostics })
}

/// The text of one rule file, not looked at any further.
pub fn text_of(path: &Path, limits: Limits) -> Result<String, Stop> {
    let shown = path.display();
    if path.is_dir() {
        let help = "name one rule file; it can import others with `use`";
        return Err(Stop::usage(format!("`{shown}` is a folder"), help));
    }
    let inputs = super::inputs::rules(&[path.to_path_buf()])?;
    let bytes = match inputs.first() {
        Some(input @ Input::File(_)) => read(input, limits)?,
        _ => return Err(Stop::usage("the rules cannot come from standard input here", "name a rule file")),
    };
    if codec::is_program(&bytes) {
        return Err(Stop::usage(format!("`{shown}` is a compiled program"), "name the rule file that it was made of"));
    }
    String::from_utf8(bytes).map_err(|_| Stop::usage(format!("`{shown}` is not UTF-8 text"), "save the file as UTF-8"))
}

/// Where something is declared: the file, without detours in its path, and the offset.
type Place = (String, u32);

fn place_of(sources: &SourceMap, span: Span) -> Place {
    (files::normalized(Path::new(sources.name(span))).to_string_lossy().into_owned(), span.start)
}

/// Whether a diagnostic says of a declaration that nothing uses it.
fn is_unused(slug: Slug) -> bool {
    matches!(slug, Slug::UnusedLet | Slug::UnusedParam | Slug::UnusedDef | Slug::UnusedStep | Slug::UnusedSchema)
}

/// The declarations of other files that a file uses.
fn uses(file: &Loaded) -> Vec<Place> {
    let Some(Checked { symbols, .. }) = &file.checked else { return Vec::new() };
    let from_root = symbols.references.iter().filter(|(place, _)| place.file == ROOT);
    let declared = from_root.filter_map(|(_, number)| symbols.declarations.get(*number));
    declared.filter(|one| one.span.file != ROOT).map(|one| place_of(&file.sources, one.span)).collect()
}

/// Loads one file, or another text in its place.
fn load_one(input: &Input, replaced: Option<String>, reading: Reading<'_>) -> Result<Loaded, Stop> {
    let Reading { limits, read: further, tools, foreign } = reading;
    let bytes = match replaced {
        Some(text) => text.into_bytes(),
        None => read(input, limits)?,
    };
    let folder = match input {
        Input::File(path) => path.parent().map(Path::to_path_buf).unwrap_or_default(),
        Input::Stdin | Input::Made { .. } => std::path::PathBuf::new(),
    };
    let how = Loading { files: &load::disk(limits, readable(input, further)), tools, limits, foreign };
    Ok(load::one(&input.name(), Some(&folder), bytes, how)?)
}

/// A run that stands where rules are expected: named like one, and JSON by its first character.
fn not_a_trace(path: &Path, bytes: &[u8]) -> Result<(), Stop> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    let opens = bytes.trim_ascii_start().first().is_some_and(|first| matches!(first, b'{' | b'['));
    if opens && ["json", "jsonl", "ndjson"].contains(&ending) {
        let message = format!("`{}` is a trace, and rules are expected here", path.display());
        return Err(Stop::usage(
            message,
            "a trace stands behind the rules in `check` and `explain`, behind `--on` in `repl` and `test`",
        ));
    }
    Ok(())
}

/// The bytes of a file, one more than the limit at most, so that too large a file is seen without being read whole.
pub fn read(input: &Input, limits: Limits) -> Result<Vec<u8>, Stop> {
    let failed = |error: std::io::Error| {
        Stop::usage(format!("`{}` cannot be read: {}", input.name(), super::said(&error)), String::new())
    };
    let mut bytes = Vec::new();
    match input {
        Input::File(path) => {
            bytes = load::read(path, limits).map_err(failed)?;
            not_a_trace(path, &bytes)?;
        }
        Input::Stdin => {
            averment_base::files::note_stdin();
            std::io::stdin().lock().take(load::most(limits)).read_to_end(&mut bytes).map_err(failed)?;
        }
        Input::Made { text, .. } => bytes.extend_from_slice(text.as_bytes()),
    }
    Ok(bytes)
}

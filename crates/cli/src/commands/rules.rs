//! Loading rules for a command: files, folders and compiled programs, with everything that is to be said about them.

use super::console::{ColorChoice, Stream, say};
use super::exit::{Exit, Stop};
use super::inputs::Input;
use averment_base::diagnostic::render::{self, Ink, Style, paint};
use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_engine::bytecode::codec::{self, Decoded};
use averment_engine::bytecode::program::{Program, Source};
use averment_engine::check::files::{self, Disk, Files, Memory};
use averment_engine::check::{CheckOptions, Checked, check};
use averment_ide::lint::{self, LintOptions};
use std::io::Read as _;
use std::path::Path;

/// What came of loading rules: a program per file, and what was said about each.
#[derive(Default)]
pub struct Rules {
    /// The programs, in the order of the files.
    pub programs: Vec<Program>,
    /// What was said, with the sources of each file.
    said: Vec<(SourceMap, Diagnostics)>,
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
        self.said.iter().flat_map(|(_, diagnostics)| &diagnostics.0).any(|one| one.severity != Severity::Info)
    }

    /// Gives what was said the levels that a project chose.
    pub fn take_levels(&mut self, levels: &lint::Levels) {
        self.said.iter_mut().for_each(|(_, diagnostics)| levels.apply(diagnostics));
    }

    /// How much was said, in words; `None` for nothing.
    fn counted(&self) -> Option<String> {
        let all = self.said.iter().flat_map(|(_, diagnostics)| diagnostics.0.iter().cloned()).collect();
        render::counted(&Diagnostics(all))
    }

    /// The files that were read, as people name them.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.said.iter().flat_map(|(sources, _)| sources.iter().map(|(_, file)| file.name.as_str()))
    }

    /// Everything that was said, drawn.
    pub fn drawn(&self, style: Style) -> String {
        self.each(|diagnostics, sources| averment_report::diagnostic::graphical(diagnostics, sources, style))
    }

    /// Everything that was said, a line each.
    pub fn lines(&self) -> String {
        self.each(render::short)
    }

    /// Everything that was said, as annotations of GitHub Actions.
    pub fn annotations(&self) -> String {
        self.each(render::annotations)
    }

    /// Everything that was said, as data.
    pub fn data(&self) -> serde_json::Value {
        let lists = self.said.iter().map(|(sources, diagnostics)| render::json(diagnostics, sources));
        lists.flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect()
    }

    fn each(&self, show: impl Fn(&Diagnostics, &SourceMap) -> String) -> String {
        self.said.iter().map(|(sources, diagnostics)| show(diagnostics, sources)).collect()
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

/// Loads rules. A file that several others import is read for each, and what is said of it is said once.
pub fn load(inputs: &[Input], limits: Limits) -> Result<Rules, Stop> {
    load_each(inputs, |input| load_one(input, None, limits, None))
}

/// Loads rules and looks for lints in every file that is named.
pub fn load_linted(inputs: &[Input], limits: Limits, options: &LintOptions) -> Result<Rules, Stop> {
    load_each(inputs, |input| load_one(input, None, limits, Some(options)))
}

/// One rule file with all that is found in it.
pub struct Linted {
    /// Its text; `None` where there is none to change (a compiled program, a file that is no text).
    pub text: Option<String>,
    /// Its number.
    pub root: FileId,
    /// What was found, in it and in what it imports.
    pub diagnostics: Diagnostics,
    /// True when it does not compile.
    pub broken: bool,
}

/// Looks for lints in a file, or in another text in its place.
pub fn linted(input: &Input, text: Option<String>, limits: Limits, options: &LintOptions) -> Result<Linted, Stop> {
    let file = load_one(input, text, limits, Some(options))?;
    let root = FileId(0);
    let text = file.sources.get(root).map(|source| source.text.to_string()).filter(|text| !text.is_empty());
    Ok(Linted { text, root, diagnostics: file.diagnostics, broken: file.broken })
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

fn load_each(inputs: &[Input], load: impl Fn(&Input) -> Result<File, Stop>) -> Result<Rules, Stop> {
    let mut rules = Rules::default();
    let mut known = std::collections::BTreeSet::new();
    let mut files = inputs.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    // What another of these files imports is used.
    let used: std::collections::BTreeSet<Place> =
        files.iter_mut().flat_map(|file| std::mem::take(&mut file.uses)).collect();
    for mut file in files {
        file.diagnostics.0.retain(|one| {
            let is_used = !used.is_empty() && is_unused(one.slug) && used.contains(&place_of(&file.sources, one.span));
            !is_used
        });
        file.diagnostics.0.retain(|one| {
            let place = (file.sources.name(one.span).to_owned(), one.span.start, one.span.end);
            known.insert((place, one.slug, one.message.clone()))
        });
        rules.broken |= file.broken;
        rules.programs.extend(file.program);
        rules.said.push((file.sources, file.diagnostics));
    }
    Ok(rules)
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
fn uses(sources: &SourceMap, root: FileId, checked: &Checked) -> Vec<Place> {
    let symbols = &checked.symbols;
    let from_root = symbols.references.iter().filter(|(place, _)| place.file == root);
    let declared = from_root.filter_map(|(_, number)| symbols.declarations.get(*number));
    declared.filter(|one| one.span.file != root).map(|one| place_of(sources, one.span)).collect()
}

/// A loaded file.
struct File {
    /// What it uses of other files; only where lints are looked for.
    uses: Vec<Place>,
    program: Option<Program>,
    sources: SourceMap,
    diagnostics: Diagnostics,
    broken: bool,
}

fn load_one(
    input: &Input,
    replaced: Option<String>,
    limits: Limits,
    lints: Option<&LintOptions>,
) -> Result<File, Stop> {
    let name = input.name();
    let bytes = match replaced {
        Some(text) => text.into_bytes(),
        None => read(input, limits)?,
    };
    if codec::is_program(&bytes) {
        return compiled(&name, &bytes, limits);
    }
    let folder = match input {
        Input::File(path) => path.parent().map(Path::to_path_buf).unwrap_or_default(),
        Input::Stdin => std::path::PathBuf::new(),
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) if text.len() <= limits.rule_file_bytes => text,
        Ok(_) => {
            let message = format!("the file is larger than {} MiB", limits.rule_file_bytes >> 20);
            return Ok(unusable(&name, Slug::TooLarge, message, "split the file"));
        }
        Err(error) => return Ok(not_text(&name, &error)),
    };
    let mut sources = SourceMap::default();
    let root = sources.add(SourceFile::new(name, Some(&folder), text));
    Ok(compile(sources, root, &Disk { limit: limits.rule_file_bytes }, limits, lints))
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

/// The place of the first byte that is no text, with the text around it.
fn not_text(name: &str, error: &std::string::FromUtf8Error) -> File {
    let at = error.utf8_error().valid_up_to();
    let byte = error.as_bytes().get(at).copied().unwrap_or_default();
    let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let mut sources = SourceMap::default();
    let file = sources.add(SourceFile::new(name, None, shown));
    // In the text that is shown a sign stands for the byte.
    let sign = char::REPLACEMENT_CHARACTER.len_utf8();
    let message = format!("the file is not UTF-8 text: the byte 0x{byte:02X} begins no character");
    let diagnostics =
        Diagnostic::new(Slug::NotText, Span::new(file, at, at + sign), message).help("save the file as UTF-8");
    File { program: None, sources, diagnostics: Diagnostics(vec![diagnostics]), broken: true, uses: Vec::new() }
}

fn unusable(name: &str, slug: Slug, message: String, help: &str) -> File {
    let mut sources = SourceMap::default();
    let file = sources.add(SourceFile::new(name, None, ""));
    let diagnostics = Diagnostics(vec![Diagnostic::new(slug, Span::new(file, 0, 0), message).help(help)]);
    File { program: None, sources, diagnostics, broken: true, uses: Vec::new() }
}

fn compile(
    mut sources: SourceMap,
    root: FileId,
    files: &dyn Files,
    limits: Limits,
    lints: Option<&LintOptions>,
) -> File {
    let checked = check(&mut sources, root, &CheckOptions { limits, files });
    let broken = checked.diagnostics.has_errors();
    let program = (!broken).then(|| averment_engine::compile::compile(&checked.module, &sources));
    let diagnostics = match lints {
        Some(options) => lint::report(&sources, root, &checked, options),
        None => checked.diagnostics.clone(),
    };
    let uses = if lints.is_some() { uses(&sources, root, &checked) } else { Vec::new() };
    File { program, sources, diagnostics, broken, uses }
}

/// A program that was compiled before. One of another version is compiled again from the sources in it.
fn compiled(name: &str, bytes: &[u8], limits: Limits) -> Result<File, Stop> {
    match codec::decode(bytes) {
        Ok(Decoded::Program(program)) => Ok(File {
            program: Some(*program),
            sources: SourceMap::default(),
            diagnostics: Diagnostics::default(),
            broken: false,
            uses: Vec::new(),
        }),
        Ok(Decoded::Sources { sources, .. }) => Ok(again(&sources, limits)),
        Err(error) => Err(Stop::usage(format!("`{name}`: {error}"), String::new())),
    }
}

fn again(sources: &[Source], limits: Limits) -> File {
    let mut map = SourceMap::default();
    let Some(first) = sources.first() else {
        return unusable(
            "",
            Slug::Import,
            "the compiled program holds no sources".to_owned(),
            "compile the rules again",
        );
    };
    // The names are paths from where the rules were compiled and may lead upwards; deep inside a folder of nothing they all have a place.
    let place = |name: &str| Path::new(NOWHERE).join(name);
    let files = Memory::new(sources.iter().map(|source| (place(&source.name), source.text.clone())));
    let folder = place(&first.name).parent().map(Path::to_path_buf).unwrap_or_default();
    let root = map.add(SourceFile::new(first.name.as_str(), Some(&folder), first.text.as_str()));
    compile(map, root, &files, limits, None)
}

/// Folders inside each other that exist nowhere.
const NOWHERE: &str = "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a";

/// The bytes of a file, one more than the limit at most, so that too large a file is seen without being read whole.
pub fn read(input: &Input, limits: Limits) -> Result<Vec<u8>, Stop> {
    let failed = |error: std::io::Error| {
        Stop::usage(format!("`{}` cannot be read: {}", input.name(), super::said(&error)), String::new())
    };
    let most = u64::try_from(limits.rule_file_bytes.max(codec::SIZE_LIMIT)).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    match input {
        Input::File(path) => {
            let file = std::fs::File::open(path).map_err(failed)?;
            file.take(most).read_to_end(&mut bytes).map_err(failed)?;
            not_a_trace(path, &bytes)?;
        }
        Input::Stdin => {
            std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(failed)?;
        }
    }
    Ok(bytes)
}

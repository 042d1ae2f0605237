//! Where reports go: `--format` to standard output, each `--report` into a file, `--report-dir` several into a folder.

use super::console::{ColorChoice, Stream};
use super::exit::Stop;
use super::inputs::Input;
use super::project::ReportFolder;
use super::replace::{Draft, identity, is_device};
use super::said;
use averment_base::diagnostic::render::Style;
use averment_base::diagnostic::suggest::nearest;
use averment_report::{Command, Format};
use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A format with the file it goes to; `None` is standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputTarget {
    /// The format.
    pub format: Format,
    /// The file.
    pub file: Option<PathBuf>,
    /// Whether its folder is made where there is none.
    makes_folder: bool,
}

impl OutputTarget {
    /// What goes to standard output.
    pub fn stdout(format: Format) -> Self {
        Self { format, file: None, makes_folder: false }
    }

    /// The file, which can be written where this succeeds; nothing is made before that is asked for.
    fn open(&self, path: &Path) -> Result<ReportFile, Stop> {
        if let Some(folder) = path.parent().filter(|_| self.makes_folder) {
            std::fs::create_dir_all(folder).map_err(|error| {
                let message = format!("the folder `{}` cannot be made: {}", folder.display(), said(&error));
                Stop::usage(message, "name another folder")
            })?;
        }
        ReportFile::open(path)
    }

    /// Writes a report that is made already.
    pub fn put(&self, text: &str) -> Result<(), Stop> {
        match &self.file {
            None => Ok(io::stdout().write_all(text.as_bytes())?),
            Some(path) => {
                let mut file = self.open(path)?;
                file.write_all(text.as_bytes())?;
                Ok(file.finish()?)
            }
        }
    }
}

/// The flags of a command that say where its reports go.
#[derive(Debug, clap::Args)]
pub struct ReportArguments {
    /// What is printed, as of `aver check` [default: human, or the format of the project]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// A further report into a file, which is written whole or not at all
    #[arg(long, value_name = "FORMAT=FILE")]
    pub report: Vec<String>,
    /// Reports for programs and services into a folder, under names that stay
    #[arg(long, value_name = "DIR")]
    pub report_dir: Option<PathBuf>,
}

impl ReportArguments {
    /// What goes to standard output in the format of `--format`, else of the project, and the files of every `--report FORMAT=FILE` and
    /// of `--report-dir`.
    pub fn targets(
        &self,
        command: Command,
        of_project: Option<&str>,
        folder: ReportFolder<'_>,
    ) -> Result<Vec<OutputTarget>, Stop> {
        let format = self.format.as_deref().or(of_project).unwrap_or(Format::Human.as_str());
        let mut targets = vec![OutputTarget::stdout(named(command, format)?)];
        targets.extend(files(command, &self.report, folder)?);
        Ok(targets)
    }
}

/// Help on `--format`: what is printed in that way, and the formats that the command has.
pub fn format_help(what: &str, command: Command) -> String {
    format!("{what}: {}", words(command))
}

/// The words of the formats that a command has.
fn words(command: Command) -> String {
    Format::of_command(command).map(Format::as_str).collect::<Vec<_>>().join(", ")
}

/// The targets that are files.
fn files(command: Command, reports: &[String], folder: ReportFolder<'_>) -> Result<Vec<OutputTarget>, Stop> {
    let mut targets = Vec::new();
    for text in reports {
        let Some((format, file)) = text.split_once('=').filter(|(_, file)| !file.is_empty()) else {
            return Err(Stop::usage(
                format!("`--report {text}` names no file"),
                format!("write `--report {}=FILE`", text.trim_end_matches('=')),
            ));
        };
        let file = PathBuf::from(file);
        let beside = |path: &Path| std::path::absolute(path).ok();
        let makes_folder = folder.folder.is_some_and(|folder| file.parent().and_then(beside) == beside(folder));
        targets.push(OutputTarget { format: named(command, format)?, file: Some(file), makes_folder });
    }
    let formats = formats(folder.formats)?;
    if let Some(folder) = folder.folder {
        if resolved(folder).is_none() {
            let message = format!("the folder `{}` goes up from one that does not exist", folder.display());
            return Err(Stop::usage(message, "name it without `..`"));
        }
        let formats = formats.into_iter().filter(|format| format.suits(command));
        targets.extend(formats.map(|format| {
            let file = Some(folder.join(format.file_name()));
            OutputTarget { format, file, makes_folder: true }
        }));
    }
    apart(files_of(&targets), "reports")?;
    Ok(targets)
}

/// The files among targets.
pub fn files_of(targets: &[OutputTarget]) -> impl Iterator<Item = &Path> {
    targets.iter().filter_map(|target| target.file.as_deref())
}

/// The formats of a folder.
fn formats(words: &[String]) -> Result<Vec<Format>, Stop> {
    if words.is_empty() {
        return Ok(Format::of_folder().collect());
    }
    let mut formats = Vec::new();
    for word in words {
        // The command with every format tells of words that are none.
        let format = named(Command::Check, word)?;
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    Ok(formats)
}

/// The format of a word, where the command has it.
pub fn named(command: Command, word: &str) -> Result<Format, Stop> {
    let known = Format::of_command(command).map(Format::as_str);
    match Format::parse(word) {
        Some(format) if format.suits(command) => Ok(format),
        found => {
            let message = match found {
                Some(_) => format!("`{}` has no format `{word}`", command.as_str()),
                None => format!("there is no format `{word}`"),
            };
            let help = match nearest(word, known).filter(|_| found.is_none()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the formats are {}", words(command)),
            };
            Err(Stop::usage(message, help))
        }
    }
}

/// Two outputs into one file would leave one of them. `what` says what goes there.
pub fn apart<'a>(outputs: impl Iterator<Item = &'a Path>, what: &str) -> Result<(), Stop> {
    let paths: Vec<&Path> = outputs.filter(|path| !is_device(path)).collect();
    for (number, path) in paths.iter().enumerate() {
        let before = paths.get(..number).unwrap_or_default();
        if before.iter().any(|other| same(path, other)) {
            let message = format!("two {what} go into `{}`", path.display());
            return Err(Stop::usage(message, "name another file for one of them"));
        }
    }
    Ok(())
}

/// Where a folder is, or will be when it is made; `None` where a `..` stands behind one that is not there: nobody could compare that.
fn resolved(folder: &Path) -> Option<PathBuf> {
    let full = std::path::absolute(folder).ok()?;
    let (there, place) = full.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    let missing = full.strip_prefix(there).ok()?;
    missing.components().all(|part| matches!(part, Component::Normal(_))).then(|| place.join(missing))
}

/// Whether two paths name one file, there or not.
fn same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((resolved(folder)?, path.file_name()?.to_owned()))
    };
    let both = |a: Option<_>, b: Option<_>| a.is_some() && a == b;
    one == other || both(place(one), place(other)) || identity(one).is_some_and(|found| identity(other) == Some(found))
}

/// An output never takes the place of something that the command reads.
pub fn refuse<'a>(outputs: impl Iterator<Item = &'a Path>, read: impl Iterator<Item = &'a Path>) -> Result<(), Stop> {
    // What is not there yet is none of them.
    let there: Vec<_> = outputs.filter_map(|path| Some((path, identity(path)?))).collect();
    if there.is_empty() {
        return Ok(());
    }
    for input in read.filter_map(identity) {
        if let Some((path, _)) = there.iter().find(|(_, found)| *found == input) {
            let message = format!("`{}` is read by this command, and no report is written over it", path.display());
            return Err(Stop::usage(message, "name another file"));
        }
    }
    Ok(())
}

/// The files among inputs.
pub fn paths(inputs: &[Input]) -> impl Iterator<Item = &Path> {
    inputs.iter().filter_map(|input| match input {
        Input::File(path) => Some(path.as_path()),
        Input::Stdin | Input::Made { .. } => None,
    })
}

/// A file that a report is written into and that takes its name at the end.
#[derive(Clone)]
pub struct ReportFile(Rc<RefCell<BufWriter<Draft>>>);

impl ReportFile {
    /// A file of a report, which can be written where this succeeds.
    pub fn open(path: &Path) -> Result<Self, Stop> {
        let draft = Draft::of_command(path).map_err(|error| {
            let message = format!("`{}` cannot be written: {}", path.display(), said(&error));
            Stop::usage(message, "name a file in a folder that exists")
        })?;
        // A file that grows beyond what is allowed is an error like a full disk, and not the end of the process.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
        Ok(Self(Rc::new(RefCell::new(BufWriter::with_capacity(1 << 16, draft)))))
    }

    /// Gives the file its name. No report writes into it any more.
    pub fn finish(self) -> io::Result<()> {
        let writer = Rc::into_inner(self.0).ok_or_else(busy)?.into_inner();
        writer.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    }
}

/// The signal to whoever writes a larger file than is allowed; 25 on every Unix.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

fn busy() -> io::Error {
    io::Error::other("a report is still being written")
}

impl Write for ReportFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_borrow_mut().map_err(|_| busy())?.write(bytes)
    }

    /// What is written goes on at the end: nobody reads the file before.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a report is written into.
pub struct Opened {
    /// The stream.
    pub out: Box<dyn Write>,
    /// How text looks there.
    pub style: Style,
    /// The file that takes its name at the end.
    pub file: Option<ReportFile>,
}

/// Opens what a report is written into.
pub fn opened(target: &OutputTarget, color: ColorChoice) -> Result<Opened, Stop> {
    let Some(path) = &target.file else {
        let out = Box::new(BufWriter::with_capacity(1 << 16, io::stdout()));
        return Ok(Opened { out, style: Stream::Out.style(color), file: None });
    };
    let file = target.open(path)?;
    Ok(Opened { out: Box::new(file.clone()), style: Style { width: 100, ..Style::PLAIN }, file: Some(file) })
}

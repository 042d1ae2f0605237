//! Report targets: `--format` for standard output, each `--report` for a file, `--report-dir` for several files in a folder.

use super::console::{ColorChoice, OutputStream};
use super::draft_file::{DraftFile, file_identity, is_device};
use super::exit::CommandError;
use super::inputs::TraceInput;
use super::project::ReportFolder;
use super::{io_error_text, write_error_text};
use averment_base::diagnostic::render::TextStyle;
use averment_base::diagnostic::suggest::suggest_name;
use averment_report::{Format, ReportedCommand};
use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// A report format and its file; without a file it goes to standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputTarget {
    /// The format.
    pub format: Format,
    /// The file.
    pub file: Option<PathBuf>,
    makes_folder: bool,
}

impl OutputTarget {
    /// Creates a target on standard output.
    pub fn for_stdout(format: Format) -> Self {
        Self { format, file: None, makes_folder: false }
    }

    /// Opens the file of a report. Creates only its folder, if the target needs one.
    fn open_file(&self, path: &Path) -> Result<ReportFile, CommandError> {
        if let Some(folder) = path.parent().filter(|_| self.makes_folder) {
            std::fs::create_dir_all(folder).map_err(|error| {
                let message = format!("the folder `{}` cannot be made: {}", folder.display(), io_error_text(&error));
                CommandError::usage(message, "name another folder")
            })?;
        }
        ReportFile::open(path)
    }

    /// Writes a finished report.
    pub fn write_text(&self, text: &str) -> Result<(), CommandError> {
        match &self.file {
            None => Ok(io::stdout().write_all(text.as_bytes())?),
            Some(path) => {
                let mut file = self.open_file(path)?;
                file.write_all(text.as_bytes())?;
                Ok(file.finish()?)
            }
        }
    }
}

/// Options about the reports of a command.
#[derive(Debug, clap::Args)]
pub struct ReportArguments {
    /// What to print, as for `aver check` [default: human, or the format of the project]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Write a further report to a file
    #[arg(long, value_name = "FORMAT=FILE")]
    pub report: Vec<String>,
    /// Write all reports for programs into a folder, under fixed names
    #[arg(long, value_name = "DIR")]
    pub report_dir: Option<PathBuf>,
}

impl ReportArguments {
    /// Returns all targets: standard output with the format of `--format` or the project, and the files of `--report FORMAT=FILE` and `--report-dir`.
    pub fn targets(
        &self,
        command: ReportedCommand,
        of_project: Option<&str>,
        folder: ReportFolder<'_>,
    ) -> Result<Vec<OutputTarget>, CommandError> {
        add_folder(self.named_targets(command, of_project, folder)?, command, folder)
    }

    /// Returns the targets of `--format` and `--report`, without those of the folder.
    pub fn named_targets(
        &self,
        command: ReportedCommand,
        of_project: Option<&str>,
        folder: ReportFolder<'_>,
    ) -> Result<Vec<OutputTarget>, CommandError> {
        let format = self.format.as_deref().or(of_project).unwrap_or(Format::Human.as_str());
        let mut targets = vec![OutputTarget::for_stdout(parse_printed(command, format)?)];
        for text in &self.report {
            let Some((format, file)) = text.split_once('=').filter(|(_, file)| !file.is_empty()) else {
                return Err(CommandError::usage(
                    format!("`--report {text}` names no file"),
                    format!("write `--report {}=FILE`", text.trim_end_matches('=')),
                ));
            };
            let file = PathBuf::from(file);
            let beside = |path: &Path| std::path::absolute(path).ok();
            let makes_folder = folder.folder.is_some_and(|folder| file.parent().and_then(beside) == beside(folder));
            targets.push(OutputTarget { format: parse_format(command, format)?, file: Some(file), makes_folder });
        }
        Ok(targets)
    }
}

/// Returns the help text of `--format`, with the formats of the command.
pub fn format_help(what: &str, command: ReportedCommand) -> String {
    format!("{what}: {}", words(command))
}

/// Returns the names of a command's formats.
fn words(command: ReportedCommand) -> String {
    Format::of_command(command).map(Format::as_str).collect::<Vec<_>>().join(", ")
}

/// Adds the files of a report folder.
pub fn add_folder(
    mut targets: Vec<OutputTarget>,
    command: ReportedCommand,
    folder: ReportFolder<'_>,
) -> Result<Vec<OutputTarget>, CommandError> {
    let formats = parse_formats(folder.formats)?;
    if let Some(folder) = folder.folder {
        if resolve_folder(folder).is_none() {
            let message = format!("the folder `{}` goes up from one that does not exist", folder.display());
            return Err(CommandError::usage(message, "name it without `..`"));
        }
        let formats = formats.into_iter().filter(|format| format.suits_command(command));
        targets.extend(formats.map(|format| {
            let file = Some(folder.join(format.file_name()));
            OutputTarget { format, file, makes_folder: true }
        }));
    }
    refuse_same_file(target_files(&targets), "reports")?;
    Ok(targets)
}

/// Returns the files of the targets.
pub fn target_files(targets: &[OutputTarget]) -> impl Iterator<Item = &Path> {
    targets.iter().filter_map(|target| target.file.as_deref())
}

fn parse_formats(words: &[String]) -> Result<Vec<Format>, CommandError> {
    if words.is_empty() {
        return Ok(Format::folder_formats().collect());
    }
    let mut formats = Vec::new();
    for word in words {
        // Formats of all commands are accepted here, because `aver check` has every format.
        let format = parse_format(ReportedCommand::Check, word)?;
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    Ok(formats)
}

/// Parses a format that can be printed to standard output.
fn parse_printed(command: ReportedCommand, word: &str) -> Result<Format, CommandError> {
    let format = parse_format(command, word)?;
    match Format::FILES.contains(&format) {
        true => Err(CommandError::usage(
            format!("`{word}` is a file of bytes, and cannot be printed"),
            format!("write `--report {word}=FILE.{}`", format.extension()),
        )),
        false => Ok(format),
    }
}

/// Parses a format, if the command supports it.
pub fn parse_format(command: ReportedCommand, word: &str) -> Result<Format, CommandError> {
    let known = Format::of_command(command).map(Format::as_str);
    match Format::parse(word) {
        Some(format) if format.suits_command(command) => Ok(format),
        found => {
            if found.is_none() && word == "parquet" {
                return Err(CommandError::usage(
                    "this build does not write Parquet",
                    "build it with `--features parquet`",
                ));
            }
            let message = match found {
                Some(_) => format!("`{}` has no format `{word}`", command.as_str()),
                None => format!("there is no format `{word}`"),
            };
            let help = match suggest_name(&word.to_lowercase(), known).filter(|_| found.is_none()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the formats are {}", words(command)),
            };
            Err(CommandError::usage(message, help))
        }
    }
}

/// Returns an error if two outputs have the same file. `what` names the outputs in the message.
pub fn refuse_same_file<'a>(outputs: impl Iterator<Item = &'a Path>, what: &str) -> Result<(), CommandError> {
    let paths: Vec<&Path> = outputs.filter(|path| !is_device(path)).collect();
    for (number, path) in paths.iter().enumerate() {
        let before = paths.get(..number).unwrap_or_default();
        if before.iter().any(|other| is_same_file(path, other)) {
            let message = format!("two {what} go into `{}`", path.display());
            return Err(CommandError::usage(message, "name another file for one of them"));
        }
    }
    Ok(())
}

/// Resolves a folder's path, even before the folder exists; `None` if `..` follows a missing part.
fn resolve_folder(folder: &Path) -> Option<PathBuf> {
    let full = std::path::absolute(folder).ok()?;
    let (there, place) = full.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    let missing = full.strip_prefix(there).ok()?;
    missing.components().all(|part| matches!(part, Component::Normal(_))).then(|| place.join(missing))
}

/// True if two paths name the same file, even one that does not exist yet.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((resolve_folder(folder)?, path.file_name()?.to_owned()))
    };
    let both = |a: Option<_>, b: Option<_>| a.is_some() && a == b;
    one == other
        || both(place(one), place(other))
        || file_identity(one).is_some_and(|found| file_identity(other) == Some(found))
}

/// Returns an error if an output would overwrite a file that the command reads.
pub fn refuse_overwrite<'a>(
    outputs: impl Iterator<Item = &'a Path>,
    read: impl Iterator<Item = &'a Path>,
) -> Result<(), CommandError> {
    // Outputs that do not exist yet cannot be inputs.
    let there: Vec<_> = outputs.filter_map(|path| Some((path, file_identity(path)?))).collect();
    if there.is_empty() {
        return Ok(());
    }
    for input in read.filter_map(file_identity) {
        if let Some((path, _)) = there.iter().find(|(_, found)| *found == input) {
            let message = format!("`{}` is read by this command, and no report is written over it", path.display());
            return Err(CommandError::usage(message, "name another file"));
        }
    }
    Ok(())
}

/// Returns the files of the inputs.
pub fn input_paths(inputs: &[TraceInput]) -> impl Iterator<Item = &Path> {
    inputs.iter().filter_map(|input| match input {
        TraceInput::File(path) => Some(path.as_path()),
        TraceInput::Stdin | TraceInput::Made { .. } => None,
    })
}

/// A report file that gets its final name at the end.
#[derive(Clone)]
pub struct ReportFile(Rc<RefCell<BufWriter<DraftFile>>>);

impl ReportFile {
    /// Opens a report file. An error means that it cannot be written.
    pub fn open(path: &Path) -> Result<Self, CommandError> {
        let draft = DraftFile::for_output(path).map_err(|error| {
            let message = format!("`{}` cannot be written: {}", path.display(), write_error_text(path, &error));
            CommandError::usage(message, "name a file in a folder that exists")
        })?;
        Ok(Self(Rc::new(RefCell::new(BufWriter::with_capacity(1 << 16, draft)))))
    }

    /// Renames the file to its final name. No report may write to it afterward.
    pub fn finish(self) -> io::Result<()> {
        let writer = Rc::into_inner(self.0).ok_or_else(busy_error)?.into_inner();
        writer.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    }
}

fn busy_error() -> io::Error {
    io::Error::other("a report is still being written")
}

impl Write for ReportFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_borrow_mut().map_err(|_| busy_error())?.write(bytes)
    }

    /// Does nothing, since nobody reads the file before it is finished.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard output for reports. After its reader has closed the pipe (`aver check … | head`), further output is dropped, so that report files are
/// still written and the exit code stays that of the check.
#[derive(Default)]
struct ReportStdout {
    closed: bool,
}

impl ReportStdout {
    fn unless_closed(&mut self, written: io::Result<usize>, length: usize) -> io::Result<usize> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(length)
            }
            written => written,
        }
    }
}

impl Write for ReportStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        self.unless_closed(io::stdout().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = io::stdout().flush().map(|()| 0);
        self.unless_closed(flushed, 0).map(|_| ())
    }
}

/// An open report target.
pub struct OpenedTarget {
    /// The stream.
    pub out: Box<dyn Write>,
    /// The text style of the destination.
    pub style: TextStyle,
    /// The file, which gets its name at the end.
    pub file: Option<ReportFile>,
}

/// Opens a report target.
pub fn open_target(target: &OutputTarget, color: ColorChoice) -> Result<OpenedTarget, CommandError> {
    let Some(path) = &target.file else {
        let out = Box::new(BufWriter::with_capacity(1 << 16, ReportStdout::default()));
        return Ok(OpenedTarget { out, style: OutputStream::Out.style(color), file: None });
    };
    let file = target.open_file(path)?;
    Ok(OpenedTarget {
        out: Box::new(file.clone()),
        style: TextStyle { width: 100, ..TextStyle::PLAIN },
        file: Some(file),
    })
}

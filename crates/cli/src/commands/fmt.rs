//! `aver fmt FILES...`: formats rule files.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::draft_file;
use super::exit::{CommandError, Exit};
use super::inputs::{self, TraceInput};
use averment::load;
use averment_base::diagnostic::render::{self, TextColor, paint_text};
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::source::{SourceFile, SourceMap, Span};
use averment_report::redact::redact;
use averment_syntax::difference::unified_diff;
use averment_syntax::fmt::{self, FormatOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver fmt                           every .assert file in this folder and below
  aver fmt rules/ refunds.assert     these files
  aver fmt --check                   in continuous integration: exit code 1 if a file would change
  aver fmt --diff rules/             what would change
  aver fmt - < draft.assert          standard input to standard output

There is one style: two spaces, at most 100 characters where a line can be broken, comments stay in their place.
A file is only written when the new text reads back as the same rules. Files with mistakes are left alone.

Exit codes: 0 done, 1 a file would change (--check, --diff), 3 a file has mistakes.")]
pub struct FmtArgs {
    /// Rule files, or folders of them; `-` reads standard input and writes standard output
    #[arg(value_name = "FILES", default_value = ".", hide_default_value = true)]
    files: Vec<PathBuf>,
    /// Write nothing, list the files that would change
    #[arg(long)]
    check: bool,
    /// Write nothing, show what would change
    #[arg(long)]
    diff: bool,
    /// Print the formatted text of one file instead of writing it
    #[arg(long, conflicts_with_all = ["check", "diff"])]
    stdout: bool,
}

#[derive(Default)]
struct FormatCounts {
    changed: usize,
    unchanged: usize,
    mistaken: usize,
}

enum FormatOutcome {
    Unchanged(String),
    Changed {
        old: String,
        new: String,
    },
    /// The file has errors, which were already printed.
    Mistaken,
}

/// Formats the files and reports which ones changed.
pub fn run_fmt(arguments: &FmtArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let inputs = inputs::rule_inputs(&arguments.files)?;
    if inputs.is_empty() {
        return Err(CommandError::usage("there is no `.assert` file to format", "name a rule file or another folder"));
    }
    inputs.iter().try_for_each(refuse_foreign)?;
    let piped = inputs.contains(&TraceInput::Stdin);
    if (piped || arguments.stdout) && inputs.len() > 1 {
        let message = if piped { "standard input is formatted alone" } else { "`--stdout` prints one file" };
        return Err(CommandError::usage(message, "name one file, or leave `-` and `--stdout` out"));
    }
    let mut counts = FormatCounts::default();
    for input in &inputs {
        match format_input(input, color)? {
            FormatOutcome::Mistaken => counts.mistaken += 1,
            FormatOutcome::Unchanged(text) => {
                counts.unchanged += 1;
                if prints_text(arguments, input) {
                    std::io::stdout().write_all(text.as_bytes())?;
                }
            }
            FormatOutcome::Changed { old, new } => {
                counts.changed += 1;
                write_changed(arguments, input, &old, &new, color)?;
            }
        }
    }
    let dry = arguments.check || arguments.diff;
    if !piped && !arguments.stdout {
        eprint_redacted(&counts_summary(&counts, dry));
    }
    Ok(match (counts.mistaken, counts.changed) {
        (1.., _) => Exit::Rules,
        (0, 1..) if dry => Exit::Failed,
        _ => Exit::Holds,
    })
}

fn prints_text(arguments: &FmtArgs, input: &TraceInput) -> bool {
    arguments.stdout || (*input == TraceInput::Stdin && !arguments.check && !arguments.diff)
}

/// Refuses a file of another system before anything is written, because `fmt` has no style for it.
fn refuse_foreign(input: &TraceInput) -> Result<(), CommandError> {
    let TraceInput::File(path) = input else { return Ok(()) };
    if !load::may_be_foreign(&input.display_name(), "") {
        return Ok(());
    }
    let bytes = inputs::read_input(input, FormatOptions::default().limits)?;
    refuse_foreign_text(&path.display().to_string(), &String::from_utf8_lossy(&bytes))
}

fn refuse_foreign_text(name: &str, text: &str) -> Result<(), CommandError> {
    let (what, help) = match load::system_of(name, text) {
        Some(system) => {
            let help = format!("`aver import {name} > rules.assert` writes the rules that it means, formatted");
            (format!("is a file of {}", system.name()), help)
        }
        None => (
            format!("is {} without rules", if name.ends_with("ml") { "YAML" } else { "a program" }),
            "name a `.assert` file, or a folder of them".to_owned(),
        ),
    };
    let message = format!("`{name}` {what}, and only `.assert` files are formatted");
    Err(CommandError::usage(message, help))
}

fn format_input(input: &TraceInput, color: ColorChoice) -> Result<FormatOutcome, CommandError> {
    let options = FormatOptions::default();
    let bytes = inputs::read_input(input, options.limits)?;
    let mut map = SourceMap::default();
    let Ok(text) = String::from_utf8(bytes) else {
        let file = map.add_file(SourceFile::new(input.display_name(), None, ""));
        let message = "the file is not UTF-8 text";
        let diagnostic =
            Diagnostic::new(Slug::NotText, Span::new(file, 0, 0), message).with_help("save the file as UTF-8");
        return Ok(report_mistakes(&Diagnostics(vec![diagnostic]), &map, color));
    };
    if load::may_be_foreign(&input.display_name(), &text) {
        refuse_foreign_text(&input.display_name(), &text)?;
    }
    let file = map.add_file(SourceFile::new(input.display_name(), None, text.as_str()));
    match fmt::format_file(&map, file, &options) {
        Ok(new) if new == text => Ok(FormatOutcome::Unchanged(text)),
        Ok(new) => Ok(FormatOutcome::Changed { old: text, new }),
        Err(diagnostics) => Ok(report_mistakes(&diagnostics, &map, color)),
    }
}

fn report_mistakes(diagnostics: &Diagnostics, map: &SourceMap, color: ColorChoice) -> FormatOutcome {
    eprint_redacted(&averment_report::diagnostic::draw_diagnostics(diagnostics, map, OutputStream::Err.style(color)));
    FormatOutcome::Mistaken
}

fn write_changed(
    arguments: &FmtArgs,
    input: &TraceInput,
    old: &str,
    new: &str,
    color: ColorChoice,
) -> Result<(), CommandError> {
    let mut out = std::io::stdout();
    if arguments.diff {
        out.write_all(colored_diff(&input.display_name(), old, new, color).as_bytes())?;
        return Ok(());
    }
    if arguments.check {
        writeln!(out, "{}", render::one_line(&input.display_name()))?;
        return Ok(());
    }
    match input {
        TraceInput::File(path) if !arguments.stdout => {
            inputs::check_inside(path, path.parent().unwrap_or(Path::new("")))?;
            draft_file::replace_file(path, new.as_bytes()).map_err(|error| {
                let message =
                    format!("`{}` cannot be written: {}", path.display(), super::write_error_text(path, &error));
                CommandError::usage(message, "the file is as it was")
            })?;
            writeln!(out, "formatted {}", render::one_line(&input.display_name()))?;
        }
        _ => out.write_all(new.as_bytes())?,
    }
    Ok(())
}

fn colored_diff(name: &str, old: &str, new: &str, color: ColorChoice) -> String {
    let style = OutputStream::Out.style(color);
    let unified = render::printable(&redact(&unified_diff(&render::one_line(name), old, new))).into_owned();
    if !style.color {
        return unified;
    }
    let painted = |line: &str| match line.as_bytes().first() {
        Some(b'+') => paint_text(style, TextColor::Green, line),
        Some(b'-') => paint_text(style, TextColor::Red, line),
        Some(b'@') => paint_text(style, TextColor::Dim, line),
        _ => line.to_owned(),
    };
    unified
        .split_inclusive('\n')
        .map(|line| line.strip_suffix('\n').map_or_else(|| painted(line), |line| painted(line) + "\n"))
        .collect()
}

fn counts_summary(counts: &FormatCounts, dry: bool) -> String {
    let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let mut parts = Vec::new();
    if counts.changed > 0 {
        let done = if dry { "would change" } else { "formatted" };
        parts.push(format!("{} {done}", files(counts.changed)));
    }
    if counts.unchanged > 0 {
        parts.push(match parts.is_empty() {
            true => format!("{} unchanged", files(counts.unchanged)),
            false => format!("{} unchanged", counts.unchanged),
        });
    }
    if counts.mistaken > 0 {
        parts.push(match parts.is_empty() {
            true => format!("{} with mistakes left alone", files(counts.mistaken)),
            false => format!("{} with mistakes left alone", counts.mistaken),
        });
    }
    format!("{}\n", parts.join(", "))
}

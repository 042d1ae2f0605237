//! `aver guard watch RULES FOLDER`: judges growing sessions, and reports the rules that they break.

use super::super::console::{ColorChoice, OutputStream, RedactingWriter, eprint_redacted};
use super::super::exclude::ExcludePatterns;
use super::super::exit::{CommandError, Exit};
use super::super::inputs::{self, TraceInput};
use super::super::{signals, units};
use super::{GuardRules, guard_rules, label};
use averment::Rules;
use averment_base::diagnostic::render::{TextColor, one_line};
use averment_base::limits::Limits;
use averment_bulk::feed::{self, RunReadOptions};
use averment_guard::judge::{GuardMode, RuleBreach, judge_growth};
use averment_report::model::UnreadableTrace;
use averment_runs::write_normal::normal_form;
use bumpalo::Bump;
use clap::ValueEnum;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Arguments of `guard watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver guard watch rules.assert ~/.claude/projects
  aver guard watch rules.assert runs/ --format jsonl
  aver guard watch rules.assert runs/ --once          what is broken now, and end

Ctrl-C ends. Exit codes with --once: 0 nothing is broken, 1 something is, 4 a run could not be judged")]
pub struct WatchArgs {
    /// A rule file, or a folder of them
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// Folders of sessions, or files
    #[arg(required = true, value_name = "FOLDER")]
    traces: Vec<String>,
    #[command(flatten)]
    guard: GuardRules,
    /// What is printed for each violation: short (a line), jsonl (an object)
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    format: WatchFormat,
    /// How often files are looked at
    #[arg(long, value_name = "TIME", default_value = "1s")]
    every: String,
    /// Report what is broken now, and end
    #[arg(long)]
    once: bool,
}

/// Formats of a violation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum WatchFormat {
    /// A line
    #[default]
    Short,
    /// An object
    Jsonl,
}

/// Polling interval for Ctrl-C.
const GLANCE: Duration = Duration::from_millis(50);

/// State of a file: its length and time, the number of breaches by run and assertion, and the problems that kept runs from being judged.
#[derive(Default)]
struct WatchedFile {
    state: Option<(u64, SystemTime)>,
    known: BTreeMap<(String, String), u64>,
    problems: Vec<String>,
}

pub(super) fn run_watch(arguments: &WatchArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let rules = guard_rules(std::slice::from_ref(&arguments.rules), &arguments.guard)?;
    let Some(pause) = units::parse_time(&arguments.every).filter(|pause| *pause >= GLANCE) else {
        return Err(CommandError::usage(format!("`{}` is no time to wait", arguments.every), "write `1s` or `500ms`"));
    };
    let stop = signals::interruption_flag()?;
    let mut files: BTreeMap<PathBuf, WatchedFile> = BTreeMap::new();
    let mut out = RedactingWriter::new(io::stdout());
    let mut is_first = true;
    loop {
        let mut broken = 0_usize;
        for path in session_files(&arguments.traces)? {
            let file = files.entry(path.clone()).or_default();
            let is_told = arguments.once || !is_first;
            for (run, breach) in changed_breaches(file, &path, &rules, arguments.guard.mode) {
                broken += 1;
                if is_told {
                    out.write_all(breach_line(arguments.format, &run, &breach, color).as_bytes())?;
                }
            }
        }
        out.flush()?;
        if arguments.once {
            let is_judged = files.values().all(|file| file.problems.is_empty());
            return Ok(match broken {
                _ if !is_judged => Exit::Trace,
                0 => Exit::Holds,
                _ => Exit::Failed,
            });
        }
        if is_first {
            eprint_redacted(&format!(
                "watching {} files, {broken} violations are there already; Ctrl-C ends\n",
                files.len()
            ));
        }
        is_first = false;
        let began = Instant::now();
        while began.elapsed() < pause {
            if stop.load(Ordering::Relaxed) {
                return Ok(Exit::Interrupted);
            }
            thread::sleep(GLANCE);
        }
    }
}

fn session_files(traces: &[String]) -> Result<Vec<PathBuf>, CommandError> {
    let found = inputs::traces_by_name(traces, &ExcludePatterns::default())?.found;
    let files = found.into_iter().flat_map(|(_, inputs)| inputs).filter_map(|input| match input {
        TraceInput::File(path) => Some(path),
        _ => None,
    });
    Ok(files.collect())
}

/// Returns the new breaches of a changed file, with the names of their runs. Runs that cannot be judged yet are tried again after the file has grown.
fn changed_breaches(file: &mut WatchedFile, path: &Path, rules: &Rules, mode: GuardMode) -> Vec<(String, RuleBreach)> {
    let about = std::fs::metadata(path).ok();
    let state = about.and_then(|about| Some((about.len(), about.modified().ok()?)));
    if state.is_none() || file.state == state {
        return Vec::new();
    }
    file.state = state;
    let told = std::mem::take(&mut file.problems);
    let reading = RunReadOptions { limits: Limits::default(), ..RunReadOptions::default() };
    let mut found = Vec::new();
    for document in feed::run_chunks(&TraceInput::File(path.to_path_buf()), &reading) {
        for raw in document.raw_runs() {
            let arena = Bump::new();
            let run = match raw.and_then(|raw| reading.parse_run(raw, &arena).map_err(UnreadableTrace::from)) {
                Ok(run) => run,
                Err(error) => {
                    let UnreadableTrace { file: name, line, column, message, no_trace, .. } = error;
                    file.problems.extend((!no_trace).then(|| format!("{name}:{line}:{column}: {message}")));
                    continue;
                }
            };
            let name = run.source.run_name();
            let judged = judge_growth(rules, mode, &normal_form(&run)).unwrap_or_else(|error| {
                file.problems.push(format!("{name}: {error}"));
                Vec::new()
            });
            for (breach, count) in judged {
                let known = file.known.entry((name.clone(), breach.id.clone())).or_default();
                if count > *known {
                    *known = count;
                    found.push((name.clone(), breach));
                }
            }
        }
    }
    for problem in file.problems.iter().filter(|problem| !told.contains(problem)) {
        eprint_redacted(&format!("aver guard: not judged: {}\n", one_line(problem)));
    }
    found
}

fn breach_line(format: WatchFormat, run: &str, breach: &RuleBreach, color: ColorChoice) -> String {
    match format {
        WatchFormat::Short => {
            let word = label(color, OutputStream::Out, TextColor::Red, "broken");
            format!("{}: {word}: {}\n", one_line(run), one_line(&breach.sentence()))
        }
        WatchFormat::Jsonl => {
            let RuleBreach { id, text, place, reason, message, .. } = breach;
            format!(
                "{}\n",
                json!({ "run": run, "id": id, "text": text, "place": place, "reason": reason, "message": message })
            )
        }
    }
}

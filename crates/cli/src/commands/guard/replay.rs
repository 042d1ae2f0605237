//! `aver guard replay RULES RUNS`: tries a policy on recorded runs before it is enforced.

use super::super::console::{ColorChoice, OutputStream, RedactingWriter};
use super::super::exit::{CommandError, Exit};
use super::super::trace::{CallStatusSource, TraceInputs};
use super::{GuardRules, guard_rules, label};
use averment_base::diagnostic::render::{TextColor, one_line};
use averment_base::words::count_noun;
use averment_guard::judge::{GuardMode, RuleBreach};
use averment_guard::replay::{Replay, replay_run};
use averment_runs::write_normal::normal_form;
use clap::ValueEnum;
use serde_json::json;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Arguments of `guard replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver guard replay rules.assert runs/
  aver guard replay rules.assert session.jsonl --format jsonl

Exit codes: 0 nothing would have been denied, 1 something would; 3, 4 as in aver check")]
pub struct ReplayArgs {
    /// A rule file, or a folder of them
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    #[command(flatten)]
    given: TraceInputs,
    #[command(flatten)]
    guard: GuardRules,
    /// What is printed: human, jsonl
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    format: ReplayFormat,
}

/// Formats of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ReplayFormat {
    /// For people
    #[default]
    Human,
    /// An object for each run
    Jsonl,
}

#[derive(Default)]
struct ReplayTotals {
    runs: usize,
    calls: usize,
    denied: usize,
    owing: usize,
}

pub(super) fn run_replay(arguments: &ReplayArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let rules = guard_rules(std::slice::from_ref(&arguments.rules), &arguments.guard)?;
    let mode = arguments.guard.mode;
    let mut totals = ReplayTotals::default();
    let mut out = RedactingWriter::new(io::stdout());
    let exit = arguments.given.for_each_run(color, CallStatusSource::AsRecorded, &mut out, |run, out| {
        let replay = replay_run(&rules, mode, &normal_form(run)).map_err(io::Error::other)?;
        totals.runs += 1;
        totals.calls += replay.calls;
        let is_denied = |breach: &RuleBreach| breach.mode == GuardMode::Enforce;
        totals.denied += replay.breaches.iter().filter(|one| one.breaches.iter().any(is_denied)).count();
        totals.owing += usize::from(!replay.owed.is_empty());
        let name = run.source.run_name();
        let text = match arguments.format {
            ReplayFormat::Human => replay_text(&name, &replay, color),
            ReplayFormat::Jsonl => format!("{}\n", replay_data(&name, &replay)),
        };
        out.write_all(text.as_bytes())
    })?;
    if arguments.format == ReplayFormat::Human {
        let ReplayTotals { runs, calls, denied, owing } = totals;
        let (runs, calls, owing) = (count_noun(runs, "run"), count_noun(calls, "call"), count_noun(owing, "run"));
        writeln!(out, "{runs}, {calls}: {denied} would have been denied, {owing} owed something")?;
    }
    out.flush()?;
    Ok(if totals.denied > 0 { exit.max(Exit::Failed) } else { exit })
}

fn replay_text(name: &str, replay: &Replay, color: ColorChoice) -> String {
    let mut text = String::new();
    for one in &replay.breaches {
        for breach in &one.breaches {
            let (word, paint) = match breach.mode {
                GuardMode::Enforce => ("deny", TextColor::Red),
                GuardMode::Warn => ("warn", TextColor::Yellow),
                GuardMode::Log => ("log", TextColor::Dim),
            };
            let word = label(color, OutputStream::Out, paint, word);
            let said = one_line(&breach.sentence()).into_owned();
            text.push_str(&format!("{name}: {word} call {} `{}`: {said}\n", one.call, one_line(&one.tool)));
        }
    }
    for breach in &replay.owed {
        let word = label(color, OutputStream::Out, TextColor::Yellow, "owed");
        text.push_str(&format!("{name}: {word} at the end: {}\n", one_line(&breach.sentence())));
    }
    if replay.is_cut {
        text.push_str(&format!("{name}: only the first calls were replayed, the run has more\n"));
    }
    text
}

fn replay_data(name: &str, replay: &Replay) -> serde_json::Value {
    let breach = |breach: &RuleBreach| {
        let mode = breach.mode.word();
        json!({ "id": breach.id, "text": breach.text, "place": breach.place, "reason": breach.reason,
            "message": breach.message, "mode": mode })
    };
    let breaches: Vec<_> = replay
        .breaches
        .iter()
        .map(|one| {
            json!({ "call": one.call, "tool": one.tool, "breaches": one.breaches.iter().map(breach).collect::<Vec<_>>() })
        })
        .collect();
    let owed: Vec<_> = replay.owed.iter().map(breach).collect();
    json!({ "run": name, "calls": replay.calls, "breaches": breaches, "owed": owed, "cut": replay.is_cut })
}

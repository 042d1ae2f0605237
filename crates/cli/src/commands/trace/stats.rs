//! `aver trace stats TRACE...`: counts what happened in runs. Memory grows with the number of tool names, not of runs.

use super::super::console::{ColorChoice, OutputStream};
use super::super::exit::{CommandError, Exit};
use super::{CallStatusSource, TraceInputs};
use averment_base::diagnostic::render::one_line;
use averment_base::value::Value;
use averment_bulk::reading_notes::{note_unpriced, unpriced_in_words};
use averment_report::json_escape::EscapedJson;
use averment_report::redact::{WithheldTexts, redact, withheld_values};
use averment_runs::normal::{of_run, of_step, of_usage};
use averment_runs::run::{CostSource, RecordCounts, Run, Step, StepKind, StepStatus};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Arguments of `trace stats`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver trace stats traces/
  aver trace stats runs.jsonl --all             every tool, not the commonest alone
  aver trace stats runs.jsonl --format json")]
pub(super) struct StatsArgs {
    #[command(flatten)]
    given: TraceInputs,
    /// Every tool, not the 20 that are called most
    #[arg(long)]
    all: bool,
    /// What is printed
    #[arg(long, value_enum, default_value = "human")]
    format: StatsFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StatsFormat {
    /// Tables
    Human,
    /// One JSON object
    Json,
}

/// Maximum number of tools listed without `--all`.
const LISTED: usize = 20;
/// Maximum number of tools counted separately; further ones are counted together.
const TOOLS: usize = 100_000;
const USAGE: [&str; 6] = [
    of_usage::INPUT,
    of_usage::OUTPUT,
    of_usage::REASONING,
    of_usage::CACHE_READ,
    of_usage::CACHE_WRITE,
    of_usage::TOTAL,
];

/// Counts over runs. Values that no run records are omitted.
#[derive(Debug, Default, Serialize)]
struct RunCounts {
    runs: u64,
    formats: BTreeMap<&'static str, u64>,
    steps: BTreeMap<&'static str, u64>,
    calls: u64,
    tools: BTreeMap<String, ToolCounts>,
    /// Calls of tools beyond the limit [`TOOLS`].
    #[serde(skip_serializing_if = "is_zero")]
    other_tools: u64,
    tokens: BTreeMap<&'static str, RecordedSum>,
    cost_usd: RecordedSum,
    /// Number of runs whose cost was computed from prices.
    #[serde(skip_serializing_if = "is_zero")]
    priced: u64,
    /// Number of runs whose cost could not be computed, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unpriced: BTreeMap<String, u64>,
    duration_ms: RecordedSum,
    turns: RecordedSum,
    records: u64,
    records_not_understood: u64,
    warnings: u64,
}

#[derive(Debug, Default, Serialize)]
struct ToolCounts {
    calls: u64,
    ok: u64,
    failed: u64,
    /// Calls that were denied or are pending, so never executed.
    not_executed: u64,
    /// Calls without a recorded outcome.
    unknown: u64,
    duration_ms: RecordedSum,
}

#[derive(Debug, Default, Clone, Copy, Serialize)]
struct RecordedSum {
    of: u64,
    sum: f64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(super) fn run_stats(stats: &StatsArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let mut counts = RunCounts::default();
    let exit = stats.given.for_each_run(color, CallStatusSource::AsJudged, &mut io::sink(), |run, _| {
        counts.add_run(run);
        Ok(())
    })?;
    let mut out = io::stdout().lock();
    match stats.format {
        StatsFormat::Json => {
            serde_json::to_writer_pretty(EscapedJson::new(&mut out), &counts).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        StatsFormat::Human => {
            let listed = if stats.all { usize::MAX } else { LISTED };
            out.write_all(redact(&counts.counts_table(listed, OutputStream::Out.style(color).width)).as_bytes())?;
        }
    }
    super::super::console::eprint_redacted(&redact(&unpriced_in_words(&counts.unpriced)));
    Ok(exit)
}

impl RecordedSum {
    fn add_value(&mut self, value: Value<'_>) {
        if let Value::Number(number) = value {
            self.of += 1;
            self.sum += number.to_f64();
        }
    }
}

impl RunCounts {
    fn add_run(&mut self, run: &Run<'_>) {
        self.runs += 1;
        *self.formats.entry(run.format).or_default() += 1;
        let withheld = WithheldTexts::of_texts(withheld_values(run));
        for step in run.steps {
            *self.steps.entry(step.kind.list_key()).or_default() += 1;
            if step.kind == StepKind::Call {
                self.add_call(&withheld.remove_from(redact(step.name).into_owned()), step);
            }
        }
        for count in USAGE {
            if let value @ Value::Number(_) = run.root_value(of_run::USAGE).field(count).value {
                self.tokens.entry(count).or_default().add_value(value);
            }
        }
        self.cost_usd.add_value(run.root_value(of_run::COST).value);
        match &run.priced {
            CostSource::ByTable => self.priced += 1,
            CostSource::Unknown(why) => note_unpriced(&mut self.unpriced, why),
            CostSource::Recorded | CostSource::NotAsked => {}
        }
        self.duration_ms.add_value(run.root_value(of_run::DURATION).value);
        self.turns.add_value(run.root_value(of_run::TURNS).value);
        let RecordCounts { seen, not_understood, .. } = run.records;
        self.records += seen;
        self.records_not_understood += not_understood;
        self.warnings += run.warnings.len() as u64;
    }

    /// Adds a call. `name` is the tool's name, shortened for display.
    fn add_call(&mut self, name: &str, step: &Step<'_>) {
        self.calls += 1;
        if self.tools.len() >= TOOLS && !self.tools.contains_key(name) {
            self.other_tools += 1;
            return;
        }
        let tool = self.tools.entry(name.to_owned()).or_default();
        tool.calls += 1;
        *match step.status {
            StepStatus::Ok => &mut tool.ok,
            StepStatus::Failed => &mut tool.failed,
            StepStatus::Denied | StepStatus::Pending => &mut tool.not_executed,
            StepStatus::Unknown => &mut tool.unknown,
        } += 1;
        tool.duration_ms.add_value(step.object.get(of_step::DURATION).map_or(Value::Absent, |node| node.value));
    }

    fn counts_table(&self, listed: usize, width: usize) -> String {
        let mut out = String::new();
        let formats: Vec<_> = self.formats.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let _ = writeln!(out, "runs       {} ({})", self.runs, formats.join(", "));
        let steps: Vec<_> = self.steps.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let _ = writeln!(out, "steps      {}", if steps.is_empty() { "none".to_owned() } else { steps.join(", ") });
        let of = |sum: RecordedSum| {
            if sum.of == self.runs { String::new() } else { format!(" (recorded by {} of {} runs)", sum.of, self.runs) }
        };
        for (name, sum) in self.tokens.iter().filter(|(_, sum)| sum.of > 0) {
            let _ = writeln!(out, "{:<10} {:.0} tokens{}", name.trim_end_matches("_tokens"), sum.sum, of(*sum));
        }
        for (name, sum, unit) in [("cost", self.cost_usd, " USD"), ("turns", self.turns, "")] {
            if sum.of > 0 {
                let _ = writeln!(out, "{name:<10} {}{unit}{}", (sum.sum * 1e6).round() / 1e6, of(sum));
            }
            if name == of_run::COST && self.priced > 0 {
                let _ = writeln!(out, "           {} of these runs by the table of prices", self.priced);
            }
        }
        if self.duration_ms.of > 0 {
            let mean = self.duration_ms.sum / to_f64(self.duration_ms.of);
            let _ = writeln!(out, "duration   {mean:.0} ms on average{}", of(self.duration_ms));
        }
        if self.records_not_understood > 0 {
            let (not, all) = (self.records_not_understood, self.records);
            let _ = writeln!(out, "not understood  {not} of {all} records; `aver trace show` says which");
        }
        if self.warnings > 0 {
            let _ = writeln!(out, "warnings   {}; `aver trace show` says which", self.warnings);
        }
        if !self.tools.is_empty() {
            out.push('\n');
            self.tool_table(listed, width, &mut out);
        }
        out
    }

    fn tool_table(&self, listed: usize, width: usize, out: &mut String) {
        let mut tools: Vec<_> = self.tools.iter().collect();
        tools.sort_by(|(a, of_a), (b, of_b)| of_b.calls.cmp(&of_a.calls).then_with(|| a.cmp(b)));
        let shown = tools.iter().take(listed);
        let room = width.saturating_sub(58).max(16);
        let names: Vec<String> = shown.clone().map(|(name, _)| cut_text(&one_line(name), room)).collect();
        let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(4);
        let head = ["calls", "ok", "failed", "not run", "unknown", "mean ms"];
        let _ = writeln!(
            out,
            "{:<widest$}  {:>7}  {:>7}  {:>7}  {:>7}  {:>7}  {:>8}",
            "tool", head[0], head[1], head[2], head[3], head[4], head[5]
        );
        for (name, (_, tool)) in names.iter().zip(shown) {
            let ToolCounts { calls, ok, failed, not_executed, unknown, duration_ms } = tool;
            let mean = match duration_ms.of {
                0 => String::new(),
                count => format!("{:.0}", duration_ms.sum / to_f64(count)),
            };
            let _ = writeln!(
                out,
                "{name:<widest$}  {calls:>7}  {ok:>7}  {failed:>7}  {not_executed:>7}  {unknown:>7}  {mean:>8}"
            );
        }
        if tools.len() > listed {
            let _ = writeln!(out, "and {} more tools: --all names them", tools.len() - listed);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls are far below 2^53")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

fn cut_text(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

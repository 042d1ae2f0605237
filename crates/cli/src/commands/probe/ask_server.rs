//! Reads the rules for a server, makes their calls, and judges the recording.

use super::super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::super::exit::{CommandError, Exit};
use super::super::inputs::TraceInput;
use super::super::tool_inputs::{RuleSentences, load_sentences, report_diagnostics};
use super::super::{check, draft_file, inputs, params, rules};
use super::{ProbeArgs, print_note, print_warning};
use averment_base::diagnostic::Diagnostics;
use averment_base::diagnostic::render::one_line;
use averment_base::limits::Limits;
use averment_base::words::count_noun;
use averment_engine::bytecode::program::Program;
use averment_probe::{
    InvariantCalls, KeptInput, Probe, ProbeClient, ProbePlan, RecordedProbe, SERVER_RULES, SkipKind, SkippedInvariant,
    SmallestInput, ToolListing,
};
use averment_report::json_escape;
use serde_json::{Value, json};
use std::io::Write as _;

pub(super) struct ProbeInputs<'a> {
    pub arguments: &'a ProbeArgs,
    pub values: params::ParamValues,
    pub color: ColorChoice,
}

#[derive(Default)]
pub(super) struct ProbeLog {
    /// The recorded runs, one per line.
    pub lines: String,
    calls: usize,
    skipped: usize,
    unasked: usize,
    unlisted: usize,
}

impl ProbeLog {
    /// Adds the record of one invariant.
    pub fn add_recorded(&mut self, recorded: &RecordedProbe) {
        let count = |count: &mut usize, list: &[String]| *count = count.saturating_add(usize::from(!list.is_empty()));
        self.calls = self.calls.saturating_add(recorded.calls);
        count(&mut self.skipped, &recorded.skipped);
        count(&mut self.unasked, &recorded.unasked);
        count(&mut self.unlisted, &recorded.unlisted);
        self.add_run(&recorded.run);
    }

    fn add_run(&mut self, run: &Value) {
        self.lines.push_str(&run.to_string());
        self.lines.push('\n');
    }

    fn log_summary(&self, asks: usize) -> String {
        let gaps = self.gap_words();
        let gaps = if gaps.is_empty() { gaps } else { format!("; {gaps}") };
        let asked = match asks {
            1 => "1 invariant or sequence".to_owned(),
            asks => format!("{asks} invariants and sequences"),
        };
        format!("{} for {asked}{gaps}", count_noun(self.calls, "call"))
    }

    fn gap_words(&self) -> String {
        let parts = [
            (self.skipped, "not asked to the end"),
            (self.unasked, "not asked"),
            (self.unlisted, "of tools that the server does not list"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        parts.collect::<Vec<_>>().join("; ")
    }
}

impl ProbeInputs<'_> {
    /// Reads the rules, with additional tool catalogues.
    pub fn read_rules(&self, tools: &[rules::ToolFile]) -> Result<Vec<(RuleSentences, Program)>, CommandError> {
        let (limits, arguments) = (Limits::default(), self.arguments);
        let named = std::slice::from_ref(&arguments.rules);
        let project = arguments.judging.project.load_project(named, self.color)?;
        let files = inputs::some_rule_inputs(named)?;
        let reading = arguments
            .judging
            .read
            .read_options(limits)
            .with_tools(tools)
            .with_foreign(arguments.judging.compat.foreign_options(&self.values.texts));
        let read = files
            .iter()
            .map(|input| load_sentences(input, reading, self.color))
            .collect::<Result<Vec<_>, CommandError>>()?;
        let (sentences, mut programs): (Vec<RuleSentences>, Vec<Program>) = read.into_iter().unzip();
        if let Some(project) = &project {
            params::apply_project(&mut programs, project, false)?;
        }
        self.values.apply_to(&mut programs)?;
        Ok(sentences.into_iter().zip(programs).collect())
    }

    /// Returns the planned calls of each rule file.
    pub fn plan_calls(&self, tools: &mut ToolListing, named: &[String]) -> Result<Vec<ProbePlan>, CommandError> {
        if tools.tool_count() == 0 && !self.arguments.judging.allows_nothing() {
            let help = "look at its arguments; `--allow empty` asks it all the same";
            return Err(CommandError::usage("the server lists no tools", help));
        }
        let limits = Limits::default();
        let catalogue = tools.build_catalog(named);
        let read = if tools.tool_count() == 0 && named.is_empty() {
            self.read_rules(&[])?
        } else {
            self.read_rules(&[("the tools of the server".to_owned(), catalogue)])?
        };
        let chosen = &self.arguments.invariant;
        let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|one| one == name);
        let mut plans = Vec::new();
        for (one, program) in &read {
            let program = one.imported.as_ref().map_or(program, |(program, _)| program);
            let rules = averment_probe::CheckedRules { text: &one.text, module: &one.checked.module, program };
            let plan = averment_probe::plan_calls(rules, tools, &limits, is_chosen);
            self.report_diagnostics(one, &plan.found);
            plans.push(plan);
        }
        let is_idle =
            |plan: &ProbePlan| plan.asks.is_empty() && plan.left.iter().all(|left| left.gap == SkipKind::Idle);
        if plans.iter().all(is_idle) {
            let message = format!("nothing in `{}` asks this server anything", self.arguments.rules.display());
            return Err(CommandError::usage(message, "write `invariant NAME { call TOOL { a: 1 }  response exists }`"));
        }
        Ok(plans)
    }

    fn report_diagnostics(&self, one: &RuleSentences, said: &Diagnostics) {
        if !said.0.is_empty() {
            report_diagnostics(said, one.imported.as_ref().map(|(_, origin)| origin), &one.sources, self.color);
        }
    }

    /// Returns an error if no planned call is of a listed tool, unless the call's tool must be unknown.
    pub fn something_listed(
        &self,
        asks: &[&InvariantCalls],
        left: &[&SkippedInvariant],
        tools: &ToolListing,
    ) -> Result<(), CommandError> {
        let unlisted =
            asks.iter().filter_map(|ask| ask.unlisted_tools(tools).next()).map(|tool| tools.unlisted_reason(tool));
        let others = left.iter().filter(|left| left.gap == SkipKind::Unlisted).map(|left| left.why.clone());
        let unlisted: Vec<String> = unlisted.chain(others).collect();
        let all = left.iter().filter(|left| left.gap != SkipKind::Idle).count().saturating_add(asks.len());
        let Some(first) = unlisted.first().filter(|_| unlisted.len() == all) else { return Ok(()) };
        if self.arguments.judging.allows_nothing() {
            return Ok(());
        }
        let message = format!("all that is asked is of tools that the server does not have: {first}");
        Err(CommandError::usage(
            message,
            "name its tools in the rules, for packs with `--param`; `--allow empty` asks all the same",
        ))
    }

    /// Warns of corpus inputs that no invariant uses; returns true if there are some.
    pub fn report_stale(&self, asks: &[&InvariantCalls], kept: &[KeptInput]) -> bool {
        let chosen = &self.arguments.invariant;
        let is_stale = |kept: &&KeptInput| {
            let is_chosen = chosen.is_empty() || chosen.contains(&kept.invariant);
            is_chosen && !asks.iter().any(|ask| kept.invariant == ask.invariant && ask.calls_tool(&kept.tool))
        };
        let stale: Vec<&KeptInput> = kept.iter().filter(is_stale).collect();
        for kept in &stale {
            let KeptInput { invariant, tool, .. } = kept;
            let file = kept.file_name();
            print_warning(&format!(
                "`{}` of the corpus is for nothing: `{invariant}` is not asked of `{tool}`",
                file.display()
            ));
        }
        !stale.is_empty()
    }

    /// Prints the planned calls, without making them.
    pub fn print_plan(
        &self,
        probe: &Probe<'_>,
        asks: &[&InvariantCalls],
        left: &[&SkippedInvariant],
    ) -> Result<Exit, CommandError> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for ask in asks {
            let recorded = probe.run_invariant(ask, None);
            for call in recorded.run.get("calls").and_then(Value::as_array).into_iter().flatten() {
                let line = json!({"invariant": ask.invariant, "tool": call.get("tool"), "arguments": call.get("args")});
                writeln!(out, "{}", json_escape::escape_json(&line.to_string()))?;
            }
            recorded.skipped.iter().for_each(|why| print_note(&format!("`{}` would not call {why}", ask.invariant)));
            let others = recorded.unasked.iter().chain(&recorded.unlisted);
            others.for_each(|why| print_note(&format!("`{}`: {why}", ask.invariant)));
        }
        left.iter().for_each(|left| print_note(&format!("`{}` would not be asked: {}", left.invariant, left.why)));
        out.flush()?;
        Ok(Exit::Holds)
    }

    /// Makes all planned calls, and records the invariants that cannot be checked.
    pub fn ask_all(
        &self,
        probe: &Probe<'_>,
        asks: &[&InvariantCalls],
        left: &[&SkippedInvariant],
        breaches: Vec<String>,
        client: &mut ProbeClient,
    ) -> Result<ProbeLog, CommandError> {
        let mut asked = ProbeLog::default();
        if !breaches.is_empty() {
            asked.add_recorded(&probe.record_start(breaches));
        }
        for unasked in left {
            if unasked.gap == SkipKind::Idle {
                print_note(&format!("`{}` is not asked: {}", unasked.invariant, unasked.why));
            } else {
                asked.add_recorded(&probe.record_skipped(unasked));
            }
        }
        self.ask_server(probe, asks, client, &mut asked)?;
        Ok(asked)
    }

    fn ask_server(
        &self,
        probe: &Probe<'_>,
        asks: &[&InvariantCalls],
        client: &mut ProbeClient,
        asked: &mut ProbeLog,
    ) -> Result<(), CommandError> {
        let arguments = self.arguments;
        let shown = OutputStream::Err.is_terminal();
        let judge = check::check_rules(&self.check_args(UNSAVED, OF_SERVER, String::new())?, self.color)?;
        let fails = |run: &Value| failing_assertions(&judge, run);
        let looks = arguments.corpus.is_some() || !arguments.no_shrink;
        for (number, ask) in (1_usize..).zip(asks) {
            if shown {
                eprint_redacted(&format!("\r\x1b[K{number} of {}: {}", asks.len(), one_line(&ask.invariant)));
            }
            let recorded = probe.run_invariant(ask, Some(&mut *client));
            asked.add_recorded(&recorded);
            // A call with written arguments is made only once, unless a corpus needs to know if it fails again.
            if !looks || arguments.corpus.is_none() && !ask.is_generated() {
                continue;
            }
            if let Some(smallest) = probe.find_smallest(ask, &recorded, &fails, &mut *client, !arguments.no_shrink) {
                asked.calls = asked.calls.saturating_add(smallest.calls);
                self.keep_input(ask, &smallest)?;
                smallest.run.iter().for_each(|run| asked.add_run(run));
            }
        }
        if shown {
            eprint_redacted("\r\x1b[K");
        }
        if asked.calls == 0 && asked.skipped > 0 && asked.unasked == 0 {
            let message =
                format!("nothing was called: all {} invariants ask tools that may destroy something", asked.skipped);
            return Err(CommandError::usage(message, "name those that may be called: `--allow-tool NAME`"));
        }
        print_note(&asked.log_summary(asks.len()));
        Ok(())
    }

    /// Returns the exit code for `--strict`.
    pub fn strict_exit(&self, asked: &ProbeLog) -> Exit {
        let count = asked.skipped.saturating_add(asked.unlisted);
        if !self.arguments.strict || count == 0 {
            return Exit::Holds;
        }
        eprint_redacted(&format!("error: {}; `--strict` fails on that\n", asked.gap_words()));
        Exit::Failed
    }

    /// Judges the recording.
    pub fn judge_recorded(&self, recorded: &str) -> Result<Exit, CommandError> {
        let arguments = self.arguments;
        let (mut name, mut of_server) = (UNSAVED.to_owned(), OF_SERVER.to_owned());
        if let Some(folder) = &arguments.save {
            std::fs::create_dir_all(folder)?;
            let runs = folder.join("runs.jsonl");
            draft_file::write_file(&runs, recorded.as_bytes())?;
            let server = folder.join("server.assert");
            draft_file::write_file(&server, SERVER_RULES.as_bytes())?;
            (name, of_server) = (runs.display().to_string(), server.display().to_string());
        }
        let exit = check::run_check(&self.check_args(&name, &of_server, recorded.to_owned())?, self.color, None)?;
        if exit == Exit::Failed && arguments.save.is_none() {
            print_note(
                "the recording is not kept; `--save DIR` writes it into a folder, where places in it can be looked up",
            );
        }
        Ok(exit)
    }

    fn check_args(&self, name: &str, of_server: &str, recorded: String) -> Result<check::CheckArgs, CommandError> {
        let rules = TraceInput::Made { name: of_server.to_owned(), bytes: SERVER_RULES.into(), names: Vec::new() };
        let runs = TraceInput::Made { name: name.to_owned(), bytes: recorded.into(), names: Vec::new() };
        let made = check::SuppliedRuns { rules, runs, is_chosen: false, withheld: Vec::new() };
        self.arguments.judging.check_args(&self.arguments.rules, made, &[])
    }

    /// Prints a smaller failing input, and saves it if there is a corpus.
    fn keep_input(&self, ask: &InvariantCalls, smallest: &SmallestInput) -> Result<(), CommandError> {
        let SmallestInput { tool, arguments, behind, found, .. } = smallest;
        if let (Some(_), Ok(shown)) = (&smallest.run, serde_json::to_string(arguments)) {
            let shown: String = shown.chars().take(SHOWN).collect();
            print_note(&format!("`{}` fails with a smaller input, too: `{tool}` {shown}", ask.invariant));
        }
        if !smallest.alone {
            let how = match behind.len() {
                0 => "did not fail a second time".to_owned(),
                count => format!("does not fail with one call alone: {count} come before it since the server began"),
            };
            print_note(&format!("`{}` {how}", ask.invariant));
        }
        let Some(folder) = &self.arguments.corpus else { return Ok(()) };
        let (invariant, tool) = (ask.invariant.clone(), tool.clone());
        let (arguments, behind, found) = (arguments.clone(), behind.clone(), found.clone());
        let kept = KeptInput { invariant, tool, arguments, behind, found };
        std::fs::create_dir_all(folder)?;
        draft_file::write_file(&folder.join(kept.file_name()), kept.file_text().as_bytes())?;
        Ok(())
    }
}

/// The name of an unsaved recording. Reports must not refer to a file that does not exist.
const UNSAVED: &str = "recording";
/// The built-in rules about the server, named like all rules that come with the program.
const OF_SERVER: &str = "std/probe/server.assert";
/// Maximum length of the arguments in a message, in characters.
const SHOWN: usize = 200;

fn failing_assertions(rules: &averment::Rules, run: &Value) -> Vec<String> {
    let Ok(outcome) = rules.check_one(run) else { return Vec::new() };
    let failed = outcome.findings().filter(|found| found.status() == averment::Status::Failed);
    let counts = |id: &str| rules.assertion(id).is_some_and(|one| one.severity() == averment::Severity::Error);
    failed.map(|found| found.id()).filter(|id| counts(id)).map(str::to_owned).collect()
}

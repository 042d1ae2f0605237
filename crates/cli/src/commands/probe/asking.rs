//! Reading the rules for a server, asking it, and judging what was recorded.

use super::super::console::{ColorChoice, Stream, say};
use super::super::exit::{Exit, Stop};
use super::super::inputs::Input;
use super::super::tool_inputs::{Sentences, sentences, tell};
use super::super::{check, inputs, params, replace, rules};
use super::{Arguments, note, warn};
use averment_base::diagnostic::Diagnostics;
use averment_base::diagnostic::render::one_line;
use averment_base::limits::Limits;
use averment_engine::bytecode::program::Program;
use averment_probe::{Ask, Client, Gap, Kept, Listing, Plan, Probe, Recorded, SERVER_RULES, Smallest, Unasked};
use averment_report::escaped;
use serde_json::{Value, json};
use std::io::Write as _;

/// What is given, and read of it.
pub(super) struct Given<'a> {
    pub arguments: &'a Arguments,
    pub values: params::Values,
    pub color: ColorChoice,
}

/// What was asked so far.
#[derive(Default)]
pub(super) struct Asked {
    /// What was recorded, a line for each run.
    pub lines: String,
    calls: usize,
    skipped: usize,
    unasked: usize,
    unlisted: usize,
}

impl Asked {
    /// Adds what was recorded of one.
    pub fn add(&mut self, recorded: &Recorded) {
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

    /// What is said at the end.
    fn summary(&self, asks: usize) -> String {
        let gaps = self.gaps();
        let gaps = if gaps.is_empty() { gaps } else { format!("; {gaps}") };
        format!("{} calls for {asks} invariants and sequences{gaps}", self.calls)
    }

    /// What was not asked as the rules say.
    fn gaps(&self) -> String {
        let parts = [
            (self.skipped, "not asked to the end"),
            (self.unasked, "not asked"),
            (self.unlisted, "of tools that the server does not list"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        parts.collect::<Vec<_>>().join("; ")
    }
}

impl Given<'_> {
    /// Reads the rules, with further catalogues of tools.
    pub fn read(&self, tools: &[rules::ToolFile]) -> Result<Vec<(Sentences, Program)>, Stop> {
        let (limits, arguments) = (Limits::default(), self.arguments);
        let named = std::slice::from_ref(&arguments.rules);
        let project = arguments.judging.project.load(named, self.color)?;
        let files = inputs::rules(named)?;
        if files.is_empty() {
            let message = format!("there is no `.assert` file in `{}`", arguments.rules.display());
            return Err(Stop::usage(message, "name a rule file"));
        }
        let reading = arguments
            .judging
            .read
            .reading(limits)
            .with(tools)
            .foreign(arguments.judging.compat.reading(&self.values.texts));
        let read = files.iter().map(|input| sentences(input, reading, self.color)).collect::<Result<Vec<_>, Stop>>()?;
        let (sentences, mut programs): (Vec<Sentences>, Vec<Program>) = read.into_iter().unzip();
        if let Some(project) = &project {
            params::of_project(&mut programs, project, false)?;
        }
        self.values.apply(&mut programs)?;
        Ok(sentences.into_iter().zip(programs).collect())
    }

    /// What is asked of a server with these tools, by rule file.
    pub fn plans(&self, tools: &mut Listing, named: &[String]) -> Result<Vec<Plan>, Stop> {
        if tools.count() == 0 && !self.arguments.judging.allows_nothing() {
            let help = "look at its arguments; `--allow empty` asks it all the same";
            return Err(Stop::usage("the server lists no tools", help));
        }
        let limits = Limits::default();
        let catalogue = tools.catalogue(named);
        let read = if tools.count() == 0 && named.is_empty() {
            self.read(&[])?
        } else {
            self.read(&[("the tools of the server".to_owned(), catalogue)])?
        };
        let chosen = &self.arguments.invariant;
        let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|one| one == name);
        let mut plans = Vec::new();
        for (one, program) in &read {
            let program = one.imported.as_ref().map_or(program, |(program, _)| program);
            let rules = averment_probe::Rules { text: &one.text, module: &one.checked.module, program };
            let plan = averment_probe::plan(rules, tools, &limits, is_chosen);
            self.tell(one, &plan.found);
            plans.push(plan);
        }
        let is_idle = |plan: &Plan| plan.asks.is_empty() && plan.left.iter().all(|left| left.gap == Gap::Idle);
        if plans.iter().all(is_idle) {
            let message = format!("nothing in `{}` asks this server anything", self.arguments.rules.display());
            return Err(Stop::usage(message, "write `invariant NAME { call TOOL { a: 1 }  response exists }`"));
        }
        Ok(plans)
    }

    fn tell(&self, one: &Sentences, said: &Diagnostics) {
        if !said.0.is_empty() {
            tell(said, one.imported.as_ref().map(|(_, origin)| origin), &one.sources, self.color);
        }
    }

    /// Whether something is asked of a tool that the server lists, or that is to be unknown.
    pub fn something_listed(&self, asks: &[&Ask], left: &[&Unasked], tools: &Listing) -> Result<(), Stop> {
        let unlisted = asks.iter().filter_map(|ask| ask.unlisted(tools).next()).map(|tool| tools.unlisted(tool));
        let others = left.iter().filter(|left| left.gap == Gap::Unlisted).map(|left| left.why.clone());
        let unlisted: Vec<String> = unlisted.chain(others).collect();
        let all = left.iter().filter(|left| left.gap != Gap::Idle).count().saturating_add(asks.len());
        let Some(first) = unlisted.first().filter(|_| unlisted.len() == all) else { return Ok(()) };
        if self.arguments.judging.allows_nothing() {
            return Ok(());
        }
        let message = format!("all that is asked is of tools that the server does not have: {first}");
        Err(Stop::usage(
            message,
            "name its tools in the rules, for packs with `--param`; `--allow empty` asks all the same",
        ))
    }

    /// Says which inputs of the corpus are for nothing that is asked; whether there are some.
    pub fn stale(&self, asks: &[&Ask], kept: &[Kept]) -> bool {
        let chosen = &self.arguments.invariant;
        let is_stale = |kept: &&Kept| {
            let is_chosen = chosen.is_empty() || chosen.contains(&kept.invariant);
            is_chosen && !asks.iter().any(|ask| kept.invariant == ask.invariant && ask.calls(&kept.tool))
        };
        let stale: Vec<&Kept> = kept.iter().filter(is_stale).collect();
        for kept in &stale {
            let Kept { invariant, tool, .. } = kept;
            let file = kept.file();
            warn(&format!("`{}` of the corpus is for nothing: `{invariant}` is not asked of `{tool}`", file.display()));
        }
        !stale.is_empty()
    }

    /// Prints what would be called.
    pub fn would(&self, probe: &Probe<'_>, asks: &[&Ask], left: &[&Unasked]) -> Result<Exit, Stop> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for ask in asks {
            let recorded = probe.ask(ask, None);
            for call in recorded.run.get("calls").and_then(Value::as_array).into_iter().flatten() {
                let line = json!({"invariant": ask.invariant, "tool": call.get("tool"), "arguments": call.get("args")});
                writeln!(out, "{}", escaped::json(&line.to_string()))?;
            }
            recorded.skipped.iter().for_each(|why| note(&format!("`{}` would not call {why}", ask.invariant)));
            let others = recorded.unasked.iter().chain(&recorded.unlisted);
            others.for_each(|why| note(&format!("`{}`: {why}", ask.invariant)));
        }
        left.iter().for_each(|left| note(&format!("`{}` would not be asked: {}", left.invariant, left.why)));
        out.flush()?;
        Ok(Exit::Holds)
    }

    /// Asks everything, and records what cannot be asked.
    pub fn ask_all(
        &self,
        probe: &Probe<'_>,
        asks: &[&Ask],
        left: &[&Unasked],
        breaches: Vec<String>,
        client: &mut Client,
    ) -> Result<Asked, Stop> {
        let mut asked = Asked::default();
        if !breaches.is_empty() {
            asked.add(&probe.began(breaches));
        }
        for unasked in left {
            if unasked.gap == Gap::Idle {
                note(&format!("`{}` is not asked: {}", unasked.invariant, unasked.why));
            } else {
                asked.add(&probe.unasked(unasked));
            }
        }
        self.ask(probe, asks, client, &mut asked)?;
        Ok(asked)
    }

    /// Asks everything.
    fn ask(&self, probe: &Probe<'_>, asks: &[&Ask], client: &mut Client, asked: &mut Asked) -> Result<(), Stop> {
        let arguments = self.arguments;
        let shown = Stream::Err.is_terminal();
        let judge = check::rules_of(&self.check("probe.jsonl", "server.assert", String::new())?, self.color)?;
        let fails = |run: &Value| failing(&judge, run);
        let looks = arguments.corpus.is_some() || !arguments.no_shrink;
        for (number, ask) in (1_usize..).zip(asks) {
            if shown {
                say(&format!("\r\x1b[K{number} of {}: {}", asks.len(), one_line(&ask.invariant)));
            }
            let recorded = probe.ask(ask, Some(&mut *client));
            asked.add(&recorded);
            if !looks {
                continue;
            }
            if let Some(smallest) = probe.smallest(ask, &recorded, &fails, &mut *client, !arguments.no_shrink) {
                asked.calls = asked.calls.saturating_add(smallest.calls);
                self.keep(ask, &smallest)?;
                smallest.run.iter().for_each(|run| asked.add_run(run));
            }
        }
        if shown {
            say("\r\x1b[K");
        }
        if asked.calls == 0 && asked.skipped > 0 && asked.unasked == 0 {
            let message =
                format!("nothing was called: all {} invariants ask tools that may destroy something", asked.skipped);
            return Err(Stop::usage(message, "name those that may be called: `--allow-tool NAME`"));
        }
        note(&asked.summary(asks.len()));
        Ok(())
    }

    /// What `--strict` comes to.
    pub fn strictly(&self, asked: &Asked) -> Exit {
        let count = asked.skipped.saturating_add(asked.unlisted);
        if !self.arguments.strict || count == 0 {
            return Exit::Holds;
        }
        say(&format!("error: {}; `--strict` fails on that\n", asked.gaps()));
        Exit::Failed
    }

    /// Judges what was recorded.
    pub fn judge(&self, recorded: &str) -> Result<Exit, Stop> {
        let arguments = self.arguments;
        let (mut name, mut of_server) = ("probe.jsonl".to_owned(), "server.assert".to_owned());
        if let Some(folder) = &arguments.save {
            std::fs::create_dir_all(folder)?;
            let runs = folder.join("runs.jsonl");
            replace::write(&runs, recorded.as_bytes())?;
            let server = folder.join("server.assert");
            replace::write(&server, SERVER_RULES.as_bytes())?;
            (name, of_server) = (runs.display().to_string(), server.display().to_string());
        }
        check::run(&self.check(&name, &of_server, recorded.to_owned())?, self.color)
    }

    /// What `aver check` is to do with what was recorded.
    fn check(&self, name: &str, of_server: &str, recorded: String) -> Result<check::Arguments, Stop> {
        let rules = Input::Made { name: of_server.to_owned(), text: SERVER_RULES.to_owned(), names: Vec::new() };
        let runs = Input::Made { name: name.to_owned(), text: recorded, names: Vec::new() };
        let made = check::Made { rules, runs, is_chosen: false, withheld: Vec::new() };
        self.arguments.judging.arguments(&self.arguments.rules, made, &[])
    }

    /// Says with which input something was found, and keeps it where there is a corpus.
    fn keep(&self, ask: &Ask, smallest: &Smallest) -> Result<(), Stop> {
        let Smallest { tool, arguments, behind, found, .. } = smallest;
        if let (Some(_), Ok(shown)) = (&smallest.run, serde_json::to_string(arguments)) {
            let shown: String = shown.chars().take(SHOWN).collect();
            note(&format!("`{}` fails with a smaller input, too: `{tool}` {shown}", ask.invariant));
        }
        if !smallest.alone {
            let how = match behind.len() {
                0 => "did not fail a second time".to_owned(),
                count => format!("does not fail with one call alone: {count} come before it since the server began"),
            };
            note(&format!("`{}` {how}", ask.invariant));
        }
        let Some(folder) = &self.arguments.corpus else { return Ok(()) };
        let (invariant, tool) = (ask.invariant.clone(), tool.clone());
        let (arguments, behind, found) = (arguments.clone(), behind.clone(), found.clone());
        let kept = Kept { invariant, tool, arguments, behind, found };
        std::fs::create_dir_all(folder)?;
        replace::write(&folder.join(kept.file()), kept.text().as_bytes())?;
        Ok(())
    }
}

/// Characters of an input in a note.
const SHOWN: usize = 200;

/// The assertions that fail in a run: of the rules, and of those on the server.
fn failing(rules: &averment::Rules, run: &Value) -> Vec<String> {
    let Ok(outcome) = rules.check_one(run) else { return Vec::new() };
    let failed = outcome.findings().filter(|found| found.status() == averment::Status::Failed);
    let counts = |id: &str| rules.assertion(id).is_some_and(|one| one.severity() == averment::Severity::Error);
    failed.map(|found| found.id()).filter(|id| counts(id)).map(str::to_owned).collect()
}

//! `aver probe RULES --server 'COMMAND'`: asks a live MCP server what invariants ask, records that, and judges what was recorded as `aver check` does.

use super::console::{ColorChoice, Stream, say};
use super::exit::{Exit, Stop};
use super::inputs::Input;
use super::judging::Judging;
use super::tool_inputs::{Sentences, sentences, tell};
use super::{check, inputs, params, replace, rules, signals, units};
use averment_base::diagnostic::Diagnostics;
use averment_base::diagnostic::render::one_line;
use averment_base::limits::Limits;
use averment_engine::bytecode::program::Program;
use averment_probe::{Ask, Client, Danger, Kept, Plan, Probe, Recorded, SERVER_RULES, Smallest, Target, Url};
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver probe pack.yaml --server 'npx -y some-mcp-server .' --allow-run
  aver probe invariants.assert --server './server --stdio' --allow-run --cases 20 --seed 7
  aver probe pack.yaml --server './server' --allow-run --dry-run    what would be called
  aver probe pack.yaml --url http://127.0.0.1:8000/mcp --header 'Authorization: Bearer TOKEN'
  aver probe pack.yaml --server './server' --allow-run --allow-tool 'delete_*'
  aver probe pack.yaml --server './server' --allow-run --corpus found            keeps what fails
  aver probe pack.yaml --server './server' --allow-run --corpus found --replay   asks that again
  aver probe pack.yaml --server './server' --allow-run --save probed
  aver check pack.yaml -r probed/server.assert probed/runs.jsonl    the same verdicts again

Tools that are annotated as destructive or speak of it are not called unless named with --allow-tool.

Exit codes: those of aver check; 2 where the server does not start or nothing was called")]
pub struct Arguments {
    /// A rule file with invariants, a folder of them, or a pack of wallfacer
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// The command that starts the server and speaks MCP over its standard input and output; read as words, by no shell
    #[arg(long, value_name = "COMMAND", required_unless_present = "url", conflicts_with = "url")]
    server: Option<String>,
    /// The address of a server that runs already and speaks MCP over streamable HTTP
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// A header for the server behind --url
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    header: Vec<String>,
    /// The server may be started
    #[arg(long)]
    allow_run: bool,
    /// Print what would be called with which arguments, a line of JSON each, and call no tool
    #[arg(long)]
    dry_run: bool,
    /// A variable for the server, beside those of this process
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The seed of all inputs [default: as the rules say; 0 in packs]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many inputs of each invariant [default: as the rules say; 100 in packs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cases: Option<u32>,
    /// Ask only what this invariant or sequence asks
    #[arg(long, value_name = "NAME")]
    invariant: Vec<String>,
    /// Tools that are called though they may destroy something, by name or pattern
    #[arg(long, value_name = "GLOB")]
    allow_tool: Vec<String>,
    /// Tools that are not called
    #[arg(long, value_name = "GLOB")]
    deny_tool: Vec<String>,
    /// How long the server may take to answer a call
    #[arg(long, value_name = "TIME", default_value = "5s")]
    timeout: String,
    /// The longest answer that is read
    #[arg(long, value_name = "SIZE", default_value = "16MiB")]
    max_answer: String,
    /// Inputs that something was found with before: they are asked first, and what is found now is kept there, a file each
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Ask with the inputs of the corpus alone
    #[arg(long, requires = "corpus")]
    replay: bool,
    /// Look for no smaller input where one fails
    #[arg(long)]
    no_shrink: bool,
    /// Keep what was recorded in this folder: runs.jsonl, and server.assert with the rules on the server
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    #[command(flatten)]
    judging: Judging,
}

/// Asks and judges.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    let target = target(arguments)?;
    let danger = Danger::new(&arguments.allow_tool, &arguments.deny_tool).map_err(|error| {
        Stop::usage(format!("a pattern for tools cannot be used: {error}"), "write a name, or `delete_*`")
    })?;
    let values = arguments.judging.values()?;
    let given = Given { arguments, values, color };
    let first = given.read(&[])?;
    signals::may_run(true);
    signals::end_with_commands(false)?;
    let kept = kept(arguments)?;
    let mut client = Client::start(target, limits(arguments)?).map_err(not_there)?;
    let tools = client.tools().map_err(not_there)?;
    let plans = given.plans(&first, &tools)?;
    let left = plans.iter().flat_map(|plan| &plan.left);
    left.for_each(|(name, why)| note(&format!("`{name}` is not asked: {why}")));
    let asks = plans.iter().flat_map(|plan| &plan.asks);
    let is_kept = |ask: &Ask| kept.iter().any(|kept| kept.invariant == ask.invariant && ask.calls(&kept.tool));
    let asks: Vec<&Ask> = asks.filter(|ask| !arguments.replay || is_kept(ask)).collect();
    if asks.is_empty() {
        let message = "the corpus holds no input for these invariants and this server";
        return Err(Stop::usage(message, "leave `--replay` out"));
    }
    let (seed, cases, replay) = (arguments.seed, arguments.cases, arguments.replay);
    let probe = Probe { tools: &tools, danger: &danger, seed, cases, kept: &kept, replay };
    if arguments.dry_run {
        drop(client);
        return given.would(&probe, &asks);
    }
    let recorded = given.ask(&probe, &asks, &mut client)?;
    drop(client);
    given.judge(&recorded)
}

/// What is given, and read of it.
struct Given<'a> {
    arguments: &'a Arguments,
    values: params::Values,
    color: ColorChoice,
}

impl Given<'_> {
    /// Reads the rules, with further catalogues of tools.
    fn read(&self, tools: &[rules::ToolFile]) -> Result<Vec<(Sentences, Program)>, Stop> {
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
    fn plans(&self, first: &[(Sentences, Program)], tools: &[Value]) -> Result<Vec<Plan>, Stop> {
        let limits = Limits::default();
        let mut named: Vec<String> =
            first.iter().flat_map(|(one, _)| averment_probe::named(&one.text, &limits)).collect();
        named.sort();
        named.dedup();
        let catalogue = averment_probe::catalogue(tools, &named, true);
        let read = self.read(&[("the tools of the server".to_owned(), catalogue)])?;
        let live: Vec<String> = tools.iter().filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned)).collect();
        let chosen = &self.arguments.invariant;
        let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|one| one == name);
        let mut plans = Vec::new();
        for (one, program) in &read {
            let program = one.imported.as_ref().map_or(program, |(program, _)| program);
            let rules = averment_probe::Rules { text: &one.text, module: &one.checked.module, program };
            let plan = averment_probe::plan(rules, &live, &limits, is_chosen);
            self.tell(one, &plan.found);
            plans.push(plan);
        }
        if plans.iter().all(|plan| plan.asks.is_empty()) {
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

    /// Prints what would be called.
    fn would(&self, probe: &Probe<'_>, asks: &[&Ask]) -> Result<Exit, Stop> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for ask in asks {
            let recorded = self.one(probe, ask, None)?;
            for call in recorded.run.get("calls").and_then(Value::as_array).into_iter().flatten() {
                let line = serde_json::json!({"invariant": ask.invariant, "tool": call.get("tool"), "arguments": call.get("args")});
                writeln!(out, "{line}")?;
            }
            recorded.skipped.iter().for_each(|why| note(&format!("`{}` would not call {why}", ask.invariant)));
        }
        out.flush()?;
        Ok(Exit::Holds)
    }

    fn one(&self, probe: &Probe<'_>, ask: &Ask, client: Option<&mut Client>) -> Result<Recorded, Stop> {
        probe.ask(ask, client).map_err(|diagnostic| {
            Stop::usage(format!("the inputs of `{}` cannot be made: {}", ask.invariant, diagnostic.message), "")
        })
    }

    /// Asks everything; what was recorded, a line for each run.
    fn ask(&self, probe: &Probe<'_>, asks: &[&Ask], client: &mut Client) -> Result<String, Stop> {
        let arguments = self.arguments;
        let shown = Stream::Err.is_terminal();
        let judge = check::rules_of(&self.check("probe.jsonl", "server.assert", String::new())?, self.color)?;
        let fails = |run: &Value| failing(&judge, run);
        let (mut lines, mut calls, mut skipped) = (String::new(), 0_usize, 0_usize);
        for (number, ask) in (1_usize..).zip(asks) {
            if shown {
                say(&format!("\r\x1b[K{number} of {}: {}", asks.len(), one_line(&ask.invariant)));
            }
            let recorded = self.one(probe, ask, Some(&mut *client))?;
            calls = calls.saturating_add(recorded.calls);
            skipped = skipped.saturating_add(usize::from(!recorded.skipped.is_empty()));
            lines.push_str(&recorded.run.to_string());
            lines.push('\n');
            let with = (&mut *client, !arguments.no_shrink);
            if let Some(smallest) = probe.smallest(ask, &recorded, &fails, with) {
                calls = calls.saturating_add(smallest.calls);
                self.keep(ask, &smallest)?;
                if let Some(run) = &smallest.run {
                    lines.push_str(&run.to_string());
                    lines.push('\n');
                }
            }
        }
        if shown {
            say("\r\x1b[K");
        }
        if calls == 0 {
            let message = format!("nothing was called: all {skipped} invariants ask tools that may destroy something");
            return Err(Stop::usage(message, "name those that may be called: `--allow-tool NAME`"));
        }
        let left = if skipped > 0 { format!("; {skipped} not asked to the end") } else { String::new() };
        note(&format!("{calls} calls for {} invariants and sequences{left}", asks.len()));
        Ok(lines)
    }

    /// Judges what was recorded.
    fn judge(&self, recorded: &str) -> Result<Exit, Stop> {
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
        let Smallest { tool, arguments, found, .. } = smallest;
        if let (Some(_), Ok(shown)) = (&smallest.run, serde_json::to_string(arguments)) {
            let shown: String = shown.chars().take(SHOWN).collect();
            note(&format!("`{}` fails with a smaller input, too: `{tool}` {shown}", ask.invariant));
        }
        let Some(folder) = &self.arguments.corpus else { return Ok(()) };
        let (invariant, tool) = (ask.invariant.clone(), tool.clone());
        let kept = Kept { invariant, tool, arguments: arguments.clone(), found: found.clone() };
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

/// The corpus.
fn kept(arguments: &Arguments) -> Result<Vec<Kept>, Stop> {
    let Some(folder) = &arguments.corpus else { return Ok(Vec::new()) };
    averment_probe::read_corpus(folder).map_err(|(path, why)| {
        Stop::usage(format!("`{}` cannot be used: {why}", path.display()), "name a folder that `--corpus` has written")
    })
}

/// Where the server is: a command that may be started, or an address.
fn target(arguments: &Arguments) -> Result<Target, Stop> {
    let Some(server) = &arguments.server else { return url(arguments).map(Target::Url) };
    let words = shell_words::split(server).map_err(|_| {
        let message = format!("the words of `--server {server}` cannot be told apart");
        Stop::usage(message, "close its quotes")
    })?;
    if words.is_empty() {
        return Err(Stop::usage("`--server` names no program", "write the command that starts the server"));
    }
    if !arguments.allow_run {
        let message = format!("`{server}` would be started, and nothing is without permission");
        return Err(Stop::usage(message, "add `--allow-run`"));
    }
    Ok(Target::Program(words, variables(&arguments.env)?))
}

fn url(arguments: &Arguments) -> Result<Url, Stop> {
    let url = arguments.url.clone().unwrap_or_default();
    if !url.starts_with("http://") && !url.starts_with("https://") {
        let message = format!("`{url}` is no address of a server");
        return Err(Stop::usage(message, "write for example `--url http://127.0.0.1:8000/mcp`"));
    }
    let header = |one: &String| {
        let (name, value) = one.split_once(':').filter(|(name, _)| !name.trim().is_empty())?;
        let is_plain = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        (is_plain(name) && is_plain(value)).then(|| (name.trim().to_owned(), value.trim().to_owned()))
    };
    let wrong = || Stop::usage("`--header` takes a name and a value", "write `--header 'Authorization: Bearer …'`");
    let headers = arguments.header.iter().map(|one| header(one).ok_or_else(wrong)).collect::<Result<_, _>>()?;
    Ok(Url { url, headers })
}

fn variables(given: &[String]) -> Result<Vec<(String, String)>, Stop> {
    let variable = |one: &String| {
        let (name, value) = one.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), value.to_owned()))
    };
    let wrong = || Stop::usage("`--env` takes a name and a value", "write `--env NAME=VALUE`");
    given.iter().map(|one| variable(one).ok_or_else(wrong)).collect()
}

fn limits(arguments: &Arguments) -> Result<averment_probe::Limits, Stop> {
    let time: Duration = units::time(&arguments.timeout).ok_or_else(|| {
        Stop::usage(format!("`{}` is no time", arguments.timeout), "write a time such as `10s` or `500ms`")
    })?;
    let bytes = units::bytes(&arguments.max_answer)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| Stop::usage(format!("`{}` is no size", arguments.max_answer), "write a size such as `16MiB`"))?;
    Ok(averment_probe::Limits { time, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) })
}

fn not_there(error: averment_probe::StartError) -> Stop {
    Stop::usage(error.0, "look at what it says when it is started by hand")
}

fn note(text: &str) {
    say(&format!("note: {}\n", one_line(text)));
}

//! `aver probe RULES --server 'COMMAND'`: makes the calls of invariants on a live MCP server, records them, and judges the recording as `aver check`
//! does.

use super::console::{ColorChoice, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::judge_flags::JudgeFlags;
use super::tool_inputs::RuleSentences;
use super::{help_headings, signals, units};
use ask_server::ProbeInputs;
use averment_base::diagnostic::render::one_line;
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::limits::Limits;
use averment_engine::bytecode::program::Program;
use averment_probe::{
    DangerPolicy, InvariantCalls, KeptInput, Probe, ProbeClient, ServerTarget, ServerUrl, SkippedInvariant, ToolListing,
};
use std::path::PathBuf;
use std::time::Duration;

mod ask_server;

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

Exit codes: those of aver check; 2 where the server does not start, nothing was called, or
all invariants call tools that the server does not list (--allow empty asks them)")]
pub struct ProbeArgs {
    /// A rule file with invariants, a folder of rule files, or a pack of wallfacer
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// Start the server with this command, without a shell; it speaks MCP over standard input and output
    #[arg(help_heading = help_headings::SERVER, long, value_name = "COMMAND", required_unless_present = "url", conflicts_with = "url")]
    server: Option<String>,
    /// Use a running server that speaks MCP over streamable HTTP
    #[arg(help_heading = help_headings::SERVER, long, value_name = "URL")]
    url: Option<String>,
    /// Send this header with --url
    #[arg(help_heading = help_headings::SERVER, long, value_name = "NAME: VALUE", requires = "url")]
    header: Vec<String>,
    /// Allow the command of --server to run
    #[arg(help_heading = help_headings::LIMITS, long)]
    allow_run: bool,
    /// Print the calls, a line of JSON each, without making them
    #[arg(help_heading = help_headings::OUTPUT, long)]
    dry_run: bool,
    /// Set a variable for the server
    #[arg(help_heading = help_headings::SERVER, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The seed of all inputs [default: as the rules say; 0 in packs]
    #[arg(help_heading = help_headings::INPUTS, long, value_name = "N")]
    seed: Option<u64>,
    /// The number of inputs for each invariant [default: as the rules say; 100 in packs]
    #[arg(help_heading = help_headings::INPUTS, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cases: Option<u32>,
    /// Use only this invariant or sequence
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "NAME")]
    invariant: Vec<String>,
    /// Call these tools although they may destroy something, by name or pattern
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "GLOB")]
    allow_tool: Vec<String>,
    /// Never call these tools
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "GLOB")]
    deny_tool: Vec<String>,
    /// The longest time for an answer
    #[arg(help_heading = help_headings::SERVER, long, value_name = "TIME", default_value = "5s")]
    timeout: String,
    /// The largest answer to read
    #[arg(help_heading = help_headings::SERVER, long, value_name = "SIZE", default_value = "16MiB")]
    max_answer: String,
    /// Try the inputs in this folder first, and keep new inputs that find something there
    #[arg(help_heading = help_headings::INPUTS, long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Use only the inputs of the corpus
    #[arg(help_heading = help_headings::INPUTS, long, requires = "corpus")]
    replay: bool,
    /// Fail if an invariant is not finished, or names a tool that the server does not list
    #[arg(help_heading = help_headings::FAILING, long)]
    strict: bool,
    /// Do not look for smaller inputs
    #[arg(help_heading = help_headings::INPUTS, long)]
    no_shrink: bool,
    /// Keep the recording in this folder: runs.jsonl and server.assert
    #[arg(help_heading = help_headings::OUTPUT, long, value_name = "DIR")]
    save: Option<PathBuf>,
    #[command(flatten)]
    judging: JudgeFlags,
}

/// Probes the server and judges the recording.
pub fn run_probe(arguments: &ProbeArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let target = server_target(arguments)?;
    let danger = DangerPolicy::new(&arguments.allow_tool, &arguments.deny_tool).map_err(|error| {
        CommandError::usage(format!("a pattern for tools cannot be used: {error}"), "write a name, or `delete_*`")
    })?;
    let values = arguments.judging.param_values()?;
    let given = ProbeInputs { arguments, values, color };
    let first = given.read_rules(&[])?;
    signals::may_run(true);
    signals::end_with_commands(false)?;
    let kept = load_corpus(arguments)?;
    let mut client = ProbeClient::start(target, probe_limits(arguments)?).map_err(not_there)?;
    let (mut tools, breaches) = client.list_tools().map_err(not_there)?;
    let named = called_tools(&first);
    report_idle_patterns(&danger, &tools, &named)?;
    let plans = given.plan_calls(&mut tools, &named)?;
    let (seed, cases, replay) = (arguments.seed, arguments.cases, arguments.replay);
    let probe = Probe { tools: &tools, danger: &danger, seed, cases, kept: &kept, replay };
    let asks: Vec<&InvariantCalls> = plans.iter().flat_map(|plan| &plan.asks).collect();
    let stale = given.report_stale(&asks, &kept);
    let is_kept =
        |ask: &InvariantCalls| kept.iter().any(|kept| kept.invariant == ask.invariant && ask.calls_tool(&kept.tool));
    let asks: Vec<&InvariantCalls> = asks.into_iter().filter(|ask| !replay || is_kept(ask)).collect();
    if asks.is_empty() && replay {
        let message = "the corpus holds no input for these invariants and this server";
        return Err(CommandError::usage(message, "leave `--replay` out"));
    }
    let left: Vec<&SkippedInvariant> = plans.iter().flat_map(|plan| &plan.left).filter(|_| !replay).collect();
    if arguments.dry_run {
        drop(client);
        return given.print_plan(&probe, &asks, &left);
    }
    given.something_listed(&asks, &left, &tools)?;
    let asked = given.ask_all(&probe, &asks, &left, breaches, &mut client)?;
    drop(client);
    let exit = given.judge_recorded(&asked.lines)?;
    Ok(if stale && replay { exit.max(Exit::Usage) } else { exit }.max(given.strict_exit(&asked)))
}

fn called_tools(rules: &[(RuleSentences, Program)]) -> Vec<String> {
    let limits = Limits::default();
    let mut named: Vec<String> =
        rules.iter().flat_map(|(one, program)| averment_probe::called_tools(&one.text, program, &limits)).collect();
    named.sort();
    named.dedup();
    named
}

/// Reports tool patterns that match no tool. For a pattern that protects a tool this is an error.
fn report_idle_patterns(danger: &DangerPolicy, tools: &ToolListing, named: &[String]) -> Result<(), CommandError> {
    let names: Vec<String> = tools.tool_names().map(str::to_owned).chain(named.iter().cloned()).collect();
    let (allowed, denied) = danger.idle_patterns(&names);
    if let Some(pattern) = denied.first() {
        let near =
            suggest_name(pattern, tools.tool_names()).map_or(String::new(), |near| format!("did you mean `{near}`?"));
        return Err(CommandError::usage(
            format!("`--deny-tool {pattern}` fits no tool of the server and of the rules"),
            near,
        ));
    }
    for pattern in allowed {
        print_warning(&format!("`--allow-tool {pattern}` fits no tool of the server and of the rules"));
    }
    Ok(())
}

fn load_corpus(arguments: &ProbeArgs) -> Result<Vec<KeptInput>, CommandError> {
    let Some(folder) = &arguments.corpus else { return Ok(Vec::new()) };
    averment_probe::read_corpus(folder).map_err(|(path, why)| {
        CommandError::usage(
            format!("`{}` cannot be used: {why}", path.display()),
            "name a folder that `--corpus` has written",
        )
    })
}

fn server_target(arguments: &ProbeArgs) -> Result<ServerTarget, CommandError> {
    let Some(server) = &arguments.server else { return parse_url(arguments).map(ServerTarget::Url) };
    let words = shell_words::split(server).map_err(|_| {
        let message = format!("`--server {server}` cannot be split into words");
        CommandError::usage(message, "close its quotes")
    })?;
    if words.is_empty() {
        return Err(CommandError::usage("`--server` names no program", "write the command that starts the server"));
    }
    if !arguments.allow_run {
        let message = format!("`{server}` would be started, but no permission was given");
        return Err(CommandError::usage(message, "add `--allow-run`"));
    }
    Ok(ServerTarget::Program(words, parse_variables(&arguments.env)?))
}

fn parse_url(arguments: &ProbeArgs) -> Result<ServerUrl, CommandError> {
    let url = arguments.url.as_deref().unwrap_or_default();
    ServerUrl::from_words(url, &arguments.header).map_err(|(text, help)| CommandError::usage(text, help))
}

fn parse_variables(given: &[String]) -> Result<Vec<(String, String)>, CommandError> {
    let variable = |one: &String| {
        let (name, value) = one.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), value.to_owned()))
    };
    let wrong = || CommandError::usage("`--env` takes a name and a value", "write `--env NAME=VALUE`");
    given.iter().map(|one| variable(one).ok_or_else(wrong)).collect()
}

fn probe_limits(arguments: &ProbeArgs) -> Result<averment_probe::AnswerLimits, CommandError> {
    let time: Duration = units::parse_time(&arguments.timeout).ok_or_else(|| {
        CommandError::usage(format!("`{}` is no time", arguments.timeout), "write a time such as `10s` or `500ms`")
    })?;
    let bytes = units::parse_bytes(&arguments.max_answer).filter(|bytes| *bytes > 0).ok_or_else(|| {
        CommandError::usage(format!("`{}` is no size", arguments.max_answer), "write a size such as `16MiB`")
    })?;
    Ok(averment_probe::AnswerLimits { time, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) })
}

fn not_there(error: averment_probe::StartError) -> CommandError {
    CommandError::usage(averment_report::redact::redact(&error.0), "start it by hand to see its message")
}

fn print_warning(text: &str) {
    eprint_redacted(&format!("warning: {}\n", one_line(text)));
}

fn print_note(text: &str) {
    eprint_redacted(&format!("note: {}\n", one_line(text)));
}

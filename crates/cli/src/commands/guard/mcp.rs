//! `aver guard mcp RULES -- SERVER`: a guarding proxy for an MCP server on standard input and output, or at a URL.

use super::super::console::{ColorChoice, eprint_redacted};
use super::super::exit::{CommandError, Exit};
use super::super::io_error_text;
use super::listening::ListenArgs;
use super::mcp_http::{UrlArgs, run_http_proxy};
use super::tools::tool_check;
use super::{GuardRules, each_line, guard_rules, rule_names, state_folder};
use averment_guard::answer::Decision;
use averment_guard::hook::SessionGuard;
use averment_guard::mcp::{McpGuard, McpStep};
use averment_guard::resident::ResidentSessions;
use averment_guard::session::{SessionKey, now};
use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Arguments of `guard mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver guard mcp rules.assert -- npx -y @modelcontextprotocol/server-filesystem .
  aver guard mcp rules.assert --mode warn -- ./server --stdio
  aver guard mcp rules.assert --url https://tools.example/mcp --listen 127.0.0.1:8765

In the settings of a client, put this in place of the command of the server. Naming the server
behind `--` allows to start it. With --url, name the address of --listen in place of the server's.")]
pub struct McpArgs {
    /// A rule file, or a folder of them
    #[arg(required = true, value_name = "RULES")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    guard: GuardRules,
    /// Where the logs of sessions are kept [default: averment/guard below $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    url: UrlArgs,
    #[command(flatten)]
    listening: ListenArgs,
    /// The command that starts the server
    #[arg(last = true, required_unless_present = "url", conflicts_with = "url", value_name = "SERVER")]
    server: Vec<String>,
}

pub(super) fn run_proxy(arguments: &McpArgs, _: ColorChoice) -> Result<Exit, CommandError> {
    let rules = guard_rules(&arguments.rules, &arguments.guard)?;
    let folder = state_folder(arguments.state.as_deref())?;
    let names = rule_names(&arguments.rules);
    let (mode, resident) = (arguments.guard.mode, Some(Arc::new(ResidentSessions::new(&rules))));
    let guard = SessionGuard { rules: &rules, rule_names: &names, mode, folder: &folder, resident, seeds: false };
    let tools = tool_check(&rules);
    if arguments.url.url.is_some() {
        return run_http_proxy(&arguments.url, &arguments.listening, guard, tools);
    }
    if arguments.listening.listen.is_some() {
        let help = "name the address of the server with `--url URL`, or leave `--listen` out";
        return Err(CommandError::usage("`--listen` is for a server behind an address", help));
    }
    let id = format!("{}-{}", now(), std::process::id());
    let key = SessionKey { agent: "mcp", id: &id, rules: &names };
    let log = guard.open_log(key, false).map_err(|error| {
        let what = format!("no session can be kept in `{}`: {}", folder.display(), io_error_text(&error));
        CommandError::usage(what, "name a folder with `--state DIR`")
    })?;
    let mut server = start_server(&arguments.server)?;
    let connection = Mutex::new(McpGuard::new(guard, log).checking_tools(tools));
    Ok(pump_messages(&mut server, &connection)?)
}

fn start_server(words: &[String]) -> Result<Child, CommandError> {
    let (program, rest) = words.split_first().ok_or_else(|| CommandError::usage("no server is named", ""))?;
    let started = Command::new(program).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    started.map_err(|error| {
        CommandError::usage(format!("the server `{program}` does not start: {}", io_error_text(&error)), "")
    })
}

/// Maximum time for a silent server to end after its client has gone.
const SILENCE: Duration = Duration::from_secs(10);

/// Events on a connection that decide when it ends.
enum PumpEvent {
    Heard,
    ClientGone,
    ServerEnded,
}

/// Passes messages both ways until the server ends. The server should end after its client does; if it hangs, it is killed.
fn pump_messages(server: &mut Child, connection: &Mutex<McpGuard<'_>>) -> io::Result<Exit> {
    let (Some(to_server), Some(from_server)) = (server.stdin.take(), server.stdout.take()) else {
        return Ok(Exit::Failed);
    };
    let said = Mutex::new(());
    let (tell, events) = mpsc::channel();
    thread::scope(|scope| {
        let (of_server, said) = (tell.clone(), &said);
        scope.spawn(move || {
            let _ = each_line(BufReader::new(from_server), |line, whole| {
                let _ = of_server.send(PumpEvent::Heard);
                if whole {
                    match lock(connection).take_answer(line) {
                        Ok(told) => told.iter().for_each(|text| eprint_redacted(&format!("{text}\n"))),
                        Err(error) => {
                            let error = io_error_text(&error);
                            eprint_redacted(&format!("aver guard: a result is not recorded: {error}\n"));
                        }
                    }
                }
                let _turn = lock(said);
                write_out(line)
            });
            let _ = of_server.send(PumpEvent::ServerEnded);
        });
        scope.spawn(move || {
            pass_requests(to_server, connection, said);
            let _ = tell.send(PumpEvent::ClientGone);
        });
        if !ends_by_itself(&events) {
            eprint_redacted("aver guard: the server hangs, and its client has gone: it is stopped\n");
            server.kill()?;
        }
        let ended = server.wait()?;
        let last = lock(connection).finish();
        match last {
            Ok(Decision::Warn(text)) | Err(text) => eprint_redacted(&format!("{text}\n")),
            Ok(_) => {}
        }
        // Exits directly, because the thread that reads the client could block forever.
        std::process::exit(i32::from(!ended.success()))
    })
}

/// Waits for the server to end; false if it hangs.
fn ends_by_itself(events: &Receiver<PumpEvent>) -> bool {
    let mut wait = None;
    loop {
        let event = match wait {
            Some(silence) => events.recv_timeout(silence),
            None => events.recv().map_err(RecvTimeoutError::from),
        };
        match event {
            Ok(PumpEvent::Heard) => {}
            Ok(PumpEvent::ClientGone) => wait = Some(SILENCE),
            Ok(PumpEvent::ServerEnded) | Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// Passes messages from the client to the server. The server's input closes when this function returns.
fn pass_requests(mut to_server: ChildStdin, connection: &Mutex<McpGuard<'_>>, said: &Mutex<()>) {
    let passed = each_line(BufReader::new(io::stdin()), |line, whole| {
        if !whole {
            return Err(io::Error::other("a message of the client is longer than 64 MiB"));
        }
        let step = lock(connection).take_request(line);
        if let McpStep::Tell(text) = &step {
            eprint_redacted(&format!("{text}\n"));
        }
        match step {
            McpStep::Pass | McpStep::Tell(_) => to_server.write_all(line).and_then(|()| to_server.flush()),
            McpStep::Answer(text) => {
                let _turn = lock(said);
                write_out(text.as_bytes())
            }
        }
    });
    if let Err(error) = passed {
        eprint_redacted(&format!("aver guard: {}\n", io_error_text(&error)));
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_out(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line).and_then(|()| out.flush())
}

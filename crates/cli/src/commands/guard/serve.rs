//! `aver guard serve RULES --socket PATH`: a resident guard for programs that make calls themselves.

use super::super::console::{ColorChoice, eprint_redacted};
use super::super::exit::{CommandError, Exit};
use super::super::io_error_text;
use super::{GuardRules, each_line, guard_rules, rule_names, state_folder};
use averment_guard::hook::Guard;
use std::io::{self, BufReader};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Arguments of `guard serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver guard serve rules.assert --socket guard.sock
  echo '{\"session\": \"s\", \"propose\": {\"tool\": \"refund\", \"args\": {}}}' | nc -NU guard.sock
  aver guard serve rules.assert < requests.jsonl

A line of JSON asks, a line of JSON answers. Without --socket requests come on standard input.")]
pub struct ServeArgs {
    /// A rule file, or a folder of them
    #[arg(required = true, value_name = "RULES")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    guard: GuardRules,
    /// Where the logs of sessions are kept [default: averment/guard below $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// A local socket that is made here, for the user alone
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

/// Connections at one time.
const MAX_CONNECTIONS: usize = 64;

pub(super) fn run_serve(arguments: &ServeArgs, _: ColorChoice) -> Result<Exit, CommandError> {
    let rules = guard_rules(&arguments.rules, &arguments.guard)?;
    let folder = state_folder(arguments.state.as_deref())?;
    let names = rule_names(&arguments.rules);
    let guard = Guard { rules: &rules, rule_names: &names, mode: arguments.guard.mode, folder: &folder };
    match &arguments.socket {
        None => answer_lines(&guard, io::stdin(), io::stdout())?,
        Some(path) => accept_all(&guard, &open_socket(path)?)?,
    }
    Ok(Exit::Holds)
}

/// A socket that was left behind is replaced; anything else in its place is not.
fn open_socket(path: &Path) -> Result<UnixListener, CommandError> {
    let unusable = |error: &io::Error| {
        CommandError::usage(format!("no socket can be made at `{}`: {}", path.display(), io_error_text(error)), "")
    };
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() {
        std::fs::remove_file(path).map_err(|error| unusable(&error))?;
    }
    let listener = UnixListener::bind(path).map_err(|error| unusable(&error))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(|error| unusable(&error))?;
    Ok(listener)
}

fn accept_all(guard: &Guard<'_>, listener: &UnixListener) -> io::Result<()> {
    let open = AtomicUsize::new(0);
    thread::scope(|scope| {
        for connection in listener.incoming() {
            let Ok(connection) = connection else { continue };
            if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                eprint_redacted("aver guard: more than 64 connections at one time: one is refused\n");
                continue;
            }
            let open = &open;
            scope.spawn(move || {
                // A connection that breaks off concerns nobody else.
                let _ = connection.try_clone().and_then(|reading| answer_lines(guard, reading, connection));
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    Ok(())
}

fn answer_lines(guard: &Guard<'_>, from: impl io::Read, mut to: impl io::Write) -> io::Result<()> {
    each_line(BufReader::new(from), |line, whole| {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        if !whole {
            return Err(io::Error::other("a request is longer than 64 MiB"));
        }
        to.write_all(guard.answer_request(line).as_bytes())?;
        to.flush()
    })
}

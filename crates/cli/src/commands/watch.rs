//! `--watch`: repeats a command whenever a file that it uses changes.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::{report_stop, signals};
use averment_base::words::count_noun;
use averment_traces::read::is_named_like_a_trace;
use notify::{RecursiveMode, Watcher as _};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Polling interval for interruptions.
const GLANCE: Duration = Duration::from_millis(50);
/// Quiet time before changes are examined, because editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(100);
/// Maximum number of files in a folder that are watched.
const FILES: usize = 20_000;

/// The files and folders that a command uses.
#[derive(Debug, Default, Clone)]
pub struct UsedPaths {
    /// Rule files, their imports, schemas, catalogues and runs, and folders in which every file counts.
    paths: BTreeSet<PathBuf>,
}

/// A command that is run repeatedly.
pub struct WatchedCommand<'a> {
    /// The command as the user types it, such as `aver test`.
    pub name: &'static str,
    /// Paths from the command line, which are watched even while the rules do not compile.
    pub named: UsedPaths,
    /// Runs the command once, and adds the files that it read.
    pub once: &'a dyn Fn(&mut UsedPaths) -> Result<Exit, CommandError>,
}

/// Runs a command repeatedly, until Ctrl-C.
pub fn watch_command(command: &WatchedCommand<'_>, color: ColorChoice) -> Result<Exit, CommandError> {
    if command.named.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(CommandError::usage("standard input cannot be watched", "name a file"));
    }
    let stop = signals::interruption_flag()?;
    let (tell, told) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Sending fails only when the command is ending.
        let _ = tell.send(event.is_ok_and(|event| !event.kind.is_access()));
    })
    .map_err(|error| watch_error(&error, command.name))?;
    let mut roots = BTreeSet::new();
    let mut last = UsedPaths::default();
    loop {
        if OutputStream::Out.is_terminal() {
            let mut out = std::io::stdout();
            out.write_all(b"\x1b[2J\x1b[3J\x1b[H")?;
            out.flush()?;
        }
        let mut used = command.named.clone();
        match (command.once)(&mut used) {
            Err(CommandError::Output(error)) => return Err(CommandError::Output(error)),
            Err(stop) => {
                let _ = report_stop(stop, color);
                // Rules that do not compile report no files, so the files of the last round are kept.
                used.paths.extend(last.paths);
            }
            Ok(_) => {}
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(Exit::Interrupted);
        }
        last = used.clone();
        // Folders can appear without any other change, so they are searched before each comparison.
        let mut listen = || {
            for root in used.watch_roots() {
                if roots.insert(root.clone()) {
                    // A folder may have been removed in the meantime, so errors are ignored.
                    let _ = watcher.watch(&root, RecursiveMode::NonRecursive);
                }
            }
        };
        listen();
        let before = used.file_state();
        eprint_redacted(&format!("watching {}; Ctrl-C ends\n", count_noun(before.len(), "file")));
        let differs = || {
            listen();
            used.file_state() != before
        };
        if !wait_for_change(&told, &stop, differs) {
            return Ok(Exit::Interrupted);
        }
    }
}

fn watch_error(error: &notify::Error, command: &str) -> CommandError {
    let help = format!("run `{command}` without `--watch`");
    CommandError::usage(format!("the system does not tell about changes: {error}"), help)
}

/// Waits for a change. Returns true after a change and false after Ctrl-C.
fn wait_for_change(told: &Receiver<bool>, stop: &AtomicBool, mut differs: impl FnMut() -> bool) -> bool {
    let mut since: Option<Instant> = None;
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        match told.recv_timeout(GLANCE) {
            Ok(true) => since = Some(Instant::now()),
            Ok(false) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        if since.is_some_and(|since| since.elapsed() >= QUIET) {
            since = None;
            // A file that was written with the same content has not changed.
            if differs() {
                return true;
            }
        }
    }
}

impl UsedPaths {
    /// Adds a file or a folder, which need not exist yet.
    pub fn add_path(&mut self, path: &Path) {
        self.paths.insert(path.to_path_buf());
    }

    fn used_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().filter(|path| !path.is_dir())
    }

    fn used_folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().filter(|path| path.is_dir())
    }

    /// Returns the folders to watch: those of the files, and the named folders with all their subfolders.
    fn watch_roots(&self) -> BTreeSet<PathBuf> {
        let parent = |file: &PathBuf| match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let mut roots: BTreeSet<PathBuf> = self.paths.iter().map(parent).collect();
        for folder in self.used_folders() {
            walk_folder(folder, &mut |path, is_folder| {
                if is_folder {
                    roots.insert(path.to_path_buf());
                }
            });
        }
        roots
    }

    /// Returns a checksum of every file.
    fn file_state(&self) -> BTreeMap<PathBuf, Option<u32>> {
        let mut state = BTreeMap::new();
        let mut note = |path: &Path| {
            // Pipes are skipped, since opening one would wait for its writer.
            if path.is_file()
                && let Ok(bytes) = std::fs::read(path)
            {
                state.insert(path.to_path_buf(), Some(crc32fast::hash(&bytes)));
            }
        };
        self.used_files().for_each(|file| note(file));
        for folder in self.used_folders() {
            walk_folder(folder, &mut |path, is_folder| {
                if !is_folder {
                    note(path);
                }
            });
        }
        state
    }
}

/// Calls `look` with a folder, its subfolders, and the rules and traces in them. Skips hidden entries and links to folders.
fn walk_folder(folder: &Path, look: &mut dyn FnMut(&Path, bool)) {
    let mut open = vec![folder.to_path_buf()];
    let mut count = 0;
    while let Some(folder) = open.pop() {
        look(&folder, true);
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            count += 1;
            if hidden || count > FILES {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
            } else if is_rule_or_trace(&path) {
                look(&path, false);
            }
        }
    }
}

fn is_rule_or_trace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".assert") || is_named_like_a_trace(&name)
}

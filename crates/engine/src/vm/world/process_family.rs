//! Ending a command with everything that it has started, also what has left its process group.
//!
//! The group is the first net. A process that starts a session of its own leaves it; on Linux such processes are found by a mark in the
//! environment that they were started with, and by their parents. What has neither, because it forked twice and wiped its environment, becomes a
//! child of a program that takes in orphans ([`adopt_orphans`]), and goes with the last command that runs.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the feature `world` is what looks at files, commands and variables"
)]

use super::orphans;
#[cfg(target_os = "linux")]
use super::process_list::{ProcessStat, all_processes};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

const MARK: &str = "AVERMENT_COMMAND";

/// A command's mark, unique per command and process.
#[derive(Debug)]
pub(super) struct ProcessFamily {
    mark: String,
}

/// Running commands with their process ids, and whether no more may start.
static RUNNING: Mutex<(Vec<(String, u32)>, bool)> = Mutex::new((Vec::new(), false));

/// Ends all commands that run, and lets no other start: for a program that is about to leave. What multiplies faster than it is ended may live
/// on after some seconds.
pub fn end_all() {
    let running = {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.1 = true;
        running.0.clone()
    };
    running.iter().for_each(|(mark, process)| kill_marked(mark, *process));
    let _tried_for_long = orphans::end();
}

/// Takes in what commands leave behind, so that it can be ended: for a program that starts no other processes than those of rules.
pub fn adopt_orphans() {
    orphans::adopt();
}

impl ProcessFamily {
    pub(super) fn mark_command(command: &mut Command) -> Self {
        use std::os::unix::process::CommandExt;
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &mark).process_group(0);
        Self { mark }
    }

    pub(super) fn start_command(&self, command: &mut Command) -> std::io::Result<Child> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if running.1 {
            return Err(std::io::Error::other("the program is ending"));
        }
        let child = command.spawn()?;
        running.0.push((self.mark.clone(), child.id()));
        Ok(child)
    }

    pub(super) fn ask_to_end(&self, child: &Child) {
        signal_group(child.id(), Signal::TERM);
    }

    /// Must run before the command is waited for: afterwards its process id may be reused.
    pub(super) fn kill_all(&self, child: &Child) {
        kill_marked(&self.mark, child.id());
    }

    /// After the wait: ends orphans unless other commands run; returns those still alive. None starts meanwhile.
    pub(super) fn after_wait(&self) -> Vec<String> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.0.retain(|(mark, _)| *mark != self.mark);
        if running.0.is_empty() { orphans::end() } else { Vec::new() }
    }
}

/// A group that no longer exists is no error.
fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _gone_already = kill_process_group(group, signal);
    }
}

fn kill_marked(mark: &str, process: u32) {
    signal_group(process, Signal::KILL);
    for _ in 0..ROUNDS {
        let left = members(mark, process);
        if left.is_empty() {
            return;
        }
        // What stands still starts nothing while the others are killed.
        for how in [Signal::STOP, Signal::KILL] {
            for pid in left.iter().filter_map(|pid| Pid::from_raw(*pid)) {
                let _gone_already = kill_process(pid, how);
            }
        }
    }
}

/// Rounds of searching for survivors.
const ROUNDS: usize = 20;

/// The processes that carry a mark or descend from the command.
#[cfg(target_os = "linux")]
fn members(mark: &str, command: u32) -> Vec<i32> {
    let mark = format!("{MARK}={mark}");
    let processes: Vec<ProcessStat> = all_processes().filter(|one| !one.dead).collect();
    let mut members: Vec<i32> = processes.iter().filter(|one| one.has_mark(&mark)).map(|one| one.pid).collect();
    members.extend(i32::try_from(command).ok());
    // Children stand behind their parents almost always; a second pass finds the others.
    for _ in 0..2 {
        for process in &processes {
            if members.contains(&process.parent) && !members.contains(&process.pid) {
                members.push(process.pid);
            }
        }
    }
    members.retain(|pid| processes.iter().any(|one| one.pid == *pid));
    members
}

#[cfg(not(target_os = "linux"))]
fn members(_: &str, _: u32) -> Vec<i32> {
    Vec::new()
}

//! What commands leave behind when their own parents have ended: on Linux it can be made to come to this process.
#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the feature `world` is what looks at files, commands and variables"
    )
)]

#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::sync::{Mutex, PoisonError};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

/// Children that existed before this process adopted orphans: not its commands.
#[cfg(target_os = "linux")]
static OWN: Mutex<Option<BTreeSet<i32>>> = Mutex::new(None);

/// Time limit for ending survivors: a process may start another one at any time.
#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_secs(3);

/// Makes this process the parent of orphans.
#[cfg(target_os = "linux")]
pub(super) fn adopt() {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if own.is_none() && set_child_subreaper(Some(rustix::process::getpid())).is_ok() {
        *own = Some(child_pids(own_pid()).into_iter().collect());
    }
}

/// Ends all orphans with what they have started, and says which would not end. The commands themselves must have been waited for, or be about
/// to end with the process.
///
/// An orphan is a child of this process until it is waited for, which happens here alone, and what it has started comes to this process no
/// later than it ends. So there is nothing left when there is no child, however fast one process hands over to the next.
#[cfg(target_os = "linux")]
pub(super) fn end() -> Vec<String> {
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = &*own else { return Vec::new() };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = freeze_descendants(own);
        if left.is_empty() {
            return Vec::new();
        }
        for pid in left.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _gone_already = kill_process(pid, Signal::KILL);
            let _not_a_child = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        if Instant::now() >= deadline {
            return left.into_iter().filter_map(living_name).collect();
        }
    }
}

/// Stops each descendant when found, so that none starts another one before it is killed.
#[cfg(target_os = "linux")]
fn freeze_descendants(without: &BTreeSet<i32>) -> Vec<i32> {
    let mut found: Vec<i32> = Vec::new();
    let (mut parent, mut at) = (own_pid(), 0);
    loop {
        for child in child_pids(parent) {
            if !without.contains(&child) && !found.contains(&child) {
                if let Some(pid) = Pid::from_raw(child) {
                    let _gone_already = kill_process(pid, Signal::STOP);
                }
                found.push(child);
            }
        }
        let Some(&next) = found.get(at) else { return found };
        (parent, at) = (next, at.saturating_add(1));
    }
}

#[cfg(target_os = "linux")]
fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Includes zombies.
#[cfg(target_os = "linux")]
fn child_pids(parent: i32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let listed: Option<Vec<String>> =
        threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).ok()).collect();
    match listed {
        Some(listed) if !listed.is_empty() => {
            listed.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
        }
        // Where the system lists none, or a thread has ended meanwhile.
        _ => super::process_list::all_processes().filter(|one| one.parent == parent).map(|one| one.pid).collect(),
    }
}

/// The process's own name; `None` if it is dead.
#[cfg(target_os = "linux")]
fn living_name(pid: i32) -> Option<String> {
    super::process_list::ProcessStat::read_stat(pid).filter(|one| !one.dead)?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("{pid} ({})", name.trim_end()))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn adopt() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn end() -> Vec<String> {
    Vec::new()
}

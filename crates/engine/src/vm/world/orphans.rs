//! What commands leave behind when their own parents have ended: on Linux it can be made to come to this process.

#[cfg(target_os = "linux")]
use super::family::processes;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, wait};
#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::sync::{Mutex, PoisonError};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

/// The children that this process had when it began to take in orphans: they are none of its commands.
#[cfg(target_os = "linux")]
static OWN: Mutex<Option<BTreeSet<i32>>> = Mutex::new(None);

/// How long is looked for what is still there: a process may start another at any time, and be gone when it is looked for.
#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_secs(2);

/// From now on orphans come to this process.
#[cfg(target_os = "linux")]
pub(super) fn adopt() {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if own.is_none() && set_child_subreaper(Some(rustix::process::getpid())).is_ok() {
        *own = Some(descendants(&BTreeSet::new()).into_iter().collect());
    }
}

/// Ends all orphans with what they have started; whether none is left. The commands themselves must have been waited for, or be about to end
/// with the process.
#[cfg(target_os = "linux")]
pub(super) fn end() -> bool {
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = &*own else { return true };
    let start = Instant::now();
    let mut seen_none = 0;
    // A list of processes may miss one that has just been started by one that has just ended: whether there are children the system knows.
    while has_children() {
        let left = descendants(own);
        seen_none = if left.is_empty() { seen_none + 1 } else { 0 };
        if !own.is_empty() && seen_none > LOOKS {
            break;
        }
        if start.elapsed() > PATIENCE {
            return false;
        }
        for pid in left.into_iter().filter_map(Pid::from_raw) {
            let _gone_already = kill_process(pid, Signal::KILL);
        }
    }
    true
}

/// How many lists without a process are believed where children of others are there.
#[cfg(target_os = "linux")]
const LOOKS: u32 = 20;

/// Whether this process has children that live; those that have ended are taken note of.
#[cfg(target_os = "linux")]
fn has_children() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// The living processes that descend from this one, but for some and what descends from these.
#[cfg(target_os = "linux")]
fn descendants(without: &BTreeSet<i32>) -> Vec<i32> {
    let all: Vec<_> = processes().filter(|one| !without.contains(&one.pid)).collect();
    let mut found = vec![rustix::process::getpid().as_raw_nonzero().get()];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        let children = all.iter().filter(|one| one.parent == parent).map(|one| one.pid);
        found.extend(children.filter(|pid| *pid != parent));
        at = at.saturating_add(1);
    }
    found.split_off(1)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn adopt() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn end() -> bool {
    true
}

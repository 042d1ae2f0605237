//! What commands leave behind when their own parents have ended: on Linux it can be made to come to this process.

#[cfg(target_os = "linux")]
use super::family::processes;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::sync::{Mutex, PoisonError};

/// The children that this process had when it began to take in orphans: they are none of its commands.
#[cfg(target_os = "linux")]
static OWN: Mutex<Option<BTreeSet<i32>>> = Mutex::new(None);

/// How often is looked for what is still there: a process may start another at any time.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 200;

/// From now on orphans come to this process.
#[cfg(target_os = "linux")]
pub(super) fn adopt() {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if own.is_none() && set_child_subreaper(Some(rustix::process::getpid())).is_ok() {
        *own = Some(descendants(&BTreeSet::new()).into_iter().collect());
    }
}

/// Ends all orphans with what they have started. The commands themselves must have been waited for, or be about to end with the process.
#[cfg(target_os = "linux")]
pub(super) fn end() {
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = &*own else { return };
    for _ in 0..ROUNDS {
        let left = descendants(own);
        if left.is_empty() {
            return;
        }
        for pid in left.into_iter().filter_map(Pid::from_raw) {
            let _gone_already = kill_process(pid, Signal::KILL);
            let _not_a_child = waitpid(Some(pid), WaitOptions::NOHANG);
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
pub(super) fn end() {}

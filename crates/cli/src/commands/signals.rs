//! What ends the command from outside: Ctrl-C, a terminal that is closed, a service that is stopped. What rules have started ends with it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Shell exit code base for a process that a signal ended.
#[cfg(unix)]
const ENDED: i32 = 128;

/// Where rules may run commands, what these leave behind comes to this process and is ended: it starts no other processes.
pub fn may_run(run: bool) {
    if run {
        averment_engine::vm::world::adopt_orphans();
    }
}

/// True while the process and all commands are being ended.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The process is about to be ended by a thread that says why.
pub fn mark_ending() {
    ENDING.store(true, Ordering::Relaxed);
}

/// Waits for the end where the process is ended just now: what fails then fails for that, and nothing is to be said of it.
pub fn give_way() {
    while ENDING.load(Ordering::Relaxed) {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

/// A flag that a signal sets; a second one ends the process at once. Commands of rules end with the first.
pub fn interruption_flag() -> io::Result<Arc<AtomicBool>> {
    // One for the process: a command that works again and again (`--watch`) would add threads with each round.
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    watch_signals(&[SIGINT, SIGTERM, SIGHUP, SIGQUIT], Some(Arc::clone(&flag)))?;
    #[cfg(not(unix))]
    {
        signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGINT, 130, Arc::clone(&flag))?;
        signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&flag))?;
    }
    Ok(Arc::clone(FLAG.get_or_init(|| flag)))
}

/// A signal ends the process, and commands of rules first. Ctrl-C is none of them where a session takes it (`dialog`).
pub fn end_with_commands(dialog: bool) -> io::Result<()> {
    #[cfg(unix)]
    watch_signals(if dialog { &[SIGTERM, SIGHUP, SIGQUIT] } else { &[SIGINT, SIGTERM, SIGHUP, SIGQUIT] }, None)?;
    #[cfg(not(unix))]
    let _ = dialog;
    Ok(())
}

/// A file that may not grow (`ulimit -f`) is a disk that is full: an error that names the file, no death by a signal. Programs that rules start
/// are told as usual.
pub fn outgrow_no_file() -> io::Result<()> {
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    Ok(())
}

/// The libraries of the system abort where they have no memory for themselves, at the start of a thread for one. They say so, and the process
/// ends as after any other breakdown.
pub fn end_after_abort() -> io::Result<()> {
    #[cfg(unix)]
    {
        let code = super::exit::after_breakdown().into();
        let always = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, code, always)?;
    }
    Ok(())
}

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// In bytes; the waiting thread does little.
#[cfg(unix)]
const STACK: usize = 256 << 10;

/// Waits for signals in a thread. SIGHUP stays ignored if it was at the start (`nohup`).
#[cfg(unix)]
fn watch_signals(signals: &[i32], flag: Option<Arc<AtomicBool>>) -> io::Result<()> {
    let ignored = ignored_signals();
    let watched = signals.iter().filter(|&&signal| signal != SIGHUP || !is_in(ignored, signal));
    let mut watched = signal_hook::iterator::Signals::new(watched)?;
    std::thread::Builder::new().stack_size(STACK).spawn(move || {
        for signal in watched.forever() {
            let first = flag.as_ref().is_some_and(|flag| !flag.swap(true, Ordering::Relaxed));
            if !first {
                mark_ending();
            }
            averment_engine::vm::world::end_all();
            if !first {
                std::process::exit(if flag.is_some() { ENDED + SIGINT } else { ENDED + signal });
            }
        }
    })?;
    Ok(())
}

#[cfg(unix)]
fn is_in(mask: u64, signal: i32) -> bool {
    let place = u32::try_from(signal).ok().and_then(|signal| signal.checked_sub(1));
    place.and_then(|place| mask.checked_shr(place)).is_some_and(|rest| rest & 1 == 1)
}

#[cfg(target_os = "linux")]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn ignored_signals() -> u64 {
    0
}

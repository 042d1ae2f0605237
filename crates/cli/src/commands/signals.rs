//! What ends the command from outside: Ctrl-C, a terminal that is closed, a service that is stopped. What rules have started ends with it.

use signal_hook::consts::SIGINT;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The signals that end the command.
#[cfg(unix)]
const ENDING_SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
#[cfg(not(unix))]
const ENDING_SIGNALS: [i32; 1] = [SIGINT];

/// Shell exit code base for a process that a signal ended.
const ENDED: i32 = 128;

/// True where commands may be running that have to be ended with the process.
static MAY_RUN: AtomicBool = AtomicBool::new(false);

/// Where rules may run commands, what these leave behind comes to this process and is ended: it starts no other processes.
pub fn may_run(run: bool) {
    if run {
        MAY_RUN.store(true, Ordering::Relaxed);
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
    if cfg!(unix) && MAY_RUN.load(Ordering::Relaxed) {
        #[cfg(unix)]
        watch_signals(&ENDING_SIGNALS, Some(Arc::clone(&flag)))?;
    } else {
        // No command has to be ended, so that no thread need wait for the signal: starting one costs a small check time.
        for signal in not_ignored(&ENDING_SIGNALS) {
            signal_hook::flag::register_conditional_shutdown(signal, ENDED + SIGINT, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
    }
    Ok(Arc::clone(FLAG.get_or_init(|| flag)))
}

/// A signal ends the process, and commands of rules first. Ctrl-C is none of them where a session takes it (`dialog`).
pub fn end_with_commands(dialog: bool) -> io::Result<()> {
    #[cfg(unix)]
    watch_signals(if dialog { &[SIGTERM, SIGHUP, SIGQUIT] } else { &ENDING_SIGNALS }, None)?;
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

/// In bytes; the waiting thread does little.
#[cfg(unix)]
const STACK: usize = 256 << 10;

/// SIGHUP stays ignored if it was at the start (`nohup`).
#[cfg(unix)]
fn not_ignored(signals: &[i32]) -> impl Iterator<Item = i32> {
    let ignored = ignored_signals();
    signals.iter().copied().filter(move |signal| *signal != SIGHUP || !is_in(ignored, *signal))
}

#[cfg(not(unix))]
fn not_ignored(signals: &[i32]) -> impl Iterator<Item = i32> {
    signals.iter().copied()
}

/// Waits for signals in a thread.
#[cfg(unix)]
fn watch_signals(signals: &[i32], flag: Option<Arc<AtomicBool>>) -> io::Result<()> {
    let mut watched = signal_hook::iterator::Signals::new(not_ignored(signals))?;
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

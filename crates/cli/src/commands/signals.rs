//! Signals that end the command: Ctrl-C, a closed terminal, a stopped service. They also end all commands that rules started.

use signal_hook::consts::SIGINT;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

#[cfg(unix)]
const ENDING_SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
#[cfg(not(unix))]
const ENDING_SIGNALS: [i32; 1] = [SIGINT];

/// Shell exit codes of processes that a signal ended start at this number.
const ENDED: i32 = 128;

/// True if rules may have started commands, which must end with the process.
static MAY_RUN: AtomicBool = AtomicBool::new(false);

/// Notes that rules may start commands. Orphaned processes of such commands are adopted, so that they can be ended: this process starts no others.
pub fn may_run(run: bool) {
    if run {
        MAY_RUN.store(true, Ordering::Relaxed);
        averment_engine::vm::world::adopt_orphans();
    }
}

/// True while the process and all its commands are being ended.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Marks that a thread is about to end the process with a message.
pub fn mark_ending() {
    ENDING.store(true, Ordering::Relaxed);
}

/// Blocks while the process is being ended, because errors at that time are only consequences and must not be reported.
pub fn wait_for_process_end() {
    while ENDING.load(Ordering::Relaxed) {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

/// Returns a flag that a signal sets. The first signal also ends the commands of rules; a second one ends the process at once.
pub fn interruption_flag() -> io::Result<Arc<AtomicBool>> {
    // One flag for the process, because `--watch` would otherwise add a thread in each round.
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    if cfg!(unix) && MAY_RUN.load(Ordering::Relaxed) {
        #[cfg(unix)]
        watch_signals(&ENDING_SIGNALS, Some(Arc::clone(&flag)))?;
    } else {
        // Rules start no commands, so no thread is needed. Starting one would take noticeable time in a small check.
        for signal in not_ignored(&ENDING_SIGNALS) {
            signal_hook::flag::register_conditional_shutdown(signal, ENDED + SIGINT, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
    }
    Ok(Arc::clone(FLAG.get_or_init(|| flag)))
}

/// Makes signals end the commands of rules and then the process. With `dialog`, the line editor handles Ctrl-C.
pub fn end_with_commands(dialog: bool) -> io::Result<()> {
    #[cfg(unix)]
    watch_signals(if dialog { &[SIGTERM, SIGHUP, SIGQUIT] } else { &ENDING_SIGNALS }, None)?;
    #[cfg(not(unix))]
    let _ = dialog;
    Ok(())
}

/// Turns exceeding the file size limit (`ulimit -f`) into a write error that names the file, instead of death by SIGXFSZ. Programs that rules start
/// keep the default.
pub fn fail_on_size_limit() -> io::Result<()> {
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    Ok(())
}

/// Handles SIGABRT. System libraries abort when they have no memory, such as to start a thread. They print a message, and the process then exits as
/// after a panic.
pub fn end_after_abort() -> io::Result<()> {
    #[cfg(unix)]
    {
        let code = super::exit::after_breakdown().into();
        let always = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, code, always)?;
    }
    Ok(())
}

/// Stack size of the waiting thread, in bytes. It does little.
#[cfg(unix)]
const STACK: usize = 256 << 10;

/// Removes SIGHUP if it was ignored at the start (`nohup`), so that it stays ignored.
#[cfg(unix)]
fn not_ignored(signals: &[i32]) -> impl Iterator<Item = i32> {
    let ignored = ignored_signals();
    signals.iter().copied().filter(move |signal| *signal != SIGHUP || !is_in(ignored, *signal))
}

#[cfg(not(unix))]
fn not_ignored(signals: &[i32]) -> impl Iterator<Item = i32> {
    signals.iter().copied()
}

/// Waits for signals in a separate thread.
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

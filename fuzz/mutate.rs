//! Tries mutated inputs without instruments, on any toolchain: `mutate KIND COUNT [SEED [FIRST]]`.
//!
//! What breaks it is kept in the folder `AVERMENT_MUTATED_KEPT` (here: `target/mutated`), and the next input follows. An input is made of the seed
//! and its number: `mutate KIND 1 SEED NUMBER` tries it again. The last line counts.

use averment_fuzz::kinds::{KINDS, kind};
use averment_fuzz::mutate::Dice;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of the input at hand, for whoever watches.
static CURRENT: AtomicU64 = AtomicU64::new(0);

/// Seconds of processor time that an input of 10 KB may take.
const MOST_SECONDS: f64 = 2.0;
/// After so many seconds on the clock an input counts as a hang, and the process ends.
const HANG: Duration = Duration::from_secs(120);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default: u64| words.get(place).map_or(default, |word| word.parse().expect("a number"));
    let Some(kind) = words.first().and_then(|name| kind(name)) else {
        let names: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        eprintln!("mutate KIND COUNT [SEED [FIRST]], where KIND is one of {}", names.join(", "));
        std::process::exit(2);
    };
    let (count, seed, first) = (number(1, 1000), number(2, 1), number(3, 0));
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let seeds = (kind.seeds)(&project);
    let kept =
        std::env::var_os("AVERMENT_MUTATED_KEPT").map_or_else(|| project.join("fuzz/target/mutated"), PathBuf::from);
    std::fs::create_dir_all(&kept).expect("a folder for what breaks it");
    std::thread::spawn(watch);
    let (mut broken, mut slow, mut slowest, mut largest) = (0_u64, 0_u64, (0.0_f64, 0_u64), 0);
    let began = Instant::now();
    for number in first..first + count {
        CURRENT.store(number, Ordering::Relaxed);
        let input = Dice::of_input(seed, number).mutated(&seeds);
        let before = processor_seconds();
        let keep = |why: &str| {
            std::fs::write(kept.join(format!("{}-{seed}-{number}-{why}", kind.name)), &input).expect("a file")
        };
        if catch_unwind(|| (kind.run)(&input)).is_err() {
            broken += 1;
            keep("broken");
        }
        let took = processor_seconds() - before;
        if took > slowest.0 {
            slowest = (took, number);
        }
        if took > MOST_SECONDS {
            slow += 1;
            keep("slow");
        }
        largest = largest.max(input.len());
        if (number + 1) % 10_000 == 0 {
            eprintln!("{} {}: {broken} broken, {slow} slow", kind.name, number + 1);
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{}: {count} inputs of {} texts, seed {seed} from {first}: {broken} broken, {slow} over {MOST_SECONDS} s; {:.0} per second, largest {largest} bytes, slowest {:.2} s (number {}), at most {} MiB",
        kind.name,
        seeds.len(),
        count as f64 / seconds,
        slowest.0,
        slowest.1,
        peak_memory() >> 10
    );
    std::process::exit(i32::from(broken + slow > 0));
}

/// Ends the process where an input does not end.
fn watch() {
    let mut last = (u64::MAX, Instant::now());
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let current = CURRENT.load(Ordering::Relaxed);
        if current != last.0 {
            last = (current, Instant::now());
        } else if last.1.elapsed() > HANG {
            eprintln!("input {current} does not end");
            std::process::exit(3);
        }
    }
}

/// Processor time of all threads so far, as Linux tells it.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The most memory in use so far, in KiB.
fn peak_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

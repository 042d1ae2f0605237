//! The memory of the command is bounded by the largest run, independent of the number of threads and runs.

#![cfg(target_os = "linux")]

use crate::folder::Folder;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

const MIB: usize = 1 << 20;

/// Starts the command, which judges the runs that are written to its standard input.
fn start(folder: &Folder, threads: &str) -> Child {
    let aver = assert_cmd::cargo::cargo_bin("aver");
    Command::new(aver)
        .current_dir(folder.path())
        .args(["check", "r.assert", "-", "--format", "jsonl", "--threads", threads])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the bytes of one kind of memory of a process, from `/proc`.
fn memory(child: &Child, kind: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(kind)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

/// Returns a run of about this size, with one call.
fn run(number: usize, bytes: usize) -> String {
    let text = "what a tool said ".repeat(bytes / 17);
    format!(
        r#"{{"id":"r{number}","tool_calls":[{{"name":"search","args":{{"q":{number}}},"result":"{text}"}}],"output":"done"}}"#
    )
}

/// Writes runs, waits until they are judged, and returns the memory that this took. The pages of the program itself are subtracted, because a test
/// build has as many as a run. The maximum is used, because the system may reclaim pages.
fn taken(threads: &str, runs: Vec<String>) -> usize {
    let folder = Folder::new(&[("r.assert", "never delete_*\ncount search <= 2\n")]);
    let mut child = start(&folder, threads);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let writer = std::thread::spawn({
        let runs = runs.clone();
        move || {
            runs.iter().for_each(|run| writeln!(stdin, "{run}").unwrap());
            stdin
        }
    });
    // The first output line is about the rules. The last run is judged after more input or its end.
    let mut own = 0;
    for number in 0..runs.len() {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(number == 0 || line.contains(r#""passed":"#), "{}", line.get(..300).unwrap_or(&line));
        own = own.max(memory(&child, "RssFile:"));
    }
    let most = memory(&child, "VmHWM:") - own;
    drop(writer.join().unwrap());
    assert!(child.wait().unwrap().code() < Some(2));
    most
}

#[test]
fn long_runs_take_less_than_three_times_the_largest_with_any_number_of_threads() {
    for threads in ["1", "2", "4"] {
        // The memory for short runs belongs to the process and its threads, so only the difference counts.
        let [short, long] = [1, 24].map(|size| taken(threads, (0..6).map(|number| run(number, size * MIB)).collect()));
        assert!(long < short + 5 * 23 * MIB / 2, "{threads} threads: {} MiB and {} MiB", short / MIB, long / MIB);
    }
}

#[test]
fn many_short_runs_take_no_more_memory_than_some() {
    let taken = taken("2", (0..60).map(|number| run(number, MIB)).collect());
    assert!(taken < 40 * MIB, "{} MiB", taken / MIB);
}

/// Returns a conversation of about this size with a deletion, whose answer has many small values.
fn conversation(bytes: usize) -> String {
    let values = vec!["{}"; bytes / 3].join(",");
    format!(
        r#"{{"messages":[{{"role":"user","content":"hi"}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"c","type":"function","function":{{"name":"delete_it","arguments":{{"a":[{values}]}}}}}}]}}]}}"#
    )
}

#[test]
fn the_values_of_large_runs_are_held_one_run_at_a_time() {
    let taken = |threads| taken(threads, vec![conversation(MIB - 300); 24]);
    let (one, four) = (taken("1"), taken("4"));
    assert!(four < one + one / 2, "{} MiB with one thread, {} MiB with four", one / MIB, four / MIB);
}

//! Memory of the command is bounded by the largest run, whatever the number of threads and of runs.

#![cfg(target_os = "linux")]

use crate::folder::Folder;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

const MIB: usize = 1 << 20;

/// The command at work: what is written to it is judged while it waits for more.
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

/// Bytes of a kind of memory, as the system tells of a process.
fn memory(child: &Child, kind: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(kind)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

/// A run of about so many bytes with one call.
fn run(number: usize, bytes: usize) -> String {
    let text = "what a tool said ".repeat(bytes / 17);
    format!(
        r#"{{"id":"r{number}","tool_calls":[{{"name":"search","args":{{"q":{number}}},"result":"{text}"}}],"output":"done"}}"#
    )
}

/// Writes runs, waits until they are judged, and says what memory that took, without the pages of the command itself: those of a build for
/// tests are as many as a run. The system may take some of them back, and so the most of them count that were seen.
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
    // The first line tells of the rules; the last run is judged when more has come or the input ends.
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
        // What short runs take is of the process and its threads, not of the runs.
        let [short, long] = [1, 24].map(|size| taken(threads, (0..6).map(|number| run(number, size * MIB)).collect()));
        assert!(long < short + 5 * 23 * MIB / 2, "{threads} threads: {} MiB and {} MiB", short / MIB, long / MIB);
    }
}

#[test]
fn many_short_runs_take_no_more_memory_than_some() {
    let taken = taken("2", (0..60).map(|number| run(number, MIB)).collect());
    assert!(taken < 40 * MIB, "{} MiB", taken / MIB);
}

/// A conversation of about so many bytes in which something is deleted, with an answer of many small values.
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

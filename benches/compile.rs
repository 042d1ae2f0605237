//! What compiling rules costs: a thousand rules of a line each, against pest's bare parse of the same text.
//!
//! `cargo bench --bench compile` prints the steps and the ratio that the project promises; `-- FILE` takes the rules of a file instead.
//! Times are those of the processor, as in the bench of statements.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement that meets something unexpected has failed"
)]

mod clock;

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_engine::compile::compile;
use averment_syntax::{self as syntax, is_file};
use clock::now;
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

/// Rounds; in each, everything is measured once, and the fastest of each counts: what the machine does beside is left out.
const ROUNDS: usize = 41;
/// The most that compiling may take, in bare parses.
const BAR: f64 = 3.0;

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let rules = match &file {
        Some(path) => std::fs::read_to_string(path).expect("a readable rule file"),
        None => rules(1_000),
    };
    let mut steps = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        for (best, time) in steps.iter_mut().zip(measured(&rules)) {
            *best = time.min(*best);
        }
    }
    let [bare, read, checked, whole] = steps;
    let ratio = |time: Duration| time.as_secs_f64() / bare.as_secs_f64();
    let row = |name: &str, time: Duration, bar: &str| {
        println!("{name:<44} {:>8.2} ms  {:>5.2} times{bar}", time.as_secs_f64() * 1e3, ratio(time));
    };
    println!("{}, {} bytes", file.as_deref().unwrap_or("1000 rules of a line each"), rules.len());
    row("bare parse by pest", bare, "");
    row("reading: words, parse, tree", read, "");
    row("reading and checking", checked, "");
    let met = if ratio(whole) <= BAR { "met" } else { "not met" };
    row("compiling: reading, checking, code", whole, &format!("   bar {BAR}: {met}"));
}

/// The times of the bare parse, of reading, of reading and checking, and of everything.
fn measured(rules: &str) -> [Duration; 4] {
    let limits = Limits::default();
    let timed = |work: &mut dyn FnMut()| {
        let start = now();
        work();
        now() - start
    };
    let source = || SourceFile::new("bench.assert", None, rules);
    let bare = timed(&mut || assert!(black_box(is_file(rules)), "the rules are well-formed"));
    let mut map = SourceMap::default();
    let root = map.add_file(source());
    let read = timed(&mut || drop(black_box(syntax::parse(&map, root, &limits))));
    let files = Memory::default();
    let mut map = SourceMap::default();
    let root = map.add_file(source());
    let start = now();
    let checked = check_rules(&mut map, root, &CheckOptions { limits, files: &files });
    let until_checked = now() - start;
    assert!(!checked.diagnostics.has_errors(), "the rules compile");
    let program = compile(&checked.module, &map);
    let whole = now() - start;
    assert!(black_box(program).assertions.len() >= 8);
    [bare, read, until_checked, whole]
}

/// Rules of ten kinds, each on one line.
fn rules(count: usize) -> String {
    const TOOLS: [&str; 7] =
        ["search_docs", "api_call", "refund", "authenticate", "delete_record", "send_email", "sql_query"];
    let tool = |number: usize| TOOLS[number * 5 % TOOLS.len()];
    let mut out = String::new();
    for number in 0..count {
        let (a, b) = (tool(number), tool(number / 3 + 1));
        // Writing to a string never fails.
        let _ = match number % 10 {
            0 => writeln!(out, "rule r{number} {{ never admin_{number}, drop_{a} }}"),
            1 => writeln!(out, "rule r{number} {{ before {a} -> {b} }}"),
            2 => writeln!(out, "rule r{number} {{ count {a} <= {} }}", number % 13),
            3 => writeln!(out, "rule r{number} {{ each {a}: args.amount is number and args.amount <= {number} }}"),
            4 => writeln!(out, "rule r{number} {{ output.text contains \"summary {number}\" }}"),
            5 => writeln!(out, "rule r{number} {{ output.url matches /^https:\\/\\/[a-z]+{number}\\.example/ }}"),
            6 => writeln!(out, "rule r{number} {{ before {a}(id: $id) -> {b}(id: $id, amount > {number}) }}"),
            7 => writeln!(out, "rule r{number} {{ duration <= {number}ms or length(calls) < {number} }}"),
            8 => writeln!(out, "rule r{number} {{ after {a} -> {b} }}"),
            _ => writeln!(out, "rule r{number} {{ output.status in [\"open\", \"closed {number}\"] }}"),
        };
    }
    out
}

//! What statements about the course of a run cost: with many rules, with long runs, and against reading the run with serde_json.
//!
//! `cargo bench --bench course` prints times and ratios of judging alone, without reading the run; `-- many`, `-- bound` or `-- reading` only
//! one of them. What a check costs, which reads the run as well, is in the table of `benches/table.py`; it has the same rules and runs from
//! `course rules COUNT TOOLS`, `course run CALLS TOOLS` and `course rules-bound`, which print them.
//! `-- tools` and `-- kinds` say more of what many rules cost: with more rules for each tool, and for each kind of statement.
//! Times are those of the processor where the system tells them, so that what else runs on the machine counts little.

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
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::prepare::PreparedProgram;
use averment_fixtures::Rules;
use averment_traces::read::read_str;
use bumpalo::Bump;
use clock::now;
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

/// The fastest of several tries: what the machine does beside is left out.
fn fastest(tries: usize, mut work: impl FnMut() -> Duration) -> Duration {
    (0..tries).map(|_| work()).min().unwrap()
}

/// The time to judge a run, without reading it and without compiling the rules.
fn judged(rules: &str, run: &str) -> Duration {
    let rules = Rules::from_text("bench.assert", rules).unwrap();
    let limits = Limits::default();
    let prepared = PreparedProgram::new(rules.program());
    let options = EvaluateOptions::default();
    fastest(9, || {
        let arena = Bump::new();
        let run = read_str(run, &arena, &limits).unwrap();
        let start = now();
        black_box(evaluate(rules.program(), &prepared, &run, &arena, &options));
        now() - start
    })
}

fn parsed(run: &str) -> Duration {
    fastest(9, || {
        let start = now();
        let value: serde_json::Value = serde_json::from_str(run).unwrap();
        let time = now() - start;
        drop(black_box(value));
        time
    })
}

/// A run of some calls over some tools, as agents leave them: arguments, a result, times, a turn.
fn run(calls: usize, tools: usize) -> String {
    let mut out = String::from("{\"id\": \"bench\", \"output\": \"done\", \"calls\": [");
    for number in 0..calls {
        let comma = if number == 0 { "" } else { "," };
        let (tool, order, start) = (number * 7 % tools, number / 4, number * 100);
        let _ = write!(
            out,
            "{comma}\n{{\"id\": \"call_{number}\", \"tool\": \"tool_{tool}\", \"args\": {{\"id\": \"order-{order}\", \"amount\": {}, \
             \"note\": \"a customer asked for this on the phone and was told that it takes a while\"}}, \"result\": {{\"status\": \"ok\", \
             \"rows\": [{number}, {order}]}}, \"status\": \"ok\", \"start\": {start}, \"end\": {}, \"turn\": {order}}}",
            number % 500,
            start + 50,
        );
    }
    out.push_str("]}");
    out
}

/// How many kinds of statement the rules have.
const KINDS: usize = 24;

/// Rules of all families over some tools.
fn rules(count: usize, tools: usize) -> String {
    (0..count).map(|number| rule(number % KINDS, number, tools)).collect()
}

/// A rule of a kind; its number says which tools it speaks of.
fn rule(kind: usize, number: usize, tools: usize) -> String {
    let tool = |shift: usize| format!("tool_{}", (number * 13 + shift) % tools);
    let (a, b, c) = (tool(0), tool(1), tool(2));
    match kind {
        0 => format!("before {a} -> {b}\n"),
        1 => format!("never {a}(id: $id) after {b}(id: $id)\n"),
        2 => format!("count {a} <= 100000\n"),
        3 => format!("each {a}: args.amount < 1000\n"),
        4 => format!("sequence {a} -> {b} -> {c}\n"),
        5 => format!("after {a} -> {b} within 5000 calls\n"),
        6 => format!("never {a}(amount > 10000)\n"),
        7 => format!("if {a}(id: $id) then {b}(id: $id)\n"),
        8 => format!("never repeat {a} more than 50 times\n"),
        9 => format!("require {a} where duration < 1s\n"),
        10 => format!("before each {a}(id: $id) -> {b}(id: $id)\n"),
        11 => format!("never {a} between {b} and {c}\n"),
        12 => format!("immediately before {a} -> {b}\n"),
        13 => format!("after each {a}(id: $id) -> {b}(id: $id)\n"),
        14 => format!("together {a}, {b}\n"),
        15 => format!("not both {a}(id: $id), {b}(id: $id)\n"),
        16 => format!("either {a} or {b} or {c}\n"),
        17 => format!("{a}(id: $id) iff {b}(id: $id)\n"),
        18 => format!("no {a}: args.amount > 1000\n"),
        19 => format!("last {a} | {b}\n"),
        20 => format!("after {a} until {b} {{ never {c}(amount > 10000) }}\n"),
        21 => format!("any of {{ never {a}; require {b} failed }}\n"),
        22 => format!("sequence only {a}(id: $id) -> {b}(id: $id)\n"),
        _ => format!("apart {a}, {b}\n"),
    }
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// Many rules against few.
fn many() {
    let long = run(5_000, 1_000);
    let (few, many) = (judged(&rules(10, 1_000), &long), judged(&rules(1_000, 1_000), &long));
    println!("5,000 calls: 10 rules {few:?}, 1,000 rules {many:?}: {:.1} times", ratio(many, few));
}

/// The same where more rules speak of a tool.
fn tools() {
    for tools in [20, 100, 1_000] {
        let long = run(5_000, tools);
        let (few, many) = (judged(&rules(10, tools), &long), judged(&rules(1_000, tools), &long));
        println!("5,000 calls of {tools} tools: 10 rules {few:?}, 1,000 rules {many:?}: {:.1} times", ratio(many, few));
    }
}

/// What one more rule of each kind costs.
fn kinds() {
    for tools in [1_000, 100] {
        let long = run(5_000, tools);
        for kind in 0..KINDS {
            let of_kind = |count: usize| (0..count).map(|number| rule(kind, number, tools)).collect::<String>();
            let (few, many) = (judged(&of_kind(10), &long), judged(&of_kind(1_000), &long));
            println!(
                "5,000 calls of {tools} tools: {:.2} µs a rule, {:.1} times: {}",
                (many.as_secs_f64() - few.as_secs_f64()) * 1e6 / 990.0,
                ratio(many, few),
                rule(kind, 0, tools).trim_end()
            );
        }
    }
}

/// Rules that bind values, or follow every step.
const BOUND: [&str; 9] = [
    "before tool_0(id: $id) -> tool_1(id: $id)",
    "before each any(id: $id) -> tool_1(id: $id)",
    "after tool_1(id: $id) -> any(id: $id)",
    "never tool_1(id: $id) after tool_0(id: $id) until tool_2(id: $id)",
    "if any(id: $id) then any(id: $id)",
    "count any(id: $id) <= 100",
    "sequence tool_0(id: $id) -> tool_1(id: $id) -> tool_2(id: $id)",
    "after tool_0(id: $id) until tool_1(id: $id) { never tool_2(id: $id) }",
    "flow (any)*",
];

/// Long runs against short ones.
fn bound() {
    let runs = (run(10_000, 4), run(100_000, 4));
    for rule in BOUND {
        let (short, long) = (judged(rule, &runs.0), judged(rule, &runs.1));
        println!("100,000 calls against 10,000: {:.1} times ({short:?}, {long:?}): {rule}", ratio(long, short));
    }
}

/// Judging a run against reading it.
fn reading() {
    let common = run(1_000, 20);
    let (judging, parsing) = (judged(&rules(50, 20), &common), parsed(&common));
    println!(
        "50 rules on 1,000 calls ({} KB): {judging:?}, serde_json reads the run in {parsing:?}: {:.2} times (promised: below 1)",
        common.len() / 1000,
        ratio(judging, parsing)
    );
}

/// What others measure with: rules or a run, on standard output.
fn print(words: &[String]) -> bool {
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
    match (words.first().map(String::as_str), number(1), number(2)) {
        (Some("rules"), Some(count), Some(tools)) => print!("{}", rules(count, tools)),
        (Some("run"), Some(calls), Some(tools)) => println!("{}", run(calls, tools)),
        (Some("rules-bound"), ..) => println!("{}", BOUND.join("\n")),
        _ => return false,
    }
    true
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if print(&wanted) {
        return;
    }
    for (name, measure) in [("many", many as fn()), ("bound", bound), ("reading", reading)] {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            measure();
        }
    }
    for (name, measure) in [("tools", tools as fn()), ("kinds", kinds)] {
        if wanted.iter().any(|word| word == name) {
            measure();
        }
    }
}

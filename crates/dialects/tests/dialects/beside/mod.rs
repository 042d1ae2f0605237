//! Generated inputs beside the real programs: same outcome, or a decision that the pages give; in no case passes here what fails there.
//!
//! `AVERMENT_BESIDE_RUNSIGHT="python runsight.py"` names a program that reads a list of inputs (JSON) and prints a list of outcomes; so do
//! `AVERMENT_BESIDE_STOP`, `AVERMENT_BESIDE_WALLFACER`, `AVERMENT_BESIDE_ASSAY`, `AVERMENT_BESIDE_DOGWOOD` and `AVERMENT_BESIDE_PROMPTFOO`. The programs of this folder ask the
//! real ones: CONTRIBUTING.md says how they are started. Without them, inputs are judged here alone. `AVERMENT_BESIDE_CASES` is how many,
//! `AVERMENT_BESIDE_FROM` the first seed.

mod assay;
mod dogwood;
mod promptfoo;
mod runsight;
mod stop;
mod wallfacer;

use crate::choices::Choices;
use serde_json::Value as Json;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// An input: what the real program is asked, and the outcome here.
struct BesideInput {
    asked: Json,
    found: Json,
}

/// What the pages decide otherwise, of an input, the outcome there and the one here.
type Decision = fn(&BesideInput, &Json) -> Option<&'static str>;

/// What a program says of inputs, if it is named.
fn outcomes_there(system: &str, inputs: &[BesideInput]) -> Option<Vec<Json>> {
    let command = std::env::var(format!("AVERMENT_BESIDE_{system}")).ok()?;
    let mut words = command.split_whitespace();
    let mut child = Command::new(words.next().unwrap())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command}: {error}"));
    let asked = Json::from(inputs.iter().map(|input| input.asked.clone()).collect::<Vec<_>>());
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(asked.to_string().as_bytes()));
    let ended = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(ended.status.success(), "{command}: {}", ended.status);
    Some(serde_json::from_slice(&ended.stdout).unwrap())
}

/// Compares generated inputs with the program of a system; a pass here of what fails there is no decision.
fn compare(system: &str, generate: fn(&mut Choices) -> BesideInput, passes: fn(&Json) -> bool, decision: Decision) {
    compare_cases(system, 60, generate, passes, decision);
}

/// The same with as many inputs as a quick test takes.
fn compare_cases(
    system: &str,
    cases: u64,
    generate: fn(&mut Choices) -> BesideInput,
    passes: fn(&Json) -> bool,
    decision: Decision,
) {
    let number = |name: &str, other: u64| std::env::var(name).map_or(other, |text| text.parse().unwrap());
    let (first, count) = (number("AVERMENT_BESIDE_FROM", 1), number("AVERMENT_BESIDE_CASES", cases));
    let inputs: Vec<BesideInput> = (first..first + count).map(|seed| generate(&mut Choices::new(seed))).collect();
    let Some(there) = outcomes_there(system, &inputs) else {
        println!("{system}: {count} inputs judged here alone: AVERMENT_BESIDE_{system} names no program");
        return;
    };
    assert_eq!(there.len(), inputs.len(), "{system}");
    let (mut agree, mut decided, mut wrong) = (0, std::collections::BTreeMap::<&str, usize>::new(), Vec::new());
    for (input, there) in inputs.iter().zip(&there) {
        let unsound = passes(&input.found) && !passes(there);
        match decision(input, there) {
            _ if input.found == *there => agree += 1,
            Some(reason) if !unsound => *decided.entry(reason).or_default() += 1,
            other => wrong.push(format!("{there} there, {} here ({other:?}): {}", input.found, input.asked)),
        }
    }
    println!("{system}: {agree} of {count} agree, differ by decision: {decided:?}, wrong: {}", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Compares generated inputs with the real programs. The outcomes have to be equal, or differ by a decision in the documentation. Nothing may pass
//! here that fails there.
//!
//! `AVERMENT_BESIDE_RUNSIGHT="python runsight.py"` names a program that reads a list of inputs (JSON) and prints a list of outcomes.
//! `AVERMENT_BESIDE_STOP`, `AVERMENT_BESIDE_WALLFACER`, `AVERMENT_BESIDE_ASSAY`, `AVERMENT_BESIDE_DOGWOOD` and `AVERMENT_BESIDE_PROMPTFOO` work in
//! the same way. The programs in this folder run the real systems; CONTRIBUTING.md says how to start them. Without these variables, inputs are judged
//! only here. `AVERMENT_BESIDE_CASES` is the number of inputs, `AVERMENT_BESIDE_FROM` the first seed.

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

/// An input for the real program, and the outcome here.
struct BesideInput {
    asked: Json,
    found: Json,
}

/// Returns the documented reason for a difference, from the input and the outcome of the real program.
type Decision = fn(&BesideInput, &Json) -> Option<&'static str>;

/// Returns the outcomes of the real program; `None` if it is not configured.
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

/// Compares generated inputs with the real program. A pass here that fails there is never accepted.
fn compare(system: &str, generate: fn(&mut Choices) -> BesideInput, passes: fn(&Json) -> bool, decision: Decision) {
    compare_cases(system, 60, generate, passes, decision);
}

/// Like `compare`, with a given number of inputs.
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

//! Runs Wallfacer: reads a list of inputs, prints a list of outcomes.

use serde_json::Value;
use wallfacer_core::property::{dsl, runner};

fn outcome(asked: &Value) -> String {
    let file = match dsl::parse(asked["pack"].as_str().unwrap_or_default()) {
        Ok(file) => file,
        Err(error) => {
            eprintln!("refused: {error}");
            return "refused".to_owned();
        }
    };
    let word = match runner::evaluate(&file.invariants[0], asked["input"].clone(), asked["response"].clone()) {
        Ok(()) => "pass",
        Err(runner::RunnerError::Assertion(_)) => "fail",
        Err(_) => "structural",
    };
    word.to_owned()
}

fn main() {
    let asked: Vec<Value> = serde_json::from_reader(std::io::stdin()).expect("a list of inputs");
    let outcomes: Vec<String> = asked.iter().map(outcome).collect();
    println!("{}", serde_json::to_string(&outcomes).expect("texts"));
}

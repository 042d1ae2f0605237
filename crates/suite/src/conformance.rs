//! Compares counts of steps and tokens with recorded results of SkillGym, where both are defined alike.

use crate::agents::AgentSpec;
use crate::snapshots::{SnapshotRules, TokenOwner, TokenSnapshots};
use crate::steps::StepCounter;
use averment_fixtures::{lines, shared};
use serde_json::{Value, json};

#[test]
fn conformance_of_steps() {
    let Some(folder) = shared("conformance/skillgym") else { return };
    let vectors = lines(&folder.join("golden_max_steps.jsonl"));
    for vector in &vectors {
        let agent = AgentSpec::find_named(vector["agent"].as_str().unwrap()).unwrap();
        let mut steps = StepCounter::counting(agent.step);
        let given = vector["lines"].as_array().unwrap().iter();
        let counted: Vec<u64> = given.map(|line| steps.read_line(line.as_str().unwrap().as_bytes())).collect();
        assert_eq!(json!(counted), vector["expected_steps_after_each_line"], "{vector}");
    }
    println!("golden_max_steps.jsonl: {} agree", vectors.len());
}

#[test]
fn conformance_of_snapshots() {
    let Some(folder) = shared("conformance/skillgym") else { return };
    let vectors = lines(&folder.join("golden_snapshots.jsonl"));
    let temporary = tempfile::tempdir().unwrap();
    for vector in &vectors {
        let number = |key: &str| vector["tolerance"][key].as_f64();
        let path = temporary.path().join("snapshots.json");
        let run = |tokens: &Value| json!({"usage": {"total_tokens": tokens}}).to_string();
        let rules = SnapshotRules::of(path, number("absolute"), number("percent"));
        let mut snapshots = TokenSnapshots::open_file(&rules, false).unwrap();
        let owner = TokenOwner { case: "c", runner: "open-main", agent: None, model: "" };
        assert!(snapshots.compare_tokens(owner, &[&run(&vector["baseline"])]).is_some());
        let found = snapshots.compare_tokens(owner, &[&run(&vector["actual"])]).unwrap();
        let passed = found["actual"].as_f64().unwrap() <= found["allowed"].as_f64().unwrap();
        assert_eq!(json!(passed), vector["expected_passed"], "{vector}: {found}");
    }
    println!("golden_snapshots.jsonl: {} agree", vectors.len());
}

//! `aver explain RULES TRACE` as a user meets it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that meets something unexpected has failed")]

#[path = "common/folder.rs"]
mod folder;

use averment::Rules;
use averment::limits::Limits;
use averment::trace::read_str;
use averment::vm::evaluate::{EvaluateOptions, derive, evaluate};
use averment::vm::prepare::Prepared;
use bumpalo::Bump;
use folder::Folder;
use std::path::{Path, PathBuf};
use std::process::Command;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/explain")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "assert"));
    found.sort();
    assert!(!found.is_empty());
    found
}

fn compare(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(golden());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn explained(name: &str, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["explain", &format!("{name}.assert"), &format!("{name}.json")])
        .args(more)
        .current_dir(golden())
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{name}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn derivations_for_people() {
    for path in sources(&golden()) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        compare(&name, &explained(&name, &[]));
    }
}

/// Rules with runs: their own golden files, those of the evaluation, the examples.
fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pairs = Vec::new();
    for folder in ["tests/golden/explain", "tests/golden/evaluate"] {
        let files = sources(&root.join(folder)).into_iter();
        pairs.extend(files.map(|rules| (rules.clone(), rules.with_extension("json"))));
    }
    for example in ["refund-agent/refunds", "coding-agent/coding", "research-agent/research"] {
        let rules = root.join(format!("examples/{example}.assert"));
        let runs = std::fs::read_dir(rules.parent().unwrap().join("runs")).unwrap().flatten();
        pairs.extend(runs.map(|run| (rules.clone(), run.path())));
    }
    pairs
}

#[test]
fn a_derivation_changes_no_verdict() {
    let mut judged = 0;
    for (rules, run) in pairs() {
        let text = std::fs::read_to_string(&run).unwrap();
        let disk = averment::check::files::Disk { limit: 1 << 20 };
        let source = std::fs::read_to_string(&rules).unwrap();
        let rules = Rules::with_files("rules.assert", rules.parent(), &source, &disk).unwrap();
        let (program, prepared, arena) = (rules.program(), Prepared::new(rules.program()), Bump::new());
        // Some examples are recorded in other forms than the normal one.
        let Ok(read) = read_str(&text, &arena, &Limits::default()) else { continue };
        let options = EvaluateOptions::default();
        let plain = evaluate(program, &prepared, &read, &arena, &options);
        let (derived, derivations) = derive(program, &prepared, &read, &arena, &options);
        assert_eq!(format!("{plain:?}"), format!("{derived:?}"), "{}", run.display());
        assert_eq!(derivations.len(), plain.results.len());
        judged += plain.results.len();
    }
    assert!(judged > 80, "only {judged} verdicts were compared");
}

const RULES: &str = "rule approval {\n  before approve(id: $id) -> refund(id: $id)\n}\noutput.status == \"done\"\n";
const RUNS: &str = "{\"id\":\"one\",\"output\":{\"status\":\"done\"},\"calls\":[{\"tool\":\"refund\",\"args\":{\"id\":1}}]}\n{\"id\":\"two\",\"output\":{\"status\":\"open\"},\"calls\":[]}\n";

#[test]
fn a_run_is_picked_by_number_or_by_id_and_a_rule_by_name() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs.jsonl", RUNS)]);
    let first = folder.aver("explain r.assert runs.jsonl");
    assert!(first.code == 0 && first.out.contains("runs.jsonl:1 (id one)  1 step"), "{first:?}");
    for run in ["2", "two"] {
        let second = folder.aver(&format!("explain r.assert runs.jsonl --run {run}"));
        assert!(second.out.contains("id two") && second.out.contains("output.status = \"open\""), "{second:?}");
    }
    let rule = folder.aver("explain r.assert runs.jsonl --rule approval");
    assert!(rule.out.contains("approval.1") && !rule.out.contains("output.status"), "{rule:?}");
    folder.aver("explain r.assert runs.jsonl --run 3").refused(&["there is no run `3`", "from 1 to 2"]);
    folder.aver("explain r.assert runs.jsonl --rule aproval").refused(&["did you mean `approval`?"]);
}

#[test]
fn what_cannot_be_explained_says_why() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs.jsonl", RUNS), ("bad.json", "{"), ("empty.jsonl", "")]);
    folder.aver("explain r.assert").refused(&["`r.assert` is a file", "aver explain r.assert trace.json"]);
    folder.aver("explain runs.jsonl r.assert").refused(&["rules stand first"]);
    folder.aver("explain r.assert nowhere.json").refused(&["there is no trace `nowhere.json`"]);
    let empty = folder.aver("explain r.assert empty.jsonl");
    assert!(empty.code == 4 && empty.err.contains("the file is empty"), "{empty:?}");
    let bad = folder.aver("explain r.assert bad.json");
    assert!(bad.code == 4 && bad.out.is_empty() && bad.err.contains("bad.json"), "{bad:?}");
    folder.write("broken.assert", b"never\n");
    assert_eq!(folder.aver("explain broken.assert runs.jsonl").code, 3);
    assert!(folder.aver("explain unknown-tool").out.contains("Prefer"));
}

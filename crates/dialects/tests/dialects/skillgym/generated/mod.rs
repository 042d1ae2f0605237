//! Compares generated suites with Node.js. Everything that is read has the same meaning; a part that is not read is reported in every case that lacks
//! it.
//!
//! `AVERMENT_SUITES=3000 cargo test -p averment-dialects --test dialects generated_suites -- --nocapture` tests that many suites.
//! `AVERMENT_SUITES_FROM` is the first seed. `AVERMENT_SKILLGYM=node_modules/skillgym` uses the assertion groups of the package itself in place of
//! those in `oracle.mjs`.

mod suites;

use averment::{Rules, Verdict};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_dialects::{ForeignOptions, LoweringInputs, compile_foreign};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use suites::{GeneratedSuite, generate_suite};

const RUNS: &str = include_str!("runs.jsonl");
const ORACLE: &str = include_str!("oracle.mjs");

/// Returns the suite as TypeScript. Node.js runs the JavaScript form.
fn with_types(text: &str) -> String {
    text.replace(['‹', '›'], "")
}

fn without_types(text: &str, skillgym: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split(['‹', '›']).enumerate() {
        if at % 2 == 0 {
            out.push_str(part);
        }
    }
    out.replace("\"skillgym\"", &format!("\"{skillgym}\""))
}

/// Returns the imported rules of a suite, with the unread parts of each case.
fn imported_text(suite: &GeneratedSuite) -> Result<String, String> {
    let (text, module) = (with_types(&suite.text), with_types(&suite.module));
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("demo-suite.ts", Some(Path::new("")), text.as_str()));
    let files = Memory::new([("lib/checks.mjs", module.as_str())]);
    let how = LoweringInputs { files: &files, options: ForeignOptions { partly: true, ..ForeignOptions::default() } };
    let compiled = compile_foreign(&mut sources, root, &[], Limits::default(), how);
    let said = crate::judged::lines(&sources, &compiled.diagnostics);
    compiled.lowered.map(|lowered| lowered.written.text).ok_or(said)
}

/// Returns the results of Node.js: for each suite and each of its cases, the runs that pass.
fn observed(folder: &Path, suites: &[GeneratedSuite], runs: &[Value]) -> Value {
    let mut paths = Vec::new();
    for (at, suite) in suites.iter().enumerate() {
        let own = folder.join(format!("s{at}/lib"));
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("checks.mjs"), without_types(&suite.module, "../../skillgym.mjs")).unwrap();
        let path = format!("s{at}/suite.mjs");
        std::fs::write(folder.join(&path), without_types(&suite.text, "../skillgym.mjs")).unwrap();
        paths.push(path);
    }
    std::fs::write(folder.join("suites.json"), serde_json::to_string(&paths).unwrap()).unwrap();
    std::fs::write(folder.join("runs.json"), serde_json::to_string(runs).unwrap()).unwrap();
    std::fs::write(folder.join("oracle.mjs"), ORACLE).unwrap();
    let ended = Command::new("node").arg(folder.join("oracle.mjs")).arg(folder).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    serde_json::from_slice(&ended.stdout).unwrap()
}

/// Counts of compared cases.
#[derive(Debug, Default)]
struct Counts {
    cases: usize,
    read: usize,
    judged: usize,
    open: usize,
    wrong: Vec<String>,
}

impl Counts {
    fn compare_case(&mut self, rules: &Rules, text: &str, seed: u64, case: &Value, runs: &[Value]) {
        self.cases += 1;
        let mut is_open = false;
        for (run, wanted) in runs.iter().zip(case["passes"].as_array().unwrap()) {
            let mut run = run.clone();
            run["prompt"] = case["prompt"].clone();
            let outcome = rules.check_one(run.to_string()).unwrap();
            let verdicts: Vec<Verdict> = outcome.results().map(|one| one.verdict()).collect();
            let passed = verdicts.iter().all(|one| matches!(one, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped));
            if verdicts.contains(&Verdict::Undecided) && !verdicts.contains(&Verdict::Fail) {
                is_open = true;
                self.open += 1;
            } else if passed == (*wanted == true) {
                self.judged += 1;
            } else {
                let (case, wanted) = (&case["prompt"], if *wanted == true { "passes" } else { "fails" });
                self.wrong.push(format!("seed {seed}, case {case} {wanted} in node, here {verdicts:?}: {run}\n{text}"));
                return;
            }
        }
        self.read += usize::from(!is_open);
        if is_open && std::env::var_os("AVERMENT_UNREAD").is_some() {
            text.lines().filter(|line| line.contains("undecided(\"not read")).for_each(|line| println!("{line}"));
        }
    }
}

#[test]
fn generated_suites_mean_what_they_mean_in_node() {
    if Command::new("node").arg("--version").output().is_err() {
        println!("skipped: there is no node to compare generated suites with");
        return;
    }
    let number = |name: &str, other: u64| std::env::var(name).map_or(other, |text| text.parse().unwrap());
    let (first, count) = (number("AVERMENT_SUITES_FROM", 1), number("AVERMENT_SUITES", 60));
    let suites: Vec<GeneratedSuite> = (first..first + count).map(generate_suite).collect();
    let runs: Vec<Value> = RUNS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let folder: PathBuf = std::env::temp_dir().join(format!("averment-suites-{}", std::process::id()));
    let observed = observed(&folder, &suites, &runs);
    std::fs::remove_dir_all(&folder).unwrap();
    let (mut counts, mut refused) = (Counts::default(), 0);
    for ((suite, cases), seed) in suites.iter().zip(observed.as_array().unwrap()).zip(first..) {
        let text = match imported_text(suite) {
            Ok(text) => text,
            Err(said) => {
                assert!(said.contains("not read"), "seed {seed}: {said}\n{}", suite.text);
                refused += 1;
                continue;
            }
        };
        let rules = Rules::builder().text("demo.assert", text.as_str()).allow_empty(true).build();
        let rules = rules.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}\n{}", suite.text));
        let whole = format!("{text}\n{}\n{}", suite.text, suite.module);
        for case in cases.as_array().unwrap() {
            counts.compare_case(&rules, &whole, seed, case, &runs);
        }
    }
    let Counts { cases, read, judged, open, wrong } = &counts;
    println!(
        "{count} suites, {refused} of them refused; {cases} cases, {read} decided in every run; {judged} runs agree, {open} undecided, {} cases differ",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.iter().take(6).map(String::as_str).collect::<Vec<_>>().join("\n------\n"));
}

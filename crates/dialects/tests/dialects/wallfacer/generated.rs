//! Generated inputs: those of the real program, by its seeds.

use crate::judged::Given;
use crate::tally::Tally;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_with_tools};
use averment_engine::compile::compile;
use averment_fixtures::shared;
use averment_testing::inputs::{FoundInputs, find_inputs};
use serde_json::{Value as Json, json};
use std::path::Path;

/// What a pack asks for, with the tools of a server.
fn found(text: &str, tools: &Json) -> Result<FoundInputs, String> {
    let text = Given { name: "pack.yaml", text, ..Given::default() }.imported()?;
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("imported.assert", Some(Path::new("")), text.as_str()));
    let tools = sources.add_file(SourceFile::new("tools.json", Some(Path::new("")), tools.to_string()));
    let options = CheckOptions { limits: Limits::default(), files: &Memory::default() };
    let checked = check_with_tools(&mut sources, root, &[tools], &options);
    assert!(!checked.diagnostics.has_errors(), "{}\n{text}", crate::judged::lines(&sources, &checked.diagnostics));
    let program = compile(&checked.module, &sources);
    Ok(find_inputs(&checked.module, &program, &Limits::default(), |_| true))
}

/// Whether an input is the one that the program made. Where it ended itself, any that its documents promise will do.
fn agrees(case: &Json, seed: u64, made: &Json) -> bool {
    let promised = case["input"] == "PANIC" && made["v"].is_i64();
    case["seed"] == seed && (case["input"] == *made || promised)
}

/// The inputs of each pack, 1 is not 1.0.
pub fn generators(vectors: &Json) -> (usize, usize) {
    let mut tally = Tally::of("generators");
    for vector in vectors["generators"].as_array().unwrap() {
        let (label, text) = (vector["label"].as_str().unwrap(), vector["yaml"].as_str().unwrap());
        let found = match (found(text, &json!([])), vector.get("parse_error").is_some()) {
            (Err(said), true) if said.starts_with("pack.yaml:6:") => {
                tally.agrees();
                continue;
            }
            (Ok(found), false) => found,
            (found, _) => {
                tally.wrong(format!("{label}: {found:?}"));
                continue;
            }
        };
        let [inputs] = found.inputs.as_slice() else { panic!("{label}: {found:?}") };
        let mut differing = Vec::new();
        for case in vector["cases"].as_array().unwrap() {
            let number = u32::try_from(case["case"].as_u64().unwrap()).unwrap();
            let made = inputs.case_input(vector["master_seed"].as_u64().unwrap(), number).unwrap();
            let arguments = Json::Object(made.arguments);
            if !agrees(case, made.seed, &arguments) {
                differing.push(format!("case {number}: {case}, here {} {arguments}", made.seed));
            }
            if case["input"] == "PANIC" {
                println!("    as documented, not as run: {label}: every value between the ends can come: {arguments}");
            }
        }
        match differing.is_empty() {
            true => tally.agrees(),
            false => tally.wrong(format!("{label}: {}", differing.join("; "))),
        }
    }
    tally.end()
}

/// The seeds by which reports of the real program tell a case from all others.
pub fn reported_seeds() -> (usize, usize) {
    let mut tally = Tally::of("seeds of reports");
    for file in ["property_secrets-leakage.report", "report", "corpus_finding_redacted"] {
        let Some(path) = shared(&format!("conformance/wallfacer/outputs/{file}.json")) else { return (0, 0) };
        let report: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let findings = report["findings"].as_array().cloned().unwrap_or_else(|| vec![report.clone()]);
        for finding in findings.iter().filter(|finding| finding["kind"]["type"] == "property_failure") {
            let name = finding["kind"]["invariant"].as_str().unwrap();
            let text = json!({"version": 3, "invariants": [{"name": name, "tool": "t", "generate": {}, "assert": []}]});
            let seed = found(&text.to_string(), &json!([])).unwrap().inputs[0].case_input(0, 0).unwrap().seed;
            match finding["repro"]["seed"] == seed {
                true => tally.agrees(),
                false => tally.wrong(format!("{name}: {}, here {seed}", finding["repro"]["seed"])),
            }
        }
    }
    tally.end()
}

/// A block stands for the tools of a catalogue that it stands for on a server, in their order, and its seeds go with its names there.
#[test]
fn blocks_make_inputs_for_the_tools_that_they_stand_for() {
    let Some(path) = shared(super::vectors::COURSE) else { return };
    let vectors: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut compared = 0;
    for vector in vectors["for_each_tool"].as_array().unwrap() {
        let (label, text) = (vector["label"].as_str().unwrap(), vector["yaml"].as_str().unwrap());
        const FIXED: &str = r#"fixed: { e: "{{tool_name}}" }"#;
        let (Some(wanted), true) = (vector["result"].as_array(), text.contains(FIXED)) else { continue };
        let text = text.replace(FIXED, "generate: { n: { type: integer } }");
        let Ok(found) = found(&text, &vector["tools"]) else { continue };
        let here: Vec<(&str, &str)> =
            found.inputs.iter().map(|one| (one.tool.as_str(), one.seed_name.as_str())).collect();
        let wanted: Vec<(&str, &str)> =
            wanted.iter().map(|one| (one["tool"].as_str().unwrap(), one["name"].as_str().unwrap())).collect();
        assert_eq!(here, wanted, "{label}\n{text}");
        compared += 1;
    }
    assert!(compared >= 4, "{compared} blocks");
}

/// A least length on which the real program ends itself is kept; what cannot be kept is told.
#[test]
fn bounds_are_kept_or_told() {
    let pack = |spec: &str| {
        format!("version: 3\ninvariants:\n  - name: g\n    tool: t\n    generate:\n      v: {spec}\n    assert: []\n")
    };
    for spec in ["{ type: string, min_length: 2000 }", "{ type: string, min_length: 65536, max_length: 65536 }"] {
        let found = found(&pack(spec), &json!([])).unwrap();
        assert!(found.said.0.is_empty(), "{:?}", found.said);
        for case in 0..3 {
            let made = found.inputs[0].case_input(42, case).unwrap().arguments;
            assert!(made["v"].as_str().unwrap().len() >= 2000, "{spec}");
        }
    }
    let found = found(&pack("{ type: array, items: { type: string, min_length: 99999999 } }"), &json!([])).unwrap();
    assert!(found.said.has_errors() && found.said.0[0].message.contains("larger than 16 MiB"), "{:?}", found.said);
    let found = self::found(&pack("{ type: string, max_length: 65536 }"), &json!([])).unwrap();
    let said = &found.said.0[0];
    assert!(!found.said.has_errors() && said.message.contains("made only where the shortest is longer"), "{said:?}");
}

//! The packs that ship with Wallfacer: all their fixtures have the expected result.

use crate::judged::Given;
use crate::tally::Tally;
use averment_fixtures::shared;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    files
}

/// Returns, for each pack, how many fixtures have the expected result.
pub fn packs() -> Vec<(usize, usize)> {
    let Some(folder) = shared("conformance/wallfacer/crates/wallfacer-core/packs") else { return Vec::new() };
    let files = files(&folder);
    let texts: Vec<(String, String)> = files
        .iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap()))
        .collect();
    let beside: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut all = Vec::new();
    for (name, text) in &texts {
        let given = Given { name, text, beside: &beside, ..Given::default() };
        let mut tally = Tally::of(name);
        let tested = given.tested().unwrap_or_else(|said| panic!("{name}: {said}"));
        assert!(!tested.is_empty(), "{name} has fixtures");
        for (test, passed, verdicts) in tested {
            match passed {
                true => tally.agrees(),
                false => tally.wrong(format!("{test}: {verdicts:?}\n{}", given.imported().unwrap())),
            }
        }
        given.imports_cleanly();
        all.push(tally.end());
    }
    all
}

/// Files without fixtures are read, and their imported text is clean.
#[test]
fn files_of_invariants_are_read() {
    let Some(root) = shared("conformance/wallfacer") else { return };
    let mut read = files(&root.join("tests/fixtures/invariants"));
    read.extend([
        root.join("tests/fixtures/invariants_sample.yaml"),
        root.join("examples/python_server/invariants.yaml"),
    ]);
    for path in read {
        let text = std::fs::read_to_string(&path).unwrap();
        let given = Given { name: "pack.yaml", text: &text, ..Given::default() };
        given.imported().unwrap_or_else(|said| panic!("{}: {said}", path.display()));
        given.imports_cleanly();
    }
}

/// The example project has the results that its page documents.
#[test]
fn the_example_is_kept_and_broken() {
    let folder = averment_fixtures::project("examples/from-wallfacer");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let text = read("orders.yaml");
    let given = Given { name: "orders.yaml", text: &text, ..Given::default() };
    assert!(given.tested().unwrap().iter().all(|(_, passed, _)| *passed), "{:?}", given.tested());
    given.imports_cleanly();
    let failed = |run: &str, params: &[(&str, &str)]| -> Vec<String> {
        let judged = Given { params, ..given.clone() }.judge(&read(run)).unwrap();
        let failed = judged.rules.into_iter().filter(|(_, verdict, _)| *verdict == averment::Verdict::Fail);
        failed.map(|(id, ..)| id).collect()
    };
    assert_eq!(failed("runs/kept.json", &[]), Vec::<String>::new());
    assert_eq!(
        failed("runs/broken.json", &[("list_tool", "list_orders")]),
        ["orders.page_is_not_larger_than_asked", "orders.cancelled_is_gone"]
    );
    let other = failed("runs/broken.json", &[("list_tool", "list_invoices")]);
    assert_eq!(other, ["orders.cancelled_is_gone"], "a parameter names the tool");
}

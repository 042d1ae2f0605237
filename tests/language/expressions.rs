//! What the reference says of expressions, and the acceptance corpus of the language: rules with tests that say what comes out.

use averment_checker::files::Disk;
use averment_fixtures as fixtures;
use averment_fixtures::Rules;
use std::path::Path;

/// The failures of a file's tests, and how many tests it has.
fn failures(name: &str, folder: &Path, text: &str) -> (Vec<String>, usize) {
    let rules = match Rules::with_files(name, Some(folder), text, &Disk::anywhere(1 << 20)) {
        Ok(rules) => rules,
        Err(error) => return (vec![format!("{name} does not compile:\n{error}")], 0),
    };
    let results = rules.run_tests();
    let tests = &rules.program().tests;
    let failed = results.iter().filter(|result| !result.passed).map(|result| {
        let reasons: Vec<String> =
            result.outcome.results.iter().map(|one| format!("    {} {}", one.verdict.as_str(), one.reason)).collect();
        let test = &tests[result.test as usize].name;
        format!("{name}: \"{test}\": {}\n{}", result.reason, reasons.join("\n"))
    });
    (failed.collect(), results.len())
}

/// The blocks of a page that are marked as rules.
fn blocks(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in page.lines() {
        match (&mut open, line.trim_end()) {
            (None, "```assert") => open = Some(String::new()),
            (Some(_), "```") => found.extend(open.take()),
            (Some(block), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    found
}

#[test]
fn the_reference_of_expressions_says_what_happens() {
    let root = averment_fixtures::root();
    let page = std::fs::read_to_string(root.join("docs/reference/expressions.md")).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (number, block) in blocks(&page).iter().enumerate() {
        let (failed, tests) = failures(&format!("block {}", number + 1), root, block);
        assert!(tests > 0 || !failed.is_empty(), "a block without tests proves nothing:\n{block}");
        wrong.extend(failed);
        count += tests;
    }
    assert!(wrong.is_empty(), "{} of {count} tests:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 20, "the page has {count} tests");
}

#[test]
fn every_test_of_the_acceptance_corpus_comes_out_as_written() {
    let folder = fixtures::project("tests/conformance/language/good");
    let paths = fixtures::rule_files(&folder);
    assert!(paths.len() > 50, "the corpus is missing");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (failed, tests) = failures(&name, &folder, &text);
        wrong.extend(failed);
        count += tests;
    }
    assert!(wrong.is_empty(), "{} of {count} tests:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 20, "the corpus has {count} tests");
}

//! The acceptance corpus: the `test` blocks of its files come out as written.

use averment_checker::files::Disk;
use averment_fixtures::Rules;
use averment_fixtures::shared;

#[test]
fn tests_of_the_corpus_come_out_as_written() {
    let Some(folder) = shared("conformance/language/good") else { return };
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "assert")) {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        match Rules::with_files(&name, Some(&folder), &text, &Disk::anywhere(1 << 20)) {
            Err(error) => wrong.push(error.to_string()),
            Ok(rules) => {
                for result in rules.run_tests() {
                    count += 1;
                    if !result.passed {
                        wrong.push(format!("{name}: {result:?}"));
                    }
                }
            }
        }
    }
    assert!(count > 0, "the corpus has no tests");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

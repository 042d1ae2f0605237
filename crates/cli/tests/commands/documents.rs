//! Every console block of the documents is run and has to print what it says.
//!
//! A block starts with ```` ```console ````; a line `$ aver …` is run in the folder of the document (in the folder that a
//! `<!-- in: FOLDER -->` comment above it names), and the lines up to the next command or the block's end are its output. A last line
//! `exit code N` states a code other than 0. `UPDATE_GENERATED=1 cargo test --test commands documents` writes the real output into the documents.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The documents: the README, the reference and every example.
fn documents() -> Vec<PathBuf> {
    let root = averment_fixtures::root();
    let mut found = vec![root.join("README.md")];
    for folder in ["docs", "docs/reference", "examples"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() && path.join("README.md").exists() {
                found.push(path.join("README.md"));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Runs one command line and gives what it prints: standard output, then standard error.
fn run(command: &str, folder: &Path) -> String {
    let words = shell_words::split(command).expect("a command line of words");
    assert_eq!(words.first().map(String::as_str), Some("aver"), "only `aver` is run in documents: {command}");
    let output = Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(&words[1..])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .output()
        .expect("aver starts");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let mut text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    match output.status.code() {
        Some(0) => {}
        Some(code) => text.push_str(&format!("exit code {code}\n")),
        None => text.push_str("ended by a signal\n"),
    }
    text
}

/// A document with every console block as the program prints it, and how many commands it has.
fn rerun(path: &Path) -> (String, usize) {
    let text = std::fs::read_to_string(path).expect("a readable document");
    let home = path.parent().expect("a folder").to_path_buf();
    let (mut real, mut commands, mut inside, mut folder) = (String::new(), 0, false, home.clone());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("<!-- in: ").and_then(|rest| rest.strip_suffix(" -->")) {
            folder = home.join(name);
        }
        if !inside || line.starts_with("```") {
            inside = line == "```console";
            real.push_str(line);
            real.push('\n');
        } else if let Some(command) = line.strip_prefix("$ ") {
            commands += 1;
            real.push_str(line);
            real.push('\n');
            real.push_str(&run(command, &folder));
        }
    }
    (real, commands)
}

#[test]
fn every_console_block_prints_what_the_document_says() {
    let mut total = 0;
    for path in documents() {
        let (real, commands) = rerun(&path);
        total += commands;
        averment_fixtures::compare_generated(&path, &real);
    }
    assert!(total >= 10, "only {total} commands found in the documents");
}

/// Each example folder is explained, with a command that a newcomer can run.
#[test]
fn every_example_has_a_document_with_a_command() {
    let root = averment_fixtures::root().join("examples");
    for entry in std::fs::read_dir(root).expect("examples").flatten().filter(|entry| entry.path().is_dir()) {
        let readme = std::fs::read_to_string(entry.path().join("README.md")).unwrap_or_default();
        assert!(readme.contains("$ aver check"), "{} has no README with a command", entry.path().display());
    }
}

/// What a newcomer copies is good: the linter has nothing to say of any example, and every test in them comes out as stated.
#[test]
fn every_example_lints_clean_and_passes_its_own_tests() {
    let examples = averment_fixtures::root().join("examples");
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(&examples).expect("examples").flatten().map(|one| one.path()).collect();
    folders.retain(|path| !averment_fixtures::rule_files_below(path).is_empty());
    folders.sort();
    assert!(folders.len() >= 5, "{folders:?}");
    let mut tested = 0;
    for folder in &folders {
        let linted = run("aver lint . --format short", folder);
        assert!(linted.is_empty(), "aver lint in {}:\n{linted}", folder.display());
        let said = run("aver test .", folder);
        if said.contains("the rules hold no test") {
            continue;
        }
        tested += 1;
        assert!(!said.contains("exit code"), "aver test in {}:\n{said}", folder.display());
    }
    assert!(tested >= 2, "only {tested} examples hold tests");
}

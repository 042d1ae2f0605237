//! Runs every console block of the documents, and compares the output.
//!
//! A block starts with ```` ```console ````; a line `$ aver …` is run in the folder of the document (in the folder that a
//! `<!-- in: FOLDER -->` comment above it names), and the lines up to the next command or the block's end are its output. A last line
//! `exit code N` states a code other than 0. `UPDATE_GENERATED=1 cargo test --test commands documents` writes the real output into the documents.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the documents: the README, all pages and every example.
pub fn documents() -> Vec<PathBuf> {
    let root = averment_fixtures::root();
    let mut found = vec![root.join("README.md")];
    for folder in ["docs", "docs/how-to", "docs/reference", "examples"] {
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

/// Runs one command line. Returns standard output, followed by standard error.
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

/// Returns a document with the real output in every console block, and its number of commands.
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

/// Returns the fenced code blocks of a document with their languages.
fn fenced_blocks(text: &str) -> Vec<(&str, String)> {
    let (mut found, mut lines) = (Vec::new(), text.lines());
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            found.push((language, body.join("\n")));
        }
    }
    found
}

/// Returns the words of the `aver` commands in a shell script, without pipes and redirections, and without permission to start processes.
fn shell_commands(script: &str) -> Vec<Vec<String>> {
    let script = script.replace("\\\n", " ");
    let lines = script.lines().map(|line| line.split(" # ").next().unwrap_or(line));
    let parts =
        lines.flat_map(|line| line.split(['|', ';', '>']).map(str::trim)).filter(|part| part.starts_with("aver "));
    let words = |part: &str| {
        let words = shell_words::split(part).unwrap_or_else(|error| panic!("{part}: {error}"));
        words.into_iter().skip(1).filter(|word| word != "--allow-run").collect()
    };
    parts.map(words).collect()
}

/// Returns what a command prints to standard error in an empty folder.
fn errors_of(words: &[String], nowhere: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(words)
        .current_dir(nowhere)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("aver starts");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Commands in the scripts of the pages are not run, since they need the reader's files. But each command and option must exist.
#[test]
fn every_command_in_a_script_is_known() {
    let nowhere = tempfile::tempdir().expect("a folder");
    let mut total = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a readable document");
        let scripts = fenced_blocks(&text).into_iter().filter(|(language, _)| matches!(*language, "sh" | "bash"));
        for words in scripts.flat_map(|(_, script)| shell_commands(&script)) {
            total += 1;
            let said = errors_of(&words, nowhere.path());
            // Usage errors of clap end with this line.
            assert!(!said.contains("Usage: aver"), "{}: aver {}\n{said}", path.display(), words.join(" "));
        }
    }
    assert!(total >= 20, "only {total} commands found in scripts");
}

/// Returns the inline `aver` commands of a page. Words in capitals are placeholders.
fn inline_commands(text: &str) -> Vec<String> {
    let plain = fenced_blocks(text).iter().fold(text.to_owned(), |text, (_, block)| text.replace(block.as_str(), ""));
    let span = regex::Regex::new(r"`(aver [^`\n]+)`").unwrap();
    let found =
        span.captures_iter(&plain).map(|found| found[1].split([';', '>']).next().unwrap_or_default().to_owned());
    // Commands with `|` between alternatives are skipped.
    found.filter(|command| !command.contains('|') && !command.contains(['[', '<'])).collect()
}

/// Inline commands and their options must exist. They are run in an empty folder, with a time limit.
#[test]
fn every_command_in_a_sentence_is_known() {
    let nowhere = tempfile::tempdir().expect("a folder");
    let (mut commands, mut wrong) = (std::collections::BTreeMap::new(), Vec::new());
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a readable document");
        commands.extend(inline_commands(&text).into_iter().map(|command| (command, path.clone())));
    }
    for (command, path) in &commands {
        let mut words = shell_words::split(command).unwrap_or_else(|error| panic!("{command}: {error}"));
        words.retain(|word| word != "--allow-run");
        words.splice(..1, ["--max-time".to_owned(), "5s".to_owned()]);
        let said = errors_of(&words, nowhere.path());
        // A command with subcommands may be named alone: it prints its help.
        let unknown = said.contains("there is no command") && !command.contains("COMMAND");
        if unknown || (said.starts_with("error") && said.contains("Usage: aver")) {
            wrong.push(format!("{}: {command}\n{said}", path.display()));
        }
    }
    assert!(commands.len() >= 100, "only {} commands found in sentences", commands.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the anchor that browsers derive from a heading.
fn heading_anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect()
}

/// Returns the anchors of a page.
fn anchors(page: &str) -> Vec<String> {
    let mut code = false;
    let mut found: Vec<String> = Vec::new();
    for line in page.lines() {
        code ^= line.starts_with("```");
        if !code && line.starts_with('#') {
            found.push(heading_anchor(line));
        }
        found.extend(line.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned));
    }
    found
}

#[test]
fn every_link_leads_to_a_page_and_a_place_on_it() {
    let link = regex::Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut wrong = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a readable document");
        let plain = fenced_blocks(&text).iter().fold(text.clone(), |text, (_, block)| text.replace(block.as_str(), ""));
        for target in link.captures_iter(&plain).map(|found| found.get(1).unwrap().as_str()) {
            if target.contains("://") || target.contains('`') {
                continue;
            }
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let page = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let page = if page.is_dir() { page.join("README.md") } else { page };
            let reached = if place.is_empty() {
                page.exists()
            } else {
                std::fs::read_to_string(&page).is_ok_and(|text| anchors(&text).iter().any(|one| one == place))
            };
            if !reached {
                wrong.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The summary lists each page exactly once. Another test checks that its links work.
#[test]
fn the_summary_of_the_site_lists_every_page_once() {
    let docs = averment_fixtures::root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let text = std::fs::read_to_string(&summary).expect("a readable document");
    let link = regex::Regex::new(r"\]\(([^)#]+)\)").unwrap();
    let mut listed: Vec<PathBuf> = link.captures_iter(&text).map(|found| docs.join(&found[1])).collect();
    listed.sort();
    let mut pages: Vec<PathBuf> =
        documents().into_iter().filter(|path| path.starts_with(&docs) && *path != summary).collect();
    pages.sort();
    assert_eq!(listed, pages);
}

/// Every rule that a reader could copy compiles.
#[test]
fn every_rule_in_the_pages_compiles() {
    let mut total = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a readable document");
        for (_, rules) in fenced_blocks(&text).into_iter().filter(|(language, _)| *language == "assert") {
            total += 1;
            if let Err(error) = averment_fixtures::Rules::from_text("page.assert", &rules) {
                panic!("{}:\n{rules}\n{error}", path.display());
            }
        }
    }
    assert!(total >= 100, "only {total} blocks of rules found");
}

/// Each example folder has a README with a runnable command.
#[test]
fn every_example_has_a_document_with_a_command() {
    let root = averment_fixtures::root().join("examples");
    for entry in std::fs::read_dir(root).expect("examples").flatten().filter(|entry| entry.path().is_dir()) {
        let readme = std::fs::read_to_string(entry.path().join("README.md")).unwrap_or_default();
        assert!(readme.contains("$ aver check"), "{} has no README with a command", entry.path().display());
    }
}

/// Examples have no lint findings, and all their tests have their expected outcomes.
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

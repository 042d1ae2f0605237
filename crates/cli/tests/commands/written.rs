//! Output files: never over an input, under any name, and written completely or not at all.

#![cfg(unix)]

use crate::folder::Folder;
use averment_report::Format;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

const RULES: &str = "rule a { output.x == 1 }\ntest \"t\" expect pass a { output: { x: 1 } }\n";
const RUN: &str = "{\"output\": {\"x\": 1}, \"calls\": [{\"tool\": \"y\"}]}\n";

fn folder() -> Folder {
    let folder = Folder::new(&[("r.assert", RULES), ("lib.assert", "let n = 1\n"), ("t.json", RUN), ("p.json", "{}")]);
    folder.write("uses.assert", b"use \"./lib.assert\"\noutput.x == n\n");
    std::fs::hard_link(folder.path().join("t.json"), folder.path().join("same.json")).unwrap();
    std::fs::hard_link(folder.path().join("r.assert"), folder.path().join("same.assert")).unwrap();
    folder
}

#[test]
fn nothing_that_is_read_is_written_over_under_whatever_name() {
    let folder = folder();
    let all = ["r.assert", "lib.assert", "t.json", "p.json", "uses.assert", "same.json", "same.assert"];
    let before = all.map(|name| folder.read(name));
    for command in [
        "compile r.assert -o r.assert",
        "compile r.assert -o ./r.assert",
        "compile r.assert -o same.assert",
        "compile uses.assert -o lib.assert",
        "check r.assert t.json --report json=t.json",
        "check r.assert t.json --report json=same.json",
        "check r.assert t.json --report json=same.assert",
        "check uses.assert t.json --report json=lib.assert",
        "check r.assert t.json --report json=x.json --report jsonl=./x.json",
        "check r.assert t.json --profile=t.json",
        "check r.assert t.json --profile=./same.json",
        "check r.assert t.json --param-file p.json --report json=p.json",
        "explain r.assert t.json --out t.json",
        "explain r.assert t.json --out same.json",
        "explain r.assert t.json --out same.assert",
        "test r.assert --coverage --coverage-out same.assert",
        "test r.assert --report json=same.assert",
        "lint r.assert --report json=same.assert",
        "new same --from t.json r.assert --force",
    ] {
        let ran = folder.aver(command);
        // The last command fails because its trace is a rule file, the others because of the file that they would overwrite.
        assert!(ran.code == 2 || command.starts_with("new") && ran.code == 4, "{command}: {ran:?}");
        assert_eq!(all.map(|name| folder.read(name)), before, "{command}");
    }
    let input = format!("exec {} check r.assert - --report json=t.json < t.json", env!("CARGO_BIN_EXE_aver"));
    let ended = Command::new("sh").args(["-c", &input]).current_dir(folder.path()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert_eq!(all.map(|name| folder.read(name)), before);
}

#[test]
fn a_planted_link_is_never_written_through() {
    for (link, command) in [
        ("out.json", "check r.assert t.json --report json=out.json"),
        ("out.json", "check r.assert t.json --profile=out.json"),
        ("out.json", "explain r.assert t.json --out out.json"),
        ("r.assertc", "compile r.assert"),
        ("r.snap", "test r.assert --update"),
        ("known", "check r.assert t.json --baseline known --update-baseline"),
        ("x.assert", "new x"),
        ("x.assert", "new x --force"),
        ("c.info", "test r.assert --coverage --coverage-out c.info"),
        ("man1/aver.1", "man --out man1"),
    ] {
        let folder = folder();
        folder.write("precious", b"");
        let path = folder.path().join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(folder.path().join("precious"), &path).unwrap();
        folder.aver(command);
        assert_eq!(folder.read("precious"), "", "{command}");
    }
}

/// Commands that write, each with its file, which exists before.
const WRITERS: [(&str, &str); 13] = [
    ("check r.assert t.json --profile=out.json", "out.json"),
    ("check bad.assert t.json --baseline known --update-baseline", "known"),
    ("explain r.assert t.json --out out.html --format html", "out.html"),
    ("compile r.assert -o r.assertc", "r.assertc"),
    ("test r.assert --update", "r.snap"),
    ("new x --force", "x.assert"),
    ("new x --force --from t.json", "x.assert"),
    ("test r.assert --coverage --coverage-out c.info", "c.info"),
    ("test r.assert --report junit=out.xml", "out.xml"),
    ("lint bad.assert --report sarif=out.sarif", "out.sarif"),
    ("man --out man1", "man1/aver.1"),
    ("fmt long.assert", "long.assert"),
    ("lint long.assert --fix", "long.assert"),
];
/// The report folder gets all files or none.
const REPORTS: &str = "check bad.assert t.json --report-dir reports";

/// Returns all commands that write, with their files.
fn writers() -> Vec<(String, String)> {
    let of_format = |format| (format!("check bad.assert t.json --report {format}=out.report"), "out.report".to_owned());
    let named = WRITERS.into_iter().map(|(command, file)| (command.to_owned(), file.to_owned()));
    let in_folder =
        Format::folder_formats().map(|format| (REPORTS.to_owned(), format!("reports/{}", format.file_name())));
    named.chain(Format::ALL.map(Format::as_str).map(of_format)).chain(in_folder).collect()
}

/// Creates a folder in which each of these commands writes something.
fn to_write() -> Folder {
    let folder = folder();
    let long: String =
        (0..400).map(|number| format!("rule   r{number} {{ not not output.x == {number} }}\n")).collect();
    folder.write("long.assert", long.as_bytes());
    folder.write("bad.assert", b"rule bad { output.x == 2 }\nrule good { not not output.x == 1 }\n");
    folder
}

/// Creates the folder with an old version of the output file.
fn with_old(file: &str) -> (Folder, Option<Vec<u8>>) {
    let folder = to_write();
    match file {
        "long.assert" => {}
        "r.snap" => folder.write(file, b"=== gone\nr.1: passed\n"),
        "known" => folder.write(file, b"# Failures that are known\n"),
        _ => folder.write(file, b"old\n"),
    }
    let old = std::fs::read(folder.path().join(file)).ok();
    (folder, old)
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    for (command, file) in writers() {
        let (folder, old) = with_old(&file);
        // A file size limit of 0 has the effect of a full disk.
        let line = format!("ulimit -f 0; exec {} {command}", env!("CARGO_BIN_EXE_aver"));
        let mut shell = Command::new("sh");
        let ended = shell.args(["-c", &line]).current_dir(folder.path()).stdout(Stdio::null()).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{command}: {ended:?}");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains("written:") && said.contains(file.split('/').next().unwrap()), "{command}: {said}");
        assert_eq!(std::fs::read(folder.path().join(&file)).ok(), old, "{command}");
        let drafts = std::fs::read_dir(folder.path()).unwrap().flatten();
        let drafts: Vec<_> = drafts.filter(|entry| entry.file_name().to_string_lossy().ends_with(".draft")).collect();
        assert!(drafts.is_empty(), "{command}: {drafts:?}");
    }
}

#[test]
fn a_full_standard_output_is_no_success() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else { return };
    let folder = to_write();
    folder.write("r.map", b"");
    let of_check = Format::ALL.map(|format| format!("check bad.assert t.json --format {}", format.as_str()));
    for command in of_check.iter().map(String::as_str).chain([
        "trace show t.json",
        "trace convert t.json",
        "trace stats t.json",
        "trace schema",
        "explain r.assert t.json",
        "explain unknown-name",
        "disasm r.assert",
        "test r.assert",
        "lint bad.assert",
        "fmt --diff long.assert",
        "new --stdout",
        "new --list",
        "completions bash",
        "docs",
        "lint --list",
        "check r.assert t.json --profile",
    ]) {
        let mut program = Command::new(env!("CARGO_BIN_EXE_aver"));
        let program = program.args(shell_words::split(command).unwrap()).current_dir(folder.path());
        let ended = program.stdout(full.try_clone().unwrap()).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code().is_some_and(|code| (1..=5).contains(&code)), "{command}: {ended:?}");
        assert!(said.contains("error"), "{command}: {said}");
    }
}

/// Number of kills per command; `AVERMENT_KILLS=200` for a long test.
fn rounds() -> u32 {
    std::env::var("AVERMENT_KILLS").map_or(5, |text| text.parse().unwrap())
}

#[test]
fn whoever_is_killed_leaves_the_old_file_or_the_new_one() {
    let (mut kills, mut before, mut after) = (0_u32, 0_u32, 0_u32);
    for (command, file) in writers() {
        let (folder, old) = with_old(&file);
        let start = std::time::Instant::now();
        let whole = folder.aver(&command);
        let took = start.elapsed();
        let new = std::fs::read(folder.path().join(&file)).ok();
        assert!(new.is_some() && new != old, "{command}: {whole:?}");
        for round in 0..rounds() {
            match &old {
                Some(old) => folder.write(&file, old),
                None => drop(std::fs::remove_file(folder.path().join(&file))),
            }
            let words = shell_words::split(&command).unwrap();
            let mut program = Command::new(env!("CARGO_BIN_EXE_aver"));
            let program = program.args(words).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = program.spawn().unwrap();
            std::thread::sleep(took * (round + 1) / rounds());
            child.kill().unwrap();
            kills += u32::from(child.wait().unwrap().code().is_none());
            let found = std::fs::read(folder.path().join(&file)).ok();
            // Profiles and pages contain times, so only their start and end are compared.
            let is_whole = |found: &[u8], new: &[u8]| {
                found == new
                    || found.len() > 50 && found[..9] == new[..9] && found[found.len() - 2..] == new[new.len() - 2..]
            };
            let is_new = found.as_ref().zip(new.as_ref()).is_some_and(|(found, new)| is_whole(found, new));
            let text = || found.as_ref().map(|found| String::from_utf8_lossy(found).into_owned());
            assert!(found == old || is_new, "{command}: {:?}", text());
            *if is_new { &mut after } else { &mut before } += 1;
        }
    }
    println!("{kills} processes were killed; {before} files were the old ones, {after} the new ones");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_in_shared_memory_is_replaced_like_any_other() {
    let shared = std::path::Path::new("/dev/shm");
    let Ok(place) = tempfile::tempdir_in(shared) else { return };
    let folder = folder();
    let file = place.path().join("out.json");
    std::fs::write(&file, "x".repeat(100_000)).unwrap();
    let ran = folder.aver(&format!("check r.assert t.json --report json={}", file.display()));
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{} bytes", text.len());
}

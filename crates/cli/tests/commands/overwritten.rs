//! Inputs of a command are never overwritten, and no two outputs have the same file, whatever other errors there are.

use crate::folder::Folder;
use std::fs::{read_dir, read_to_string};

const RUN: &str = r#"{"output":"x","calls":[{"tool":"a","args":{}}]}"#;
const RULES: [(&str, &str); 2] = [("bad.assert", "never (\n"), ("good.assert", "never zz\n")];

fn folder() -> Folder {
    let folder = Folder::new(&[
        ("t.json", RUN),
        ("tt/report.json", RUN),
        ("p.json", "{}"),
        ("m.toml", "calls = \"calls\"\n"),
        ("b.txt", "# Failures that are known\n"),
        ("prices.toml", "[\"m\"]\ninput = 1\noutput = 1\n"),
    ]);
    for (name, text) in RULES {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Returns every file of a folder with its text.
fn files(folder: &Folder) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for place in ["", "tt"] {
        for entry in read_dir(folder.path().join(place)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                found.push((path.display().to_string(), read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_read_stays_also_where_the_rules_do_not_compile() {
    let folder = folder();
    let before = files(&folder);
    for (rules, _) in RULES {
        for words in [
            "t.json --report json=t.json",
            "t.json --report junit=t.json",
            "t.json --profile=t.json",
            "t.json --param-file p.json --report json=p.json",
            "t.json --map m.toml --report json=m.toml",
            "t.json --prices prices.toml --report json=prices.toml",
            "t.json --baseline b.txt --report json=b.txt",
            "t.json --baseline b.txt --update-baseline --report json=b.txt",
            "tt --report-dir tt",
            "tt --report json=./tt/report.json",
            "\"tt/*.json\" --report json=tt/report.json",
            &format!("t.json --report json={rules}"),
        ] {
            let ran = folder.aver(&format!("check {rules} {words}"));
            assert_eq!(ran.code, 2, "{rules} {words}: {}{}", ran.out, ran.err);
            assert_eq!(files(&folder), before, "{rules} {words}");
        }
    }
}

#[test]
fn no_two_outputs_go_into_one_file() {
    let folder = folder();
    std::fs::write(
        folder.path().join("tests.assert"),
        "rule r { never zz }\ntest \"t\" expect pass r { output: \"x\" }\n",
    )
    .unwrap();
    let before = files(&folder);
    for words in [
        "check good.assert t.json --profile=x.json --report json=x.json",
        "check good.assert t.json --profile=out.json --report json=./out.json",
        "check good.assert t.json --profile=tt/report.html --report-dir tt",
        "check good.assert t.json --baseline new.txt --update-baseline --report json=new.txt",
        "check good.assert t.json --baseline x.json --update-baseline --profile=x.json",
        "check good.assert t.json --report json=x --report jsonl=x",
        "test tests.assert --coverage-out x.json --report json=x.json",
        "test tests.assert --coverage-out tests.assert",
        "test tests.assert --update --report json=tests.snap",
    ] {
        let ran = folder.aver(words);
        assert_eq!(ran.code, 2, "{words}: {}{}", ran.out, ran.err);
        assert_eq!(files(&folder), before, "{words}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_reads_is_said_to_be_one() {
    let folder = folder();
    let pipe = folder.path().join("ff");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ran = folder.aver("check good.assert t.json --report json=ff");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("`ff` cannot be written: it is a pipe that nobody reads"), "{}", ran.err);
    let reader = std::thread::spawn(move || read_to_string(pipe).unwrap());
    assert_eq!(folder.aver("check good.assert t.json --report json=ff").code, 0);
    assert!(reader.join().unwrap().contains("\"runs\""));
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_told_as_one() {
    let folder = folder();
    std::os::unix::fs::symlink("gone.json", folder.path().join("tt/link.json")).unwrap();
    let ran = folder.aver("check good.assert tt");
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("it is a link to `gone.json`") && !said.contains("did you mean"), "{said}");
}

#[test]
fn a_refused_command_leaves_no_folder_for_its_reports() {
    let folder = folder();
    let before = files(&folder);
    for words in [
        "t.json --report-dir new/x --report json=t.json",
        "tt --report-dir new/../tt",
        "t.json --report-dir b.txt/x",
        "t.json --report-dir new --report json=./new/report.json",
    ] {
        assert_eq!(folder.aver(&format!("check good.assert {words}")).code, 2, "{words}");
        assert!(!folder.path().join("new").exists() && files(&folder) == before, "{words}");
    }
    assert_eq!(folder.aver("check good.assert t.json --report-dir new/x --format summary").code, 0);
    assert!(folder.path().join("new/x/report.json").exists());
    // A separate report may be written into the new report folder.
    let both = "check good.assert t.json --format summary --report-dir other --report json=./other/more.json";
    assert_eq!(folder.aver(both).code, 0);
    assert!(folder.path().join("other/more.json").exists() && folder.path().join("other/report.json").exists());
}

//! Files that rules may read by naming them: files of their project and of the working directory, through no link, and only rules are quoted.

#![cfg(unix)]

use crate::folder::{Folder, Ran};
use std::os::unix::fs::symlink;

/// A text in every file that must stay private.
const KEPT: &str = "kumquat-7731";

/// Creates a project with private files beside it, and a working directory.
fn folder() -> Folder {
    let run = format!(r#"{{"calls":[{{"tool":"x","args":{{"a":"{KEPT}"}}}}],"output":"{KEPT}"}}"#);
    let folder = Folder::new(&[
        ("kept/run.json", &run),
        ("kept/words.assert", &format!("{KEPT} is no rule\nnor {KEPT}\n")),
        ("kept/words", &format!("{KEPT} is no rule\n")),
        ("work/t.json", "{\"output\":\"y\"}"),
        ("work/rules/words.txt", &format!("{KEPT} is no rule\n")),
        ("work/rules/broken.json", &format!("{{\n  \"a\": {KEPT}\n}}\n")),
    ]);
    symlink("../../kept/words.assert", folder.path().join("work/rules/link.assert")).unwrap();
    symlink("words.txt", folder.path().join("work/rules/renamed.assert")).unwrap();
    symlink("../../kept/run.json", folder.path().join("work/rules/link.json")).unwrap();
    folder
}

/// Returns the complete output of a command about a rule file in the project.
fn said(folder: &Folder, command: &str) -> (Ran, String) {
    let words = shell_words::split(command).unwrap();
    let output =
        assert_cmd::Command::cargo_bin("aver").unwrap().current_dir(folder.path().join("work")).args(words).output();
    let output = output.unwrap();
    let ran = Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    let all = format!("{}{}", ran.out, ran.err);
    (ran, all)
}

#[test]
fn nothing_outside_of_the_project_is_read_by_naming_it() {
    let folder = folder();
    for rules in [
        "use \"../../kept/words.assert\"\n",
        "use \"../../kept/words\"\n",
        "use \"./link.assert\"\n",
        "use \"./renamed.assert\"\n",
        "use \"./words.txt\"\n",
        "tools from \"../../kept/run.json\"\n",
        "tools from \"link.json\"\n",
        "tools from \"broken.json\"\n",
        "schema S from \"../../kept/run.json\"\noutput is S\n",
        "schema S = { \"$ref\": \"../../kept/run.json\" }\noutput is S\n",
        "schema S = { \"$ref\": \"./link.json\" }\noutput is S\n",
        "rule r { output contains \"zz\" }\ntest \"t\" expect pass r from \"../../kept/run.json\"\n",
        "rule r { output contains \"zz\" }\ntest \"t\" expect pass r from \"link.json\"\n",
    ] {
        folder.write("work/rules/r.assert", rules.as_bytes());
        for command in [
            "lint rules/r.assert",
            "lint rules/r.assert --format json",
            "check rules/r.assert t.json",
            "check rules/r.assert t.json --format json",
            "explain rules/r.assert t.json",
            "test rules/r.assert",
            "disasm rules/r.assert",
            "compile rules/r.assert -o out.assertc",
        ] {
            let (ran, all) = said(&folder, command);
            assert_eq!(ran.code, 3, "{command}: {rules}: {ran:?}");
            assert!(!all.contains(KEPT) && !all.contains("kumquat"), "{command}: {rules}: {all}");
        }
    }
}

#[test]
fn whether_a_file_outside_exists_is_not_told_either() {
    let folder = folder();
    let of = |name: &str| {
        folder.write("work/rules/r.assert", format!("use \"../../kept/{name}\"\n").as_bytes());
        said(&folder, "lint rules/r.assert --format short").1.replace(name, "NAME")
    };
    assert_eq!(of("words.assert"), of("nothing-here.assert"));
    assert!(of("wrds.assert").contains("--allow-read"), "{}", of("wrds.assert"));
}

#[test]
fn a_folder_that_is_allowed_and_the_folder_of_a_project_are_read() {
    let folder = folder();
    folder.write("kept/lib.assert", b"let limit = 3\n");
    folder.write("work/rules/r.assert", b"use \"../../kept/lib.assert\"\nturns <= limit\n");
    let refused = said(&folder, "lint rules/r.assert").0;
    assert_eq!(refused.code, 3, "{refused:?}");
    for command in [
        "lint rules/r.assert",
        "check rules/r.assert t.json --allow empty --allow undecided",
        "compile rules/r.assert -o x.assertc",
        "disasm rules/r.assert",
        "explain rules/r.assert t.json",
        "test rules/r.assert --allow empty",
    ] {
        let ran = said(&folder, &format!("{command} --allow-read ../kept")).0;
        assert!(ran.code != 3 && ran.code != 2, "{command}: {ran:?}");
    }
    // A project in a parent folder allows files in its own folder.
    folder.write("averment.toml", b"");
    assert_eq!(said(&folder, "lint rules/r.assert").0.code, 0);
}

#[test]
fn cases_beside_the_rules_lead_nowhere_else() {
    let folder = folder();
    folder.write("work/rules/r.assert", b"output contains \"zz\"\n");
    folder.write("work/rules/r.cases.jsonl", b"{\"expect\":\"pass\",\"from\":\"../../kept/run.json\"}\n");
    let (ran, all) = said(&folder, "test rules/r.assert");
    assert!(ran.code == 1 && all.contains("leads out of the folders"), "{all}");
    assert!(!all.contains(KEPT), "{all}");
    let ran = said(&folder, "test rules/r.assert --allow-read ../kept").1;
    assert!(!ran.contains("leads out"), "{ran}");
    std::fs::remove_file(folder.path().join("work/rules/r.cases.jsonl")).unwrap();
    for (link, to) in [("r.cases", "../../kept"), ("r.cases/x.pass.json", "../../../kept/run.json")] {
        let path = folder.path().join("work/rules").join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(to, &path).unwrap();
        let (ran, all) = said(&folder, "test rules/r.assert");
        assert!(ran.code != 0 && all.contains("leads out of the folders") && !all.contains(KEPT), "{link}: {all}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_link_in_a_folder_of_rules_leads_to_nothing_else_and_nothing_is_written_through_it() {
    let folder = folder();
    std::fs::remove_file(folder.path().join("work/rules/renamed.assert")).unwrap();
    folder.write("kept/words.assert", b"never    x\n");
    for command in
        ["lint rules", "lint rules --fix", "fmt rules", "fmt rules/link.assert", "check rules t.json", "test rules"]
    {
        let (ran, all) = said(&folder, command);
        assert!(ran.code == 2 && all.contains("leads out of the folder of the rules"), "{command}: {ran:?}");
    }
    assert_eq!(folder.read("kept/words.assert"), "never    x\n");
    std::fs::remove_file(folder.path().join("work/rules/link.assert")).unwrap();
    // A link that stays inside is followed.
    folder.write("work/lib/own.assert", b"never    x\n");
    symlink("../lib/own.assert", folder.path().join("work/rules/own.assert")).unwrap();
    assert_eq!(said(&folder, "fmt rules").0.code, 0);
    assert_eq!(folder.read("work/lib/own.assert"), "never x\n");
}

#[test]
fn a_project_file_that_is_a_link_to_elsewhere_is_not_read() {
    let folder = folder();
    folder.write("work/rules/r.assert", b"output == \"y\"\n");
    symlink("../kept/words", folder.path().join("work/averment.toml")).unwrap();
    let (ran, all) = said(&folder, "check rules/r.assert t.json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(all.contains("leads out of its folder and is not used") && !all.contains(KEPT), "{all}");
}

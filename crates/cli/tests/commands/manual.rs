//! Manual pages and completions, as a shell and `man` read them.

use crate::folder::Folder;
use std::process::Command;

/// Runs a program that a system may not have; `None`, said loudly, where it has not.
fn with(program: &str, arguments: &[&str], folder: &Folder) -> Option<(bool, String)> {
    let output = Command::new(program).args(arguments).current_dir(folder.path()).output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no `{program}` here");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Some((output.status.success(), text))
}

#[test]
fn every_command_has_a_manual_page_that_man_can_read() {
    let folder = Folder::new(&[]);
    let ran = folder.aver("man --out pages");
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut names: Vec<String> = std::fs::read_dir(folder.path().join("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for command in ["aver.1", "aver-check.1", "aver-fmt.1", "aver-trace-show.1", "aver-man.1"] {
        assert!(names.iter().any(|name| name == command), "{command} of {names:?}");
    }
    for name in &names {
        let page = folder.read(&format!("pages/{name}"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Averment"), "{name}");
        let Some((fine, said)) = with("groff", &["-man", "-Tutf8", "-ww", &format!("pages/{name}")], &folder) else {
            continue;
        };
        assert!(fine && !said.contains("warning"), "{name}: {said}");
    }
    assert_eq!(folder.aver("man fmt").out, folder.read("pages/aver-fmt.1"));
    assert!(folder.aver("man").out.contains(".TH AVER 1"));
    assert!(folder.read("pages/aver-fmt.1").contains(".SH EXAMPLES\n.nf\n  aver fmt"));
    folder.aver("man chekc").refused(&["there is no command `chekc`", "`aver man check`"]);
}

/// What bash completes for a line.
fn completed(folder: &Folder, words: &[&str]) -> Option<String> {
    let last = words.len() - 1;
    let script = format!(
        "source aver.bash; aver() {{ '{}' \"$@\"; }}; COMP_WORDS=({}); COMP_CWORD={last}; _aver aver '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
        env!("CARGO_BIN_EXE_aver"),
        words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
        words[last],
        words[last - 1]
    );
    with("bash", &["-c", &script], folder).map(|(_, text)| text)
}

#[test]
fn completions_load_in_bash_and_complete_commands_and_options() {
    let folder = Folder::new(&[]);
    folder.write("aver.bash", folder.aver("completions bash").out.as_bytes());
    let Some((fine, said)) = with("bash", &["-n", "aver.bash"], &folder) else { return };
    assert!(fine, "{said}");
    assert_eq!(completed(&folder, &["aver", "fm"]).unwrap().trim(), "fmt");
    assert_eq!(completed(&folder, &["aver", "fmt", "--c"]).unwrap().trim(), "--check --color");
    assert!(completed(&folder, &["aver", "--color", "n"]).unwrap().contains("never"));
}

#[test]
fn names_of_rules_tags_and_cases_are_completed_from_the_files_of_the_line() {
    let folder = Folder::new(&[
        ("a.assert", "rule approval { tags payments\n never x }\ncase find-it { prompt \"p\"\n never y }\n"),
        ("b.assert", "rule budget { tags cost\n count any <= 3 }\n"),
        ("broken.assert", "rule ??? {"),
    ]);
    folder.write("aver.bash", folder.aver("completions bash").out.as_bytes());
    let Some(rules) = completed(&folder, &["aver", "check", "a.assert", "--rule", "ap"]) else { return };
    assert_eq!(rules.split_whitespace().collect::<Vec<_>>(), ["approval", "approval.1"]);
    assert_eq!(completed(&folder, &["aver", "test", "b.assert", "--tag", ""]).unwrap().trim(), "cost");
    assert_eq!(completed(&folder, &["aver", "check", "a.assert", "--case", "f"]).unwrap().trim(), "find-it");
    assert!(completed(&folder, &["aver", "check", "--rule", "b"]).unwrap().contains("budget"), "of the folder");
    assert!(folder.aver("completions zsh").out.contains(":NAME:_aver_of_rule'"));
    assert!(folder.aver("completions fish").out.contains("aver completions --of tag -- (commandline -opc)"));
}

#[test]
fn completions_of_the_other_shells_can_be_read_by_them() {
    let folder = Folder::new(&[]);
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute")] {
        folder.write("script", folder.aver(&format!("completions {shell}")).out.as_bytes());
        let Some((fine, said)) = with(shell, &[check, "script"], &folder) else { continue };
        assert!(fine, "{shell}: {said}");
    }
    for shell in ["powershell", "elvish"] {
        assert!(folder.aver(&format!("completions {shell}")).out.contains("fmt"), "{shell}");
    }
    folder.aver("completions tcsh").refused(&["tcsh", "bash"]);
}

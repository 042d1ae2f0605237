//! Manual pages and completions, tested with real shells and `man`.

use crate::folder::Folder;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::{CheckOptions, check_rules, files};
use averment_engine::bytecode::codec;
use averment_engine::bytecode::program::Program;
use std::process::Command;

/// Runs a program that may be missing; then prints a message and returns `None`.
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
        assert!(page.contains(".SH EXAMPLES"), "{name} has no example");
        let Some((fine, said)) = with("groff", &["-man", "-Tutf8", "-ww", &format!("pages/{name}")], &folder) else {
            continue;
        };
        assert!(fine && !said.contains("warning: "), "{name}: {said}");
    }
    assert_eq!(folder.aver("man fmt").out, folder.read("pages/aver-fmt.1"));
    assert!(folder.aver("man").out.contains(".TH AVER 1"));
    assert!(folder.read("pages/aver-fmt.1").contains(".SH EXAMPLES\n.nf\n  aver fmt"));
    folder.aver("man chekc").refused(&["there is no command `chekc`", "`aver man check`"]);
}

/// Returns the completions that bash finds for a line.
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

/// Names that run a command if a shell expands them.
const HOSTILE: [&str; 4] = ["$(touch PWNED)", "`touch PWNED`", "a;touch PWNED", "a'$(touch PWNED)'"];

/// Compiles a program with one rule.
fn program() -> Program {
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("a.assert", None, "rule a { tags t\n never x\n }"));
    let files = files::Memory::default();
    let checked = check_rules(&mut sources, root, &CheckOptions { limits: Limits::default(), files: &files });
    averment_engine::compile::compile(&checked.module, &sources)
}

#[test]
fn no_name_of_a_compiled_program_is_run_by_a_completion() {
    for name in HOSTILE {
        let folder = Folder::new(&[]);
        folder.write("aver.bash", folder.aver("completions bash").out.as_bytes());
        let mut evil = program();
        evil.rules[0].id = name.to_owned();
        evil.assertions[0].id = format!("{name}.1");
        evil.assertions[0].settings.tags = vec![name.to_owned()];
        folder.write("evil.assert", &codec::encode(&evil));
        for kind in ["rule", "tag", "case"] {
            assert_eq!(folder.aver(&format!("completions --of {kind} -- aver check evil.assert")).out, "", "{name}");
            let words = ["aver", "check", "evil.assert", &format!("--{kind}"), ""];
            if let Some(said) = completed(&folder, &words) {
                assert_eq!(said.trim(), "", "{name}");
            }
        }
        assert!(!folder.path().join("PWNED").exists(), "{name}");
        folder.aver("check evil.assert x.json").refused(&["evil.assert", "not valid", "is no "]);
    }
}

#[test]
fn a_good_compiled_program_is_no_rule_text_to_complete_from() {
    let folder = Folder::new(&[("b.assert", "rule budget { never x }\n")]);
    folder.write("a.assert", &codec::encode(&program()));
    assert_eq!(folder.aver("completions --of rule -- aver check a.assert").out, "");
    assert_eq!(folder.aver("completions --of rule -- aver check").out, "budget\nbudget.1\n");
}

#[test]
#[cfg(unix)]
fn nobody_waits_behind_tab_for_a_pipe_in_the_place_of_rules() {
    let folder = Folder::new(&[("b.assert", "rule budget { never x }\n")]);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("p.assert")).status();
    if made.is_ok_and(|status| status.success()) {
        let began = std::time::Instant::now();
        assert_eq!(folder.aver("completions --of rule -- aver check p.assert b.assert").out, "budget\nbudget.1\n");
        assert!(began.elapsed() < std::time::Duration::from_secs(3), "{:?}", began.elapsed());
    }
}

#[test]
fn bash_neither_runs_what_names_say_nor_writes_it_unquoted() {
    let folder = Folder::new(&[]);
    folder.write("aver.bash", folder.aver("completions bash").out.as_bytes());
    folder.write("names", (HOSTILE.join("\n") + "\n").as_bytes());
    // Replaces `aver` with a function that prints names which `aver` itself would never print.
    let script = "source aver.bash; aver() { cat names; }; COMP_WORDS=(aver check --rule ''); COMP_CWORD=3; _aver aver '' --rule; \
        echo ${#COMPREPLY[@]}; for one in \"${COMPREPLY[@]}\"; do eval \"printf '%s\\n' $one\"; done";
    let Some((fine, said)) = with("bash", &["-c", script], &folder) else { return };
    assert!(fine, "{said}");
    assert_eq!(said.lines().collect::<Vec<_>>(), [&["4"], &HOSTILE[..]].concat());
    assert!(!folder.path().join("PWNED").exists());
}

#[test]
fn the_scripts_of_no_shell_expand_the_names_that_they_ask_for() {
    let folder = Folder::new(&[]);
    let script = |shell: &str| folder.aver(&format!("completions {shell}")).out;
    let (bash, zsh, fish) = (script("bash"), script("zsh"), script("fish"));
    assert!(!bash.contains("compgen -W \"$(aver"), "words of `compgen -W` are expanded");
    for kind in ["rule", "tag", "case"] {
        let asked = format!("aver completions --of {kind} -- ");
        assert!(bash.contains(&format!("done <<< \"$({asked}\"${{COMP_WORDS[@]}}\" 2>/dev/null)\"")), "{kind}");
        let quoted = format!("names=(${{(f)\"$({asked}\"${{(@Q)words}}\" 2>/dev/null)\"}})\n    compadd -a -- names");
        assert!(zsh.contains(&quoted), "{kind}");
        assert!(fish.contains(&format!("-f -a '({asked}(commandline -opc) 2>/dev/null)'")), "{kind}");
    }
    for shell in ["elvish", "powershell"] {
        assert!(!script(shell).contains("completions --of"), "{shell} completes no names of files");
    }
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

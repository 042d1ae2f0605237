//! Hostile names of files, rules and tests, such as forged log lines, terminal escapes and invisible characters: no command prints them raw.

#![cfg(unix)]

use averment_report::{Format, ReportedCommand as Reported};
use std::path::Path;
use tempfile::TempDir;

/// A line break, a workflow command of a CI service, a forged total, an escape sequence, and invisible or reordering characters.
const NAME: &str = "X\n::error::forged\npassed: 9\u{1b}[31m\r\u{202e}\u{200b}\u{e0041}\u{2028}\u{fe01}Y";

/// Returns hostile text in an output, except line ends of the format itself.
fn is_hostile(output: &str) -> Option<String> {
    let hidden = |character: char| {
        matches!(character, '\u{1b}' | '\u{202e}' | '\u{200b}' | '\u{e0041}' | '\u{2028}' | '\u{fe01}')
    };
    let line = output.lines().find(|line| {
        line.contains(hidden) || line.contains('\r') || line.starts_with("::error::") || line.starts_with("passed: 9")
    });
    line.map(|line| line.escape_debug().to_string())
}

fn aver(folder: &Path, words: &[String], input: &str) -> String {
    let mut command = assert_cmd::Command::cargo_bin("aver").unwrap();
    let output = command.current_dir(folder).args(words).write_stdin(input).output().unwrap();
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Creates a folder with rules, broken rules, a readable run and an unreadable one, and a subfolder with all of them, under hostile names.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rules = "never refund\nrule r \"sentence \u{1b}[31m\u{202e}\" { output.k == \"a\u{1b}[32mb\" message \"m\u{1b}[5m\" \
                 class \"c\u{1b}[31m\" \"L\u{202e}\" }\noutput.k2 == 2\n\
                 test \"t\u{1b}[1m\u{202e}\" expect pass { calls: [{ tool: \"refund\" }] }\n";
    let run = "{\"id\":\"i\\u001b[31m\\n::error::id\",\"calls\":[{\"tool\":\"refund\"},{\"tool\":\"t\\n::error::t\u{202e}\"}],\
               \"output\":{\"k\":\"z\\u001b\\n::error::k\u{202e}\u{e0041}\"},\"messages\":[{\"role\":\"user\",\"text\":\"\u{200b}\"}]}";
    let write = |name: String, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(format!("{NAME}.assert"), rules);
    write(format!("bad{NAME}.assert"), "nevr x\noutput ==\u{1b}[31m\n");
    write(format!("{NAME}.json"), run);
    write(format!("bad{NAME}.json"), "{\u{1b}[31m");
    std::fs::create_dir(folder.path().join(NAME)).unwrap();
    write(format!("{NAME}/r.assert"), rules);
    write(format!("{NAME}/t.json"), run);
    write(format!("{NAME}/other{NAME}"), "x");
    folder
}

#[test]
fn no_command_shows_a_hostile_name_as_it_is() {
    let folder = folder();
    let mut commands = Vec::new();
    for (command, line) in [
        (Reported::Check, "check R T B N"),
        (Reported::Check, "check R T"),
        (Reported::Test, "test R"),
        (Reported::Lint, "lint W"),
    ] {
        commands.extend(Format::of_command(command).map(|format| format!("{line} --format {}", format.as_str())));
    }
    let others = "check R T --profile|check R T --profile=json|check W T|check W T --format short|check M T|check R F|check F T\
                  |check R T --baseline X|check R T --map X|check R T --param-file X|check R T --param X=1|check R T --rule X\
                  |check R T --report json=X/x|check R T --format X|check R T --report-dir T|check R T --project X|check R X\
                  |explain R T --all|explain R T --format json|explain R T --format html|explain R B|explain X|explain R T --rule X\
                  |lint R|lint F|lint R --fix --diff|lint R --allow X|test R --coverage|test R --snapshots|test R --filter X|test W\
                  |test R --discriminate F F|trace show T|trace show F|trace show B|trace show N|trace show T --fields|trace show T --json|trace convert T|trace stats F|trace stats F --json|trace map T|disasm R|disasm W|fmt --check R\
                  |fmt --diff R|fmt --check W|fmt --check F|compile R -o C|disasm C|check C T|compile R -o R|compile R -o F|new X\
                  |new X2 --from T|new X3 --from B|new y --template X|docs X|man X|man --out T|completions --of rule -- aver check R";
    commands.extend(others.split('|').map(|line| line.trim().to_owned()));
    for command in commands {
        let words: Vec<String> = command
            .split_whitespace()
            .map(|word| match word {
                "R" => format!("{NAME}.assert"),
                "W" => format!("bad{NAME}.assert"),
                "M" => format!("none{NAME}.assert"),
                "T" => format!("{NAME}.json"),
                "B" => format!("bad{NAME}.json"),
                "N" => format!("none{NAME}.json"),
                "C" => format!("{NAME}.assertc"),
                "F" => NAME.to_owned(),
                word => word.replace('X', NAME),
            })
            .collect();
        let shown = aver(folder.path(), &words, "");
        assert_eq!(is_hostile(&shown), None, "{command}: {shown:?}");
    }
}

#[test]
fn no_session_shows_a_hostile_name_as_it_is() {
    let folder = folder();
    let script =
        "output\n:rules\n:step\ncalls\n:code output.k == 3\n:nope\u{1b}[31m\n:load none\u{202e}\n:save! q.assert\n";
    let words: Vec<String> =
        ["repl", &format!("{NAME}.assert"), "--on", &format!("{NAME}.json")].map(str::to_owned).to_vec();
    let shown = aver(folder.path(), &words, script);
    assert_eq!(is_hostile(&shown), None, "{shown:?}");
}

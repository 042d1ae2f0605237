//! Reports in every format: no secrets, no terminal control characters in reports for people, and files that are written completely or not at all.

use crate::folder::Folder;
use averment_report::{Format, Notation, ReportedCommand as Reported};
use std::path::Path;

const RULES: &str = "\
## A note for whoever reads a failure.
rule approval \"Refunds need an approval\" {
  before approve(id: $id) -> refund(id: $id)
}
rule scored { threshold 0.9
  output == \"x\"
  calls exists
}
each refund: args.note == \"y\" message \"it said ${output}\"
output == \"x\" severity warn
only approve, refund
cost <= $1
never drop
";

/// Returns a run with this text in every place where a run can have text.
fn run_with(text: &str) -> String {
    serde_json::json!({"output": text, "calls": [
        {"tool": "approve", "args": {"id": "a"}},
        {"tool": "refund", "args": {"id": text, "note": text}, "result": text, "error": text},
        {"tool": text, "args": {}},
    ]})
    .to_string()
}

fn printed(folder: &Folder, format: &str) -> String {
    let ran = folder.aver(&format!("check r.assert runs --format {format} --max-failures 100 --all-violations"));
    assert!([1, 4].contains(&ran.code), "{format}: {ran:?}");
    ran.out + &ran.err
}

#[test]
fn no_format_shows_a_secret_wherever_it_stands() {
    let secret = format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R");
    let folder = Folder::new(&[("r.assert", RULES), ("runs/a.json", &run_with(&secret))]);
    folder.write(&format!("runs/{secret}.json"), run_with("plain").as_bytes());
    folder.write("runs/broken.jsonl", format!("{{\"{secret}\": }}\n").as_bytes());
    folder.write(&format!("runs/{secret}.jsonl"), b"{ nothing\n");
    for format in Format::ALL.map(Format::as_str) {
        let text = printed(&folder, format);
        assert!(!text.contains("1a2B3c4D"), "{format}: {text}");
    }
}

#[test]
fn nothing_of_a_run_or_a_name_of_a_file_steers_a_terminal() {
    let steering = "\u{1b}[31m\u{9b}1m\u{202e}\u{200b}\u{2066}\u{feff}\u{ad}\u{7f}\r\n::error::x # TODO `<b>|";
    let folder = Folder::new(&[("r.assert", RULES), ("runs/a.json", &run_with(steering))]);
    let name = "\u{1b}[31m\u{202e}\u{200b}\n::error::";
    folder.write(&format!("runs/{name}.json"), run_with("plain").as_bytes());
    folder.write(&format!("runs/{name}.jsonl"), b"{ nothing\n");
    let steers = |letter: char| {
        letter.is_control() && letter != '\n'
            || "\u{ad}\u{200b}\u{200d}\u{202a}\u{202e}\u{2066}\u{feff}\u{2028}".contains(letter)
    };
    for format in Format::ALL.into_iter().filter(|format| format.notation() == Notation::Text).map(Format::as_str) {
        let text = printed(&folder, format);
        let text = if format == "csv" { text.replace("\r\n", "\n") } else { text };
        let found: Vec<char> = text.chars().filter(|letter| steers(*letter)).collect();
        assert!(found.is_empty(), "{format}: {found:?} in {text:?}");
        let commands = text.lines().filter(|line| line.trim_start().starts_with("::"));
        assert!(format == "github" || commands.count() == 0, "{format}: {text}");
        assert!(!text.lines().any(|line| line.starts_with("::error::")), "{format}: {text}");
    }
}

#[test]
fn a_format_that_a_command_does_not_have_is_wrong_usage() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs/a.json", &run_with("x"))]);
    folder.aver("check r.assert runs --format junt").refused(&["there is no format `junt`", "did you mean `junit`?"]);
    folder.aver("check r.assert runs --report junit").refused(&["names no file", "--report junit=FILE"]);
    folder.aver("lint r.assert --format spans").refused(&["`aver lint` has no format `spans`", "sarif"]);
    folder.aver("test r.assert --format sarif").refused(&["`aver test` has no format `sarif`", "tap"]);
}

#[test]
fn the_pages_name_the_formats_that_each_command_has() {
    let page =
        |name| std::fs::read_to_string(averment_fixtures::project(&format!("docs/reference/{name}.md"))).unwrap();
    let (reports, commands) = (page("reports"), page("command-line"));
    let table = reports.split("\n## ").next().unwrap();
    for format in Format::ALL {
        let word = format!("`{}`", format.as_str());
        let row = table.lines().find(|line| line.split('|').nth(1).is_some_and(|cell| cell.contains(&word)));
        let row = row.unwrap_or_else(|| panic!("reports.md has no row for {word}"));
        let cells: Vec<&str> = row.split('|').skip(4).map(str::trim).collect();
        let has = |command| if format.suits_command(command) { "yes" } else { "" };
        assert_eq!(cells[..3], [Reported::Check, Reported::Test, Reported::Lint].map(has), "reports.md: {row}");
        let file = if in_folder(format) { format!("`{}`", format.file_name()) } else { String::new() };
        assert_eq!(cells[3], file, "reports.md: {row}");
        for command in [Reported::Check, Reported::Test, Reported::Lint] {
            let name = command.as_str().trim_start_matches("aver ");
            let section = commands.split("\n## ").find(|section| section.starts_with(&format!("{name}\n"))).unwrap();
            let row = |flag: &str| section.lines().find(|line| line.starts_with(&format!("| `{flag}"))).unwrap();
            let named = row("--format FORMAT").contains(&word);
            assert_eq!(named, format.suits_command(command), "command-line.md, --format of {name}: {word}");
            if command == Reported::Check {
                let named = row("--report-dir DIR").contains(&format!("`{}`", format.file_name()));
                assert_eq!(named, in_folder(format), "command-line.md, --report-dir: {word}");
            }
        }
    }
}

fn in_folder(format: Format) -> bool {
    Format::folder_formats().any(|one| one == format)
}

#[test]
fn a_folder_of_reports_has_names_that_stay() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs/a.json", &run_with("x"))]);
    assert_eq!(folder.aver("check r.assert runs --format summary --report-dir out/reports").code, 1);
    assert_eq!(
        files(&folder.path().join("out/reports")),
        ["gitlab.json", "junit.xml", "markdown.md", "report.csv", "report.html", "report.json", "report.sarif"]
    );
    folder.write("t.assert", b"rule a { never b }\ntest \"b\" expect fail a { calls: [{ tool: \"b\" }] }\n");
    assert_eq!(folder.aver("test t.assert --report-dir tests").code, 0);
    assert_eq!(
        files(&folder.path().join("tests")),
        ["gitlab.json", "junit.xml", "markdown.md", "report.csv", "report.json"]
    );
    assert_eq!(folder.aver("lint t.assert --report-dir lints --report tap=lint.tap").code, 0);
    assert!(folder.read("lint.tap").contains("ok 1 - findings"), "a file without findings holds");
}

/// Returns the names of the files in a folder, including hidden ones.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn rules_that_do_not_compile_are_results_where_services_look() {
    let folder = Folder::new(&[("r.assert", "nver b\n"), ("runs/a.json", "{\"calls\": []}")]);
    let ran = folder.aver("check r.assert runs --format github --report junit=j.xml --report sarif=s.sarif");
    assert_eq!(ran.code, 3);
    assert!(ran.out.starts_with("::error file=r.assert,line=1,col=1"), "{}", ran.out);
    assert!(folder.read("j.xml").contains("failures=\"1\""), "{}", folder.read("j.xml"));
    assert!(folder.read("s.sarif").contains("\"exitCode\":3"), "{}", folder.read("s.sarif"));
}

#[test]
fn no_report_is_written_over_what_is_read_nor_two_into_one() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs/a.json", &run_with("x"))]);
    for target in ["r.assert", "runs/a.json", "runs/../runs/a.json", "./r.assert"] {
        let before = (folder.read("r.assert"), folder.read("runs/a.json"));
        folder.aver(&format!("check r.assert runs --report json={target}")).refused(&["is read by this command"]);
        assert_eq!((folder.read("r.assert"), folder.read("runs/a.json")), before);
    }
    let twice = "check r.assert runs --report json=x --report junit=./x";
    folder.aver(twice).refused(&["two reports go into `./x`"]);
    folder.aver("check r.assert runs --report json=nowhere/x").refused(&["`nowhere/x` cannot be written"]);
    folder.aver("check r.assert runs --report json=runs").refused(&["it is a folder"]);
    folder.aver("lint r.assert --report junit=r.assert").refused(&["is read by this command"]);
}

#[cfg(unix)]
mod whole {
    use super::{Folder, RULES, files, run_with};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::{Command, Stdio};

    #[test]
    fn a_link_in_the_place_of_a_report_is_replaced_and_not_written_through() {
        let folder = Folder::new(&[("r.assert", RULES), ("runs/a.json", &run_with("x")), ("mine.txt", "mine")]);
        symlink("mine.txt", folder.path().join("report.json")).unwrap();
        assert_eq!(folder.aver("check r.assert runs --format summary --report json=report.json").code, 1);
        assert_eq!(folder.read("mine.txt"), "mine");
        assert!(folder.read("report.json").starts_with("{\"version\""));
        assert!(!folder.path().join("report.json").is_symlink());
    }

    #[test]
    fn a_report_keeps_the_permissions_of_the_one_before_it() {
        let folder = Folder::new(&[("r.assert", RULES), ("runs/a.json", &run_with("x")), ("report.json", "old")]);
        let path = folder.path().join("report.json");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(folder.aver("check r.assert runs --format summary --report json=report.json").code, 1);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    /// Creates a check of many runs with large reports.
    fn many() -> Folder {
        let lines: String = (0..400).map(|number| run_with(&format!("text {number}")) + "\n").collect();
        Folder::new(&[("r.assert", RULES), ("runs/a.jsonl", &lines), ("out/report.json", "old"), ("out/j.xml", "old")])
    }

    const CHECK: &str = "check r.assert runs --format summary --report json=out/report.json --report junit=out/j.xml";

    #[test]
    fn where_no_more_can_be_written_the_old_file_stays_and_the_error_names_the_file() {
        let folder = many();
        let line = format!("ulimit -f 16; exec {} {CHECK}", env!("CARGO_BIN_EXE_aver"));
        let ran = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains("`out/report.json` cannot be written: "), "{said}");
        assert_eq!((folder.read("out/report.json"), folder.read("out/j.xml")), ("old".to_owned(), "old".to_owned()));
        assert_eq!(files(&folder.path().join("out")), ["j.xml", "report.json"]);
    }

    #[test]
    fn a_check_that_is_killed_leaves_no_half_report() {
        let folder = many();
        for number in 0..20 {
            let mut command = Command::new(env!("CARGO_BIN_EXE_aver"));
            command.args(CHECK.split(' ')).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(number * 10));
            child.kill().unwrap();
            child.wait().unwrap();
            for name in ["out/report.json", "out/j.xml"] {
                let text = folder.read(name);
                let whole = text == "old" || text.ends_with("}\n") || text.ends_with("</testsuites>\n");
                assert!(whole, "{name} after {number}: {} bytes", text.len());
            }
        }
    }
}

#[test]
fn rules_of_the_same_name_in_two_files_are_told_apart() {
    let folder = Folder::new(&[
        ("d/a.assert", "rule approval { each refund: args.amount <= 100 }\n"),
        ("d/b.assert", "rule approval { never drop_table }\n"),
        ("run.json", "{\"calls\": [{\"tool\": \"drop_table\"}, {\"tool\": \"refund\", \"args\": {\"amount\": 5}}]}"),
    ]);
    let sarif = folder.aver("check d run.json --format sarif").json();
    let run = &sarif["runs"][0];
    let index = run["results"][0]["ruleIndex"].as_u64().unwrap() as usize;
    let rule = run["tool"]["driver"]["rules"][index].to_string();
    assert!(rule.contains("never drop_table"), "{rule}");
    let rules = run["properties"]["rules"].as_object().unwrap();
    assert_eq!(rules.keys().collect::<Vec<_>>(), ["d/a.assert:1: approval", "d/b.assert:1: approval"], "{rules:?}");
    let spans = folder.aver("check d run.json --format spans").out;
    assert!(spans.contains("averment.rule.d/b.assert:1: approval"), "{spans}");
}

#[test]
fn what_steers_is_shown_as_a_stand_in_where_services_show_it_to_people() {
    let folder = Folder::new(&[
        ("r.assert", "output == \"x\"\n"),
        ("run.json", "{\"output\": \"a\\u202eb\\u200bc\\u001b[31md\"}"),
    ]);
    for format in ["junit", "sarif"] {
        let out = folder.aver(&format!("check r.assert run.json --format {format}")).out;
        let message = out.lines().find(|line| line.contains("`output` is")).unwrap();
        assert!(!message.contains(['\u{202e}', '\u{200b}']), "{format}: {message}");
        assert!(!out.contains('\u{1b}'), "{format}: {out}");
    }
}

#[test]
fn a_row_of_csv_says_what_it_is_about() {
    let folder = Folder::new(&[
        ("r.assert", "rule q threshold 0.9 { output == \"x\" }\nnever drop_table\n"),
        ("runs.jsonl", "{\"output\": \"y\", \"calls\": []}\n{broken\n"),
    ]);
    let out = folder.aver("check r.assert runs.jsonl --format csv").out;
    let ends: Vec<&str> = out.lines().skip(1).map(|line| line.rsplit(',').nth(1).unwrap()).collect();
    assert_eq!(ends, ["assertion", "assertion", "threshold", "trace"], "{out}");
    assert!(out.lines().nth(2).unwrap().ends_with(",assertion,\"never drop_table\""), "{out}");
}

#[test]
fn annotations_begin_with_what_fails_most_runs() {
    let run = |number: usize| {
        let output = if number.is_multiple_of(4) { "n" } else { "y" };
        format!("{{\"output\": \"{output}\", \"calls\": [{{\"tool\": \"a\"}}]}}\n")
    };
    let runs: String = (0..40).map(run).collect();
    let folder = Folder::new(&[
        (
            "r.assert",
            "output == \"y\"\nrule w { severity warn\n  never a }\nrule q threshold 0.9 { never a\n  output is not empty }\n",
        ),
        ("runs.jsonl", &format!("{runs}{}", "{broken\n".repeat(9))),
    ]);
    let out = folder.aver("check r.assert runs.jsonl --format github").out;
    let at = |text: &str| out.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}: {out}"));
    assert!(at("title=q::40 of 40 runs") < at("::10 of 40 runs"), "{out}");
    assert!(at("::10 of 40 runs") < at("title=w.1::40 of 40 runs"), "{out}");
    assert_eq!(out.matches("title=cannot be read").count(), 4, "{out}");
    assert!(out.contains("title=cannot be read::6 more"), "{out}");
}

#[test]
fn a_hundred_violations_are_listed_unless_all_are_asked_for() {
    let run = serde_json::json!({"calls": vec![serde_json::json!({"tool": "a"}); 150]}).to_string();
    let folder = Folder::new(&[("r.assert", "never a\n"), ("run.json", &run)]);
    let issues = |more: &str| {
        let ran = folder.aver(&format!("check r.assert run.json --format gitlab {more}"));
        ran.json().as_array().unwrap().len()
    };
    assert_eq!((issues(""), issues("--all-violations")), (100, 150));
}

#[test]
fn sarif_leaves_out_what_code_scanning_does_not_take_and_says_so() {
    let rules: String = (0..60).map(|number| format!("output.n{number} == 1\n")).collect();
    let output: serde_json::Map<String, serde_json::Value> = (0..60).map(|n| (format!("n{n}"), 0.into())).collect();
    let run = serde_json::json!({ "output": output }).to_string();
    let folder = Folder::new(&[("r.assert", &rules), ("runs.jsonl", &format!("{run}\n").repeat(420))]);
    let sarif = folder.aver("check r.assert runs.jsonl --format sarif").json();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 25_000);
    let said = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(said.contains("200 results left out"), "{said}");
}

/// Backslashes in Markdown tables stay backslashes.
#[test]
fn markdown_shows_a_regular_expression_as_it_is() {
    let folder = Folder::new(&[
        ("r.assert", "output.url matches /^https:\\/\\/shop\\.example\\/\\d+$/\n"),
        ("run.json", r#"{"output": {"url": "http://x"}, "calls": []}"#),
    ]);
    let ran = folder.aver("check r.assert run.json --format markdown");
    assert!(ran.out.contains(r"| `output.url matches /^https:\/\/shop\.example\/\d+$/` | 1 |"), "{}", ran.out);
}

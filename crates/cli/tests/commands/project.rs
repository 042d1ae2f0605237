//! `averment.toml` and `aver lint`, tested from the command line.

use crate::folder::Folder;

const RULES: &str = "param limit: number = 100\nnever refund(amount > limit)\n";
const RUN: &str = r#"{"calls": [{"tool": "refund", "args": {"amount": 150}}]}"#;

fn project(toml: &str) -> Folder {
    Folder::new(&[("averment.toml", toml), ("rules/r.assert", RULES), ("runs/one.json", RUN), ("rules/deep/x.txt", "")])
}

#[test]
fn a_command_without_arguments_takes_rules_traces_parameters_and_format_from_the_project() {
    let folder = project("rules = [\"rules/\"]\ntraces = [\"runs/*.json\"]\nformat = \"short\"\n");
    let ran = folder.aver("check");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.starts_with("rules/r.assert:2:1: "), "{ran:?}");
    folder.write("averment.toml", b"rules = \"rules\"\ntraces = \"runs\"\n[params]\nlimit = 200\n");
    assert_eq!(folder.aver("check").code, 0);
    // The command line has precedence.
    assert_eq!(folder.aver("check --param limit=100").code, 1);
    assert_eq!(folder.aver("check --no-project rules runs").code, 1);
    assert!(folder.aver("check --format json").out.starts_with('{'));
    assert_eq!(folder.aver("check rules/r.assert").code, 0, "traces of the project");
    assert_eq!(folder.aver("check runs/one.json").code, 0, "rules of the project");
    assert_eq!(folder.aver("lint").code, 0);
}

#[test]
fn the_project_is_found_above_the_rules_and_named_by_hand() {
    let folder = project("[params]\nlimit = 200\n");
    assert_eq!(folder.aver("check rules/r.assert runs/one.json").code, 0);
    folder.write("elsewhere/averment.toml", b"[params]\nlimit = 100\n");
    assert_eq!(folder.aver("check --project elsewhere/averment.toml rules/r.assert runs/one.json").code, 1);
    let missing = folder.aver("check --project none.toml rules/r.assert runs/one.json");
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("there is no such file"), "{missing:?}");
    Folder::new(&[]).aver("lint").refused(&["no rules are named", "averment.toml"]);
}

#[test]
fn mistakes_in_the_project_file_end_the_command_at_their_place() {
    let folder = project("ruels = [\"rules/\"]\n");
    let ran = folder.aver("check rules/r.assert runs/one.json");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("averment.toml:1:1") && ran.err.contains("did you mean `rules`?"), "{ran:?}");
    folder.write("averment.toml", b"[params]\nlimitt = 3\n");
    assert_eq!(folder.aver("check rules/r.assert runs/one.json").code, 1, "it may be meant for other rules");
    folder.write("averment.toml", b"rules = \"rules\"\ntraces = \"runs\"\n[params]\nlimitt = 3\n");
    let unknown = folder.aver("check");
    assert!(unknown.code == 2 && unknown.err.contains("did you mean `limit`?"), "{unknown:?}");
    folder.write("averment.toml", b"rules = \"rules\"\ntraces = \"runs\"\n[params]\nlimit = \"many\"\n");
    assert!(folder.aver("check").err.contains("does not fit the parameter `limit`"));
    folder.write("averment.toml", b"format = \"hman\"\n");
    assert!(folder.aver("check rules runs").err.contains("did you mean `human`?"));
}

#[test]
fn a_project_file_grants_nothing_by_itself() {
    let folder = Folder::new(&[
        ("repository/averment.toml", "rules = \"r.assert\"\ntraces = \"run.json\"\n[permissions]\nrun = true\n"),
        ("repository/r.assert", "run \"sh -c 'echo > ran'\" exits 0\n"),
        ("repository/run.json", "{\"calls\": []}"),
    ]);
    let ran = folder.aver("check --project repository/averment.toml");
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("asks to run commands; `--trust-project` allows it"), "{ran:?}");
    assert!(!folder.path().join("ran").exists());
    assert_eq!(folder.aver("check --project repository/averment.toml --trust-project").code, 0);
    assert!(folder.path().join("ran").exists());
    // A project cannot name traces outside of its folder.
    folder.write("repository/averment.toml", b"rules = \"r.assert\"\ntraces = \"../private.json\"\n");
    folder.write("private.json", b"{\"calls\": []}");
    let ran = folder.aver("check --project repository/averment.toml");
    assert!(ran.code == 2 && ran.err.contains("leads out of the folder of the project"), "{ran:?}");
}

#[test]
fn levels_come_from_the_project_and_the_command_line() {
    let folder =
        Folder::new(&[("averment.toml", "[lint]\nstyle = \"allow\"\n"), ("r.assert", "not (output.a != 1)\n")]);
    assert_eq!(folder.aver("lint r.assert").code, 0);
    assert_eq!(folder.aver("lint r.assert --warn double-negation").code, 1);
    assert_eq!(folder.aver("lint r.assert --no-project").code, 1);
    let denied = folder.aver("lint r.assert --deny style --format short");
    assert_eq!((denied.code, denied.out.contains("error[double-negation]")), (1, true), "{denied:?}");
    assert_eq!(folder.aver("lint r.assert --no-project --allow style").code, 0);
    assert_eq!(folder.aver("lint r.assert --no-project --info style").code, 0, "a remark is no finding");
    folder.aver("lint r.assert --deny stile").refused(&["did you mean `style`?"]);
    folder.aver("lint r.assert --allow syntax").refused(&["an error of the language"]);
    folder.write("r.assert", b"before approve -> refund\n");
    assert_eq!(folder.aver("lint r.assert").out, "");
    assert!(folder.aver("lint r.assert --all --format short").out.contains("info[guard-may-fail]"));
    // The note beside a check counts only the lints that the project enables.
    folder.write("averment.toml", b"[lint]\nunused-let = \"allow\"\n");
    folder.write("w.assert", b"let a = 1\nnever refund\n");
    folder.write("run.json", b"{\"calls\": []}");
    assert!(!folder.aver("check w.assert run.json").err.contains("warning"));
}

#[test]
fn fixes_are_written_in_one_piece_or_only_shown() {
    let text =
        "# kept\nnot (output.a != 1)   # why\n3 <= length(calls)\noutput.url matches /^https:\\/\\/shop.example\\//\n";
    let folder = Folder::new(&[("r.assert", text), ("broken.assert", "not (output.a != 1)\nnevr x\n")]);
    let shown = folder.aver("lint r.assert --fix --diff");
    assert_eq!((shown.code, folder.read("r.assert").as_str()), (1, text));
    assert!(shown.out.contains("\n-not (output.a != 1)   # why\n"), "{shown:?}");
    assert!(shown.out.contains("\n+output.a == 1   # why\n"), "{shown:?}");
    let fixed = folder.aver("lint r.assert --fix");
    assert_eq!((fixed.code, fixed.err.as_str()), (0, "r.assert: 3 fixed\n"), "{fixed:?}");
    let after =
        "# kept\noutput.a == 1   # why\nlength(calls) >= 3\noutput.url matches /^https:\\/\\/shop\\.example\\//\n";
    assert_eq!(folder.read("r.assert"), after);
    let again = folder.aver("lint r.assert --fix");
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    // A file that does not compile is not changed.
    let broken = folder.aver("lint broken.assert --fix");
    assert_eq!((broken.code, folder.read("broken.assert").as_str()), (3, "not (output.a != 1)\nnevr x\n"));
    folder.aver("lint - --fix").refused(&["standard input cannot be changed"]);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[cfg(unix)]
#[test]
fn a_fixed_file_keeps_its_permissions_and_its_link() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new(&[("real.assert", "not (output.a != 1)\n")]);
    std::fs::set_permissions(folder.path().join("real.assert"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.assert", folder.path().join("link.assert")).unwrap();
    assert_eq!(folder.aver("lint link.assert --fix").code, 0);
    assert_eq!(folder.read("real.assert"), "output.a == 1\n");
    assert!(std::fs::symlink_metadata(folder.path().join("link.assert")).unwrap().is_symlink());
    let mode = std::fs::metadata(folder.path().join("real.assert")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn findings_are_printed_for_people_lines_programs_and_reviews() {
    let folder = Folder::new(&[("a,b.assert", "rule r \"%\" {\n  output.a == 1\n  output.a == 2\n}\n")]);
    let human = folder.aver("lint a,b.assert").out;
    assert!(human.contains("this and line 2 can never both hold"), "{human}");
    assert!(human.contains("on the run {\"output\":{\"a\":1}} this fails"), "{human}");
    let short = folder.aver("lint a,b.assert --format short").out;
    assert!(short.starts_with("a,b.assert:3:3: warning[contradictory]: this and line 2"), "{short}");
    let json = folder.aver("lint a,b.assert --format json").json();
    assert_eq!(json["diagnostics"][0]["witness"]["run"], "{\"output\":{\"a\":1}}");
    let github = folder.aver("lint a,b.assert --format github").out;
    assert!(
        github.starts_with(
            "::warning file=a%2Cb.assert,line=3,col=3,endLine=3,endColumn=16,title=contradictory::this and line 2 "
        ),
        "{github}"
    );
    assert_eq!(github.lines().count(), 1);
}

#[test]
fn the_list_shows_every_lint_with_its_level() {
    let folder = Folder::new(&[("averment.toml", "[lint]\nguard-may-fail = \"warn\"\n")]);
    let list = folder.aver("lint --list").out;
    assert!(list.contains("truth: ") && list.contains("  guard-may-fail           warn   "), "{list}");
    assert!(list.lines().filter(|line| line.starts_with("  ")).count() >= 60, "{list}");
    let json = folder.aver("lint --list --format json").json();
    let entry = json["lints"].as_array().unwrap().iter().find(|one| one["slug"] == "guard-may-fail").unwrap();
    assert_eq!((&entry["level"], &entry["default"]), (&"warn".into(), &"allow".into()));
}

#[test]
fn hostile_rules_are_linted_without_harm() {
    let deep = format!("{}output.a == 1{}\n", "(".repeat(60), ")".repeat(60));
    let chain = format!("{}\n", (0..2_000).map(|i| format!("output.a == {i}")).collect::<Vec<_>>().join(" or "));
    let mixed = format!(
        "{}\n",
        (0..40).map(|i| format!("(output.a{i} == 1 or output.b{i} == 2)")).collect::<Vec<_>>().join(" and ")
    );
    let many: String = (0..1_000).map(|i| format!("count tool{i} <= {i}\n")).collect();
    let folder = Folder::new(&[
        ("deep.assert", &deep),
        ("chain.assert", &chain),
        ("mixed.assert", &mixed),
        ("many.assert", &many),
        ("empty.assert", ""),
    ]);
    for file in ["deep", "chain", "mixed", "many", "empty"] {
        let ran = folder.aver(&format!("lint {file}.assert --all --format short"));
        assert!([0, 1, 3].contains(&ran.code), "{file}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn what_another_file_imports_is_used() {
    let shared = "param limit: number = 10\ndef is_large(a) = a > limit\ndef step big() = refund(amount > 3)\nschema S = { type: \"object\" }\nlet currency = \"EUR\"\nnever drop_table\n";
    let user = "use \"../shared.assert\"\nnever refund(is_large(amount))\nnever big()\noutput is S\noutput.currency == currency\n";
    let folder = Folder::new(&[("rules/shared.assert", shared), ("rules/more/user.assert", user)]);
    let alone = folder.aver("lint rules/shared.assert --format short");
    assert_eq!((alone.code, alone.out.lines().count()), (1, 4), "{alone:?}");
    let together = folder.aver("lint rules --format short");
    assert_eq!((together.code, together.out.as_str()), (0, ""), "{together:?}");
}

#[test]
fn a_project_says_which_formats_a_folder_of_reports_holds() {
    let project = |report: &str| format!("rules = [\"r.assert\"]\ntraces = [\"run.json\"]\n[report]\n{report}\n");
    let folder = Folder::new(&[
        ("averment.toml", &project("formats = [\"junit\", \"html\"]")),
        ("r.assert", "never refund\ntest \"x\" expect pass { calls: [{ tool: \"a\" }] }\n"),
        ("run.json", "{\"calls\": [{\"tool\": \"a\"}]}"),
    ]);
    let names = |name: &str| {
        let entries = std::fs::read_dir(folder.path().join(name)).map(|entries| entries.flatten().collect::<Vec<_>>());
        let entries = entries.unwrap_or_default();
        let mut names: Vec<String> = entries.iter().map(|one| one.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let ran = folder.aver("check --report-dir out");
    assert_eq!((ran.code, names("out")), (0, vec!["junit.xml".to_owned(), "report.html".to_owned()]), "{ran:?}");
    // Each command writes the formats that it supports.
    assert_eq!(folder.aver("test --report-dir tested").code, 0);
    assert_eq!(names("tested"), ["junit.xml"]);
    // Reports are written into the project's own folder only if the project is trusted.
    folder.write("averment.toml", project("formats = [\"csv\"]\nfolder = \"reports\"").as_bytes());
    let ran = folder.aver("check");
    assert!(ran.code == 0 && names("reports").is_empty(), "{ran:?}");
    assert!(ran.err.contains("`--report-dir reports` or `--trust-project` writes them"), "{}", ran.err);
    let ran = folder.aver("check --trust-project");
    assert_eq!((ran.code, names("reports"), ran.err.as_str()), (0, vec!["report.csv".to_owned()], ""), "{ran:?}");
    folder.write("averment.toml", project("formats = [\"juint\"]").as_bytes());
    folder.aver("check --report-dir out").refused(&["there is no format `juint`", "did you mean `junit`?"]);
    folder.write("averment.toml", project("folder = \"../out\"").as_bytes());
    assert!(folder.aver("check").err.contains("leads out of the folder of the project"));
}

#[test]
fn what_the_project_says_of_tools_holds_for_all_rules() {
    let chat = r#"[{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
        "function": {"name": "mcp__git__drop", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "Error: no"}]"#;
    let folder = Folder::new(&[
        ("averment.toml", "rules = \"r.assert\"\ntraces = \"run.json\"\n"),
        ("r.assert", "never any failed\nnever drop\nnever any tagged destructive\n"),
        ("tools.assert", "tool any fails when result starts with \"Error\"\ntool drop also mcp__*__drop\nnever any\n"),
        (
            "mcp.json",
            r#"{"tools": [{"name": "drop", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true}}]}"#,
        ),
        ("run.json", chat),
    ]);
    let verdicts = |ran: crate::folder::Ran| {
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
        let results = report["runs"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|one| one["verdict"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(folder.aver("check --format json")), ["undecided", "pass", "vacuous"]);
    folder.write(
        "averment.toml",
        b"rules = \"r.assert\"\ntools = [\"tools.assert\", \"mcp.json\"]\ntraces = \"run.json\"\n",
    );
    assert_eq!(verdicts(folder.aver("check --format json")), ["fail", "fail", "fail"]);
    assert!(folder.aver("explain r.assert run.json").out.contains("mcp__git__drop"));
    folder.write("averment.toml", b"rules = \"r.assert\"\ntools = [\"gone.assert\"]\ntraces = \"run.json\"\n");
    folder.aver("check").refused(&["gone.assert"]);
}

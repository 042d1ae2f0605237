//! `aver new`: templates that work unchanged, and proposed rules that hold on every given run.

use crate::folder::Folder;
use std::fmt::Write as _;

/// Returns runs of a shop. Each refund was listed before, and approved with the same id. The third run has no refund.
fn runs() -> String {
    let mut lines = String::new();
    for (number, amount) in [(1, 40), (2, 250), (3, 0), (4, 90), (5, 120), (6, 30)] {
        let refund = match amount {
            0 => String::new(),
            _ => format!(
                r#", {{"tool": "approve", "args": {{"id": "o-{number}77"}}, "status": "ok"}}, {{"tool": "refund", "args": {{"id": "o-{number}77", "amount": {amount}, "currency": "EUR"}}, "status": "ok"}}"#
            ),
        };
        writeln!(
            lines,
            r#"{{"calls": [{{"tool": "list_orders", "args": {{}}, "status": "ok", "result": {{"orders": [{{"id": "o-{number}77"}}, {{"id": "o-999"}}]}}}}{refund}], "output": {{"status": "done", "text": "{number} is done"}}, "duration": {}, "cost": 0.0{number}}}"#,
            1000 * number
        )
        .unwrap();
    }
    lines
}

#[test]
fn every_template_compiles_is_formatted_lints_clean_and_passes_its_tests() {
    let folder = Folder::new(&[]);
    let list = folder.aver("new --list");
    let names: Vec<&str> = list.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() >= 6, "{list:?}");
    for name in names {
        let made = folder.aver(&format!("new my-{name} --template {name}"));
        assert_eq!(made.code, 0, "{made:?}");
        assert!(made.out.contains(&format!("wrote my-{name}.assert")), "{made:?}");
        let text = folder.read(&format!("my-{name}.assert"));
        assert!(text.starts_with(&format!("# my-{name}.assert: ")) && !text.contains("{name}"), "{text}");
        assert!(
            made.err.contains(&format!(
                "next: read it, then `aver {} my-{name}.assert",
                if name == "suite" { "test" } else { "check" }
            )),
            "{made:?}"
        );
        for command in ["fmt --check", "lint", "test"] {
            let ran = folder.aver(&format!("{command} my-{name}.assert"));
            assert_eq!(ran.code, 0, "{command} {name}: {ran:?}");
        }
    }
}

#[test]
fn what_holds_on_all_runs_is_proposed_with_how_often_it_was_exercised() {
    let folder = Folder::new(&[("runs.jsonl", &runs())]);
    let made = folder.aver("new refunds --from runs.jsonl");
    assert_eq!(made.code, 0, "{made:?}");
    let text = folder.read("refunds.assert");
    for expected in [
        "only approve, list_orders, refund",
        "first list_orders",
        "before approve(id: $id) -> refund(id: $id)",
        "before list_orders(result.orders[*].id contains $id) -> approve(id: $id)",
        "args.amount in 0..500",
        "args.id is string",
        "duration <= 10s",
        "cost <= $0.1",
        "never any failed",
        "output is Output",
        "output.status == \"done\"",
        "no secrets in calls[*].args",
        "tags proposed",
        "# in 5 of 6 runs, 5 arguments",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    // Rules that the flow of the id implies are not proposed again. No rule says that the first call comes before all others.
    assert!(!text.contains("before approve -> refund") && !text.contains("before list_orders -> "), "{text}");
    assert!(text.lines().filter(|line| line.contains("# in ")).count() <= 48, "{text}");
    let checked = folder.aver("check refunds.assert runs.jsonl");
    assert_eq!(checked.code, 0, "{checked:?}");
    for command in ["fmt --check", "lint"] {
        let ran = folder.aver(&format!("{command} refunds.assert"));
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
}

#[test]
fn what_fails_on_one_run_or_was_never_exercised_is_not_proposed() {
    let odd = r#"{"calls": [{"tool": "refund", "args": {"id": "o-888", "amount": "many"}, "status": "failed"}], "output": "sorry", "error": "boom"}"#;
    let folder = Folder::new(&[("runs.jsonl", &(runs() + odd))]);
    let text = folder.aver("new --stdout --from runs.jsonl").out;
    for gone in [
        "first ",
        "-> refund(id: $id)",
        "args.amount",
        "never any failed",
        "not error",
        "output is Output",
        "duration <=",
    ] {
        assert!(!text.contains(gone), "{gone}\n{text}");
    }
    assert!(text.contains("only approve, list_orders, refund"), "{text}");
    assert!(!folder.path().join("rules.assert").exists());
    folder.write("idle.json", br#"{"calls": []}"#);
    let idle = folder.aver("new idle --from idle.json").code;
    assert_eq!(idle, 0);
    assert!(!folder.read("idle.assert").contains("\n  only "), "nothing exercised it");
    assert_eq!(folder.aver("lint idle.assert").code, 0);
}

#[test]
fn the_order_of_the_runs_does_not_matter_and_the_same_runs_give_the_same_file() {
    let all = runs();
    let turned: Vec<&str> = all.lines().rev().collect();
    let folder = Folder::new(&[("a.jsonl", &all), ("b.jsonl", &turned.join("\n"))]);
    let (first, again) =
        (folder.aver("new --stdout --from a.jsonl").out, folder.aver("new --stdout --from a.jsonl").out);
    assert!(first == again && first == folder.aver("new --stdout --from b.jsonl").out, "{first}");
}

#[test]
fn secrets_personal_data_and_hostile_names_of_the_runs_never_reach_the_rules() {
    let secrets = ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ann@example.org", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"];
    let mut lines = String::new();
    for _ in 0..8 {
        let [token, mail, key] = secrets;
        writeln!(
            lines,
            r#"{{"calls": [{{"tool": "login_{token}", "args": {{"token": "{token}", "{key}": 1, "mode": "fast\"\n}} never x"}}}}, {{"tool": "a\nrule x {{", "args": {{"to": "{mail}"}}}}, {{"tool": "read", "args": {{"if": "yes", "user-id": 12345}}}}], "output": {{"{token}": 1, "key": "{key}", "to": "{mail}"}}}}"#
        )
        .unwrap();
    }
    let folder = Folder::new(&[("runs.jsonl", &lines)]);
    let made = folder.aver("new leaky --from runs.jsonl");
    assert_eq!(made.code, 0, "{made:?}");
    let text = folder.read("leaky.assert");
    for secret in secrets {
        assert!(!text.contains(secret) && !text.contains(secret.get(4..20).unwrap_or(secret)), "{secret}\n{text}");
    }
    assert!(text.contains("\"read\"") && text.contains("args[\"user-id\"]"), "{text}");
    assert!(!text.contains("rule x"), "{text}");
    assert_eq!(folder.aver("lint leaky.assert").code, 0, "{text}");
    assert_eq!(folder.aver("check leaky.assert runs.jsonl").code, 0, "{text}");
}

#[test]
fn nothing_is_overwritten_and_what_is_wrong_is_said() {
    let folder = Folder::new(&[
        ("rules.assert", "never a\n"),
        ("bad.json", "{"),
        ("nothing/readme.txt", ""),
        ("dir/x.json", "{}"),
    ]);
    folder.aver("new").refused(&["`rules.assert` exists already", "--force"]);
    assert_eq!(folder.read("rules.assert"), "never a\n");
    assert_eq!(folder.aver("new --force").code, 0);
    assert!(folder.read("rules.assert").starts_with("# rules.assert: "));
    folder.aver("new dir").refused(&["`dir` is a folder", "aver new dir/rules.assert"]);
    folder.aver("new rules.txt").refused(&["another ending", "rules.assert"]);
    folder.aver("new x --template aproval").refused(&["there is no template `aproval`", "did you mean `approval`?"]);
    folder.aver("new x --from -").refused(&["standard input"]);
    assert_eq!(folder.aver("new x --from nowhere.json").code, 4);
    folder.aver("new x --from nothing").refused(&["no run"]);
    let unreadable = folder.aver("new x --from bad.json");
    assert_eq!((unreadable.code, unreadable.out.as_str()), (4, ""), "{unreadable:?}");
    assert!(unreadable.err.contains("bad.json:1"), "{unreadable:?}");
    assert!(!folder.path().join("x.assert").exists());
    assert_eq!(folder.aver("new deep/er/rules --template mcp").code, 0);
    assert!(folder.path().join("deep/er/rules.assert").exists());
}

#[test]
fn a_run_of_the_suite_template_is_judged_where_it_says_its_case() {
    let run = r#"{"meta": {"case": "finds-the-skill"}, "skills": ["chart"], "output": "done"}"#;
    let folder = Folder::new(&[("run.json", run)]);
    assert_eq!(folder.aver("new s1 --template suite").code, 0);
    let checked = folder.aver("check s1.assert run.json");
    assert_eq!(checked.code, 0, "{checked:?}");
}

/// A new project fails on misspelled names; existing settings are kept.
#[test]
fn settings_are_written_where_there_are_none() {
    let folder = Folder::new(&[("run.json", r#"{"calls": [{"tool": "Delete_Repo", "args": {}}]}"#)]);
    let made = folder.aver("new rules");
    assert!(made.code == 0 && made.out.contains("wrote averment.toml"), "{made:?}");
    folder.write("rules.assert", b"never delete_repo\n");
    let checked = folder.aver("check rules.assert run.json");
    assert!(checked.code == 1 && checked.out.contains("no run calls `delete_repo`"), "{checked:?}");
    folder.write("averment.toml", b"deny = []\n");
    let other = folder.aver("new sub/other");
    assert!(other.code == 0 && !other.out.contains("averment.toml"), "{other:?}");
    assert_eq!(folder.read("averment.toml"), "deny = []\n");
}

/// Returns a run from the project's examples, in the format of a tool.
fn sample_run(name: &str) -> String {
    let path = averment_fixtures::root().join("examples/your-stack/traces").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Typical folders: each setup ends with a check that runs, or with tests if there are no runs.
#[test]
fn init_sets_up_folders_as_people_have_them() {
    let run = sample_run;
    let odd = || r#"{"name": "shop", "version": "1.0.0", "scripts": {"test": "vitest"}}"#.to_owned();
    // Expected messages, files in the folder, and the source of the rules.
    type Case = (&'static [&'static str], Vec<(&'static str, String)>, &'static str);
    let cases: Vec<Case> = vec![
        (
            &["found Claude Code", "packs for what was found: coding-agent"],
            vec![("logs/session.jsonl", run("claude-code.jsonl")), ("CLAUDE.md", String::new())],
            "check",
        ),
        (
            &["found LangGraph", "LangChain messages"],
            vec![
                ("pyproject.toml", "[project]\ndependencies = [\"langgraph>=1\"]\n".to_owned()),
                ("runs/a.json", run("langgraph.json")),
            ],
            "check",
        ),
        (
            &["found OpenTelemetry", "OpenTelemetry spans"],
            vec![("export/otel.jsonl", run("otel.jsonl")), ("package.json", odd())],
            "check",
        ),
        (
            &["found MCP", "mcp-server"],
            vec![("mcp.jsonl", run("mcp.jsonl")), ("tsconfig.json", "{}".to_owned())],
            "check",
        ),
        (
            &["found promptfoo", "template `basic`"],
            vec![("promptfooconfig.yaml", "prompts: [hi]\n".to_owned())],
            "test",
        ),
        (
            &["found MCP", "template `mcp`"],
            vec![("package.json", r#"{"dependencies": {"@modelcontextprotocol/sdk": "^1"}}"#.to_owned())],
            "test",
        ),
        (
            &["found OpenAI Agents SDK", "OpenAI Agents SDK trace"],
            vec![
                ("requirements.txt", "openai-agents==0.5\n".to_owned()),
                ("traces/a.jsonl", run("openai-agents.jsonl")),
            ],
            "check",
        ),
        (
            &["found Vercel AI SDK"],
            vec![
                ("package.json", r#"{"dependencies": {"ai": "^6", "next": "^15"}}"#.to_owned()),
                ("runs/order-1.json", run("vercel-ai-sdk.json")),
            ],
            "check",
        ),
        (
            &["found CrewAI", "a listener of the event bus"],
            vec![("pyproject.toml", "[project]\ndependencies = [\"crewai[tools]>=1\"]\n".to_owned())],
            "test",
        ),
        (
            // A word in the description is no dependency.
            &["found no runs", "template `basic`"],
            vec![(
                "package.json",
                r#"{"description": "an ai agent of mcp", "dependencies": {"ai-x": "1"}}"#.to_owned(),
            )],
            "test",
        ),
        (
            // Fixtures of other tests are no runs.
            &["found no runs", "found pytest", "template `basic`"],
            vec![
                ("pyproject.toml", "[dependency-groups]\ndev = [\"pytest\"]\n".to_owned()),
                ("tests/fixtures/users.json", r#"{"users": [{"id": 1}]}"#.to_owned()),
                ("tests/fixtures/broken.json", "{\"a\":".to_owned()),
            ],
            "test",
        ),
        (&["found Codex", "Codex"], vec![("deep/er/runs/codex.jsonl", run("codex.jsonl"))], "check"),
        (&["found no runs", "template `basic`"], vec![], "test"),
        (&["found runs in 1 file (normal form)"], vec![("idle.json", r#"{"calls": []}"#.to_owned())], "check"),
    ];
    for (expected, files, command) in cases {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let folder = Folder::new(&files);
        let made = folder.aver("init");
        assert_eq!(made.code, 0, "{made:?}");
        for part in expected {
            assert!(made.out.contains(part), "{part}: {made:?}");
        }
        let tools = made.out.lines().filter(|line| line.starts_with("found ") && !line.contains(" runs")).count();
        assert!(tools <= expected.len(), "{made:?}");
        let (_, judged) = made.out.split_once(&format!("aver {command}\n")).unwrap_or_else(|| panic!("{made:?}"));
        assert!(judged.contains("passed: "), "{made:?}");
        for (name, text) in files {
            assert_eq!(folder.read(name), text);
        }
        assert_eq!(folder.path().join(".github/workflows/averment.yml").exists(), command == "check");
    }
}

#[test]
fn init_keeps_what_is_there_and_writes_nothing_on_trial() {
    let folder = Folder::new(&[("runs/a.jsonl", &runs()), ("checks/mine.assert", "never drop_table\n")]);
    let tried = folder.aver("init --dry-run");
    assert_eq!(tried.code, 0, "{tried:?}");
    assert!(
        tried.out.contains("would write averment.toml") && !folder.path().join("averment.toml").exists(),
        "{tried:?}"
    );
    folder.write(".github/workflows/averment.yml", b"mine");
    let made = folder.aver("init");
    assert_eq!(made.code, 0, "{made:?}");
    let settings = folder.read("averment.toml");
    assert!(settings.contains("rules = [\"checks/\"]") && settings.contains("traces = [\"runs/\"]"), "{settings}");
    assert!(!folder.path().join("rules").exists(), "there are rules already");
    assert_eq!(folder.read(".github/workflows/averment.yml"), "mine");
    folder.write("averment.toml", b"rules = [\"checks/\"]\ntraces = [\"runs/\"]\n");
    let again = folder.aver("init");
    assert!(again.code == 0 && again.out.contains("kept averment.toml"), "{again:?}");
    assert!(!folder.read("averment.toml").contains("deny"), "{again:?}");
    // An unreadable run is reported, but the project is still set up.
    let broken = Folder::new(&[("runs.jsonl", "{\"calls\": []}\n{\"calls\": [}\n")]);
    let made = broken.aver("init");
    assert!(made.code == 4 && made.err.contains("runs.jsonl:2:12"), "{made:?}");
    assert!(broken.read("rules/agent.assert").contains("agent.assert: "), "{made:?}");
    // Rules without tests and runs are no error. The next step is to record runs.
    let bare = Folder::new(&[("averment.toml", "rules = \"mine.assert\"\n"), ("mine.assert", "never drop_table\n")]);
    let made = bare.aver("init");
    assert!(made.code == 0 && made.out.contains("next: put recorded runs into runs/"), "{made:?}");
    folder.aver("init nowhere").refused(&["there is no folder `nowhere`"]);
}

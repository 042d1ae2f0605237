//! `aver run`: ends of sessions, selection of cases, names of sessions, and values withheld from reports.

use crate::folder::Folder;
use crate::run::{SAYS_HI, example, outcomes, scripted, wait_for};
use std::process::Command;

/// Agents that write a stream, and the outcomes of their sessions.
#[test]
fn a_stream_that_breaks_off_or_tells_of_a_failure_is_no_session_that_completed() {
    const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"a"}"#;
    const SAID: &str = r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"a"}"#;
    const DONE: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"a"}"#;
    const FAILED: &str =
        r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 500","session_id":"a"}"#;
    const OTHER: &str = r#"{"type":"system","subtype":"init","session_id":"b"}"#;
    const THREAD: &str = r#"{"type":"thread.started","thread_id":"t"}"#;
    const ITEM: &str = r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"hi"}}"#;
    const TURN: &str = r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;
    const BAD: &str = r#"{"type":"turn.failed","error":{"message":"out of tokens"}}"#;
    for (lines, code, said) in [
        (vec![INIT, SAID, DONE], 0, ""),
        (vec![INIT, SAID], 1, "normalization: the transcript breaks off: it has no `result`"),
        (vec![INIT, SAID, FAILED], 1, "runner-crash: the agent says that it failed: API Error: 500"),
        (vec![INIT, SAID, DONE, OTHER, SAID, DONE], 1, "normalization: the transcript is of several sessions"),
        (vec![THREAD, ITEM, TURN], 0, ""),
        (vec![THREAD, ITEM], 1, "normalization: the transcript breaks off: it has no `turn.completed`"),
        (vec![THREAD, ITEM, BAD], 1, "runner-crash: the agent says that it failed: out of tokens"),
    ] {
        let script = format!("cat <<'END'\n{}\nEND\n", lines.join("\n"));
        let ran = scripted("", &script, "output == \"hi\"").aver("run s.assert --allow-run --format short");
        assert!(ran.code == code && ran.out.contains(said), "{said}: {ran:?}");
    }
}

/// Copies the example into a project that selects tags.
fn below_a_project() -> Folder {
    let folder = Folder::new(&[("averment.toml", "tags = [\"smoke\"]\n")]);
    let from = example();
    for path in averment_fixtures::files(from.path()).iter().filter(|path| !path.ends_with("averment.toml")) {
        folder.write(&format!("live/{}", averment_fixtures::name(path)), &std::fs::read(path).unwrap());
    }
    for path in ["README.md", "skills/find-skills/SKILL.md"] {
        folder.write(&format!("live/template/{path}"), from.read(&format!("template/{path}")).as_bytes());
    }
    folder
}

#[test]
fn tags_of_a_project_choose_sessions_and_leave_no_rule_on_sessions_out() {
    let folder = below_a_project();
    let ran = folder.aver("run live/basics.assert --allow-run --format short");
    assert_eq!((ran.code, outcomes(&folder, "basics.runs/1").len()), (0, 5), "{ran:?}");
    let ran = folder.aver("run live/basics.assert --allow-run --format short --tag ends --runner codex");
    assert_eq!((ran.code, ran.out.matches("error[session.end]").count()), (1, 3), "{ran:?}");
    // Judging the recorded runs again fails, too, whatever rules the project selects.
    let again = folder.aver(
        "check live/basics.assert -r basics.runs/2/session.assert basics.runs/2/runs.jsonl --allow-run --format short",
    );
    assert_eq!((again.code, again.out.matches("error[session.end]").count()), (1, 3), "{again:?}");
    folder
        .aver("run live/workspace.assert --allow-run")
        .refused(&["the suite has no tag `smoke`, which `tags` of the project chooses", "`--no-project`"]);
    assert!(!folder.path().join("workspace.runs").exists());
    assert_eq!(folder.aver("run live/workspace.assert --allow-run --no-project --format short").code, 0);
    // A selection in the suite has precedence over the project.
    let rules = folder.read("live/basics.assert").replace("timeout 10s", "timeout 10s\n  select ends");
    folder.write("live/basics.assert", rules.as_bytes());
    assert_eq!(folder.aver("run live/basics.assert --dry-run").out.lines().count(), 15);
}

#[test]
fn the_commands_of_the_example_do_what_its_page_says() {
    let from = averment_fixtures::project("examples/from-skillgym");
    let folder = below_a_project();
    for name in ["averment.toml", "live/averment.toml"] {
        folder.write(name, &std::fs::read(from.join(name)).unwrap());
    }
    let live = |line: &str| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("aver"));
        let done = command.current_dir(folder.path().join("live")).args(shell_words::split(line).unwrap()).output();
        done.unwrap().status.code()
    };
    assert_eq!(live("run basics.assert --allow-run"), Some(1));
    assert_eq!(outcomes(&folder, "live/basics.runs/1").len(), 30);
    assert_eq!(live("run workspace.assert --allow-run"), Some(0));
    assert_eq!(live("run workspace.assert --dry-run"), Some(0));
    assert_eq!(live("run explain.assert --allow-run"), Some(1));
    assert_eq!(live("run explain.assert --allow-run --explain explain.runs/1"), Some(0));
    let check = "check workspace.assert -r workspace.runs/1/session.assert workspace.runs/1/runs.jsonl";
    assert_eq!(live(check), Some(0));
}

#[test]
fn runs_are_called_by_their_case_and_runner() {
    let rules = "suite \"two\" {\n  runner it { command [\"sh\", \"./agent.sh\"] }\n  case good { prompt \"p\"\n    output == \"hi\" }\n  case bad { prompt \"q\"\n    output == \"ho\" }\n}\n";
    let folder = Folder::new(&[("s.assert", rules), ("agent.sh", SAYS_HI)]);
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert!(ran.out.contains("error[bad.1]: fail in bad > it: "), "{}", ran.out);
    let junit = |_: u32| folder.aver("run s.assert --allow-run --format junit").out;
    let (first, second) = (junit(1), junit(2));
    let names = |xml: &str| -> Vec<String> {
        let cases = xml.lines().filter(|line| line.contains("<testcase"));
        cases.map(|line| line.split("name=").last().unwrap().split('"').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(names(&first), names(&second));
    // There is no test for a case that belongs to another run.
    assert_eq!(names(&first).len(), 4, "{first}");
    assert!(names(&first).iter().any(|name| name.ends_with("in good &gt; it")), "{first}");
    // Known failures are also known in the next run.
    folder.aver("run s.assert --allow-run --baseline known.txt --update-baseline");
    assert_eq!(folder.aver("run s.assert --allow-run --baseline known.txt").code, 0);
}

#[test]
fn values_that_agents_were_given_are_in_no_report() {
    let script = "echo \"{\\\"output\\\": \\\"the key is $KEY and $PASSED in $PLAIN\\\"}\"\n";
    let folder = scripted("", script, "output == \"hi\"");
    let with = "env { KEY: \"hunter2-hunter2\", PLAIN: \"production\" }; pass_env [\"PASSED\"]; command [";
    folder.write("s.assert", folder.read("s.assert").replace("command [", with).as_bytes());
    let run = |line: &str| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("aver"));
        command.current_dir(folder.path()).env("PASSED", "swordfish-0123");
        let done = command.args(shell_words::split(line).unwrap()).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
    };
    for format in ["human", "short", "json", "junit", "html"] {
        let said = run(&format!("run s.assert --allow-run --format {format}"));
        assert!(said.contains("the key is") && said.contains("production"), "{format}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("swordfish"), "{format}: {said}");
    }
    folder.write("agent.sh", b"echo \"no luck with $KEY\" >&2; exit 3\n");
    let said = run("run s.assert --allow-run --format short");
    assert!(said.contains("no luck with") && !said.contains("hunter2"), "{said}");
}

#[test]
fn answers_of_agents_are_shown_without_secrets() {
    let folder = example();
    assert_eq!(folder.aver("run explain.assert --allow-run").code, 1);
    let script = folder
        .read("agent.sh")
        .replace("I was asked for a list", "ghp_R7tqZ2mXw9Lk4VbN8cJd1HsF6yGp3AeUo5Ti $MINE I was asked for a list");
    folder.write("agent.sh", script.as_bytes());
    let rules = folder
        .read("explain.assert")
        .replace("agent claude-code;", "agent claude-code; env { MINE: \"hunter2-hunter2\" };");
    assert!(rules.contains("hunter2"), "{rules}");
    folder.write("explain.assert", rules.as_bytes());
    let asked = folder.aver("run explain.assert --allow-run --explain explain.runs/1");
    assert!(asked.code == 0 && asked.out.contains("I was asked for a list"), "{asked:?}");
    assert!(!asked.out.contains("hunter2") && !asked.out.contains("ghp_R7tq"), "{}", asked.out);
}

#[test]
fn credentials_go_when_the_command_is_killed() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".codex")).unwrap();
    std::fs::write(home.path().join(".codex/auth.json"), "{}").unwrap();
    let rules = "suite \"s\" {\n  runner it { agent codex; model \"m\"; command [\"sh\", \"./agent.sh\"] }\n  case c { prompt \"p\"\n    output exists }\n}\n";
    let folder = Folder::new(&[("s.assert", rules), ("agent.sh", ": >\"$CODEX_HOME/seen\"; sleep 300\n")]);
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("aver"));
    let mut killed = command
        .current_dir(folder.path())
        .env("HOME", home.path())
        .args(["run", "s.assert", "--allow-run"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&folder, "s.runs/1/c/it/codex-home/seen");
    let auth = folder.path().join("s.runs/1/c/it/codex-home/auth.json");
    assert!(auth.exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while auth.exists() {
        assert!(std::time::Instant::now() < deadline, "credentials are left behind");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

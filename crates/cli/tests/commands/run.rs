//! `aver run`: runs cases with a scripted agent that accepts the command lines of real agents.

use crate::folder::{Folder, Ran};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Copies the example with a scripted agent.
pub(crate) fn example() -> Folder {
    let folder = Folder::new(&[]);
    let from = averment_fixtures::project("examples/from-skillgym/live");
    for path in averment_fixtures::files(&from) {
        folder.write(&averment_fixtures::name(&path), &std::fs::read(&path).unwrap());
    }
    for path in ["README.md", "skills/find-skills/SKILL.md"] {
        folder.write(&format!("template/{path}"), &std::fs::read(from.join("template").join(path)).unwrap());
    }
    folder
}

/// Creates a suite with one case, whose agent is a script.
pub(crate) fn scripted(settings: &str, script: &str, case: &str) -> Folder {
    let rules = format!(
        "suite \"one\" {{\n  runner it {{ command [\"sh\", \"./agent.sh\"] }}\n  {settings}\n  case c {{ prompt \"do it\"\n    {case}\n  }}\n}}\n"
    );
    Folder::new(&[("s.assert", &rules), ("agent.sh", script)])
}

pub(crate) const SAYS_HI: &str = "echo '{\"output\": \"hi\", \"calls\": []}'\n";

/// Returns the outcome of each session in a folder, by its name.
pub(crate) fn outcomes(folder: &Folder, runs: &str) -> BTreeMap<String, String> {
    let lines = folder.read(&format!("{runs}/runs.jsonl"));
    let run = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    let outcome =
        |run: Value| (run["id"].as_str().unwrap().to_owned(), run["meta"]["outcome"].as_str().unwrap().to_owned());
    lines.lines().map(|line| outcome(run(line))).collect()
}

/// Returns the verdicts of a report, by assertion and run.
pub(crate) fn verdicts(report: &Value) -> Vec<(String, String)> {
    let runs = report["runs"].as_array().unwrap().iter();
    let results = runs.flat_map(|run| run["results"].as_array().unwrap());
    results.map(|one| (one["id"].as_str().unwrap().to_owned(), one["status"].as_str().unwrap().to_owned())).collect()
}

/// Returns the processes that were started with an environment variable.
fn processes_with(variable: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let environ = |pid: &str| std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    processes
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|pid| String::from_utf8_lossy(&environ(pid)).split('\0').any(|one| one == variable))
        .collect()
}

/// Waits until no process with an environment variable is left.
#[track_caller]
fn nothing_runs_with(variable: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !processes_with(variable).is_empty() {
        assert!(Instant::now() < deadline, "left behind: {:?}", processes_with(variable));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn five_agents_run_the_same_cases_and_their_transcripts_are_judged() {
    let folder = example();
    let ran = folder.aver("run basics.assert --allow-run --format json");
    assert_eq!(ran.code, 1, "{}", ran.err);
    let runners = ["claude", "codex", "copilot", "cursor", "opencode"];
    let ends = [
        ("ready", "completed"),
        ("never-so", "completed"),
        ("known", "completed"),
        ("too-many-steps", "max-steps"),
        ("too-late", "timeout"),
        ("crashed", "runner-crash"),
    ];
    let outcomes = outcomes(&folder, "basics.runs/1");
    for (case, end) in ends {
        for runner in runners {
            assert_eq!(outcomes[&format!("{case} > {runner}")], end, "{case} > {runner}");
        }
    }
    let report = ran.json();
    let count = |id: &str, status: &str| verdicts(&report).iter().filter(|one| one.0 == id && one.1 == status).count();
    assert_eq!((count("ready.1", "passed"), count("never-so.1", "failed")), (5, 5));
    assert_eq!((count("known.1", "expected-failed"), count("session.end", "failed")), (5, 15));
    // A session that did not finish says nothing about its case, and never counts as expected.
    assert_eq!(count("too-late.1", "undecided"), 5);
    let classes = |class: &str| {
        let results =
            report["runs"].as_array().unwrap().iter().flat_map(|run| run["results"].as_array().unwrap().clone());
        results.filter(|one| one["class"]["id"] == class).count()
    };
    assert_eq!((classes("timeout"), classes("max-steps"), classes("runner-crash")), (5, 5, 5));
    // Judging the recorded runs again gives the same verdicts.
    let again =
        folder.aver("check basics.assert -r basics.runs/1/session.assert basics.runs/1/runs.jsonl --format json");
    assert_eq!(again.code, 1, "{}", again.err);
    assert_eq!(verdicts(&again.json()), verdicts(&report));
    assert!(folder.read("basics.runs/1/too-many-steps/codex/stdout.log").contains("agent_message"));
    assert!(!folder.path().join("basics.runs/1/never-so/codex/codex-home/auth.json").exists());
}

#[test]
fn what_agents_did_is_read_of_their_own_transcripts() {
    let folder = example();
    let ran = folder.aver("run skills.assert workspace.assert --allow-run");
    assert_eq!(ran.code, 2);
    for suite in ["skills", "workspace"] {
        let ran = folder.aver(&format!("run {suite}.assert --allow-run --format short"));
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let runs = folder.read("skills.runs/1/runs.jsonl");
    let runs: Vec<Value> = runs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sessions: Vec<&str> = runs.iter().map(|run| run["meta"]["session"].as_str().unwrap()).collect();
    assert_eq!(sessions, ["claude-1", "codex-1", "copilot-1", "cursor-1", "ses_1"]);
    // Copilot records its costs beside the transcript.
    assert_eq!(runs[2]["usage"]["reasoning_tokens"], 25);
    assert!(runs.iter().all(|run| run["usage"]["total_tokens"].is_u64()), "{runs:?}");
    // Nothing failed, so no workspace is kept.
    assert!(!folder.path().join("workspace.runs/1/workspaces").exists());
    let accepted: Value = serde_json::from_str(&folder.read("accepted.json")).unwrap();
    assert_eq!(accepted["entries"].as_object().unwrap().len(), 5);
}

#[test]
fn nothing_runs_without_permission_and_what_would_is_told() {
    let folder = example();
    folder.aver("run basics.assert").refused(&["agents would be started", "--allow-run", "--dry-run"]);
    let ran = folder.aver("run basics.assert --dry-run --case ready --runner codex --runner claude");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    let words: Vec<&str> = lines[1]["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let cwd = lines[1]["cwd"].as_str().unwrap();
    let script = folder.path().canonicalize().unwrap().join("agent.sh");
    let wanted = [
        "sh",
        script.to_str().unwrap(),
        "codex",
        "exec",
        "--model",
        "gpt-5",
        "--json",
        "--skip-git-repo-check",
        "-C",
        cwd,
        "Say only: ready to start",
    ];
    assert_eq!(words, wanted);
    assert!(!folder.path().join("basics.runs").exists());
}

#[test]
fn a_session_that_is_late_ends_with_all_that_it_started() {
    let folder = scripted(
        "timeout 400ms\n  env { AVERMENT_TOKEN: \"late-of-this-test\" }",
        "sleep 300 &\n(setsid sh -c 'trap \"\" TERM; sleep 300' >/dev/null 2>&1 &)\nsleep 300\n",
        "output exists",
    );
    let begun = Instant::now();
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_eq!(ran.code, 5.min(ran.code).max(1), "{ran:?}");
    assert!(ran.out.contains("timeout: it took longer than 400ms and was ended"), "{}", ran.out);
    nothing_runs_with("AVERMENT_TOKEN=late-of-this-test");
}

/// Starts `aver run` in a folder, without waiting for it.
pub(crate) fn started(folder: &Folder, line: &str) -> std::process::Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("aver"));
    command.current_dir(folder.path()).args(shell_words::split(line).unwrap());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[track_caller]
pub(crate) fn wait_for(folder: &Folder, file: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !folder.path().join(file).exists() {
        assert!(Instant::now() < deadline, "{file} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The case `slow` never ends in its first run.
const SLOW: &str = "case \"$1\" in *slow*) [ -e \"$HERE/seen\" ] || { : >\"$HERE/seen\"; (setsid sleep 300 &); sleep 300; };; esac\necho run >>\"$HERE/count\"\necho '{\"output\": \"hi\", \"calls\": []}'\n";

fn slow() -> Folder {
    let folder = Folder::new(&[("agent.sh", SLOW)]);
    let here = folder.path().canonicalize().unwrap();
    let rules = format!(
        "suite \"two\" {{\n  workspace isolated {{ }}\n  runner it {{ command [\"sh\", \"./agent.sh\"]; env {{ HERE: \"{0}\", AVERMENT_TOKEN: \"{0}\" }} }}\n  case quick {{ prompt \"quick\"\n    output == \"hi\" }}\n  case slow {{ prompt \"slow\"\n    output == \"hi\" }}\n}}\n",
        here.display()
    );
    folder.write("s.assert", rules.as_bytes());
    folder
}

#[test]
fn a_run_that_is_killed_leaves_no_process_and_no_lock_and_is_gone_on_with() {
    let folder = slow();
    let token = format!("AVERMENT_TOKEN={}", folder.path().canonicalize().unwrap().display());
    let mut killed = started(&folder, "run s.assert --allow-run");
    wait_for(&folder, "seen");
    folder.aver("run s.assert --allow-run --resume").refused(&["another `aver run` works in `s.runs/1`"]);
    assert!(!processes_with(&token).is_empty());
    killed.kill().unwrap();
    killed.wait().unwrap();
    nothing_runs_with(&token);
    let ran = folder.aver("run s.assert --allow-run --resume --format short");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("2 sessions, 1 from before"), "{}", ran.err);
    // The finished case was not run again.
    assert_eq!(folder.read("count"), "run\nrun\n");
    assert_eq!(outcomes(&folder, "s.runs/1").len(), 2);
    let other = folder.aver("run s.assert --allow-run --resume --repeat 2");
    other.refused(&["was made of another suite, or of another choice of it"]);
    assert_eq!(folder.aver("run s.assert --allow-run --out s.runs/1").code, 2);
}

#[test]
fn an_interrupted_run_keeps_what_has_ended() {
    let folder = slow();
    let token = format!("AVERMENT_TOKEN={}", folder.path().canonicalize().unwrap().display());
    let mut stopped = started(&folder, "run s.assert --allow-run --out kept");
    wait_for(&folder, "seen");
    let told = Command::new("kill").args(["-INT", &stopped.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(stopped.wait().unwrap().code(), Some(130));
    nothing_runs_with(&token);
    assert!(!folder.path().join("kept/runs.jsonl").exists());
    assert_eq!(folder.aver("run s.assert --allow-run --out kept --resume").code, 0);
}

#[test]
fn a_session_that_fails_is_tried_again_and_a_case_is_repeated() {
    let script = "n=$(cat \"$HERE/n\" 2>/dev/null || echo 0)\nn=$((n + 1))\necho $n >\"$HERE/n\"\n[ $((n % 2)) = 0 ] || exit 1\necho '{\"output\": \"hi\", \"calls\": []}'\n";
    let folder = scripted("retries 1\n  repeat 2", script, "output == \"hi\"");
    let here = folder.path().canonicalize().unwrap();
    let rules =
        folder.read("s.assert").replace("command [", &format!("env {{ HERE: \"{}\" }}; command [", here.display()));
    folder.write("s.assert", rules.as_bytes());
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("4 sessions, 2 of them tried again"), "{}", ran.err);
    assert!(folder.read("s.runs/1/c/it/1.1/session.json").contains("runner-crash"));
    assert!(folder.read("s.runs/1/c/it/2.2/session.json").contains("completed"));
    assert_eq!(outcomes(&folder, "s.runs/1").keys().collect::<Vec<_>>(), ["c > it #1", "c > it #2"]);
    folder.write("n", b"0");
    let ran = folder.aver("run s.assert --allow-run --retries 0 --repeat 2 --min-pass-rate 50% --format short");
    assert_eq!(ran.code, 0, "{ran:?}");
    folder.write("n", b"0");
    assert_eq!(folder.aver("run s.assert --allow-run --retries 0 --repeat 2 --min-pass-rate 60%").code, 1);
}

#[test]
fn tokens_are_compared_with_what_was_accepted() {
    let script = "echo '{\"output\": \"hi\", \"usage\": {\"total_tokens\": '$(cat \"$HERE/tokens\")'}}'\n";
    let folder = scripted("snapshots { percent: 10 }", script, "output == \"hi\"");
    let here = folder.path().canonicalize().unwrap();
    let rules =
        folder.read("s.assert").replace("command [", &format!("env {{ HERE: \"{}\" }}; command [", here.display()));
    folder.write("s.assert", rules.as_bytes());
    let with = |tokens: &str, flags: &str| {
        folder.write("tokens", tokens.as_bytes());
        folder.aver(&format!("run s.assert --allow-run --format short {flags}"))
    };
    assert_eq!(with("100", "").code, 0);
    assert_eq!(with("110", "").code, 0);
    let dearer = with("111", "");
    assert_eq!(dearer.code, 1);
    assert!(dearer.out.contains("total_tokens of c with it: 111, accepted were 100"), "{}", dearer.out);
    assert_eq!(with("50", "").code, 0);
    assert_eq!(with("111", "--update-snapshots").code, 0);
    assert_eq!(with("120", "").code, 0);
    let unknown = with("null", "");
    assert!(unknown.code == 1 && unknown.out.contains("total_tokens is not recorded for c with it"), "{unknown:?}");
    folder.write("snapshots.json", b"{}");
    with("1", "").refused(&["is no file of snapshots"]);
}

#[test]
fn workspaces_are_made_and_kept_where_something_failed() {
    let look = "ls >\"$HERE/seen.$AVERMENT_X\"; echo out >new.txt\n";
    let script = format!("{look}{SAYS_HI}");
    let folder = scripted(
        "workspace isolated { template \"./t\"; bootstrap \"sh -c 'echo made >made'\"; env { AVERMENT_X: \"1\" } }",
        &script,
        "file \"new.txt\" contains \"out\"\n    file \"made\" exists\n    file \"t.md\" matches /template/\n    file \"none\" not exists\n    output == \"hi\"",
    );
    folder.write("t/t.md", b"the template");
    let here = folder.path().canonicalize().unwrap();
    let rules =
        folder.read("s.assert").replace("command [", &format!("env {{ HERE: \"{}\" }}; command [", here.display()));
    folder.write("s.assert", rules.as_bytes());
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert_eq!(folder.read("seen.1"), "made\nt.md\n");
    assert!(!folder.path().join("s.runs/1/workspaces").exists());
    folder.write("s.assert", rules.replace("output == \"hi\"", "output == \"ho\"").as_bytes());
    assert_eq!(folder.aver("run s.assert --allow-run").code, 1);
    assert_eq!(folder.read("s.runs/2/workspaces/c/it/new.txt"), "out\n");
    folder.write("s.assert", rules.replace("echo made >made", "echo no >&2; exit 7").as_bytes());
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert!(
        ran.out.contains("workspace-bootstrap: `sh -c") && ran.out.contains("ended with exit code 7: no"),
        "{ran:?}"
    );
    // All sessions share one folder, which is set up once.
    folder.write("s.assert", rules.replace("isolated", "shared").as_bytes());
    let ran = folder.aver("run s.assert --allow-run --repeat 2 --format short");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert_eq!(folder.read("seen.1"), "made\nnew.txt\nt.md\n");
}

#[test]
fn a_workspace_is_a_working_tree_of_a_repository() {
    let folder = scripted(
        "workspace isolated { worktree \".\"; revision \"first\" }",
        SAYS_HI,
        "file \"a.txt\" contains \"one\"\n    output == \"hi\"",
    );
    let git = |line: &str| {
        let words = shell_words::split(line).unwrap();
        let names = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
        let done = Command::new("git").current_dir(folder.path()).args(names).args(words).output().unwrap();
        assert!(done.status.success(), "{line}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    folder.write("a.txt", b"one");
    for line in ["init -q", "add -A", "commit -qm one", "tag first"] {
        git(line);
    }
    folder.write("a.txt", b"two");
    git("commit -qam two");
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert_eq!(git("worktree list").lines().count(), 1);
    folder.write("s.assert", folder.read("s.assert").replace("\"first\"", "\"nowhere\"").as_bytes());
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert!(ran.out.contains("workspace: `") && ran.out.contains("has no revision `nowhere`"), "{ran:?}");
}

#[test]
fn cases_tags_and_runners_are_chosen_together() {
    let folder = example();
    let rules = folder.read("basics.assert").replace("timeout 10s", "timeout 10s\n  select smoke");
    folder.write("chosen.assert", rules.as_bytes());
    let names = |flags: &str| -> Vec<String> {
        let ran = folder.aver(&format!("run chosen.assert --dry-run {flags}"));
        let lines = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| format!("{} {}", line["case"].as_str().unwrap(), line["runner"].as_str().unwrap())).collect()
    };
    assert_eq!(names("--runner codex"), ["ready codex"]);
    assert_eq!(names("--runner codex --tag ends,smoke --case crashed --case ready"), ["ready codex", "crashed codex"]);
    let refused =
        |flags: &str, said: &[&str]| folder.aver(&format!("run chosen.assert --dry-run {flags}")).refused(said);
    refused("--case redy", &["the suite has no case `redy`", "did you mean `ready`?"]);
    refused("--runner claud", &["no runner `claud`", "did you mean `claude`?"]);
    refused("--tag nothing", &["no tag `nothing`"]);
    refused("--tag ends --case ready", &["nothing of the suite `basics` is chosen"]);
}

#[test]
fn agents_get_no_variable_that_is_not_listed() {
    let script = "printf '{\"output\": \"%s|%s|%s\"}' \"$SECRET_OF_MINE\" \"$OWN\" \"$PASSED\"\n";
    let folder = scripted("env { OWN: \"own\" }", script, "output exists");
    let rules = folder.read("s.assert").replace("command [", "pass_env [\"PASSED\"]; command [");
    folder.write("s.assert", rules.as_bytes());
    let output = |flags: &str| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("aver"));
        command.current_dir(folder.path()).env("SECRET_OF_MINE", "s3cret").env("PASSED", "yes");
        let line = format!("run s.assert --allow-run --out out{} {flags}", flags.len());
        assert!(command.args(shell_words::split(&line).unwrap()).output().unwrap().status.success());
        let run: Value = serde_json::from_str(&folder.read(&format!("out{}/runs.jsonl", flags.len()))).unwrap();
        run["output"].as_str().unwrap().to_owned()
    };
    assert_eq!(output(""), "|own|yes");
    assert_eq!(output("--allow-env SECRET_*"), "s3cret|own|yes");
}

#[test]
fn whatever_an_agent_writes_its_session_ends_with_a_reason() {
    for (script, flags, said) in [
        ("echo no json\n", "", "normalization: "),
        ("", "", "normalization: "),
        ("printf '{}{}'\n", "", "normalization: "),
        ("exec nothing-of-that-name\n", "", "runner-crash: it ended with exit code 127"),
        (
            "yes | head -c 3000000\n",
            "--max-output 1MiB",
            "runner-crash: it wrote more than 1048576 bytes and was ended",
        ),
        ("kill -9 $$\n", "", "runner-crash: it ended with exit code 137"),
        ("printf '\\377\\376'; echo '{\"output\": 1}'\n", "", "normalization: "),
    ] {
        let folder = scripted("", script, "output exists");
        let ran = folder.aver(&format!("run s.assert --allow-run --format short {flags}"));
        assert!(ran.code == 1 && ran.out.contains(said), "{script}: {ran:?}");
    }
    let folder = scripted("", "", "output exists");
    folder.write("s.assert", folder.read("s.assert").replace("\"sh\", \"./agent.sh\"", "\"./nowhere\"").as_bytes());
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert!(ran.out.contains("there is no such program"), "{ran:?}");
}

#[test]
fn a_model_that_an_agent_does_not_know_is_asked_for_once() {
    let folder = example();
    let rules = folder.read("basics.assert").replace("Say only: ready to start", "Use the model that is gone.");
    folder.write("gone.assert", rules.as_bytes());
    let ran = folder.aver("run gone.assert --allow-run --retries 2 --case ready --case never-so --format short");
    assert_eq!(ran.code, 1);
    let outcomes = outcomes(&folder, "gone.runs/1");
    assert!(outcomes.len() == 10 && outcomes.values().all(|one| one == "model-rejected"), "{outcomes:?}");
    assert!(ran.err.contains("10 sessions;"), "{}", ran.err);
    assert!(folder.path().join("gone.runs/1/ready/codex/1.1/stdout.log").exists());
    assert!(!folder.path().join("gone.runs/1/never-so/codex/1.1/stdout.log").exists());
}

#[test]
fn a_trace_may_stand_in_a_file_and_the_prompt_where_it_is_named() {
    let script = "printf '{\"output\": \"%s %s\"}' \"$2\" \"$3\" >\"$1/out.json\"\n";
    let folder = scripted("workspace isolated { }", script, "output == \"do it m-1\"");
    let rules = folder.read("s.assert").replace(
        "command [\"sh\", \"./agent.sh\"]",
        "command [\"sh\", \"./agent.sh\", \"{cwd}\", \"{prompt}\", \"{model}\"]; model \"m-1\"; trace \"out.json\"",
    );
    folder.write("s.assert", rules.as_bytes());
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    folder.write("agent.sh", b"ln -s /etc/passwd \"$1/out.json\"\n");
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert!(ran.out.contains("collection: `out.json` leads out of the folder of the session"), "{ran:?}");
    folder.write("agent.sh", b"true\n");
    assert!(
        folder
            .aver("run s.assert --allow-run --format short")
            .out
            .contains("collection: the runner wrote no `out.json`")
    );
}

#[test]
fn an_agent_is_asked_about_what_failed() {
    let folder = example();
    assert_eq!(folder.aver("run explain.assert --allow-run").code, 1);
    folder.aver("run explain.assert --explain explain.runs/1").refused(&["--allow-run"]);
    let asked = folder.aver("run explain.assert --allow-run --explain explain.runs/1");
    assert_eq!(asked.code, 0, "{}", asked.err);
    for part in ["explain.assert:8:5", "it was to run `pwd`", "I was asked for a list of the folder"] {
        assert!(asked.out.contains(part), "{part}: {}", asked.out);
    }
    let kept: Value = serde_json::from_str(&folder.read("explain.runs/1/where-am-i/claude/answers.json")).unwrap();
    assert_eq!(kept[0]["line"], json!(8));
    folder.write("agent.sh", b"exit 1\n");
    let before = folder.aver("run explain.assert --allow-run --explain explain.runs/1/where-am-i/claude");
    assert!(before.out == asked.out && before.err.contains("--again"), "{before:?}");
    let again = folder.aver("run explain.assert --allow-run --explain explain.runs/1 --again");
    assert!(again.code == 5 && again.out.contains("no answer: it ended with exit code 1"), "{again:?}");
    folder.aver("run explain.assert --allow-run --explain template").refused(&["no session below `template` failed"]);
}

/// Asserts the messages about a suite that cannot be run.
#[track_caller]
fn wrong(suite: &str, said: &[&str]) -> Ran {
    let folder = Folder::new(&[("s.assert", suite)]);
    let ran = folder.aver("run s.assert --dry-run");
    assert!(matches!(ran.code, 2 | 3), "{suite}: {ran:?}");
    said.iter().for_each(|part| assert!(ran.err.contains(part), "{suite}: {part:?} is not said: {}", ran.err));
    ran
}

#[test]
fn suites_that_cannot_be_run_say_where_and_what_to_write() {
    let case = "case c { prompt \"p\"\n output exists }";
    let runner = "runner r { agent codex; model \"m\" }";
    let suite = |inner: &str| format!("suite \"s\" {{\n{inner}\n{case}\n}}\n");
    wrong("output exists\n", &["there is no suite in the rules", "suite \"NAME\""]);
    wrong(&suite(""), &["the suite `s` has no runner", "s.assert:1:7"]);
    wrong(&suite("runner r { }"), &["names no agent and no command", "s.assert:2:8"]);
    wrong(&suite("runner r { agent codex }"), &["names no model", "model \"…\""]);
    wrong(
        &suite("runner r { agent codx; model \"m\" }"),
        &["this cannot be `codx`", "did you mean `codex`?", "s.assert:2:18"],
    );
    wrong(&suite("runner r { agent codex; modl \"m\" }"), &["a runner has no setting `modl`", "did you mean `model`?"]);
    wrong(&suite(&format!("{runner}\n{runner}")), &["the runner `r` occurs twice"]);
    wrong(&suite(&format!("{runner}\nrepeat 0")), &["is a whole number from 1 to"]);
    wrong(&suite(&format!("{runner}\nrepeat 2\nrepeat 3")), &["`repeat` occurs twice", "s.assert:4:1"]);
    wrong(&suite(&format!("{runner}\nschedule fast")), &["this cannot be `fast`", "serial"]);
    wrong(&suite(&format!("{runner}\ntimeout 5")), &["a timeout is a duration"]);
    wrong(
        &suite(&format!("{runner}\nworkspace isolted {{ }}")),
        &["a workspace cannot be `isolted`", "did you mean `isolated`?"],
    );
    wrong(
        &suite(&format!("{runner}\nworkspace none {{ template \"t\" }}")),
        &["`template` has no meaning in a workspace that is `none`"],
    );
    wrong(
        &suite(&format!("{runner}\nworkspace isolated {{ cwd \".\" }}")),
        &["`cwd` has no meaning in a workspace that is `isolated`"],
    );
    wrong(
        &suite(&format!("{runner}\nworkspace isolated {{ template \"nowhere\" }}")),
        &["there is no folder", "nowhere"],
    );
    wrong(
        &suite(&format!("{runner}\nsnapshots {{ percnt: 3 }}")),
        &["this cannot be `percnt`", "did you mean `percent`?"],
    );
    wrong(
        &suite(&format!("{runner}\nsnapshots {{ metric: \"cost\" }}")),
        &["`cost` is nothing that is counted", "total_tokens"],
    );
    wrong(
        &suite(&format!("{runner}\ncase d {{ output exists }}")),
        &["the case `d` asks the agent nothing", "s.assert:3:6"],
    );
    wrong(&suite("runner r { command [\"sh\"] }\nmax_steps 3"), &["steps of the runner `r` cannot be counted"]);
    wrong(&suite("runner r { command [\"sh\"]; trace \"../x\" }"), &["leads out of the folder"]);
    wrong(&suite(runner).replace("\"p\"", "\"--help\""), &["is read as an option by agents"]);
}

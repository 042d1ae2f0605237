//! The world of a session: what `aver run` records of the agent's files and of rule commands, and never takes from elsewhere.

use crate::folder::Folder;
use crate::run::{SAYS_HI, scripted, verdicts};
use serde_json::{Value, json};

/// Runs a suite, and judges its recorded runs again elsewhere. Returns the verdicts, which must be equal.
#[track_caller]
fn judged(folder: &Folder, number: u32) -> Vec<(String, String)> {
    let ran = folder.aver("run s.assert --allow-run --format json");
    let first = verdicts(&ran.json());
    let runs = format!("s.runs/{number}");
    let again =
        folder.aver(&format!("check s.assert -r {runs}/session.assert {runs}/runs.jsonl --allow-run --format json"));
    assert_eq!((verdicts(&again.json()), again.code), (first.clone(), ran.code), "{again:?}");
    first
}

/// Returns the verdicts of the assertions of cases, in order.
#[track_caller]
fn of_cases(folder: &Folder, number: u32) -> Vec<String> {
    judged(folder, number).into_iter().filter(|one| one.0 != "session.end").map(|one| one.1).collect()
}

fn recorded(folder: &Folder, number: u32) -> Value {
    let runs = folder.read(&format!("s.runs/{number}/runs.jsonl"));
    serde_json::from_str(runs.lines().next().unwrap()).unwrap()
}

#[test]
fn of_too_many_files_the_rest_is_undecided_but_for_what_is_asked() {
    let script = format!("i=0; while [ $i -lt 5100 ]; do : >f$i; i=$((i+1)); done; echo x >zz.txt\n{SAYS_HI}");
    let case = "file \"f1\" exists\n    file \"zz.txt\" contains \"x\"\n    file \"none.txt\" not exists\n    file \"s.assert\" exists\n    output == \"hi\"";
    let folder = scripted("workspace isolated { }", &script, case);
    assert_eq!(of_cases(&folder, 1), ["passed", "passed", "passed", "failed", "passed"]);
    // The rules did not look at this file when the session ended, and the folder is gone.
    let rules = folder.read("s.assert").replace("none.txt", "other.txt");
    folder.write("s.assert", rules.as_bytes());
    let again =
        folder.aver("check s.assert -r s.runs/1/session.assert s.runs/1/runs.jsonl --allow-run --format json").json();
    let undecided = verdicts(&again).into_iter().filter(|one| one.1 == "undecided").map(|one| one.0);
    assert_eq!(undecided.collect::<Vec<_>>(), ["c.3"]);
}

#[test]
fn of_sessions_that_do_not_complete_no_file_is_known() {
    for script in ["echo x >there.txt; exit 3\n", "echo no transcript\n"] {
        let case = "file \"s.assert\" exists\n    file \"none.txt\" not exists\n    run \"test -e s.assert\" exits 0";
        let folder = scripted("workspace isolated { }", script, case);
        assert_eq!(of_cases(&folder, 1), ["undecided", "undecided", "undecided"], "{script}");
    }
    let folder = scripted("", "exit 3\n", "file \"s.assert\" exists");
    assert_eq!(of_cases(&folder, 1), ["undecided"]);
}

#[test]
fn of_a_workspace_that_is_gone_or_a_link_nothing_is_known() {
    for away in ["rm -rf \"$here\"", "rm -rf \"$here\"; ln -s /etc \"$here\""] {
        let script = format!("here=$(pwd); {SAYS_HI}{away}\n");
        let case = "file \"s.assert\" exists\n    file \"passwd\" exists\n    file \"none.txt\" not exists\n    run \"true\" exits 0\n    output == \"hi\"";
        let folder = scripted("workspace isolated { }", &script, case);
        assert_eq!(of_cases(&folder, 1), ["undecided", "undecided", "undecided", "undecided", "passed"], "{away}");
        assert_eq!(recorded(&folder, 1)["files"].get("passwd"), None);
    }
}

#[test]
fn without_a_workspace_files_are_those_of_the_folder_of_the_agent() {
    let folder = scripted(
        "cwd \"./sub\"",
        &format!("echo made >made.txt\n{SAYS_HI}"),
        "file \"made.txt\" contains \"made\"\n    file \"s.assert\" not exists\n    file \"./deep/none\" not exists\n    file \"here\" is not empty\n    output == \"hi\"",
    );
    folder.write("sub/here/one", b"1");
    assert_eq!(of_cases(&folder, 1), ["passed"; 5]);
    // Files that no rule looks at are not recorded.
    let files = recorded(&folder, 1)["files"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(files, [".", "..", "/", "deep/none", "here", "made.txt", "s.assert"]);
}

#[test]
fn a_later_session_changes_no_verdict() {
    let rules = "suite \"two\" {\n  runner it { command [\"sh\", \"./agent.sh\"] }\n  case first { prompt \"first\"\n    file \"second.txt\" exists }\n  case second { prompt \"second\"\n    file \"second.txt\" exists }\n}\n";
    let script = format!("case $1 in second) : >second.txt ;; esac\n{SAYS_HI}");
    let folder = Folder::new(&[("s.assert", rules), ("agent.sh", &script)]);
    let found = of_cases(&folder, 1);
    assert_eq!(found, ["failed", "skipped", "skipped", "passed"]);
}

#[test]
fn commands_of_rules_run_where_the_agent_worked_when_its_session_ends() {
    let folder = scripted(
        "workspace isolated { }",
        &format!("echo made >made.txt\n{SAYS_HI}"),
        "run \"cat made.txt\" exits 0\n    run \"test -e s.assert\" exits 1\n    run \"cat ${output}\" exits 0\n    run \"./nowhere\" exits 0",
    );
    assert_eq!(of_cases(&folder, 1), ["passed", "passed", "failed", "error"]);
    let ran = recorded(&folder, 1)["meta"]["ran"].clone();
    assert_eq!(ran[0], json!({"command": ["cat", "made.txt"], "exit_code": 0, "output": "made\n"}));
    // A command that was not run then is not run now.
    let rules = folder.read("s.assert").replace("cat made.txt", "cat agent.sh");
    folder.write("s.assert", rules.as_bytes());
    let again =
        folder.aver("check s.assert -r s.runs/1/session.assert s.runs/1/runs.jsonl --allow-run --format json").json();
    assert!(verdicts(&again).contains(&("c.1".to_owned(), "undecided".to_owned())), "{again}");
}

#[test]
fn links_and_repositories_exist_and_nothing_behind_them_is_known() {
    let script = format!(
        "ln -s /etc/passwd link; ln -s nowhere broken; ln -s /etc dir; mkdir .git real; : >.git/config; : >real/a\n{SAYS_HI}"
    );
    let case = "file \"link\" not exists\n    file \"broken\" not exists\n    file \"link\" contains \"root\"\n    file \"dir/none\" not exists\n    file \".git\" exists\n    file \".git/config\" not exists\n    file \"real/b\" not exists\n    file \"/etc/passwd\" exists\n    file \"../x\" not exists";
    // For a repository, too, only the lookups at the end of the session are recorded.
    let wanted = ["failed", "failed", "undecided", "undecided", "passed", "failed", "passed", "undecided", "undecided"];
    let folder = scripted("workspace isolated { }", &script, case);
    assert_eq!(of_cases(&folder, 1), wanted);
    let files = recorded(&folder, 1)["files"].clone();
    let nothing = json!({"complete": false});
    assert_eq!([&files["link"], &files["dir"], &files[".git"]], [&nothing; 3]);
    assert_eq!((&files["real"], files.get("dir/passwd"), files.get(".git/hooks")), (&json!({}), None, None));
    folder.write("s.assert", folder.read("s.assert").replace("workspace isolated { }", "").as_bytes());
    assert_eq!(of_cases(&folder, 2), wanted);
}

#[test]
fn what_a_transcript_says_of_a_session_is_not_believed() {
    let script = "echo '{\"output\": \"hi\", \"files\": {\"fake.txt\": \"x\"}, \"meta\": {\"snapshot\": {\"actual\": 2, \"allowed\": 1}, \"why\": \"w\", \"ran\": [{\"command\": [\"false\"], \"exit_code\": 0}], \"own\": 1}}'\n";
    let folder = scripted("workspace isolated { }", script, "file \"fake.txt\" exists\n    run \"false\" exits 0");
    assert_eq!(of_cases(&folder, 1), ["failed", "failed"]);
    let meta = recorded(&folder, 1)["meta"].clone();
    assert_eq!((&meta["snapshot"], &meta["why"], &meta["own"]), (&Value::Null, &Value::Null, &json!(1)));
}

#[test]
fn a_trace_from_before_the_session_is_none_of_it() {
    let old = "{\"output\": \"hi\", \"calls\": []}";
    let with_trace = |workspace: &str, script: &str| {
        let folder = scripted(workspace, script, "output == \"hi\"");
        let rules = folder.read("s.assert").replace("command [", "trace \"out/run.json\"; command [");
        folder.write("s.assert", rules.as_bytes());
        folder.write("t/out/run.json", old.as_bytes());
        folder.write("out/run.json", old.as_bytes());
        folder
    };
    let workspace = "workspace isolated { template \"./t\" }";
    let ran = with_trace(workspace, "true\n").aver("run s.assert --allow-run --format short");
    assert!(ran.code == 1 && ran.out.contains("collection: the runner wrote no `out/run.json`"), "{ran:?}");
    let folder = with_trace("", "true\n");
    let ran = folder.aver("run s.assert --allow-run --format short");
    assert!(ran.code == 1 && ran.out.contains("collection: `out/run.json` is older than the session"), "{ran:?}");
    assert_eq!(folder.read("out/run.json"), old);
    // The second session in a shared folder writes nothing.
    let once = format!("[ -e seen ] || echo '{old}' >out/run.json; : >seen\n");
    for shared in ["", "workspace shared { template \"./t\" }"] {
        let ran = with_trace(shared, &once).aver("run s.assert --allow-run --repeat 2 --format short");
        assert!(ran.code == 1 && ran.out.lines().count() == 2 && ran.out.contains("collection: "), "{ran:?}");
    }
    // Writing an identical text again counts as a new trace.
    let again = with_trace("", &format!("echo '{old}' >out/run.json\n"));
    assert_eq!(again.aver("run s.assert --allow-run --repeat 2 --format short").code, 0);
}

#[test]
fn what_an_agent_does_in_its_working_tree_stays_there() {
    let script = format!(
        "git branch --list main | grep -q main || exit 4\ngit checkout -qb work && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m agent && git tag mine && git stash list\n! git push -q origin work 2>/dev/null || exit 5\n{SAYS_HI}"
    );
    let folder =
        scripted("workspace isolated { worktree \".\" }", &script, "file \"agent.sh\" exists\n    output == \"hi\"");
    let git = |line: &str| {
        let names = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"];
        let words = shell_words::split(line).unwrap();
        let done =
            std::process::Command::new("git").current_dir(folder.path()).args(names).args(words).output().unwrap();
        assert!(done.status.success(), "{line}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    for line in ["init -q", "add -A", "commit -qm one"] {
        git(line);
    }
    let before = git("for-each-ref");
    let ran = folder.aver("run s.assert --allow-run --repeat 2 --format short");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert_eq!((git("for-each-ref"), git("worktree list").lines().count()), (before, 1));
}

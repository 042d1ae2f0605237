//! Conditions under which `aver run` refuses to start an agent.

use crate::folder::Folder;
use crate::run::{SAYS_HI, scripted};

/// Creates a suite whose agent leaves a file behind when it starts.
fn marked(settings: &str) -> Folder {
    let folder = scripted(settings, &format!(": >\"$HERE/started\"\n{SAYS_HI}"), "output == \"hi\"");
    let here = folder.path().canonicalize().unwrap();
    let with = format!("env {{ HERE: \"{}\" }}; command [", here.display());
    folder.write("s.assert", folder.read("s.assert").replace("command [", &with).as_bytes());
    folder
}

/// Asserts that no agent was started, and that the messages are printed.
#[track_caller]
fn refused(folder: &Folder, flags: &str, said: &[&str]) {
    let ran = folder.aver(&format!("run s.assert --allow-run {flags}"));
    assert!(matches!(ran.code, 2 | 3), "{flags}: {ran:?}");
    said.iter().for_each(|part| assert!(ran.err.contains(part), "{flags}: {part:?} is not said: {}", ran.err));
    assert!(!folder.path().join("started").exists(), "{flags}: {ran:?}");
}

#[test]
fn reports_that_cannot_be_written_are_refused_before_an_agent_starts() {
    let folder = marked("");
    refused(&folder, "--report nope=x", &["there is no format `nope`"]);
    refused(&folder, "--report json=no/such/folder/x.json", &["no/such/folder/x.json"]);
    refused(&folder, "--report json=s.assert", &["s.assert"]);
    refused(&folder, "--baseline missing.txt", &["missing.txt"]);
    refused(&folder, "--update-baseline", &["`--update-baseline` needs a file to write"]);
    folder.write("file", b"");
    refused(&folder, "--report-dir file/reports", &["file/reports"]);
    assert!(!folder.path().join("s.runs").exists());
    assert_eq!(folder.aver("run s.assert --allow-run --report json=x.json --report-dir reports").code, 0);
    assert!(folder.path().join("started").exists() && folder.path().join("reports/junit.xml").exists());
}

#[test]
fn what_would_be_ignored_is_refused() {
    let folder = marked("");
    refused(&folder, "--timeout 60", &["a timeout is a duration", "write `--timeout 60s`"]);
    refused(&folder, "--snapshots s.json", &["`--snapshots` has no meaning: the suite has no snapshots"]);
    let isolated = "`cwd` has no meaning where the workspace is `isolated`";
    refused(&marked("cwd \".\"; workspace isolated { }"), "", &[isolated, "leave it out"]);
    let folder = marked("");
    let rules = folder.read("s.assert").replace("\"./agent.sh\"", "\"./agent.sh\", \"{promt}\"");
    folder.write("s.assert", rules.as_bytes());
    refused(&folder, "", &["`{promt}` stands for nothing", "did you mean `{prompt}`?"]);
    folder.write("s.assert", rules.replace("{promt}", "{\\\"a\\\": {}} {other} {x").as_bytes());
    assert_eq!(folder.aver("run s.assert --allow-run").code, 0);
}

#[test]
fn a_template_that_holds_the_runs_is_refused() {
    let folder = marked("workspace isolated { template \".\" }");
    refused(&folder, "", &["`s.runs/1` lies in the template of the suite `one`", "--out DIR"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let out = elsewhere.path().join("runs");
    assert_eq!(folder.aver(&format!("run s.assert --allow-run --out {}", out.display())).code, 0);
}

#[test]
fn values_that_no_program_can_be_given_are_refused() {
    refused(&marked("env { \"A=B\": \"c\" }"), "", &["names the variable `A=B`", "s.assert:"]);
    refused(&marked("env { A: \"x\\u{0}y\" }"), "", &["holds a NUL character"]);
    let folder = marked("");
    folder.write("s.assert", folder.read("s.assert").replace("do it", "do\\u{0}it").as_bytes());
    refused(&folder, "", &["holds a NUL character"]);
}

#[test]
fn a_workspace_needs_no_braces() {
    let folder = marked("workspace isolated");
    assert_eq!(folder.aver("run s.assert --allow-run").code, 0);
    assert!(folder.aver("run s.assert --dry-run").out.contains("workspaces/c/it"));
    assert_eq!(folder.aver("fmt s.assert").code, 0);
    assert!(folder.read("s.assert").contains("workspace isolated\n"), "{}", folder.read("s.assert"));
}

#[test]
fn nothing_has_to_be_compared_to_deny_what_nothing_exercises() {
    let ran = marked("").aver("run s.assert --allow-run --deny unexercised --format short");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let folder = marked("snapshots { percent: 10 }");
    assert_eq!(folder.aver("run s.assert --allow-run").code, 1);
    assert!(folder.read("s.runs/1/session.assert").contains("rule snapshot"));
}

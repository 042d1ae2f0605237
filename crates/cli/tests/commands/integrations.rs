//! Programs that call `aver`: the GitHub action and the pre-commit hooks.

use crate::folder::Folder;
use std::path::Path;
use std::process::Command;

/// Creates a folder with a rule that fails on one of two runs. Names contain spaces and shell characters.
fn folder() -> Folder {
    Folder::new(&[
        ("my rules/limit.assert", "rule limit \"Small refunds\" { each refund: args.amount <= 100 }\n"),
        ("runs/a $(touch PWNED).json", "{\"calls\": [{\"tool\": \"refund\", \"args\": {\"amount\": 250}}]}"),
        ("runs/b.json", "{\"calls\": [{\"tool\": \"refund\", \"args\": {\"amount\": 20}}]}"),
    ])
}

/// Runs the script of the action with these inputs; returns exit code and standard output.
fn action(folder: &Folder, inputs: &[(&str, &str)]) -> (Option<i32>, String) {
    let aver = Path::new(env!("CARGO_BIN_EXE_aver")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(aver.to_path_buf()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let ran = Command::new("bash")
        .arg(averment_fixtures::project("integrations/github-action.sh"))
        .current_dir(folder.path())
        .env("PATH", path.unwrap())
        .env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md"))
        .env("GITHUB_OUTPUT", folder.path().join("output"))
        .envs(inputs.iter().copied())
        .output()
        .unwrap();
    (ran.status.code(), String::from_utf8(ran.stdout).unwrap() + &String::from_utf8(ran.stderr).unwrap())
}

#[test]
fn the_action_annotates_sums_up_and_keeps_reports() {
    let folder = folder();
    folder.write("summary.md", b"before\n");
    let inputs =
        [("AVERMENT_RULES", "my rules\n"), ("AVERMENT_TRACES", "runs/a $(touch PWNED).json\r\n\nruns/b.json\n")];
    let (code, said) = action(&folder, &inputs);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("::error file=my rules/limit.assert,line=1"), "{said}");
    assert!(folder.read("summary.md").starts_with("before\n") && folder.read("summary.md").contains("| `limit` | 1 |"));
    assert_eq!(folder.read("output"), "exit-code=1\n");
    for file in ["averment.html", "averment.junit.xml", "averment.sarif", "averment.md"] {
        assert!(folder.read(&format!("averment-reports/{file}")).contains("limit"), "{file}");
    }
    assert!(!folder.path().join("PWNED").exists());
}

#[test]
fn the_action_takes_further_arguments_and_the_project() {
    let folder = folder();
    let inputs = [
        ("AVERMENT_RULES", "my rules"),
        ("AVERMENT_TRACES", "runs"),
        ("AVERMENT_ARGUMENTS", "--baseline\nknown failures.txt\n--update-baseline"),
        ("AVERMENT_REPORTS", "out/reports"),
    ];
    let (code, said) = action(&folder, &inputs);
    assert_eq!(code, Some(0), "{said}");
    assert!(folder.read("known failures.txt").contains("each refund: args.amount <= 100 | runs/"));
    assert!(folder.read("out/reports/averment.junit.xml").contains("testsuite"));
    folder.write("averment.toml", b"rules = [\"my rules\"]\ntraces = [\"runs\"]\n");
    assert_eq!(action(&folder, &[]).0, Some(1));
    assert_eq!(action(&folder, &[("AVERMENT_TRACES", "runs/b.json")]).0, Some(0));
    let (code, said) = action(&folder, &[("AVERMENT_TRACES", "runs/b.json\nruns")]);
    assert!(code == Some(2) && said.contains("::error::several traces need rules"), "{said}");
}

/// Old files in the report folder are not shown, and a link there is not written through.
#[test]
fn the_action_shows_only_what_this_run_wrote() {
    use std::os::unix::fs::symlink;
    let broken = [("AVERMENT_RULES", "my rules/none.assert"), ("AVERMENT_TRACES", "runs")];
    let good = [("AVERMENT_RULES", "my rules"), ("AVERMENT_TRACES", "runs")];
    for (inputs, shown) in [(broken, false), (good, true)] {
        let folder = folder();
        folder.write("secret", b"SECRET\n");
        folder.write("averment-reports/averment.md", b"STALE\n");
        symlink("../secret", folder.path().join("averment-reports/averment.sarif")).unwrap();
        let (code, said) = action(&folder, &inputs);
        assert_eq!(code, Some(if shown { 1 } else { 2 }), "{said}");
        let summary = std::fs::read_to_string(folder.path().join("summary.md")).unwrap_or_default();
        assert_eq!((summary.contains("STALE"), summary.contains("limit")), (false, shown), "{summary}");
        assert_eq!(folder.path().join("averment-reports/averment.md").exists(), shown);
        assert_eq!(folder.read("secret"), "SECRET\n");
        let sarif = folder.path().join("averment-reports/averment.sarif");
        assert_eq!((sarif.is_symlink(), sarif.exists()), (false, shown));

        // The report file is a link.
        std::fs::remove_dir_all(folder.path().join("averment-reports")).unwrap();
        std::fs::create_dir(folder.path().join("averment-reports")).unwrap();
        symlink("../secret", folder.path().join("averment-reports/averment.md")).unwrap();
        let _ = action(&folder, &inputs);
        assert_eq!(folder.read("secret"), "SECRET\n");
        assert!(!std::fs::read_to_string(folder.path().join("summary.md")).unwrap_or_default().contains("SECRET"));
    }
    // The folder is a link, or is inside a linked folder.
    let folder = folder();
    folder.write("elsewhere/deep/averment.md", b"SECRET\n");
    symlink("elsewhere", folder.path().join("linked")).unwrap();
    for reports in ["linked", "linked/", "./linked", "linked/deep"] {
        let inputs = [good[0], good[1], ("AVERMENT_REPORTS", reports)];
        let (code, said) = action(&folder, &inputs);
        assert!(code == Some(2) && said.contains("::error::the folder of the reports is a link"), "{reports}: {said}");
        assert_eq!(folder.read("elsewhere/deep/averment.md"), "SECRET\n");
        assert!(!folder.path().join("summary.md").exists());
    }
}

/// Returns the hooks: id, command, and true if file names are passed to it.
fn hooks() -> Vec<(String, String, bool)> {
    let text = std::fs::read_to_string(averment_fixtures::project(".pre-commit-hooks.yaml")).unwrap();
    let value = |hook: &str, key: &str| {
        let line = hook.lines().find_map(|line| line.trim().strip_prefix(&format!("{key}: ")));
        line.map(str::to_owned)
    };
    let hooks = text.split("- id: ").skip(1).map(|hook| {
        let id = hook.lines().next().unwrap().to_owned();
        (id, value(hook, "entry").unwrap(), value(hook, "pass_filenames").as_deref() != Some("false"))
    });
    hooks.collect()
}

#[test]
fn the_hooks_of_pre_commit_pass_and_fail() {
    let good = "rule limit \"Small refunds\" {\n  each refund: args.amount <= 100\n}\n";
    let hooks = hooks();
    let ids: Vec<&str> = hooks.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["aver-fmt", "aver-lint", "aver-test", "aver-check"]);
    let bad = [
        ("aver-fmt", "rule   limit { each refund: args.amount<=100 }\n"),
        ("aver-lint", "rule limit { each refund: args.amount << 100 }\n"),
        ("aver-test", "never refund\ntest \"x\" expect pass { calls: [{ tool: \"refund\" }] }\n"),
        ("aver-check", "each refund: args.amount <= 10\n"),
    ];
    for ((id, entry, files), (of, text)) in hooks.iter().zip(bad) {
        assert_eq!(id, of);
        let folder = Folder::new(&[
            ("averment.toml", "rules = [\"r.assert\"]\ntraces = [\"run.json\"]\n"),
            ("r.assert", good),
            ("run.json", "{\"calls\": [{\"tool\": \"refund\", \"args\": {\"amount\": 20}}]}"),
        ]);
        let line = format!(
            "{}{}",
            entry.strip_prefix("integrations/pre-commit.sh ").unwrap(),
            if *files { " r.assert" } else { "" }
        );
        let ran = folder.aver(&line);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{id}: {ran:?}");
        folder.write("r.assert", text.as_bytes());
        let ran = folder.aver(&line);
        // The hook fails if it reformats a file.
        assert!(ran.code != 0 || folder.read("r.assert") != text, "{id}: {ran:?}");
    }
}

//! The world around a run: files, the environment, tools, requests, commands, and their permissions.

#![cfg(unix)]

use crate::folder::{Folder, Ran};
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

/// Returns verdicts and reasons, each with the text of its assertion.
fn verdicts(ran: &Ran) -> Vec<(String, String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let json = ran.json();
    let results = json["runs"][0]["results"].as_array().unwrap_or_else(|| panic!("{ran:?}")).clone();
    results.iter().map(|one| (text(&one["text"]), text(&one["verdict"]), text(&one["reason"]))).collect()
}

/// Checks lines of the form `VERDICT assertion` on a run.
#[track_caller]
fn expect(folder: &Folder, run: &str, options: &str, lines: &str) {
    let lines: Vec<(&str, &str)> = lines.lines().filter_map(|line| line.trim().split_once(' ')).collect();
    let rules: String = lines.iter().map(|(_, rule)| format!("{rule}\n")).collect();
    folder.write("r.assert", rules.as_bytes());
    folder.write("t.json", run.as_bytes());
    let ran = folder.aver(&format!("check r.assert t.json --format json {options}"));
    let found = verdicts(&ran);
    assert_eq!(found.len(), lines.len(), "{ran:?}");
    for ((wanted, rule), (text, verdict, reason)) in lines.iter().zip(&found) {
        assert_eq!((wanted, rule), (&verdict.as_str(), &text.as_str()), "{reason}");
    }
    let code = match () {
        () if lines.iter().any(|(verdict, _)| *verdict == "error") => 5,
        () if lines.iter().any(|(verdict, _)| matches!(*verdict, "fail" | "undecided")) => 1,
        () => 0,
    };
    assert_eq!(ran.code, code, "{ran:?}");
}

#[test]
fn a_file_is_held_against_every_test() {
    let files = [("out/a.json", "{\"id\": 7}\n"), ("empty.txt", ""), ("notes.md", "# Notes\nall fine\n")];
    let folder = Folder::new(&files);
    expect(
        &folder,
        r#"{"output":{"path":"out/a.json"}}"#,
        "",
        r##"pass file "out/a.json" exists
        fail file "out/a.json" not exists
        pass file "out/b.json" not exists
        pass file "out/b.json" is missing
        fail file "out/b.json" exists
        pass file "out/a.json" is not empty
        pass file "empty.txt" is empty
        fail file "empty.txt" is not empty
        pass file "out/b.json" is empty
        pass file "notes.md" matches /^all fine$/m
        pass file "notes.md" not matches /broken/
        pass file "notes.md" contains "Notes"
        pass file "notes.md" icontains "NOTES"
        fail file "notes.md" does not contain "Notes"
        pass file "notes.md" contains all ["Notes", "fine"]
        pass file "notes.md" contains any ["x", "fine"]
        pass file "notes.md" contains none ["x", "y"]
        pass file "notes.md" starts with "# "
        pass file "notes.md" ends with "fine\n"
        pass file "notes.md" does not end with "x"
        pass file "empty.txt" == ""
        pass file "notes.md" != "x"
        pass file "out/a.json" is json
        fail file "notes.md" is json
        pass file "out/a.json" contains json
        pass file "notes.md" is string
        pass file "notes.md" < "a"
        pass file "empty.txt" in ["", "x"]
        fail file "out/b.json" matches /x/
        vacuous file "out/b.json" not matches /x/
        pass file "${output.path}" exists
        fail file "${output.gone}" exists
        pass file "out" exists
        pass file "out" contains "a.json"
        pass file "out" is not empty
        fail file "out" matches /a/
        pass not file "nope" exists"##,
    );
}

#[test]
fn what_the_run_records_comes_before_the_world() {
    let folder = Folder::new(&[("real.txt", "real")]);
    expect(
        &folder,
        r#"{"files":{"a.txt":"recorded","./b.txt":{"content":"in b"},"c.txt":{"size":3}},"env":{"A_SET":"x","A_NULL":null,"A_BLANK":""},
            "tools":["exec",{"name":"search"},{"type":"function","function":{"name":"fetch"}}]}"#,
        "",
        r#"pass file "a.txt" == "recorded"
        pass file "./a.txt" exists
        pass file "b.txt" contains "in b"
        pass file "c.txt" exists
        undecided file "c.txt" contains "x"
        fail file "real.txt" exists
        pass file "/etc/passwd" not exists
        pass env A_SET is set
        fail env A_NULL is set
        pass env A_SET is not empty
        pass env A_NULL is empty
        pass env A_BLANK is set
        fail env A_BLANK is not empty
        pass env PATH is not set
        pass tool exec is available
        pass tool search is available
        pass tool fetch is available
        pass tool other is not available
        fail tool other is available"#,
    );
    expect(
        &folder,
        r#"{"files":["a.txt",{"path":"b.txt","content":"in b"}]}"#,
        "",
        r#"pass file "a.txt" exists
        undecided file "a.txt" is not empty
        pass file "b.txt" contains "in b"
        pass file "real.txt" not exists"#,
    );
    // If the run recorded the world partly, the rest is undecided, and the real world is not read.
    expect(
        &folder,
        r#"{"files":{".":{"complete":false},"gone.txt":{"exists":false}},"meta":{"ran":[{"command":["false"],"exit_code":0}]}}"#,
        "--allow-run",
        r#"undecided file "real.txt" exists
        undecided file "deep/x" not exists
        pass file "./gone.txt" not exists
        pass run "false" exits 0
        undecided run "true" exits 0"#,
    );
    expect(
        &folder,
        r#"{"files":{"d/":{"complete":false}}}"#,
        "",
        r#"undecided file "d/a/x" not exists
        pass file "d" exists
        pass file "real.txt" not exists"#,
    );
    expect(
        &folder,
        r#"{"output":1}"#,
        "",
        r#"pass file "real.txt" == "real"
        pass env PATH is set
        fail env AVERMENT_NO_SUCH_VARIABLE is set
        pass env PATH is not empty
        fail env AVERMENT_NO_SUCH_VARIABLE is not empty
        undecided tool exec is available
        undecided http "x" status == 200"#,
    );
}

#[test]
fn every_request_to_an_address_is_held_against_a_status() {
    let run = r#"{"http":[{"method":"GET","url":"https://juejin.cn/a","status":200},{"url":"https://juejin.cn/b","status":404},
        {"url":"https://example.org/c","status":204},{"url":"https://no.status/d"}]}"#;
    expect(
        &Folder::new(&[]),
        run,
        "",
        r#"fail http "juejin.cn" status == 200
        pass http "juejin.cn/a" status == 200
        pass http /juejin\.cn\/[ab]/ status in [200, 404]
        pass http "example.org" status in 200..299
        fail http "other.org" status == 200
        undecided http "no.status" status == 200
        pass http "juejin.cn" status < 500"#,
    );
}

#[test]
fn nothing_outside_the_working_directory_is_looked_at_without_its_flag() {
    let outside = Folder::new(&[("secret.txt", "x"), ("deep/secret.txt", "x")]);
    let folder = Folder::new(&[("in/a.txt", "a")]);
    symlink(outside.path(), folder.path().join("link")).unwrap();
    symlink(outside.path().join("secret.txt"), folder.path().join("file")).unwrap();
    symlink(outside.path().join("not-there-yet"), folder.path().join("dangling")).unwrap();
    symlink("circle", folder.path().join("circle")).unwrap();
    let out = outside.path().canonicalize().unwrap();
    let rules = format!(
        r#"error file "link/secret.txt" exists
        error file "link/deep/secret.txt" exists
        error file "link" is not empty
        error file "link/nothing" exists
        error file "file" contains "x"
        error file "dangling" exists
        error file "circle" exists
        error file "in/../link/secret.txt" exists
        error file "../x" exists
        error file "in/../../x" exists
        error file "link/../x" exists
        error file "{out}/secret.txt" exists
        error file "/proc/self/environ" matches /PATH/
        error file "/dev/zero" exists
        pass file "in/../in/a.txt" exists
        pass file "{here}/in/a.txt" exists"#,
        out = out.display(),
        here = folder.path().canonicalize().unwrap().display(),
    );
    expect(&folder, "{}", "", &rules);
    let ran = folder.aver("check r.assert t.json");
    let flag = format!("add `--allow-read={}`", out.display());
    assert!(ran.out.contains(&flag), "the flag is not named: {}", ran.out);
    let allowed = format!("--allow-read {}", out.display());
    expect(
        &folder,
        "{}",
        &allowed,
        r#"pass file "link/secret.txt" exists
        pass file "file" contains "x"
        pass file "link" contains "deep"
        pass file "link/nothing" not exists
        error file "link/../x" exists
        error file "/etc/passwd" exists"#,
    );
    folder.aver("check r.assert t.json --allow-read nowhere").refused(&["`nowhere` is no folder"]);
}

#[test]
fn special_files_never_block_and_large_ones_are_not_read_for_nothing() {
    let folder = Folder::new(&[]);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let large = std::fs::File::create(folder.path().join("large.bin")).unwrap();
    large.set_len(5 << 30).unwrap();
    let start = Instant::now();
    expect(
        &folder,
        "{}",
        "--allow-read /dev",
        r#"pass file "pipe" exists
        error file "pipe" is not empty
        error file "pipe" contains "x"
        pass file "/dev/zero" exists
        error file "/dev/zero" contains "x"
        pass file "large.bin" exists
        pass file "large.bin" is not empty
        error file "large.bin" contains "x""#,
    );
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_command_runs_only_with_its_flag_and_never_in_a_shell() {
    let folder =
        Folder::new(&[("run.sh", "#!/bin/sh\nexit 3\n"), ("plain.sh", "exit 0\n"), ("bad.sh", "#!/no/such/one\n")]);
    use std::os::unix::fs::PermissionsExt as _;
    for name in ["run.sh", "bad.sh"] {
        std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let run = r#"{"output":{"path":"a b; $(touch pwned) `touch pwned` > pwned","code":"exit 4","n":3}}"#;
    let denied = r#"error run "true" exits 0
        error run "touch pwned" exits 0"#;
    expect(&folder, run, "", denied);
    let reason = verdicts(&folder.aver("check r.assert t.json --format json")).remove(0).2;
    assert!(reason.contains("`--allow-run`"), "{reason}");
    expect(
        &folder,
        run,
        "--allow-run",
        r#"pass run "true" exits 0
        pass run "false" exits 1
        fail run "true" exits 1
        pass run "./run.sh" exits 3
        pass run "test ${output.path} = 'a b; $(touch pwned) `touch pwned` > pwned'" exits 0
        pass run "sh -c 'test $# -eq 1' x ${output.path}" exits 0
        pass run "test x${output.n} = x3" exits 0
        pass run "sh -c 'kill -9 $$'" exits 137
        pass run "cat" exits 0
        pass run "touch made-here" exits 0
        pass file "made-here" exists
        fail run "test ${output.gone}" exits 0
        error run "no-such-program" exits 0
        error run "./nothing.sh" exits 0
        error run "./plain.sh" exits 0
        error run "./bad.sh" exits 0
        pass not run "false" exits 0"#,
    );
    assert!(!folder.path().join("pwned").exists());
    // Values from a run are arguments of commands, never a program or a part of a script.
    for command in [
        "sh -c ${output.code}",
        "${output.code}",
        "sh -c 'echo ${output.path}; true'",
        "env ${output.path} x",
        "env --split-string=${output.code}",
        "env LD_PRELOAD=${output.path} true",
        "time -f %e ${output.path}",
        "sudo --whatever me ${output.path}",
        "docker exec box ${output.path}",
        "find . -exec ${output.path} ';'",
        "tar --to-command=${output.code} -xf x",
        "sed ${output.code} x",
        "script -c ${output.code} out",
    ] {
        folder.write("code.assert", format!("run \"{command}\" exits 0\n").as_bytes());
        for asked in ["lint code.assert", "check code.assert t.json --allow-run"] {
            let ran = folder.aver(asked);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(ran.code == 3 && said.contains("an interpolated value cannot be"), "{command}: {ran:?}");
        }
    }
    assert!(!folder.path().join("pwned").exists());
    let found = verdicts(&folder.aver("check r.assert t.json --format json --allow-run"));
    for (rule, said) in [
        ("no-such-program", "there is no such program"),
        ("./plain.sh", "not an executable file"),
        ("./bad.sh", "first line"),
        ("output.gone", "`output.gone` is missing"),
    ] {
        let (_, _, reason) = found.iter().find(|(text, _, _)| text.contains(rule)).unwrap();
        assert!(reason.contains(said), "{rule}: {reason}");
    }
}

#[test]
fn a_command_that_will_not_end_is_ended_with_everything_it_started() {
    let folder = Folder::new(&[]);
    let stubborn = r#"trap "" TERM HUP INT; (trap "" TERM; sleep 4; touch forked) & setsid sh -c "trap : TERM; exec >&- 2>&-; sleep 4; touch session" & exec >&- 2>&-; sleep 60"#;
    folder.write("stubborn.sh", stubborn.as_bytes());
    let start = Instant::now();
    let rules = r#"error run "sh stubborn.sh" exits 0
        error run "yes" exits 0
        error run "sleep 1000" exits 0"#;
    expect(&folder, "{}", "--allow-run --run-timeout 500ms", rules);
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    let (_, _, reason) =
        verdicts(&folder.aver("check r.assert t.json --format json --allow-run --run-timeout 500ms")).remove(2);
    assert_eq!(reason, "`sleep` took longer than 500ms and was ended");
    std::thread::sleep(Duration::from_millis(4_500));
    for marker in ["forked", "session"] {
        assert!(!folder.path().join(marker).exists(), "what the command had started lived on: {marker}");
    }
    folder.aver("check r.assert t.json --run-timeout soon").refused(&["`soon` is no time", "`10s`"]);
}

/// A process that forks twice into its own session with an empty environment, and later writes a sign of life.
#[cfg(target_os = "linux")]
const ESCAPE: &str = "import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        os.execve('/bin/sh', ['sh', '-c', 'sleep 2; touch ' + sys.argv[1]], {})
    os._exit(0)
time.sleep(0.3)
open(sys.argv[1] + '.started', 'w').close()
time.sleep(float(sys.argv[2]))
";

#[test]
#[cfg(target_os = "linux")]
fn what_hides_from_its_command_ends_with_it_all_the_same() {
    let folder = Folder::new(&[("escape.py", ESCAPE), ("t.json", "{}")]);
    if std::process::Command::new("python3").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no `python3` to hide with");
        return;
    }
    folder.write("r.assert", b"run \"python3 escape.py one 0\" exits 0\n");
    for (command, marker) in [("check r.assert t.json", "one"), ("explain r.assert t.json", "one")] {
        assert_eq!(folder.aver(&format!("{command} --allow-run")).code, 0, "{command}");
        assert!(folder.path().join(format!("{marker}.started")).exists(), "{command}");
    }
    let command = folder.path().join("one");
    folder.write("s.assert", b"run \"python3 escape.py two 60\" exits 0\n");
    // Under `nohup`, all started processes ignore SIGHUP.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let takes_hangup = u64::from_str_radix(ignored, 16).unwrap() & 1 == 0;
    for signal in ["HUP", "QUIT", "TERM", "INT"].into_iter().skip(usize::from(!takes_hangup)) {
        let _ = std::fs::remove_file(folder.path().join("two.started"));
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_aver"))
            .args(["check", "s.assert", "t.json", "--allow-run"])
            .current_dir(folder.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !folder.path().join("two.started").exists() && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::process::Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{signal}: {ended:?}");
    }
    std::thread::sleep(Duration::from_millis(2_500));
    assert!(!command.exists() && !folder.path().join("two").exists(), "it lived on");
}

/// Processes that replace themselves after a pause, each in its own session with an empty environment.
#[cfg(target_os = "linux")]
const CHAIN: &str = "import os, sys, time
if os.fork() == 0:
    os.closerange(0, 3)
    os.setsid()
    os.execve(sys.executable, [sys.executable, '-S', '-c', \'\'\'import os, sys, time
for link in range(100000):
    time.sleep(float(sys.argv[2]))
    if os.fork(): os._exit(0)
    os.setsid()
\'\'\', os.getcwd(), sys.argv[2]], {})
time.sleep(float(sys.argv[1]))
";

#[test]
#[cfg(target_os = "linux")]
fn a_chain_of_processes_is_ended_with_its_command() {
    let folder = Folder::new(&[("chain.py", CHAIN), ("t.json", "{}")]);
    if std::process::Command::new("python3").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no `python3` to start a chain with");
        return;
    }
    let here = folder.path().canonicalize().unwrap().display().to_string();
    let words_of = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
    for (words, code) in [("0.3 0.01", 0), ("60 0.01", 5), ("0.3 0.001", 0), ("0.3 0", 0), ("60 0", 5)] {
        folder.write("r.assert", format!("run \"python3 chain.py {words}\" exits 0").as_bytes());
        // Commands that end by themselves get enough time on a busy machine.
        let limit = if code == 0 { "20s" } else { "1s" };
        let ran = folder.aver(&format!("check r.assert t.json --allow-run --run-timeout {limit}"));
        assert_eq!(ran.code, code, "{words}");
        let lives = std::fs::read_dir("/proc").unwrap().flatten().any(|one| words_of(one).contains(&here));
        assert!(!lives, "{words}: the chain lived on");
    }
}

#[test]
fn an_interruption_ends_commands_that_run() {
    let folder = Folder::new(&[("r.assert", "run \"sh slow.sh\" exits 0\n"), ("t.json", "{}")]);
    folder.write("slow.sh", b"touch started; sleep 3; touch finished\n");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["check", "r.assert", "t.json", "--allow-run"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !folder.path().join("started").exists() && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    std::thread::sleep(Duration::from_millis(3_300));
    assert!(!folder.path().join("finished").exists(), "the command lived on");
}

#[test]
fn conditions_before_and_after_a_run_have_their_severities() {
    let rules = "case one {\n  prompt \"x\"\n  pre { env AVERMENT_NO_SUCH_VARIABLE is set }\n  post { file \"out.txt\" exists }\n  output == 1\n}\n";
    let folder = Folder::new(&[("r.assert", rules), ("t.json", r#"{"prompt":"x","output":1}"#)]);
    let ran = folder.aver("check r.assert t.json --format json");
    assert_eq!(ran.code, 1, "{ran:?}");
    let json = ran.json();
    let severities: Vec<_> =
        json["runs"][0]["results"].as_array().unwrap().iter().map(|one| one["severity"].clone()).collect();
    assert_eq!(severities, ["error", "warn", "error"]);
    folder.write("r.assert", rules.replace("pre { env AVERMENT_NO_SUCH_VARIABLE is set }", "").as_bytes());
    assert_eq!(folder.aver("check r.assert t.json").code, 0, "a warning does not fail the run");
}

#[test]
fn what_comes_from_the_environment_stands_in_no_report() {
    let run = r#"{"output":"I saw orange horses","env":{"API_WORDS":"orange horses","N":"1"},
        "messages":[{"role":"assistant","text":"he said orange horses twice"}],"calls":[{"tool":"t","args":{"note":"orange horses"}}]}"#;
    let rules = "output not contains env.API_WORDS\noutput == \"x\" message \"got ${output}\"\nenv.API_WORDS == \"x\"\neach t: args.note == \"x\"\n\
        require assistant \"horses\"(text: \"nope\")\nrun \"printenv AVERMENT_TEST_WORDS\" exits 1\nbefore t -> t(note: \"z\")\n";
    let folder = Folder::new(&[("r.assert", rules), ("t.json", run)]);
    for format in ["human", "short", "summary", "json", "jsonl"] {
        let output = assert_cmd::Command::cargo_bin("aver")
            .unwrap()
            .current_dir(folder.path())
            .env("AVERMENT_TEST_WORDS", "tangerine elephants")
            .args(["check", "r.assert", "t.json", "--allow-run", "--format", format])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        for word in ["orange", "tangerine", "elephants"] {
            assert!(!text.contains(word), "{format} shows {word}: {text}");
        }
    }
}

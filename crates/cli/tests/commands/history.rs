//! Histories: the content that `aver check --record` stores, and the results of `aver trust`.

use crate::folder::{Folder, Ran};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

const RULE: &str = "rule answers { output.ok == true }\n";

/// Returns passing runs, followed by failing ones, each with its own id.
fn runs(first: usize, passing: usize, failing: usize) -> String {
    let line =
        |number: usize| json!({"id": format!("r{}", first + number), "calls": [], "output": {"ok": number < passing}});
    (0..passing + failing).map(|number| format!("{}\n", line(number))).collect()
}

fn recorded(folder: &Folder, name: &str, text: &str, flags: &str) -> Ran {
    folder.write(name, text.as_bytes());
    let ran = folder.aver(&format!("check rules.assert {name} --record runs.db {flags} --format summary"));
    assert!(ran.code <= 1, "{ran:?}");
    ran
}

/// Creates a folder with a history of passing and failing runs.
fn with(passing: usize, failing: usize) -> Folder {
    let folder = Folder::new(&[("rules.assert", RULE)]);
    recorded(&folder, "a.jsonl", &runs(0, passing, failing), "");
    folder
}

fn trust(folder: &Folder, flags: &str) -> Value {
    let ran = folder.aver(&format!("trust {flags} --format json"));
    let json = ran.json();
    let schema = serde_json::from_str(include_str!("../../../../docs/schema/trust.schema.json")).unwrap();
    let errors: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    json
}

/// Returns all rows of a history as text.
fn rows(folder: &Folder) -> String {
    let db = Connection::open(folder.path().join("runs.db")).unwrap();
    let mut text = String::new();
    for table in ["recordings", "names", "assertions", "runs", "results", "used"] {
        let mut statement = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells: Vec<Cell> = (0..columns).map(|column| row.get(column).unwrap()).collect();
            text.push_str(&format!("{table} {cells:?}\n"));
        }
    }
    text
}

fn count(folder: &Folder, select: &str) -> i64 {
    let db = Connection::open(folder.path().join("runs.db")).unwrap();
    db.query_row(select, [], |row| row.get(0)).unwrap()
}

/// STOP's example, with three of three assertions passed, and the boundaries of its table.
#[test]
fn the_score_and_its_labels_are_those_of_stop() {
    let rules = "output.article_url matches /juejin\\.cn\\/post\\/\\d+/\noutput.article_id is not empty\noutput.http_status == 200\n";
    let folder = Folder::new(&[("rules.assert", rules)]);
    let run = json!({"calls": [], "output": {"article_url": "https://juejin.cn/post/123", "article_id": "123", "http_status": 200}});
    recorded(&folder, "a.json", &run.to_string(), "");
    let all = trust(&folder, "")["all"].clone();
    assert_eq!((&all["passed"], &all["total"], &all["score"]), (&json!(3), &json!(3), &json!(1.0)));
    for (passing, failing, label) in
        [(19, 1, "Trusted"), (949, 51, "Unstable"), (4, 1, "Unstable"), (79, 21, "Unreliable"), (0, 1, "Unreliable")]
    {
        let all = trust(&with(passing, failing), "--last 1000")["all"].clone();
        assert_eq!(all["label"], label, "{passing} {failing}: {all}");
        assert_eq!(all["score"], passing as f64 / (passing + failing) as f64);
    }
    // 19 of 20 does not count as 95%, because the interval is wide.
    let all = trust(&with(19, 1), "")["all"].clone();
    assert!(all["interval"][0].as_f64().unwrap() < 0.77, "{all}");
}

#[test]
fn every_status_counts_as_the_reference_says() {
    let rules = "\
rule passes { output.ok == true }
rule warns { output.ok == false severity warn }
rule expected { output.ok == false expect fail \"known\" }
rule unexpected { output.ok == true expect fail \"known\" }
rule idle { each refund: args.amount > 0 }
rule unknown { cost <= 1 }
rule skipped { when output.ok == false
  output.ok == true }
";
    let folder = Folder::new(&[("rules.assert", rules)]);
    recorded(&folder, "a.jsonl", &runs(0, 1, 0), "");
    let trust = trust(&folder, "--by rule");
    let found: BTreeSet<String> = trust["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!(
                "{} {}/{} +{} {}",
                one["name"].as_str().unwrap(),
                one["passed"],
                one["total"],
                one["not_counted"],
                one["label"].as_str().unwrap()
            )
        })
        .collect();
    let wanted = [
        "passes 1/1 +0 Trusted",
        "warns 0/1 +0 Unreliable",
        "expected 1/1 +0 Trusted",
        "unexpected 0/1 +0 Unreliable",
        "idle 0/0 +1 no evidence",
        "unknown 0/1 +0 Unreliable",
        "skipped 0/0 +1 no evidence",
    ];
    assert_eq!(found, wanted.map(str::to_owned).into_iter().collect(), "{trust}");
    let ran = folder.aver("trust --by rule --min 0");
    assert_eq!(ran.code, 1, "no evidence reaches no score: {ran:?}");
    assert!(ran.out.contains("no evidence"), "{ran:?}");
}

#[test]
fn a_least_score_is_a_gate() {
    let folder = with(19, 1);
    assert_eq!(folder.aver("trust --min 0.95").code, 0);
    assert_eq!(folder.aver("trust --min 0.951").code, 1);
    folder.aver("trust --min 95").refused(&["between 0 and 1", "0.95 or 95%"]);
    folder.aver("trust --label version=3").refused(&["no run with the label version=3", "was recorded with `--label`"]);
    assert_eq!(folder.aver("trust --min 95%").code, 0);
    folder.aver("trust --last 0").refused(&["--last"]);
    folder.aver("trust --by model").refused(&["skill, rule, tool, label=NAME"]);
}

#[test]
fn the_same_input_makes_the_same_rows_whatever_reads_it() {
    let mut all = BTreeSet::new();
    for flags in ["--threads 1", "--threads 2", "--threads 2 --chunk 1KiB --report jsonl=r.jsonl --strict"] {
        let folder = Folder::new(&[("rules.assert", RULE)]);
        recorded(&folder, "a.jsonl", &runs(0, 300, 20), flags);
        all.insert(rows(&folder));
    }
    assert_eq!(all.len(), 1);
    let rows = all.pop_first().unwrap();
    assert_eq!(rows.matches("results [").count(), 320);
    assert!(rows.contains("output.ok == true"), "{rows}");
}

#[test]
fn reports_are_the_same_with_and_without_a_history() {
    let folder = Folder::new(&[("rules.assert", RULE), ("a.jsonl", &runs(0, 3, 1))]);
    for format in ["human", "summary", "json", "jsonl", "csv"] {
        let [plain, kept] = ["", "--record runs.db"]
            .map(|flags| folder.aver(&format!("check rules.assert a.jsonl --format {format} {flags}")));
        assert_eq!((plain.code, &plain.out), (kept.code, &kept.out), "{format}");
        assert!(kept.err.contains("note: 4 results of 4 runs recorded in `runs.db`"), "{}", kept.err);
    }
}

#[test]
fn what_a_run_records_is_kept_and_told_by_request() {
    let run = json!({"id": "task-1", "calls": [{"tool": "search", "start": "2026-11-23T10:00:00Z"}], "skills": ["publish"], "output": {"ok": true},
        "cost": 0.25, "usage": {"total_tokens": 1200}, "duration": 1500});
    let folder = Folder::new(&[("rules.assert", RULE), ("a.json", &run.to_string())]);
    let ran = folder.aver("check rules.assert a.json --record runs.db --measures --format json");
    let measured = ran.json()["runs"][0]["measured"].clone();
    assert_eq!(measured["cost_usd"], 0.25, "{measured}");
    assert_eq!((&measured["total_tokens"], &measured["duration_ms"]), (&json!(1200.0), &json!(1500.0)));
    assert_eq!(measured["id"], "task-1");
    assert_eq!(measured["started_ms"], 1_795_428_000_000_i64, "{measured}");
    let lines = folder.aver("check rules.assert a.json --measures --format jsonl").out;
    let line: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(line["measured"], measured);
    for (schema, value) in [
        (include_str!("../../../../docs/schema/check.schema.json"), ran.json()),
        (include_str!("../../../../docs/schema/check-jsonl.schema.json"), line),
    ] {
        let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        assert!(schema.is_valid(&value), "{value}");
    }
    assert!(rows(&folder).contains(
        "Text(\"task-1\"), Integer(1795428000000), Integer(1), Real(1.0), Real(0.25), Real(1200.0), Real(1500.0)"
    ));
    assert_eq!(trust(&folder, "--by tool")["groups"][0]["name"], "search");
    assert_eq!(trust(&folder, "--by skill")["groups"][0]["name"], "publish");
}

#[test]
fn labels_and_skills_make_groups() {
    let folder = Folder::new(&[("rules.assert", RULE)]);
    recorded(&folder, "a.jsonl", &runs(0, 9, 1), "--label skill=publish,version=1.1");
    recorded(&folder, "b.jsonl", &runs(50, 10, 0), "--label skill=publish --label version=1.2");
    recorded(&folder, "c.jsonl", &runs(80, 1, 0), "");
    let names = |flags: &str| -> Vec<String> {
        let groups = trust(&folder, flags)["groups"].as_array().unwrap().clone();
        groups
            .iter()
            .map(|one| format!("{} {}/{}", one["name"].as_str().unwrap(), one["passed"], one["total"]))
            .collect()
    };
    assert_eq!(names("--by label=version"), ["(no such label) 1/1", "1.1 9/10", "1.2 10/10"]);
    assert_eq!(names("--by skill"), ["(no skill) 1/1", "publish 19/20"]);
    assert_eq!(names("--by skill --label version=1.2"), ["publish 10/10"]);
    let wrong = folder.aver("trust --by label=verison --min 0.1");
    wrong.refused(&["has no run with a label `verison`", "the labels are: skill, version"]);
    folder.aver("trust --label version=3").refused(&["the labels are: skill, version"]);
    folder.aver("check rules.assert a.jsonl --record runs.db --label last=5").refused(&["give the label another name"]);
    folder.aver("trust --last 0").refused(&["how many runs count"]);
    let ran = folder.aver("trust --by label=version");
    assert!(ran.out.contains("1.1") && ran.out.contains("9/10") && ran.out.contains("Unstable"), "{}", ran.out);
    let page = folder.aver("trust --by label=version --format html").out;
    assert!(page.contains("<td>1.1</td>") && page.contains("Unstable") && page.ends_with("</html>\n"), "{page}");
}

#[test]
fn a_run_counts_once_by_what_was_said_of_it_last() {
    let folder = Folder::new(&[("rules.assert", "file \"done.txt\" exists\n")]);
    recorded(&folder, "a.jsonl", &runs(0, 2, 0), "");
    assert_eq!(trust(&folder, "")["all"]["score"], 0.0);
    folder.write("done.txt", b"x");
    recorded(&folder, "a.jsonl", &runs(0, 2, 0), "");
    let now = trust(&folder, "");
    assert_eq!((&now["all"]["runs"], &now["all"]["score"]), (&json!(2), &json!(1.0)));
    // Equal bytes under the same rules have different results, so the assertions are flaky.
    assert_eq!(now["flaky"].as_array().unwrap().len(), 2, "{now}");
    assert_eq!(now["flaky"][0]["statuses"], json!(["failed", "passed"]));
    assert!(folder.aver("trust").out.contains("in a.jsonl:1: failed, passed"), "{}", folder.aver("trust").out);
    // Different rules are no contradiction.
    folder.write("rules.assert", b"file \"done.txt\" not exists\n");
    recorded(&folder, "a.jsonl", &runs(0, 2, 0), "");
    assert_eq!(trust(&folder, "")["flaky"].as_array().unwrap().len(), 2);
}

#[test]
fn a_regression_passed_before_and_fails_in_the_latest_recording() {
    let folder = with(25, 0);
    assert_eq!(trust(&folder, "")["regressions"], json!([]));
    recorded(&folder, "b.jsonl", &runs(100, 1, 2), "");
    let now = trust(&folder, "");
    let wanted = json!([{"rule": "answers", "id": "answers.1", "text": "output.ok == true", "passed_before": 20, "runs": ["b.jsonl:2", "b.jsonl:3"]}]);
    assert_eq!(now["regressions"], wanted, "{now}");
    let said = folder.aver("trust").out;
    assert!(said.contains("answers.1 passed in the last 20 runs, fails now in b.jsonl:2 and 1 more"), "{said}");
    // An assertion that failed before is no regression.
    recorded(&folder, "c.jsonl", &runs(200, 1, 1), "");
    assert_eq!(trust(&folder, "")["regressions"], json!([]));
}

#[test]
fn the_last_runs_are_those_of_the_latest_times() {
    let folder = Folder::new(&[("rules.assert", RULE)]);
    recorded(&folder, "new.jsonl", &runs(0, 5, 0), "--recorded-at 2026-11-23");
    recorded(&folder, "old.jsonl", &runs(50, 0, 5), "--recorded-at 2026-11-01T10:00:00Z");
    assert_eq!(trust(&folder, "--last 5")["all"]["score"], 1.0);
    assert_eq!(trust(&folder, "")["all"]["trend"], json!([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]));
    let said = folder.aver("trust").out;
    assert!(said.contains("_____#####"), "{said}");
    let legend = "\ntrend: oldest runs first, each sign is 1 run; its score is from _ (0) to # (1)\n";
    assert!(said.contains(legend), "{said}");
    assert!(folder.aver("trust --format html").out.contains("<p>trend: oldest runs first, each sign is 1 run;"));
    // A run without a time comes after the run that was recorded before it.
    recorded(&folder, "more.jsonl", &runs(90, 0, 1), "");
    assert_eq!(trust(&folder, "--last 5")["all"]["score"], 1.0);
    folder.aver("check rules.assert new.jsonl --record runs.db --recorded-at soon").refused(&["2026-11-23T10:00:00Z"]);
    folder.aver("check rules.assert new.jsonl --recorded-at 2026-11-23").refused(&["--record"]);
}

#[test]
fn what_is_no_history_is_refused_and_left_alone() {
    let folder = with(1, 0);
    folder.write("text.db", "a text that is no database at all, and long enough\n".repeat(40).as_bytes());
    folder.write("folder.db/x", b"");
    let foreign = Connection::open(folder.path().join("foreign.db")).unwrap();
    foreign.execute_batch("CREATE TABLE people (name TEXT)").unwrap();
    drop(foreign);
    let whole = std::fs::read(folder.path().join("runs.db")).unwrap();
    folder.write("short.db", &whole[..whole.len() / 2]);
    for (name, said) in [
        ("text.db", "no database"),
        ("folder.db", "is a folder"),
        ("foreign.db", "another program"),
        ("short.db", "damaged"),
    ] {
        let before = std::fs::read(folder.path().join(name)).ok();
        folder.aver(&format!("trust {name}")).refused(&[name, said]);
        let ran = folder.aver(&format!("check rules.assert a.jsonl --record {name}"));
        assert!(ran.code == 2 && ran.err.contains(said), "{ran:?}");
        assert_eq!(std::fs::read(folder.path().join(name)).ok(), before, "{name}");
    }
    folder.aver("trust none.db").refused(&["none.db", "does not exist", "--record"]);
    folder.aver("check rules.assert a.jsonl --record no/such/runs.db").refused(&["its folder is missing"]);
    folder.aver("check rules.assert a.jsonl --record rules.assert").refused(&["rules.assert"]);
    assert_eq!(folder.read("rules.assert"), RULE);
    // Names with a special meaning in SQLite are treated as file names.
    assert_eq!(folder.aver("check rules.assert a.jsonl --record :memory: --format short").code, 0);
    assert!(folder.path().join(":memory:").is_file());
    for label in ["skill", "a=1,a=2", "=x", "a=\u{1b}[31mred", "a b=c"] {
        let ran = folder.aver(&format!("check rules.assert a.jsonl --record runs.db --label \"{label}\""));
        ran.refused(&["--label", "skill=publish"]);
        assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
    }
}

/// An untrusted history cannot run triggers or other code.
#[test]
fn what_a_history_would_do_is_not_done() {
    let folder = with(3, 0);
    let db = Connection::open(folder.path().join("runs.db")).unwrap();
    db.execute_batch("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM recordings; END").unwrap();
    recorded(&folder, "b.jsonl", &runs(10, 1, 0), "");
    assert_eq!(count(&folder, "SELECT count(*) FROM recordings"), 2);
    db.execute_batch("ALTER TABLE results RENAME TO kept; CREATE VIEW results AS SELECT * FROM kept").unwrap();
    folder.aver("trust").refused(&["cannot be read or written"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_history() {
    let folder = with(1, 0);
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe.db")).status().unwrap().success());
    folder.aver("trust pipe.db").refused(&["is a pipe or a device"]);
    folder.aver("check rules.assert a.jsonl --record pipe.db").refused(&["is a pipe or a device"]);
}

#[test]
fn foreign_names_do_nothing_to_a_terminal_or_a_page() {
    let evil = "<script>\u{1b}[31m\u{202e}x";
    let run = json!({"calls": [{"tool": evil}], "output": {"ok": true}});
    let folder = Folder::new(&[("rules.assert", RULE)]);
    recorded(&folder, "a.json", &run.to_string(), "");
    for format in ["human", "json", "html"] {
        let out = folder.aver(&format!("trust --by tool --format {format}")).out;
        assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{format}: {out}");
        assert!(format != "html" || !out.contains("<script>"), "{out}");
    }
}

#[test]
fn values_that_reports_hide_are_not_kept() {
    let secret = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R";
    let run = json!({"calls": [{"tool": format!("curl {secret}")}], "output": {"ok": secret}});
    let folder = Folder::new(&[("rules.assert", &format!("output.ok == \"{secret}\"\n"))]);
    recorded(&folder, "a.json", &run.to_string(), &format!("--label token={secret}"));
    let bytes = std::fs::read(folder.path().join("runs.db")).unwrap();
    assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
}

/// Creates rules and runs that have three results per run.
fn three_each(runs_of: usize) -> Folder {
    let rules = "rule a { output.ok == true }\nrule b { output.ok exists }\nrule c { never refund }\n";
    Folder::new(&[("rules.assert", rules), ("a.jsonl", &runs(0, runs_of, 0)), ("b.jsonl", &runs(500_000, runs_of, 0))])
}

fn recording(folder: &Folder, runs: &str) -> std::process::Child {
    let line = format!("check rules.assert {runs} --record runs.db --format summary");
    let mut command = Command::new(env!("CARGO_BIN_EXE_aver"));
    command.current_dir(folder.path()).args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Returns the number of runs, and asserts that each has all of its results.
fn whole_runs(folder: &Folder) -> i64 {
    let whole = "SELECT count(*) FROM (SELECT run FROM results GROUP BY run HAVING count(*) = 3)";
    let runs = count(folder, "SELECT count(*) FROM runs");
    assert_eq!(count(folder, whole), runs);
    assert_eq!(count(folder, "SELECT count(DISTINCT run) FROM results"), runs);
    runs
}

/// Set `AVERMENT_KILLS=200` to kill more often.
#[test]
fn who_is_killed_leaves_whole_runs() {
    let kills = std::env::var("AVERMENT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6_u64);
    let folder = three_each(12_000);
    let mut seen = BTreeSet::new();
    for number in 0..kills {
        let mut child = recording(&folder, "a.jsonl");
        // Kill times range from the start to well after the end, in small steps.
        std::thread::sleep(std::time::Duration::from_millis(20 + number * 1_500 / kills));
        let _ = child.kill();
        let _ = child.wait();
        if folder.path().join("runs.db").exists() && folder.aver("trust").code == 0 {
            seen.insert(whole_runs(&folder));
        }
        // The history is removed regularly, because counting the rows of a large one takes longer than writing it.
        if number % 10 == 9 {
            for name in ["runs.db", "runs.db-journal"] {
                let _ = std::fs::remove_file(folder.path().join(name));
            }
        }
    }
    assert!(!seen.is_empty());
    assert!(recording(&folder, "a.jsonl").wait().unwrap().success());
    assert!(whole_runs(&folder) >= 12_000);
    assert_eq!(trust(&folder, "--last 100000")["all"]["runs"], 12_000);
}

#[test]
fn two_writers_wait_for_each_other() {
    let folder = three_each(9_000);
    let children = ["a.jsonl", "b.jsonl", "a.jsonl", "b.jsonl"].map(|runs| recording(&folder, runs));
    // A concurrent reader sees only complete runs.
    for _ in 0..5 {
        let ran = folder.aver("trust");
        assert!(ran.code == 0 || ran.err.contains("does not exist") || ran.err.contains("is empty"), "{ran:?}");
    }
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
    assert_eq!(whole_runs(&folder), 36_000);
    assert_eq!(count(&folder, "SELECT count(*) FROM recordings"), 4);
    assert_eq!(count(&folder, "SELECT count(*) FROM assertions"), 3);
}

#[cfg(unix)]
#[test]
fn without_room_the_reports_are_written_and_the_history_stays_whole() {
    let folder = three_each(12_000);
    let line = format!(
        "ulimit -f 200; exec '{}' check rules.assert a.jsonl --record runs.db --format summary",
        env!("CARGO_BIN_EXE_aver")
    );
    let output = Command::new("sh").arg("-c").arg(line).current_dir(folder.path()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{out}{err}");
    assert!(out.contains("12000 runs"), "{out}");
    assert!(err.contains("error: the history `runs.db` cannot be") && err.contains("are recorded"), "{err}");
    assert_eq!(folder.aver("trust").code, 0);
    assert!(whole_runs(&folder) < 12_000);
}

/// Two runs with the same bytes count as two runs. Judging them again does not add runs.
#[test]
fn runs_of_the_same_bytes_are_as_many_as_they_are() {
    let folder = Folder::new(&[("rules.assert", RULE)]);
    for _ in 0..2 {
        recorded(&folder, "a.jsonl", &runs(0, 1, 0).repeat(5), "");
    }
    assert_eq!(trust(&folder, "")["all"]["runs"], 5);
}

/// Older versions stored a hash as the name of an assertion without a rule.
#[test]
fn an_old_name_goes_on_as_the_name_of_now() {
    let rules = "output.ok == true\nnever drop_table\n";
    let folder = Folder::new(&[("rules.assert", rules)]);
    recorded(&folder, "a.jsonl", &runs(0, 2, 0), "");
    let names = "SELECT group_concat(name, ' ') FROM (SELECT name FROM assertions ORDER BY name)";
    let named = |folder: &Folder| {
        let db = Connection::open(folder.path().join("runs.db")).unwrap();
        db.query_row(names, [], |row| row.get::<_, String>(0)).unwrap()
    };
    assert_eq!(named(&folder), "rules:never-drop_table rules:output.ok-is-true");
    let db = Connection::open(folder.path().join("runs.db")).unwrap();
    db.execute_batch(
        "UPDATE assertions SET name = 'rules:3f9a1c20' WHERE text = 'never drop_table';
         UPDATE assertions SET name = 'rules:0badcafe' WHERE text <> 'never drop_table'",
    )
    .unwrap();
    drop(db);
    // Old names are readable, and later recordings use the same assertions, even after the rule file changed.
    assert_eq!(trust(&folder, "--by rule")["groups"][1]["name"], "rules:3f9a1c20");
    folder.write("rules.assert", format!("{rules}never cancel\n").as_bytes());
    recorded(&folder, "b.jsonl", &runs(2, 2, 0), "");
    let groups = trust(&folder, "--by rule")["groups"].clone();
    let runs_of: Vec<(&str, u64)> = groups
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["name"].as_str().unwrap(), group["runs"].as_u64().unwrap()))
        .collect();
    let expected = [("rules:never-cancel", 2), ("rules:never-drop_table", 4), ("rules:output.ok-is-true", 4)];
    assert_eq!(runs_of, expected);
}

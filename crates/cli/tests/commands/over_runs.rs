//! Statements over all runs: rates, groups, aggregated values, and rules that no run exercised.

use crate::folder::Folder;
use averment_report::Format;
use serde_json::{Value, json};

/// Returns `count` runs; `made` returns the content of each run without its id.
fn runs(count: usize, made: impl Fn(usize) -> Value) -> String {
    let line = |number: usize| {
        let mut run = made(number);
        run["id"] = json!(format!("r{number}"));
        format!("{run}\n")
    };
    (0..count).map(line).collect()
}

/// Creates rules and runs in which every `bad`th run deletes something.
fn deleting(rules: &str, count: usize, bad: usize) -> Folder {
    let made = |number: usize| match number % bad {
        0 => {
            json!({"calls": [{"tool": "delete"}], "meta": {"model": if number.is_multiple_of(2) { "a" } else { "b" }}})
        }
        _ => json!({"calls": [{"tool": "read"}], "meta": {"model": if number.is_multiple_of(2) { "a" } else { "b" }}}),
    };
    Folder::new(&[("r.assert", rules), ("runs.jsonl", &runs(count, made))])
}

/// Returns the exit code, and the verdict and reason of each assertion over runs.
#[track_caller]
fn said(folder: &Folder, words: &str) -> (i32, Vec<(String, String)>) {
    let ran = folder.aver(&format!("check r.assert runs.jsonl --format json {words}"));
    let report = ran.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = report["over_runs"]["results"].as_array().cloned().unwrap_or_default();
    (ran.code, results.iter().map(|one| (text(&one["verdict"]), text(&one["reason"]))).collect())
}

#[track_caller]
fn says(rules: &str, count: usize, bad: usize, code: i32, verdict: &str, words: &str) {
    let folder = deleting(rules, count, bad);
    let (exit, all) = said(&folder, "");
    assert_eq!(exit, code, "{rules}: {all:?}");
    assert_eq!(all.len(), 1, "{rules}: {all:?}");
    assert_eq!(all[0].0, verdict, "{rules}: {all:?}");
    assert!(all[0].1.contains(words), "{rules}: {all:?}");
}

#[test]
fn a_share_of_runs_passes_and_what_it_counts_fails_none() {
    let rules = |share: &str| format!("rule safe {{ never delete }}\nin at least {share} of runs: rule safe\n");
    says(&rules("95%"), 20, 20, 0, "pass", "");
    says(&rules("95%"), 19, 19, 1, "fail", "18 of 19 runs (94.74%) pass `safe`; at least 95% is asked for");
    let told = deleting(&rules("95%"), 19, 19).aver("check r.assert runs.jsonl");
    assert!(told.out.contains("does not pass in runs.jsonl:1"), "{told:?}");
    // Exactly at the limit, and with the opposite bound.
    says("in at least 95% of runs: never delete\n", 20, 20, 0, "pass", "");
    says("in at most 5% of runs: require delete\n", 20, 20, 0, "pass", "");
    says("in at most 5% of runs: require delete\n", 19, 19, 1, "fail", "at most 5% is asked for");
}

#[test]
fn a_share_is_compared_as_it_is() {
    for (least, of) in [(7, 100), (29, 100), (57, 100), (3, 4)] {
        let share = format!("{}%", 100.0 * f64::from(least) / f64::from(of));
        let made = |number: usize| json!({"output": if number < least as usize { "x" } else { "" }});
        let rules = format!("in at least {share} of runs: output is not empty\n");
        let all = [("r.assert", rules.as_str()), ("runs.jsonl", &*runs(of as usize, made))];
        assert_eq!(said(&Folder::new(&all), "").0, 0, "{share}");
    }
}

#[test]
fn few_runs_are_not_called_sure() {
    let rules = "in at least 95% of runs with confidence 95%: never delete\n";
    says(rules, 20, 20, 1, "undecided", "with 95% confidence between 76.39% and 99.11%");
    says(rules, 1000, 1000, 0, "pass", "");
    says(rules, 100, 4, 1, "fail", "75 of 100 runs (75%");
    let allowed = deleting(rules, 20, 20).aver("check r.assert runs.jsonl --allow undecided");
    assert_eq!(allowed.code, 0, "{allowed:?}");
}

#[test]
fn what_nothing_exercises_is_counted_neither_way() {
    let rules = "in at least 60% of runs: before approve -> delete\n";
    says(rules, 20, 5, 1, "fail", "0 of 4 runs (0%) pass `before approve -> delete`; 16 more runs do not exercise it");
    says(rules, 1, 2, 1, "fail", "");
    let idle = "in at least 60% of runs: before approve -> refund\n";
    let (code, all) = said(&deleting(idle, 5, 2), "--allow empty");
    assert_eq!((code, all[0].0.as_str()), (0, "vacuous"), "{all:?}");
    assert_eq!(said(&deleting(idle, 5, 2), "--deny vacuous").0, 1);
}

#[test]
fn groups_are_asked_one_by_one() {
    let rules = "in at least 80% of runs by meta.model: never delete\n";
    says(rules, 20, 10, 0, "pass", "");
    let folder = deleting("in at least 90% of runs by meta.model: never delete\n", 40, 4);
    let ran = folder.aver("check r.assert runs.jsonl");
    assert!(ran.out.contains("`meta.model` is a: 10 of 20 runs (50%)"), "{ran:?}");
    assert!(!ran.out.contains("is b:"), "{ran:?}");
    let many = runs(10_001, |number| json!({"output": number.to_string(), "turns": 1}));
    let folder = Folder::new(&[("r.assert", "avg(turns of runs by output) <= 1\n"), ("runs.jsonl", &many)]);
    let (code, all) = said(&folder, "");
    assert_eq!((code, all[0].0.as_str()), (5, "error"));
    assert!(all[0].1.contains("more than 10000 groups"), "{all:?}");
}

/// Creates tasks with several tries. `all` holds `(passes, tries)` for each task.
fn tasks(rules: &str, all: &[(usize, usize)]) -> Folder {
    let lines = all.iter().enumerate().flat_map(|(task, &(passes, tries))| {
        (0..tries).map(move |one| {
            let calls = if one < passes { json!([{"tool": "book"}]) } else { json!([]) };
            format!("{}\n", json!({"id": format!("{task}-{one}"), "calls": calls, "meta": {"task": task}}))
        })
    });
    Folder::new(&[("r.assert", rules), ("runs.jsonl", &lines.collect::<String>())])
}

#[test]
fn tasks_may_be_tried_several_times() {
    let rules = "in at least 2 of 3 runs by meta.task: require book\n";
    let verdict = |all: &[(usize, usize)]| said(&tasks(rules, all), "").1[0].0.clone();
    assert_eq!(verdict(&[(2, 3), (3, 3), (2, 2)]), "pass");
    assert_eq!(verdict(&[(2, 3), (1, 3)]), "fail");
    assert_eq!(verdict(&[(1, 2)]), "undecided");
    assert_eq!(verdict(&[(0, 2)]), "fail");
    assert_eq!(verdict(&[(4, 6)]), "pass");
    assert_eq!(verdict(&[(3, 6)]), "fail");
}

#[test]
fn pass_to_the_power_of_k_is_that_of_draws() {
    let rules = |share: &str| format!("pass^2 by meta.task >= {share}: require book\n");
    // C(3,2)/C(4,2) = 1/2 and C(4,2)/C(4,2) = 1: 75%.
    assert_eq!(said(&tasks(&rules("75%"), &[(3, 4), (4, 4)]), "").1[0].0, "pass");
    let (code, all) = said(&tasks(&rules("76%"), &[(3, 4), (4, 4)]), "");
    assert_eq!(code, 1);
    assert!(all[0].1.contains("pass^2 of `require book` is 75% over 2 groups"), "{all:?}");
    assert_eq!(said(&tasks(&rules("40%"), &[(3, 4), (1, 1)]), "").1[0].0, "undecided");
}

#[test]
fn values_of_all_runs_come_to_what_the_functions_say() {
    let made = |number: usize| json!({"turns": number, "duration": 1000 * number, "cost": 0.01, "output": "x"});
    let verdict = |rule: &str| {
        let folder = Folder::new(&[("r.assert", &*format!("{rule}\n")), ("runs.jsonl", &*runs(101, made))]);
        said(&folder, "").1[0].clone()
    };
    for holds in [
        "avg(turns of runs) == 50",
        "median(turns of runs) == 50",
        "percentile(turns of runs, 95%) == 95",
        "max(turns of runs) - min(turns of runs) == 100",
        "sum(turns of runs) == 5050",
        "length(turns of runs) == 101",
        "percentile(duration of runs, 90%) <= 90s",
        "sum(cost of runs) <= $1.02 and avg(duration of runs) < 51s",
        "max(length(output) of runs) == 1",
    ] {
        assert_eq!(verdict(holds).0, "pass", "{holds}: {:?}", verdict(holds));
    }
    let (fails, why) = verdict("avg(turns of runs) <= 49");
    assert_eq!((fails.as_str(), why.as_str()), ("fail", "`avg(turns of runs)` is 50 over 101 runs"));
    assert_eq!(verdict("avg(output of runs) <= 49").0, "error");
}

#[test]
fn what_some_runs_do_not_record_decides_nothing() {
    let made = |number: usize| if number == 3 { json!({"output": "x"}) } else { json!({"turns": 2, "output": "x"}) };
    let folder = |rules: &str| Folder::new(&[("r.assert", rules), ("runs.jsonl", &*runs(10, made))]);
    let (code, all) = said(&folder("avg(turns of runs) <= 3\n"), "");
    assert_eq!((code, all[0].0.as_str()), (1, "undecided"));
    assert!(all[0].1.contains("in 1 run its value is not recorded") && all[0].1.contains("runs.jsonl:4"), "{all:?}");
    let others = folder("avg(turns of runs) <= 3 when turns exists\n");
    assert_eq!(said(&others, "").0, 0);
    let told = others.aver("check r.assert runs.jsonl").out;
    assert!(told.contains("1 run left out: what its `when` looks at is not recorded"), "{told}");
}

#[test]
fn many_values_are_told_within_an_error_that_is_said() {
    let made = |number: usize| json!({"turns": (number * 7919) % 140_001, "output": "x"});
    let folder = Folder::new(&[
        ("r.assert", "percentile(turns of runs, 95%) <= 1\navg(turns of runs) == 70000\n"),
        ("runs.jsonl", &*runs(140_001, made)),
    ]);
    let (_, all) = said(&folder, "");
    assert_eq!(all[1].0, "pass", "{all:?}");
    let told = all[0].1.strip_prefix("`percentile(turns of runs, 95%)` is about ").unwrap();
    let (value, rest) = told.split_once(',').unwrap();
    let value: f64 = value.parse().unwrap();
    assert!((value - 133_000.0).abs() <= 133.0 && rest.contains("within 0.1%"), "{all:?}");
}

#[test]
fn all_ways_of_checking_say_the_same_to_the_last_byte() {
    let rules = "rule safe { never delete; count read <= 1 }\nin at least 95% of runs by meta.model: rule safe\n\
                 in at most 1% of runs: require delete\navg(length(meta.model) of runs) > 1\npass^2 by meta.model >= 99%: never delete\n";
    let folder = deleting(rules, 900, 7);
    for format in ["json", "jsonl", "human", "summary", "junit", "markdown", "csv", "short", "tap", "html"] {
        let first = folder.aver(&format!("check r.assert runs.jsonl --format {format} --threads 1"));
        assert_eq!(first.code, 1);
        for words in ["--threads 3 --chunk 2KiB", "--threads 2", "--strict", "--threads 1 --chunk 1KiB --strict"] {
            let other = folder.aver(&format!("check r.assert runs.jsonl --format {format} {words}"));
            assert_eq!(other.out, first.out, "{format} {words}");
        }
    }
    let compiled = folder.aver("compile r.assert -o r.assertc");
    assert_eq!(compiled.code, 0, "{compiled:?}");
    let (one, other) = ("check r.assert runs.jsonl --format short", "check r.assertc runs.jsonl --format short");
    assert_eq!(folder.aver(one).out, folder.aver(other).out);
}

#[test]
fn every_format_tells_what_is_said_of_all_runs() {
    let folder = deleting("in at least 95% of runs: never delete  id often\n", 20, 5);
    for format in Format::ALL.map(Format::as_str) {
        let ran = folder.aver(&format!("check r.assert runs.jsonl --format {format}"));
        assert_eq!(ran.code, 1, "{format}");
        assert!(ran.out.contains("16 of 20 runs (80") || format == "csv", "{format}: {}", ran.out);
        assert!(ran.out.contains("often") || ran.out.contains("in at least 95% of runs"), "{format}: {}", ran.out);
    }
    let report = folder.aver("check r.assert runs.jsonl --format json").json();
    assert_eq!(report["summary"]["runs"], 20);
    assert_eq!(report["runs"].as_array().unwrap().len(), 20);
    let lines = folder.aver("check r.assert runs.jsonl --format jsonl").out;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["rules"].as_array().unwrap().len(), lines[1]["verdicts"].as_array().unwrap().len());
}

#[test]
fn it_is_selected_like_any_other_and_what_it_counts_comes_with_it() {
    let rules = "rule safe { never delete }\nin at least 95% of runs: rule safe  id often  tags nightly\nnever read  tags strict\n";
    let folder = deleting(rules, 20, 5);
    for words in ["--rule often", "--tag nightly"] {
        let (code, all) = said(&folder, words);
        assert_eq!(code, 1);
        assert!(all[0].1.contains("16 of 20"), "{words}: {all:?}");
    }
    assert_eq!(said(&folder, "--tag strict"), (1, Vec::new()));
    let wrong = folder.aver("check r.assert runs.jsonl --rule oftn");
    assert!(wrong.code == 2 && wrong.err.contains("often"), "{wrong:?}");
}

#[test]
fn mistakes_are_told_with_what_to_write() {
    let mistake = |rules: &str| {
        let folder = Folder::new(&[("r.assert", rules), ("run.json", "{\"output\": \"x\"}")]);
        let ran = folder.aver("check r.assert run.json");
        assert_eq!(ran.code, 3, "{rules}: {ran:?}");
        ran.err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (rules, words) in [
        ("rule a { in at least 95% of runs: never b }", "outside of rules and blocks"),
        ("rule a { never b }\nin at least 95% of runs: rule aa", "did you mean `a`?"),
        ("in at least 95 of runs: never b", "95%"),
        ("in at least 101% of runs: never b", "write `95%`"),
        ("in at least 3 of 2 runs by meta.task: never b", "can never hold"),
        ("in at least 2 of 3 runs: never b", "by meta.task"),
        ("in at most 2 of 3 runs by meta.task: never b", "how many have to pass"),
        ("in at least 95% of runs: never b weight 2", "leave `weight` out"),
        ("in at least 95% of runs with confidence 100%: never b", "between 0% and 100%"),
        ("(turns of runs) <= 3", "write `avg("),
        ("first(turns of runs) <= 3", "write `avg("),
        ("avg(turns of runs) <= turns", "about a single run"),
        ("avg(turns of runs by meta.a) <= avg(turns of runs)", "the same `by`"),
        ("each refund: avg(turns of runs) <= 3", "outside of rules and blocks"),
        ("pass^0 by meta.task >= 5%: never b", "pass^3"),
        ("in at least 95% of runs by 3: never b", "makes no groups"),
        ("avg(turns of runs by \"x\") <= 3", "makes no groups"),
    ] {
        assert!(mistake(rules).contains(words), "{rules}: {}", mistake(rules));
    }
}

#[test]
fn a_tool_of_the_name_is_quoted() {
    let run = r#"{"calls": [{"tool": "runs", "args": {"n": 3}}]}"#;
    let folder = Folder::new(&[("r.assert", "sum(args.n of \"runs\") == 3\nrequire runs\n"), ("runs.jsonl", run)]);
    assert_eq!(said(&folder, ""), (0, Vec::new()));
}

#[test]
fn what_no_run_exercised_can_be_denied() {
    let rules = "rule approval { before approve -> refund }\nrule safe { never delete }\n";
    let folder = deleting(rules, 4, 9);
    assert_eq!(said(&deleting("before approve -> delete\n", 4, 4), "--deny unexercised").0, 1);
    let (code, all) = said(&folder, "--deny unexercised --rule approval --allow empty");
    assert_eq!((code, all.len()), (1, 1));
    assert!(all[0].1.contains("nothing exercised it in any of 4 runs"), "{all:?}");
    let own = deleting("rule approval { deny unexercised\n before approve -> refund }\nnever purge\n", 4, 9);
    assert_eq!(said(&own, "").0, 1);
    // One exercising run is enough.
    let once = deleting("after delete -> audit  deny unexercised  severity warn\nnever purge\n", 8, 8);
    assert_eq!(said(&once, ""), (0, Vec::new()));
}

#[test]
fn so_many_runs_have_to_pass() {
    let folder = deleting("never delete\n", 20, 20);
    let with = |words: &str| folder.aver(&format!("check r.assert runs.jsonl --format summary {words}"));
    assert_eq!(with("").code, 1);
    let enough = with("--min-pass-rate 95%");
    assert_eq!(enough.code, 0, "{enough:?}");
    assert!(enough.err.contains("19 of 20 runs pass (95%)"), "{enough:?}");
    assert_eq!(with("--min-pass-rate 0.96").code, 1);
    assert_eq!(with("--min-pass-rate 96").code, 2);
    let both = deleting("never delete\nin at least 99% of runs: never delete\n", 20, 20);
    assert_eq!(both.aver("check r.assert runs.jsonl --min-pass-rate 0.5").code, 1);
}

#[test]
fn what_is_expected_of_each_run_is_joined_by_its_id() {
    let made = |number: usize| json!({"output": {"kind": if number == 2 { "b" } else { "a" }, "n": number}});
    let rules = "output.kind == meta.expected.kind\noutput.n <= meta.expected.most\n";
    let folder = |expected: &str| {
        Folder::new(&[("r.assert", rules), ("runs.jsonl", &*runs(3, made)), ("expected.csv", expected)])
    };
    let check =
        |expected: &str| folder(expected).aver("check r.assert runs.jsonl --format short --expected expected.csv");
    let csv = "id,kind,most\nr0,a,0\nr1,a,5\nr2,\"b\",2\n";
    assert_eq!(check(csv).code, 0, "{:?}", check(csv));
    let jsonl = "{\"id\": \"r0\", \"kind\": \"a\", \"most\": 0}\n{\"id\": \"r1\", \"kind\": \"a\", \"most\": 1}\n{\"id\": \"r2\", \"kind\": \"b\", \"most\": 2}\n";
    assert_eq!(check(jsonl).code, 0, "{:?}", check(jsonl));
    let other = check("id,kind,most\nr0,a,0\nr1,b,5\nr2,b,2\nr9,a,1\n");
    assert_eq!(other.code, 1, "{other:?}");
    assert!(other.err.contains("no run has the id of 1 row of `--expected`: `r9` (line 5)"), "{other:?}");
    // A run without a row never passes because of that, even if it brings its own expected values.
    let missing = check("id,kind,most\nr0,a,0\nr1,a,5\n");
    assert!(missing.code == 1 && missing.err.contains("1 run has no row in `--expected`"), "{missing:?}");
    // A cell stays text unless it can only be a value.
    let said = json!({"id": "r0", "output": {"ok": true, "word": "TRUE", "code": "1e5", "price": 12.5}}).to_string();
    let same = ["ok", "word", "code", "price"].map(|key| format!("output.{key} == meta.expected.{key}\n")).concat();
    let truths = Folder::new(&[
        ("r.assert", &same),
        ("runs.jsonl", &said),
        ("e.csv", "id,ok,word,code,price\nr0,true,TRUE,1e5,12.50\n"),
    ]);
    assert_eq!(truths.aver("check r.assert runs.jsonl --expected e.csv").code, 0);
    // Rows may have their own ids.
    assert_eq!(check("id,run_id,kind,most\n1,r0,a,0\n2,r1,a,5\n3,r2,b,2\n").code, 0);
    let own = json!({"id": "r0", "output": {"kind": "a", "n": 0}, "meta": {"expected": {"kind": "a", "most": 9}}});
    let brings = Folder::new(&[("r.assert", rules), ("runs.jsonl", &own.to_string()), ("e.csv", "id,kind\nr5,a\n")]);
    assert_eq!(brings.aver("check r.assert runs.jsonl").code, 0);
    assert_eq!(brings.aver("check r.assert runs.jsonl --expected e.csv").code, 1);
    for (wrong, words) in [
        ("id,kind\nr0,a\nr0,b\n", "line 3: a second row for the run `r0`"),
        ("name,kind\nr0,a\n", "none of its columns is `id`"),
        ("id,kind\nr0,a,b\n", "expected.csv"),
        ("{\"kind\": 1}\n", "line 1: no `id`"),
        ("{\"id\": \"x\"\n", "line 1: no JSON object"),
        ("{\"id\": \"x\", \"kind\": \"a\", \"kind\": \"b\"}\n", "line 1: no JSON object: `kind` stands in it twice"),
        ("[{\"id\": \"x\"}]\n", "write one object on each line"),
        ("id,kind,kind\nr0,a,b\n", "line 1: a second column `kind`"),
        ("id,kind\nr0,a\nr1,\"b\nr2,c\n", "line 3: a quote in it is not closed"),
        ("id,\"kind\nr0,a\n", "line 1: a quote in it is not closed"),
        ("", "expected.csv"),
    ] {
        let ran = check(wrong);
        assert!(ran.code == 2 && ran.err.contains(words), "{wrong}: {ran:?}");
    }
}

#[test]
fn groups_are_told_apart_by_value_and_never_by_what_no_run_has() {
    let values = [json!(1), json!(1.0), json!("1"), json!(true), json!("true"), json!("a"), json!([1, 2]), json!("")];
    let groups = runs(values.len(), |number| json!({"output": values[number], "calls": [{"tool": "delete"}]}));
    let folder = Folder::new(&[
        ("r.assert", "in at least 90% of runs by output: never delete\n"),
        ("runs.jsonl", &(groups + "{\"id\": \"bare\", \"calls\": [{\"tool\": \"delete\"}]}\n")),
    ]);
    let report = folder.aver("check r.assert runs.jsonl --format json").json();
    let listed = report["over_runs"]["results"][0]["violations"]["list"].as_array().unwrap().clone();
    let names: Vec<&str> =
        listed.iter().map(|one| one["reason"].as_str().unwrap().split(": ").next().unwrap()).collect();
    let value = |text: &str| format!("`output` is {text}");
    let all =
        ["without `output`".to_owned(), value("\"\""), value("\"1\""), value("\"true\""), value("1"), value("[1,2]")];
    assert_eq!(names, [&all[..], &[value("a"), value("true")]].concat());
    assert!(listed[4]["reason"].as_str().unwrap().contains("0 of 2 runs"), "{listed:?}");
    // A field that no run has is an error, not a group.
    says("in at least 5% of runs by meta.nope: never delete\n", 4, 4, 1, "undecided", "no run has `meta.nope`");
    says("avg(turns of runs by meta.nope) >= 0\n", 4, 4, 1, "undecided", "no run has `meta.nope`");
}

#[test]
fn numbers_are_told_so_that_nothing_else_can_be_read_from_them() {
    let told = |rules: &str, count: usize, bad: usize| said(&deleting(rules, count, bad), "").1[0].1.clone();
    let close = told("in at least 100% of runs: never delete\n", 30_000, 30_000);
    assert!(
        close.contains("29999 of 30000 runs (99.997%)") && close.ends_with("at least 100% is asked for"),
        "{close}"
    );
    let beside = told("in at least 99.999% of runs: never delete\n", 30_000, 30_000);
    assert!(beside.ends_with("at least 99.999% is asked for"), "{beside}");
    let near = told("in at least 75% of runs: require delete\n", 40_003, 40_003);
    assert!(near.contains("1 of 40003 runs (0.002%)"), "{near}");
    let large = runs(3, |number| json!({"output": 1_234_567.5 + number as f64}));
    let folder = Folder::new(&[("r.assert", "sum(output of runs) <= 1\n"), ("runs.jsonl", &large)]);
    let (_, all) = said(&folder, "");
    assert!(all[0].1.contains("is 3703706 over 3 runs") || all[0].1.contains("is 3703705 over 3 runs"), "{all:?}");
}

#[test]
fn runs_that_are_to_fail_are_no_failures_to_show() {
    let rules = "in at most 50% of runs: require delete\n";
    let folder = deleting(rules, 6, 3);
    let ran = folder.aver("check r.assert runs.jsonl");
    let over = ran.out.find("over all 6 runs").unwrap();
    assert!(ran.code == 0 && !ran.out[..over].contains("delete"), "{ran:?}");
    assert_eq!(folder.aver("check r.assert runs.jsonl --format short").out, "");
    assert!(!folder.aver("check r.assert runs.jsonl --format github").out.contains("::warning"));
    let least = deleting("in at least 50% of runs: never delete\n", 6, 3).aver("check r.assert runs.jsonl");
    assert!(least.code == 0 && least.out.contains("never delete                  2 of 6 runs"), "{least:?}");
}

#[test]
fn what_a_run_keeps_to_itself_is_in_no_report_of_all() {
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
    let made = |number: usize| json!({"meta": {"who": format!("{secret}{number}"), "salary": 4242 + number}, "calls": [{"tool": "delete"}]});
    let rules = "in at least 90% of runs by meta.who: never delete\nmax(meta.salary of runs) <= 1\nin at least 90% of runs by env.TOKEN: never delete\n";
    let folder = Folder::new(&[("r.assert", rules), ("runs.jsonl", &*runs(2, made))]);
    for format in ["human", "summary", "json", "jsonl", "short", "junit", "sarif", "markdown", "html"] {
        let ran =
            folder.aver(&format!("check r.assert runs.jsonl --format {format} --redact meta.who --redact meta.salary"));
        assert_eq!(ran.code, 1, "{format}: {ran:?}");
        let over = ran.out.split("over all").nth(1).unwrap_or(&ran.out);
        assert!(!over.contains("424") && !ran.out.contains("abcdefghijkl"), "{format}: {}", ran.out);
    }
}

#[test]
fn what_is_beyond_numbers_is_an_error_and_what_nothing_exercised_is_told() {
    let huge = runs(2, |_| json!({"output": 1.7e308}));
    let folder = Folder::new(&[("r.assert", "sum(output of runs) > 0\n"), ("runs.jsonl", &huge)]);
    let (code, all) = said(&folder, "");
    assert!(code == 5 && all[0].0 == "error" && all[0].1.contains("beyond the range of numbers"), "{all:?}");
    let idle = deleting("in at least 5% of runs: before approve -> refund\nnever purge\n", 4, 9);
    let ran = idle.aver("check r.assert runs.jsonl --deny unexercised");
    assert!(ran.code == 1 && ran.out.contains("in at least 5% of runs"), "{ran:?}");
}

#[test]
fn rules_over_runs_are_formatted_and_linted_like_others() {
    let rules = "pass^4   by meta.task>=60%:require  book_flight\nin  at least 95% of runs by meta.task  with confidence 95% :never delete\n";
    let folder = Folder::new(&[("r.assert", rules)]);
    let ran = folder.aver("fmt r.assert");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        folder.read("r.assert"),
        "pass^4 by meta.task >= 60%: require book_flight\nin at least 95% of runs by meta.task with confidence 95%: never delete\n"
    );
    let lint = |rules: &str| Folder::new(&[("r.assert", rules)]).aver("lint r.assert");
    // Rates over runs do not contradict each other as statements about one run do.
    let both = lint("in at least 90% of runs: never delete\nin at least 5% of runs: require delete\nrequire delete\n");
    assert_eq!((both.code, both.out.as_str()), (0, ""), "{both:?}");
    let rated = lint(
        "rule a { never delete }\nrule b { require delete }\nin at least 5% of runs: rule a\nin at least 5% of runs: rule b\n",
    );
    assert_eq!(rated.code, 0, "{rated:?}");
    for any in [
        "in at least 0% of runs: never delete\n",
        "in at most 100% of runs: never delete\n",
        "pass^2 by meta.t >= 0%: never delete\n",
    ] {
        let ran = lint(any);
        assert!(format!("{}{}", ran.out, ran.err).contains("every share of the runs is enough"), "{ran:?}");
    }
}

#[test]
fn an_estimate_decides_nothing_that_is_nearer_than_its_error() {
    let same = runs(2_100, |number| json!({"duration": 30_025, "turns": number, "meta": {"g": number % 2}}));
    let verdict = |rules: &str| {
        let folder = Folder::new(&[("r.assert", rules), ("runs.jsonl", &same)]);
        let (_, all) = said(&folder, "");
        all[0].clone()
    };
    for (rules, expected) in [
        // All values form one group, which needs no estimate.
        ("median(duration of runs by meta.g) <= 30015ms\n", "fail"),
        ("median(duration of runs by meta.g) <= 30025ms\n", "pass"),
        ("percentile(turns of runs by meta.g, 100%) <= 2099\n", "pass"),
        ("percentile(turns of runs by meta.g, 0%) >= 0\n", "pass"),
        ("median(turns of runs by meta.g) <= 1100\n", "pass"),
        ("median(turns of runs by meta.g) <= 1000\n", "fail"),
        ("median(turns of runs by meta.g) <= 1049.5\n", "undecided"),
    ] {
        let (found, why) = verdict(rules);
        assert_eq!(found, expected, "{rules}: {why}");
        assert_eq!(found == "undecided", why.contains("too near to what is asked for"), "{rules}: {why}");
    }
}

#[test]
fn whole_numbers_that_no_double_holds_are_other_groups_and_no_values() {
    let run = |user: u64, turns: u64| {
        format!("{{\"id\": \"r{user}\", \"turns\": {turns}, \"inputs\": {{\"user\": {user}}}}}\n")
    };
    let both = run(9_007_199_254_740_993, 1) + &run(9_007_199_254_740_992, 9);
    let rules = "in at least 50% of runs by inputs.user: turns <= 5\nmax(inputs.user of runs) > 0\navg(turns of runs by inputs.user) <= 5\n";
    let (code, all) = said(&Folder::new(&[("r.assert", rules), ("runs.jsonl", &both)]), "");
    let verdicts: Vec<&str> = all.iter().map(|one| one.0.as_str()).collect();
    assert_eq!((code, verdicts), (5, vec!["fail", "error", "fail"]), "{all:?}");
    assert!(all[0].1.contains("`inputs.user` is 9007199254740992: 0 of 1 run"), "{all:?}");
    assert!(all[1].1.contains("beyond 2^53"), "{all:?}");
}

#[test]
fn what_fails_is_told_with_the_digits_that_show_it() {
    let two = runs(2, |number| json!({"output": if number == 0 { 0.1 } else { 0.2 }, "turns": number}));
    let rules = "sum(output of runs) == 0.3\nmax(turns of runs) <= 0 * median(turns of runs)\n";
    let folder = Folder::new(&[("r.assert", rules), ("runs.jsonl", &two)]);
    let (_, all) = said(&folder, "");
    assert!(all[0].1.contains("is 0.30000000000000004 over 2 runs"), "{all:?}");
    let told = folder.aver("check r.assert runs.jsonl").out;
    assert!(told.contains("`median(turns of runs)` greatest: 1 in runs.jsonl:2"), "{told}");
    let nulls = runs(2, |_| json!({"turns": 1, "meta": {"s": null}}));
    let folder = Folder::new(&[("r.assert", "avg(meta.s of runs) <= 3 when meta.s exists\n"), ("runs.jsonl", &nulls)]);
    assert!(said(&folder, "").1[0].1.contains("or null"));
}

#[test]
fn runs_that_nothing_exercised_are_no_part_of_the_rate_that_has_to_pass() {
    let made = |number: usize| json!({"calls": [{"tool": if number == 0 { "refund" } else { "read" }}]});
    let folder = Folder::new(&[("r.assert", "before approve -> refund\n"), ("runs.jsonl", &*runs(10, made))]);
    for format in ["summary", "human", "json"] {
        let ran = folder.aver(&format!("check r.assert runs.jsonl --min-pass-rate 90% --format {format}"));
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("0 of 1 runs pass (0%)") && ran.err.contains("nothing exercised 9 more"), "{ran:?}");
    }
    let none = Folder::new(&[("r.assert", "before approve -> purge\n"), ("runs.jsonl", &*runs(10, made))]);
    let ran = none.aver("check r.assert runs.jsonl --min-pass-rate 90%");
    assert!(ran.code == 1 && ran.err.contains("no run exercises anything"), "{ran:?}");
    let near = deleting("never delete\n", 1000, 500).aver("check r.assert runs.jsonl --min-pass-rate 0.9980000001");
    assert!(near.err.contains("998 of 1000 runs pass (99.8%), fewer than the 99.80000001%"), "{near:?}");
}

#[test]
fn tasks_with_few_runs_are_decided_by_the_others() {
    let few = |passes: usize| {
        let all: Vec<(usize, usize)> = std::iter::repeat_n((passes, 4), 9).chain([(1, 1)]).collect();
        let (code, all) = said(&tasks("pass^4 by meta.task >= 60%: require book\n", &all), "");
        (code, all[0].clone())
    };
    let (code, (verdict, why)) = few(1);
    assert_eq!((code, verdict.as_str()), (1, "fail"), "{why}");
    assert!(why.contains("between 0% and 10% over 10 groups; 1 of them have fewer than 4 runs"), "{why}");
    assert_eq!(few(4).1.0, "pass");
}

#[test]
fn runs_take_no_condition_of_their_own() {
    let folder = deleting("sum(cost of runs where meta.model == \"a\") <= $5\n", 2, 2);
    let ran = folder.aver("check r.assert runs.jsonl");
    let words = ran.err.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
    assert!(ran.code == 3 && words.contains("it takes no `where`") && words.contains("when meta.stage"), "{ran:?}");
}

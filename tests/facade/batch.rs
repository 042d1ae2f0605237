//! Files of many runs.

use averment::{Outcome, Rules, RunError, RunsSubtotal, Status};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const RULES: &str =
    "never admin_*\nbefore approve(id: $id) -> refund(id: $id)\noutput.text contains \"done\"\ncount search <= 2\n";

/// A file of runs of several forms, some of which cannot be read.
fn corpus(folder: &tempfile::TempDir, runs: usize) -> PathBuf {
    let mut text = String::new();
    for number in 0..runs {
        let tool = ["search", "refund", "approve", "admin_reset", "search"][number % 5];
        let said = if number % 3 == 0 { "done" } else { "no" };
        let id = number % 7;
        let _ = match number % 53 {
            7 => writeln!(text, "{{\"calls\": [}}"),
            9 => writeln!(text, "{{\"messages\": [{{\"role\": \"assistant\", \"content\": \"{said}\"}}]}}\n"),
            _ => writeln!(
                text,
                "{{\"calls\": [{{\"tool\": \"approve\", \"args\": {{\"id\": 3}}}}, {{\"tool\": \"{tool}\", \"args\": {{\"id\": {id}}}}}], \"output\": {{\"text\": \"{said}\"}}}}"
            ),
        };
    }
    let path = folder.path().join("runs.jsonl");
    std::fs::write(&path, text).unwrap();
    path
}

fn said(one: Result<Outcome, RunError>) -> String {
    match one {
        Ok(outcome) => serde_json::to_string(&outcome).unwrap(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_batch_says_of_each_run_what_a_check_of_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = corpus(&folder, 2_000);
    let rules = Rules::from_text("r.assert", RULES).unwrap();
    let single: Vec<String> = rules.check(averment::Trace::file(&path)).map(said).collect();
    assert_eq!(single.len(), 2_000);
    for (threads, chunk) in [(1, 256 << 10), (2, 1 << 10), (3, 8 << 10)] {
        let batch = rules.batch().threads(threads).chunk(chunk);
        let mut outcomes = batch.outcomes([&path]);
        let all: Vec<String> = (&mut outcomes).map(said).collect();
        assert_eq!(all.len(), single.len());
        for (one, other) in all.iter().zip(&single) {
            assert_eq!(one, other);
        }
        let (counted, taken) = (batch.summary([&path]), outcomes.summary());
        assert_eq!((counted.runs(), counted.runs_failed()), (taken.runs(), taken.runs_failed()));
        assert_eq!((counted.unreadable(), counted.not_judged()), (taken.unreadable(), 0));
        assert_eq!((counted.results(), counted.score()), (taken.results(), taken.score()));
        assert_eq!(counted.runs() + counted.unreadable(), 2_000);
        assert!(!counted.passed());
    }
}

#[test]
fn files_come_in_their_order_and_a_missing_one_is_an_error_among_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.json"), "{\"calls\": []}").unwrap();
    std::fs::write(path("c.json"), "[{\"calls\": []}, {\"calls\": []}]").unwrap();
    let rules = Rules::from_text("r.assert", "never refund").unwrap();
    let named = |one: Result<Outcome, RunError>| {
        let name = one.map_or_else(|error| error.to_string(), |outcome| outcome.run().to_owned());
        name.replace(&format!("{}/", folder.path().display()), "")
    };
    let all: Vec<String> = rules.batch().outcomes(["a.json", "b.json", "c.json"].map(path)).map(named).collect();
    assert_eq!(all.len(), 4);
    assert_eq!([&all[0], &all[2], &all[3]], ["a.json", "c.json#1", "c.json#2"]);
    assert!(all[1].starts_with("b.json:1:1: there is no such trace"), "{all:?}");
    let summary = rules.batch().summary([path("a.json")]);
    assert!(summary.passed() && summary.runs() == 1);
    assert!(!rules.batch().summary(Vec::<PathBuf>::new()).passed(), "nothing was checked");
}

#[test]
fn whoever_has_seen_enough_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let path = corpus(&folder, 5_000);
    let rules = Rules::from_text("r.assert", RULES).unwrap();
    let mut seen = 0;
    let summary = rules.batch().threads(2).chunk(1 << 10).for_each([&path], |_| {
        seen += 1;
        if seen == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(summary.runs() + summary.unreadable(), 10);
    drop(rules.batch().outcomes([&path]));
}

#[test]
fn subtotals_of_parts_say_of_all_runs_what_one_check_says() {
    const OVER_RUNS: &str = "in at least 80% of runs: never admin_*\nin at least 50% of runs by output.text: count search <= 1\n\
        percentile(length(calls) of runs, 90%) <= 1\nbefore cancel -> admin_reset deny unexercised\n";
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(corpus(&folder, 600)).unwrap();
    let rules = Rules::from_text("r.assert", OVER_RUNS).unwrap();
    let batch = rules.batch().threads(2);
    let mut whole = batch.outcomes_of_traces([averment::Trace::from(text.clone()).named("runs")]);
    let unreadable = (&mut whole).filter(Result::is_err).count();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut all = RunsSubtotal::new(&rules).unwrap();
    for part in lines.chunks(70) {
        let part = batch.subtotal_of_traces([averment::Trace::from(part.concat()).named("runs")]).unwrap();
        all.append(RunsSubtotal::from_bytes(&part.to_bytes()).unwrap()).unwrap();
    }
    assert_eq!((all.runs(), all.left_out()), (whole.summary().runs(), unreadable as u64));
    let said = |outcome: &Outcome| {
        let results = outcome.results().map(|one| format!("{} {:?} {}", one.id(), one.verdict(), one.reason()));
        (outcome.run().to_owned(), results.collect::<Vec<String>>(), outcome.passed())
    };
    let joined = said(&all.conclude(&rules).unwrap().unwrap());
    assert_eq!(joined, said(whole.over_runs().unwrap()));
    assert_eq!(joined.1.len(), 3);
    let others = Rules::from_text("r.assert", &OVER_RUNS.replace("80%", "81%")).unwrap();
    assert!(all.conclude(&others).unwrap_err().to_string().contains("one of other rules"));
}

#[test]
fn traces_are_taken_while_others_are_judged() {
    const ALL: usize = 20_000;
    let taken = Arc::new(AtomicUsize::new(0));
    let rules = Rules::from_text("r.assert", "never refund").unwrap();
    let counter = Arc::clone(&taken);
    let traces = (0..ALL).map(move |number| {
        counter.fetch_add(1, Ordering::Relaxed);
        let tool = if number % 2 == 0 { "refund" } else { "search" };
        let text =
            format!("{{\"calls\": [{{\"tool\": \"{tool}\", \"args\": {{\"words\": \"{}\"}}}}]}}", "a".repeat(2_000));
        averment::Trace::from(text).named(format!("run {number}"))
    });
    let mut outcomes = rules.batch().threads(1).chunk(64 << 10).outcomes_of_traces(traces);
    let first = outcomes.next().unwrap().unwrap();
    assert_eq!((first.trace(), first.passed()), ("run 0", false));
    // Those on their way are bounded.
    assert!(taken.load(Ordering::Relaxed) < ALL / 4, "{taken:?}");
    let names: Vec<String> = outcomes.by_ref().map(|one| one.unwrap().trace().to_owned()).collect();
    assert_eq!(names, (1..ALL).map(|number| format!("run {number}")).collect::<Vec<_>>());
    assert_eq!((outcomes.summary().runs(), outcomes.summary().runs_failed()), (20_000, 10_000));
}

#[test]
fn results_that_are_not_wanted_are_left_out_and_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = corpus(&folder, 500);
    let rules = Rules::from_text("r.assert", RULES).unwrap();
    let all: Vec<_> = rules.batch().threads(2).outcomes([&path]).collect();
    for wanted in [&[Status::Failed][..], &[Status::Vacuous, Status::Undecided], &[Status::Passed], &[]] {
        let kept: Vec<_> = rules.batch().threads(2).results_with(wanted).outcomes([&path]).collect();
        assert_eq!(kept.len(), all.len());
        for (kept, whole) in kept.iter().zip(&all) {
            let (kept, whole) = match (kept, whole) {
                (Ok(kept), Ok(whole)) => (kept, whole),
                (kept, whole) => {
                    assert_eq!(kept.as_ref().unwrap_err().to_string(), whole.as_ref().unwrap_err().to_string());
                    continue;
                }
            };
            assert_eq!((kept.run(), kept.trace(), kept.passed()), (whole.run(), whole.trace(), whole.passed()));
            assert_eq!(kept.score(), whole.score());
            let told = whole.results().filter(|one| wanted.is_empty() || wanted.contains(&one.status()));
            let told: Vec<_> = told.map(|one| (one.id(), one.status(), one.reason(), one.violation_count())).collect();
            let found: Vec<_> =
                kept.results().map(|one| (one.id(), one.status(), one.reason(), one.violation_count())).collect();
            assert_eq!(found, told, "{}", whole.run());
        }
    }
}

//! Tests that a panic of a thread never lets a check pass.

use super::check::{self, CheckArgs};
use super::console::ColorChoice;
use super::exit::Exit;
use averment::{Rules, RunError, Trace};
use averment_bulk::faults::{FaultPoint, with_fault};
use clap::Parser as _;
use serde_json::Value;
use tempfile::TempDir;

const POINTS: [FaultPoint; 6] = [
    FaultPoint::Preparing,
    FaultPoint::Reading,
    FaultPoint::Chunk,
    FaultPoint::Line,
    FaultPoint::Run,
    FaultPoint::Judged,
];
/// Number of runs in all files.
const RUNS: u64 = 3_000 + 1 + 2;

#[derive(Debug, clap::Parser)]
struct CommandLine {
    #[command(flatten)]
    arguments: CheckArgs,
}

/// Creates a folder with rules that hold, and runs in three layouts: JSON Lines, one object, and a list.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let run = r#"{"calls": [{"tool": "search", "args": {"q": "rust"}}]}"#;
    write("r.assert", "rule r {\n never delete\n}\n");
    write("a.jsonl", &format!("{run}\n").repeat(3_000));
    write("b.json", run);
    write("c.json", &format!("[{run}, {run}]"));
    folder
}

/// Checks the folder. Returns the exit code and the report.
fn checked(folder: &TempDir, more: &[&str]) -> (Exit, Value) {
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let report = format!("json={}", path("out.json"));
    let mut words = vec!["aver".to_owned(), path("r.assert"), path("a.jsonl"), path("b.json"), path("c.json")];
    words.extend(["--chunk", "4KiB", "--report", &report].map(str::to_owned));
    words.extend(more.iter().map(|word| (*word).to_owned()));
    let line = CommandLine::try_parse_from(words).unwrap();
    let exit = check::run_check(&line.arguments, ColorChoice::Never, None).unwrap();
    let text = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
    (exit, serde_json::from_str(&text).unwrap())
}

fn number(report: &Value, name: &str) -> u64 {
    report["summary"][name].as_u64().unwrap_or(0)
}

#[test]
fn without_a_fault_every_run_is_judged() {
    let folder = folder();
    let (exit, report) = checked(&folder, &["--format", "summary"]);
    assert_eq!((exit, number(&report, "runs")), (Exit::Holds, RUNS));
    assert_eq!((report["passed"].as_bool(), report["summary"].get("not_judged")), (Some(true), None));
}

#[test]
fn a_thread_that_breaks_down_at_any_point_is_exit_5_with_what_is_known() {
    let folder = folder();
    let profile = format!("--profile={}", folder.path().join("profile.json").display());
    let ways: [&[&str]; 3] = [&[], &["--allow", "empty"], &[&profile]];
    for (point, way) in POINTS.iter().flat_map(|point| ways.iter().map(move |way| (*point, *way))) {
        for (threads, passed, often) in [(1, 0, 1), (1, 0, u32::MAX), (3, 0, u32::MAX), (3, 1, 1), (3, 2, 2)] {
            let threads = threads.to_string();
            let more = [&["--threads", &threads, "--format", "summary"], way].concat();
            let (exit, report) = with_fault(point, passed, often, || checked(&folder, &more));
            let (runs, not_judged) = (number(&report, "runs"), number(&report, "not_judged"));
            let case = format!("{point:?} {more:?} {passed} {often}: {runs} {not_judged}");
            assert_eq!((exit, report["passed"].as_bool()), (Exit::Error, Some(false)), "{case}");
            assert_eq!(runs + not_judged, RUNS, "{case}");
            assert_eq!(report["runs"].as_array().unwrap().len() as u64, runs, "{case}");
        }
    }
}

#[test]
fn a_run_that_breaks_down_while_it_is_looked_at_takes_no_other_with_it() {
    let rules = Rules::from_text("r.assert", "never delete\n").unwrap();
    for (passed, often, lost) in [(2, 1, 1), (2, 4, 4), (2, 5, 5), (0, u32::MAX, 8)] {
        let traces = (0..8).map(|number| Trace::from(format!(r#"{{"calls": [{{"tool": "t{number}"}}]}}"#)));
        let outcomes: Vec<_> = with_fault(FaultPoint::Line, passed, often, || {
            rules.batch().threads(1).outcomes_of_traces(traces).collect()
        });
        let broke = outcomes.iter().filter(|one| matches!(one, Err(RunError::BrokeDown { .. }))).count();
        assert_eq!((outcomes.len(), broke), (8, lost), "{passed} {often}");
    }
}

#[test]
fn counts_and_lines_leave_out_what_was_not_judged_too() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for point in POINTS {
        let report = format!("jsonl={}", path("out.jsonl"));
        let words = ["aver", &path("r.assert"), &path("a.jsonl"), &path("b.json"), &path("c.json"), "--threads", "1"];
        let more = ["--chunk", "4KiB", "--format", "summary", "--report", &report, "--allow", "empty"];
        let line = CommandLine::try_parse_from(words.iter().chain(&more)).unwrap();
        let exit =
            with_fault(point, 0, u32::MAX, || check::run_check(&line.arguments, ColorChoice::Never, None)).unwrap();
        assert_eq!(exit, Exit::Error, "{point:?}");
        let text = std::fs::read_to_string(path("out.jsonl")).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let end = lines.last().unwrap();
        assert_eq!(end["passed"].as_bool(), Some(false), "{point:?}");
        let runs = lines.iter().filter(|line| line.get("run").is_some()).count() as u64;
        assert_eq!((runs, runs + number(end, "not_judged")), (number(end, "runs"), RUNS), "{point:?}");
    }
}

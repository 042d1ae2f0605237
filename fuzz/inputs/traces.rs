//! JSON and the readers of all trace formats, each way of judging what they read.

use averment::Rules;
use averment_base::limits::Limits;
use averment_runs::run::Run;
use averment_runs::timeline::render_timeline;
use averment_runs::write_normal::normal_form;
use averment_traces::read::{self, TraceRuns};
use bumpalo::Bump;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::OnceLock;

/// Rules that look at names, at arguments, at texts and at entries, in order and alone.
const RULES: &str = r#"
rule names { never delete }
rule order { before search -> refund }
rule args { each call(refund): args.amount <= 100 }
rule text { output does not contain "secret" }
rule entries { turns <= 20 }
rule commands { never command(command: "rm *") }
"#;

fn rules() -> &'static Rules {
    static RULES_: OnceLock<Rules> = OnceLock::new();
    RULES_.get_or_init(|| Rules::from_text("rules.assert", RULES).unwrap_or_else(|error| panic!("{error}")))
}

/// Reads an input as a file of runs.
pub fn run(bytes: &[u8]) {
    let limits = Limits::default();
    let (readable, unreadable) = read_all(TraceRuns::new("trace", Cursor::new(bytes.to_vec()), &limits), &limits);
    let file = written(bytes);
    let failed = same_in_bulk(file.path(), readable, unreadable);
    let single = rules().check(averment::Trace::reader(Cursor::new(bytes.to_vec())));
    let of_single = single.filter(|one| one.as_ref().is_ok_and(|one| !one.passed())).count() as u64;
    assert_eq!(of_single, failed, "many runs and single ones differ");
}

/// Reads an input as a file of the disk, which may have columns.
#[cfg(feature = "parquet")]
pub fn run_file(bytes: &[u8]) {
    let limits = Limits::default();
    let file = written(bytes);
    let path = file.path().to_str().expect("a path of text");
    let (readable, unreadable) = match TraceRuns::open_file(path, &limits) {
        Ok(runs) => read_all(runs, &limits),
        Err(error) => {
            assert!(!error.to_string().contains('\u{1b}'), "{error}");
            (0, 1)
        }
    };
    same_in_bulk(file.path(), readable, unreadable);
}

fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).and_then(|()| file.flush()).expect("a file");
    file
}

/// Counts the runs that can be read, and those that cannot.
fn read_all(runs: TraceRuns, limits: &Limits) -> (u64, u64) {
    let (mut readable, mut unreadable) = (0, 0);
    for raw in runs {
        let arena = Bump::new();
        let read = raw.as_ref().map_err(ToString::to_string).and_then(|raw| {
            let run = read::parse_run(raw, &arena, limits).map_err(|error| error.to_string())?;
            converted(&run, limits);
            Ok(render_timeline(&run, 100, averment_builtins::detect::redacted_start))
        });
        match read {
            Ok(shown) => {
                readable += 1;
                assert!(!shown.contains('\u{1b}'), "{shown:?}");
            }
            Err(said) => {
                unreadable += 1;
                assert!(!said.contains('\u{1b}'), "{said:?}");
            }
        }
    }
    (readable, unreadable)
}

/// A run that is written in the normal form is the same run again.
fn converted(run: &Run<'_>, limits: &Limits) {
    let written = normal_form(run);
    let arena = Bump::new();
    match read::read_str(&written, &arena, limits) {
        Ok(again) => assert_eq!(normal_form(&again), written, "another run came back"),
        Err(error) => panic!("what was written is not read back: {error}: {written}"),
    }
}

/// Many runs are judged as single ones are, and counted; gives the number of those that fail.
fn same_in_bulk(file: &Path, readable: u64, unreadable: u64) -> u64 {
    let batch = rules().batch().threads(1).chunk(1 << 10);
    let counted = batch.summary([file]);
    let given = (counted.runs(), counted.unreadable(), counted.not_judged());
    assert_eq!(given, (readable, unreadable, 0), "runs, those that cannot be read, those that were lost");
    let mut outcomes = batch.outcomes([file]);
    let failed = outcomes.by_ref().filter(|one| one.as_ref().is_ok_and(|one| !one.passed())).count() as u64;
    assert_eq!((failed, outcomes.summary().runs()), (counted.runs_failed(), readable), "counts and outcomes differ");
    failed
}

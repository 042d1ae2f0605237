//! What `aver trace show` prints, beside the runs in `tests/golden/trace`.

use averment_base::limits::Limits;
use averment_builtins::detect::redacted_start;
use averment_fixtures as fixtures;
use averment_runs::timeline::render_timeline;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::io::Cursor;
use std::path::Path;

fn printed(path: &Path, width: usize) -> String {
    let limits = Limits::default();
    let name = path.file_name().unwrap().to_str().unwrap();
    let bytes = Cursor::new(std::fs::read(path).unwrap());
    let mut shown = String::new();
    for raw in TraceRuns::new(name, bytes, &limits) {
        let raw = raw.unwrap();
        let arena = Bump::new();
        shown.push_str(&render_timeline(&parse_run(&raw, &arena, &limits).unwrap(), width, redacted_start));
    }
    shown
}

#[test]
fn runs_are_shown_as_they_stand_in_the_golden_files() {
    let folder = fixtures::project("tests/golden/trace");
    let mut paths = fixtures::files(&folder);
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl"));
    assert!(paths.len() >= 4);
    for path in paths {
        let _scope = fixtures::snapshot_beside(&path);
        insta::assert_snapshot!(fixtures::stem(&path), printed(&path, 100));
    }
}

#[test]
fn every_line_keeps_the_width_and_holds_no_control_characters() {
    let folder = averment_fixtures::root().join("tests/golden/trace");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
            for width in [60, 80, 200] {
                let shown = printed(&path, width);
                let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
                assert!(widest <= width, "{widest} > {width}:\n{shown}");
                assert!(!shown.contains('\u{1b}'));
            }
        }
    }
}

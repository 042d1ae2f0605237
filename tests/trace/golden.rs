//! What `aver trace show` prints, beside the runs in `tests/golden/trace`.

use averment::limits::Limits;
use averment::trace::timeline::timeline;
use averment::trace::{Runs, parse};
use bumpalo::Bump;
use std::io::Cursor;
use std::path::Path;

fn printed(path: &Path, width: usize) -> String {
    let limits = Limits::default();
    let name = path.file_name().unwrap().to_str().unwrap();
    let bytes = Cursor::new(std::fs::read(path).unwrap());
    let mut shown = String::new();
    for raw in Runs::new(name, bytes, &limits) {
        let raw = raw.unwrap();
        let arena = Bump::new();
        shown.push_str(&timeline(&parse(&raw, &arena, &limits).unwrap(), width));
    }
    shown
}

#[test]
fn runs_are_shown_as_they_stand_in_the_golden_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/trace");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl"));
    files.sort();
    assert!(files.len() >= 4);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        settings.bind(|| insta::assert_snapshot!(name, printed(&path, 100)));
    }
}

#[test]
fn every_line_keeps_the_width_and_holds_no_control_characters() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/trace");
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

//! The formats of conversations and sessions: a run in each, of our own making, and what is read of it.

use averment_base::limits::Limits;
use averment_base::value::json::to_json;
use averment_base::value::{Object, Value};
use averment_fixtures as fixtures;
use averment_runs::run::{Run, StepKind};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::fmt::Write as _;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The runs in each format.
fn samples() -> Vec<PathBuf> {
    let folder = fixtures::project("tests/golden/trace/formats");
    let mut paths = fixtures::files(&folder);
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl"));
    assert!(paths.len() > 30, "a format without a sample");
    paths
}

/// The normal form of every run of a text, or why there is none.
fn read(name: &str, bytes: &[u8]) -> String {
    let limits = Limits::default();
    let mut shown = String::new();
    for raw in TraceRuns::new(name, Cursor::new(bytes.to_vec()), &limits) {
        let arena = Bump::new();
        match raw.and_then(|raw| parse_run(&raw, &arena, &limits).map(|run| normal_form(&run))) {
            Ok(run) => shown.push_str(&run),
            Err(error) => writeln!(shown, "{error}").unwrap(),
        }
    }
    shown
}

fn normal_form(run: &Run<'_>) -> String {
    let mut shown = format!("{}: {}\n", run.source.run_name(), run.format);
    let lists = StepKind::ALL.map(StepKind::list_key);
    for entry in run.object.entries().iter().filter(|entry| !lists.contains(&entry.key) && entry.key != "steps") {
        writeln!(shown, "  {}: {}", entry.key, to_json(&entry.node.value)).unwrap();
    }
    for step in run.steps {
        writeln!(shown, "  {} {}", step.kind.as_str(), to_json(&Value::Object(step.object))).unwrap();
    }
    let unrecorded: Vec<_> =
        StepKind::ALL.into_iter().filter(|kind| !run.records_kind(*kind)).map(StepKind::list_key).collect();
    writeln!(shown, "  not recorded: {}", unrecorded.join(", ")).unwrap();
    run.warnings.iter().for_each(|warning| writeln!(shown, "  warning: {}", warning.message).unwrap());
    shown
}

#[test]
fn every_format_is_read_as_its_golden_file_says() {
    for path in samples() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let _scope = fixtures::snapshot_beside(&path);
        insta::assert_snapshot!(fixtures::stem(&path), read(name, &std::fs::read(&path).unwrap()));
    }
}

/// Each entry of a run and of its steps is set once, so that what is converted means what was read.
#[test]
fn no_run_has_a_key_twice() {
    fn unique(object: Object<'_>, path: &Path) {
        let mut keys: Vec<_> = object.entries().iter().map(|entry| entry.key).collect();
        keys.sort_unstable();
        let twice = keys.windows(2).find(|pair| pair[0] == pair[1]);
        assert!(twice.is_none(), "{}: {twice:?}", path.display());
    }
    let folder = fixtures::project("tests/golden/trace");
    let mut paths = [samples(), fixtures::files(&folder)].concat();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl"));
    let limits = Limits::default();
    for path in paths {
        for raw in TraceRuns::new("t", Cursor::new(std::fs::read(&path).unwrap()), &limits) {
            let arena = Bump::new();
            let raw = raw.unwrap();
            let run = parse_run(&raw, &arena, &limits).unwrap();
            unique(run.object, &path);
            run.steps.iter().for_each(|step| unique(step.object, &path));
        }
    }
}

/// The format of every run of a text.
fn formats_of(name: &str, bytes: &[u8]) -> Vec<&'static str> {
    let limits = Limits::default();
    let runs = TraceRuns::new(name, Cursor::new(bytes.to_vec()), &limits);
    let format = |raw| {
        let arena = Bump::new();
        parse_run(&raw, &arena, &limits).map(|run| run.format)
    };
    runs.filter_map(|raw| raw.and_then(format).ok()).collect()
}

fn format_of(path: &Path, bytes: &[u8]) -> Vec<&'static str> {
    formats_of(path.file_name().unwrap().to_str().unwrap(), bytes)
}

/// A file that breaks off is read as far as it goes, in the same format or not at all.
#[test]
fn a_file_that_breaks_off_is_read_in_its_format_or_refused() {
    for path in samples() {
        let bytes = std::fs::read(&path).unwrap();
        let whole = format_of(&path, &bytes);
        assert!(!whole.is_empty(), "{}", path.display());
        let step = (bytes.len() / 40).max(1);
        for end in (0..bytes.len()).step_by(step) {
            let found = format_of(&path, &bytes[..end]);
            // The first lines of these say no more than those of Claude Code.
            let alike = ["cursor-agent.jsonl", "droid-stream.jsonl", "qwen-code.jsonl"];
            let begins_alike = alike.iter().any(|name| path.ends_with(name));
            let fits = |format: &&str| whole.contains(format) || begins_alike && format.starts_with("Claude");
            assert!(found.iter().all(fits), "{} to {end}: {found:?}", path.display());
        }
    }
}

/// What any value of a run becomes that is of another type: no run is lost without a word, and nothing panics.
#[test]
fn values_of_other_types_are_no_surprise() {
    let others = ["null", "7", "\"x\"", "[]", "{}", "[{}]", "true", "-1.5e3", "[[\"a\", {\"b\": 1}]]"];
    for path in samples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        for (number, place) in value_places(&text).into_iter().enumerate() {
            let other = others[number % others.len()];
            let changed = format!("{}{other}{}", &text[..place.start], &text[place.end..]);
            assert!(!read(name, changed.as_bytes()).is_empty(), "{}: {changed}", path.display());
        }
    }
}

/// Where the values behind keys stand that are neither lists nor objects, found without a reader of JSON.
fn value_places(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let (mut places, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        at = end_of_text(bytes, at);
        if bytes.get(at) == Some(&b':') {
            let start = at + 1 + bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let end = match bytes[start] {
                b'"' => end_of_text(bytes, start),
                _ => start + bytes[start..].iter().take_while(|byte| !b",]}[{\n".contains(byte)).count(),
            };
            if end > start {
                places.push(start..end);
            }
            at = end;
        }
    }
    places
}

/// The offset behind the text whose quote stands at `start`.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Also where it is the first call, so that no result was recorded before.
#[test]
fn a_session_that_ends_with_an_open_call_may_be_cut_off() {
    let asked = r#"{"type": "user", "sessionId": "s", "uuid": "1", "message": {"role": "user", "content": "look"}}"#;
    let call = |id: u8| {
        let block = format!(r#"{{"type": "tool_use", "id": "t{id}", "name": "Read", "input": {{"file_path": "a"}}}}"#);
        format!(
            r#"{{"type": "assistant", "sessionId": "s", "uuid": "c{id}", "message": {{"role": "assistant", "content": [{block}]}}}}"#
        )
    };
    let result = |id: u8| {
        let block = format!(r#"{{"type": "tool_result", "tool_use_id": "t{id}", "content": "there"}}"#);
        format!(
            r#"{{"type": "user", "sessionId": "s", "uuid": "r{id}", "message": {{"role": "user", "content": [{block}]}}}}"#
        )
    };
    let is_hinted = |lines: &[String]| {
        let limits = Limits::default();
        let text = lines.join("\n");
        let raw = TraceRuns::new("s.jsonl", Cursor::new(text.into_bytes()), &limits).next().unwrap().unwrap();
        let arena = Bump::new();
        let run = parse_run(&raw, &arena, &limits).unwrap();
        run.warnings.iter().any(|warning| warning.message.contains("may be cut off"))
    };
    let first = [asked.to_owned(), call(1)];
    assert!(is_hinted(&first));
    assert!(!is_hinted(&[&first[..], &[result(1)]].concat()));
    assert!(is_hinted(&[&first[..], &[result(1), call(2)]].concat()));
}

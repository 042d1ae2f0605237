//! A run of any format that takes more memory than a run may have is refused, and what is read takes no more.

use averment_base::limits::Limits;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::Value as Json;
use std::io::Cursor;

/// Repeats the longest list of objects, or the lines of a session, with other ids: `count` times.
fn repeated(document: &Json, is_lines: bool, count: usize) -> String {
    let mut document = document.clone();
    if is_lines {
        let lines = document.as_array().unwrap();
        return (0..count)
            .flat_map(|number| lines.iter().map(move |line| format!("{}\n", numbered(line, number))))
            .collect();
    }
    if let Some(items) = longest(&mut document) {
        let one = items.clone();
        *items = (0..count).flat_map(|number| one.iter().map(move |item| numbered(item, number))).collect();
    }
    document.to_string()
}

fn longest(value: &mut Json) -> Option<&mut Vec<Json>> {
    match value {
        Json::Array(items) => match items.iter().any(Json::is_object) {
            true => Some(items),
            false => items.iter_mut().find_map(longest),
        },
        Json::Object(map) => {
            map.values_mut().filter_map(longest).max_by_key(|items| Json::from((*items).clone()).to_string().len())
        }
        _ => None,
    }
}

/// The same with other ids, so that it is no copy.
fn numbered(value: &Json, number: usize) -> Json {
    match value {
        Json::Array(items) => items.iter().map(|item| numbered(item, number)).collect(),
        Json::Object(map) => map
            .iter()
            .map(|(key, inner)| match inner {
                Json::String(text)
                    if ["id", "uuid", "call_id", "tool_call_id", "tool_use_id"].contains(&key.as_str()) =>
                {
                    (key.clone(), Json::from(format!("{text}{number}")))
                }
                _ => (key.clone(), numbered(inner, number)),
            })
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn a_run_of_any_format_stays_within_its_memory() {
    let limits = Limits { run_memory: 3 << 20, run_bytes: 1 << 20, ..Limits::default() };
    let (mut read, mut refused) = (0, 0);
    let mut files: Vec<_> =
        std::fs::read_dir(averment_fixtures::project("tests/golden/trace/formats")).unwrap().collect();
    files.sort_by_key(|file| file.as_ref().unwrap().path());
    for file in files {
        let path = file.unwrap().path();
        let is_lines = path.extension().is_some_and(|ending| ending == "jsonl");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let document = match is_lines {
            true => text
                .lines()
                .filter(|line| !line.is_empty())
                .map(serde_json::from_str::<Json>)
                .collect::<Result<Json, _>>(),
            false => serde_json::from_str(&text),
        };
        let Ok(document) = document else { continue };
        for bytes in [50_000, 700_000] {
            let count = 1 + bytes / text.len();
            for raw in
                TraceRuns::new("t", Cursor::new(repeated(&document, is_lines, count).into_bytes()), &limits).flatten()
            {
                let arena = Bump::new();
                match parse_run(&raw, &arena, &limits) {
                    Ok(_) => {
                        let taken = arena.allocated_bytes() - arena.chunk_capacity() + raw.text_length();
                        assert!(taken <= limits.run_memory, "{}: {taken} bytes", path.display());
                        read += 1;
                    }
                    Err(error) => refused += usize::from(error.message.contains("MiB of memory")),
                }
            }
        }
    }
    assert!(read > 100 && refused > 60, "{read} read, {refused} refused");
}

#[test]
fn lines_of_a_session_are_counted_together() {
    let limits = Limits { run_memory: 4 << 20, run_bytes: 2 << 20, ..Limits::default() };
    let line = r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}"#;
    let text =
        (0..15_000).map(|number| format!("{}\n", line.replace("\"u\"", &format!("\"u{number}\"")))).collect::<String>();
    let raw = TraceRuns::new("t", Cursor::new(text.into_bytes()), &limits).next().unwrap().unwrap();
    let error = parse_run(&raw, &Bump::new(), &limits).unwrap_err();
    assert_eq!(error.message, "the values and steps of the run take more than 3 MiB of memory");
    assert_eq!(error.help, "split the file into several runs");
}

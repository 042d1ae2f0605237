//! Values that are no records, beside records of every format: each is told, wherever it stands.

use averment_base::limits::Limits;
use averment_fixtures as fixtures;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// Values that are no record in any format. An empty object may stand for a run that is empty.
const STRAY: [&str; 5] = ["5", "\"x\"", "null", "[1, 2]", "{\"zzz\": 1}"];

fn samples() -> Vec<(PathBuf, String)> {
    fn below(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    below(&fixtures::project("tests/golden/trace"), &mut found);
    found
}

/// A list of objects: the keys that lead to it, and where its elements begin and it ends.
struct List {
    way: String,
    starts: Vec<usize>,
}

struct Walk<'t> {
    text: &'t [u8],
    at: usize,
    lists: Vec<List>,
}

impl Walk<'_> {
    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> String {
        let start = self.at + 1;
        self.at += 1;
        while self.text[self.at] != b'"' {
            self.at += 1 + usize::from(self.text[self.at] == b'\\');
        }
        self.at += 1;
        String::from_utf8_lossy(&self.text[start..self.at - 1]).into_owned()
    }

    fn value(&mut self, way: &str) {
        self.blank();
        match self.text[self.at] {
            b'{' => {
                self.at += 1;
                loop {
                    self.blank();
                    match self.text[self.at] {
                        b'}' => break,
                        b',' => self.at += 1,
                        _ => {
                            let key = self.string();
                            self.blank();
                            self.at += 1;
                            self.value(&format!("{way}.{key}"));
                        }
                    }
                }
                self.at += 1;
            }
            b'[' => {
                self.at += 1;
                let mut starts = Vec::new();
                let mut objects = true;
                loop {
                    self.blank();
                    match self.text[self.at] {
                        b']' => break,
                        b',' => self.at += 1,
                        first => {
                            objects &= first == b'{';
                            starts.push(self.at);
                            self.value(&format!("{way}[]"));
                        }
                    }
                }
                if objects && !starts.is_empty() {
                    self.lists.push(List { way: way.to_owned(), starts });
                }
                self.at += 1;
            }
            b'"' => drop(self.string()),
            _ => {
                while self.text.get(self.at).is_some_and(|byte| !b",]} \n\r\t".contains(byte)) {
                    self.at += 1;
                }
            }
        }
    }
}

/// How often something is said of a text: errors, warnings, runs.
fn said(text: &str) -> (usize, usize, BTreeSet<String>) {
    let limits = Limits::default();
    let (mut runs, mut count, mut told) = (0, 0, BTreeSet::new());
    for raw in TraceRuns::new("t", Cursor::new(text.as_bytes().to_vec()), &limits) {
        let arena = Bump::new();
        match raw.as_ref().map_err(Clone::clone).and_then(|raw| parse_run(raw, &arena, &limits)) {
            Ok(run) => {
                runs += 1;
                count += run.warnings.len();
                told.extend(run.warnings.iter().map(|warning| warning.message.clone()));
            }
            Err(error) => {
                count += 1;
                told.insert(format!("ERROR {}", error.message));
            }
        }
    }
    (runs, count, told)
}

/// Keys of lists that hold no records, each with the reason. A plain value among them did nothing.
const NO_RECORDS: [(&str, &str); 56] = [
    (".tool_output.blocks", "what a tool gave"),
    (".result.response.blocks", "the last answer again"),
    ("[].source", "what a task of a workflow comes from"),
    (".output.messages", "what a model said: its calls have spans, or are read there"),
    (".inputs.messages", "what a model was given"),
    (".llm_messages", "what a model was given"),
    (".input_messages", "what a model was given"),
    (".llm_response.tool_calls", "the answer again, whose calls stand in the steps"),
    (".llm_interactions[].response.tool_calls", "the answer again, whose calls stand in the steps"),
    (".expectedTools", "what is expected"),
    (".metricsData", "how it is judged"),
    (".testCase.assert", "how it is judged"),
    (".componentResults", "how it is judged"),
    (".skillCalls", "skills, which are no calls"),
    (".user_input", "parts of words"),
    (".content", "parts of words, read by their types"),
    (".message", "parts of words, read by their types"),
    (".parts", "parts of words, read by their types"),
    (".input", "what something was given"),
    (".$ai_input", "what a model was given: what was done before has events of its own"),
    (".output", "what something gave"),
    (".tools", "definitions of tools"),
    (".$ai_tools", "definitions of tools"),
    (".tool_definitions", "definitions of tools"),
    ("[].request.messages[].tool_calls", "calls of a request, which are read by their functions"),
    (".attributes", "attributes of a span"),
    (".attributes.pydantic_ai.all_messages", "the conversation again: its calls have spans, or are read out of it"),
    (".references", "which spans a span follows"),
    (".tags", "words"),
    (".summary", "thoughts"),
    (".outputs", "what something gave"),
    (".results", "what tools gave"),
    (".result", "what a tool gave"),
    (".thought", "thoughts"),
    (".actions", "calls of a step, which are read by their functions"),
    (".history", "the steps again"),
    (".toolRequests", "what was only asked for: executions have events of their own"),
    (".choices", "answers, of which the first was given"),
    (".data[].events", "what happened inside of a span"),
    (".llmSpans[].output.tool_calls", "what was asked for, as long as tools have spans"),
    (".observations[].output.tool_calls", "what was asked for, as long as tools have spans"),
    (".span_data.output[].tool_calls", "what was asked for, as long as tools have spans"),
    (".expected_invocation.intermediate_data.tool_uses", "what is expected"),
    (".eval_cases[].conversation[].intermediate_data.tool_uses", "what is expected"),
    ("[].message.kwargs.tool_calls", "calls of a message, which are read by their names"),
    (".message.tool_calls", "calls of a message, which are read by their functions"),
    ("[]", "several runs"),
    (".contextItems", "what the user attached"),
    (".promptLogs", "the prompt and the answer again, as text"),
    (".input.messages", "what a model was given"),
    (".input[].messages", "what a model was given"),
    (".segments", "parts of words"),
    (".request_body.messages[].tool_calls", "calls of a request, which are read by their functions"),
    (".spans[].input.value", "what something was given"),
    (".spans[].output.value", "what something gave"),
    (".membersAdded", "who joined the conversation"),
];

/// Lists out of which a reader takes what it looks for: objects with other keys may stand there.
const MAY_HOLD_MORE: [&str; 6] =
    [".interruptions", ".changes", ".thoughts", ".samples[].events", ".detectedSkills", ".scopeSpans"];

/// The same text with a value in front of the first element of a list, and behind its last one.
fn with_stray(text: &str, list: &List, value: &str) -> [String; 2] {
    let (mut before, mut behind) = (text.to_owned(), text.to_owned());
    before.insert_str(list.starts[0], &format!("{value}, "));
    let mut last = Walk { text: text.as_bytes(), at: *list.starts.last().unwrap(), lists: Vec::new() };
    last.value("");
    behind.insert_str(last.at, &format!(", {value}"));
    [before, behind]
}

fn lists(text: &str) -> Vec<List> {
    let mut walk = Walk { text: text.as_bytes(), at: 0, lists: Vec::new() };
    walk.blank();
    while walk.at < text.len() {
        walk.value("");
        walk.blank();
    }
    let mut seen = BTreeSet::new();
    walk.lists.into_iter().filter(|list| seen.insert(list.way.clone())).collect()
}

#[test]
fn a_value_among_records_that_is_none_is_told_in_every_format() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for (path, text) in samples() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let before = said(&text);
        for list in lists(&text) {
            let parts_of_text = NO_RECORDS.iter().any(|(way, _)| !list.way.is_empty() && list.way.ends_with(way));
            // The file is cut into runs, and a trace that is none belongs to none of them.
            let is_between_runs = name == "promptfoo-results.json" && list.way == ".traces";
            if parts_of_text || is_between_runs {
                continue;
            }
            let stray = if MAY_HOLD_MORE.iter().any(|way| list.way.ends_with(way)) { &STRAY[..4] } else { &STRAY[..] };
            for (value, changed) in
                stray.iter().flat_map(|value| with_stray(&text, &list, value).map(|text| (value, text)))
            {
                tried += 1;
                let after = said(&changed);
                if after.1 <= before.1 && after.2.is_subset(&before.2) {
                    wrong.push(format!("{name}: nothing is said of `{value}` in `{}`", list.way));
                }
                if after.0 > before.0 {
                    wrong.push(format!("{name}: {} runs for {} with `{value}` in `{}`", after.0, before.0, list.way));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 500, "{tried}");
}

#[test]
fn a_line_among_others_that_is_no_record_is_told_in_every_format() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for (path, text) in samples() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() < 2 || !lines.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()) {
            continue;
        }
        let before = said(&text);
        for (value, at) in STRAY.iter().flat_map(|value| [0, 1, lines.len()].map(|at| (value, at))) {
            tried += 1;
            let mut changed = lines.clone();
            changed.insert(at, value);
            let after = said(&(changed.join("\n") + "\n"));
            if after.1 <= before.1 || after.0 > before.0 {
                wrong.push(format!("{name}: `{value}` on line {}: {after:?} for {before:?}", at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 150, "{tried}");
}

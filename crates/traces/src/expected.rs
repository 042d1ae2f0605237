//! What a user expects of single runs: a row of a file for each of them, told by the id of the run. Rules read it as `meta.expected`.

use averment_base::limits::Limits;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value, json};
use averment_runs::normal::of_run;
use averment_runs::run::Run;
use bumpalo::Bump;
use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The key of `meta` that the row of a run stands under.
pub const EXPECTED: &str = "expected";
/// Run id columns, first match wins: with these, a row's `id` may be its own.
const IDS: [&str; 4] = ["run_id", "trace_id", "run", "id"];
/// A sentinel behind the last line: an unclosed quote swallows it.
const END: &str = "\u{1}";
/// Bytes of the largest file.
pub const LARGEST: usize = 256 << 20;
const NAMED: usize = 5;

/// The rows of a file.
#[derive(Debug, Default)]
pub struct ExpectedRows {
    rows: HashMap<String, ExpectedRow>,
    without: AtomicU64,
}

#[derive(Debug)]
struct ExpectedRow {
    line: u64,
    json: String,
    seen: AtomicBool,
}

impl ExpectedRows {
    /// The rows of a text: JSONL where its first sign is `{`, otherwise CSV with a line of names.
    ///
    /// # Errors
    /// The line that is wrong, and why.
    pub fn of_text(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_start().starts_with('[') {
            return Err("line 1: it is a list: write one object on each line (JSONL), or CSV".to_owned());
        }
        let all = if text.trim_start().starts_with('{') { of_jsonl(text)? } else { of_csv(text)? };
        let mut rows: HashMap<String, ExpectedRow> = HashMap::with_capacity(all.len());
        for (line, id, json) in all {
            if let Some(first) = rows.get(&id) {
                return Err(format!("line {line}: a second row for the run `{id}` (the first is line {})", first.line));
            }
            rows.insert(id, ExpectedRow { line, json, seen: AtomicBool::new(false) });
        }
        if rows.is_empty() { Err("it has no rows".to_owned()) } else { Ok(Self { rows, without: AtomicU64::new(0) }) }
    }

    /// Replaces what the run may record under that name.
    pub(crate) fn join_run<'run>(&self, run: &mut Run<'run>, arena: &'run Bump, limits: &Limits) {
        let row = run.id.and_then(|id| self.rows.get(id));
        match row {
            Some(row) => row.seen.store(true, Ordering::Relaxed),
            None => _ = self.without.fetch_add(1, Ordering::Relaxed),
        }
        let parsed = row.and_then(|row| json::parse(arena.alloc_str(&row.json), 0, arena, limits).ok());
        // It stands in no trace: it has no place there. What a run itself says under that name is not what is expected of it.
        let node = parsed.map(|document| Node::computed(document.node.value));
        let with = |object: Option<Object<'run>>, key: &'static str, node: Option<Node<'run>>| {
            let others = object.into_iter().flat_map(|object| object.entries().iter().copied());
            let own = node.map(|node| ObjectEntry { key, node });
            let entries: Vec<ObjectEntry<'run>> = others.filter(|entry| entry.key != key).chain(own).collect();
            Object::new(arena, arena.alloc_slice_copy(&entries))
        };
        let meta = match run.object.get(of_run::META).map(|node| node.value) {
            Some(Value::Object(meta)) => Some(meta),
            _ => None,
        };
        let meta = Node::computed(Value::Object(with(meta, EXPECTED, node)));
        run.object = with(Some(run.object), of_run::META, Some(meta));
    }

    /// Runs without a row and rows without a run; empty if all match.
    #[must_use]
    pub fn unmatched_warnings(&self) -> String {
        let mut idle: Vec<(u64, &str)> = self
            .rows
            .iter()
            .filter(|(_, row)| !row.seen.load(Ordering::Relaxed))
            .map(|(id, row)| (row.line, id.as_str()))
            .collect();
        idle.sort_unstable();
        let names: Vec<String> =
            idle.iter().take(NAMED).map(|(line, id)| format!("`{}` (line {line})", id.escape_debug())).collect();
        let more = if idle.len() > NAMED { ", …" } else { "" };
        let without = match self.without.load(Ordering::Relaxed) {
            0 => String::new(),
            1 => "warning: 1 run has no row in `--expected`\n".to_owned(),
            count => format!("warning: {count} runs have no row in `--expected`\n"),
        };
        without
            + &match idle.len() {
                0 => String::new(),
                1 => format!("warning: no run has the id of 1 row of `--expected`: {}\n", names.join(", ")),
                count => {
                    format!("warning: no run has the ids of {count} rows of `--expected`: {}{more}\n", names.join(", "))
                }
            }
    }
}

fn of_jsonl(text: &str) -> Result<Vec<(u64, String, String)>, String> {
    let lines = (1_u64..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let JsonRow(row) =
                serde_json::from_str(line).map_err(|error| format!("line {number}: no JSON object: {error}"))?;
            let id = IDS.iter().find_map(|key| row.get(*key));
            let id = match id {
                Some(serde_json::Value::String(id)) => id.clone(),
                Some(serde_json::Value::Number(id)) => id.to_string(),
                _ => return Err(format!("line {number}: no `id` that is a text: a row says which run it is of")),
            };
            Ok((number, id, line.to_owned()))
        })
        .collect()
}

/// Rejects duplicate keys.
struct JsonRow(serde_json::Map<String, serde_json::Value>);

impl<'de> serde::Deserialize<'de> for JsonRow {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> serde::de::Visitor<'de> for EntriesVisitor {
            type Value = JsonRow;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<JsonRow, A::Error> {
                let mut row = serde_json::Map::new();
                while let Some((key, value)) = map.next_entry::<String, serde_json::Value>()? {
                    if row.contains_key(&key) {
                        let message = format!("`{}` stands in it twice", key.escape_debug());
                        return Err(serde::de::Error::custom(message));
                    }
                    row.insert(key, value);
                }
                Ok(JsonRow(row))
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}

/// RFC 4180. Numbers without an exponent and booleans in JSON are values, empty cells omitted, others keep their text.
fn of_csv(text: &str) -> Result<Vec<(u64, String, String)>, String> {
    let names = csv::Reader::from_reader(text.as_bytes()).headers().map_err(|error| error.to_string())?.clone();
    let mut known = HashSet::with_capacity(names.len());
    if let Some(twice) = names.iter().find(|name| !known.insert(name.trim())) {
        return Err(format!("line 1: a second column `{}`", twice.escape_debug()));
    }
    let found = IDS.iter().find_map(|id| names.iter().position(|name| name.trim() == *id));
    let Some(place) = found else {
        let first: Vec<String> = names.iter().take(NAMED).map(|name| name.escape_debug().to_string()).collect();
        let more = if names.len() > NAMED { ", …" } else { "" };
        return Err(format!("line 1: none of its columns is `id`, it has: {}{more}", first.join(", ")));
    };
    let end = format!("\n{}\n", vec![END; names.len()].join(","));
    let mut reader = csv::Reader::from_reader(text.as_bytes().chain(end.as_bytes()));
    let mut rows = Vec::new();
    let mut records = reader.records().peekable();
    while let Some(record) = records.next() {
        let record = record.map_err(|error| describe_error(&error))?;
        if records.peek().is_none() && record.iter().all(|cell| cell == END) {
            return Ok(rows);
        }
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().any(|cell| cell.contains(END)) {
            return Err(format!("line {line}: a quote in it is not closed"));
        }
        let id = record.get(place).map(str::trim).unwrap_or_default();
        if id.is_empty() {
            return Err(format!("line {line}: its id is empty: a row says which run it is of"));
        }
        let cells = names.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        let entry = |(name, cell): (&str, &str)| format!("{}:{}", json_text(name.trim()), cell_json(cell));
        let entries: Vec<String> = cells.map(entry).collect();
        rows.push((line, id.to_owned(), format!("{{{}}}", entries.join(","))));
    }
    Err("line 1: a quote in it is not closed".to_owned())
}

fn describe_error(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos: Some(pos), expected_len, len } => {
            let hint = "a cell with a comma stands in quotes, and a quote has to be closed";
            format!("line {}: {len} cells, and there are {expected_len} columns: {hint}", pos.line())
        }
        _ => error.to_string(),
    }
}

/// `1e5` may be an id and `TRUE` a word: only what cannot be meant otherwise is a number or a boolean, and a number keeps its digits.
fn cell_json(cell: &str) -> String {
    let value = cell.trim();
    let is_number = Number::from_spelling(value).is_some() && !value.contains(['e', 'E']);
    if is_number || matches!(value, "true" | "false") { value.to_owned() } else { json_text(cell) }
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_very_many_columns_is_read_at_once() {
        let names: Vec<String> = (0..100_000).map(|number| format!("c{number}")).collect();
        let names = names.join(",");
        let text = format!("id,{names}\nr1,{}\n", names.replace('c', ""));
        let start = std::time::Instant::now();
        assert!(ExpectedRows::of_text(&text).is_ok());
        let without = ExpectedRows::of_text(&format!("{names}\n")).unwrap_err();
        assert_eq!(without, "line 1: none of its columns is `id`, it has: c0, c1, c2, c3, c4, …");
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

//! Reads tests from CSV, and comma-separated texts.

use super::values::{split_values, text_node};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::source::{FileId, Span};

/// Returns the records of a CSV file, each field with its location. Records with only blank fields are skipped.
fn records(text: &str, file: FileId) -> Vec<Vec<(String, Span)>> {
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut records = reader.records().map_while(Result::ok).peekable();
    let start_of = |record: &::csv::StringRecord| {
        record.position().and_then(|place| usize::try_from(place.byte()).ok()).unwrap_or(text.len())
    };
    let mut rows = Vec::new();
    while let Some(record) = records.next() {
        let end = records.peek().map_or(text.len(), start_of);
        let mut from = start_of(&record).min(end);
        let row = record.iter().map(|field| {
            let place = field_place(text.get(from..end).unwrap_or(""), field);
            let (start, after) = (from.saturating_add(place.start), from.saturating_add(place.end));
            from = after;
            (field.to_owned(), Span::new(file, start, after))
        });
        rows.push(row.collect::<Vec<_>>());
    }
    rows.retain(|row| row.iter().any(|(field, _)| !field.trim().is_empty()));
    rows
}

/// Locates a field in the rest of its record, because the CSV reader locates only records.
fn field_place(rest: &str, field: &str) -> std::ops::Range<usize> {
    let escaped = field.replace('"', "\"\"");
    let written = [escaped.as_str(), field].into_iter().find_map(|written| Some((rest.find(written)?, written.len())));
    written.map_or(0..0, |(start, length)| start..start.saturating_add(length))
}

/// Returns the tests of a CSV file: for each row, a mapping with `vars`, `assert` and so on.
pub(super) fn read_tests(text: &str, file: FileId) -> Vec<YamlNode> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rows = records(text, file).into_iter();
    let Some(head) = rows.next() else { return Vec::new() };
    let names: Vec<String> = head.into_iter().map(|(name, _)| name.trim().to_owned()).collect();
    rows.map(|row| row_test(&names, row)).collect()
}

fn row_test(names: &[String], row: Vec<(String, Span)>) -> YamlNode {
    let span = row.first().zip(row.last()).map_or(Span::new(FileId(0), 0, 0), |((_, a), (_, b))| a.cover_with(*b));
    let map = |entries: Vec<(YamlNode, YamlNode)>| YamlNode { value: YamlValue::Map(entries), span };
    let key = |name: &str| text_node(name, span);
    let (mut vars, mut asserts, mut test, mut metric) = (Vec::new(), Vec::new(), Vec::new(), None);
    let mut configs = Vec::new();
    for (name, (value, place)) in names.iter().zip(row) {
        let node = text_node(value.clone(), place);
        let number =
            || Some(YamlNode { value: YamlValue::Number(value.trim().parse::<f64>().ok()?.to_string()), span: place });
        match name.as_str() {
            name if name.starts_with("__expected") => {
                let value = value.trim();
                asserts.extend((!value.is_empty()).then(|| assertion_entries(value, place)));
            }
            "__description" if !value.is_empty() => test.push((key("description"), node)),
            "__metric" if !value.is_empty() => metric = Some(node),
            "__threshold" => test.extend(number().map(|number| (key("threshold"), number))),
            "__prefix" | "__suffix" | "__providerOutput" => {}
            name if name.starts_with("__metadata") => {}
            name if name.starts_with("__config:") => configs.extend(config_threshold(name).zip(number())),
            name => vars.push((key(name), node)),
        }
    }
    for (at, threshold) in configs {
        if let Some(entries) = asserts.get_mut(at) {
            entries.retain(|(name, _): &(YamlNode, YamlNode)| name.as_text() != Some("threshold"));
            entries.push((key("threshold"), threshold));
        }
    }
    let asserts = asserts.into_iter().map(|mut entries| {
        entries.extend(metric.clone().map(|metric| (key("metric"), metric)));
        map(entries)
    });
    let asserts = YamlNode { value: YamlValue::List(asserts.collect()), span };
    test.extend([(key("vars"), map(vars)), (key("assert"), asserts)]);
    map(test)
}

/// Returns the number of the assertion in a name such as `__config:__expected2:threshold`.
fn config_threshold(name: &str) -> Option<usize> {
    let expected = name.strip_prefix("__config:__expected")?.strip_suffix(":threshold")?;
    if expected.is_empty() { Some(0) } else { expected.parse::<usize>().ok()?.checked_sub(1) }
}

const LISTED: [&str; 4] = ["contains-all", "contains-any", "icontains-all", "icontains-any"];
/// Types that can have a threshold in their name; the default is 0.75.
const WITH_THRESHOLD: [&str; 13] = [
    "answer-relevance",
    "classifier",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "cost",
    "latency",
    "levenshtein",
    "perplexity-score",
    "perplexity",
    "rouge-n",
    "similar",
    "starts-with",
];

/// Returns the entries of an assertion written as text: `not-contains: x`, `levenshtein(5): x`, `x`.
pub(super) fn assertion_entries(text: &str, span: Span) -> Vec<(YamlNode, YamlNode)> {
    let entry = |name: &str, value: YamlNode| (text_node(name, span), value);
    let typed =
        |kind: &str, value: &str| vec![entry("type", text_node(kind, span)), entry("value", text_node(value, span))];
    for (prefix, kind) in [
        ("javascript:", "javascript"),
        ("fn:", "javascript"),
        ("eval:", "javascript"),
        ("grade:", "llm-rubric"),
        ("python:", "python"),
    ] {
        if let Some(value) = text.strip_prefix(prefix) {
            let value = if kind == "llm-rubric" { value } else { value.trim() };
            return typed(kind, value);
        }
    }
    if text.starts_with("file://") {
        return typed(if text.contains(".py") { "python" } else { "javascript" }, text);
    }
    let (head, value) = text.split_once(':').map_or((text, None), |(head, value)| (head, Some(value.trim())));
    let (kind, threshold) = match head.strip_suffix(')').and_then(|head| head.split_once('(')) {
        Some((kind, number)) => (kind.trim(), number.trim().parse::<f64>().ok()),
        None => (head.trim(), None),
    };
    let base = kind.strip_prefix("not-").unwrap_or(kind);
    if !super::assertion::is_type(base) || value.is_none() && head.contains(' ') {
        return typed("equals", text);
    }
    let mut entries = vec![entry("type", text_node(kind, span))];
    if let Some(value) = value {
        let node = match LISTED.contains(&base).then(|| split_values(value)).flatten() {
            Some(items) => {
                YamlNode { value: YamlValue::List(items.into_iter().map(|item| text_node(item, span)).collect()), span }
            }
            None => text_node(value, span),
        };
        entries.push(entry("value", node));
    }
    if WITH_THRESHOLD.contains(&base) {
        let number = YamlValue::Number(threshold.unwrap_or(0.75).to_string());
        entries.push(entry("threshold", YamlNode { value: number, span }));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_at_commas_outside_of_quotes() {
        let split = |text| split_values(text).map(|values| values.join("|"));
        assert_eq!(split("a, b,,c").as_deref(), Some("a|b|c"));
        assert_eq!(split(r#" "a, b" , "c""d" "#).as_deref(), Some("a, b|c\"d"));
        assert_eq!(split(r#""a"#), None);
        assert_eq!(split(r#""a" b"#), None);
        assert_eq!(split(""), Some(String::new()));
    }

    #[test]
    fn rows_become_tests() {
        let text = "name,__expected,__expected2,__threshold\n\"Bob, A\",contains: x,,0.5\nAl,hello,\"not-contains-any: a,b\",\n";
        let tests = read_tests(text, FileId(0));
        let shown: Vec<String> = tests.iter().map(YamlNode::to_json).collect();
        assert_eq!(
            shown,
            [
                r#"{"threshold":0.5,"vars":{"name":"Bob, A"},"assert":[{"type":"contains","value":"x"}]}"#,
                r#"{"vars":{"name":"Al"},"assert":[{"type":"equals","value":"hello"},{"type":"not-contains-any","value":["a","b"]}]}"#,
            ]
        );
    }
}

//! The differences that docs/reference/runsight.md decides, each with what has to be true of a vector that shows it.
//!
//! A predicate never names a vector. Most do more than look: they take the cause away and demand that the rest agrees.

use crate::conformance_text::assertions::{agrees, judged};
use crate::conformance_text::paths::{Selected, select};
use crate::conformance_text::sentences::{Unsaid, path_of, plain};
use averment_base::limits::{Limits, Meter};
use averment_base::truth::Verdict;
use averment_base::value::json::parse;
use averment_builtins::json::{check_path, find_json};
use averment_builtins::schema::Schema;
use serde_json::{Value as Json, json};

/// Words of the real program about a vector.
fn said(vector: &Json) -> &str {
    vector["expected_reason"].as_str().or_else(|| vector["expected_failure"]["reason"].as_str()).unwrap_or_default()
}

fn kind(vector: &Json) -> &str {
    vector["type"].as_str().unwrap_or_default().trim_start_matches("not-")
}

/// What has no sentence or does not compile here, and means something there.
pub fn refused(vector: &Json, why: &Refusal) -> Option<&'static str> {
    let kind = kind(vector);
    let reason = match why {
        Refusal::Unsaid(Unsaid::Nonsense(reason) | Unsaid::Different(reason)) => *reason,
        Refusal::Error(_) => "",
    };
    let bad_schema = match why {
        Refusal::Error(error) => error.contains("[bad-schema]"),
        Refusal::Unsaid(_) => reason == "the value is no schema",
    };
    match () {
        () if vector["weight"].as_f64().is_some_and(|weight| weight < 0.0) => Some("a weight is never negative"),
        () if said(vector).starts_with("Unknown transform") => Some("an unknown transform"),
        () if said(vector).starts_with("Unsupported equals mode")
            || said(vector).starts_with("equals config must be") =>
        {
            Some("an unknown mode of comparison")
        }
        () if kind == "regex" && said(vector).starts_with("Invalid regex pattern") => {
            Some("a pattern that cannot be used")
        }
        () if reason == "look-around, back-references, possessive and conditional patterns" => Some(reason),
        () if reason == "operators of the older paths" => Some(reason),
        () if matches!(kind, "is-json" | "contains-json") && bad_schema => schema_not_reached(vector),
        // A transform that selects nothing hides there what is wrong with the rest.
        () if said(vector).starts_with("Transform json_path") => Some("what aborts there is judged here"),
        () => None,
    }
}

/// Why there is nothing to judge.
pub enum Refusal {
    Unsaid(Unsaid),
    /// What the compiler says.
    Error(String),
}

/// The schema is used there only when there is something to compare with it; a dialect that nobody knows counts as the newest.
fn schema_not_reached(vector: &Json) -> Option<&'static str> {
    let output = vector["output"].as_str()?;
    let compared = match kind(vector) {
        "is-json" => serde_json::from_str::<Json>(output).is_ok(),
        _ => first_json(output).is_some(),
    };
    let foreign = vector["value"]["$schema"].as_str().is_some_and(|dialect| !dialect.contains("json-schema.org/"));
    (!compared || foreign).then_some("a schema that cannot be used")
}

/// The first object of a text, else its first list, as text.
fn first_json(text: &str) -> Option<&str> {
    let limits = Limits::default();
    find_json(text, &limits, &mut Meter::new(&limits), |_, _| Ok(true)).unwrap().map(|range| &text[range])
}

/// Why a vector that was judged came out differently.
pub fn judged_otherwise(vector: &Json, verdict: Verdict) -> Option<&'static str> {
    if let Some(reason) = transformed(vector, verdict) {
        return Some(reason);
    }
    if vector.get("expected_error").is_some() {
        return aborts(vector, verdict);
    }
    let output = vector["output"].as_str()?;
    let json_mode = kind(vector) == "equals" && vector["config"]["mode"] == "json";
    match kind(vector) {
        "contains" if verdict == Verdict::Vacuous && !output.is_ascii() => {
            Some("a text that looks alike is no other one")
        }
        "equals" if verdict == Verdict::Vacuous && is_written_like(vector) => {
            Some("a text that differs by letter case or white space around it is no other one")
        }
        "contains-all" | "contains-any" if verdict == Verdict::Vacuous && is_nothing(&vector["value"]) => {
            Some("what holds only because something is missing is vacuous")
        }
        "equals" | "is-json" | "contains-json" if constants(vector) => Some("NaN and Infinity are no JSON"),
        "equals" if json_mode && verdict == Verdict::Vacuous && vector["expected_passed"] == true => {
            Some("what holds only because something is missing is vacuous")
        }
        "equals" if json_mode => equal_there(output, &plain(&vector["value"])),
        "is-json" | "contains-json" if without_dependencies(vector) => {
            Some("`dependencies` is understood in every dialect")
        }
        "contains-json" if another_fits(vector) => Some("any JSON of the text may fit the schema"),
        "regex" if folds_to_several(vector) => Some("case-insensitive patterns fold each character by itself"),
        _ => None,
    }
}

/// The list is aborted there; here it is judged, and nothing passes by it.
fn aborts(vector: &Json, verdict: Verdict) -> Option<&'static str> {
    let digits = vector["expected_error_message"].as_str().is_some_and(|text| text.contains("4300 digits"));
    let no_weight = vector.get("weight").is_some_and(Json::is_null);
    let deep = vector["expected_error"] == "RecursionError";
    (digits || no_weight || deep || verdict != Verdict::Pass).then_some("what aborts there is judged here")
}

/// NaN, Infinity and -Infinity are the only thing that is wrong with the JSON, or stand in the text that is searched.
fn constants(vector: &Json) -> bool {
    let replaced = |text: &str| text.replace("-Infinity", "0").replace("Infinity", "0").replace("NaN", "0");
    let only = |text: &str| {
        let first = first_json(&replaced(text)).map(str::to_owned);
        serde_json::from_str::<Json>(text).is_err() && serde_json::from_str::<Json>(&replaced(text)).is_ok()
            || kind(vector) == "contains-json" && replaced(text) != text && first != first_json(text).map(str::to_owned)
    };
    vector["output"].as_str().is_some_and(only) || vector["value"].as_str().is_some_and(only)
}

/// Two values that are equal there and not here: numbers with the same double, or booleans that are numbers.
fn equal_there(left: &str, right: &str) -> Option<&'static str> {
    let (left, right) = (serde_json::from_str::<Json>(left).ok()?, serde_json::from_str::<Json>(right).ok()?);
    match (numbers(&left) == numbers(&right), doubles(&left) == doubles(&right)) {
        (true, false) | (true, true) if doubles(&left) != doubles(&right) => Some("true is not 1"),
        (_, true) => Some("fractions are compared by their digits"),
        _ => None,
    }
}

/// The value with its numbers as doubles.
fn doubles(value: &Json) -> Json {
    changed(value, false)
}

/// The same, and with booleans as numbers.
fn numbers(value: &Json) -> Json {
    changed(value, true)
}

fn changed(value: &Json, booleans: bool) -> Json {
    match value {
        Json::Bool(value) if booleans => json!(f64::from(u8::from(*value))),
        Json::Number(number) => json!(number.as_f64()),
        Json::Array(items) => items.iter().map(|item| changed(item, booleans)).collect(),
        Json::Object(entries) => entries.iter().map(|(key, item)| (key.clone(), changed(item, booleans))).collect(),
        other => other.clone(),
    }
}

/// Without the keyword both agree.
fn without_dependencies(vector: &Json) -> bool {
    let mut plain = vector.clone();
    let schema = plain["value"].as_object_mut();
    schema.is_some_and(|schema| schema.remove("dependencies").is_some()) && agrees(&plain)
}

/// The first JSON does not fit the schema, and another in the text does: it holds here and not there, or the other way round when negated.
fn another_fits(vector: &Json) -> bool {
    let output = vector["output"].as_str().unwrap_or_default();
    let limits = Limits::default();
    let Ok(schema) = Schema::compile(&vector["value"].to_string(), &limits) else { return false };
    let arena = bumpalo::Bump::new();
    let first = first_json(output).map(|text| parse(arena.alloc_str(text), 0, &arena, &limits).unwrap().node);
    let found = find_json(output, &limits, &mut Meter::new(&limits), |value, _| Ok(schema.accepts(value))).unwrap();
    first.is_some_and(|first| !schema.accepts(&first.value)) && found.is_some()
}

/// The dotted capital I, whose small letter is two characters, and the dotless one.
fn folds_to_several(vector: &Json) -> bool {
    let text =
        format!("{}{}", vector["value"].as_str().unwrap_or_default(), vector["output"].as_str().unwrap_or_default());
    vector["value"].as_str().is_some_and(|pattern| pattern.contains("(?i") || pattern.contains("i)"))
        && text.contains(['\u{130}', '\u{131}'])
}

/// A transform that selects something else, or writes it otherwise. Judged on what it selects there, the assertion agrees.
fn transformed(vector: &Json, verdict: Verdict) -> Option<&'static str> {
    let (transform, output) = (vector.get("transform")?.as_str()?, vector["output"].as_str()?);
    let path = path_of(transform).ok()?;
    if vector.get("expected_error").is_some() {
        return unreadable_there(transform, verdict);
    }
    let selected = select(output, &path)?;
    let first = selected.first()?;
    let mut direct = vector.clone();
    direct["output"] = json!(first.python);
    direct.as_object_mut()?.remove("transform");
    let differs = first.python != first.text;
    (differs && judged(&direct).is_some_and(|_| agrees(&direct) || is_written_like(&direct)))
        .then_some("values that are no text are written as JSON")
}

/// Whether the output is compared with a text that differs by letter case or by white space around it alone.
fn is_written_like(vector: &Json) -> bool {
    let same = |a: &str, b: &str| a != b && a.trim().to_lowercase() == b.trim().to_lowercase();
    kind(vector) == "equals" && vector["output"].as_str().zip(vector["value"].as_str()).is_some_and(|(a, b)| same(a, b))
}

/// The list is aborted there: by a path that only RFC 9535 knows, or by one that leads nowhere.
fn unreadable_there(transform: &str, verdict: Verdict) -> Option<&'static str> {
    let raw = transform.strip_prefix("json_path:")?;
    let standard = check_path(raw).is_ok();
    (standard || verdict != Verdict::Pass).then_some("what aborts there is judged here")
}

/// Why a path selects something else here, or nothing. `wanted` is what it selects there, as text.
pub fn selected_otherwise(vector: &Json, path: &str, selected: &[Selected]) -> Option<&'static str> {
    let (raw, output) = (vector["transform"].as_str()?, vector["output"].as_str()?);
    let wanted = vector.get("expected_output").and_then(Json::as_str);
    if vector.get("expected_error").is_some() {
        let standard = raw.strip_prefix("json_path:").is_some_and(|path| check_path(path).is_ok());
        return (standard || selected.is_empty()).then_some("what aborts there is judged here");
    }
    let of_value = |path: &str, wanted: &str| {
        let found = select(output, path).unwrap_or_default();
        found.first().is_some_and(|first| first.python == wanted)
    };
    match wanted {
        Some(wanted) if of_value(path, wanted) => Some("values that are no text are written as JSON"),
        Some(wanted) if path.contains("[*]") && of_value(&path.replacen("[*]", "", 1), wanted) => {
            Some("`[*]` on what is no list selects nothing of it, or the values of an object")
        }
        Some(wanted) if character(output, path).as_deref() == Some(wanted) => Some("an index into text"),
        Some(wanted) if ["*", ".."].iter().any(|sign| path.contains(sign)) => {
            let any = selected.iter().any(|one| one.python == wanted);
            any.then_some("members of objects come in the order of their names")
        }
        None if path.contains("[*]") && !selected.is_empty() => Some("`.*` selects elements of lists, too"),
        _ => None,
    }
}

/// The character that an index behind a text is there.
fn character(output: &str, path: &str) -> Option<String> {
    let (head, index) = path.strip_suffix(']')?.rsplit_once('[')?;
    let text = &select(output, head)?.first()?.text.clone();
    let count = text.chars().count() as i64;
    let index: i64 = index.parse().ok()?;
    let place = if index < 0 { count + index } else { index };
    text.chars().nth(usize::try_from(place).ok()?).map(String::from)
}

/// A list of candidates without any.
fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

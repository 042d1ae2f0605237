//! Paths whose values no report shows: `calls[*].args.card`, `inputs.customer[**]`.

use averment_base::diagnostic::suggest::suggest_name;
use averment_base::limits::Limits;
use averment_base::value::Value;
use averment_base::value::json::{self, to_json};
use averment_runs::normal::of_run;
use averment_runs::run::{EVERYTHING, Run, StepKind};
use bumpalo::Bump;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Values of one run that are looked at.
const VALUES: usize = 100_000;

/// A path into the normal form of a run.
#[derive(Debug, Clone)]
pub struct RedactPath {
    written: String,
    root: String,
    steps: Vec<RedactStep>,
    /// True once a run had something there; clones share it.
    is_found: Arc<AtomicBool>,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RedactStep {
    /// `.key`, `["key"]`.
    Key(String),
    /// `[3]`.
    Index(usize),
    /// `[*]`: each element, or each value of an object.
    Each,
    /// `[**]`: everything below.
    All,
}

impl RedactPath {
    /// Reads a path.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (root, mut rest) = text.split_at_checked(end).unwrap_or((text, ""));
        if root.is_empty() || root.contains(char::is_whitespace) {
            return Err("a path begins with a name of a run, as in `calls[*].args.card`".to_owned());
        }
        if let Some(near) = suggest_name(root, known_names()).filter(|_| !known_names().any(|name| name == root)) {
            return Err(format!("no run has `{root}`: did you mean `{near}`?"));
        }
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, behind) = parse_step(rest)?;
            steps.push(step);
            rest = behind;
        }
        Ok(Self { written: text.to_owned(), root: root.to_owned(), steps, is_found: Arc::default() })
    }
}

/// A line for each path that led to nothing in every run that was read: a misspelt one would hide nothing.
#[must_use]
pub fn unmatched_warnings(paths: &[RedactPath]) -> String {
    let mut lines = String::new();
    for path in paths.iter().filter(|path| !path.is_found.load(Ordering::Relaxed)) {
        let written = path.written.escape_debug();
        let _ = writeln!(lines, "warning: no run has `{written}`, which `--redact` names: nothing is hidden for it");
    }
    lines
}

/// Every text and number of a run that paths lead to, and those inside of what they lead to.
#[must_use]
pub fn path_values(paths: &[RedactPath], run: &Run<'_>) -> Vec<String> {
    let (mut found, mut left) = (Vec::new(), VALUES);
    for path in paths {
        let before = left;
        let root = run.root_value(&path.root).value;
        walk_steps(&root, &path.steps, &mut left, &mut |text| found.push(text.trim().to_owned()));
        if left != before && !matches!(root, Value::Absent | Value::Missing) {
            path.is_found.store(true, Ordering::Relaxed);
        }
    }
    if left == 0 {
        found.push(EVERYTHING.to_owned());
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The names that runs have in the normal form; home-grown ones may have others.
fn known_names() -> impl Iterator<Item = &'static str> {
    of_run::ALL.into_iter().chain(StepKind::ALL.map(StepKind::list_key))
}

/// The first step of a text, and what stands behind it.
fn parse_step(text: &str) -> Result<(RedactStep, &str), String> {
    let wrong = || format!("`{text}` is no step of a path: write `.key`, `[\"key\"]`, `[0]`, `[*]` or `[**]`");
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, behind) = rest.split_at_checked(end).ok_or_else(wrong)?;
        return if key.is_empty() { Err(wrong()) } else { Ok((RedactStep::Key(key.to_owned()), behind)) };
    }
    let rest = text.strip_prefix('[').ok_or_else(wrong)?;
    if rest.starts_with('"') {
        let mut keys = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let key = keys.next().and_then(Result::ok).ok_or_else(wrong)?;
        let behind = rest.get(keys.byte_offset()..).and_then(|rest| rest.strip_prefix(']')).ok_or_else(wrong)?;
        return Ok((RedactStep::Key(key), behind));
    }
    let (inside, behind) = rest.split_once(']').ok_or_else(wrong)?;
    let step = match inside {
        "*" => RedactStep::Each,
        "**" => RedactStep::All,
        number => RedactStep::Index(number.parse().map_err(|_| wrong())?),
    };
    Ok((step, behind))
}

/// Follows the steps; the depth is that of the run, which its reader limits.
fn walk_steps(value: &Value<'_>, steps: &[RedactStep], left: &mut usize, to: &mut impl FnMut(&str)) {
    if *left == 0 {
        return;
    }
    let Some((step, rest)) = steps.split_first() else {
        *left -= 1;
        return walk_everything(value, left, to);
    };
    match (step, value) {
        (RedactStep::Key(key), Value::Object(object)) => {
            if let Some(node) = object.get(key) {
                walk_steps(&node.value, rest, left, to);
            }
        }
        // A list in between is meant with each of its elements.
        (RedactStep::Key(_), Value::List(list)) => {
            list.iter().for_each(|node| walk_steps(&node.value, steps, left, to))
        }
        (RedactStep::Index(index), Value::List(list)) => {
            if let Some(node) = list.get(*index) {
                walk_steps(&node.value, rest, left, to);
            }
        }
        (RedactStep::Each | RedactStep::All, Value::List(list)) => {
            list.iter().for_each(|node| walk_steps(&node.value, rest, left, to))
        }
        (RedactStep::Each | RedactStep::All, Value::Object(object)) => {
            object.entries().iter().for_each(|entry| walk_steps(&entry.node.value, rest, left, to));
        }
        // Paths of rules go into the value that a text holds, and so do these.
        (_, Value::Text(text)) if json::may_hold(text.raw_text().as_bytes()) => {
            let (arena, limits) = (Bump::new(), Limits::default());
            let read = json::parse(text.as_str(), 0, &arena, &limits);
            if let Ok(Value::Object(_) | Value::List(_)) = read.as_ref().map(|document| document.node.value) {
                read.iter().for_each(|document| walk_steps(&document.node.value, steps, left, to));
            }
            return;
        }
        _ => {}
    }
    if *step == RedactStep::All {
        match value {
            Value::List(list) => list.iter().for_each(|node| walk_steps(&node.value, steps, left, to)),
            Value::Object(object) => {
                object.entries().iter().for_each(|entry| walk_steps(&entry.node.value, steps, left, to));
            }
            _ => {}
        }
    }
}

/// Every text and number of a value.
fn walk_everything(value: &Value<'_>, left: &mut usize, to: &mut impl FnMut(&str)) {
    if *left == 0 {
        return;
    }
    match value {
        Value::Text(text) => to(text.as_str()),
        Value::Number(_) => to(&to_json(value)),
        Value::List(list) => list.iter().for_each(|node| walk_everything(&node.value, left, to)),
        Value::Object(object) => object.entries().iter().for_each(|entry| walk_everything(&entry.node.value, left, to)),
        _ => {}
    }
    *left -= 1;
}

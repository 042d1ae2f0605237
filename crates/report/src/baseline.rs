//! A baseline: a plain text file with one known failure per line. Known failures fail no run, so that only new ones do.
//!
//! ```text
//! refunds.assert | each refund: args.amount <= 100 | runs/a.jsonl:3 | fail 2 | refund(amount, id) | refund at call 3 does not meet …
//! ```
//!
//! A line has these parts: the rule file, and the assertion by its text (or a rule with a threshold); the run by its `id`, otherwise its name; the
//! verdict with the number of violations; the failing part without its values; and the reason, which is only for people. A line covers one result. An
//! assertion that occurs twice, or two runs with the same name, need two lines.

use super::failure_shape::BETWEEN_SHAPES;
use super::gate::{Gate, GatePolicy};
use super::model::{ResultReport, RunReport};
use super::table::{ReportItem, ReportTable, RuleItem};
use super::value;
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::Status;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const BETWEEN: &str = " | ";
/// Replaces the shape of a failure that has no step and no value.
const NOTHING: &str = "-";
const ALL_RUNS: &str = "all runs";
const BELOW: &str = "below";
/// The verdict word for a pass that `--deny unjudged` turns into a failure.
const UNJUDGED: &str = "unjudged";
/// Maximum length of a reason, in characters. Reasons are only for people.
const REASON: usize = 160;
/// The start of the first line in a written file.
pub const BEGINNING: &str = "# Failures that are known";
const HEAD: &str = "\
# Failures that are known and fail no run. `aver check … --update-baseline` writes this file.
# rule file | assertion | run | what came out, with the number of violations | what failed | why
";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct BaselineKey {
    file: String,
    /// The assertion on one line, or `rule` and the id of a threshold rule. Numbers would change when rules are added.
    what: String,
    /// The `id` of the run, or its name.
    run: String,
    word: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownFailure {
    violations: u64,
    /// The shapes of the failure: the failing parts, without their values.
    shapes: BTreeSet<String>,
    reason: String,
}

/// An invalid line in a baseline file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineError {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub message: String,
}

/// Known failures.
#[derive(Debug, Default)]
pub struct Baseline {
    known: BTreeMap<BaselineKey, Vec<KnownFailure>>,
    /// Failures found in this check; `Some` only if the file will be rewritten.
    found: Option<BTreeMap<BaselineKey, Vec<KnownFailure>>>,
    /// Number of lines of each key that were used.
    used: BTreeMap<BaselineKey, usize>,
    seen: BTreeSet<String>,
}

impl Baseline {
    /// Parses a baseline file.
    ///
    /// # Errors
    /// Returns an error for the first invalid line.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let mut baseline = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, known) = parse_line(line).map_err(|message| BaselineError { line: number, message })?;
            baseline.known.entry(key).or_default().push(known);
        }
        Ok(baseline)
    }

    /// Makes the baseline collect failures for a new file.
    #[must_use]
    pub fn for_update(self) -> Self {
        Self { found: Some(BTreeMap::new()), ..self }
    }

    /// Marks the known failures of a run, and opens its gate if nothing else fails it. Call it once for each run.
    pub fn mark_known(&mut self, table: &ReportTable, run: &mut RunReport, policy: GatePolicy) {
        let name = run_name(run);
        self.seen.insert(name.clone());
        for number in 0..run.results.len() {
            let Some(result) = run.results.get(number) else { continue };
            let Some((file, what)) = table.items.get(result.item).map(assertion_name) else { continue };
            if table.result_gate(result, policy) != Gate::Failed {
                continue;
            }
            let key = BaselineKey { file, what, run: name.clone(), word: outcome_word(result).to_owned() };
            let reason = result.unjudged.as_ref().filter(|_| key.word == UNJUDGED);
            let reason = reason.map_or_else(|| result.reason.clone(), |one| one.in_words());
            let (violations, shapes) = (result.violation_count(), result.shapes.iter().cloned().collect());
            let known = self.knows_failure(key, KnownFailure { violations, shapes, reason });
            if let Some(result) = run.results.get_mut(number) {
                result.known = known;
            }
        }
        for number in 0..run.rules.len() {
            let Some(rule) = run.rules.get(number) else { continue };
            let Some((file, what)) = table.rules.get(rule.rule).map(named_rule) else { continue };
            if table.rule_gate(rule, policy) != Gate::Failed {
                continue;
            }
            let key = BaselineKey { file, what, run: name.clone(), word: BELOW.to_owned() };
            let (shapes, reason) = (BTreeSet::new(), rule.verdict.as_str().to_owned());
            let known = self.knows_failure(key, KnownFailure { violations: 0, shapes, reason });
            if let Some(rule) = run.rules.get_mut(number) {
                rule.known = known;
            }
        }
        run.gate = table.run_gate(&run.results, &run.rules, policy);
    }

    /// True if a failure is known. If the file will be rewritten, records the failure and returns true.
    fn knows_failure(&mut self, key: BaselineKey, failure: KnownFailure) -> bool {
        if let Some(found) = &mut self.found {
            found.entry(key).or_default().push(failure);
            return true;
        }
        let used = self.used.entry(key.clone()).or_default();
        let line = self.known.get(&key).and_then(|lines| lines.get(*used));
        *used += 1;
        line.is_some_and(|line| failure.violations <= line.violations && failure.shapes.is_subset(&line.shapes))
    }

    /// Returns the number of lines about checked runs and assertions that no longer fail.
    #[must_use]
    pub fn unused_lines(&self, table: &ReportTable) -> usize {
        let checked = checked_assertions(table);
        let seen = self
            .known
            .iter()
            .filter(|(key, _)| self.seen.contains(&key.run) && checked.contains(&(key.file.clone(), key.what.clone())));
        seen.map(|(key, lines)| lines.len().saturating_sub(self.used.get(key).copied().unwrap_or(0))).sum()
    }

    /// Returns the number of failures recorded for a new file.
    #[must_use]
    pub fn learned_count(&self) -> usize {
        self.found.iter().flat_map(BTreeMap::values).map(Vec::len).sum()
    }

    /// Returns the new file: the found failures, and the old lines of runs and assertions that were not checked.
    #[must_use]
    pub fn file_text(&self, table: &ReportTable) -> String {
        let checked = checked_assertions(table);
        let kept = self.known.iter().filter(|(key, _)| {
            let known = checked.contains(&(key.file.clone(), key.what.clone()));
            !known || !self.seen.contains(&key.run)
        });
        let lines = kept.chain(self.found.iter().flatten()).collect::<BTreeMap<_, _>>();
        let mut text = HEAD.to_owned();
        for (key, known) in lines {
            known.iter().for_each(|known| text.push_str(&line_text(key, known)));
        }
        text
    }
}

/// Returns the `id` of a run, so that inserting a run before it changes nothing. The report over all runs has a fixed name.
fn run_name(run: &RunReport) -> String {
    match &run.id {
        Some(id) => id.clone(),
        None if run.over_runs => ALL_RUNS.to_owned(),
        None => plain_path(&run.run),
    }
}

fn checked_assertions(table: &ReportTable) -> BTreeSet<(String, String)> {
    table.items.iter().map(assertion_name).chain(table.rules.iter().map(named_rule)).collect()
}

fn assertion_name(item: &ReportItem) -> (String, String) {
    (plain_path(&item.location.file), one_line(&item.text).split_whitespace().collect::<Vec<_>>().join(" "))
}

fn named_rule(rule: &RuleItem) -> (String, String) {
    (plain_path(&rule.location.file), format!("rule {}", rule.id))
}

/// Normalizes the spelling of a path.
fn plain_path(file: &str) -> String {
    file.strip_prefix("./").unwrap_or(file).to_owned()
}

fn outcome_word(result: &ResultReport) -> &'static str {
    match result.status {
        Status::Passed => UNJUDGED,
        Status::UnexpectedPassed => Status::UnexpectedPassed.as_str(),
        _ => result.verdict.as_str(),
    }
}

fn line_text(key: &BaselineKey, known: &KnownFailure) -> String {
    let mut line = [&key.file, &key.what, &key.run].map(|part| quote_name(part)).join(BETWEEN);
    let _ = write!(line, "{BETWEEN}{}", key.word);
    if known.violations > 1 {
        let _ = write!(line, " {}", known.violations);
    }
    let shapes = known.shapes.iter().map(String::as_str).collect::<Vec<_>>().join(BETWEEN_SHAPES);
    let _ = write!(line, "{BETWEEN}{}", if shapes.is_empty() { NOTHING.to_owned() } else { quote_name(&shapes) });
    let reason = value::shorten_text(&one_line(&known.reason), REASON);
    let _ = writeln!(line, "{BETWEEN}{reason}");
    line
}

/// Returns a name unchanged, or as a JSON string if it could be misread.
fn quote_name(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.contains(BETWEEN.trim())
        && !name.starts_with(['"', '#', ' '])
        && !name.ends_with(' ')
        && one_line(name) == name;
    if plain { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}

fn parse_line(line: &str) -> Result<(BaselineKey, KnownFailure), String> {
    let (file, rest) = take_name(line)?;
    let (text, rest) = take_name(rest)?;
    let (run, rest) = take_name(rest)?;
    let (what, rest) = rest.split_once(BETWEEN.trim()).unwrap_or((rest, NOTHING));
    let rest = if rest.contains(BETWEEN.trim()) { rest.to_owned() } else { format!("{rest}{BETWEEN}") };
    let (shapes, reason) = take_name(&rest)?;
    let shapes =
        if shapes == NOTHING { BTreeSet::new() } else { shapes.split(BETWEEN_SHAPES).map(str::to_owned).collect() };
    let mut words = what.split_whitespace();
    let known = ["fail", "vacuous", "undecided", BELOW, UNJUDGED, Status::UnexpectedPassed.as_str()];
    let word = words.next().filter(|word| known.contains(word));
    let word = word.ok_or_else(|| format!("`{}` is none of {}", one_line(what.trim()), known.join(", ")))?;
    let violations = match words.next() {
        None => u64::from(word == "fail"),
        Some(count) => count.parse().map_err(|_| format!("`{}` is no number of violations", one_line(count)))?,
    };
    let key = BaselineKey { file, what: text, run, word: word.to_owned() };
    Ok((key, KnownFailure { violations, shapes, reason: reason.trim().to_owned() }))
}

fn take_name(text: &str) -> Result<(String, &str), String> {
    let text = text.trim_start();
    let missing = || "a line is `rule file | assertion | run | fail | what failed | why`".to_owned();
    if !text.starts_with('"') {
        let (name, rest) = text.split_once(BETWEEN.trim()).ok_or_else(missing)?;
        return Ok((name.trim().to_owned(), rest));
    }
    let mut texts = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let name = texts.next().and_then(Result::ok).ok_or("the name in quotes is no JSON text")?;
    let rest = text.get(texts.byte_offset()..).unwrap_or("").trim_start();
    Ok((name, rest.strip_prefix(BETWEEN.trim()).ok_or_else(missing)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_kind_are_read_back() {
        for name_of in ["a.1", "a b", "a|b", " a", "\"q\"", "#1", "", "a\nb", "a\u{202e}b", "x \"y\" | z"] {
            let [file, what, run] = [name_of; 3].map(str::to_owned);
            let key = BaselineKey { file, what, run, word: "fail".to_owned() };
            let shapes = BTreeSet::from(["a(b)".to_owned(), format!("write {name_of}")]);
            let failure = KnownFailure { violations: 3, shapes, reason: "why | not".to_owned() };
            let written = line_text(&key, &failure);
            assert_eq!(written.lines().count(), 1, "{written:?}");
            let (read, known) = parse_line(written.trim_end()).unwrap();
            assert_eq!((read, known), (key, failure));
        }
    }

    #[test]
    fn a_line_that_is_none_is_an_error() {
        let said = |text: &str| Baseline::parse(text).map(|_| ()).unwrap_err();
        assert_eq!(said("# x\n\nnothing\n").line, 3);
        assert!(
            said("r | a | b | faild | c").message.contains("`faild` is none of fail, vacuous"),
            "{:?}",
            said("r | a | b | faild")
        );
        assert!(said("r | a | b | fail many | c").message.contains("`many`"));
        assert!(said("\"r | a | b | fail").message.contains("JSON text"));
    }
}

//! A baseline: failures that are known, each a line of a plain file. They fail no run, so that only what is new does.
//!
//! ```text
//! refunds.assert | each refund: args.amount <= 100 | runs/a.jsonl:3 | fail 2 | refund at call 3 does not meet …
//! ```
//!
//! A line names the rule file and the assertion by its text (or a rule with a threshold), the run, what came out with the number of violations,
//! and the reason, which is for people alone. It covers one result: what stands twice in the rules, or two runs of one name, need two lines.

use super::gate::{Gate, Policy};
use super::model::{ResultReport, RunReport};
use super::table::{Item, RuleItem, Table};
use super::value;
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::Status;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What stands between the parts of a line.
const BETWEEN: &str = " | ";
/// The word for a rule below its threshold.
const BELOW: &str = "below";
/// The word for a pass that `--deny unjudged` makes a failure.
const UNJUDGED: &str = "unjudged";
/// Reasons are cut to this many characters: they are for people.
const REASON: usize = 160;
/// How the first line of a written file begins.
pub const BEGINNING: &str = "# Failures that are known";
/// What a written file begins with.
const HEAD: &str = "\
# Failures that are known and fail no run. `aver check … --update-baseline` writes this file.
# rule file | assertion | run | what came out, with the number of violations | why
";

/// What a line covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The file of the rules.
    file: String,
    /// The text of the assertion on one line, or `rule` and the id of a rule with a threshold: places among others change.
    what: String,
    /// The name of the run.
    run: String,
    /// A word for what came out.
    word: String,
}

/// How much of it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    violations: u64,
    reason: String,
}

/// What a line of the file is wrong with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Failures that are known.
#[derive(Debug, Default)]
pub struct Baseline {
    known: BTreeMap<Key, Vec<Known>>,
    /// What is found instead, where the file is to be written anew.
    found: Option<BTreeMap<Key, Vec<Known>>>,
    /// How many lines of each key were used.
    used: BTreeMap<Key, usize>,
    /// Runs of lines that were checked.
    seen: BTreeSet<String>,
}

impl Baseline {
    /// Reads a file.
    ///
    /// # Errors
    /// The first line that is none.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let mut baseline = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, known) = parsed(line).map_err(|message| BaselineError { line: number, message })?;
            baseline.known.entry(key).or_default().push(known);
        }
        Ok(baseline)
    }

    /// Learns what fails instead of only knowing it.
    #[must_use]
    pub fn updated(self) -> Self {
        Self { found: Some(BTreeMap::new()), ..self }
    }

    /// Marks what is known of a run, and opens its gate where nothing else fails it. Each run has to be given once.
    pub fn apply(&mut self, table: &Table, run: &mut RunReport, policy: Policy) {
        self.seen.insert(plain(&run.run));
        for number in 0..run.results.len() {
            let Some(result) = run.results.get(number) else { continue };
            let Some((file, what)) = table.items.get(result.item).map(named) else { continue };
            if table.result_gate(result, policy) != Gate::Failed {
                continue;
            }
            let key = Key { file, what, run: plain(&run.run), word: word(result).to_owned() };
            let reason = result.unjudged.as_ref().filter(|_| key.word == UNJUDGED);
            let reason = reason.map_or_else(|| result.reason.clone(), |one| one.in_words());
            let known = self.knows(key, Known { violations: result.violation_count(), reason });
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
            let key = Key { file, what, run: plain(&run.run), word: BELOW.to_owned() };
            let known = self.knows(key, Known { violations: 0, reason: rule.verdict.as_str().to_owned() });
            if let Some(rule) = run.rules.get_mut(number) {
                rule.known = known;
            }
        }
        run.gate = table.run_gate(&run.results, &run.rules, policy);
    }

    /// Whether a failure is known; where the file is written anew, it is from now on.
    fn knows(&mut self, key: Key, failure: Known) -> bool {
        if let Some(found) = &mut self.found {
            found.entry(key).or_default().push(failure);
            return true;
        }
        let used = self.used.entry(key.clone()).or_default();
        let line = self.known.get(&key).and_then(|lines| lines.get(*used));
        *used += 1;
        line.is_some_and(|line| failure.violations <= line.violations)
    }

    /// Lines of runs and assertions that were checked and do not fail any more.
    #[must_use]
    pub fn unused(&self, table: &Table) -> usize {
        let checked = checked(table);
        let seen = self
            .known
            .iter()
            .filter(|(key, _)| self.seen.contains(&key.run) && checked.contains(&(key.file.clone(), key.what.clone())));
        seen.map(|(key, lines)| lines.len().saturating_sub(self.used.get(key).copied().unwrap_or(0))).sum()
    }

    /// How many failures are learnt.
    #[must_use]
    pub fn count(&self) -> usize {
        self.found.iter().flat_map(BTreeMap::values).map(Vec::len).sum()
    }

    /// The file with what was found, and with the lines of runs and assertions that were not checked.
    #[must_use]
    pub fn written(&self, table: &Table) -> String {
        let checked = checked(table);
        let kept = self.known.iter().filter(|(key, _)| {
            let known = checked.contains(&(key.file.clone(), key.what.clone()));
            !known || !self.seen.contains(&key.run)
        });
        let lines = kept.chain(self.found.iter().flatten()).collect::<BTreeMap<_, _>>();
        let mut text = HEAD.to_owned();
        for (key, known) in lines {
            known.iter().for_each(|known| text.push_str(&line(key, known)));
        }
        text
    }
}

/// What is checked, as lines name it.
fn checked(table: &Table) -> BTreeSet<(String, String)> {
    table.items.iter().map(named).chain(table.rules.iter().map(named_rule)).collect()
}

/// How an assertion is named: by its file and its text.
fn named(item: &Item) -> (String, String) {
    (plain(&item.location.file), one_line(&item.text).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// How a rule with a threshold is named.
fn named_rule(rule: &RuleItem) -> (String, String) {
    (plain(&rule.location.file), format!("rule {}", rule.id))
}

/// The path of a file in one spelling.
fn plain(file: &str) -> String {
    file.strip_prefix("./").unwrap_or(file).to_owned()
}

/// The word for what came out.
fn word(result: &ResultReport) -> &'static str {
    match result.status {
        Status::Passed => UNJUDGED,
        Status::UnexpectedPassed => Status::UnexpectedPassed.as_str(),
        _ => result.verdict.as_str(),
    }
}

fn line(key: &Key, known: &Known) -> String {
    let mut line = [&key.file, &key.what, &key.run].map(|part| quoted(part)).join(BETWEEN);
    let _ = write!(line, "{BETWEEN}{}", key.word);
    if known.violations > 1 {
        let _ = write!(line, " {}", known.violations);
    }
    let reason = value::shortened(&one_line(&known.reason), REASON);
    let _ = writeln!(line, "{BETWEEN}{reason}");
    line
}

/// A name as it is, or as a JSON text where it could be taken for something else.
fn quoted(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.contains(BETWEEN.trim())
        && !name.starts_with(['"', '#', ' '])
        && !name.ends_with(' ')
        && one_line(name) == name;
    if plain { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}

fn parsed(line: &str) -> Result<(Key, Known), String> {
    let (file, rest) = name(line)?;
    let (text, rest) = name(rest)?;
    let (run, rest) = name(rest)?;
    let (what, reason) = rest.split_once(BETWEEN.trim()).unwrap_or((rest, ""));
    let mut words = what.split_whitespace();
    let known = ["fail", "vacuous", "undecided", BELOW, UNJUDGED, Status::UnexpectedPassed.as_str()];
    let word = words.next().filter(|word| known.contains(word));
    let word = word.ok_or_else(|| format!("`{}` is none of {}", one_line(what.trim()), known.join(", ")))?;
    let violations = match words.next() {
        None => u64::from(word == "fail"),
        Some(count) => count.parse().map_err(|_| format!("`{}` is no number of violations", one_line(count)))?,
    };
    let key = Key { file, what: text, run, word: word.to_owned() };
    Ok((key, Known { violations, reason: reason.trim().to_owned() }))
}

/// A name at the start of a line, and what stands behind it.
fn name(text: &str) -> Result<(String, &str), String> {
    let text = text.trim_start();
    let missing = || "a line is `rule file | assertion | run | fail | why`".to_owned();
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
            let key = Key { file, what, run, word: "fail".to_owned() };
            let written = line(&key, &Known { violations: 3, reason: "why | not".to_owned() });
            assert_eq!(written.lines().count(), 1, "{written:?}");
            let (read, known) = parsed(written.trim_end()).unwrap();
            assert_eq!((read, known.violations, known.reason.as_str()), (key, 3, "why | not"));
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

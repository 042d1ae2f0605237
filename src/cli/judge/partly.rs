//! Reasons that are of entries of the run alone: these entries are read, and nothing else of the line.
//!
//! An expression over entries looks at no step, so that it says the same of a run that has none. What reports hide wherever a run repeats
//! it has to be known, though: where a key of the line may name a credential, the line is read in full.

use super::Judge;
use crate::builtins::detect;
use crate::trace::facts::{Facts, Held, Stretch};
use crate::trace::read::RawRun;
use crate::trace::run::{KindOrder, Run, RunSource};
use crate::value::{Entry, Object, Value, json};
use crate::vm::screen::Answer;
use bumpalo::Bump;

impl<'p> Judge<'p> {
    /// Settles a run by entries of its line alone; false where that is not enough.
    pub(super) fn by_entries(
        &mut self,
        facts: &Facts<'_>,
        stretch: Stretch<'_>,
        line: (usize, &str),
        source: &dyn Fn() -> RunSource,
    ) -> bool {
        let mut settled = false;
        if self.asks_entries_only() {
            let raw = RawRun::new(String::new(), source());
            self.guarded(&raw, |this, full| {
                if let Some(run) = this.entries_only(facts, stretch, line, raw.source.clone(), full) {
                    settled = true;
                    this.settle(&run, full);
                }
                Ok(())
            });
        }
        settled
    }

    /// Whether all that has to be evaluated of a run looks at its entries alone.
    fn asks_entries_only(&self) -> bool {
        let findings = self.pipeline.detail.findings;
        let mut answers = self.answers.iter();
        self.programs.iter().all(|one| {
            let numbers = one.screen.assertions().zip(answers.by_ref());
            // All are looked at: the answers of the next program stand behind them.
            let not = numbers.filter(|(number, answer)| {
                one.asks(*number, **answer, findings)
                    && (**answer == Answer::Open || !one.screen.is_of_entries(one.program, *number))
            });
            not.count() == 0
        })
    }

    /// The run of a line with those of its entries that are asked for, where that is enough.
    fn entries_only<'a>(
        &self,
        facts: &Facts<'_>,
        stretch: Stretch<'_>,
        (start, line): (usize, &'a str),
        source: RunSource,
        full: &'a Bump,
    ) -> Option<Run<'a>> {
        if facts.conversation || may_withhold(stretch, start, start.checked_add(line.len())?) {
            return None;
        }
        let mut entries = bumpalo::collections::Vec::with_capacity_in(facts.roots.len(), full);
        for (name, held) in self.demand.roots.iter().zip(&facts.roots) {
            let (from, to) = match held {
                Held::Bytes(from, to) => (from.checked_sub(start)?, to.checked_sub(start)?),
                Held::Value(Value::Absent | Value::Missing) => continue,
                Held::Value(_) | Held::Written(..) => return None,
            };
            let document = json::parse(line.get(from..to)?, from, full, stretch.limits).ok()?;
            if !document.duplicates.is_empty() {
                return None;
            }
            entries.push(Entry { key: full.alloc_str(name), node: document.node });
        }
        Some(Run {
            text: line,
            source,
            format: "",
            id: None,
            object: Object::new(full, entries.into_bump_slice()),
            steps: &[],
            order: KindOrder::ALL,
            recorded: [false; 8],
            complete: true,
            warnings: Vec::new(),
        })
    }
}

/// Whether a line may hold something that no report shows, whatever it is about: below a name of a credential, in the recorded environment,
/// in JSON that is written into a text.
fn may_withhold(stretch: Stretch<'_>, start: usize, end: usize) -> bool {
    let cursor = stretch.cursor;
    let mut at = start;
    while let Some(open) = cursor.quote(at).filter(|open| *open < end) {
        let Some(close) = cursor.quote(open.wrapping_add(1)).filter(|close| *close < end) else { return true };
        let first = open.wrapping_add(1);
        at = close.wrapping_add(1);
        if cursor.byte(cursor.blank(at)) == b':' {
            let Ok(key) = std::str::from_utf8(cursor.slice(first, close)) else { return true };
            if cursor.has_escape(open, close)
                || matches!(key, "env" | "command" | "commands")
                || detect::names_credential(key)
            {
                return true;
            }
        } else if matches!(cursor.byte(first), b'{' | b'[' | b' ' | b'\\') {
            return true;
        }
    }
    false
}

//! Grounding: every number, URL and id of an answer must occur in a source.
//!
//! **Claims.** In prose: URLs; numbers in any common spelling (`1,234.50`, `$12`, `12%`, `2.5k`, `3rd`); and ids, which are words that mix digits
//! with letters or signs (`ord_8f3a`, `INV-2024-001`, `2025-03-01`). Numbering at the start of a line is no claim. A list element without white space
//! is one claim as a whole: `grounded(output.ids, …)`.
//!
//! **Sources.** A number occurs if some number in the sources has the same value in any spelling: `1234.5` and `1,234.50`, `12%` and `0.12`. Signs
//! are ignored. A URL or id must occur literally and as a whole: `o-1` is not in `o-12`.

mod number;
mod words;

use aho_corasick::AhoCorasick;
use averment_base::limits::{FuelMeter, LimitError};
use averment_base::value::Value;
use averment_base::value::compare::with_deep_stack;
use number::UnsignedDecimal;
use rustc_hash::FxHashMap;
use words::{ClaimWord, each_word};

/// A claim of an answer, which a source must contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) text: String,
    kind: ClaimKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ClaimKind {
    /// A number with all its possible values.
    Number(Vec<UnsignedDecimal>),
    Id,
    /// A URL, which must not continue in the source.
    Url,
}

/// Returns the claims of a value in order, without duplicates.
pub(super) fn collect_claims(value: &Value<'_>, meter: &mut FuelMeter) -> Result<Vec<Claim>, LimitError> {
    let mut claims = ClaimCollector::default();
    claims.collect_value(value, false, meter)?;
    Ok(claims.list)
}

/// Returns the numbers of a text in JSON notation, in order and with signs. Numbering of lines is left out.
pub(super) fn spelled_numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, &mut |word| {
        if let ClaimWord::Number { text, values, numbering: false } = word
            && let Some(value) = values.first()
        {
            let is_negative = text.trim_start_matches(number::is_currency).starts_with(['-', '\u{2212}', '\u{ff0d}']);
            found.push(value.spell_number(is_negative));
        }
    });
    found
}

#[derive(Default)]
struct ClaimCollector {
    list: Vec<Claim>,
    known: FxHashMap<String, ()>,
}

impl ClaimCollector {
    fn collect_value(&mut self, value: &Value<'_>, whole: bool, meter: &mut FuelMeter) -> Result<(), LimitError> {
        match value {
            Value::Number(number) => self.add_claim(
                &number.to_string(),
                ClaimKind::Number(vec![UnsignedDecimal::from_number(*number)]),
                meter,
            ),
            Value::Text(text) => self.collect_text(text.as_str(), whole, meter),
            Value::List(items) => {
                meter.charge_fuel(1)?;
                with_deep_stack(|| items.iter().try_for_each(|item| self.collect_value(&item.value, true, meter)))
            }
            Value::Object(object) => with_deep_stack(|| {
                object.entries().iter().try_for_each(|entry| self.collect_value(&entry.node.value, false, meter))
            }),
            _ => Ok(()),
        }
    }

    fn collect_text(&mut self, text: &str, whole: bool, meter: &mut FuelMeter) -> Result<(), LimitError> {
        meter.charge_scan(text.len().saturating_mul(8))?;
        let before = self.list.len();
        let mut result = Ok(());
        each_word(text, &mut |word| {
            let (text, kind) = match word {
                ClaimWord::Url(text) => (text, ClaimKind::Url),
                ClaimWord::Number { text, values, numbering: false } => (text, ClaimKind::Number(values)),
                ClaimWord::Id(text) => (text, ClaimKind::Id),
                ClaimWord::Number { numbering: true, .. } | ClaimWord::Part(_) => return,
            };
            if result.is_ok() {
                result = self.add_claim(text, kind, meter);
            }
        });
        result?;
        // A name without digits is a claim only if it is a whole list element.
        let single = !text.is_empty() && !text.contains(char::is_whitespace) && !text.ends_with(['.', '!', '?']);
        if whole && single && self.list.len() == before && !self.known.contains_key(text) {
            self.add_claim(text, ClaimKind::Id, meter)?;
        }
        Ok(())
    }

    fn add_claim(&mut self, text: &str, kind: ClaimKind, meter: &mut FuelMeter) -> Result<(), LimitError> {
        meter.charge_fuel(8)?;
        if !self.known.contains_key(text) {
            meter.check_memory(self.list.len().saturating_mul(128))?;
            self.known.insert(text.to_owned(), ());
            self.list.push(Claim { text: text.to_owned(), kind });
        }
        Ok(())
    }
}

pub(super) fn find_ungrounded(
    claims: Vec<Claim>,
    sources: &Value<'_>,
    meter: &mut FuelMeter,
) -> Result<Vec<Claim>, LimitError> {
    let mut search = SourceSearch::new(&claims);
    search.look_value(sources, meter)?;
    let found = search.found;
    Ok(claims.into_iter().zip(found).filter(|(_, found)| !found).map(|(claim, _)| claim).collect())
}

/// Finds all claims in one pass over the sources.
struct SourceSearch<'a> {
    claims: &'a [Claim],
    numbers: FxHashMap<&'a UnsignedDecimal, Vec<usize>>,
    /// Searches the texts of claims; its pattern numbers map to claims.
    texts: Option<AhoCorasick>,
    owners: Vec<usize>,
    found: Vec<bool>,
    open: usize,
}

impl<'a> SourceSearch<'a> {
    fn new(claims: &'a [Claim]) -> Self {
        let mut numbers: FxHashMap<&UnsignedDecimal, Vec<usize>> = FxHashMap::default();
        let mut owners = Vec::new();
        for (index, claim) in claims.iter().enumerate() {
            match &claim.kind {
                ClaimKind::Number(values) => {
                    values.iter().for_each(|value| numbers.entry(value).or_default().push(index))
                }
                ClaimKind::Id | ClaimKind::Url => owners.push(index),
            }
        }
        let texts =
            AhoCorasick::new(owners.iter().filter_map(|owner| claims.get(*owner)).map(|claim| &claim.text)).ok();
        Self { claims, numbers, texts, owners, found: vec![false; claims.len()], open: claims.len() }
    }

    fn look_value(&mut self, value: &Value<'_>, meter: &mut FuelMeter) -> Result<(), LimitError> {
        if self.open == 0 {
            return Ok(());
        }
        match value {
            Value::Number(number) => {
                meter.charge_fuel(4)?;
                self.mark_number(&UnsignedDecimal::from_number(*number));
                Ok(())
            }
            Value::Text(text) => self.look_text(text.as_str(), meter),
            Value::List(items) => {
                meter.charge_fuel(1)?;
                with_deep_stack(|| items.iter().try_for_each(|item| self.look_value(&item.value, meter)))
            }
            Value::Object(object) => with_deep_stack(|| {
                object.entries().iter().try_for_each(|entry| {
                    self.look_text(entry.key, meter)?;
                    self.look_value(&entry.node.value, meter)
                })
            }),
            _ => Ok(()),
        }
    }

    fn mark_number(&mut self, value: &UnsignedDecimal) {
        for index in self.numbers.get(value).into_iter().flatten() {
            mark_found(&mut self.found, &mut self.open, *index);
        }
    }

    fn look_text(&mut self, text: &str, meter: &mut FuelMeter) -> Result<(), LimitError> {
        if !self.numbers.is_empty() {
            meter.charge_scan(text.len().saturating_mul(8))?;
            each_word(text, &mut |word| match word {
                ClaimWord::Number { values, .. } => values.iter().for_each(|value| self.mark_number(value)),
                ClaimWord::Part(value) => self.mark_number(&value),
                ClaimWord::Url(_) | ClaimWord::Id(_) => {}
            });
        }
        self.look_for_texts(text, meter)
    }

    fn look_for_texts(&mut self, text: &str, meter: &mut FuelMeter) -> Result<(), LimitError> {
        let Some(texts) = self.texts.as_ref().filter(|_| !self.owners.is_empty()) else { return Ok(()) };
        meter.charge_scan(text.len())?;
        for hit in texts.find_overlapping_iter(text) {
            meter.charge_fuel(1)?;
            let Some(owner) = self.owners.get(hit.pattern().as_usize()).copied() else { continue };
            let is_url = self.claims.get(owner).is_some_and(|claim| claim.kind == ClaimKind::Url);
            if stands_alone(text, hit.start(), hit.end(), is_url) {
                mark_found(&mut self.found, &mut self.open, owner);
            }
        }
        Ok(())
    }
}

fn mark_found(found: &mut [bool], open: &mut usize, claim: usize) {
    if let Some(found) = found.get_mut(claim).filter(|found| !**found) {
        *found = true;
        *open = open.saturating_sub(1);
    }
}

/// True if no letter, digit or dash-joined letter touches either end.
fn stands_alone(text: &str, start: usize, end: usize, is_url: bool) -> bool {
    let mut before = text.get(..start).unwrap_or_default().chars().rev();
    let mut behind = text.get(end..).unwrap_or_default().chars();
    let free_before = match (before.next(), before.next()) {
        (Some('-' | '_'), Some(other)) => !other.is_alphanumeric(),
        (Some(other), _) => !other.is_alphanumeric(),
        (None, _) => true,
    };
    let free_behind = match (behind.next(), behind.next()) {
        (Some('/'), next) if is_url => !next.is_some_and(char::is_alphanumeric),
        (Some('?' | '#' | '&' | '=' | '%' | '~'), _) if is_url => false,
        (Some('.'), Some(next)) if is_url => !next.is_alphanumeric(),
        (Some('-' | '_'), Some(next)) => !next.is_alphanumeric(),
        (Some(other), _) => !other.is_alphanumeric(),
        (None, _) => true,
    };
    free_before && free_behind
}

#[cfg(test)]
mod tests;

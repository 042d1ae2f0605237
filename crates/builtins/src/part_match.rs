//! Whether a value is like an expected one: equal, or with more keys than those that are named, with keys left aside, lists in any order,
//! texts compared by what they look like.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::assignment::FittingPairs;
use averment_base::near::text_appearance;
use averment_base::value::compare::{values_equal, with_deep_stack};
use averment_base::value::{Object, ObjectEntry, Value};
use std::cell::Cell;

/// Whether a value is the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartFit {
    /// It is.
    Yes,
    /// The run does not record what would say it.
    Unknown,
    /// It is not.
    No,
}

impl PartFit {
    /// Both fit.
    #[must_use]
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No => Self::No,
            Self::Yes => other(),
            Self::Unknown if other() == Self::No => Self::No,
            Self::Unknown => Self::Unknown,
        }
    }

    /// The answer where everything is known.
    #[must_use]
    pub fn of_equality(equal: bool) -> Self {
        if equal { Self::Yes } else { Self::No }
    }
}

/// Keys that are not compared: names at any depth, and paths with dots from the top.
#[derive(Debug, Clone, Default)]
pub struct IgnoredKeys<'m> {
    names: Vec<&'m str>,
    paths: Vec<&'m str>,
}

impl<'m> IgnoredKeys<'m> {
    /// The keys as they are written.
    pub fn new(keys: impl IntoIterator<Item = &'m str>) -> Self {
        let (paths, names) = keys.into_iter().partition(|key: &&str| key.contains('.'));
        Self { names, paths }
    }

    /// Whether a key is left aside.
    #[must_use]
    pub fn has_key(&self, key: &str, outer: Option<&KeyPath<'_>>) -> bool {
        self.names.contains(&key) || self.paths.iter().any(|path| *path == key || ends_at(path, key, outer))
    }
}

/// A key with those around it.
#[derive(Debug, Clone, Copy)]
pub struct KeyPath<'p> {
    /// The key.
    pub key: &'p str,
    /// The keys around it, the nearest first.
    pub outer: Option<&'p KeyPath<'p>>,
}

/// Whether a path of keys leads to this one.
fn ends_at(path: &str, key: &str, outer: Option<&KeyPath<'_>>) -> bool {
    match (path.rsplit_once('.'), outer) {
        (Some((rest, last)), Some(outer)) => last == key && ends_at(rest, outer.key, outer.outer),
        (None, None) => path == key,
        _ => false,
    }
}

/// How a value is compared with an expected one.
#[derive(Debug, Default)]
pub struct PartRules<'m> {
    /// Whether objects may have more keys than the expected ones.
    pub open: bool,
    /// Whether the order of lists does not matter.
    pub any_order: bool,
    /// Whether texts are equal that differ in letter case, white space or look-alike characters.
    pub folded: bool,
    /// What is left aside.
    pub ignored: IgnoredKeys<'m>,
    /// The most values that are looked at; no limit without it.
    pub budget: Option<usize>,
    /// Values that were looked at since the last question.
    pub looked: Cell<usize>,
    /// A second look: a key that is missing, and values for which this is true although they differ, leave the answer open.
    pub evidence_of_nothing: Option<ValueDoubt>,
}

/// Whether two different values say nothing: the expected one and the given one.
pub type ValueDoubt = fn(&Value<'_>, &Value<'_>) -> bool;

impl PartRules<'_> {
    /// How many values were looked at since the last question.
    pub fn take_looked(&self) -> usize {
        self.looked.replace(0)
    }

    /// True if the budget did not suffice; what was answered then says nothing.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.budget.is_some_and(|budget| self.looked.get() > budget)
    }

    /// Counts a value that is looked at.
    pub fn note_look(&self) {
        self.looked.set(self.looked.get().saturating_add(1));
    }

    /// Whether a value is the expected one; `path` is where both stand.
    #[must_use]
    pub fn value_fit(&self, wanted: &Value<'_>, given: &Value<'_>, path: Option<&KeyPath<'_>>) -> PartFit {
        self.note_look();
        if self.is_exhausted() {
            return PartFit::Unknown;
        }
        match (wanted, given) {
            (Value::Absent | Value::Missing, _) | (_, Value::Absent | Value::Missing) => PartFit::Unknown,
            (Value::Object(wanted), Value::Object(given)) => self.object_fit(wanted, given, path),
            (Value::List(list), Value::List(other)) if list.len() != other.len() => self.misfit(wanted, given),
            (Value::List(wanted), Value::List(given)) if self.any_order => {
                let mut pairs = FittingPairs::new(wanted.len(), given.len());
                for (row, one) in wanted.iter().enumerate() {
                    for (column, other) in given.iter().enumerate() {
                        let fit = with_deep_stack(|| self.value_fit(&one.value, &other.value, path));
                        pairs.note_fit(row, column, fit);
                    }
                }
                match pairs.match_in_any_order(true).count() == wanted.len() {
                    true => PartFit::Yes,
                    false if pairs.match_in_any_order(false).count() == wanted.len() => PartFit::Unknown,
                    false => PartFit::No,
                }
            }
            (Value::List(wanted), Value::List(given)) => {
                let mut fit = PartFit::Yes;
                for (wanted, given) in wanted.iter().zip(*given) {
                    fit = fit.and(|| with_deep_stack(|| self.value_fit(&wanted.value, &given.value, path)));
                    if fit == PartFit::No {
                        break;
                    }
                }
                fit
            }
            (Value::Text(wanted), Value::Text(given)) if self.folded => {
                PartFit::of_equality(folded_text(wanted.as_str()) == folded_text(given.as_str()))
            }
            (wanted, given) if values_equal(wanted, given) => PartFit::Yes,
            (wanted, given) => self.misfit(wanted, given),
        }
    }

    /// The answer for values that differ.
    fn misfit(&self, wanted: &Value<'_>, given: &Value<'_>) -> PartFit {
        match self.evidence_of_nothing {
            Some(says_nothing) if says_nothing(wanted, given) => PartFit::Unknown,
            _ => PartFit::No,
        }
    }

    fn object_fit(&self, wanted: &Object<'_>, given: &Object<'_>, path: Option<&KeyPath<'_>>) -> PartFit {
        let is_extra =
            |entry: &ObjectEntry<'_>| wanted.get(entry.key).is_none() && !self.ignored.has_key(entry.key, path);
        if !self.open && given.entries().iter().any(is_extra) {
            return PartFit::No;
        }
        let mut fit = PartFit::Yes;
        for entry in wanted.entries().iter().filter(|entry| !self.ignored.has_key(entry.key, path)) {
            let part = KeyPath { key: entry.key, outer: path };
            fit = fit.and(|| match given.get(entry.key) {
                Some(own) => with_deep_stack(|| self.value_fit(&entry.node.value, &own.value, Some(&part))),
                None if self.evidence_of_nothing.is_some() => PartFit::Unknown,
                None => PartFit::No,
            });
            if fit == PartFit::No {
                break;
            }
        }
        fit
    }
}

/// A text in lower case as it looks, with single spaces.
fn folded_text(text: &str) -> String {
    let lower = text_appearance(&text.to_lowercase()).to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

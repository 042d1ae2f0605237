//! Compares a value with an expected one: exactly, or with options for additional keys, ignored keys, unordered lists, and texts that look alike.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::assignment::FittingPairs;
use averment_base::near::text_appearance;
use averment_base::truth::Truth;
use averment_base::value::compare::{values_equal, with_deep_stack};
use averment_base::value::likeness::whole_equality;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use std::cell::Cell;

/// Keys that are not compared: names at any depth, and dotted paths from the top.
#[derive(Debug, Clone, Default)]
pub struct IgnoredKeys<'m> {
    names: Vec<&'m str>,
    paths: Vec<&'m str>,
}

impl<'m> IgnoredKeys<'m> {
    /// Creates the set from the keys as written in the rule.
    pub fn new(keys: impl IntoIterator<Item = &'m str>) -> Self {
        let (paths, names) = keys.into_iter().partition(|key: &&str| key.contains('.'));
        Self { names, paths }
    }

    /// True if a key is ignored.
    #[must_use]
    pub fn has_key(&self, key: &str, outer: Option<&KeyPath<'_>>) -> bool {
        self.names.contains(&key) || self.paths.iter().any(|path| *path == key || ends_at(path, key, outer))
    }
}

/// A key with its enclosing keys.
#[derive(Debug, Clone, Copy)]
pub struct KeyPath<'p> {
    /// The key.
    pub key: &'p str,
    /// The enclosing keys, innermost first.
    pub outer: Option<&'p KeyPath<'p>>,
}

/// True if the path of keys ends at this key.
fn ends_at(path: &str, key: &str, outer: Option<&KeyPath<'_>>) -> bool {
    match (path.rsplit_once('.'), outer) {
        (Some((rest, last)), Some(outer)) => last == key && ends_at(rest, outer.key, outer.outer),
        (None, None) => path == key,
        _ => false,
    }
}

/// The rules for comparing a value with an expected one.
#[derive(Debug, Default)]
pub struct PartRules<'m> {
    /// True if objects may have additional keys.
    pub open: bool,
    /// True if expected keys may be absent.
    pub optional: bool,
    /// True if the order of lists does not matter.
    pub any_order: bool,
    /// True if case, white space and look-alike characters are ignored in texts.
    pub folded: bool,
    /// The ignored keys.
    pub ignored: IgnoredKeys<'m>,
    /// Maximum number of visited values; `None` for no limit.
    pub budget: Option<usize>,
    /// Number of values visited since the last reset.
    pub looked: Cell<usize>,
}

impl PartRules<'_> {
    /// Returns the number of visited values, and resets it.
    pub fn take_looked(&self) -> usize {
        self.looked.replace(0)
    }

    /// True if the budget was exceeded, so that the answers are not valid.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.budget.is_some_and(|budget| self.looked.get() > budget)
    }

    /// Counts a visited value.
    pub fn note_look(&self) {
        self.looked.set(self.looked.get().saturating_add(1));
    }

    /// Compares a value with the expected one. `path` is the location of both. A missing value, or a difference only in notation, is undecided.
    #[must_use]
    pub fn value_fit(&self, wanted: &Value<'_>, given: &Value<'_>, path: Option<&KeyPath<'_>>) -> Truth {
        self.note_look();
        if self.is_exhausted() {
            return Truth::Undecided;
        }
        match (wanted, given) {
            (Value::Absent | Value::Missing, _) | (_, Value::Absent | Value::Missing) => Truth::Undecided,
            (Value::Object(wanted), Value::Object(given)) => self.object_fit(wanted, given, path),
            (Value::List(list), Value::List(other)) if list.len() != other.len() => {
                whole_equality(wanted, given, values_equal)
            }
            (Value::List(wanted), Value::List(given)) if self.any_order => self.list_fit(wanted, given, path),
            (Value::List(wanted), Value::List(given)) => {
                all_fit(wanted.iter().zip(*given), |(wanted, given)| self.value_fit(&wanted.value, &given.value, path))
            }
            (Value::Text(wanted), Value::Text(given))
                if self.folded && folded_text(wanted.as_str()) == folded_text(given.as_str()) =>
            {
                Truth::True
            }
            (wanted, given) => whole_equality(wanted, given, values_equal),
        }
    }

    /// Compares lists in any order; each element needs its own partner.
    fn list_fit(&self, wanted: &[Node<'_>], given: &[Node<'_>], path: Option<&KeyPath<'_>>) -> Truth {
        let row = |one: &Node<'_>| -> Vec<Truth> {
            let fits = given.iter().map(|other| with_deep_stack(|| self.value_fit(&one.value, &other.value, path)));
            fits.collect()
        };
        let fits: Vec<Vec<Truth>> = wanted.iter().map(row).collect();
        let all_pair = |enough: fn(Truth) -> bool| {
            let mut pairs = FittingPairs::new(wanted.len(), given.len());
            for (row, fits) in fits.iter().enumerate() {
                let fitting = fits.iter().enumerate().filter(|(_, fit)| enough(**fit));
                fitting.for_each(|(column, _)| pairs.note_fit(row, column, Truth::True));
            }
            pairs.match_in_any_order(true).count() == wanted.len()
        };
        if all_pair(|fit| fit == Truth::True) {
            Truth::True
        } else if all_pair(|fit| fit.plain_answer() != Some(false)) {
            Truth::Undecided
        } else if all_pair(|fit| fit != Truth::False) {
            Truth::FalseByMissing
        } else {
            Truth::False
        }
    }

    fn object_fit(&self, wanted: &Object<'_>, given: &Object<'_>, path: Option<&KeyPath<'_>>) -> Truth {
        let is_extra =
            |entry: &ObjectEntry<'_>| wanted.get(entry.key).is_none() && !self.ignored.has_key(entry.key, path);
        if !self.open && given.entries().iter().any(is_extra) {
            return Truth::False;
        }
        let compared = wanted.entries().iter().filter(|entry| !self.ignored.has_key(entry.key, path));
        all_fit(compared, |entry| {
            let part = KeyPath { key: entry.key, outer: path };
            match given.get(entry.key) {
                Some(own) => self.value_fit(&entry.node.value, &own.value, Some(&part)),
                None if self.optional => Truth::True,
                None => Truth::FalseByMissing,
            }
        })
    }
}

/// Returns the conjunction of all fits. Stops at the first part that certainly does not fit.
fn all_fit<T>(parts: impl Iterator<Item = T>, fit_of: impl Fn(T) -> Truth) -> Truth {
    let mut fit = Truth::True;
    for part in parts {
        fit = fit.and(with_deep_stack(|| fit_of(part)));
        if fit == Truth::False {
            break;
        }
    }
    fit
}

/// Normalizes a text: lower case, look-alike characters, single spaces.
fn folded_text(text: &str) -> String {
    let lower = text_appearance(&text.to_lowercase()).to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

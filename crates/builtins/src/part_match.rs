//! Whether a value is like an expected one: equal, or with more keys than those that are named, with keys left aside, lists in any order,
//! texts compared by what they look like.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::assignment::FittingPairs;
use averment_base::near::text_appearance;
use averment_base::truth::Truth;
use averment_base::value::compare::{values_equal, with_deep_stack};
use averment_base::value::likeness::whole_equality;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use std::cell::Cell;

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
    /// Whether keys of the expected ones may be absent.
    pub optional: bool,
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
}

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

    /// Whether a value is the expected one; `path` is where both stand. What is missing, or differs by its writing alone, is no evidence that
    /// it is another one.
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

    /// Lists in any order: each element with one of its own.
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

/// Whether all parts fit; the first that surely does not decides.
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

/// A text in lower case as it looks, with single spaces.
fn folded_text(text: &str) -> String {
    let lower = text_appearance(&text.to_lowercase()).to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

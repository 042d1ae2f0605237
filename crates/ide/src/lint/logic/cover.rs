//! Finds alternatives that may match every step of another one, by a hash index over the literal start or end of names. Comparing all pairs would
//! take hours if a statement lists thousands of alternatives.

use super::key::expr_key;
use super::patterns::split_conjuncts;
use averment_checker::ir::{NameTest, PatternAlternative, TypedExpr};
use std::collections::HashMap;

/// Maximum number of alternatives that one is compared with. More of them share both a start and an end only in contrived rules.
const CANDIDATES: usize = 256;

type Alternative = PatternAlternative<TypedExpr>;

/// An index of alternatives with the number of their owner, searched by an alternative that they may cover.
#[derive(Default)]
pub struct CoverIndex(HashMap<String, Vec<usize>>);

impl CoverIndex {
    /// Adds an alternative; `owner` is its number or that of its pattern.
    pub fn add_alternative(&mut self, large: &Alternative, owner: usize) {
        let needed = large.condition.iter().flat_map(split_conjuncts).map(expr_key).next().unwrap_or_default();
        let end = match &large.name {
            NameTest::Any => CoveredEnd::Every.key("", &needed),
            NameTest::Glob(glob) => match literal_ends(glob) {
                ("", "") => CoveredEnd::Every.key("", &needed),
                ("", behind) => CoveredEnd::Behind.key(behind, &needed),
                (front, _) => CoveredEnd::Front.key(front, &needed),
            },
            name => CoveredEnd::Same.key(&format!("{name:?}"), &needed),
        };
        self.0.entry(end).or_default().push(owner);
    }

    /// Returns the owners, in order, of alternatives that may cover this one.
    #[must_use]
    pub fn find_candidates(&self, small: &Alternative) -> Vec<usize> {
        let known = small.condition.iter().flat_map(split_conjuncts).map(expr_key);
        let mut found = Vec::new();
        for needed in std::iter::once(String::new()).chain(known) {
            let mut add = |end: CoveredEnd, text: &str| {
                found.extend(self.0.get(&end.key(text, &needed)).into_iter().flatten().take(CANDIDATES));
            };
            add(CoveredEnd::Every, "");
            add(CoveredEnd::Same, &format!("{:?}", small.name));
            let (front, behind) = match &small.name {
                NameTest::Exactly(name) => (name.as_str(), name.as_str()),
                NameTest::Glob(glob) => literal_ends(glob),
                _ => continue,
            };
            front
                .char_indices()
                .for_each(|(at, sign)| add(CoveredEnd::Front, front.get(..at + sign.len_utf8()).unwrap_or("")));
            behind.char_indices().for_each(|(at, _)| add(CoveredEnd::Behind, behind.get(at..).unwrap_or("")));
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(CANDIDATES);
        found
    }
}

/// The part of a name that has to equal a text.
#[derive(Clone, Copy)]
enum CoveredEnd {
    Every,
    Same,
    Front,
    Behind,
}

impl CoveredEnd {
    /// Returns the index key; `needed` is a condition that the covered alternative must have as well.
    fn key(self, text: &str, needed: &str) -> String {
        format!("{}{text}\0{needed}", self as u8)
    }
}

/// Returns the literal start and end of a glob.
fn literal_ends(glob: &str) -> (&str, &str) {
    let wild = |sign: char| matches!(sign, '*' | '?');
    let front = glob.split(wild).next().unwrap_or("");
    let behind = glob.rsplit(wild).next().unwrap_or("");
    (front, behind)
}

//! Comments by the word or sign that they stand before or behind.

use crate::syntax::Trivia;
use crate::syntax::concrete::Leaf;
use std::ops::Range;

/// A comment of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark<'t> {
    /// With its `#`.
    pub text: &'t str,
    /// Where it stands.
    pub range: Range<usize>,
    /// It did not stand on a line of its own and is given one.
    pub is_moved: bool,
}

/// What stands around one leaf.
#[derive(Debug, Default)]
struct Gap<'t> {
    /// On lines of their own before it.
    before: Vec<Remark<'t>>,
    /// Behind it on its line.
    behind: Option<Remark<'t>>,
    /// The comments before it are printed by what it stands in.
    before_is_told: bool,
    /// The comment behind it is printed by what it stands in.
    behind_is_told: bool,
}

/// The comments of a file by leaf. One more gap than leaves: the last is the end of the file.
#[derive(Debug, Default)]
pub(super) struct Gaps<'t> {
    gaps: Vec<Gap<'t>>,
}

impl<'t> Gaps<'t> {
    /// Comments inside a leaf, in the interpolations of a string, belong to its text.
    pub fn new(text: &'t str, trivia: &Trivia, leaves: &[Leaf]) -> Self {
        let mut gaps: Vec<Gap<'t>> = (0..=leaves.len()).map(|_| Gap::default()).collect();
        let mut next = 0;
        for comment in &trivia.comments {
            let range = comment.span.range();
            while leaves.get(next).is_some_and(|leaf| leaf.range.end <= range.start) {
                next += 1;
            }
            if leaves.get(next).is_some_and(|leaf| leaf.range.start <= range.start) {
                continue;
            }
            let remark = Remark { text: text.get(range.clone()).unwrap_or(""), range, is_moved: !comment.own_line };
            // Behind a lone `;` there may be a second one.
            let first = gaps.get(next).is_some_and(|gap| gap.before.is_empty());
            let last = next.checked_sub(1).and_then(|last| gaps.get_mut(last));
            match last.filter(|gap| first && !comment.own_line && gap.behind.is_none()) {
                Some(gap) => gap.behind = Some(remark),
                None => {
                    if let Some(gap) = gaps.get_mut(next) {
                        gap.before.push(remark);
                    }
                }
            }
        }
        Self { gaps }
    }

    /// The comments on lines of their own before a leaf.
    pub fn before(&self, leaf: usize) -> &[Remark<'t>] {
        self.gaps.get(leaf).map_or(&[], |gap| gap.before.as_slice())
    }

    /// The comment behind a leaf on its line.
    pub fn behind(&self, leaf: usize) -> Option<&Remark<'t>> {
        self.gaps.get(leaf)?.behind.as_ref()
    }

    /// The comments that the leaf itself has to print before it.
    pub fn own_before(&self, leaf: usize) -> &[Remark<'t>] {
        self.gaps.get(leaf).filter(|gap| !gap.before_is_told).map_or(&[], |gap| gap.before.as_slice())
    }

    /// The comment that the leaf itself has to print behind it.
    pub fn own_behind(&self, leaf: usize) -> Option<&Remark<'t>> {
        self.gaps.get(leaf).filter(|gap| !gap.behind_is_told)?.behind.as_ref()
    }

    /// What the leaf stands in prints the comments before it.
    pub fn tell_before(&mut self, leaf: usize) {
        if let Some(gap) = self.gaps.get_mut(leaf) {
            gap.before_is_told = true;
        }
    }

    /// What the leaf stands in prints the comment behind it.
    pub fn tell_behind(&mut self, leaf: usize) {
        if let Some(gap) = self.gaps.get_mut(leaf) {
            gap.behind_is_told = true;
        }
    }

    /// True when a comment stands anywhere between these leaves, before the first and behind the last left out.
    pub fn any_inside(&self, leaves: &Range<usize>) -> bool {
        let mut inside = leaves.clone();
        inside.any(|leaf| {
            (leaf > leaves.start && !self.before(leaf).is_empty())
                || (leaf + 1 < leaves.end && self.behind(leaf).is_some())
        })
    }
}

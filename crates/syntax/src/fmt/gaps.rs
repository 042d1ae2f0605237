//! Assigns comments to the leaves that they precede or follow.

use crate::concrete::ConcreteLeaf;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GapComment<'t> {
    /// The text, including its `#`.
    pub text: &'t str,
    /// Its byte range.
    pub range: Range<usize>,
    /// True if it was not on a line of its own and is moved to one.
    pub is_moved: bool,
}

#[derive(Debug, Default)]
struct LeafGap<'t> {
    before: Vec<GapComment<'t>>,
    behind: Option<GapComment<'t>>,
    before_is_claimed: bool,
    behind_is_claimed: bool,
}

/// The comments by leaf, with one more gap for the end of the file.
#[derive(Debug, Default)]
pub(super) struct CommentGaps<'t> {
    gaps: Vec<LeafGap<'t>>,
}

impl<'t> CommentGaps<'t> {
    /// Collects the comments. Only white space, `;` and comments occur between leaves; comments in interpolations belong to their leaf.
    pub fn new(text: &'t str, leaves: &[ConcreteLeaf]) -> Self {
        let mut gaps: Vec<LeafGap<'t>> = Vec::with_capacity(leaves.len() + 1);
        let mut end = 0;
        let ends = leaves.iter().map(|leaf| (leaf.range.start, leaf.range.end)).chain([(text.len(), text.len())]);
        for (start, next_end) in ends {
            let mut before = Vec::new();
            for remark in gap_comments(text, end, start) {
                // A second `;` may follow a lone one.
                let free = gaps.last_mut().filter(|last| remark.is_moved && before.is_empty() && last.behind.is_none());
                match free {
                    Some(last) => last.behind = Some(remark),
                    None => before.push(remark),
                }
            }
            gaps.push(LeafGap { before, ..LeafGap::default() });
            end = next_end;
        }
        Self { gaps }
    }

    /// Returns the comments on their own lines before a leaf.
    pub fn comments_before(&self, leaf: usize) -> &[GapComment<'t>] {
        self.gaps.get(leaf).map_or(&[], |gap| gap.before.as_slice())
    }

    /// Returns the comment after a leaf on its line.
    pub fn comment_behind(&self, leaf: usize) -> Option<&GapComment<'t>> {
        self.gaps.get(leaf)?.behind.as_ref()
    }

    /// Returns the comments before a leaf that the leaf itself has to print.
    pub fn own_before(&self, leaf: usize) -> &[GapComment<'t>] {
        self.gaps.get(leaf).filter(|gap| !gap.before_is_claimed).map_or(&[], |gap| gap.before.as_slice())
    }

    /// Returns the comment after a leaf that the leaf itself has to print.
    pub fn own_behind(&self, leaf: usize) -> Option<&GapComment<'t>> {
        self.gaps.get(leaf).filter(|gap| !gap.behind_is_claimed)?.behind.as_ref()
    }

    /// Marks the comments before a leaf as printed by its enclosing node.
    pub fn claim_before(&mut self, leaf: usize) {
        if let Some(gap) = self.gaps.get_mut(leaf) {
            gap.before_is_claimed = true;
        }
    }

    /// Marks the comment after a leaf as printed by its enclosing node.
    pub fn claim_behind(&mut self, leaf: usize) {
        if let Some(gap) = self.gaps.get_mut(leaf) {
            gap.behind_is_claimed = true;
        }
    }

    /// Returns true if there is a comment between these leaves, not counting comments before the first and after the last.
    pub fn any_inside(&self, leaves: &Range<usize>) -> bool {
        let mut inside = leaves.clone();
        inside.any(|leaf| {
            (leaf > leaves.start && !self.comments_before(leaf).is_empty())
                || (leaf + 1 < leaves.end && self.comment_behind(leaf).is_some())
        })
    }
}

fn gap_comments(text: &str, from: usize, to: usize) -> Vec<GapComment<'_>> {
    let mut remarks = Vec::new();
    let mut at = from;
    let mut own_line = from == 0;
    for line in text.get(from..to).unwrap_or("").split_inclusive('\n') {
        if let Some(sign) = line.find('#') {
            let comment = line.get(sign..).unwrap_or("").trim_end();
            let start = at + sign;
            let blank = line.get(..sign).is_some_and(|before| before.trim().is_empty());
            remarks.push(GapComment {
                text: comment,
                range: start..start + comment.len(),
                is_moved: !(own_line && blank),
            });
        }
        at += line.len();
        own_line = true;
    }
    remarks
}

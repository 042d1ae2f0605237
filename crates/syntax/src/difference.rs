//! Compares two texts line by line: as operations for editors, as hunks, and as a unified diff.
//!
//! Each use of the generic algorithms in `similar` compiles all of them again. So all crates use this one algorithm over one type.

use similar::algorithms::{Capture, Compact, Replace, myers};
pub(crate) use similar::{DiffOp, DiffTag};
use std::fmt::Write as _;
use std::ops::Range;

const CONTEXT: usize = 3;

/// The change of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineChange {
    /// The line is in both texts.
    Equal,
    /// The line is only in the old text.
    Deleted,
    /// The line is only in the new text.
    Inserted,
}

impl LineChange {
    /// Returns the prefix of such a line: a space, `-` or `+`.
    #[must_use]
    pub fn diff_sign(self) -> char {
        match self {
            Self::Equal => ' ',
            Self::Deleted => '-',
            Self::Inserted => '+',
        }
    }
}

/// Changes that are close together, with the lines around them.
#[derive(Debug, Clone)]
pub struct DiffHunk<'a> {
    /// The range of lines in the old text, counted from 0.
    pub old: Range<usize>,
    /// The range of lines in the new text, counted from 0.
    pub new: Range<usize>,
    /// Its lines in order, with their line ends.
    pub lines: Vec<(LineChange, &'a str)>,
}

pub(crate) fn diff_operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut hook, old, 0..old.len(), new, 0..new.len());
    hook.into_inner().into_inner().into_ops()
}

/// Returns the differing hunks of two texts, with `around` context lines.
#[must_use]
pub fn diff_hunks<'a>(old: &'a str, new: &'a str, around: usize) -> Vec<DiffHunk<'a>> {
    let (old, new) = (split_lines(old), split_lines(new));
    let groups = similar::group_diff_ops(diff_operations(&old, &new), around);
    groups.iter().filter_map(|group| build_hunk(group, &old, &new)).collect()
}

fn build_hunk<'a>(group: &[DiffOp], old: &[&'a str], new: &[&'a str]) -> Option<DiffHunk<'a>> {
    let (first, last) = (group.first()?, group.last()?);
    let mut lines = Vec::new();
    for operation in group {
        let (before, after) =
            (old.get(operation.old_range()).unwrap_or_default(), new.get(operation.new_range()).unwrap_or_default());
        if operation.tag() == DiffTag::Equal {
            lines.extend(before.iter().map(|line| (LineChange::Equal, *line)));
        } else {
            lines.extend(before.iter().map(|line| (LineChange::Deleted, *line)));
            lines.extend(after.iter().map(|line| (LineChange::Inserted, *line)));
        }
    }
    let old = first.old_range().start..last.old_range().end;
    let new = first.new_range().start..last.new_range().end;
    Some(DiffHunk { old, new, lines })
}

/// Returns a unified diff for `patch`, of two texts with one name; empty if they are equal.
#[must_use]
pub fn unified_diff(name: &str, old: &str, new: &str) -> String {
    let mut text = String::new();
    for hunk in diff_hunks(old, new, CONTEXT) {
        if text.is_empty() {
            let _ = writeln!(text, "--- {name}\n+++ {name}");
        }
        let _ = writeln!(text, "@@ -{} +{} @@", hunk_extent(&hunk.old), hunk_extent(&hunk.new));
        for (change, line) in hunk.lines {
            text.push(change.diff_sign());
            text.push_str(line);
            if !line.ends_with(['\r', '\n']) {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// Returns the first line of a hunk, and its line count unless that is 1; for an empty hunk, the line before it.
fn hunk_extent(range: &Range<usize>) -> String {
    match range.len() {
        1 => format!("{}", range.start + 1),
        0 => format!("{},0", range.start),
        count => format!("{},{count}", range.start + 1),
    }
}

/// Splits a text into lines, each with its line end: `\n`, `\r\n` or `\r`.
fn split_lines(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_end = |at: usize| match bytes.get(at) {
        Some(b'\n') => true,
        Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    let mut start = 0;
    let mut found = Vec::new();
    for end in (0..bytes.len()).filter(|&at| is_end(at) || at + 1 == bytes.len()).map(|at| at + 1) {
        found.extend(text.get(start..end));
        start = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use similar::{ChangeTag, TextDiff};

    /// Compares with the complete algorithm of `similar`, which numbers equal lines and strips the common start and end before it compares.
    fn compare(old: &str, new: &str) {
        let expected = TextDiff::from_lines(old, new);
        assert_eq!(
            unified_diff("n", old, new),
            expected.unified_diff().header("n", "n").to_string(),
            "{old:?} {new:?}"
        );
        let said = |change: similar::Change<&str>| match change.tag() {
            ChangeTag::Equal => format!(" {}", change.value()),
            ChangeTag::Delete => format!("-{}", change.value()),
            ChangeTag::Insert => format!("+{}", change.value()),
        };
        let groups = expected.grouped_ops(1);
        let expected =
            groups.iter().map(|group| group.iter().flat_map(|op| expected.iter_changes(op)).map(said).collect());
        let found = diff_hunks(old, new, 1).into_iter();
        let found =
            found.map(|hunk| hunk.lines.iter().map(|(change, line)| format!("{}{line}", change.diff_sign())).collect());
        assert_eq!(found.collect::<Vec<Vec<String>>>(), expected.collect::<Vec<Vec<String>>>());
    }

    #[test]
    fn ends_of_lines_and_of_texts_are_what_they_were() {
        for old in ["", "a", "a\n", "\n", "a\r\nb", "a\rb\r", "ä\n\rb\r\n\r\n", "a\nb\nc\nd\ne\nf\ng\nh\n"] {
            for new in ["", "a", "a\n", "\n\n", "a\nb", "a\rb\r\r", "ä\n\rc\r\n\n", "a\nb\nc\nd\ne\nf\ng\nx\n"] {
                compare(old, new);
            }
        }
    }

    /// Generates texts. The longest ones have enough lines for every shortcut of the algorithm.
    fn texts() -> impl Strategy<Value = (String, String)> {
        let kinds = prop_oneof![Just(2_u32), Just(8), Just(60), Just(5_000)];
        let length = prop_oneof![0_usize..12, 0_usize..140, 500_usize..900];
        let side =
            (length.clone(), kinds.clone()).prop_flat_map(|(length, kinds)| prop::collection::vec(0..kinds, length));
        let edits = prop::collection::vec((any::<prop::sample::Index>(), 0_u32..60, any::<bool>()), 0..40);
        let edited = (side.clone(), edits).prop_map(|(old, edits)| {
            let mut new = old.clone();
            for (at, line, comes) in edits {
                let at = at.index(new.len() + 1);
                match comes || at == new.len() {
                    true => new.insert(at, line),
                    false => drop(new.remove(at)),
                }
            }
            (old, new)
        });
        let text = |lines: Vec<u32>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        prop_oneof![edited, (side.clone(), side)].prop_map(move |(old, new)| (text(old), text(new)))
    }

    proptest! {
        #[test]
        fn one_algorithm_says_what_the_library_says((old, new) in texts()) {
            compare(&old, &new);
        }
    }
}

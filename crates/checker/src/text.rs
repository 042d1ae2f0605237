//! The text of a statement on one line.

use averment_base::source::Span;
use rustc_hash::FxHashMap;

/// White space becomes one space each. With the ranges of its literals known, these stay as they are and comments go.
#[must_use]
pub fn fold_whitespace(text: &str, literals: Option<&[std::ops::Range<usize>]>) -> String {
    let mut keep: FxHashMap<usize, usize> = FxHashMap::default();
    for range in literals.unwrap_or(&[]).iter().filter(|range| range.end > range.start) {
        keep.entry(range.start).or_insert(range.end);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut space = false;
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if let Some((end, literal)) = keep.get(&at).and_then(|&end| Some((end, text.get(at..end)?))) {
            push_space(&mut out, &mut space);
            out.push_str(literal);
            at = end;
            continue;
        }
        if letter == '#' && literals.is_some() {
            let rest = text.get(at..).unwrap_or("");
            at = at.saturating_add(rest.find('\n').unwrap_or(rest.len()));
            space = true;
            continue;
        }
        if letter.is_whitespace() {
            space = true;
        } else {
            push_space(&mut out, &mut space);
            out.push(letter);
        }
        at = at.saturating_add(letter.len_utf8());
    }
    out
}

fn push_space(out: &mut String, space: &mut bool) {
    if std::mem::take(space) && !out.is_empty() {
        out.push(' ');
    }
}

/// The ranges of literals inside a span, from its start.
#[must_use]
pub fn ranges_inside(span: Span, literals: &[Span]) -> Vec<std::ops::Range<usize>> {
    literals
        .iter()
        .filter(|literal| literal.file == span.file && span.start <= literal.start && literal.end <= span.end)
        .map(|literal| {
            let start = literal.start.saturating_sub(span.start) as usize;
            start..start.saturating_add(literal.len())
        })
        .collect()
}

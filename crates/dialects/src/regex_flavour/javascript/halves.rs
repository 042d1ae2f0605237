//! Characters above U+FFFF, which an expression without flag `u` sees as two halves (surrogates).
//!
//! A search over whole characters has the same result if a half can occur only at the start or end of a match. Between two parts that match no half,
//! a part that matches one character cannot match one above U+FFFF. Any other expression is reported.

use super::super::pattern::{GroupPurpose, RegexNode};
use crate::regex_flavour::HalvesSeen;

const BEYOND: &str = r"\x{10000}-\x{10FFFF}";

/// The neighbor of a node on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NodeEdge {
    /// It cannot match a half.
    Firm,
    /// The start or end of the match.
    Open,
    /// It may match a half.
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtomKind {
    Firm,
    /// It matches any half, and any character above U+FFFF.
    Free,
    /// It matches a character above U+FFFF, written as two halves.
    Pair,
    /// A set that lists halves of a character.
    Torn,
}

/// Rewrites a tree so that it treats halves correctly where possible. Returns how the expression meets halves.
pub(super) fn settle_halves(root: &mut RegexNode) -> HalvesSeen {
    settle_node(root, NodeEdge::Open, NodeEdge::Open)
}

fn settle_node(node: &mut RegexNode, left: NodeEdge, right: NodeEdge) -> HalvesSeen {
    match node {
        RegexNode::Empty | RegexNode::Reference(_) | RegexNode::Place(_) | RegexNode::Written(_, 0) => {
            HalvesSeen::Never
        }
        RegexNode::Written(text, _) => settle_atom(text, left.max(right)),
        RegexNode::Sequence(parts) => {
            let edges: Vec<(NodeEdge, NodeEdge)> = (0..parts.len())
                .map(|at| {
                    let (before, behind) = parts.split_at(at);
                    let behind = behind.get(1..).unwrap_or_default();
                    (met_edge(before.iter().rev(), true, left), met_edge(behind.iter(), false, right))
                })
                .collect();
            let settled = parts.iter_mut().zip(edges).map(|(part, (left, right))| settle_node(part, left, right));
            settled.max().unwrap_or(HalvesSeen::Never)
        }
        RegexNode::Choice(parts) => {
            parts.iter_mut().map(|part| settle_node(part, left, right)).max().unwrap_or(HalvesSeen::Never)
        }
        RegexNode::Group(GroupPurpose::Plain, _, inside) => settle_node(inside, left, right),
        RegexNode::Group(_, _, inside) => settle_node(inside, NodeEdge::Free, NodeEdge::Free),
        RegexNode::Repeat { inside, sign, least, most, .. } => {
            if let RegexNode::Written(text, 1) = &mut **inside {
                return settle_repeated(text, (*least, *most), sign.ends_with('?') && sign.len() > 1, left.max(right));
            }
            let repeats = *most != Some(1) && *most != Some(0);
            let own = |node: &RegexNode, at_end| if repeats { edge_of(node, at_end) } else { NodeEdge::Firm };
            let (before, behind) = (own(inside, true), own(inside, false));
            settle_node(inside, left.max(before), right.max(behind))
        }
    }
}

fn settle_atom(text: &mut String, beside: NodeEdge) -> HalvesSeen {
    match (kind_of_atom(text), beside) {
        (AtomKind::Firm | AtomKind::Pair, _) => HalvesSeen::Never,
        (AtomKind::Torn, _) | (AtomKind::Free, NodeEdge::Free) => HalvesSeen::Within,
        (AtomKind::Free, NodeEdge::Open) => HalvesSeen::AtEnds,
        (AtomKind::Free, NodeEdge::Firm) => {
            *text = without_pairs(text);
            HalvesSeen::Never
        }
    }
}

fn settle_repeated(text: &mut String, times: (u32, Option<u32>), is_lazy: bool, beside: NodeEdge) -> HalvesSeen {
    match (kind_of_atom(text), times) {
        (AtomKind::Firm, _) => HalvesSeen::Never,
        (AtomKind::Pair | AtomKind::Torn, _) => HalvesSeen::Within,
        (AtomKind::Free, (0 | 1, Some(1))) => settle_atom(text, beside),
        (AtomKind::Free, (1, None)) if beside == NodeEdge::Free => HalvesSeen::Within,
        (AtomKind::Free, (0 | 1, None)) if is_lazy && beside != NodeEdge::Firm => HalvesSeen::AtEnds,
        (AtomKind::Free, (0 | 1, None)) => HalvesSeen::Never,
        (AtomKind::Free, _) => HalvesSeen::Within,
    }
}

/// Returns the neighbor on one side: the adjacent nodes up to the first one that cannot be empty.
fn met_edge<'n>(beside: impl Iterator<Item = &'n RegexNode>, at_end: bool, outer: NodeEdge) -> NodeEdge {
    let mut met = NodeEdge::Firm;
    for node in beside {
        met = met.max(edge_of(node, at_end));
        if !can_be_empty(node) {
            return met;
        }
    }
    met.max(outer)
}

/// Returns how a node looks to its neighbor, at the end of the node if `at_end` is set, otherwise at its start.
fn edge_of(node: &RegexNode, at_end: bool) -> NodeEdge {
    match node {
        RegexNode::Empty | RegexNode::Place(_) => NodeEdge::Firm,
        RegexNode::Written(text, 0) => {
            if text == "\\B" {
                NodeEdge::Free
            } else {
                NodeEdge::Firm
            }
        }
        RegexNode::Written(text, _) => match kind_of_atom(text) {
            AtomKind::Firm | AtomKind::Pair => NodeEdge::Firm,
            AtomKind::Free | AtomKind::Torn => NodeEdge::Free,
        },
        RegexNode::Sequence(parts) if at_end => met_edge(parts.iter().rev(), at_end, NodeEdge::Firm),
        RegexNode::Sequence(parts) => met_edge(parts.iter(), at_end, NodeEdge::Firm),
        RegexNode::Choice(parts) => parts.iter().map(|part| edge_of(part, at_end)).max().unwrap_or(NodeEdge::Firm),
        RegexNode::Group(GroupPurpose::Plain, _, inside) | RegexNode::Repeat { inside, .. } => edge_of(inside, at_end),
        RegexNode::Group(..) | RegexNode::Reference(_) => NodeEdge::Free,
    }
}

/// True if the node can match the empty text. A position counts as not empty.
fn can_be_empty(node: &RegexNode) -> bool {
    match node {
        RegexNode::Empty | RegexNode::Reference(_) => true,
        RegexNode::Written(..) | RegexNode::Place(_) => false,
        RegexNode::Sequence(parts) => parts.iter().all(can_be_empty),
        RegexNode::Choice(parts) => parts.iter().any(can_be_empty),
        RegexNode::Group(GroupPurpose::Plain, _, inside) => can_be_empty(inside),
        RegexNode::Group(..) => true,
        RegexNode::Repeat { inside, least, .. } => *least == 0 || can_be_empty(inside),
    }
}

fn kind_of_atom(text: &str) -> AtomKind {
    if matches!(text, "." | "(?s:.)" | "\\D" | "\\W") {
        return AtomKind::Free;
    }
    let Some(set) = text.strip_prefix('[') else {
        return if names_pair(text) { AtomKind::Pair } else { AtomKind::Firm };
    };
    let (negated, members) = set.strip_prefix('^').map_or((false, set), |members| (true, members));
    match (negated, names_pair(members), has_complement(members)) {
        (_, true, _) => AtomKind::Torn,
        // A negated set with a negated class in it, and a set without one, exclude every character above U+FFFF.
        (true, false, true) | (false, false, false) => AtomKind::Firm,
        (true, false, false) | (false, false, true) => AtomKind::Free,
    }
}

fn names_pair(text: &str) -> bool {
    let by_number = |part: &str| part.split_once('}').is_some_and(|(digits, _)| digits.len() > 4);
    text.chars().any(|letter| letter > '\u{ffff}')
        || ["\\x{", "\\u{"].iter().any(|opening| text.split(opening).skip(1).any(by_number))
}

/// True if a set contains a negated class, such as `\D` or a nested `[^…]`.
fn has_complement(members: &str) -> bool {
    let mut letters = members.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if matches!(letters.next(), Some('D' | 'W')) => return true,
            '[' if letters.peek() == Some(&'^') => return true,
            _ => {}
        }
    }
    false
}

/// Returns an expression for any character that excludes those above U+FFFF.
fn without_pairs(text: &str) -> String {
    match (text, text.strip_suffix(']')) {
        ("\\D", _) => format!("[^\\d{BEYOND}]"),
        ("\\W", _) => format!("[^\\w{BEYOND}]"),
        (_, Some(negated)) if text.starts_with("[^") => format!("{negated}{BEYOND}]"),
        (_, Some(set)) => format!("{set}&&[^{BEYOND}]]"),
        _ => format!("[^{BEYOND}]"),
    }
}

//! Characters beyond U+FFFF, of which an expression without flag `u` sees two halves.
//!
//! A search in whole characters has the same answer wherever a half can only be met at an end of what is found. Between two things
//! that take no half, what takes one character takes none beyond U+FFFF. All else is told.

use super::super::pattern::{GroupPurpose, RegexNode};
use crate::regex_flavour::HalvesSeen;

const BEYOND: &str = r"\x{10000}-\x{10FFFF}";

/// What stands beside a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NodeEdge {
    /// Something that takes no half.
    Firm,
    /// An end of what is found.
    Open,
    /// Something that may take a half.
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtomKind {
    Firm,
    /// It takes any half, and any character beyond U+FFFF.
    Free,
    /// A character beyond U+FFFF itself.
    Pair,
    /// A set that names halves of one.
    Torn,
}

/// Writes a tree so that it sees what halves would show, as far as that can be said.
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

/// What a node meets on a side: what stands there, and behind what can be empty the next.
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

/// What a node shows at its end, or at its front.
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

/// True of what may take nothing; a place in the text holds as something.
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
        // Without what is in no such set nothing beyond U+FFFF is left.
        (true, false, true) | (false, false, false) => AtomKind::Firm,
        (true, false, false) | (false, false, true) => AtomKind::Free,
    }
}

fn names_pair(text: &str) -> bool {
    let by_number = |part: &str| part.split_once('}').is_some_and(|(digits, _)| digits.len() > 4);
    text.chars().any(|letter| letter > '\u{ffff}')
        || ["\\x{", "\\u{"].iter().any(|opening| text.split(opening).skip(1).any(by_number))
}

/// If a set has members of which only those of another one are left out.
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

/// What takes any character, without those beyond U+FFFF.
fn without_pairs(text: &str) -> String {
    match (text, text.strip_suffix(']')) {
        ("\\D", _) => format!("[^\\d{BEYOND}]"),
        ("\\W", _) => format!("[^\\w{BEYOND}]"),
        (_, Some(negated)) if text.starts_with("[^") => format!("{negated}{BEYOND}]"),
        (_, Some(set)) => format!("{set}&&[^{BEYOND}]]"),
        _ => format!("[^{BEYOND}]"),
    }
}

//! Credentials that are recognized by provider prefixes, by decoding, as PEM keys, or as passwords in URLs.

use super::checks::match_body;
use super::providers::KeyShape::{Body, Checked};
use super::providers::{ANCHORS, AnchorRow};
use super::{DetectorFinding, FindingSink, assignments};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two automatons for anchors and name stems: the first is fast to build, the second fast to search.
static SEARCHES: [LazyLock<Option<AhoCorasick>>; 2] = [
    LazyLock::new(|| build_automaton(AhoCorasickKind::ContiguousNFA)),
    // A DFA takes one step for each byte.
    LazyLock::new(|| build_automaton(AhoCorasickKind::DFA)),
];

/// Total size of searched text from which the slow-to-build automaton pays off, in bytes.
const PAID: usize = 1 << 16;

/// Text size up to which searching for each anchor is faster than building an automaton, in bytes.
const FEW: usize = 1 << 10;

fn all_anchors() -> impl Iterator<Item = &'static str> {
    ANCHORS.iter().map(|(anchor, _, _)| *anchor).chain(assignments::STEMS)
}

fn build_automaton(kind: AhoCorasickKind) -> Option<AhoCorasick> {
    let anchors = all_anchors();
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .ascii_case_insensitive(true)
        .kind(Some(kind))
        .prefilter(false)
        .build(anchors)
        .ok()
}

/// Returns the automaton for a text; `None` if the text contains no anchor.
fn choose_automaton(text: &str) -> Option<&'static AhoCorasick> {
    static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);
    let [quickly_built, quick] = &SEARCHES;
    if LOOKED_AT.load(Ordering::Relaxed) >= PAID {
        return quick.as_ref();
    }
    let before = LOOKED_AT.fetch_add(text.len().min(PAID), Ordering::Relaxed);
    if before.saturating_add(text.len()) <= FEW && !holds_anchor(text.as_bytes()) {
        return None;
    }
    quickly_built.as_ref()
}

/// True if the text contains an anchor in any case.
fn holds_anchor(text: &[u8]) -> bool {
    all_anchors().any(|anchor| {
        let anchor = anchor.as_bytes();
        let Some(first) = anchor.first() else { return true };
        memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).any(|at| {
            let found = text.get(at..).and_then(|rest| rest.get(..anchor.len()));
            found.is_some_and(|found| found.eq_ignore_ascii_case(anchor))
        })
    })
}

pub(super) fn scan_secrets(text: &str, found: FindingSink<'_>) -> ControlFlow<()> {
    let Some(search) = choose_automaton(text) else { return ControlFlow::Continue(()) };
    let mut assigned_until = 0;
    let mut at = 0;
    // Anchors may overlap: in `.ghp_`, another one ends where this one begins.
    while let Some(hit) = search.find(Input::new(text).span(at..text.len())) {
        at = hit.start() + 1;
        if let Some(anchor) = ANCHORS.get(hit.pattern().as_usize()) {
            if let Some(finding) = match_anchor(text, hit.range(), anchor) {
                found(finding)?;
            }
        } else if hit.start() >= assigned_until
            && let Some((range, kind)) = assignments::find_assignment(text, hit.end())
        {
            assigned_until = range.end;
            found(DetectorFinding { kind, range })?;
        }
    }
    ControlFlow::Continue(())
}

/// Matches the rest of an anchor. Anchors are case-sensitive, except schemes such as `bearer`.
fn match_anchor(text: &str, at: Range<usize>, (anchor, kind, shape): &AnchorRow) -> Option<DetectorFinding> {
    if text.get(at.clone()) != Some(*anchor) && !anchor.ends_with(' ') {
        return None;
    }
    let range = match shape {
        Body(alphabet, least, most) => match_body(text, at, *alphabet, *least, *most),
        Checked(check) => check(text, at.start),
    }?;
    Some(DetectorFinding { kind, range })
}

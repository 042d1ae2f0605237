//! Credentials that providers mark with a prefix, tokens that can be decoded, keys in armour, passwords in addresses.

use super::checks::body;
use super::providers::Shape::{Body, Checked};
use super::providers::{ANCHORS, Row};
use super::{Finding, Found, assigned};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Anchors and stems of names in one automaton, whatever the text: what says the same is built quickly, or looks quickly.
static SEARCHES: [LazyLock<Option<AhoCorasick>>; 2] = [
    LazyLock::new(|| built(AhoCorasickKind::ContiguousNFA)),
    // One step for each byte.
    LazyLock::new(|| built(AhoCorasickKind::DFA)),
];

/// After so many bytes the automaton that takes longer to build has paid. Most checks of few runs never look at so many.
const PAID: usize = 1 << 16;

fn built(kind: AhoCorasickKind) -> Option<AhoCorasick> {
    let anchors = ANCHORS.iter().map(|(anchor, _, _)| *anchor).chain(assigned::STEMS);
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .ascii_case_insensitive(true)
        .kind(Some(kind))
        .prefilter(false)
        .build(anchors)
        .ok()
}

/// The automaton for a text of so many bytes.
fn search(length: usize) -> Option<&'static AhoCorasick> {
    static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);
    let [quickly_built, quick] = &SEARCHES;
    if LOOKED_AT.load(Ordering::Relaxed) >= PAID {
        return quick.as_ref();
    }
    LOOKED_AT.fetch_add(length.min(PAID), Ordering::Relaxed);
    quickly_built.as_ref()
}

/// Reports the credentials in a text.
pub(super) fn scan(text: &str, found: Found<'_>) -> ControlFlow<()> {
    let Some(search) = search(text.len()) else { return ControlFlow::Continue(()) };
    let mut assigned_until = 0;
    let mut at = 0;
    // Anchors overlap: in `.ghp_` another one ends where this begins.
    while let Some(hit) = search.find(Input::new(text).span(at..text.len())) {
        at = hit.start() + 1;
        if let Some(anchor) = ANCHORS.get(hit.pattern().as_usize()) {
            if let Some(finding) = anchored(text, hit.range(), anchor) {
                found(finding)?;
            }
        } else if hit.start() >= assigned_until
            && let Some((range, kind)) = assigned::assignment(text, hit.end())
        {
            assigned_until = range.end;
            found(Finding { kind, range })?;
        }
    }
    ControlFlow::Continue(())
}

/// The credential that an anchor begins. Letters of anchors count as they are, apart from those of a scheme: `bearer`.
fn anchored(text: &str, at: Range<usize>, (anchor, kind, shape): &Row) -> Option<Finding> {
    if text.get(at.clone()) != Some(*anchor) && !anchor.ends_with(' ') {
        return None;
    }
    let range = match shape {
        Body(alphabet, least, most) => body(text, at, *alphabet, *least, *most),
        Checked(check) => check(text, at.start),
    }?;
    Some(Finding { kind, range })
}

//! What every match of a regular expression starts with, or holds: so that the expression itself runs only where that stands.

use super::windows::{self, FoldedByte};
use averment_traces::scan::ByteSet;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use smallvec::SmallVec;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LiteralPart {
    Byte(ByteSet),
    /// Any bytes of a set; the next part starts outside it. With `others`, what starts with one of those is arbitrary.
    Many {
        set: ByteSet,
        others: bool,
    },
    /// An ASCII word boundary; with `others`, it is not checked next to a non-ASCII character.
    Edge {
        others: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RequiredLiteral {
    pub(super) items: Vec<LiteralPart>,
    /// Byte offset of its three rarest consecutive bytes.
    pub(super) rarest: usize,
    /// Byte offset and value of the last byte whose offset is known.
    last: (usize, ByteSet),
}

/// Literals kept per expression.
const MOST: usize = 64;
/// Maximum length of a sequence.
const LENGTH: usize = 24;
/// Maximum number of repetitions searched.
const REPEATED: u32 = 12;
/// Three bytes more frequent than this are not worth searching.
const COMMON: u32 = 64;

impl RequiredLiteral {
    pub(super) fn of_text(text: &str) -> Option<Self> {
        Self::new(text.bytes().take(64).map(|byte| LiteralPart::Byte(ByteSet::single_byte(byte))).collect())
    }

    /// `None` if it is too short or too common.
    fn new(mut items: Vec<LiteralPart>) -> Option<Self> {
        items.pop_if(|last| matches!(last, LiteralPart::Many { .. }));
        let often = |set: ByteSet| set.common_image(windows::fold_byte).map_or(0, windows::byte_frequency);
        let sets = in_a_row(&items).map(|set| (set.byte_count(), often(set)));
        let sets: SmallVec<[(u32, u32); 64]> = sets.collect();
        let each = sets.windows(3).map(|window| {
            let (count, often): (u32, u32) = window.iter().fold((1, 0), |all, set| (all.0 * set.0, all.1 + set.1));
            (count, often)
        });
        let (rarest, (best, _)) = each.enumerate().min_by_key(|(_, key)| *key)?;
        let last = in_a_row(&items).enumerate().last()?;
        (best <= COMMON).then_some(Self { items, rarest, last })
    }

    pub(super) fn rarest_window(&self) -> Option<[ByteSet; 3]> {
        let mut sets = in_a_row(&self.items).skip(self.rarest);
        Some([sets.next()?, sets.next()?, sets.next()?])
    }

    /// Its bytes without case; `None` where several bytes differ in more than case.
    pub(super) fn folded_bytes(&self) -> Vec<FoldedByte> {
        in_a_row(&self.items).map(|set| set.common_image(windows::fold_byte)).collect()
    }

    /// Also true if bytes cannot decide.
    #[inline]
    pub(super) fn stands_at(&self, bytes: &[u8], found: usize) -> bool {
        let Some(mut at) = found.checked_sub(self.rarest) else { return false };
        // What begins alike mostly ends otherwise.
        let (offset, last) = self.last;
        if !bytes.get(at.wrapping_add(offset)).is_some_and(|byte| last.contains(*byte)) {
            return false;
        }
        for item in &self.items {
            match item {
                LiteralPart::Byte(set) => {
                    if !bytes.get(at).is_some_and(|byte| set.contains(*byte)) {
                        return false;
                    }
                    at = at.wrapping_add(1);
                }
                LiteralPart::Many { set, others } => {
                    let rest = bytes.get(at..).unwrap_or_default();
                    let Some(end) = rest.iter().take(PASSED).position(|byte| !set.contains(*byte)) else { return true };
                    at = at.wrapping_add(end);
                    if *others && !bytes.get(at).is_some_and(u8::is_ascii) {
                        return true;
                    }
                }
                LiteralPart::Edge { others } => match is_word_edge(bytes, at, *others) {
                    Some(true) => {}
                    Some(false) => return false,
                    None => return true,
                },
            }
        }
        true
    }
}

/// Bytes skipped in search of the next part.
const PASSED: usize = 64;

/// `None` if a non-ASCII character decides.
#[inline]
fn is_word_edge(bytes: &[u8], at: usize, others: bool) -> Option<bool> {
    let is_word = |byte: Option<&u8>| match byte {
        Some(byte) if others && !byte.is_ascii() => None,
        byte => Some(byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')),
    };
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    Some(is_word(before)? != is_word(bytes.get(at))?)
}

fn in_a_row(items: &[LiteralPart]) -> impl Iterator<Item = ByteSet> {
    items.iter().take_while(|item| !matches!(item, LiteralPart::Many { .. })).filter_map(|item| match item {
        LiteralPart::Byte(set) => Some(*set),
        _ => None,
    })
}

/// Every match starts with one; `None` if no such sequences are worth searching.
pub(super) fn of_starts(hir: &Hir) -> Option<Vec<RequiredLiteral>> {
    let mut growing = vec![GrowingLiteral { items: Vec::new(), open: true }];
    grow_literals(hir, &mut growing, 8)?;
    growing.into_iter().map(|one| RequiredLiteral::new(one.items)).collect()
}

/// Every match contains one: the longest that a part of the expression and its continuation yield.
pub(super) fn of_parts(hir: &Hir) -> Option<Vec<RequiredLiteral>> {
    let HirKind::Concat(parts) = hir.kind() else { return None };
    let from = |start: usize| {
        let mut growing = vec![GrowingLiteral { items: Vec::new(), open: true }];
        parts.get(start..)?.iter().try_for_each(|part| grow_literals(part, &mut growing, 8))?;
        growing.into_iter().map(|one| RequiredLiteral::new(one.items)).collect::<Option<Vec<RequiredLiteral>>>()
    };
    let least = |all: &Vec<RequiredLiteral>| all.iter().map(|one| one.items.len()).min();
    (1..parts.len()).filter_map(from).max_by_key(|all| (least(all), std::cmp::Reverse(all.len())))
}

/// Obvious texts of at least three bytes that every match contains, longest first.
pub(super) fn of_inside(hir: &Hir) -> Vec<String> {
    let mut found = Vec::new();
    required_texts(hir, &mut found, 8);
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    found
}

fn required_texts(hir: &Hir, found: &mut Vec<String>, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match hir.kind() {
        HirKind::Literal(literal) if literal.0.len() >= 3 => {
            found.extend(std::str::from_utf8(&literal.0).ok().map(str::to_owned));
        }
        HirKind::Capture(capture) => required_texts(&capture.sub, found, depth),
        HirKind::Repetition(repetition) if repetition.min > 0 => required_texts(&repetition.sub, found, depth),
        HirKind::Concat(parts) => parts.iter().for_each(|part| required_texts(part, found, depth)),
        _ => {}
    }
}

#[derive(Clone)]
struct GrowingLiteral {
    items: Vec<LiteralPart>,
    open: bool,
}

impl GrowingLiteral {
    fn close_literal(&mut self) {
        self.open = false;
    }

    fn push_part(&mut self, item: LiteralPart) {
        // What may be skipped too far is not skipped: nothing is said of what follows then.
        self.open &= match (self.items.last(), item) {
            (Some(LiteralPart::Many { set, .. }), LiteralPart::Byte(next)) => !set.shares_byte(next),
            (Some(LiteralPart::Many { .. }), _) => false,
            _ => true,
        };
        if self.open {
            self.items.push(item);
            self.open = self.items.len() < LENGTH;
        }
    }
}

/// `None` if there are too many.
fn grow_literals(hir: &Hir, all: &mut Vec<GrowingLiteral>, depth: usize) -> Option<()> {
    let Some(depth) = depth.checked_sub(1).filter(|_| all.iter().any(|one| one.open)) else {
        all.iter_mut().for_each(GrowingLiteral::close_literal);
        return Some(());
    };
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Literal(literal) => {
            for byte in &literal.0 {
                all.iter_mut().for_each(|one| one.push_part(LiteralPart::Byte(ByteSet::single_byte(*byte))));
            }
        }
        HirKind::Class(class) => grow_class(class, all)?,
        HirKind::Look(look @ (Look::WordAscii | Look::WordUnicode)) => {
            let others = *look == Look::WordUnicode;
            all.iter_mut().for_each(|one| one.push_part(LiteralPart::Edge { others }));
        }
        // What else is asked of a place is not looked at: more is found than has to be.
        HirKind::Look(_) => {}
        HirKind::Capture(capture) => grow_literals(&capture.sub, all, depth)?,
        HirKind::Concat(parts) => {
            for part in parts {
                grow_literals(part, all, depth)?;
            }
        }
        HirKind::Alternation(choices) => {
            let mut grown = Vec::new();
            for choice in choices {
                let mut these = all.clone();
                grow_literals(choice, &mut these, depth)?;
                grown.append(&mut these);
            }
            *all = grown;
        }
        HirKind::Repetition(repetition) => {
            for _ in 0..repetition.min.min(REPEATED) {
                grow_literals(&repetition.sub, all, depth)?;
            }
            if repetition.max != Some(repetition.min) || repetition.min > REPEATED {
                match repetition.sub.kind() {
                    HirKind::Class(class) => {
                        let ClassBytes { set, others, many } = ClassBytes::from_class(class);
                        let others = many || !others.is_empty();
                        all.iter_mut().for_each(|one| one.push_part(LiteralPart::Many { set, others }));
                    }
                    _ => all.iter_mut().for_each(GrowingLiteral::close_literal),
                }
            }
        }
    }
    (all.len() <= MOST).then_some(())
}

#[derive(Default)]
struct ClassBytes {
    set: ByteSet,
    others: Vec<char>,
    many: bool,
}

impl ClassBytes {
    fn from_class(class: &Class) -> Self {
        let mut found = Self::default();
        match class {
            Class::Bytes(class) => class.ranges().iter().for_each(|range| {
                (range.start()..=range.end()).for_each(|byte| found.set.insert(byte));
            }),
            Class::Unicode(class) => {
                class.ranges().iter().for_each(|range| found.add_range(range.start().into(), range.end().into()));
            }
        }
        found.many |= found.others.len() > 4;
        found
    }

    fn add_range(&mut self, start: u32, end: u32) {
        (start..=end.min(0x7F)).filter_map(|code| u8::try_from(code).ok()).for_each(|byte| self.set.insert(byte));
        self.many |= end > 0x7F && end - start.max(0x80) > 3;
        if end > 0x7F && !self.many {
            self.others.extend((start.max(0x80)..=end).filter_map(char::from_u32));
        }
    }
}

/// A byte for an ASCII character, the bytes one by one for a few others.
fn grow_class(class: &Class, all: &mut Vec<GrowingLiteral>) -> Option<()> {
    let ClassBytes { set: ascii, others, many } = ClassBytes::from_class(class);
    if many || (ascii.byte_count() == 0 && others.is_empty()) {
        all.iter_mut().for_each(GrowingLiteral::close_literal);
        return Some(());
    }
    let before = std::mem::take(all);
    for one in before {
        if !one.open {
            all.push(one);
            continue;
        }
        for other in &others {
            let mut grown = one.clone();
            other
                .encode_utf8(&mut [0; 4])
                .bytes()
                .for_each(|byte| grown.push_part(LiteralPart::Byte(ByteSet::single_byte(byte))));
            all.push(grown);
        }
        if ascii.byte_count() > 0 {
            let mut grown = one;
            grown.push_part(LiteralPart::Byte(ascii));
            all.push(grown);
        }
        if all.len() > MOST {
            return None;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether some sequence stands anywhere in a text.
    fn stands(sequences: Option<Vec<RequiredLiteral>>, text: &str) -> Option<bool> {
        let sequences = sequences?;
        let mut places = 0..text.len();
        Some(places.any(|at| sequences.iter().any(|one| one.stands_at(text.as_bytes(), at))))
    }

    const PATTERNS: [&str; 22] = [
        "AKIA[0-9A-Z]{16}",
        r"(?-u:\b)sk-[A-Za-z0-9]{20,}",
        r"(?i)(?-u:\b)(?:password|passwd|secret|api_key)(?-u:\b)(?-u:\s)*[:=]",
        "gh[pousr]_[a-z]+",
        "(?i)kiss|straße",
        "a{3}b{2,}c?",
        "(ab|cd)(ef|gh)+",
        "(?m)^foo bar$",
        r"\bword\b",
        "[a-z]+ refund [0-9]+",
        "(?s).*needle",
        "x?yz12",
        "(?:)",
        "[^a]bcd",
        "[a-z]+ refund [0-9]+ word",
        r"\bsk-[A-Za-z0-9]{20,}",
        r#"(?i)\b(?:password|secret)\b\s*[:=]\s*['"]?[a-z]{2,}"#,
        r"word\d*[^x]*yz",
        "AKIA[0-9A-F]*EF-",
        r"needle\s*\bfoo",
        "bcd=*==:",
        "gho_[^a]*[a\u{e9}]",
    ];

    proptest! {
        #[test]
        fn a_match_without_its_sequence_does_not_exist(
            pattern in prop::sample::select(PATTERNS.to_vec()),
            parts in prop::collection::vec(prop::sample::select(vec![
                "AKIA", "0123456789ABCDEF", "sk-", "abcdefghij", "Password", "pa\u{17F}\u{17F}word", "SECRET", "api_key", " = ", ":",
                "gho_", "ki\u{17F}s", "\u{212A}iss", "strasse", "STRASSE", "stra\u{df}e", "aaa", "bb", "ab", "ef", "cd", "gh", "foo bar", "\n", " ",
                "word", "needle", "\u{a0}", "\u{e9}", "=", "\"", "foo", " refund ", "12", "xyz", "yz", "z", "bcd", "-", "_", "\u{0}",
            ]), 0..8),
        ) {
            let text = parts.concat();
            let matches = regex::Regex::new(pattern).unwrap().is_match(&text);
            let hir = regex_syntax::parse(pattern).unwrap();
            for sequences in [of_starts(&hir), of_parts(&hir)] {
                prop_assert!(!matches || stands(sequences, &text) != Some(false), "{} {:?}", pattern, text);
            }
            for inside in of_inside(&hir) {
                prop_assert!(!matches || text.contains(&inside), "{} {:?} {}", pattern, text, inside);
            }
        }
    }

    #[test]
    fn sequences_are_found_where_they_are_worth_it() {
        let hir = |pattern: &str| regex_syntax::parse(pattern).unwrap();
        let of = |pattern: &str| of_starts(&hir(pattern));
        assert_eq!(of("AKIA[0-9A-Z]{16}").map(|all| all.len()), Some(1));
        assert_eq!(of("gh[pousr]_[a-z]+").map(|all| all.len()), Some(1));
        assert!(of("[a-z]+ refund").is_none() && of(".*").is_none() && of("ab").is_none());
        assert_eq!(of_inside(&hir("[a-z]+ refund [0-9]+ (?:now)+ ab")), [" refund ", "now", " ab"]);
        let parts = of_parts(&hir("[a-z]+ refund [0-9]+ word"));
        assert_eq!(stands(parts.clone(), "the refund of a word"), Some(false));
        assert_eq!(stands(parts, "a refund 1"), Some(true));
        let secrets = r"(?i)(?-u:\b)(?:password|secret)(?-u:\b)[:=]";
        assert_eq!(stands(of(secrets), "passwords: secretary"), Some(false));
        assert_eq!(stands(of(secrets), "the PassWord:is"), Some(true));
        let secrets = r#"(?i)\b(?:password|secret)\b\s*[:=]"#;
        for (text, may) in [
            ("a password-reset", false),
            ("my_password = 1", false),
            ("secret  \t is", false),
            ("secret  \t = x", true),
            // Whether these match is for the expression to say.
            ("secret\u{a0}= x", true),
            ("\u{e9}secret: x", true),
        ] {
            assert_eq!(stands(of(secrets), text), Some(may), "{text}");
        }
        assert_eq!(stands(of(r"\bsk-[A-Za-z0-9]{20,}"), "disk-usage of sk-usage"), Some(false));
    }
}

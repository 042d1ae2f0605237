//! Assertions of a pack between reading and writing.
//!
//! There a path that leads nowhere is neither true nor false but *structural*: it ends the assertion, except inside of `any_of`, where the branch does not
//! match, and of `not`, which holds. Here it is a `required(…)`, whose verdict is `error`, or a test that it `exists`. An assertion stops at its first part
//! that does not hold, as `and` does where that is plainly false: each part that others follow therefore asks for the type first.

use super::cond::{Cond, Pieces};
use crate::writer::Binds;
use averment_base::source::Span;
use std::collections::BTreeSet;

/// A piece of a test.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Words of the language.
    Words(String),
    /// A value of the pack.
    Literal(Span, String),
    /// One of the paths, by number.
    Term(usize),
}

/// A test.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub binds: Binds,
    pub parts: Vec<Part>,
}

/// What a value has to be: `is_text(P)`.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    /// The shorthand that asks for it.
    pub name: &'static str,
    /// Of which of the paths.
    pub term: usize,
    /// Whether the test alone would say something else.
    pub always: bool,
}

/// What the parts in front have made sure, where each of them has to hold.
#[derive(Debug, Clone, Default)]
struct Known {
    /// Paths that lead somewhere.
    reached: BTreeSet<String>,
    /// What is known of them.
    guards: BTreeSet<(&'static str, String)>,
}

/// An assertion about values.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub place: Span,
    /// The paths that it looks at.
    pub terms: Vec<(Span, String)>,
    /// What its values have to be so that the test says anything of them.
    pub guards: Vec<Guard>,
    pub test: Test,
    /// The test behind the guards, where it is another one.
    pub guarded: Option<Test>,
    /// Whether the test asks for nothing but what the guards ask for.
    pub is_guard: bool,
    /// Whether the test alone would hold of what is missing.
    pub of_missing: bool,
}

/// Words around the first path: `(" is number")`.
pub(super) fn of_first(behind: &str) -> Test {
    Test { binds: Binds::Test, parts: vec![Part::Term(0), Part::Words(behind.to_owned())] }
}

pub(super) fn leaf(place: Span, terms: Vec<(Span, String)>, test: Test) -> Leaf {
    Leaf { place, terms, guards: Vec::new(), test, guarded: None, is_guard: false, of_missing: false }
}

/// An assertion.
#[derive(Debug, Clone)]
pub(super) enum Check {
    /// Always the same.
    Sure(Span, bool),
    Leaf(Box<Leaf>),
    All(Span, Vec<Check>),
    Any(Span, Vec<Check>),
    Not(Span, Box<Check>),
    /// Of every value of a list, under a name.
    Each(Span, Pieces, String, Vec<Check>),
}

/// How an assertion is written.
#[derive(Debug, Clone, Copy)]
struct Manner {
    /// Whether what is missing is an error.
    strict: bool,
    /// Whether it has to be plainly true or false.
    plain: bool,
}

/// The sentences of a list of assertions, of which the first that does not hold ends it. They are one sentence where a later one could be an error that the
/// earlier would have kept from being looked at.
pub(super) fn sentences(place: Span, checks: Vec<Check>, strict: bool) -> Vec<(Span, Cond)> {
    let mut flat = Vec::new();
    flatten(checks.into_iter().map(Check::folded).collect(), &mut flat);
    let decided = flat.iter().any(|check| !matches!(check, Check::Sure(_, true)));
    flat.retain(|check| !decided || !matches!(check, Check::Sure(_, true)));
    let apart = !strict || {
        let mut known: BTreeSet<String> = BTreeSet::new();
        flat.iter().enumerate().all(|(at, check)| {
            let mut needed = BTreeSet::new();
            let counted = check.needs(&mut needed);
            let covered = at == 0 || counted && needed.is_subset(&known);
            known.extend(needed);
            covered
        })
    };
    if apart {
        return flat
            .iter()
            .map(|check| (check.place(), check.cond(Manner { strict, plain: false }, &mut Known::default())))
            .collect();
    }
    let last = flat.len().saturating_sub(1);
    let mut known = Known::default();
    let parts = flat
        .iter()
        .enumerate()
        .map(|(at, check)| check.cond(Manner { strict, plain: at != last }, &mut known))
        .collect();
    vec![(place, Cond::all(place, parts))]
}

fn flatten(checks: Vec<Check>, into: &mut Vec<Check>) {
    for check in checks {
        match check {
            Check::All(_, inner) if !inner.is_empty() => flatten(inner, into),
            other => into.push(other),
        }
    }
}

impl Check {
    /// The same without members that decide nothing.
    fn folded(self) -> Self {
        match self {
            Self::All(place, checks) => {
                let mut kept: Vec<Self> = Vec::new();
                for check in checks.into_iter().map(Self::folded) {
                    let ends = matches!(check, Self::Sure(_, false));
                    if !matches!(check, Self::Sure(_, true)) {
                        kept.push(check);
                    }
                    if ends {
                        break;
                    }
                }
                one_or(kept, Self::Sure(place, true), |kept| Self::All(place, kept))
            }
            Self::Any(place, checks) => {
                let mut kept: Vec<Self> = checks.into_iter().map(Self::folded).collect();
                if kept.iter().any(|check| matches!(check, Self::Sure(_, true))) {
                    return Self::Sure(place, true);
                }
                kept.retain(|check| !matches!(check, Self::Sure(..)));
                // One branch alone is asked for as a branch: what it lacks is no error.
                if kept.is_empty() { Self::Sure(place, false) } else { Self::Any(place, kept) }
            }
            Self::Not(place, check) => match check.folded() {
                Self::Sure(_, holds) => Self::Sure(place, !holds),
                // Twice negated it holds where it did, but what is missing fails.
                Self::Not(_, inner) => Self::Any(place, vec![*inner]),
                other => Self::Not(place, Box::new(other)),
            },
            Self::Each(place, list, item, checks) => match Self::All(place, checks).folded() {
                Self::Sure(_, true) => Self::Sure(place, true),
                other => Self::Each(place, list, item, vec![other]),
            },
            other => other,
        }
    }

    fn place(&self) -> Span {
        match self {
            Self::Leaf(leaf) => leaf.place,
            Self::Sure(place, _) | Self::All(place, _) | Self::Any(place, _) | Self::Not(place, _) => *place,
            Self::Each(place, ..) => *place,
        }
    }

    /// The paths without which it is an error; false where they depend on the values that are looked at.
    fn needs(&self, into: &mut BTreeSet<String>) -> bool {
        match self {
            Self::Leaf(leaf) => {
                into.extend(leaf.terms.iter().map(|(_, text)| text.clone()));
                true
            }
            Self::All(_, inner) => inner.iter().all(|check| check.needs(into)),
            Self::Each(_, _, _, inner) => {
                let mut inside = BTreeSet::new();
                inner.iter().all(|check| check.needs(&mut inside)) && inside.is_empty()
            }
            Self::Sure(..) | Self::Any(..) | Self::Not(..) => true,
        }
    }

    /// The condition; `known` is what the parts in front of it have made sure.
    fn cond(&self, how: Manner, known: &mut Known) -> Cond {
        let chain = |checks: &[Self], how: Manner, known: &mut Known| -> Vec<Cond> {
            checks.iter().map(|check| check.cond(how, known)).collect()
        };
        let plain = Manner { plain: true, ..how };
        match self {
            Self::Sure(place, holds) => Cond::plain(*place, if *holds { "true" } else { "false" }),
            Self::Leaf(leaf) => leaf.cond(how, known),
            Self::All(place, checks) => Cond::all(*place, chain(checks, plain, known)),
            Self::Any(place, checks) => {
                let branch = |check: &Self| check.cond(Manner { strict: false, ..how }, &mut Known::default());
                Cond::any(*place, checks.iter().map(branch).collect())
            }
            Self::Not(place, check) => {
                check.cond(Manner { strict: false, plain: true }, &mut Known::default()).negated(*place)
            }
            Self::Each(place, list, item, checks) => {
                let body = Cond::all(*place, chain(checks, plain, &mut Known::default()));
                each(*place, list, item, body)
            }
        }
    }
}

/// The only one of them, what there is where there is none, or all.
fn one_or(mut checks: Vec<Check>, none: Check, all: impl FnOnce(Vec<Check>) -> Check) -> Check {
    match checks.len() {
        0 => none,
        1 => checks.swap_remove(0),
        _ => all(checks),
    }
}

/// `LIST is empty or all item in LIST: …`.
fn each(place: Span, list: &Pieces, item: &str, body: Cond) -> Cond {
    let mut none = list.clone();
    none.push((place, " is empty".to_owned()));
    if body.pieces.iter().all(|(_, text)| text == "false") {
        return Cond::test(none);
    }
    let uses_item = body.pieces.iter().any(|(_, text)| mentions(text, item));
    let rest = match uses_item {
        false => body,
        true => {
            let mut pieces = vec![(place, format!("all {item} in "))];
            pieces.extend(list.iter().cloned());
            pieces.push((place, ": ".to_owned()));
            pieces.extend(body.pieces);
            Cond { pieces, binds: Binds::Test, reaches: true }
        }
    };
    Cond::any(place, vec![Cond::test(none), rest])
}

/// Whether a text holds a word.
fn mentions(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c: char| !part(c)).any(|found| found == word)
}

impl Leaf {
    fn cond(&self, how: Manner, known: &mut Known) -> Cond {
        let asked: Vec<&Guard> = self.guards.iter().filter(|guard| how.plain || guard.always).collect();
        let mut parts = Vec::new();
        if !how.strict && (how.plain || self.of_missing) {
            let unasked = |number: usize| !asked.iter().any(|guard| guard.term == number);
            let terms = self.terms.iter().enumerate().filter(|(number, _)| unasked(*number));
            parts.extend(terms.map(|(_, (place, text))| Cond::plain(*place, format!("{text} exists"))));
        }
        for guard in asked {
            let Some((place, text)) = self.terms.get(guard.term) else { continue };
            if !known.guards.insert((guard.name, text.clone())) && !self.is_guard {
                continue;
            }
            let term = self.term(guard.term, how.strict, known);
            let pieces = vec![(*place, format!("{}(", guard.name)), (*place, term), (*place, ")".to_owned())];
            parts.push(Cond::test(pieces));
        }
        if self.is_guard && how.plain {
            return Cond::all(self.place, parts);
        }
        let test = self.guarded.as_ref().filter(|_| how.plain).unwrap_or(&self.test);
        let pieces = test.parts.iter().map(|part| match part {
            Part::Words(text) => (self.place, text.clone()),
            Part::Literal(place, text) => (*place, text.clone()),
            Part::Term(number) => {
                let place = self.terms.get(*number).map_or(self.place, |(place, _)| *place);
                (place, self.term(*number, how.strict, known))
            }
        });
        parts.push(Cond { pieces: pieces.collect(), binds: test.binds, reaches: false });
        Cond::all(self.place, parts)
    }

    /// A path, `required` where it is the first to need it.
    fn term(&self, number: usize, strict: bool, known: &mut Known) -> String {
        let Some((_, text)) = self.terms.get(number) else { return String::new() };
        let first = strict && known.reached.insert(text.clone());
        if first { format!("required({text})") } else { text.clone() }
    }
}

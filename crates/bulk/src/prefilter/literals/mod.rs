//! All texts and regular expressions that are looked for in the same values, in one pass.
//!
//! Each has triggers: sequences of bytes of which a match starts with one, or holds one. The pass looks for triggers; only where one stands
//! is the expression itself tried, on the one text around it. What has no trigger is tried on every text.

mod required;
mod windows;

use super::predicate::Literal;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::prepare::Prepared;
use averment_traces::projection::Texts;
use averment_traces::scan::Teddy;
use memchr::memmem;
use required::RequiredLiteral;
use rustc_hash::FxHashMap;
use windows::{LiteralWindows, Size};

/// What is looked for together.
#[derive(Debug)]
pub(super) struct Search {
    targets: Vec<Target>,
    triggers: Vec<Trigger>,
    finder: Finder,
    /// Targets without a trigger.
    untriggered: Vec<u32>,
}

#[derive(Debug)]
enum Target {
    Text,
    /// With texts that every match holds beside its trigger.
    Regex(u32, Vec<memmem::Finder<'static>>),
}

#[derive(Debug)]
struct Trigger {
    sequence: RequiredLiteral,
    /// What it is a trigger of, each once.
    targets: Vec<u32>,
}

#[derive(Debug)]
enum Finder {
    /// For few.
    Teddy(Box<Teddy>),
    /// For many: those with enough plain bytes in a row by windows of these, the others with a finder of their own.
    Many { windows: Vec<LiteralWindows>, others: Box<Teddy>, other_numbers: Vec<u32> },
}

/// More sequences are looked for by windows.
const FEW: usize = 40;

impl Search {
    /// A search for these.
    pub(super) fn new<'s>(program: &Program, wanted: impl Iterator<Item = &'s Literal>) -> Self {
        let (mut targets, mut untriggered) = (Vec::new(), Vec::new());
        let mut triggers: Vec<Trigger> = Vec::new();
        let mut known = FxHashMap::default();
        for (number, wanted) in (0_u32..).zip(wanted) {
            let (target, sequences) = match wanted {
                // Between two texts stands a zero byte: what holds one could be found where no text holds it.
                Literal::Text(text) => {
                    let one = RequiredLiteral::of_text(text).filter(|_| text.len() <= 64 && !text.contains('\0'));
                    (Target::Text, one.map(|one| vec![one]))
                }
                Literal::Regex(regex) => of_regex(program, *regex),
            };
            targets.push(target);
            let Some(sequences) = sequences else {
                untriggered.push(number);
                continue;
            };
            for sequence in sequences {
                let at = *known.entry(sequence.clone()).or_insert(triggers.len());
                match triggers.get_mut(at) {
                    Some(trigger) if trigger.targets.last() == Some(&number) => {}
                    Some(trigger) => trigger.targets.push(number),
                    None => triggers.push(Trigger { sequence, targets: vec![number] }),
                }
            }
        }
        let finder = Finder::new(&triggers);
        Self { targets, triggers, finder, untriggered }
    }

    /// Tells every target that stands in some text; some more than once. `wanted` says what a target is.
    pub(super) fn run<'s>(
        &self,
        texts: Haystack<'_>,
        wanted: &dyn Fn(u32) -> Option<&'s Literal>,
        prepared: &Prepared,
        found: &mut dyn FnMut(u32),
    ) {
        let mut last = (u32::MAX, usize::MAX);
        let bytes = texts.whole().as_bytes();
        self.finder.find(&self.triggers, bytes, &mut |at, number| {
            let Some(trigger) = self.triggers.get(number as usize) else { return };
            if !trigger.sequence.stands_at(bytes, at) {
                return;
            }
            for target in &trigger.targets {
                self.stands(*target, at, texts, prepared, &mut last, found);
            }
        });
        for target in &self.untriggered {
            let wanted = wanted(*target);
            let stands = |text: &str| match wanted {
                Some(Literal::Text(part)) => text.contains(part.as_str()),
                Some(Literal::Regex(regex)) => prepared.regex(*regex).is_some_and(|regex| regex.is_match(text)),
                None => false,
            };
            if texts.any(stands) {
                found(*target);
            }
        }
    }
}

impl Search {
    /// A trigger of a target stands at a place: tells the target where that is enough, or where its expression matches the text there.
    /// `last` is the last target that was tried and the start of its text.
    #[inline]
    fn stands(
        &self,
        target: u32,
        at: usize,
        texts: Haystack<'_>,
        prepared: &Prepared,
        last: &mut (u32, usize),
        found: &mut dyn FnMut(u32),
    ) {
        let Some(Target::Regex(regex, needed)) = self.targets.get(target as usize) else { return found(target) };
        let (start, text) = texts.around(at);
        if *last == (target, start) {
            return;
        }
        *last = (target, start);
        if needed.iter().all(|needed| needed.find(text.as_bytes()).is_some())
            && prepared.regex(*regex).is_some_and(|regex| regex.is_match(text))
        {
            found(target);
        }
    }
}

/// What is searched: one text, or many one behind the other.
#[derive(Clone, Copy)]
pub(super) struct Haystack<'t> {
    one: &'t str,
    many: Option<&'t Texts>,
}

impl<'t> Haystack<'t> {
    pub(super) fn one(text: &'t str) -> Self {
        Self { one: text, many: None }
    }

    pub(super) fn all(texts: &'t Texts) -> Self {
        Self { one: &texts.text, many: Some(texts) }
    }

    fn whole(&self) -> &'t str {
        self.one
    }

    /// The text that a byte belongs to, and where it starts.
    fn around(&self, at: usize) -> (usize, &'t str) {
        self.many.map_or((0, self.one), |texts| texts.around(at))
    }

    fn any(&self, is: impl Fn(&str) -> bool) -> bool {
        match self.many {
            Some(texts) => texts.iter().any(is),
            None => is(self.one),
        }
    }
}

/// A regular expression with what its matches start with, or else the longest text that they hold, and what they hold beside it.
fn of_regex(program: &Program, number: u32) -> (Target, Option<Vec<RequiredLiteral>>) {
    let pattern = program.regexes.get(number as usize).map_or("", |regex| regex.pattern.as_str());
    let Some(hir) = required::parsed(pattern) else { return (Target::Regex(number, Vec::new()), None) };
    if let Some(starts) = required::of_starts(&hir) {
        return (Target::Regex(number, Vec::new()), Some(starts));
    }
    let inside = required::of_inside(&hir);
    let longest = || Some(vec![RequiredLiteral::of_text(inside.first()?)?]);
    let trigger = required::of_parts(&hir).or_else(longest);
    // The longest is mostly what the trigger has found.
    (Target::Regex(number, inside.iter().rev().map(|text| memmem::Finder::new(text).into_owned()).collect()), trigger)
}

impl Finder {
    fn new(triggers: &[Trigger]) -> Self {
        let windows_of = |these: &[&Trigger]| {
            let windows: Vec<_> = these.iter().filter_map(|trigger| trigger.sequence.window()).collect();
            Box::new(Teddy::new(&windows))
        };
        let all: Vec<&Trigger> = triggers.iter().collect();
        if all.len() <= FEW {
            return Self::Teddy(windows_of(&all));
        }
        let (mut by_size, mut others, mut other_numbers) = ([const { Vec::new() }; 3], Vec::new(), Vec::new());
        for (number, trigger) in (0_u32..).zip(triggers) {
            let bytes = trigger.sequence.folded();
            match Size::of(&bytes).and_then(|size| by_size.get_mut(size as usize)) {
                Some(these) => these.push((number, bytes)),
                None => {
                    others.push(trigger);
                    other_numbers.push(number);
                }
            }
        }
        // A few short ones are found faster together with the others.
        if let [.., short] = &mut by_size
            && others.len() + short.len() <= FEW
        {
            for (number, _) in short.drain(..) {
                others.extend(triggers.get(number as usize));
                other_numbers.push(number);
            }
        }
        let windows = Size::ALL.into_iter().zip(&by_size).map(|(size, these)| LiteralWindows::new(these, size));
        Self::Many {
            windows: windows.filter(|windows| !windows.is_empty()).collect(),
            others: windows_of(&others),
            other_numbers,
        }
    }

    /// Tells where a trigger may stand: the offset of its rarest bytes, and its number.
    #[inline]
    fn find(&self, triggers: &[Trigger], bytes: &[u8], found: &mut dyn FnMut(usize, u32)) {
        match self {
            Self::Teddy(teddy) => teddy.find(bytes, |at, number| {
                found(at, number);
                false
            }),
            Self::Many { windows, others, other_numbers } => {
                for windows in windows {
                    windows.find(bytes, &mut |start, number| {
                        let rarest = triggers.get(number as usize).map_or(0, |trigger| trigger.sequence.rarest);
                        found(start.wrapping_add(rarest), number);
                    });
                }
                if other_numbers.is_empty() {
                    return;
                }
                others.find(bytes, |at, number| {
                    if let Some(number) = other_numbers.get(number as usize) {
                        found(at, *number);
                    }
                    false
                });
            }
        }
    }
}

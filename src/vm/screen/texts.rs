//! All texts and regular expressions that are looked for in the same values, in one pass.
//!
//! Each has triggers: sequences of bytes of which a match starts with one, or holds one. The pass looks for triggers; only where one stands
//! is the expression itself tried, on the one text around it. What has no trigger is tried on every text.

use super::atom::Searched;
use super::sequences::{self, Sequence};
use super::windows::{self, Windows};
use crate::bytecode::program::Program;
use crate::trace::facts::Texts;
use crate::trace::scan::Teddy;
use crate::vm::prepare::Prepared;
use memchr::memmem;

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
    sequence: Sequence,
    target: u32,
}

#[derive(Debug)]
enum Finder {
    /// For few.
    Teddy(Box<Teddy>),
    /// For many: those with enough plain bytes in a row by windows of these, the others with a finder of their own.
    Many { windows: Vec<Windows>, others: Box<Teddy>, other_numbers: Vec<u32> },
}

/// More sequences are looked for by windows.
const FEW: usize = 40;

impl Search {
    /// A search for these.
    pub(super) fn new<'s>(program: &Program, wanted: impl Iterator<Item = Searched<'s>>) -> Self {
        let (mut targets, mut triggers, mut untriggered) = (Vec::new(), Vec::new(), Vec::new());
        for (number, wanted) in (0_u32..).zip(wanted) {
            let (target, sequences) = match wanted {
                // Between two texts stands a zero byte: what holds one could be found where no text holds it.
                Searched::Text(text) => {
                    let one = Sequence::of_text(text).filter(|_| text.len() <= 64 && !text.contains('\0'));
                    (Target::Text, one.map(|one| vec![one]))
                }
                Searched::Regex(regex) => of_regex(program, regex),
            };
            targets.push(target);
            match sequences {
                Some(found) => triggers.extend(found.into_iter().map(|sequence| Trigger { sequence, target: number })),
                None => untriggered.push(number),
            }
        }
        let finder = Finder::new(&triggers);
        Self { targets, triggers, finder, untriggered }
    }

    /// Tells every target that stands in some text; some more than once. `wanted` says what a target is.
    pub(super) fn run<'s>(
        &self,
        texts: Haystack<'_>,
        wanted: &dyn Fn(u32) -> Option<Searched<'s>>,
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
            match self.targets.get(trigger.target as usize) {
                Some(Target::Text) => found(trigger.target),
                Some(Target::Regex(regex, needed)) => {
                    let (start, text) = texts.around(at);
                    if last != (trigger.target, start) {
                        last = (trigger.target, start);
                        if needed.iter().all(|needed| needed.find(text.as_bytes()).is_some())
                            && prepared.regex(*regex).is_some_and(|regex| regex.is_match(text))
                        {
                            found(trigger.target);
                        }
                    }
                }
                None => {}
            }
        });
        for target in &self.untriggered {
            let wanted = wanted(*target);
            let stands = |text: &str| match wanted {
                Some(Searched::Text(part)) => text.contains(part),
                Some(Searched::Regex(regex)) => prepared.regex(regex).is_some_and(|regex| regex.is_match(text)),
                None => false,
            };
            if texts.any(stands) {
                found(*target);
            }
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
fn of_regex(program: &Program, number: u32) -> (Target, Option<Vec<Sequence>>) {
    let pattern = program.regexes.get(number as usize).map_or("", |regex| regex.pattern.as_str());
    if let Some(starts) = sequences::of_starts(pattern) {
        return (Target::Regex(number, Vec::new()), Some(starts));
    }
    let mut inside = sequences::of_inside(pattern).into_iter();
    let trigger = inside.next().and_then(|text| Some(vec![Sequence::of_text(&text)?]));
    (Target::Regex(number, inside.map(|text| memmem::Finder::new(&text).into_owned()).collect()), trigger)
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
        let (mut by_stride, mut others, mut other_numbers) = ([Vec::new(), Vec::new()], Vec::new(), Vec::new());
        for (number, trigger) in (0_u32..).zip(triggers) {
            let bytes = trigger.sequence.folded();
            match windows::stride(&bytes) {
                Some(stride) => {
                    let [each, fourth] = &mut by_stride;
                    (if stride == 1 { each } else { fourth }).push((number, bytes));
                }
                None => {
                    others.push(trigger);
                    other_numbers.push(number);
                }
            }
        }
        let [each, fourth] = &by_stride;
        let finders = [Windows::new(each, 1), Windows::new(fourth, 4)];
        Self::Many {
            windows: finders.into_iter().filter(|windows| !windows.is_empty()).collect(),
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

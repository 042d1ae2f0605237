//! Places of an expression that something missing decided. The first evaluation only notes whether there are any.

use averment_base::source::Span;
use averment_base::truth::Truth;

/// Places kept per expression.
pub(super) const MOST: usize = 100_000;

/// Whether there is a place that a second look has to be taken at.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::vm) struct DoubtNotes {
    /// Whether a body was false, and whether one was true, because something was missing.
    pub(super) bodies: [bool; 2],
    /// The answer that such bodies have in a second look.
    pub(super) assumed: Option<bool>,
    /// Whether a list was made without some of its elements.
    pub(in crate::vm) leaves_out: bool,
}

impl DoubtNotes {
    /// The truth that a body of the outermost quantifier counts with.
    pub(in crate::vm) fn of_body(&mut self, truth: Truth) -> Truth {
        match truth.plain_answer() {
            Some(answer) if truth.by_missing() => {
                if let Some(noted) = self.bodies.get_mut(usize::from(answer)) {
                    *noted = true;
                }
                self.assumed.map_or(truth, Truth::from_bool)
            }
            _ => truth,
        }
    }

    pub(super) fn is_any(self) -> bool {
        self.bodies != [false; 2] || self.leaves_out
    }
}

/// Steps, and the number of elements of lists that are no steps.
#[derive(Debug, Default)]
pub(super) struct ListedPlaces {
    pub(super) steps: Vec<u32>,
    pub(super) elements: u32,
}

impl ListedPlaces {
    pub(super) fn add_place(&mut self, step: Option<u32>) {
        match step {
            None => self.elements = self.elements.saturating_add(1),
            Some(step) if self.steps.len() < MOST => self.steps.push(step),
            Some(_) => {}
        }
    }
}

/// What lists lack while an expression is evaluated with a value that is not recorded in each of these places.
#[derive(Debug, Default)]
pub(in crate::vm) struct FilledPlaces<'run> {
    pub(super) lacking: ListedPlaces,
    pub(super) judged: ListedPlaces,
    /// The key or the expression that the first of them lacks.
    pub(super) wanted: Option<(Option<&'run str>, Span)>,
}

impl<'run> FilledPlaces<'run> {
    pub(super) fn note_place(&mut self, step: Option<u32>, lacks: bool, wanted: (Option<&'run str>, Span)) {
        if lacks {
            self.wanted.get_or_insert(wanted);
        }
        let places = if lacks { &mut self.lacking } else { &mut self.judged };
        places.add_place(step);
    }
}

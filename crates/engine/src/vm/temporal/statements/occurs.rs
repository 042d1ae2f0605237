//! `require A`, `never A, B`, `either A or B`: whether something occurs.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, helping_operand, hurting_operand, to_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::VerdictEvidence;
use crate::vm::temporal::closed_form::{ClosedVerdict, ConditionOracle, FailingPlace, OccurrenceLookup};
use crate::vm::temporal::explain::{reason_with, short_text};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, event_hit};
use crate::vm::temporal::timeline::to_index;
use crate::vm::temporal::view::{Hit, MonitorView};

pub(super) fn require_statement(step: PatternId) -> StatementDefinition {
    StatementDefinition::new(vec![helping_operand(step)], ExerciseRule::Always, OccursSemantics { wanted: true })
}

/// `either A or B`.
pub(super) fn either_statement(steps: &[PatternId]) -> StatementDefinition {
    let statement = StatementDefinition::new(
        to_operands(steps, helping_operand),
        ExerciseRule::Always,
        OccursSemantics { wanted: true },
    );
    StatementDefinition { either: true, ..statement }
}

/// `never A, B`.
pub(super) fn never_statement(steps: &[PatternId]) -> StatementDefinition {
    StatementDefinition::new(
        to_operands(steps, hurting_operand),
        ExerciseRule::Always,
        OccursSemantics { wanted: false },
    )
}

#[derive(Debug)]
struct OccursSemantics {
    wanted: bool,
}

impl StatementSemantics for OccursSemantics {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        _: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        if self.wanted {
            let none = search.occurrences_from(0).all(|(_, occurrences)| occurrences.is_empty());
            return Ok(Some(
                search.fails_with(none.then_some(|view: &mut MonitorView<'_, '_>| Some(nothing_occurs(view)))),
            ));
        }
        // A step that matches several patterns is one.
        let places = search.list_steps(search.occurrences_from(0).flat_map(|(operand, occurrences)| {
            let events = occurrences.event_numbers().take(if search.lists_failures() { usize::MAX } else { 1 });
            events.map(move |event| FailingPlace::new(operand, occurrences, event))
        }));
        Ok(Some(
            search.fails_at(places, |view, place| {
                Some(occurs_reason(view, &event_hit(place.operand, place.event, view)?))
            }),
        ))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(OccursMonitor::new(view, self.wanted)))
    }
}

struct OccursMonitor {
    wanted: bool,
    /// True for a single pattern; several that want a match are counted.
    alone: bool,
    found: FailureList<Hit>,
}

impl OccursMonitor {
    fn new(view: &MonitorView<'_, '_>, wanted: bool) -> Self {
        Self { wanted, alone: view.operands.len() == 1, found: FailureList::for_view(view) }
    }
}

impl<'run> Monitor<'run> for OccursMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        if let Some(hit) = hits.iter().find(|hit| view.counts_match(hit)) {
            self.found.push(hit.clone());
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, _: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        let occurs = !self.found.is_empty();
        Ok(if self.wanted {
            PossibleOutcomes::holds_for_good(occurs)
        } else {
            PossibleOutcomes::fails_for_good(occurs)
        })
    }

    fn is_settled(&self) -> bool {
        !self.found.is_empty() && (self.alone || !self.wanted)
    }

    fn only_adds_failures(&self) -> bool {
        !self.wanted
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        match (self.found.first(), self.wanted) {
            (None, _) => nothing_occurs(view),
            // Where one is wanted, the first proves it.
            (Some(hit), true) => occurs_reason(view, hit),
            (Some(_), false) => self.found.explain_places(view, |view, hit| Some(occurs_reason(view, hit))),
        }
    }

    fn explain_pass(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        self.explain_failure(view)
    }
}

fn occurs_reason(view: &mut MonitorView<'_, '_>, hit: &Hit) -> VerdictReason {
    let text = short_text(view.pattern_text(hit.operand));
    let condition = view.written_of(hit).and_then(|alternative| alternative.condition);
    let (because, values) = condition.map_or_else(Default::default, |code| view.explain_condition(hit, code));
    let plain = view.pattern_words(hit.operand) == text;
    let reason = match because.as_str() {
        // A pattern that is nothing but a name has been said with the step.
        "" if plain => format!("there is {}", view.describe_step(hit.step)),
        "" => format!("{} matches `{text}`", view.describe_step(hit.step)),
        because => format!("{} matches `{text}`: {because}", view.describe_step(hit.step)),
    };
    let mut evidence = view.decisive_evidence(hit, String::new());
    evidence.extend(values);
    reason_with(reason, evidence)
}

fn nothing_occurs(view: &mut MonitorView<'_, '_>) -> VerdictReason {
    let things: Vec<String> =
        (0..view.operands.len()).map(|operand| view.describe_operand(operand, &view.header)).collect();
    let end = to_index(view.context.window.end);
    let mut evidence: Vec<VerdictEvidence> = Vec::new();
    for operand in 0..view.operands.len() {
        let header = view.header.clone();
        evidence.extend(view.near_miss(operand, &header, end, true).or_else(|| view.misspelled_name(operand)));
    }
    reason_with(format!("there is no {}", things.join(" and no ")), evidence)
}

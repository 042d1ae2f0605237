//! `require A`, `never A, B`, `either A or B`: whether something occurs.

use super::{ExerciseRule, StatementDefinition, StatementOperand, StatementSemantics};
use crate::vm::fault::Fault;
use crate::vm::temporal::decision::{Decision, FailingPlace, PlaceTally};
use crate::vm::temporal::explain::{reason_with, short_text};
use crate::vm::temporal::search::Search;
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason, event_hit};

pub(super) fn occurs_statement(operands: Vec<StatementOperand>, wanted: bool) -> StatementDefinition {
    StatementDefinition::new(operands, ExerciseRule::Always, OccursSemantics { wanted }).closed_if(true)
}

#[derive(Debug)]
struct OccursSemantics {
    wanted: bool,
}

impl StatementSemantics for OccursSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let mut found = PlaceTally::new(search);
        for operand in 0..search.operand_count() {
            found.is_enough = false;
            // Where one is wanted, the first proves it.
            for number in search.numbers(operand) {
                let Some(own) = search.match_at(operand, number) else { continue };
                if own.sure {
                    found.add_sure(own.place())
                } else {
                    found.add_possible(own.place())
                }
                if found.is_enough || self.wanted && own.sure {
                    break;
                }
            }
        }
        if !self.wanted {
            // A step that matches several patterns is one.
            found.unite_steps();
            return Ok(Some(found.decide(occurs_at).passing(nothing_occurs)));
        }
        let first = found.sure.iter().min().copied();
        let stands = PossibleOutcomes::wanted(first.is_some(), first.is_some() || found.possible.is_some());
        let stands = PossibleOutcomes { passed_for_good: first.is_some(), ..stands };
        let occurs = move |view: &mut WindowView<'_, '_>| first.and_then(|first| occurs_at(view, &first));
        let decision = Decision::new(stands).failing(nothing_occurs);
        Ok(Some(decision.passing(move |view| occurs(view).unwrap_or_default())))
    }
}

fn occurs_at(view: &mut WindowView<'_, '_>, place: &FailingPlace) -> Option<VerdictReason> {
    Some(occurs_reason(view, &event_hit(place.operand, place.event, view)?))
}

fn occurs_reason(view: &mut WindowView<'_, '_>, hit: &Hit) -> VerdictReason {
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

fn nothing_occurs(view: &mut WindowView<'_, '_>) -> VerdictReason {
    let things: Vec<String> =
        (0..view.operands.len()).map(|operand| view.describe_operand(operand, &view.header)).collect();
    let evidence = (0..view.operands.len()).filter_map(|operand| view.absent_evidence(operand)).collect();
    reason_with(format!("there is no {}", things.join(" and no ")), evidence)
}

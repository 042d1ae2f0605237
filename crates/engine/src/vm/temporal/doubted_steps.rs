//! Which of the steps that something missing decided could change what is said of a statement: it is judged again as if nothing were known
//! of them.

use super::statements::StatementDefinition;
use super::timeline::Timeline;
use super::verdict;
use super::view::WindowView;
use averment_runs::run::StepKind;

#[derive(Debug, Clone, Copy)]
pub(super) struct DoubtedStep {
    pub(super) operand: usize,
    pub(super) step: u32,
}

/// More steps are not examined individually.
const ONE_BY_ONE: usize = 32;

/// Steps whose other answer would change the result, each by itself, or all if only several together do.
pub(super) fn decisive_steps(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    doubts: Vec<DoubtedStep>,
    holds: bool,
) -> Vec<DoubtedStep> {
    // A match of one of these hurts wherever it stands.
    if doubts.is_empty() || statement.hurts_each() {
        return doubts;
    }
    if !could_change(view, statement, &doubts, holds) {
        Vec::new()
    } else if doubts.len() == 1 || doubts.len() > ONE_BY_ONE {
        doubts
    } else {
        let alone: Vec<DoubtedStep> =
            doubts.iter().filter(|one| could_change(view, statement, &[**one], holds)).copied().collect();
        if alone.is_empty() { doubts } else { alone }
    }
}

/// True if the result could differ with these matches unknown; an undecided result counts as different.
fn could_change(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    doubts: &[DoubtedStep],
    holds: bool,
) -> bool {
    let (timeline, header) = (doubted_timeline(view, doubts), view.header.clone());
    verdict::could_differ(view, statement, timeline, header, false, holds)
}

fn doubted_timeline<'run>(view: &WindowView<'_, 'run>, doubts: &[DoubtedStep]) -> Timeline<'run> {
    let window = view.context.window;
    let unique_patterns = view.operands.iter().map(|operand| operand.unique);
    view.timeline.with_matches(unique_patterns, |unique, known| {
        let names = view.plan.unique_pattern(unique).map_or(0, |unique| unique.names.len());
        let is_of = |doubt: &&DoubtedStep| view.operands.get(doubt.operand).is_some_and(|other| other.unique == unique);
        let kind = |step: u32| view.step(step).map_or(StepKind::Call, |step| step.kind);
        let mut steps: Vec<(u32, StepKind)> =
            doubts.iter().filter(is_of).map(|doubt| (doubt.step, kind(doubt.step))).collect();
        steps.sort_unstable_by_key(|(step, _)| *step);
        steps.dedup_by_key(|(step, _)| *step);
        known.with_doubts(&steps, names, window.start..window.end)
    })
}

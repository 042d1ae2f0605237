//! Of results that pass the steps that their patterns match, for reports that show runs step by step: nothing else says what a pass rests on.

use super::{RunResult, ThreadJudge};
use averment_engine::vm::derivation::DerivationPart;
use averment_engine::vm::evaluate::derive_run;
use averment_report::model::ResultReport;
use averment_runs::run::Run;
use bumpalo::Bump;
use std::collections::BTreeSet;

/// Steps listed per result.
const LISTED: usize = 200;

impl<'p> ThreadJudge<'p> {
    /// The last report must be that of the run.
    pub(super) fn add_matched<'a>(&mut self, run: &'a Run<'a>, full: &'a Bump)
    where
        'p: 'a,
    {
        let lacks = |result: &ResultReport| result.has_passed() && result.evidence.is_empty();
        let Some(RunResult::Run(report)) = self.done.last_mut() else { return };
        if !report.results.iter().any(lacks) {
            return;
        }
        let table = &self.pipeline.table;
        for (program, one) in self.programs.iter().enumerate() {
            let rules = one.rules;
            let (_, derivations) = derive_run(rules.program, rules.prepared, run, full, rules.options);
            for derivation in derivations {
                let item = table.item_index(program, derivation.outcome.assertion);
                let result = report.results.iter_mut().find(|result| Some(result.item) == item);
                if let Some(result) = result.filter(|result| lacks(result)) {
                    let mut steps = BTreeSet::new();
                    derivation.parts.iter().for_each(|part| collect_steps(part, &mut steps));
                    result.matched = steps.into_iter().map(|step| step.saturating_add(1)).take(LISTED).collect();
                }
            }
        }
    }
}

/// Parts nest no deeper than rules.
fn collect_steps(part: &DerivationPart, into: &mut BTreeSet<u32>) {
    let patterns = part.temporal.iter().flat_map(|temporal| &temporal.patterns);
    into.extend(patterns.flat_map(|pattern| &pattern.hits).filter(|hit| hit.sure).map(|hit| hit.step));
    part.parts.iter().for_each(|part| collect_steps(part, into));
}

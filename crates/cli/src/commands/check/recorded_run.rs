//! A rule file of another system that brings the run that it is about: a suite with recorded outputs, which needs no trace.

use crate::commands::inputs::TraceInput;
use averment_base::truth::Verdict;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::select::RuleSelection;

/// The recorded run of a lone foreign rule file with one test; selects that test's rules unless others are.
pub(super) fn recorded_run(programs: &[Program], selection: &mut RuleSelection) -> Option<TraceInput> {
    let [program] = programs else { return None };
    let [test] = program.tests.as_slice() else { return None };
    program.own_verdicts.as_ref().filter(|_| test.expect == Verdict::Pass)?;
    if selection.rules.is_empty() {
        let rules = test.rules.iter().filter_map(|number| program.rules.get(*number as usize));
        selection.rules = rules.map(|rule| rule.id.clone()).collect();
    }
    Some(TraceInput::Made { name: test.name.clone(), bytes: test.run.clone().into(), names: Vec::new() })
}

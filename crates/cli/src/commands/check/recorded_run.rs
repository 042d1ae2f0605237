//! Rule files of other systems that contain the run to judge: suites with recorded outputs, which need no trace.

use crate::commands::inputs::TraceInput;
use averment_base::truth::Verdict;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::select::RuleSelection;

/// Returns the recorded run of a single foreign rule file with one test. Selects the rules of that test unless rules are already selected.
pub(super) fn recorded_run(programs: &[Program], selection: &mut RuleSelection) -> Option<TraceInput> {
    let [program] = programs else { return None };
    let [test] = program.tests.as_slice() else { return None };
    program.own_verdicts.as_ref().filter(|_| test.expect == Verdict::Pass)?;
    if selection.rules.is_empty() {
        let rules = test.rules.iter().filter_map(|number| program.rules.get(*number as usize));
        selection.rules = rules.map(|rule| rule.id.clone()).collect();
    }
    Some(TraceInput::Made { name: test.name.clone(), bytes: test.run.clone().into_bytes(), names: Vec::new() })
}

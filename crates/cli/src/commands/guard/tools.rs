//! The tools that rules name, for whoever knows which tools there are.

use averment::Rules;
use averment_engine::vm::named_tools::named_tools;
use averment_engine::vm::select::RuleSelection;
use averment_guard::mcp::{NamedTool, ToolCheck};

/// Names that are tools to the letter: what a glob means need not be there.
pub(super) fn tool_check(rules: &Rules) -> ToolCheck {
    let mut named = Vec::new();
    for program in rules.compiled_programs() {
        for (name, span) in named_tools(program, &RuleSelection::default()).whole {
            if name.contains(['*', '?']) {
                continue;
            }
            let Some(source) = program.sources.get(span.file.0 as usize) else { continue };
            let before = source.text.get(..span.start as usize).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            named.push(NamedTool { name: name.to_owned(), place: format!("{}:{line}", source.name) });
        }
    }
    ToolCheck::new(named)
}

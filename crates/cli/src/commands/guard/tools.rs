//! The tools that rules name, to compare with the tools that exist.

use averment::Rules;
use averment_engine::vm::named_tools::named_tools;
use averment_engine::vm::select::RuleSelection;
use averment_guard::mcp::{NamedTool, ToolCheck};

/// Collects exact tool names. Globs are skipped, because they may match nothing.
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

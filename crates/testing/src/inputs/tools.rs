//! Selects the tools of the catalog for which inputs are generated: those whose calls the invariant judges.

use super::ANY_TOOL;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, Slug};
use averment_base::limits::Limits;
use averment_base::source::Span;
use averment_checker::ir::{CheckedModule, GeneratedCall, InputsSpec};
use averment_engine::bytecode::program::{PatternId, Program};
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate_with_coverage};
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::select::RuleSelection;
use bumpalo::Bump;
use serde_json::json;

/// Evaluates which tools match, on a run with one call of each.
pub(super) struct ToolFitting<'a> {
    module: &'a CheckedModule,
    program: &'a Program,
    prepared: PreparedProgram,
    limits: &'a Limits,
}

impl<'a> ToolFitting<'a> {
    pub fn new(module: &'a CheckedModule, program: &'a Program, limits: &'a Limits) -> Self {
        Self { module, program, prepared: PreparedProgram::new(program), limits }
    }

    /// Returns the tools that a call may mean, in the order of the catalog.
    pub fn fitting_tools(&mut self, call: &GeneratedCall, said: &mut Diagnostics) -> Vec<String> {
        if call.tool.is_some() {
            return call.tool_name(&self.program.params).into_iter().collect();
        }
        if self.module.tools.is_empty() && matches!(call.inputs, InputsSpec::Schema(_)) {
            // The missing schema is reported elsewhere.
            return vec![ANY_TOOL.to_owned()];
        }
        if self.module.tools.is_empty() {
            let message = format!("which tools there are is not known: `{ANY_TOOL}` stands for the name of each");
            let diagnostic = Diagnostic::new(Slug::UnknownTool, call.span, message)
                .with_help("give a catalogue of them: `--tools FILE`, or `tools from \"FILE\"` in the rules");
            said.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
            return vec![ANY_TOOL.to_owned()];
        }
        let patterns = patterns_at(self.program, call.span);
        if patterns.is_empty() {
            let message = "no assertion stands behind this call: whatever it answers, nothing is judged";
            said.push(Diagnostic::new(Slug::Misplaced, call.span, message).with_help("write an assertion behind it"));
            return Vec::new();
        }
        let names = self.module.tools.iter().map(|tool| &tool.name);
        let fitting: Vec<String> = names.filter(|name| self.tool_fits(call, &patterns, name)).cloned().collect();
        if fitting.is_empty() {
            let message = format!("none of the {} tools of the catalogue fits", self.module.tools.len());
            let diagnostic = Diagnostic::new(Slug::UnknownTool, call.span, message);
            let diagnostic = diagnostic.with_help("look at the condition behind `where`");
            said.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
        }
        fitting
    }

    /// True if a run with only a call of this tool is judged.
    fn tool_fits(&self, call: &GeneratedCall, patterns: &[PatternId], tool: &str) -> bool {
        let rule = self.module.rules.get(call.rule as usize).map(|rule| rule.id.clone());
        let options = EvaluateOptions {
            selection: RuleSelection { rules: rule.into_iter().collect(), ..RuleSelection::default() },
            limits: *self.limits,
            violations: Some(0),
            ..EvaluateOptions::default()
        };
        let text = json!({"calls": [{"tool": tool, "args": {}, "result": null, "status": "ok"}]}).to_string();
        let arena = Bump::new();
        let Ok(run) = averment_traces::read_str(&text, &arena, self.limits) else { return false };
        let (_, seen) = evaluate_with_coverage(self.program, &self.prepared, &run, &arena, &options);
        patterns.iter().any(|&pattern| seen.is_matched(pattern))
    }
}

fn patterns_at(program: &Program, place: Span) -> Vec<PatternId> {
    let is_it = |span: Span| span.file == place.file && span.start == place.start;
    let all = (0_u32..).zip(&program.patterns);
    all.filter(|(_, pattern)| is_it(pattern.span)).map(|(number, _)| PatternId(number)).collect()
}

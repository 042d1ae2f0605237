//! Properties, fields and methods of the report that suites read.

use super::*;

/// Owner type, name in SkillGym, name here, type of the property.
pub(super) const PROPERTIES: &[(RunExprKind, &str, &str, RunExprKind)] = &[
    (RunExprKind::Report, "finalOutput", "output", RunExprKind::Text),
    (RunExprKind::Report, "prompt", "prompt", RunExprKind::Text),
    (RunExprKind::Report, "durationMs", "duration", RunExprKind::Time),
    (RunExprKind::Report, "detectedSkills", "skills", RunExprKind::Skills),
    (RunExprKind::Report, "usage", "usage", RunExprKind::Usage),
    (RunExprKind::Report, "files", "", RunExprKind::Files),
    (RunExprKind::Report, "runner", "meta", RunExprKind::Runner),
    (RunExprKind::Usage, "inputTokens", "usage.input_tokens", RunExprKind::Number),
    (RunExprKind::Usage, "outputTokens", "usage.output_tokens", RunExprKind::Number),
    (RunExprKind::Usage, "reasoningTokens", "usage.reasoning_tokens", RunExprKind::Number),
    (RunExprKind::Usage, "cacheTokens", "usage.cache_read_tokens", RunExprKind::Number),
    (RunExprKind::Usage, "totalTokens", "usage.total_tokens", RunExprKind::Number),
    (RunExprKind::Usage, "inputChars", "length(prompt)", RunExprKind::Number),
    (RunExprKind::Usage, "outputChars", "length(output)", RunExprKind::Number),
    (RunExprKind::Files, "observedReads", "reads", RunExprKind::Reads),
    (RunExprKind::Runner, "id", "meta.runner", RunExprKind::Text),
    (RunExprKind::Runner, "agent", "meta", RunExprKind::Agent),
    (RunExprKind::Agent, "type", "meta.agent", RunExprKind::Text),
    (RunExprKind::Agent, "model", "meta.model", RunExprKind::Text),
    (RunExprKind::Result, "error", "", RunExprKind::Failure),
    (RunExprKind::Failure, "message", "message", RunExprKind::Message),
];

/// Owner type, name in SkillGym, name here, type of the field.
pub(super) const FIELDS: &[(RunExprKind, &str, &str, RunExprKind)] = &[
    (RunExprKind::Call, "tool", "tool", RunExprKind::Text),
    (RunExprKind::Call, "args", "args", RunExprKind::Any),
    (RunExprKind::Skill, "skill", "name", RunExprKind::Text),
    (RunExprKind::Skill, "confidence", "confidence", RunExprKind::Text),
];

pub(super) const ASKED: &[(&str, &str, RunExprKind)] = &[
    ("getCommands", "commands", RunExprKind::Commands),
    ("getToolCalls", "calls", RunExprKind::Calls),
    ("getFileReads", "reads", RunExprKind::Reads),
    ("detectedSkills", "skills", RunExprKind::Skills),
    ("finalOutput", "output", RunExprKind::Text),
];

/// Returns the field that SkillGym has in place of the whole element: the path of a read, the text of a command.
pub(super) fn element_field(kind: RunExprKind) -> &'static str {
    match kind {
        RunExprKind::Reads => "path",
        RunExprKind::Commands => "command",
        _ => "",
    }
}

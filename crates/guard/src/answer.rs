//! Answers to hooks in each agent's protocol. The guard never allows a call explicitly, because that would skip the agent's own permission prompt.

use crate::agent::Agent;
pub use averment::guard::Decision;
use serde_json::{Value, json};

/// The output of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookAnswer {
    /// Standard output: empty, or one JSON object.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code: 0, or 2 to block without an object on standard output.
    pub code: u8,
}

impl Agent {
    /// Returns a decision in the agent's protocol.
    #[must_use]
    pub fn answer(self, decision: &Decision) -> HookAnswer {
        let object = match decision {
            Decision::Pass => return HookAnswer::default(),
            Decision::Complain(text) => return HookAnswer { stderr: line(text), code: 1, ..HookAnswer::default() },
            // Exit code 2 blocks the call in every agent. For Copilot, an object with the same decision is written too.
            Decision::Refuse(text) => {
                let stdout = if self == Self::Copilot { line(&self.denial(text).to_string()) } else { String::new() };
                return HookAnswer { stdout, stderr: line(text), code: 2 };
            }
            Decision::Warn(text) => match self {
                Self::Claude | Self::Codex | Self::Gemini => json!({ "systemMessage": text }),
                Self::Cursor | Self::Copilot => return HookAnswer { stderr: line(text), ..HookAnswer::default() },
            },
            Decision::Deny(text) => self.denial(text),
            Decision::HoldBack(text) => match self {
                Self::Claude | Self::Codex | Self::Copilot => json!({ "decision": "block", "reason": text }),
                Self::Gemini => json!({ "decision": "deny", "reason": text }),
                Self::Cursor => json!({ "followup_message": text }),
            },
        };
        HookAnswer { stdout: line(&object.to_string()), ..HookAnswer::default() }
    }

    fn denial(self, text: &str) -> Value {
        match self {
            // Without the name of the event, the agent ignores the decision.
            Self::Claude | Self::Codex => json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": text,
            } }),
            Self::Gemini => json!({ "decision": "deny", "reason": text }),
            Self::Cursor => json!({ "permission": "deny", "user_message": text, "agent_message": text }),
            Self::Copilot => json!({ "permissionDecision": "deny", "permissionDecisionReason": text }),
        }
    }
}

fn line(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

//! Events of a session, and the lines that record them in its log. `aver check` reads logs as a separate trace format.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A call that an agent proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCall {
    /// Its id, if the protocol has one.
    pub id: Option<String>,
    /// The name of the tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The sub-agent that makes the call; `None` for the agent itself.
    pub agent: Option<String>,
}

impl ProposedCall {
    /// Creates a call of the agent itself. Each call of a session needs a unique id.
    #[must_use]
    pub fn new(id: impl Into<String>, tool: impl Into<String>, args: Value) -> Self {
        Self { id: Some(id.into()), tool: tool.into(), args, agent: None }
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEnd {
    /// The call, as far as the result identifies it.
    pub call: ProposedCall,
    /// The result; `None` if it is unknown.
    pub result: Option<Value>,
    /// The error.
    pub error: Option<Value>,
}

impl CallEnd {
    /// Creates the end of a call, with its result or its error.
    #[must_use]
    pub fn of(call: ProposedCall, ended: Result<Value, Value>) -> Self {
        let (result, error) = match ended {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self { call, result, error }
    }
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// The author of the agent's instructions.
    System,
}

impl MessageRole {
    /// Returns its word: `user`, `assistant` or `system`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::System].into_iter().find(|role| role.as_str() == word)
    }
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// A session begins.
    Start,
    /// A call is proposed, and waits for the answer.
    Propose(ProposedCall),
    /// A call has ended.
    End(CallEnd),
    /// A message: the role and the text.
    Say(&'static str, String),
    /// The agent wants to stop; true if it was held back before.
    Stop(bool),
    /// An event that rules do not see.
    Other,
}

/// Maximum size of a recorded result, in bytes. A larger one counts as not recorded.
const MAX_RESULT: usize = 1 << 20;

/// A line of a log.
#[derive(Debug, Serialize)]
#[serde(tag = "guard", rename_all = "lowercase")]
pub enum LogLine<'a> {
    /// The first line.
    Session {
        /// The id of the session.
        id: &'a str,
        /// The agent whose protocol it is.
        agent: &'a str,
        /// Milliseconds since 1970.
        time: u64,
        /// True if all messages of the session are reported.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        messages: bool,
        /// Number of following lines that come from the agent's own transcript.
        #[serde(skip_serializing_if = "Option::is_none")]
        seeded: Option<usize>,
    },
    /// A call that was allowed.
    Call(CallLine<'a>),
    /// A call that was denied.
    Denied(CallLine<'a>),
    /// The result of a call.
    Result {
        /// The id of the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        /// Its tool.
        tool: &'a str,
        /// Milliseconds since 1970; `None` if it is not recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<u64>,
        /// The result.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Box<RawValue>>,
        /// The error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a Value>,
    },
    /// A message.
    Message {
        /// `user`, `assistant` or `system`.
        role: &'a str,
        /// The text of the message.
        text: &'a str,
        /// Milliseconds since 1970; `None` if it is not recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<u64>,
    },
    /// A rule that an allowed call broke.
    Warned {
        /// The id of the assertion.
        rule: &'a str,
        /// The reason.
        reason: &'a str,
        /// Milliseconds since 1970; `None` if it is not recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<u64>,
    },
    /// The agent stopped.
    Stop {
        /// Milliseconds since 1970.
        time: u64,
    },
}

/// A call in a log.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CallLine<'a> {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a str>,
    /// Its tool.
    pub tool: &'a str,
    /// Its arguments.
    pub args: &'a Value,
    /// The sub-agent that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'a str>,
    /// Milliseconds since 1970; `None` if it is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    /// The assertion that denied it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'a str>,
    /// The reason that the agent received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

impl<'a> CallLine<'a> {
    /// Creates the line of a call.
    #[must_use]
    pub fn of(call: &'a ProposedCall, time: u64) -> Self {
        let ProposedCall { id, tool, args, agent } = call;
        Self { id: id.as_deref(), tool, args, by: agent.as_deref(), time: Some(time), rule: None, reason: None }
    }
}

impl<'a> LogLine<'a> {
    /// Creates the line of a result. A result over the size limit is left out, and counts as not recorded.
    #[must_use]
    pub fn of_end(end: &'a CallEnd, time: u64) -> Self {
        let result = end.result.as_ref().and_then(|value| serde_json::value::to_raw_value(value).ok());
        let result = result.filter(|raw| raw.get().len() <= MAX_RESULT);
        Self::Result {
            id: end.call.id.as_deref(),
            tool: &end.call.tool,
            time: Some(time),
            result,
            error: end.error.as_ref(),
        }
    }

    /// Returns the line as JSON, with its line end.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

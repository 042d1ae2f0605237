//! What happens in a session, and the lines in which its log says so. `aver check` reads these as a trace of its own format.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A call that an agent proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCall {
    /// Its id, where the protocol has one.
    pub id: Option<String>,
    /// The name of the tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The sub-agent that makes it.
    pub agent: Option<String>,
}

impl ProposedCall {
    /// A call of the agent itself. Each call of a session has an id of its own.
    #[must_use]
    pub fn new(id: impl Into<String>, tool: impl Into<String>, args: Value) -> Self {
        Self { id: Some(id.into()), tool: tool.into(), args, agent: None }
    }
}

/// What a call gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEnd {
    /// The call, as its result names it.
    pub call: ProposedCall,
    /// What came back; `None` where it is not told.
    pub result: Option<Value>,
    /// What went wrong.
    pub error: Option<Value>,
}

impl CallEnd {
    /// The end of a call: what came back, or what went wrong.
    #[must_use]
    pub fn of(call: ProposedCall, ended: Result<Value, Value>) -> Self {
        let (result, error) = match ended {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self { call, result, error }
    }
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// Whoever instructs the agent.
    System,
}

impl MessageRole {
    /// Its word: `user`, `assistant` or `system`.
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

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// A session begins.
    Start,
    /// A call is proposed, and waits for the answer.
    Propose(ProposedCall),
    /// A call has ended.
    End(CallEnd),
    /// Somebody said something: the role and the text.
    Say(&'static str, String),
    /// The agent wants to stop; true where it was held back before.
    Stop(bool),
    /// Nothing that rules see.
    Other,
}

/// The most bytes of a result that are kept: a larger one counts as not recorded.
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
        /// Whether all that is said in the session is told.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        messages: bool,
        /// How many lines behind this one were taken from what the agent itself recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        seeded: Option<usize>,
    },
    /// A call that was let through.
    Call(CallLine<'a>),
    /// A call that was not.
    Denied(CallLine<'a>),
    /// What a call gave back.
    Result {
        /// The id of the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        /// Its tool.
        tool: &'a str,
        /// Milliseconds since 1970; `None` where that is not recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<u64>,
        /// What came back.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Box<RawValue>>,
        /// What went wrong.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a Value>,
    },
    /// What somebody said.
    Message {
        /// `user`, `assistant` or `system`.
        role: &'a str,
        /// The words.
        text: &'a str,
        /// Milliseconds since 1970; `None` where that is not recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<u64>,
    },
    /// A call that broke a rule and was let through.
    Warned {
        /// The id of the assertion.
        rule: &'a str,
        /// Why.
        reason: &'a str,
        /// Milliseconds since 1970; `None` where that is not recorded.
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
    /// Milliseconds since 1970; `None` where that is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    /// The assertion that denied it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'a str>,
    /// What the agent was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

impl<'a> CallLine<'a> {
    /// The line of a call.
    #[must_use]
    pub fn of(call: &'a ProposedCall, time: u64) -> Self {
        let ProposedCall { id, tool, args, agent } = call;
        Self { id: id.as_deref(), tool, args, by: agent.as_deref(), time: Some(time), rule: None, reason: None }
    }
}

impl<'a> LogLine<'a> {
    /// The line of a result. What is too large to be kept is left out, and counts as not recorded.
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

    /// The line with its end.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

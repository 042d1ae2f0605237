//! The names that home-grown formats give to the parts of a run: one table, for the full reader and for the fast one, and what a file of
//! the user adds to it.

mod file;

use file::Given;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Names for one part, the first one that is there counts.
pub type List = Vec<Cow<'static, str>>;

/// The names of all parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The list of the calls.
    pub calls: List,
    /// Of a call: its tool.
    pub tool: List,
    /// Of a call: its arguments.
    pub args: List,
    /// Of a call: its result.
    pub result: List,
    /// Of a call and of a run: its error.
    pub error: List,
    /// Of a call: its start.
    pub start: List,
    /// Of a call: its end.
    pub end: List,
    /// Of a call and of a run: its duration in milliseconds.
    pub milliseconds: List,
    /// Of a call and of a run: its duration in seconds.
    pub seconds: List,
    /// Of a call: its id.
    pub call_id: List,
    /// Of a call: a word that says how it ended.
    pub status: List,
    /// Of a call: whether it went well.
    pub ok: List,
    /// Of a call: its turn.
    pub turn: List,
    /// Of a call: the agent that made it.
    pub agent: List,
    /// Of a run: its id.
    pub id: List,
    /// Of a run: what it was given.
    pub input: List,
    /// Of a run: its final output.
    pub output: List,
    /// Of a run: its cost in USD.
    pub cost: List,
    /// Of a run: its counts of tokens.
    pub usage: List,
    /// Of a run: its messages.
    pub messages: List,
    /// The names of a call's parts, with the part and the rank of the name.
    parts: FxHashMap<Cow<'static, str>, (Part, u8)>,
    /// What a user has named.
    given: Vec<Given>,
}

/// A part of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum Part {
    Tool,
    Args,
    Result,
    Error,
    Start,
    End,
    Milliseconds,
    Seconds,
    Id,
    Status,
    Ok,
    Turn,
    Agent,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 13] = [
        Self::Tool,
        Self::Args,
        Self::Result,
        Self::Error,
        Self::Start,
        Self::End,
        Self::Milliseconds,
        Self::Seconds,
        Self::Id,
        Self::Status,
        Self::Ok,
        Self::Turn,
        Self::Agent,
    ];

    /// The word for it in a file of the user.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Seconds => "duration_s",
            Self::Id => "call_id",
            part => part.normal(),
        }
    }

    /// Its name in the normal form. What that has no name for is not read from it.
    pub(crate) fn normal(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Args => "args",
            Self::Result => "result",
            Self::Error => "error",
            Self::Start => "start",
            Self::End => "end",
            Self::Milliseconds => "duration",
            Self::Seconds => "",
            Self::Id => "id",
            Self::Status => "status",
            Self::Ok => "ok",
            Self::Turn => "turn",
            Self::Agent => "agent",
        }
    }
}

fn list(names: &[&'static str]) -> List {
    names.iter().map(|name| Cow::Borrowed(*name)).collect()
}

impl Names {
    /// The names that are known without being told.
    #[must_use]
    pub fn known() -> &'static Self {
        static KNOWN: LazyLock<Names> = LazyLock::new(Names::default);
        &KNOWN
    }

    /// The parts that a user has named, with each of their names.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.given.iter().map(|one| (one.part.as_str(), one.name.as_str()))
    }

    /// The names of a part of a call.
    pub(crate) fn of_part(&self, part: Part) -> &List {
        match part {
            Part::Tool => &self.tool,
            Part::Args => &self.args,
            Part::Result => &self.result,
            Part::Error => &self.error,
            Part::Start => &self.start,
            Part::End => &self.end,
            Part::Milliseconds => &self.milliseconds,
            Part::Seconds => &self.seconds,
            Part::Id => &self.call_id,
            Part::Status => &self.status,
            Part::Ok => &self.ok,
            Part::Turn => &self.turn,
            Part::Agent => &self.agent,
        }
    }

    /// The part of a call that a key names, and the rank of the name.
    pub(crate) fn part(&self, key: &str) -> Option<(Part, u8)> {
        self.parts.get(key).copied()
    }

    /// The list that a file calls by this word.
    fn list_of(&mut self, word: &str) -> Option<&mut List> {
        Some(match word {
            "calls" => &mut self.calls,
            "tool" => &mut self.tool,
            "args" => &mut self.args,
            "result" => &mut self.result,
            "error" => &mut self.error,
            "start" => &mut self.start,
            "end" => &mut self.end,
            "duration" => &mut self.milliseconds,
            "duration_s" => &mut self.seconds,
            "call_id" => &mut self.call_id,
            "status" => &mut self.status,
            "ok" => &mut self.ok,
            "turn" => &mut self.turn,
            "agent" => &mut self.agent,
            "id" => &mut self.id,
            "input" => &mut self.input,
            "output" => &mut self.output,
            "cost" => &mut self.cost,
            "usage" => &mut self.usage,
            "messages" => &mut self.messages,
            _ => return None,
        })
    }

    /// Makes the look-up of parts. A name that stands for two parts is the one that a user gave it, else the first of them.
    fn indexed(mut self, given: Vec<Given>) -> Self {
        let mut parts = FxHashMap::default();
        for of_user in [true, false] {
            for part in Part::ALL {
                for (rank, name) in (0_u8..).zip(self.of_part(part)) {
                    if !of_user || given.iter().any(|one| one.part == part.word() && one.name == *name) {
                        parts.entry(name.clone()).or_insert((part, rank));
                    }
                }
            }
        }
        (self.parts, self.given) = (parts, given);
        self
    }

    /// Whether a key of a run is read under a name of the normal form, or hides one.
    pub(crate) fn is_of_run(&self, key: &str) -> bool {
        let lists = [&self.id, &self.input, &self.output, &self.error, &self.milliseconds, &self.seconds, &self.cost];
        lists.into_iter().chain([&self.usage, &self.messages]).any(|list| has(list, key))
            || matches!(key, "calls" | "steps" | "turn")
    }
}

pub(crate) fn has(list: &[Cow<'static, str>], key: &str) -> bool {
    list.iter().any(|name| name == key)
}

impl Default for Names {
    fn default() -> Self {
        Self {
            calls: list(&[
                "tool_calls",
                "toolCalls",
                "tool_uses",
                "function_calls",
                "tools_called",
                "tool_invocations",
                "actions",
            ]),
            tool: list(&["tool", "name", "tool_name", "toolName", "function_name", "function"]),
            args: list(&[
                "args",
                "arguments",
                "input",
                "inputs",
                "parameters",
                "params",
                "kwargs",
                "tool_input",
                "tool_args",
            ]),
            result: list(&["result", "output", "outputs", "response", "observation", "tool_output", "return_value"]),
            error: list(&["error", "error_message", "exception"]),
            start: list(&["start", "start_ms", "start_time", "started_at", "startTime", "timestamp"]),
            end: list(&["end", "end_ms", "end_time", "ended_at", "endTime"]),
            milliseconds: list(&["duration", "duration_ms", "latency_ms", "elapsed_ms", "durationMs"]),
            seconds: list(&[
                "duration_s",
                "duration_seconds",
                "latency_s",
                "latency_seconds",
                "elapsed_s",
                "elapsed_seconds",
            ]),
            call_id: list(&["id", "call_id", "tool_call_id"]),
            status: list(&["status", "outcome"]),
            ok: list(&["ok", "success"]),
            turn: list(&["turn", "turn_index"]),
            agent: list(&["agent", "agent_name", "agent_id"]),
            id: list(&["id", "run_id", "trace_id", "traceId", "session_id"]),
            input: list(&["inputs", "input", "prompt", "question", "query"]),
            output: list(&["output", "final_output", "answer", "final_answer", "response", "completion", "result"]),
            cost: list(&["cost", "cost_usd", "total_cost", "total_cost_usd", "costUsd"]),
            usage: list(&["usage", "token_usage"]),
            messages: list(&["messages"]),
            parts: FxHashMap::default(),
            given: Vec::new(),
        }
        .indexed(Vec::new())
    }
}

//! The names of the normal form: the entries of a run, the fields of its steps, the counts of its usage. What reads or writes a run in
//! normal form asks by these; the names of the lists of steps are those of their kinds ([`super::run::StepKind::list_key`]).

use crate::run::StepKind;
use averment_base::near::{NearMiss, is_other_number, near_miss};
use averment_base::value::{Object, ObjectEntry, Value};

/// The entries of a run beside its steps.
#[allow(missing_docs, reason = "each is the word itself")]
pub mod of_run {
    pub const ID: &str = "id";
    pub const INPUTS: &str = "inputs";
    pub const PROMPT: &str = "prompt";
    pub const OUTPUT: &str = "output";
    pub const STEPS: &str = "steps";
    pub const USAGE: &str = "usage";
    pub const COST: &str = "cost";
    pub const DURATION: &str = "duration";
    pub const TURNS: &str = "turns";
    pub const ERROR: &str = "error";
    pub const META: &str = "meta";
    pub const ENV: &str = "env";
    pub const TOOLS: &str = "tools";
    pub const FILES: &str = "files";
    pub const COMPLETE: &str = "complete";
    /// The roles whose words the run leaves out. No rule asks for it by name.
    pub const UNRECORDED_ROLES: &str = "unrecorded_roles";

    /// All that rules ask for.
    pub const ALL: [&str; 15] =
        [ID, INPUTS, PROMPT, OUTPUT, STEPS, USAGE, COST, DURATION, TURNS, ERROR, META, ENV, TOOLS, FILES, COMPLETE];
}

/// The fields of steps; [`super::run::StepKind::fields`] says which kind has which.
#[allow(missing_docs, reason = "each is the word itself")]
pub mod of_step {
    pub const TOOL: &str = "tool";
    pub const ARGS: &str = "args";
    pub const RESULT: &str = "result";
    pub const ERROR: &str = "error";
    pub const OK: &str = "ok";
    pub const STATUS: &str = "status";
    pub const START: &str = "start";
    pub const END: &str = "end";
    pub const DURATION: &str = "duration";
    pub const TURN: &str = "turn";
    pub const INDEX: &str = "index";
    pub const ID: &str = "id";
    pub const AGENT: &str = "agent";
    pub const KIND: &str = "kind";
    pub const ROLE: &str = "role";
    pub const TEXT: &str = "text";
    /// Replaces the text of a message.
    pub const CONTENT: &str = "content";
    /// Additional data of the program about a result.
    pub const DETAILS: &str = "details";
    pub const COMMAND: &str = "command";
    pub const PROGRAM: &str = "program";
    pub const FLAGS: &str = "flags";
    pub const OPTIONS: &str = "options";
    pub const PARTS: &str = "parts";
    pub const EXIT_CODE: &str = "exit_code";
    pub const OUTPUT: &str = "output";
    pub const PATH: &str = "path";
    /// The path of a file as it was recorded.
    pub const RECORDED_PATH: &str = "recorded_path";
    /// The path of a file, where it is known which file that is.
    pub const LOCATION: &str = "location";
    pub const NAME: &str = "name";
    pub const METHOD: &str = "method";
    pub const URL: &str = "url";
    pub const ATTRIBUTES: &str = "attributes";
    pub const PARENT_ID: &str = "parent_id";
    /// The raw response, if `result` is a part of it: a protocol envelope.
    pub const RESPONSE: &str = "response";
    /// The tags of the tool of a call.
    pub const TAGS: &str = "tags";
    /// The catalog's data about the tool of a call.
    pub const ANNOTATIONS: &str = "annotations";
    /// The agent that takes over.
    pub const TO: &str = "to";
    /// Number of agents above the one that takes over.
    pub const DEPTH: &str = "depth";
    /// In the status of a span.
    pub const CODE: &str = "code";

    /// The fields of a call that say how it ended: where one of them is recorded, results are.
    pub const OUTCOME: [&str; 4] = [RESULT, ERROR, STATUS, OK];
    /// Those of which `null` says that nothing is known.
    pub const UNKNOWN_AS_NULL: [&str; 3] = [ERROR, STATUS, OK];
    /// Whether a call went wrong, as protocols write it beside or inside of its result.
    pub const IS_ERROR: [&str; 2] = ["is_error", "isError"];
}

/// The roles of messages.
#[allow(missing_docs, reason = "each is the word itself")]
pub mod role {
    pub const ASSISTANT: &str = "assistant";
    pub const USER: &str = "user";
    pub const SYSTEM: &str = "system";
    pub const THINKING: &str = "thinking";
    /// The task that the main agent gave to another one.
    pub const TASK: &str = "task";

    /// The roles of whom gives a run its turns.
    pub const OF_ASSISTANT: [&str; 3] = [ASSISTANT, "ai", "model"];
    /// The roles of thoughts.
    pub const OF_THOUGHTS: [&str; 2] = [THINKING, "reasoning"];
    /// The roles of those who ask and tell.
    pub const OF_OTHERS: [&str; 4] = [USER, "human", SYSTEM, "developer"];
}

/// The name of the agent that nobody handed anything to, where a run names its agents.
pub const MAIN_AGENT: &str = "main";

/// What adapters put into `meta`.
#[allow(missing_docs, reason = "each is the word itself")]
pub mod of_meta {
    pub const CWD: &str = "cwd";
    pub const VERSION: &str = "version";
    pub const GIT_BRANCH: &str = "git_branch";
    pub const MODEL: &str = "model";
    pub const SESSION: &str = "session";
    /// The case that a run is of: `case NAME` judges it.
    pub const CASE: &str = "case";
    /// A probe's information about a run: only `invariant NAME` judges it, of the invariants.
    pub const PROBE: &str = "probe";
    /// The commands of rules that were run when the run was recorded, and how they ended.
    pub const RAN: &str = "ran";
}

/// The counts of a usage.
#[allow(missing_docs, reason = "each is the word itself")]
pub mod of_usage {
    pub const INPUT: &str = "input_tokens";
    pub const OUTPUT: &str = "output_tokens";
    pub const TOTAL: &str = "total_tokens";
    pub const REASONING: &str = "reasoning_tokens";
    pub const CACHE_READ: &str = "cache_read_tokens";
    pub const CACHE_WRITE: &str = "cache_write_tokens";
}

/// The expected type of an entry of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EntryType {
    /// Anything; `null` is a value.
    #[default]
    Any,
    /// A number; `null` means not recorded, here and below.
    Number,
    /// An object.
    Object,
    /// Text, or a number whose text counts.
    TextOrNumber,
    /// `true` or `false`.
    Boolean,
}

/// The expected type of an entry of a run, without lists of steps.
#[must_use]
pub fn entry_type(entry: &str) -> EntryType {
    match entry {
        of_run::COST | of_run::DURATION | of_run::TURNS => EntryType::Number,
        of_run::USAGE => EntryType::Object,
        of_run::ID => EntryType::TextOrNumber,
        of_run::COMPLETE => EntryType::Boolean,
        _ => EntryType::Any,
    }
}

impl StepKind {
    /// The field whose text alone may stand for a step of this kind in the normal form; `None` where a step is always an object.
    #[must_use]
    pub fn short_field(self) -> Option<&'static str> {
        match self {
            Self::Command => Some(of_step::COMMAND),
            Self::Read | Self::Write => Some(of_step::PATH),
            Self::Skill => Some(of_step::NAME),
            Self::Http => Some(of_step::URL),
            Self::Handover => Some(of_step::TO),
            Self::Call | Self::Message | Self::Span => None,
        }
    }
}

/// Whether an entry of a run is nearly called `error`: `eror`, `Error`, `errors`. Read as one of somebody's own, it would turn a run that ended
/// in an error into one without.
#[must_use]
pub fn is_misspelt_error(key: &str) -> bool {
    is_near_key(key, of_run::ERROR)
}

/// A namespace makes another key (`server.error`), and a plural the same one: nobody has both.
fn is_near_key(key: &str, known: &str) -> bool {
    is_other_number(key, known) || matches!(near_miss(key, known), Some(NearMiss::Written | NearMiss::Slip))
}

/// Words that are near a key of [`is_misspelt_ending`] and mean something else.
const OTHER_WORDS: [&str; 3] = ["stats", "states", "statue"];

/// Whether a key of a call is nearly one that says how the call ended: `eror`, `Status`, `exitCode`. The keys themselves are not.
#[must_use]
pub fn is_misspelt_ending(key: &str) -> bool {
    let [snake, camel] = of_step::IS_ERROR;
    let endings = [of_step::ERROR, of_step::STATUS, of_step::EXIT_CODE, snake, camel];
    !endings.contains(&key) && !OTHER_WORDS.contains(&key) && endings.into_iter().any(|ending| is_near_key(key, ending))
}

/// The entry of a run without an `error` that is nearly called so and holds something.
#[must_use]
pub fn misspelt_error<'run>(run: Object<'run>) -> Option<&'run str> {
    let is_near = |entry: &&ObjectEntry<'run>| is_misspelt_error(entry.key) && !is_nothing(&entry.node.value);
    let near = run.entries().iter().find(is_near)?.key;
    run.get(of_run::ERROR).is_none().then_some(near)
}

/// Whether a value says that there is nothing: `null`, `false`, 0, an empty text, list or object.
#[must_use]
pub fn is_nothing(value: &Value<'_>) -> bool {
    match value {
        Value::Boolean(value) => !value,
        Value::Number(number) => number.to_f64() == 0.0,
        Value::Text(text) => text.as_str().trim().is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Object(object) => object.entries().is_empty(),
        _ => true,
    }
}

//! The normal form of a run, as rules see it: its entries by name, and its steps in one order.
//!
//! Every adapter produces this. What a run does not record is [`Value::Absent`]: absent evidence, neither zero nor empty.

pub use crate::cost_source::CostSource;
use crate::normal::{misspelt_error, of_run, of_step, role};
pub use crate::source::{RunSource, TextPart};
use averment_base::value::{Node, Object, Value};

/// The kinds of step, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum StepKind {
    Call,
    Message,
    Command,
    Read,
    Write,
    Skill,
    Http,
    Span,
    Handover,
}

impl StepKind {
    /// All kinds.
    pub const ALL: [StepKind; 9] = [
        Self::Call,
        Self::Message,
        Self::Command,
        Self::Read,
        Self::Write,
        Self::Skill,
        Self::Http,
        Self::Span,
        Self::Handover,
    ];

    /// The word in `steps[*].kind`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Message => "message",
            Self::Command => "command",
            Self::Read => "read",
            Self::Write => "write",
            Self::Skill => "skill",
            Self::Http => "http",
            Self::Span => "span",
            Self::Handover => "handover",
        }
    }

    /// The key of the normal form that lists the steps of this kind, for example `calls`.
    #[must_use]
    pub fn list_key(self) -> &'static str {
        match self {
            Self::Call => "calls",
            Self::Message => "messages",
            Self::Command => "commands",
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Skill => "skills",
            Self::Http => "http",
            Self::Span => "spans",
            Self::Handover => "handovers",
        }
    }

    /// The fields that a step of this kind has in an expression, its own names first in scope.
    #[must_use]
    pub fn field_names(self) -> &'static [&'static str] {
        match self {
            Self::Call => &[
                of_step::TOOL,
                of_step::ARGS,
                of_step::RESULT,
                of_step::RESPONSE,
                of_step::TAGS,
                of_step::ANNOTATIONS,
                of_step::ERROR,
                of_step::OK,
                of_step::STATUS,
                of_step::START,
                of_step::END,
                of_step::DURATION,
                of_step::TURN,
                of_step::INDEX,
                of_step::ID,
                of_step::AGENT,
                of_step::KIND,
            ],
            Self::Message => &[
                of_step::ROLE,
                of_step::TEXT,
                of_step::TURN,
                of_step::START,
                of_step::INDEX,
                of_step::ID,
                of_step::AGENT,
                of_step::KIND,
            ],
            Self::Command => &[
                of_step::COMMAND,
                of_step::PROGRAM,
                of_step::ARGS,
                of_step::FLAGS,
                of_step::OPTIONS,
                of_step::PARTS,
                of_step::EXIT_CODE,
                of_step::OUTPUT,
                of_step::OK,
                of_step::STATUS,
                of_step::START,
                of_step::END,
                of_step::DURATION,
                of_step::TURN,
                of_step::INDEX,
                of_step::ID,
                of_step::AGENT,
                of_step::KIND,
            ],
            Self::Read | Self::Write => &[
                of_step::PATH,
                of_step::RECORDED_PATH,
                of_step::LOCATION,
                of_step::OK,
                of_step::STATUS,
                of_step::START,
                of_step::END,
                of_step::DURATION,
                of_step::TURN,
                of_step::INDEX,
                of_step::ID,
                of_step::AGENT,
                of_step::KIND,
            ],
            Self::Skill => &[
                of_step::NAME,
                of_step::START,
                of_step::TURN,
                of_step::INDEX,
                of_step::ID,
                of_step::AGENT,
                of_step::KIND,
            ],
            Self::Http => &[
                of_step::METHOD,
                of_step::URL,
                of_step::STATUS,
                of_step::OK,
                of_step::START,
                of_step::END,
                of_step::DURATION,
                of_step::TURN,
                of_step::INDEX,
                of_step::ID,
                of_step::AGENT,
                of_step::KIND,
            ],
            Self::Span => &[
                of_step::NAME,
                of_step::ATTRIBUTES,
                of_step::STATUS,
                of_step::OK,
                of_step::START,
                of_step::END,
                of_step::DURATION,
                of_step::TURN,
                of_step::INDEX,
                of_step::ID,
                of_step::PARENT_ID,
                of_step::AGENT,
                of_step::KIND,
            ],
            Self::Handover => &[
                of_step::TO,
                of_step::DEPTH,
                of_step::START,
                of_step::TURN,
                of_step::INDEX,
                of_step::ID,
                of_step::AGENT,
                of_step::KIND,
            ],
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepStatus {
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// It was refused and never executed.
    Denied,
    /// It still waits for an approval and was never executed.
    Pending,
    /// The run does not say.
    Unknown,
}

impl StepStatus {
    /// Those that a run can record.
    pub const RECORDED: [Self; 4] = [Self::Ok, Self::Failed, Self::Denied, Self::Pending];

    /// What the word of a format means, in upper or lower case; `None` for an unknown word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        if is(&["ok", "success", "succeeded", "successful", "completed", "complete", "done", "passed", "finished"]) {
            Some(Self::Ok)
        } else if is(&[
            "failed",
            "failure",
            "error",
            "errored",
            "timeout",
            "timed_out",
            "aborted",
            "crashed",
            "cancelled",
            "canceled",
        ]) {
            Some(Self::Failed)
        } else if is(&["denied", "rejected", "refused", "declined", "blocked", "forbidden"]) {
            Some(Self::Denied)
        } else if is(&[
            "pending",
            "requires_approval",
            "awaiting_approval",
            "approval_required",
            "requires_action",
            "proposed",
        ]) {
            Some(Self::Pending)
        } else if is(&["unknown", "unset", "running", "in_progress", "incomplete"]) {
            Some(Self::Unknown)
        } else {
            None
        }
    }

    /// True for a call that was carried out: not denied, not pending. Unknown counts as executed.
    #[must_use]
    pub fn is_executed(self) -> bool {
        !matches!(self, Self::Denied | Self::Pending)
    }

    /// The word in `calls[*].status`; `None` when the run does not say.
    #[must_use]
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Ok => Some("ok"),
            Self::Failed => Some("failed"),
            Self::Denied => Some("denied"),
            Self::Pending => Some("pending"),
            Self::Unknown => None,
        }
    }
}

/// One step, with the fields that every statement reads; all other fields are in `object`.
#[derive(Debug, Clone, Copy)]
pub struct Step<'run> {
    /// Its kind.
    pub kind: StepKind,
    /// The tool of a call, the role of a message, the command, the path, the skill, the URL, the span's name, the agent that takes over.
    pub name: &'run str,
    /// How it ended.
    pub status: StepStatus,
    /// All fields of [`StepKind::field_names`] that are recorded or derived (`ok`, `status`, `index`, `duration`, `kind`, …) and any others
    /// that the trace has. A standard field that the run does not record is there as [`Value::Absent`]
    /// (`start end duration turn status ok result args`), or left out where its absence says something (`error id agent response`).
    pub object: Object<'run>,
    /// The step as a value, with its place.
    pub node: Node<'run>,
    /// Its number among the steps of its kind, from 0: with the kind it gives the JSON pointer `/calls/2`.
    pub index: u32,
    /// For an executed call its position among the executed calls, from 0; for any other step the number of executed calls before it.
    pub call_position: u32,
    /// Assistant turn, where recorded.
    pub turn: Option<u32>,
    /// Start in milliseconds, where recorded.
    pub start: Option<f64>,
    /// End in milliseconds, where recorded or computed from start and duration.
    pub end: Option<f64>,
}

/// When a call started and ended, and the assistant turn in which it was asked for: as far as the run records it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CallTimes {
    /// Start in milliseconds.
    pub start: Option<f64>,
    /// End in milliseconds.
    pub end: Option<f64>,
    /// The assistant turn.
    pub turn: Option<u32>,
}

impl CallTimes {
    /// Those of a step.
    #[must_use]
    pub fn of_step(step: &Step<'_>) -> Self {
        Self { start: step.start, end: step.end, turn: step.turn }
    }
}

/// One run in normal form.
#[derive(Debug)]
pub struct Run<'run> {
    /// The text that every [`averment_base::value::Origin`] of this run points into.
    pub text: &'run str,
    /// Where that text came from.
    pub source: RunSource,
    /// The name of the format that it was read from.
    pub format: &'static str,
    /// True if a call with only a result counts as successful.
    pub concludes_ok: bool,
    /// The run's `id`, where it has one.
    pub id: Option<&'run str>,
    /// Its entries under the names of section 4 of the reference and any others: the value of `run`. Standard names that the run does not record
    /// are left out here; [`Run::root_value`] gives [`Value::Absent`] for them.
    pub object: Object<'run>,
    /// All steps in order.
    pub steps: &'run [Step<'run>],
    /// Which kinds are ordered among each other; without `steps`, times or turns they are not. Ask [`Run::is_ordered`].
    pub order: KindOrder,
    /// Kinds that the run records (an empty list is evidence).
    pub recorded: [bool; StepKind::ALL.len()],
    /// False when the run says `complete: false` (more may come), and where a result proves that a call is missing.
    pub complete: bool,
    /// Number of records examined, and number of those not understood.
    pub records: RecordCounts,
    /// Problems found while reading (duplicate keys, unpaired results, skipped lines), for `trace show` and warnings.
    pub warnings: Vec<ReadWarning>,
    /// Texts that no report of the run shows, because somebody said so; [`EVERYTHING`] among them stands for all.
    pub withheld: Vec<String>,
    /// The cost according to a price table.
    pub priced: CostSource,
}

/// Stands among withheld texts for all values there are.
pub const EVERYTHING: &str = "\0";

/// Counts of the records that a run is read from: lines of a session, messages, events, spans. A format that has none of them counts none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Records that were looked at.
    pub seen: u64,
    /// Those that the format has no meaning for: each has a warning, as long as there are not too many.
    pub not_understood: u64,
    /// Results whose calls are not there: the run is not complete.
    pub missing_calls: u64,
    /// True if the run records only its identity: no step and no answer.
    pub empty: bool,
    /// Records that could not be read or that the format does not know, and that may have been anything: the run is not complete.
    pub lost: u64,
}

/// Which kinds of step are ordered among each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindOrder {
    /// A bit set per kind: the kinds whose steps are not ordered relative to it.
    unordered: [u16; StepKind::ALL.len()],
}

impl KindOrder {
    /// All kinds are ordered among each other.
    pub const ALL: Self = Self { unordered: [0; StepKind::ALL.len()] };

    /// Says that there is no order between the steps of two kinds.
    pub fn remove_order(&mut self, a: StepKind, b: StepKind) {
        for (a, b) in [(a, b), (b, a)] {
            if let Some(bits) = self.unordered.get_mut(a as usize) {
                *bits |= 1 << (b as u16);
            }
        }
    }

    /// True if steps of the two kinds are ordered relative to each other; steps of one kind always are.
    #[must_use]
    pub fn is_ordered(&self, a: StepKind, b: StepKind) -> bool {
        self.unordered.get(a as usize).is_none_or(|bits| bits & (1 << (b as u16)) == 0)
    }
}

/// Something odd that was read and did not stop the reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadWarning {
    /// The message.
    pub message: String,
    /// Byte offset in the run's text.
    pub offset: usize,
    /// True if a record could not be read or was not understood, so that the run is incomplete.
    pub lost: bool,
}

impl<'run> Run<'run> {
    /// The value of a root name of section 4 of the reference; [`Value::Absent`] when the run does not record it.
    /// `error` of a run is missing, not absent: a run that has no error records none. It is absent where something is nearly called so, because
    /// that may be one.
    #[must_use]
    pub fn root_value(&self, name: &str) -> Node<'run> {
        let has_none = || name == of_run::ERROR && misspelt_error(self.object).is_none();
        let without = || if has_none() { Value::Missing } else { Value::Absent };
        self.object.get(name).unwrap_or_else(|| Node::computed(without()))
    }

    /// True if steps of the two kinds are ordered relative to each other. Kinds without steps are ordered with all.
    #[must_use]
    pub fn is_ordered(&self, a: StepKind, b: StepKind) -> bool {
        self.order.is_ordered(a, b)
    }

    /// True if the run ended in an error before its first step: nothing is recorded but what users and the system said.
    #[must_use]
    pub fn died_at_start(&self) -> bool {
        let is_given =
            |step: &Step<'_>| step.kind == StepKind::Message && matches!(step.name, role::USER | role::SYSTEM);
        self.steps.iter().all(is_given)
            && match self.root_value(of_run::ERROR).value {
                Value::Missing | Value::Absent | Value::Null | Value::Boolean(false) => false,
                Value::Text(text) => !text.is_empty(),
                _ => true,
            }
    }

    /// A role that fits and whose words the run leaves out, so that their absence says nothing.
    #[must_use]
    pub fn unrecorded_role(&self, fits: impl Fn(&str) -> bool) -> Option<&'run str> {
        let Value::List(roles) = self.object.get(of_run::UNRECORDED_ROLES)?.value else { return None };
        roles.iter().find_map(|role| match role.value {
            Value::Text(role) if fits(role.as_str()) => Some(role.as_str()),
            _ => None,
        })
    }

    /// Whether the run records steps of a kind.
    #[must_use]
    pub fn records_kind(&self, kind: StepKind) -> bool {
        self.recorded.get(kind as usize).copied().unwrap_or(false)
    }
}

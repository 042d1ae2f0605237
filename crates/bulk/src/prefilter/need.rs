//! What the verdict of an assertion needs that partial reading does not give, in words: for whoever asks why runs are read in full.

use averment_runs::normal::of_run;
use averment_runs::run::StepKind;
use averment_traces::projection::CallField;
use std::fmt;

/// What a verdict needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// A list of steps, by name.
    List(String),
    /// An entry that only the whole run tells, by name.
    Entry(String),
    /// A field of steps that is not read in part, by name.
    StepField(String),
    /// All of some steps.
    WholeSteps,
    /// The steps that an expression selects.
    SelectedSteps,
    /// All of the run.
    WholeRun,
    /// A value that a pattern binds.
    Binding,
    /// Arguments or results of the calls of patterns.
    CallValues,
    /// Every text of a field of all calls.
    Texts(CallField),
    /// Calls that were not executed.
    ProposedCalls,
    /// When steps began and ended, or their turns.
    Times,
    /// All steps, for a construct that is judged on whole runs.
    Construct(&'static str),
    /// The case that a run belongs to.
    Case,
    /// A score.
    Score,
    /// Files or commands beside the run.
    World,
    /// More values than are followed.
    TooMuch,
}

impl Need {
    /// An entry of the run that no line holds.
    pub(super) fn of_entry(name: &str) -> Self {
        let is_list = name == of_run::STEPS || StepKind::ALL.iter().any(|kind| kind.list_key() == name);
        if is_list { Self::List(name.to_owned()) } else { Self::Entry(name.to_owned()) }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(name) => write!(f, "the whole list `{name}`"),
            Self::Entry(name) => write!(f, "`{name}`, which only the whole run tells"),
            Self::StepField(name) => write!(f, "`{name}` of steps"),
            Self::WholeSteps => f.write_str("whole steps"),
            Self::SelectedSteps => f.write_str("the steps that it selects"),
            Self::WholeRun => f.write_str("the whole run"),
            Self::Binding => f.write_str("the value of a binding"),
            Self::CallValues => f.write_str("arguments or results of the calls that its patterns name"),
            Self::Texts(field) => {
                write!(f, "every text in `{}` of all calls: its predicate looks for no fixed text", field.as_str())
            }
            Self::ProposedCalls => f.write_str("calls that were not executed"),
            Self::Times => f.write_str("times or turns of steps"),
            Self::Construct(name) => write!(f, "all steps, as {name} does"),
            Self::Case => f.write_str("the case that a run belongs to"),
            Self::Score => f.write_str("a score"),
            Self::World => f.write_str("files or commands beside the run"),
            Self::TooMuch => f.write_str("more values than partial reading follows"),
        }
    }
}

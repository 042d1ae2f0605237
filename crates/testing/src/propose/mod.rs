//! Rules proposed from recorded runs.
//!
//! [`RunSurvey`] collects statistics from every run. [`candidates`](RunSurvey::candidates) are the rules that these suggest. [`CandidateTrial`]
//! compiles them and judges every run with the one evaluator. A rule is proposed if it held on all runs and at least one run exercised it; every
//! other candidate is dropped, so no guess of the survey is ever trusted.
//!
//! ```
//! use averment_base::limits::Limits;
//! use averment_testing::propose::{CandidateTrial, RunSurvey, TrialTotals, write_proposals};
//!
//! let run = r#"{"calls": [{"tool": "approve", "args": {"id": "o-1"}}, {"tool": "refund", "args": {"id": "o-1"}}]}"#;
//! let other = run.replace("o-1", "o-2");
//! let arena = bumpalo::Bump::new();
//! let runs = [run, &other].map(|text| averment_traces::read_str(text, &arena, &Limits::default()).expect("a run"));
//! let mut survey = RunSurvey::default();
//! runs.iter().for_each(|run| survey.add_run(run));
//! let trial = CandidateTrial::new(survey.all_candidates());
//! let mut totals = TrialTotals::default();
//! runs.iter().for_each(|run| totals.record_run(&trial.judge_run(run, &arena)));
//! assert!(write_proposals("refunds", &trial.held_proposals(&totals), 2).contains("before approve(id: $id) -> refund(id: $id)"));
//! ```

mod candidates;
mod flow;
mod names;
mod numbers;
mod survey;
mod trial;
mod values;
mod write;

pub use survey::RunSurvey;
pub use trial::{CandidateTrial, RuleProposal, TrialTotals};
pub use write::write_proposals;

/// The topic of a rule, in the order of the written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// The tools that are used.
    Tools,
    /// The order of steps.
    Order,
    /// The origins of arguments.
    Data,
    /// The form of arguments.
    Arguments,
    /// Counts, costs and durations.
    Budget,
    /// The results of runs.
    Outcome,
    /// Data that must not leak.
    Safety,
}

impl Topic {
    /// All topics in the order of the file.
    pub const ALL: [Self; 7] =
        [Self::Tools, Self::Order, Self::Data, Self::Arguments, Self::Budget, Self::Outcome, Self::Safety];

    /// Returns the maximum number of proposals per topic, as many as a person will read.
    fn most_proposals(self) -> usize {
        match self {
            Self::Tools => 6,
            Self::Order | Self::Arguments => 10,
            Self::Data => 8,
            Self::Budget => 6,
            Self::Outcome => 6,
            Self::Safety => 2,
        }
    }

    fn rule_head(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools", "Which tools are used"),
            Self::Order => ("order", "What comes before what"),
            Self::Data => ("data", "Where arguments come from"),
            Self::Arguments => ("arguments", "What arguments look like"),
            Self::Budget => ("budget", "How much of everything"),
            Self::Outcome => ("outcome", "How runs end"),
            Self::Safety => ("safety", "What must not leak"),
        }
    }
}

/// A rule that the runs suggest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleCandidate {
    /// Its topic.
    pub topic: Topic,
    /// The statement, on one line.
    pub text: String,
    /// Observations in addition to the number of runs; may be empty.
    pub seen: String,
    /// A declaration that it needs, on one line; empty for none.
    pub needs: String,
    /// Texts of weaker candidates, which are omitted if this one is proposed.
    pub covers: Vec<String>,
}

impl RuleCandidate {
    fn new(topic: Topic, text: impl Into<String>) -> Self {
        Self { topic, text: text.into(), seen: String::new(), needs: String::new(), covers: Vec::new() }
    }

    fn with_seen(mut self, seen: impl Into<String>) -> Self {
        self.seen = seen.into();
        self
    }

    fn with_declaration(mut self, declaration: impl Into<String>) -> Self {
        self.needs = declaration.into();
        self
    }
}

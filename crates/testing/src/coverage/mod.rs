//! Coverage of rules by runs: not only if an assertion was judged, but if it was seen to pass *and* to fail, if its patterns ever matched, and if
//! every condition was seen true and false.

mod json;
mod lcov;
mod points;
mod text;

pub use json::{coverage_data, share_data};
pub use lcov::write_lcov;
pub use points::{CoveragePoint, PointKind};
pub use text::write_coverage;

use averment_base::source::SourceMap;
use averment_base::truth::Verdict;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::coverage::CoverageRecord;
use averment_engine::vm::outcome::RunOutcome;
use averment_engine::vm::prepare::PreparedProgram;

/// Coverage of one rule file over any number of runs.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// All points of the rules, by location; a point shared by several assertions (the header of a block) occurs once.
    pub points: Vec<CoveragePoint>,
    /// Number of runs.
    pub runs: u64,
}

/// The covered share of a set of outcomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoverageShare {
    /// Number covered.
    pub seen: u64,
    /// Total number.
    pub all: u64,
}

impl CoverageShare {
    fn add_point(&mut self, seen: bool) {
        self.all += 1;
        self.seen += u64::from(seen);
    }

    fn join_share(self, other: Self) -> Self {
        Self { seen: self.seen + other.seen, all: self.all + other.all }
    }

    /// Returns the share in tenths of a percent, rounded down, because 99.96 % is not everything. An empty set is fully covered.
    #[must_use]
    pub fn percent_tenths(self) -> u64 {
        self.seen.saturating_mul(1000).checked_div(self.all).unwrap_or(1000)
    }

    /// Returns the share as text: `87.5%`.
    #[must_use]
    pub fn percent_text(self) -> String {
        let tenths = self.percent_tenths();
        format!("{}.{}%", tenths / 10, tenths % 10)
    }
}

impl Coverage {
    /// Collects the points of a program; nothing is covered yet.
    #[must_use]
    pub fn new(program: &Program, prepared: &PreparedProgram) -> Self {
        Self { points: points::collect_points(program, prepared), runs: 0 }
    }

    /// Adds the outcomes of one evaluation.
    pub fn add_run(&mut self, outcome: &RunOutcome, seen: &CoverageRecord) {
        self.runs += 1;
        let judged: Vec<(u32, Verdict)> =
            outcome.results.iter().map(|result| (result.assertion, result.verdict)).collect();
        let view = points::EvaluationView { judged: &judged, seen };
        self.points.iter_mut().for_each(|point| point.add_view(&view));
    }

    /// Returns the share of one kind.
    #[must_use]
    pub fn group_share(&self, group: PointGroup) -> CoverageShare {
        let mut share = CoverageShare::default();
        for point in self.points.iter().filter(|point| point.kind.point_group() == group) {
            point.outcome_counts().for_each(|(_, count)| share.add_point(count > 0));
        }
        share
    }

    /// Returns the overall share.
    #[must_use]
    pub fn total_share(&self) -> CoverageShare {
        PointGroup::ALL
            .into_iter()
            .map(|group| self.group_share(group))
            .fold(CoverageShare::default(), CoverageShare::join_share)
    }
}

/// The kinds of points with separate shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointGroup {
    /// Each assertion seen to pass and to fail.
    Assertions,
    /// Each pattern matched.
    Patterns,
    /// Each condition seen true and false, each member of a group seen to pass and to fail, each window opened and closed.
    Branches,
}

impl PointGroup {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Assertions, Self::Patterns, Self::Branches];

    /// Returns the word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assertions => "assertions",
            Self::Patterns => "patterns",
            Self::Branches => "branches",
        }
    }
}

/// Returns the overall share of several rule files.
#[must_use]
pub fn overall_share<'c>(all: impl IntoIterator<Item = &'c Coverage>) -> CoverageShare {
    all.into_iter().map(Coverage::total_share).fold(CoverageShare::default(), CoverageShare::join_share)
}

fn point_text(sources: &SourceMap, point: &CoveragePoint) -> String {
    /// Maximum number of characters shown of a rule.
    const SHOWN: usize = 60;
    let folded = sources.span_text(point.span).split_whitespace().collect::<Vec<_>>().join(" ");
    match folded.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", folded.get(..at).unwrap_or_default()),
        None => folded,
    }
}

//! Coverage: what of the rules the runs have tried. Not only whether an assertion was judged, but whether it was seen to pass *and* to
//! fail, whether its patterns ever matched, and whether every condition was seen true and false.

mod json;
mod lcov;
mod points;
mod text;

pub use json::{data, share};
pub use lcov::lcov;
pub use points::{Point, PointKind};
pub use text::text;

use averment_base::source::SourceMap;
use averment_base::truth::Verdict;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::coverage::CoverageRecord;
use averment_engine::vm::outcome::Outcome;
use averment_engine::vm::prepare::Prepared;

/// What of one rule file was tried, over any number of runs.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// Everything that can be tried, by place; what two assertions share (the header of a block) once.
    pub points: Vec<Point>,
    /// How many runs it was tried on.
    pub runs: u64,
}

/// How much of something was tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// What was seen.
    pub seen: u64,
    /// What there is to see.
    pub all: u64,
}

impl Share {
    fn add(&mut self, seen: bool) {
        self.all += 1;
        self.seen += u64::from(seen);
    }

    fn join(self, other: Self) -> Self {
        Self { seen: self.seen + other.seen, all: self.all + other.all }
    }

    /// In percent, rounded down to a tenth: 99.96 % is not everything. With nothing to see, 100.
    #[must_use]
    pub fn tenths(self) -> u64 {
        self.seen.saturating_mul(1000).checked_div(self.all).unwrap_or(1000)
    }

    /// In percent, as text: `87.5%`.
    #[must_use]
    pub fn percent(self) -> String {
        let tenths = self.tenths();
        format!("{}.{}%", tenths / 10, tenths % 10)
    }
}

impl Coverage {
    /// Everything there is to try in a program.
    #[must_use]
    pub fn new(program: &Program, prepared: &Prepared) -> Self {
        Self { points: points::collect(program, prepared), runs: 0 }
    }

    /// Adds what one evaluation went through.
    pub fn add(&mut self, program: &Program, prepared: &Prepared, outcome: &Outcome, seen: &CoverageRecord) {
        self.runs += 1;
        let judged: Vec<(u32, Verdict)> =
            outcome.results.iter().map(|result| (result.assertion, result.verdict)).collect();
        let view = points::View { program, prepared, judged: &judged, seen };
        self.points.iter_mut().for_each(|point| point.add(&view));
    }

    /// How much was tried of one kind.
    #[must_use]
    pub fn share(&self, group: Group) -> Share {
        let mut share = Share::default();
        for point in self.points.iter().filter(|point| point.kind.group() == group) {
            point.outcomes().for_each(|(_, count)| share.add(count > 0));
        }
        share
    }

    /// How much was tried of everything.
    #[must_use]
    pub fn total(&self) -> Share {
        Group::ALL.into_iter().map(|group| self.share(group)).fold(Share::default(), Share::join)
    }
}

/// What coverage counts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Each assertion seen to pass and to fail.
    Assertions,
    /// Each pattern matched.
    Patterns,
    /// Each condition seen true and false, each member of a group seen to pass and to fail, each window opened and closed.
    Branches,
}

impl Group {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Assertions, Self::Patterns, Self::Branches];

    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assertions => "assertions",
            Self::Patterns => "patterns",
            Self::Branches => "branches",
        }
    }
}

/// Everything together, over several rule files.
#[must_use]
pub fn total<'c>(all: impl IntoIterator<Item = &'c Coverage>) -> Share {
    all.into_iter().map(Coverage::total).fold(Share::default(), Share::join)
}

/// The text of a place on one line, not too long.
fn written(sources: &SourceMap, point: &Point) -> String {
    /// Letters of a piece of a rule that are shown.
    const SHOWN: usize = 60;
    let folded = sources.text(point.span).split_whitespace().collect::<Vec<_>>().join(" ");
    match folded.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", folded.get(..at).unwrap_or_default()),
        None => folded,
    }
}

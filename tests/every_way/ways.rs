//! The ways: how the rules are put into files, how the runs are, what is wanted of the check.

use crate::layout::Layout;
use averment_engine::vm::context::LISTED;
use averment_report::Format::{self, Human, Json, Jsonl, Short, Summary};
use averment_report::VIOLATIONS_DRAWN;

/// How rules are put into files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arrangement {
    /// This one alone.
    Alone(usize),
    /// All in one file.
    Together,
    /// Each in a file of its own, checked at once.
    Apart,
}

/// A way to check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Way {
    pub name: &'static str,
    pub layout: Layout,
    pub formats: &'static [Format],
    pub strict: bool,
    pub threads: usize,
    /// Chunks of a kilobyte instead of the usual size.
    pub small_chunks: bool,
    pub max_failures: Option<usize>,
    /// One rule of several is selected.
    pub selected: bool,
    /// A profile is made of it.
    pub profiled: bool,
    /// Every third case goes this way; of the others every case goes all.
    pub seldom: bool,
}

impl Way {
    /// How many violations of a failure are listed, and how many of them are drawn, as the command asks for them.
    pub fn violations(&self) -> (usize, usize) {
        let drawn = if self.max_failures.is_some() { LISTED } else { VIOLATIONS_DRAWN };
        let data = self.formats.iter().any(|format| format.is_data());
        (if data { LISTED } else { drawn }, drawn)
    }
}

const fn way(name: &'static str, layout: Layout, formats: &'static [Format]) -> Way {
    Way {
        name,
        layout,
        formats,
        strict: false,
        threads: 1,
        small_chunks: false,
        max_failures: None,
        selected: false,
        profiled: false,
        seldom: false,
    }
}

const fn two_threads(way: Way) -> Way {
    Way { threads: 2, small_chunks: true, ..way }
}

const fn strict(way: Way) -> Way {
    Way { strict: true, ..way }
}

const fn profiled(way: Way) -> Way {
    Way { profiled: true, ..way }
}

const fn seldom(way: Way) -> Way {
    Way { seldom: true, ..way }
}

/// Counts alone: what the prefilter settles is not looked at again.
pub const COUNTS: Way = way("counts", Layout::Lines, &[Summary]);
/// Reasons of what does not pass.
pub const REASONS: Way = way("reasons", Layout::Lines, &[Jsonl]);

/// Ways of a rule that is alone.
const ALONE: &[Way] = &[
    COUNTS,
    REASONS,
    two_threads(way("two threads", Layout::Lines, &[Summary, Jsonl])),
    strict(way("strict", Layout::Clean, &[Jsonl])),
    seldom(way("whole reports", Layout::Lines, &[Json, Human, Short])),
    seldom(two_threads(way("many runs, for people", Layout::Repeated, &[Human]))),
    seldom(strict(way("strict counts", Layout::Clean, &[Summary]))),
    seldom(way("one run a file", Layout::Files, &[Jsonl])),
    seldom(way("a list", Layout::List, &[Json])),
    seldom(profiled(way("with a profile, counts", Layout::Lines, &[Summary]))),
    seldom(profiled(way("with a profile", Layout::Lines, &[Jsonl]))),
];

/// Ways of several rules.
const TOGETHER: &[Way] = &[
    COUNTS,
    REASONS,
    two_threads(way("two threads", Layout::Lines, &[Summary, Jsonl])),
    strict(way("strict", Layout::Clean, &[Jsonl])),
    way("one run a file", Layout::Files, &[Jsonl]),
    seldom(way("whole reports", Layout::Lines, &[Json, Short])),
    seldom(way("for people", Layout::Lines, &[Human])),
    seldom(Way { max_failures: Some(1000), ..way("all failures drawn", Layout::Lines, &[Human]) }),
    seldom(two_threads(way("two threads, counts", Layout::Lines, &[Summary]))),
    seldom(two_threads(way("two threads, for people", Layout::Lines, &[Human, Short]))),
    seldom(way("many runs, for people", Layout::Repeated, &[Human])),
    seldom(two_threads(way("many runs, two threads, for people", Layout::Repeated, &[Human, Summary]))),
    seldom(strict(way("strict counts", Layout::Clean, &[Summary]))),
    seldom(two_threads(way("one run a file, two threads", Layout::Files, &[Human, Summary]))),
    seldom(way("a list", Layout::List, &[Jsonl])),
    seldom(way("over several lines", Layout::Spread, &[Short, Json])),
    seldom(Way { selected: true, ..way("a selection, counts", Layout::Lines, &[Summary]) }),
    seldom(Way { selected: true, ..way("a selection, reasons", Layout::Lines, &[Jsonl, Summary]) }),
    seldom(profiled(two_threads(way("with a profile, counts", Layout::Lines, &[Summary])))),
    seldom(profiled(way("with a profile", Layout::Lines, &[Human, Jsonl]))),
];

/// Ways of rules in several files.
const APART: &[Way] = &[
    two_threads(way("two threads", Layout::Lines, &[Summary, Jsonl])),
    seldom(COUNTS),
    seldom(way("whole reports", Layout::Lines, &[Json, Short])),
    seldom(way("for people", Layout::Lines, &[Human, Summary])),
    seldom(two_threads(way("many runs, for people", Layout::Repeated, &[Human]))),
    seldom(way("one run a file", Layout::Files, &[Short])),
];

impl Arrangement {
    /// The ways in which rules that are put into files like this are checked.
    pub fn ways(self) -> &'static [Way] {
        match self {
            Arrangement::Alone(_) => ALONE,
            Arrangement::Together => TOGETHER,
            Arrangement::Apart => APART,
        }
    }

    /// Those that the case of a number goes.
    pub fn ways_of(self, number: u64) -> impl Iterator<Item = &'static Way> {
        let turn = move |place: usize| (place as u64 + number).is_multiple_of(3);
        let each = self.ways().iter().enumerate();
        each.filter(move |(place, way)| !way.seldom || turn(*place)).map(|(_, way)| way)
    }

    /// How rules are put into files, in words.
    pub fn word(self) -> &'static str {
        match self {
            Arrangement::Alone(_) => "alone",
            Arrangement::Together => "together",
            Arrangement::Apart => "apart",
        }
    }
}

//! The comparison: cases of generated rules and runs, each in every way.

use crate::case::{Built, Case, PAIRS};
use crate::cells;
use crate::check::Check;
use crate::coverage::Coverage;
use crate::engine;
use crate::full::{Full, is_odd, raw_runs};
use crate::layout::Layout;
use crate::minimize::smallest;
use crate::rules;
use crate::ways::{Arrangement, COUNTS, REASONS, Way};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::select::RuleSelection;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// How many pairs of a rule and a run; fewer by default, so that every change can be checked.
pub fn pairs() -> u64 {
    setting("AVERMENT_WAYS_CASES", 3000)
}

/// Which pairs.
pub fn seed() -> u64 {
    setting("AVERMENT_WAYS_SEED", 1)
}

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is no number: `{text}`")),
        Err(_) => default,
    }
}

/// Where a way says something else.
#[derive(Debug, Clone)]
pub struct Difference {
    pub arrangement: Arrangement,
    pub way: &'static str,
    pub expected: String,
    pub found: String,
    /// The rules that were checked.
    pub rules: String,
}

impl Difference {
    /// Whether two are of the same kind: then one is shown.
    pub fn is_like(&self, other: &Difference) -> bool {
        let alone = |one: &Difference| matches!(one.arrangement, Arrangement::Alone(_));
        (self.way, alone(self)) == (other.way, alone(other))
    }
}

impl fmt::Display for Difference {
    /// The rules, and the lines that differ.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "== {:?}, {}\n{}", self.arrangement, self.way, self.rules.trim_end())?;
        let (expected, found): (Vec<&str>, Vec<&str>) = (self.expected.lines().collect(), self.found.lines().collect());
        for number in 0..expected.len().max(found.len()) {
            let (a, b) = (expected.get(number), found.get(number));
            if a != b {
                writeln!(f, "  in full:  {}\n  this way: {}", a.unwrap_or(&"(nothing)"), b.unwrap_or(&"(nothing)"))?;
            }
        }
        Ok(())
    }
}

/// Checks cases in a folder of its own.
pub struct Checker {
    folder: TempDir,
    pub coverage: Coverage,
}

impl Checker {
    pub fn new() -> Checker {
        Checker { folder: tempfile::tempdir().unwrap(), coverage: Coverage::default() }
    }

    /// The first way that says something else of a case; `only` looks at those of this name. `Err` for rules that do not compile.
    pub fn difference(&mut self, case: &Case, only: Option<&Difference>) -> Result<Option<Difference>, String> {
        let built = case.build();
        let folder = self.folder.path().to_owned();
        let mut files = Files::new(&folder, &built);
        let numbers = 0..built.rules.len();
        let all = numbers.map(Arrangement::Alone).chain([Arrangement::Together, Arrangement::Apart]);
        for arrangement in all.filter(|one| only.is_none_or(|only| only.is_of(*one))) {
            let programs = programs(&built, arrangement)?;
            let engine = only.is_none_or(|only| arrangement.ways().iter().all(|way| way.name != only.way));
            let of_engine = match engine {
                true => self.in_engine(&built, arrangement, &programs, &mut files)?,
                false => None,
            };
            let found = match of_engine {
                Some(found) => Some(found),
                None => self.in_ways(&built, arrangement, &programs, &mut files, only),
            };
            if let Some((way, expected, found)) = found.filter(|(way, ..)| only.is_none_or(|only| only.way == *way)) {
                let rules = programs.iter().map(|program| program.sources[0].text.clone()).collect();
                return Ok(Some(Difference { arrangement, way, expected, found, rules }));
            }
        }
        Ok(None)
    }

    fn in_engine(
        &self,
        built: &Built,
        arrangement: Arrangement,
        programs: &[Program],
        files: &mut Files<'_>,
    ) -> Result<Option<engine::Unequal>, String> {
        let ([program], Arrangement::Together) = (programs, arrangement) else { return Ok(None) };
        let raw = raw_runs(files.of(Layout::Files).unwrap_or_default());
        let found = engine::unequal(program, &raw).or_else(|| engine::unequal_forms(program, &built.runs));
        if found.is_some() {
            return Ok(found);
        }
        let alone: Result<Vec<_>, _> =
            (0..built.rules.len()).map(|number| self::programs(built, Arrangement::Alone(number))).collect();
        let alone: Vec<Program> = alone?.into_iter().flatten().collect();
        Ok(engine::unequal_together(&alone.iter().collect::<Vec<_>>(), program, &raw))
    }

    fn in_ways(
        &mut self,
        built: &Built,
        arrangement: Arrangement,
        programs: &[Program],
        files: &mut Files<'_>,
        only: Option<&Difference>,
    ) -> Option<engine::Unequal> {
        let mut known: BTreeMap<(Layout, bool), Full> = BTreeMap::new();
        let wanted = |way: &&Way| only.is_none_or(|only| only.way == way.name);
        let ways: Vec<&Way> = match only {
            Some(_) => arrangement.ways().iter().filter(wanted).collect(),
            None => arrangement.ways_of(built.number).collect(),
        };
        for way in ways {
            let selection = match way.selected {
                true => built.settings.selection(&built.rules),
                false => Some(RuleSelection::default()),
            };
            let Some(selection) = selection else { continue };
            let layout = files.layout(way.layout);
            let Some(paths) = files.of(layout) else { continue };
            let full = known
                .entry((layout, way.selected))
                .or_insert_with(|| Full::new(programs, &raw_runs(paths), &selection, built.settings.policy));
            if let Arrangement::Alone(number) = arrangement
                && *way == COUNTS
            {
                let verdicts = full.outcomes.iter().flatten().flat_map(|outcome| &outcome.results);
                verdicts.for_each(|one| self.coverage.verdict(&built.rules[number].kind, one.verdict));
            }
            let found = self.in_way(built, arrangement, (way, selection), (programs, paths), full);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn in_way(
        &mut self,
        built: &Built,
        arrangement: Arrangement,
        (way, selection): (&Way, RuleSelection),
        (programs, paths): (&[Program], &[PathBuf]),
        full: &Full,
    ) -> Option<engine::Unequal> {
        let check = Check {
            selection,
            policy: built.settings.policy,
            strict: way.strict,
            threads: way.threads,
            small_chunks: way.small_chunks,
            profiled: way.profiled,
            max_failures: way.max_failures,
            violations: way.violations(),
        };
        let (reports, reads) = check.run(programs, paths, way.formats);
        if let Arrangement::Alone(number) = arrangement
            && (*way == COUNTS || *way == REASONS)
        {
            self.coverage.reads(&built.rules[number].kind, *way == REASONS, reads);
        }
        way.formats.iter().zip(reports).find_map(|(format, found)| {
            self.coverage.output(arrangement.word(), way.name);
            let expected = full.report(*format, check.options());
            (expected != found).then_some((way.name, expected, found))
        })
    }
}

impl Difference {
    fn is_of(&self, arrangement: Arrangement) -> bool {
        let alone = |one| matches!(one, Arrangement::Alone(_));
        self.arrangement == arrangement || alone(self.arrangement) && alone(arrangement)
    }
}

/// The files of a case, each layout written when it is asked for.
struct Files<'a> {
    folder: &'a Path,
    built: &'a Built,
    odd: Vec<bool>,
    written: BTreeMap<Layout, Option<Vec<PathBuf>>>,
}

impl<'a> Files<'a> {
    fn new(folder: &'a Path, built: &'a Built) -> Self {
        let odd = built.runs.iter().map(|run| is_odd(&run.text)).collect();
        Files { folder, built, odd, written: BTreeMap::new() }
    }

    /// The layout that holds the same: of runs of which nothing is odd all are clean.
    fn layout(&self, layout: Layout) -> Layout {
        match layout {
            Layout::Clean if !self.odd.contains(&true) => Layout::Lines,
            layout => layout,
        }
    }

    fn of(&mut self, layout: Layout) -> Option<&[PathBuf]> {
        let Built { runs, settings, .. } = self.built;
        let written = self.written.entry(layout);
        written.or_insert_with(|| layout.write(self.folder, runs, &self.odd, settings)).as_deref()
    }
}

/// The programs of rules that are put into files like this.
fn programs(built: &Built, arrangement: Arrangement) -> Result<Vec<Program>, String> {
    let all = || built.rules.iter().enumerate();
    let texts: Vec<(String, String)> = match arrangement {
        Arrangement::Alone(number) => vec![("alone.assert".to_owned(), rules::file(&[(number, &built.rules[number])]))],
        Arrangement::Together => vec![("together.assert".to_owned(), rules::file(&all().collect::<Vec<_>>()))],
        Arrangement::Apart => {
            all().map(|(number, rule)| (format!("apart-{number}.assert"), rules::file(&[(number, rule)]))).collect()
        }
    };
    texts.iter().map(|(name, text)| rules::compile(name, text)).collect()
}

/// Differences that are shown at once.
const SHOWN: usize = 4;

#[test]
fn every_way_says_what_a_plain_evaluation_says() {
    let cells = cells::cases(seed());
    let cases = cells.len() as u64 + pairs().div_ceil(PAIRS as u64);
    let next = AtomicU64::new(0);
    let all = Mutex::new((Coverage::default(), Vec::<(Difference, Case)>::new()));
    let work = || {
        let mut checker = Checker::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= cases || all.lock().unwrap().1.len() >= SHOWN {
                break;
            }
            let case = cells.get(number as usize).cloned().unwrap_or_else(|| Case::seeded(seed(), number));
            let found = checker.difference(&case, None).unwrap_or_else(|error| panic!("does not compile: {error}"));
            if let Some(difference) = found {
                let mut all = all.lock().unwrap();
                if !all.1.iter().any(|(known, _)| known.is_like(&difference)) {
                    all.1.push((difference, case));
                }
            }
        }
        all.lock().unwrap().0.add(&checker.coverage);
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let work = &work;
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let (coverage, found) = all.into_inner().unwrap();
    println!("seed {}\n{}", seed(), coverage.table());
    let shown: String = found.iter().map(|(difference, case)| smallest(difference, case)).collect();
    assert!(found.is_empty(), "seed {}\n{shown}", seed());
    coverage.assert_enough();
}

//! Creates mutants and runs the tests against each.

use super::base::{MutantBase, MutantBases};
use super::edit::RuleEdit;
use super::find_edits;
use crate::coverage::{Coverage, PointKind};
use crate::outcome;
use crate::subject::TestSubject;
use crate::trial::{TestTrial, TrialInput};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_checker::files::Files;
use averment_checker::ir;
use averment_checker::{CheckOptions, check_rules};
use averment_engine::bytecode::ops::{DefRef, LetRef, Op};
use averment_engine::bytecode::program::{CodeChunk, CodeId, CompiledCheck, CompiledMember, Program};
use averment_engine::compile::compile;
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::testing::{TestExpectation, judge_test};
use averment_traces::read::{self, read_str};
use bumpalo::Bump;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Fuel for each assertion and run, so that a mutation cannot make a test run forever.
const FUEL: u64 = 20_000_000;
/// Stack size in bytes of a thread that checks and judges.
const STACK: usize = 16 << 20;

/// Default maximum number of mutants of one file.
pub const MOST: usize = 5_000;

/// Options for running mutants.
#[derive(Clone, Copy)]
pub struct MutationOptions<'t> {
    /// Maximum number of mutants, spread evenly over the file.
    pub most: usize,
    /// Number run in parallel; `None` uses all processors. The report does not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// Set to stop before the next mutant.
    pub stop: &'t AtomicBool,
    /// Called with the number of finished mutants and the total.
    pub progress: &'t (dyn Fn(usize, usize) + Sync),
}

/// The result of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutantResult {
    /// A test failed; its name.
    Killed(String),
    /// All tests had unchanged results.
    Survived,
    /// No test judges the changed assertion, so none can detect the change.
    Untested,
    /// It compiles to an equal program, or changes an unused definition.
    Equivalent,
    /// It is not a valid rule file.
    Invalid,
}

/// A mutant and its result.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// The change.
    pub edit: RuleEdit,
    /// The result.
    pub fate: MutantResult,
}

/// The results of all mutants of a rule file.
#[derive(Debug, Default)]
pub struct MutationReport {
    /// Number of possible changes; more than were run if there was a limit or an interruption.
    pub found: usize,
    /// The mutants that were run, in file order.
    pub mutants: Vec<Mutant>,
}

impl MutationReport {
    /// Returns the number of mutants with a matching result.
    #[must_use]
    pub fn count_where(&self, is: impl Fn(&MutantResult) -> bool) -> usize {
        self.mutants.iter().filter(|mutant| is(&mutant.fate)).count()
    }

    /// Returns the number of detected mutants.
    #[must_use]
    pub fn killed_count(&self) -> usize {
        self.count_where(|fate| matches!(fate, MutantResult::Killed(_)))
    }

    /// Returns the number of undetected mutants.
    #[must_use]
    pub fn survived_count(&self) -> usize {
        self.count_where(|fate| matches!(fate, MutantResult::Survived | MutantResult::Untested))
    }
}

/// Runs the mutants of a subject whose tests all have the expected results. `files` provides the files that the rules name. Returns `None` if the
/// text of the subject does not compile at its path.
#[must_use]
pub fn run_mutants(
    subject: &TestSubject,
    files: &(dyn Files + Sync),
    limits: &Limits,
    tried: MutationOptions<'_>,
) -> Option<MutationReport> {
    let edits = find_edits(&subject.sources, limits);
    let found = edits.len();
    let edits = choose_edits(edits, tried.most);
    let work = MutationWork {
        subject,
        files,
        limits: Limits { fuel: limits.fuel.min(FUEL), ..*limits },
        bases: MutantBases::new(subject, limits),
        untested: untested_assertions(subject, limits),
        unused: unused_definitions(&subject.program),
    };
    work.rule_base(None)?;
    let fates: Vec<Mutex<Option<MutantResult>>> = edits.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let all = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = tried.threads.map_or_else(all, NonZeroUsize::get).min(edits.len()).clamp(1, 256);
    let one_thread = || {
        while !tried.stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (Some(edit), Some(place)) = (edits.get(number), fates.get(number)) else { return };
            // A panic caused by an unusual mutant must not stop the others.
            let fate = catch_unwind(AssertUnwindSafe(|| work.mutant_result(edit))).unwrap_or(MutantResult::Invalid);
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(fate);
            (tried.progress)(number + 1, edits.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let started = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, one_thread);
            if started.is_err() {
                one_thread();
            }
        }
    });
    let fates = fates.into_iter().map(|fate| fate.into_inner().unwrap_or_else(PoisonError::into_inner));
    let mutants = edits.into_iter().zip(fates).filter_map(|(edit, fate)| Some(Mutant { edit, fate: fate? })).collect();
    Some(MutationReport { found, mutants })
}

/// Selects at most this many changes, spread evenly.
fn choose_edits(edits: Vec<RuleEdit>, most: usize) -> Vec<RuleEdit> {
    let all = edits.len();
    if most >= all {
        return edits;
    }
    // Scaling the numbers 0..most to 0..all, each change is the start of at most one number.
    let starts =
        |number: usize| number * most / all != number.checked_sub(1).map_or(usize::MAX, |last| last * most / all);
    edits.into_iter().enumerate().filter(|(number, _)| starts(*number)).map(|(_, edit)| edit).collect()
}

struct MutationWork<'w> {
    subject: &'w TestSubject,
    files: &'w (dyn Files + Sync),
    limits: Limits,
    bases: MutantBases,
    untested: Vec<Span>,
    unused: Vec<Span>,
}

impl MutationWork<'_> {
    fn mutant_result(&self, edit: &RuleEdit) -> MutantResult {
        let rule = edit.rule.as_deref();
        let Some(base) = self.rule_base(rule) else { return MutantResult::Invalid };
        let Some(program) = apply_edit(&base.text, edit).and_then(|text| self.compile_text(&text)) else {
            return MutantResult::Invalid;
        };
        let lies_in = |spans: &[Span]| spans.iter().any(|span| range_covers(span.as_range(), &edit.range));
        if lies_in(&self.unused) || without_places(&program) == base.original {
            return MutantResult::Equivalent;
        }
        if lies_in(&self.untested) {
            return MutantResult::Untested;
        }
        let prepared = PreparedProgram::new(&program);
        let mut arena = Bump::new();
        for trial in self.subject.trials.iter().filter(|trial| self.concerns_trial(trial, rule)) {
            if !self.comes_out(&program, &prepared, trial, &arena) {
                return MutantResult::Killed(trial.name.clone());
            }
            arena.reset();
        }
        MutantResult::Survived
    }

    fn rule_base(&self, rule: Option<&str>) -> Option<&MutantBase> {
        self.bases.rule_base(rule, |text| self.compile_text(text).map(|program| without_places(&program)))
    }

    /// True if a test can detect a change of the rule, or of anything if `rule` is `None`.
    fn concerns_trial(&self, trial: &TestTrial, rule: Option<&str>) -> bool {
        let name = |number: &u32| self.subject.program.rules.get(*number as usize).map(|rule| rule.id.as_str());
        trial.rules.is_empty() || rule.is_none_or(|rule| trial.rules.iter().any(|number| name(number) == Some(rule)))
    }

    fn compile_text(&self, text: &str) -> Option<Program> {
        let folder = self.subject.path.as_deref().and_then(Path::parent);
        let mut sources = SourceMap::default();
        let root = sources.add_file(SourceFile::new(self.subject.name(), folder, text));
        let checked = check_rules(&mut sources, root, &CheckOptions { limits: self.limits, files: self.files });
        if checked.diagnostics.has_errors() {
            return None;
        }
        let mut program = compile(&checked.module, &sources);
        for param in &mut program.params {
            let given = self.subject.program.params.iter().find(|known| known.name == param.name);
            param.default = given.and_then(|known| known.default.clone());
        }
        Some(program)
    }

    fn comes_out(&self, program: &Program, prepared: &PreparedProgram, trial: &TestTrial, arena: &Bump) -> bool {
        let run = match &trial.input {
            TrialInput::Normal(text) => read_str(text, arena, &self.limits),
            TrialInput::Recorded(raw) => read::parse_run(raw, arena, &self.limits),
            TrialInput::None(_) => return true,
        };
        let (Ok(run), Some(expect)) = (run, trial.expect) else { return true };
        let rules: Option<Vec<u32>> = trial.rules.iter().map(|&rule| self.same_rule(rule, program)).collect();
        let Some(rules) = rules else { return false };
        judge_test(program, prepared, &run, arena, TestExpectation { expect, rules: &rules }, &self.limits, false)
            .reason
            .is_none()
    }

    fn same_rule(&self, rule: u32, program: &Program) -> Option<u32> {
        let id = &self.subject.program.rules.get(rule as usize)?.id;
        program.rules.iter().position(|rule| rule.id == *id).and_then(|number| u32::try_from(number).ok())
    }
}

fn apply_edit(text: &str, edit: &RuleEdit) -> Option<String> {
    let (before, behind) = (text.get(..edit.range.start)?, text.get(edit.range.end..)?);
    Some(format!("{before}{}{behind}", edit.text))
}

fn range_covers(outer: std::ops::Range<usize>, inner: &std::ops::Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn untested_assertions(subject: &TestSubject, limits: &Limits) -> Vec<Span> {
    let mut coverage = Coverage::new(&subject.program, &subject.prepared);
    let _ = outcome::run_tests(subject, limits, Some(&mut coverage));
    let assertions = coverage.points.iter().filter(|point| point.kind == PointKind::Assertion);
    let never = assertions.filter(|point| point.looked == 0 && point.span.file == FileId(0));
    never.map(|point| point.span).collect()
}

fn unused_definitions(program: &Program) -> Vec<Span> {
    let defined: Vec<CodeId> = program.lets.iter().copied().chain(program.defs.iter().map(|def| def.code)).collect();
    let ops = |chunk: &CodeChunk| program.code.get(chunk.start as usize..chunk.end as usize).unwrap_or_default();
    let called = |op: &Op| match op {
        Op::Let(LetRef(number)) => program.lets.get(*number as usize).copied(),
        Op::CallDef(DefRef(number), _) => program.defs.get(*number as usize).map(|def| def.code),
        _ => None,
    };
    let chunks = || (0..).zip(&program.chunks).map(|(number, chunk)| (CodeId(number), chunk));
    let mut open: Vec<CodeId> = chunks().map(|(code, _)| code).filter(|code| !defined.contains(code)).collect();
    let mut used = BTreeSet::new();
    while let Some(code) = open.pop() {
        if let Some(chunk) = program.chunks.get(code.0 as usize).filter(|_| used.insert(code)) {
            open.extend(ops(chunk).iter().filter_map(called));
        }
    }
    let rest = chunks().filter(|(code, chunk)| !used.contains(code) && chunk.span.file == FileId(0));
    rest.map(|(_, chunk)| chunk.span).collect()
}

/// Removes data that only describes the source text. Programs that are then equal judge every run alike.
fn without_places(program: &Program) -> Program {
    let mut plain = program.clone();
    let nowhere = Span::new(FileId(0), 0, 0);
    plain.sources.clear();
    plain.tests.clear();
    plain.spans.iter_mut().for_each(|span| *span = nowhere);
    plain.chunks.iter_mut().for_each(|chunk| chunk.span = nowhere);
    plain.params.iter_mut().for_each(|param| param.span = nowhere);
    plain.regexes.iter_mut().for_each(|regex| regex.text.clear());
    plain.rules.iter_mut().for_each(|rule: &mut ir::ProgramRule| rule.span = nowhere);
    for pattern in &mut plain.patterns {
        pattern.span = nowhere;
        pattern.text.clear();
    }
    for temporal in &mut plain.temporals {
        temporal.span = nowhere;
    }
    for assertion in &mut plain.assertions {
        assertion.span = nowhere;
        assertion.text.clear();
        assertion.id.clear();
        clear_places(&mut assertion.check);
    }
    plain
}

/// Clears the locations in a check. The brackets of the source bound the recursion.
fn clear_places(check: &mut CompiledCheck) {
    match check {
        CompiledCheck::Not(inner) | CompiledCheck::Scoped { body: inner, .. } => clear_places(inner),
        CompiledCheck::Group { members, .. } => members.iter_mut().for_each(|member: &mut CompiledMember| {
            member.span = Span::default();
            clear_places(&mut member.check);
        }),
        CompiledCheck::Expression(_)
        | CompiledCheck::Temporal(_)
        | CompiledCheck::World(_)
        | CompiledCheck::OverRuns(_) => {}
    }
}

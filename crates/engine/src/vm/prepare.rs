//! What is built from a program once per process, each part when it is first used.

use super::fault::{Fault, broken_program};
use super::near_regexes::FoldedRegexes;
use super::temporal::plan::TemporalPlan;
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeId, Program};
use averment_base::limits::Limits;
use averment_builtins::matcher::RegexMatcher;
use averment_builtins::schema::CompiledSchema;
use averment_builtins::table::{self, Builtin};
use averment_checker::ir::{self, ToolClaim};
use averment_runs::normal::of_step;
use regex::Regex;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// The parts of a program that have to be built: regular expressions, validators, the functions behind names. Threads share them.
#[derive(Debug, Default)]
pub struct PreparedProgram {
    parts: Arc<PreparedParts>,
    /// The regular expressions of a thread, once it has used them.
    own: Vec<OnceLock<Option<RegexMatcher>>>,
}

#[derive(Debug, Default)]
struct PreparedParts {
    patterns: Vec<(ir::RegexSource, OnceLock<Option<RegexMatcher>>)>,
    folded: Arc<FoldedRegexes>,
    schemas: Vec<OnceLock<Result<CompiledSchema, String>>>,
    builtins: FxHashMap<u32, &'static Builtin>,
    /// For each expression, whether it can call a score function; empty if the program calls none.
    graded: Vec<bool>,
    plan: OnceLock<TemporalPlan>,
    facts: ToolNeeds,
}

impl PreparedProgram {
    /// Prepares a program; nothing is compiled before it is used.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let builtins = find_builtins(program);
        let parts = PreparedParts {
            patterns: program.regexes.iter().map(|regex| (regex.clone(), OnceLock::new())).collect(),
            folded: Arc::new(FoldedRegexes::of_program(program)),
            schemas: program.schemas.iter().map(|_| OnceLock::new()).collect(),
            graded: mark_graded(program, &builtins),
            builtins,
            plan: OnceLock::new(),
            facts: ToolNeeds::of_program(program),
        };
        Self { parts: Arc::new(parts), own: Vec::new() }
    }

    /// The same for another thread: what is built is built once, and what regular expressions remember of texts is the thread's own.
    #[must_use]
    pub fn for_thread(&self) -> Self {
        let own = self.parts.patterns.iter().map(|_| OnceLock::new()).collect();
        Self { parts: Arc::clone(&self.parts), own }
    }

    /// The plan for deciding statements: unique patterns, and what names alone decide.
    #[must_use]
    pub fn temporal_plan(&self, program: &Program) -> &TemporalPlan {
        self.parts.plan.get_or_init(|| TemporalPlan::new(program))
    }

    /// Whether rules say how calls ended of which the run does not say it.
    #[must_use]
    pub fn concludes_endings(&self) -> bool {
        self.parts.facts.ends
    }

    pub(super) fn tool_needs(&self) -> ToolNeeds {
        self.parts.facts
    }

    /// A regular expression of the program; `None` for a number or pattern that is not good (a checked program has none).
    #[must_use]
    pub fn regex_matcher(&self, number: u32) -> Option<&RegexMatcher> {
        let shared = || self.parts.regex_matcher(number);
        match self.own.get(number as usize) {
            Some(own) => own.get_or_init(|| shared()?.for_thread()).as_ref().or_else(shared),
            None => shared(),
        }
    }

    /// The regular expressions of the program without letter case.
    pub(super) fn folded_regexes(&self) -> Arc<FoldedRegexes> {
        Arc::clone(&self.parts.folded)
    }

    /// The unmetered regular expression, for short or prepaid texts; `None` if it backtracks.
    #[must_use]
    pub fn linear_regex(&self, number: u32) -> Option<&Regex> {
        self.regex_matcher(number)?.as_linear().map(|pattern| &pattern.regex)
    }

    /// A schema of the program, ready to check values.
    pub fn schema_validator(&self, program: &Program, number: u32, limits: &Limits) -> Result<&CompiledSchema, Fault> {
        let index = number as usize;
        let (Some(cell), Some(source)) = (self.parts.schemas.get(index), program.schemas.get(index)) else {
            return Err(broken_program());
        };
        cell.get_or_init(|| CompiledSchema::compile(&source.json, limits))
            .as_ref()
            .map_err(|error| Fault::Other(format!("the schema `{}` cannot be used: {error}", source.name)))
    }

    /// The function behind a name of the program.
    #[must_use]
    pub fn builtin_named(&self, name: u32) -> Option<&'static Builtin> {
        self.parts.builtins.get(&name).copied()
    }

    /// Whether an expression can call a score function.
    #[must_use]
    pub fn is_graded(&self, code: CodeId) -> bool {
        self.parts.graded.get(code.0 as usize).copied().unwrap_or(false)
    }
}

impl PreparedParts {
    fn regex_matcher(&self, number: u32) -> Option<&RegexMatcher> {
        let (regex, cell) = self.patterns.get(number as usize)?;
        let limit = Limits::default().regex_bytes;
        let new = || RegexMatcher::new(number, &regex.pattern, regex.backtracks, self.patterns.len(), limit);
        cell.get_or_init(new).as_ref()
    }
}

/// Whether a program needs to know more of tools than a run records: how their calls ended, their tags and annotations.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ToolNeeds {
    pub(super) ends: bool,
    pub(super) looks: bool,
}

impl ToolNeeds {
    pub(super) fn of_program(program: &Program) -> Self {
        let ends = program.tool_facts.iter().any(|fact| matches!(fact.says, ToolClaim::Fails(_)));
        let looks = program.names.iter().any(|name| matches!(name.as_str(), of_step::TAGS | of_step::ANNOTATIONS));
        Self { ends, looks }
    }

    pub(super) fn is_any(self) -> bool {
        self.ends || self.looks
    }
}

fn find_builtins(program: &Program) -> FxHashMap<u32, &'static Builtin> {
    let mut found = FxHashMap::default();
    for op in &program.code {
        if let Op::Call(name, _) | Op::Fold(name, ..) = op
            && let Some(text) = program.names.get(name.0 as usize)
            && let Some(builtin) = table::find_builtin(text)
        {
            found.insert(name.0, builtin);
        }
    }
    found
}

fn mark_graded(program: &Program, builtins: &FxHashMap<u32, &'static Builtin>) -> Vec<bool> {
    if !builtins.values().any(|builtin| builtin.score) {
        return Vec::new();
    }
    let mut marks = vec![false; program.chunks.len()];
    loop {
        let mut changed = false;
        for (index, chunk) in program.chunks.iter().enumerate() {
            let ops = program.code.get(chunk.start as usize..chunk.end as usize).unwrap_or_default();
            let marked = ops.iter().any(|op| calls_score(*op, program, builtins, &marks));
            if let Some(mark) = marks.get_mut(index).filter(|mark| marked && !**mark) {
                *mark = true;
                changed = true;
            }
        }
        if !changed {
            return marks;
        }
    }
}

fn calls_score(op: Op, program: &Program, builtins: &FxHashMap<u32, &'static Builtin>, marks: &[bool]) -> bool {
    let is_marked = |code: Option<CodeId>| code.and_then(|code| marks.get(code.0 as usize)).copied().unwrap_or(false);
    match op {
        Op::Call(name, _) => builtins.get(&name.0).is_some_and(|builtin| builtin.score),
        Op::Let(number) => is_marked(program.lets.get(number.0 as usize).copied()),
        Op::CallDef(number, _) => is_marked(program.defs.get(number.0 as usize).map(|def| def.code)),
        _ => false,
    }
}

//! What is built from a program once per process, each part when it is first used.

use super::facts::Needs;
use super::fault::Fault;
use super::temporal::plan::Plan;
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeId, Program};
use crate::ir;
use averment_base::limits::Limits;
use averment_builtins::matcher::Matcher;
use averment_builtins::schema::Schema;
use averment_builtins::table::{self, Builtin};
use regex::Regex;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The parts of a program that have to be built: regular expressions, validators, the functions behind names.
#[derive(Debug, Default)]
pub struct Prepared {
    patterns: Vec<(ir::Regex, OnceLock<Option<Matcher>>)>,
    schemas: Vec<OnceLock<Result<Schema, String>>>,
    builtins: FxHashMap<u32, &'static Builtin>,
    /// By expression: whether a score function can be called in it. Empty when the program calls none.
    graded: Vec<bool>,
    plan: OnceLock<Plan>,
    facts: Needs,
}

impl Prepared {
    /// Prepares a program; nothing is compiled before it is used.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let builtins = builtins(program);
        Self {
            patterns: program.regexes.iter().map(|regex| (regex.clone(), OnceLock::new())).collect(),
            schemas: program.schemas.iter().map(|_| OnceLock::new()).collect(),
            graded: graded(program, &builtins),
            builtins,
            plan: OnceLock::new(),
            facts: Needs::of(program),
        }
    }

    /// What the monitors need of the program.
    #[must_use]
    pub fn plan(&self, program: &Program) -> &Plan {
        self.plan.get_or_init(|| Plan::new(program))
    }

    /// What the program needs of what is said of tools.
    pub(super) fn facts(&self) -> Needs {
        self.facts
    }

    /// A regular expression of the program; `None` for a number or pattern that is not good (a checked program has none).
    #[must_use]
    pub fn pattern(&self, number: u32) -> Option<&Matcher> {
        let (regex, cell) = self.patterns.get(number as usize)?;
        let limit = Limits::default().regex_bytes;
        let new = || Matcher::new(number, &regex.pattern, regex.backtracks, self.patterns.len(), limit);
        cell.get_or_init(new).as_ref()
    }

    /// The same, for texts that are short or paid for; `None` also for one that backtracks, which is nowhere asked without a price.
    #[must_use]
    pub fn regex(&self, number: u32) -> Option<&Regex> {
        self.pattern(number)?.linear().map(|pattern| &pattern.regex)
    }

    /// A schema of the program, ready to check values.
    pub fn schema(&self, program: &Program, number: u32, limits: &Limits) -> Result<&Schema, Fault> {
        let index = number as usize;
        let (Some(cell), Some(source)) = (self.schemas.get(index), program.schemas.get(index)) else {
            return Err(super::machine::broken());
        };
        cell.get_or_init(|| Schema::compile(&source.json, limits))
            .as_ref()
            .map_err(|error| Fault::Other(format!("the schema `{}` cannot be used: {error}", source.name)))
    }

    /// The function behind a name of the program.
    #[must_use]
    pub fn builtin(&self, name: u32) -> Option<&'static Builtin> {
        self.builtins.get(&name).copied()
    }

    /// Whether an expression can call a score function.
    #[must_use]
    pub fn is_graded(&self, code: CodeId) -> bool {
        self.graded.get(code.0 as usize).copied().unwrap_or(false)
    }
}

fn builtins(program: &Program) -> FxHashMap<u32, &'static Builtin> {
    let mut found = FxHashMap::default();
    for op in &program.code {
        if let Op::Call(name, _) | Op::Fold(name, ..) = op
            && let Some(text) = program.names.get(name.0 as usize)
            && let Some(builtin) = table::lookup(text)
        {
            found.insert(name.0, builtin);
        }
    }
    found
}

/// Marks the expressions that call a score function, directly or by way of a `let` or `def`.
fn graded(program: &Program, builtins: &FxHashMap<u32, &'static Builtin>) -> Vec<bool> {
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

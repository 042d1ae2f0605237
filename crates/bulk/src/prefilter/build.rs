//! Makes the prefilter of a program: which form each assertion has, and what has to be read for it.

use super::condition_reads::{ConditionReads, Reader};
use super::default_evaluation;
use super::default_verdicts::DefaultVerdicts;
use super::literals::Search;
use super::predicate::{Base, Literal};
use super::temporal::{Asked, Number, Statement};
use super::{Answer, Compiled, Condition, Form, Item, Prefilter, Root};
use averment_engine::bytecode::ops::Op;
use averment_engine::bytecode::program::{Assertion, Check, CodeId, Program, TemporalId};
use averment_engine::ir::{RuleRole, Temporal};
use averment_engine::vm::over_runs;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::temporal::plan::Plan;
use averment_traces::projection::{Field, FieldMask, ReadSet};
use rustc_hash::FxHashMap;

/// The prefilter of the selected assertions of a program.
pub(super) fn prefilter(rules: Compiled<'_>, read_set: &mut ReadSet) -> Prefilter {
    let plan = rules.prepared.plan(rules.program);
    let mut builder = Builder {
        program: rules.program,
        prepared: rules.prepared,
        plan,
        reader: Reader::new(rules.program),
        conditions: Vec::new(),
        read_for_parts: Vec::new(),
        known: FxHashMap::default(),
        fields: FxHashMap::default(),
        searched: Default::default(),
    };
    let mut items = Vec::new();
    for (number, assertion) in (0_u32..).zip(&rules.program.assertions) {
        if rules.options.selection.judges(rules.program, number, assertion) {
            items.push(builder.item(number, assertion));
        }
    }
    let selected = over_runs::of_program(rules.program);
    let selected = selected.filter(|(_, one, _)| rules.options.selection.selects(rules.program, one));
    let mut unreadable = Vec::new();
    let mut of_runs = Vec::new();
    for (number, assertion, over) in selected {
        // Each is looked at, so that all of them are read.
        let of_entries: Vec<Option<u32>> =
            over_runs::looked_at(assertion, over).map(|code| builder.of_entries(code)).collect();
        if of_entries.contains(&None) {
            unreadable.push(number);
        }
        of_runs.push(number);
    }
    let mut prefilter = builder.finish(items, read_set);
    prefilter.always_read.extend(unreadable);
    prefilter.over_runs = of_runs;
    default_evaluation::learn(rules, &mut prefilter);
    prefilter.default_verdicts = DefaultVerdicts::new(rules.program, plan, &prefilter);
    prefilter
}

/// Makes a prefilter.
pub(super) struct Builder<'p> {
    pub(super) program: &'p Program,
    pub(super) prepared: &'p Prepared,
    pub(super) plan: &'p Plan,
    pub(super) reader: Reader<'p>,
    conditions: Vec<Condition>,
    /// What is read for assertions that parts of calls decide.
    pub(super) read_for_parts: Vec<ConditionReads>,
    /// The conditions by their code, and whether they are given a value.
    known: FxHashMap<(&'p [Op], bool), Option<u32>>,
    pub(super) fields: FxHashMap<u32, [Option<FieldMask>; 2]>,
    searched: [Vec<Literal>; 2],
}

impl<'p> Builder<'p> {
    fn finish(self, items: Vec<Item>, read_set: &mut ReadSet) -> Prefilter {
        let all = self.conditions.iter().map(|condition| &condition.reads).chain(&self.read_for_parts);
        let roots = roots(self.program, all, read_set);
        let mut searches = [None, None];
        for ((search, literals), texts) in searches.iter_mut().zip(&self.searched).zip(&mut read_set.texts) {
            if !literals.is_empty() {
                *search = Some(Search::new(self.program, literals.iter()));
                *texts = true;
            }
        }
        read_set.times |= items.iter().any(|item| matches!(&item.check, Form::Temporal(of) if of.is_timed));
        for (field, asked) in Field::ALL.into_iter().zip(&mut read_set.fields) {
            let of_field = |masks: &[Option<FieldMask>; 2]| masks.get(field as usize).is_some_and(Option::is_some);
            *asked |= self.fields.values().any(of_field);
        }
        Prefilter {
            always_read: items
                .iter()
                .filter(|item| matches!(item.check, Form::Open))
                .map(|item| item.assertion)
                .collect(),
            items,
            conditions: self.conditions,
            roots,
            fields: self.fields,
            searched: self.searched,
            searches,
            default_verdicts: DefaultVerdicts::default(),
            over_runs: Vec::new(),
        }
    }

    fn item(&mut self, number: u32, assertion: &Assertion) -> Item {
        let open = Item { assertion: number, when: Vec::new(), check: Form::Open, parts: None };
        let rule = assertion.rule.and_then(|rule| self.program.rules.get(rule as usize));
        let special = rule.is_some_and(|rule| matches!(rule.role, RuleRole::Case { .. } | RuleRole::Invariant));
        if special || assertion.settings.threshold.is_some() {
            return open;
        }
        let when: Option<Vec<u32>> = assertion.settings.when.iter().map(|code| self.of_entries(*code)).collect();
        let Some(when) = when else { return open };
        if let Some(check) = self.form(&assertion.check) {
            let parts = if let Form::Temporal(statement) = &check { self.parts_of(statement.temporal()) } else { None };
            return Item { assertion: number, when, check, parts };
        }
        match &assertion.check {
            Check::Expression(code) => match self.parts_of_selections(*code) {
                Some((parts, of_calls)) => {
                    Item { assertion: number, when, check: Form::Selected { of_calls }, parts: Some(parts) }
                }
                None => open,
            },
            _ => open,
        }
    }

    fn form(&mut self, check: &Check) -> Option<Form> {
        match check {
            Check::Expression(code) => Some(Form::Expression(self.of_entries(*code)?)),
            Check::Temporal(temporal) => match self.program.temporals.get(temporal.0 as usize)?.temporal {
                Temporal::NoneIn { values, predicate } => self.none_in(values, predicate),
                _ => self.temporal(*temporal).map(Form::Temporal),
            },
            _ => None,
        }
    }

    /// A statement; `None` for one that names say nothing of, or whose test of a number looks at more than entries of the run.
    fn temporal(&mut self, temporal: TemporalId) -> Option<Statement> {
        let named = self.plan.named(temporal)?;
        let number = match named.number_test {
            Some(test) => Some(Number::new(self.of_number(test)?)),
            None => None,
        };
        let condition = named.condition.zip(named.operands.first());
        let condition = condition.map(|(code, of)| self.of_call(code, of.pattern).map_or(Asked::Unknown, Asked::Known));
        Some(Statement::new(temporal, named, condition, number))
    }

    /// The number of a condition that looks at entries of the run.
    fn of_entries(&mut self, code: CodeId) -> Option<u32> {
        let number = self.condition(code, false)?;
        self.reads(number)?.is_of_entries().then_some(number)
    }

    /// The number of a condition of calls that match a unique pattern; what it reads of them is noted.
    fn of_call(&mut self, code: CodeId, pattern: u32) -> Option<u32> {
        let number = self.condition(code, false)?;
        let masks = self.fields.entry(pattern).or_default();
        for predicate in &self.conditions.get(number as usize)?.reads.predicates {
            if let Base::Field(field) = predicate.path.base {
                masks.get_mut(field as usize)?.get_or_insert_default().add(predicate.read_keys());
            }
        }
        Some(number)
    }

    /// The number of a test of a number of calls.
    fn of_number(&mut self, code: CodeId) -> Option<u32> {
        let number = self.condition(code, true)?;
        let reads = self.reads(number)?;
        let of_run = |base: &Base| matches!(base, Base::Root(_) | Base::Given);
        reads.predicates.iter().all(|predicate| of_run(&predicate.path.base)).then_some(number)
    }

    /// The number of a condition, where its read set can be told.
    fn condition(&mut self, code: CodeId, given: bool) -> Option<u32> {
        let chunk = self.program.chunks.get(code.0 as usize)?;
        let ops: &'p [Op] = self.program.code.get(chunk.start as usize..chunk.end as usize)?;
        if let Some(known) = self.known.get(&(ops, given)) {
            return *known;
        }
        // Scores are no verdicts: what gives one is evaluated in full.
        let scored = self.prepared.is_graded(code);
        let reads = (!scored).then(|| self.reader.condition(code, given)).flatten();
        let number = reads.and_then(|reads| {
            self.conditions.push(Condition { code, reads });
            u32::try_from(self.conditions.len() - 1).ok()
        });
        self.known.insert((ops, given), number);
        number
    }

    fn reads(&self, condition: u32) -> Option<&ConditionReads> {
        self.conditions.get(condition as usize).map(|condition| &condition.reads)
    }

    fn none_in(&mut self, values: CodeId, predicate: CodeId) -> Option<Form> {
        let path = self.reader.path(values)?;
        let field = match (&path.base, path.keys.as_slice()) {
            (Base::Calls, [field]) => Field::parse(field)?,
            _ => return None,
        };
        let reads = self.reader.condition(predicate, true)?;
        let literals = reads.needed_literals()?;
        let searched = self.searched.get_mut(field as usize)?;
        let mut numbers = Vec::with_capacity(literals.len());
        for literal in literals {
            let known = searched.iter().position(|other| other == literal);
            let at = known.unwrap_or_else(|| {
                searched.push(literal.clone());
                searched.len() - 1
            });
            numbers.push(u32::try_from(at).ok()?);
        }
        Some(Form::NoneIn { field, literals: numbers, default: Answer::Open })
    }
}

/// The entries that conditions look at, each with what is read of it.
fn roots<'r>(
    program: &Program,
    conditions: impl Iterator<Item = &'r ConditionReads>,
    read_set: &mut ReadSet,
) -> Vec<Root> {
    let mut roots: Vec<Root> = Vec::new();
    for predicate in conditions.flat_map(|reads| &reads.predicates) {
        let Base::Root(name) = predicate.path.base else { continue };
        if let Some(root) = roots.iter_mut().find(|root| root.name == name) {
            root.mask.add(predicate.read_keys());
            continue;
        }
        let Some(text) = program.names.get(name as usize) else { continue };
        let known = read_set.roots.iter().position(|root| root == text);
        let held = known.unwrap_or_else(|| {
            read_set.roots.push(text.clone());
            read_set.roots.len() - 1
        });
        let mut mask = FieldMask::default();
        mask.add(predicate.read_keys());
        roots.push(Root { name, held, mask });
    }
    roots
}

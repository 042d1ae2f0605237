//! Makes the prefilter of a program: which form each assertion has, and what has to be read for it.

use super::condition_reads::{CodeTracer, ConditionReads};
use super::default_evaluation;
use super::default_verdicts::DefaultVerdicts;
use super::literals::LiteralSearch;
use super::predicate::{SearchLiteral, ValueBase};
use super::temporal::{CallCountTest, CallStatement, MatchCondition};
use super::{EntryRead, EvaluationRules, ItemCheck, Prefilter, PrefilterAnswer, PrefilterItem, UniqueCondition};
use averment_checker::ir::{RuleRole, Temporal};
use averment_engine::bytecode::ops::Op;
use averment_engine::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, Program, TemporalId};
use averment_engine::vm::over_runs;
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::temporal::plan::TemporalPlan;
use averment_traces::projection::{CallField, FieldMask, ReadSet, is_computed_entry};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn build_prefilter(rules: EvaluationRules<'_>, read_set: &mut ReadSet) -> Prefilter {
    let plan = rules.prepared.temporal_plan(rules.program);
    let mut builder = PrefilterBuilder {
        program: rules.program,
        prepared: rules.prepared,
        plan,
        reader: CodeTracer::new(rules.program),
        conditions: Vec::new(),
        read_for_parts: Vec::new(),
        known: FxHashMap::default(),
        fields: FxHashMap::default(),
        tool_tests: FxHashSet::default(),
        ended: FxHashSet::default(),
        searched: Default::default(),
    };
    let mut items = Vec::new();
    for (number, assertion) in (0_u32..).zip(&rules.program.assertions) {
        if rules.options.selection.is_judged(rules.program, number, assertion) {
            items.push(builder.build_item(number, assertion));
        }
    }
    let selected = over_runs::of_program(rules.program);
    let selected = selected.filter(|(_, one, _)| rules.options.selection.is_selected(rules.program, one));
    let mut unreadable = Vec::new();
    let mut of_runs = Vec::new();
    for (number, assertion, over) in selected {
        // Each is looked at, so that all of them are read.
        let of_entries: Vec<Option<u32>> =
            over_runs::run_conditions(assertion, over).map(|code| builder.of_entries(code)).collect();
        if of_entries.contains(&None) {
            unreadable.push(number);
        }
        of_runs.push(number);
    }
    let mut prefilter = builder.finish_build(items, read_set);
    prefilter.always_read.extend(unreadable);
    prefilter.over_runs = of_runs;
    default_evaluation::learn_defaults(rules, &mut prefilter);
    prefilter.default_verdicts = DefaultVerdicts::new(rules.program, plan, &prefilter);
    prefilter
}

pub(super) struct PrefilterBuilder<'p> {
    pub(super) program: &'p Program,
    pub(super) prepared: &'p PreparedProgram,
    pub(super) plan: &'p TemporalPlan,
    pub(super) reader: CodeTracer<'p>,
    conditions: Vec<UniqueCondition>,
    pub(super) read_for_parts: Vec<ConditionReads>,
    known: FxHashMap<(&'p [Op], bool), Option<u32>>,
    pub(super) fields: FxHashMap<u32, [Option<FieldMask>; 2]>,
    /// Unique patterns whose conditions ask for the name of the tool.
    pub(super) tool_tests: FxHashSet<u32>,
    /// Unique patterns that ask how their calls ended.
    pub(super) ended: FxHashSet<u32>,
    searched: [Vec<SearchLiteral>; 2],
}

impl<'p> PrefilterBuilder<'p> {
    fn finish_build(self, items: Vec<PrefilterItem>, read_set: &mut ReadSet) -> Prefilter {
        let all = self.conditions.iter().map(|condition| &condition.reads).chain(&self.read_for_parts);
        let roots = entry_reads(self.program, all, read_set);
        let mut searches = [None, None];
        for ((search, literals), texts) in searches.iter_mut().zip(&self.searched).zip(&mut read_set.texts) {
            if !literals.is_empty() {
                *search = Some(LiteralSearch::new(self.program, literals.iter()));
                *texts = true;
            }
        }
        read_set.times |= items.iter().any(|item| {
            let by_names = matches!(&item.check, ItemCheck::Temporal(of) if of.is_timed);
            by_names || item.parts.as_ref().is_some_and(|parts| parts.times)
        });
        for (field, asked) in CallField::ALL.into_iter().zip(&mut read_set.fields) {
            let of_field = |masks: &[Option<FieldMask>; 2]| masks.get(field as usize).is_some_and(Option::is_some);
            *asked |= self.fields.values().any(of_field);
        }
        Prefilter {
            always_read: items
                .iter()
                .filter(|item| matches!(item.check, ItemCheck::Open))
                .map(|item| item.assertion)
                .collect(),
            items,
            conditions: self.conditions,
            computed: roots.iter().filter(|root| is_computed(self.program, root)).map(|root| root.name).collect(),
            roots,
            fields: self.fields,
            tool_tests: self.tool_tests,
            ended: self.ended,
            searched: self.searched,
            searches,
            default_verdicts: DefaultVerdicts::default(),
            over_runs: Vec::new(),
        }
    }

    fn build_item(&mut self, number: u32, assertion: &CompiledAssertion) -> PrefilterItem {
        let open = PrefilterItem { assertion: number, when: Vec::new(), check: ItemCheck::Open, parts: None };
        let rule = assertion.rule.and_then(|rule| self.program.rules.get(rule as usize));
        let special = rule.is_some_and(|rule| matches!(rule.role, RuleRole::Case { .. } | RuleRole::Invariant));
        if special || assertion.settings.threshold.is_some() {
            return open;
        }
        let when: Option<Vec<u32>> = assertion.settings.when.iter().map(|code| self.of_entries(*code)).collect();
        let Some(when) = when else { return open };
        if let Some(check) = self.build_check(&assertion.check) {
            let parts =
                if let ItemCheck::Temporal(statement) = &check { self.parts_of(statement.temporal_id()) } else { None };
            return PrefilterItem { assertion: number, when, check, parts };
        }
        match &assertion.check {
            CompiledCheck::Expression(code) => match self.parts_of_selections(*code) {
                Some((parts, of_calls)) => PrefilterItem {
                    assertion: number,
                    when,
                    check: ItemCheck::Selected { of_calls },
                    parts: Some(parts),
                },
                None => open,
            },
            _ => open,
        }
    }

    fn build_check(&mut self, check: &CompiledCheck) -> Option<ItemCheck> {
        match check {
            CompiledCheck::Expression(code) => Some(ItemCheck::Expression(self.of_entries(*code)?)),
            CompiledCheck::Temporal(temporal) => match self.program.temporals.get(temporal.0 as usize)?.temporal {
                Temporal::NoneIn { values, predicate } => self.none_in(values, predicate),
                _ => self.build_statement(*temporal).map(ItemCheck::Temporal),
            },
            _ => None,
        }
    }

    /// `None` if names decide nothing, or a count test reads more than entries of the run.
    fn build_statement(&mut self, temporal: TemporalId) -> Option<CallStatement> {
        let named = self.plan.named_statement(temporal)?;
        let number = match named.number_test {
            Some(test) => Some(CallCountTest::new(self.of_number(test)?)),
            None => None,
        };
        let condition = named.condition.zip(named.operands.first());
        let condition = condition
            .map(|(code, of)| self.of_call(code, of.pattern).map_or(MatchCondition::Unknown, MatchCondition::Known));
        Some(CallStatement::new(temporal, named, condition, number))
    }

    fn of_entries(&mut self, code: CodeId) -> Option<u32> {
        let number = self.add_condition(code, false)?;
        self.condition_reads(number)?.is_of_entries().then_some(number)
    }

    fn of_call(&mut self, code: CodeId, pattern: u32) -> Option<u32> {
        let number = self.add_condition(code, false)?;
        let masks = self.fields.entry(pattern).or_default();
        for predicate in &self.conditions.get(number as usize)?.reads.predicates {
            if let ValueBase::Field(field) = predicate.path.base {
                masks.get_mut(field as usize)?.get_or_insert_default().add_path(predicate.read_keys());
            }
        }
        Some(number)
    }

    fn of_number(&mut self, code: CodeId) -> Option<u32> {
        let number = self.add_condition(code, true)?;
        let reads = self.condition_reads(number)?;
        let of_run = |base: &ValueBase| matches!(base, ValueBase::Root(_) | ValueBase::Given);
        reads.predicates.iter().all(|predicate| of_run(&predicate.path.base)).then_some(number)
    }

    /// `None` if its reads cannot be determined.
    fn add_condition(&mut self, code: CodeId, given: bool) -> Option<u32> {
        let ops: &'p [Op] = self.program.code_ops(code)?;
        if let Some(known) = self.known.get(&(ops, given)) {
            return *known;
        }
        // Scores are no verdicts: what gives one is evaluated in full.
        let scored = self.prepared.is_graded(code);
        let reads = (!scored).then(|| self.reader.trace_condition(code, given)).flatten();
        let number = reads.and_then(|reads| {
            self.conditions.push(UniqueCondition { code, reads });
            u32::try_from(self.conditions.len() - 1).ok()
        });
        self.known.insert((ops, given), number);
        number
    }

    fn condition_reads(&self, condition: u32) -> Option<&ConditionReads> {
        self.conditions.get(condition as usize).map(|condition| &condition.reads)
    }

    fn none_in(&mut self, values: CodeId, predicate: CodeId) -> Option<ItemCheck> {
        let path = self.reader.expression_path(values)?;
        let field = match (&path.base, path.keys.as_slice()) {
            (ValueBase::Calls, [field]) => CallField::parse(field)?,
            _ => return None,
        };
        let reads = self.reader.trace_condition(predicate, true)?;
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
        Some(ItemCheck::NoneIn { field, literals: numbers, default: PrefilterAnswer::Open })
    }
}

fn is_computed(program: &Program, root: &EntryRead) -> bool {
    program.names.get(root.name as usize).is_some_and(|name| is_computed_entry(name))
}

fn entry_reads<'r>(
    program: &Program,
    conditions: impl Iterator<Item = &'r ConditionReads>,
    read_set: &mut ReadSet,
) -> Vec<EntryRead> {
    let mut roots: Vec<EntryRead> = Vec::new();
    for predicate in conditions.flat_map(|reads| &reads.predicates) {
        let ValueBase::Root(name) = predicate.path.base else { continue };
        if let Some(root) = roots.iter_mut().find(|root| root.name == name) {
            root.mask.add_path(predicate.read_keys());
            continue;
        }
        let Some(text) = program.names.get(name as usize) else { continue };
        let known = read_set.roots.iter().position(|root| root == text);
        let held = known.unwrap_or_else(|| {
            read_set.roots.push(text.clone());
            read_set.roots.len() - 1
        });
        let mut mask = FieldMask::default();
        mask.add_path(predicate.read_keys());
        roots.push(EntryRead { name, held, mask });
    }
    roots
}

//! Searches for values that satisfy a formula.

use super::formula::{Formula, SubjectId, SubjectLiteral, SubjectTable};
use super::values::ValueSet;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Maximum literals examined.
const BUDGET: usize = 20_000;
/// Copying this many subjects or values costs as much as one literal.
const SHARE: usize = 64;

/// The result of the search.
#[derive(Debug, Clone, PartialEq)]
pub enum Satisfiability {
    /// Nothing can satisfy it.
    No,
    /// These values may satisfy it; if every set is exact, any of them do.
    Maybe(SubjectModel),
    /// The search gave up.
    Unknown,
}

/// The remaining values of each subject.
pub type SubjectModel = BTreeMap<SubjectId, Rc<ValueSet>>;

/// Clauses that always hold. Unit propagation keeps a search's cost proportional to what it touches.
#[derive(Debug, Default)]
pub struct ClauseSet {
    clauses: Vec<Vec<SubjectLiteral>>,
    of_subject: BTreeMap<SubjectId, Vec<usize>>,
}

impl ClauseSet {
    /// Adds the fact that at least one of the literals holds.
    pub fn add_clause(&mut self, literals: Vec<SubjectLiteral>) {
        for literal in &literals {
            self.of_subject.entry(literal.subject).or_default().push(self.clauses.len());
        }
        self.clauses.push(literals);
    }

    /// Returns, for each subject, the subjects that facts link it to.
    #[must_use]
    pub fn linked_subjects(&self) -> BTreeMap<SubjectId, std::collections::BTreeSet<SubjectId>> {
        let others = |clauses: &Vec<usize>| {
            let clauses = clauses.iter().filter_map(|clause| self.clauses.get(*clause));
            clauses.flatten().map(|literal| literal.subject).collect()
        };
        self.of_subject.iter().map(|(subject, clauses)| (*subject, others(clauses))).collect()
    }

    fn clauses_of(&self, subject: SubjectId) -> impl Iterator<Item = &Vec<SubjectLiteral>> {
        self.of_subject.get(&subject).into_iter().flatten().filter_map(|clause| self.clauses.get(*clause))
    }
}

/// Decides whether anything can satisfy all formulas.
#[must_use]
pub fn solve(subjects: &SubjectTable, formulas: &[&Formula]) -> Satisfiability {
    solve_with(subjects, &ClauseSet::default(), formulas)
}

fn solve_with(subjects: &SubjectTable, facts: &ClauseSet, formulas: &[&Formula]) -> Satisfiability {
    let mut search = ModelSearch { subjects, facts, budget: BUDGET };
    let goals = formulas.iter().rev().fold(None, |rest, goal| Some(Rc::new(GoalList { goal, rest })));
    match search.satisfy_goals(goals, &SubjectModel::new()) {
        Ok(Some(model)) => Satisfiability::Maybe(model),
        Ok(None) => Satisfiability::No,
        Err(BudgetExhausted) => Satisfiability::Unknown,
    }
}

/// True if certainly nothing can satisfy all formulas.
#[must_use]
pub fn is_impossible(subjects: &SubjectTable, formulas: &[&Formula]) -> bool {
    solve(subjects, formulas) == Satisfiability::No
}

/// Returns true if certainly nothing can satisfy all formulas and facts.
#[must_use]
pub fn is_impossible_with(subjects: &SubjectTable, facts: &ClauseSet, formulas: &[&Formula]) -> bool {
    solve_with(subjects, facts, formulas) == Satisfiability::No
}

struct BudgetExhausted;

struct GoalList<'f> {
    goal: &'f Formula,
    rest: GoalRest<'f>,
}

type GoalRest<'f> = Option<Rc<GoalList<'f>>>;

struct ModelSearch<'s> {
    subjects: &'s SubjectTable,
    facts: &'s ClauseSet,
    budget: usize,
}

impl ModelSearch<'_> {
    fn satisfy_goals<'f>(
        &mut self,
        goals: GoalRest<'f>,
        model: &SubjectModel,
    ) -> Result<Option<SubjectModel>, BudgetExhausted> {
        self.charge_budget(1)?;
        let Some(first) = goals else { return Ok(Some(model.clone())) };
        let rest = first.rest.clone();
        stacker::maybe_grow(64 << 10, 1 << 20, || match first.goal {
            Formula::Known(false) => Ok(None),
            Formula::Known(true) => self.satisfy_goals(rest, model),
            Formula::Literal(literal) => {
                self.charge_budget(model.len() / SHARE)?;
                let mut model = model.clone();
                if !self.narrow_model(literal, &mut model)? {
                    return Ok(None);
                }
                self.satisfy_goals(rest, &model)
            }
            Formula::And(parts) => {
                let goals = parts.iter().rev().fold(rest, |rest, goal| Some(Rc::new(GoalList { goal, rest })));
                self.satisfy_goals(goals, model)
            }
            Formula::Or(parts) => {
                for goal in parts {
                    let found = self.satisfy_goals(Some(Rc::new(GoalList { goal, rest: rest.clone() })), model)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
        })
    }

    /// Adds a literal and its consequences from the facts; returns false on a contradiction.
    fn narrow_model(&mut self, literal: &SubjectLiteral, model: &mut SubjectModel) -> Result<bool, BudgetExhausted> {
        let mut open = vec![literal];
        while let Some(literal) = open.pop() {
            let known = self.remaining_values(literal.subject, model);
            self.charge_budget(known.weight().saturating_add(literal.holds.weight()) / SHARE)?;
            let left = known.intersect_with(&literal.holds);
            if left.is_empty() {
                return Ok(false);
            }
            let is_known = model.contains_key(&literal.subject) && left == *known;
            if is_known {
                continue;
            }
            model.insert(literal.subject, Rc::new(left));
            let facts = self.facts;
            for clause in facts.clauses_of(literal.subject) {
                self.charge_budget(clause.len())?;
                let mut possible = clause
                    .iter()
                    .filter(|one| !self.remaining_values(one.subject, model).intersect_with(&one.holds).is_empty());
                match (possible.next(), possible.next()) {
                    (None, _) => return Ok(false),
                    (Some(only), None) => open.push(only),
                    _ => {}
                }
            }
        }
        Ok(true)
    }

    fn charge_budget(&mut self, literals: usize) -> Result<(), BudgetExhausted> {
        self.budget = self.budget.checked_sub(literals).ok_or(BudgetExhausted)?;
        Ok(())
    }

    fn remaining_values(&self, subject: SubjectId, model: &SubjectModel) -> Rc<ValueSet> {
        model.get(&subject).cloned().unwrap_or_else(|| self.subjects.subject_universe(subject))
    }
}

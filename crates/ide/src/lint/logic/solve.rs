//! Looks for values that satisfy a formula.

use super::formula::{Formula, Literal, Subject, Subjects};
use super::values::Values;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Literals that are looked at before the search gives up.
const BUDGET: usize = 20_000;
/// So much that is copied for a literal (subjects of the model, values that a set lists) counts as one more literal.
const SHARE: usize = 64;

/// What the search found out.
#[derive(Debug, Clone, PartialEq)]
pub enum Satisfiability {
    /// Nothing can satisfy it.
    No,
    /// These values may: where every set was exact, any of them do.
    Perhaps(Model),
    /// The search gave up.
    Unknown,
}

/// The values that are left for each subject.
pub type Model = BTreeMap<Subject, Rc<Values>>;

/// What holds whatever else is asked: of each fact one literal at least. They are followed where a search narrows one of their subjects
/// (unit propagation), so that a search costs what it touches and not what is known.
#[derive(Debug, Default)]
pub struct Facts {
    clauses: Vec<Vec<Literal>>,
    /// The facts that speak of a subject.
    of_subject: BTreeMap<Subject, Vec<usize>>,
}

impl Facts {
    /// Adds the fact that one of the literals holds.
    pub fn add(&mut self, literals: Vec<Literal>) {
        for literal in &literals {
            self.of_subject.entry(literal.subject).or_default().push(self.clauses.len());
        }
        self.clauses.push(literals);
    }

    /// For each subject those that facts link it to.
    #[must_use]
    pub fn linked(&self) -> BTreeMap<Subject, std::collections::BTreeSet<Subject>> {
        let others = |clauses: &Vec<usize>| {
            let clauses = clauses.iter().filter_map(|clause| self.clauses.get(*clause));
            clauses.flatten().map(|literal| literal.subject).collect()
        };
        self.of_subject.iter().map(|(subject, clauses)| (*subject, others(clauses))).collect()
    }

    fn of(&self, subject: Subject) -> impl Iterator<Item = &Vec<Literal>> {
        self.of_subject.get(&subject).into_iter().flatten().filter_map(|clause| self.clauses.get(*clause))
    }
}

/// Whether anything can satisfy all of the formulas.
#[must_use]
pub fn solve(subjects: &Subjects, formulas: &[&Formula]) -> Satisfiability {
    searched(subjects, &Facts::default(), formulas)
}

fn searched(subjects: &Subjects, facts: &Facts, formulas: &[&Formula]) -> Satisfiability {
    let mut search = Search { subjects, facts, budget: BUDGET };
    let goals = formulas.iter().rev().fold(None, |rest, goal| Some(Rc::new(Goals { goal, rest })));
    match search.satisfy(goals, &Model::new()) {
        Ok(Some(model)) => Satisfiability::Perhaps(model),
        Ok(None) => Satisfiability::No,
        Err(Spent) => Satisfiability::Unknown,
    }
}

/// Whether surely nothing can satisfy all of the formulas.
#[must_use]
pub fn impossible(subjects: &Subjects, formulas: &[&Formula]) -> bool {
    solve(subjects, formulas) == Satisfiability::No
}

/// The same where facts hold.
#[must_use]
pub fn impossible_with(subjects: &Subjects, facts: &Facts, formulas: &[&Formula]) -> bool {
    searched(subjects, facts, formulas) == Satisfiability::No
}

/// The budget is used up.
struct Spent;

/// Formulas that are still to be satisfied.
struct Goals<'f> {
    goal: &'f Formula,
    rest: Rest<'f>,
}

type Rest<'f> = Option<Rc<Goals<'f>>>;

struct Search<'s> {
    subjects: &'s Subjects,
    facts: &'s Facts,
    budget: usize,
}

impl Search<'_> {
    fn satisfy<'f>(&mut self, goals: Rest<'f>, model: &Model) -> Result<Option<Model>, Spent> {
        self.charge(1)?;
        let Some(first) = goals else { return Ok(Some(model.clone())) };
        let rest = first.rest.clone();
        stacker::maybe_grow(64 << 10, 1 << 20, || match first.goal {
            Formula::Known(false) => Ok(None),
            Formula::Known(true) => self.satisfy(rest, model),
            Formula::Literal(literal) => {
                self.charge(model.len() / SHARE)?;
                let mut model = model.clone();
                if !self.narrow(literal, &mut model)? {
                    return Ok(None);
                }
                self.satisfy(rest, &model)
            }
            Formula::And(parts) => {
                let goals = parts.iter().rev().fold(rest, |rest, goal| Some(Rc::new(Goals { goal, rest })));
                self.satisfy(goals, model)
            }
            Formula::Or(parts) => {
                for goal in parts {
                    let found = self.satisfy(Some(Rc::new(Goals { goal, rest: rest.clone() })), model)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
        })
    }

    /// Makes a literal hold, and what follows from it by the facts; false where that cannot be.
    fn narrow(&mut self, literal: &Literal, model: &mut Model) -> Result<bool, Spent> {
        let mut open = vec![literal];
        while let Some(literal) = open.pop() {
            let known = self.known(literal.subject, model);
            self.charge(known.weight().saturating_add(literal.holds.weight()) / SHARE)?;
            let left = known.and(&literal.holds);
            if left.is_empty() {
                return Ok(false);
            }
            let is_known = model.contains_key(&literal.subject) && left == *known;
            if is_known {
                continue;
            }
            model.insert(literal.subject, Rc::new(left));
            let facts = self.facts;
            for clause in facts.of(literal.subject) {
                self.charge(clause.len())?;
                let mut possible =
                    clause.iter().filter(|one| !self.known(one.subject, model).and(&one.holds).is_empty());
                match (possible.next(), possible.next()) {
                    (None, _) => return Ok(false),
                    (Some(only), None) => open.push(only),
                    _ => {}
                }
            }
        }
        Ok(true)
    }

    fn charge(&mut self, literals: usize) -> Result<(), Spent> {
        self.budget = self.budget.checked_sub(literals).ok_or(Spent)?;
        Ok(())
    }

    /// The values that are left for a subject.
    fn known(&self, subject: Subject, model: &Model) -> Rc<Values> {
        model.get(&subject).cloned().unwrap_or_else(|| self.subjects.universe(subject))
    }
}

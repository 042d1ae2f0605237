//! Looks for values that satisfy a formula.

use super::formula::{Formula, Subject, Subjects};
use super::values::Values;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Literals that are looked at before the search gives up.
const BUDGET: usize = 20_000;

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

/// Whether anything can satisfy all of the formulas.
#[must_use]
pub fn solve(subjects: &Subjects, formulas: &[&Formula]) -> Satisfiability {
    let mut search = Search { subjects, budget: BUDGET };
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
    budget: usize,
}

impl Search<'_> {
    fn satisfy<'f>(&mut self, goals: Rest<'f>, model: &Model) -> Result<Option<Model>, Spent> {
        self.budget = self.budget.checked_sub(1).ok_or(Spent)?;
        let Some(first) = goals else { return Ok(Some(model.clone())) };
        let rest = first.rest.clone();
        stacker::maybe_grow(64 << 10, 1 << 20, || match first.goal {
            Formula::Known(false) => Ok(None),
            Formula::Known(true) => self.satisfy(rest, model),
            Formula::Literal(literal) => {
                let known = model.get(&literal.subject).cloned();
                let known = known.unwrap_or_else(|| self.subjects.universe(literal.subject));
                let left = known.and(&literal.holds);
                if left.is_empty() {
                    return Ok(None);
                }
                let mut model = model.clone();
                model.insert(literal.subject, Rc::new(left));
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
}

//! How much of a run the evaluation of an assertion looks at: as much as its screen does, and the reasons are made of that.

use super::course::{Asked, Statement};
use super::read_set::ReadSet;
use super::{Form, Item, Scratch, Screen};
use averment_engine::bytecode::program::Program;
use averment_traces::projection::Field;

/// What the evaluation of an assertion looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Entries of the run that the facts hold.
    Entries,
    /// Such entries, and the names and places of the calls.
    Names,
    /// The same, and fields of the calls whose names fit a unique pattern.
    Fields {
        /// The pattern, by number.
        shape: u32,
        /// Which, by [`averment_traces::projection::Field`].
        fields: [bool; 2],
    },
    /// The same, and a field of all calls.
    All {
        /// Which.
        field: Field,
    },
    /// Anything.
    Run,
}

impl Screen {
    /// What the evaluation of every assertion looks at, in the order of the answers.
    #[must_use]
    pub fn sights(&self, program: &Program) -> Vec<Sight> {
        self.items.iter().map(|item| self.sight(program, item)).collect()
    }

    /// The number in the program of the assertion at a place among the answers.
    #[must_use]
    pub fn assertion(&self, place: usize) -> Option<u32> {
        self.items.get(place).map(|item| item.assertion)
    }

    fn sight(&self, program: &Program, item: &Item) -> Sight {
        let settings = program.assertions.get(item.assertion as usize).map(|assertion| &assertion.settings);
        // A message of the author may say anything of the run.
        let plain = settings.is_some_and(|settings| settings.message.is_none());
        if !plain || !item.when.iter().all(|when| self.is_of_entries(*when)) {
            return Sight::Run;
        }
        match &item.check {
            Form::Expression(condition) if self.is_of_entries(*condition) => Sight::Entries,
            Form::Temporal(statement) => self.of_statement(statement),
            Form::NoneIn { field, .. } => Sight::All { field: *field },
            Form::Expression(_) | Form::Open => Sight::Run,
        }
    }

    fn of_statement(&self, statement: &Statement) -> Sight {
        if !statement.is_closed || !statement.operands.iter().all(|operand| operand.is_sure) {
            return Sight::Run;
        }
        let fields = |condition: u32| self.reads(condition).and_then(ReadSet::fields);
        if statement.number.as_ref().is_some_and(|number| fields(number.condition).is_none()) {
            return Sight::Run;
        }
        match (statement.condition, statement.operands.first()) {
            (None, _) => Sight::Names,
            (Some(Asked::Known(condition)), Some(operand)) => {
                fields(condition).map_or(Sight::Run, |fields| Sight::Fields { shape: operand.pattern, fields })
            }
            (Some(_), _) => Sight::Run,
        }
    }

    /// What the reasons of a condition look at, where that is no more than the condition does.
    fn reads(&self, condition: u32) -> Option<&ReadSet> {
        self.conditions.get(condition as usize).map(|condition| &condition.reads).filter(|reads| reads.is_plain())
    }

    fn is_of_entries(&self, condition: u32) -> bool {
        self.reads(condition).is_some_and(ReadSet::is_of_entries)
    }
}

impl Scratch {
    /// Whether the name of a call, by its place, fits a unique pattern in the run that was judged last.
    #[must_use]
    pub fn fits(&self, call: usize, shape: u32) -> bool {
        let shapes = self.classes.get(call).and_then(|class| self.shapes.get(*class as usize));
        shapes.is_some_and(|shapes| shapes.binary_search(&shape).is_ok())
    }
}

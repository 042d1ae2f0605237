//! How much of a run the evaluation of an assertion looks at: as much as its prefilter does, and the reasons are made of that.

use super::condition_reads::ConditionReads;
use super::temporal::{CallStatement, MatchCondition};
use super::{ItemCheck, Prefilter, PrefilterItem, PrefilterScratch};
use averment_engine::bytecode::program::Program;
use averment_traces::projection::CallField;

/// What evaluating an assertion reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssertionReads {
    /// Entries of the run that the projection holds.
    Entries,
    /// Such entries, and names and positions of the calls.
    Names,
    /// As `Names`, plus fields of the calls that match a unique pattern.
    Fields {
        /// The pattern, by number.
        unique: u32,
        /// Selected fields, by [`averment_traces::projection::Field`].
        fields: [bool; 2],
    },
    /// The names and places of the calls, with their times and turns.
    Times,
    /// As `Times`, plus a field of all calls.
    All {
        /// The field.
        field: CallField,
    },
    /// The names and places of the calls, and fields of those whose names fit unique patterns.
    Parts {
        /// The patterns, by number, with the fields.
        fields: Vec<(u32, [bool; 2])>,
        /// Times and turns of the calls, too.
        times: bool,
    },
    /// Anything.
    Run,
}

impl Prefilter {
    /// What the evaluation of every assertion looks at, in the order of the answers.
    #[must_use]
    pub fn assertion_reads(&self, program: &Program) -> Vec<AssertionReads> {
        self.items.iter().map(|item| self.reads_of(program, item)).collect()
    }

    /// The number in the program of the assertion at a place among the answers.
    #[must_use]
    pub fn assertion_number(&self, place: usize) -> Option<u32> {
        self.items.get(place).map(|item| item.assertion)
    }

    fn reads_of(&self, program: &Program, item: &PrefilterItem) -> AssertionReads {
        let settings = program.assertions.get(item.assertion as usize).map(|assertion| &assertion.settings);
        // A message of the author may say anything of the run.
        let plain = settings.is_some_and(|settings| settings.message.is_none());
        if !plain || !item.when.iter().all(|when| self.is_of_entries(*when)) {
            return AssertionReads::Run;
        }
        match &item.check {
            ItemCheck::Expression(condition) if self.is_of_entries(*condition) => AssertionReads::Entries,
            ItemCheck::Temporal(statement) => match self.of_statement(statement) {
                AssertionReads::Run => self.of_parts(item),
                reads => reads,
            },
            ItemCheck::Selected { .. } => self.of_parts(item),
            ItemCheck::NoneIn { field, .. } => AssertionReads::All { field: *field },
            ItemCheck::Expression(_) | ItemCheck::Open => AssertionReads::Run,
        }
    }

    fn of_parts(&self, item: &PrefilterItem) -> AssertionReads {
        let Some(parts) = item.parts.as_ref() else { return AssertionReads::Run };
        // Only the whole run knows where an entry comes from that is computed.
        if parts.entries.iter().any(|entry| self.computed.contains(entry)) {
            return AssertionReads::Run;
        }
        // Reasons that name the tool tell where the name stands, which no part knows; those of how a call ended tell of its error.
        if parts.statuses || parts.patterns.iter().any(|unique| self.tool_tests.contains(unique)) {
            return AssertionReads::Run;
        }
        let fields = |unique: &u32| self.fields.get(unique).map(|masks| masks.each_ref().map(Option::is_some));
        let fields = parts.patterns.iter().filter_map(|unique| Some((*unique, fields(unique)?))).collect();
        AssertionReads::Parts { fields, times: parts.times }
    }

    fn of_statement(&self, statement: &CallStatement) -> AssertionReads {
        if !statement.is_closed || !statement.operands.iter().all(|operand| operand.is_sure) {
            return AssertionReads::Run;
        }
        let fields = |condition: u32| self.condition_reads(condition).and_then(ConditionReads::call_fields);
        if statement.number.as_ref().is_some_and(|number| fields(number.condition).is_none()) {
            return AssertionReads::Run;
        }
        match (statement.condition, statement.operands.first()) {
            (None, _) if statement.is_timed => AssertionReads::Times,
            (None, _) => AssertionReads::Names,
            (Some(MatchCondition::Known(condition)), Some(operand)) => fields(condition)
                .map_or(AssertionReads::Run, |fields| AssertionReads::Fields { unique: operand.pattern, fields }),
            (Some(_), _) => AssertionReads::Run,
        }
    }

    /// `None` if the reasons read more than the condition.
    fn condition_reads(&self, condition: u32) -> Option<&ConditionReads> {
        let reads = self.conditions.get(condition as usize).map(|condition| &condition.reads);
        reads.filter(|reads| reads.is_plain() && !reads.read_any(&self.computed))
    }

    fn is_of_entries(&self, condition: u32) -> bool {
        self.condition_reads(condition).is_some_and(ConditionReads::is_of_entries)
    }
}

impl PrefilterScratch {
    /// Whether steps of other kinds may follow from a call, by its place, of the run that was judged last.
    #[must_use]
    pub fn derives_steps(&self, call: usize) -> bool {
        let class = self.classes.get(call).map(|class| *class as usize);
        class.and_then(|class| self.call_reads.get(class)).is_none_or(|reads| reads.derives_steps)
    }

    /// Whether the name of a call, by its place, fits a unique pattern in the run that was judged last.
    #[must_use]
    pub fn fits_pattern(&self, call: usize, unique: u32) -> bool {
        let unique_patterns = self.classes.get(call).and_then(|class| self.unique_patterns.get(*class as usize));
        unique_patterns.is_some_and(|unique_patterns| unique_patterns.binary_search(&unique).is_ok())
    }
}

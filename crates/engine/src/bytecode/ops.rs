//! The one table of instructions: operands, mnemonic, stack effect, cost and meaning.
//!
//! The enum, the listing, the verifier, the file format and the reference of instructions are all made from it. The machine is a stack
//! machine: an expression leaves exactly one value behind. Control flow is structured: jumps go forward, and the only way back is
//! [`Op::Repeat`], which the loop's own elements bound.

use averment_checker::ir::Type;
use averment_syntax::ast::{ExprQuantifier, TestKind};
use serde::{Deserialize, Serialize};

macro_rules! operand_numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl From<$name> for InstructionOperand {
            fn from(number: $name) -> Self {
                Self::$name(number.0)
            }
        }
    )*

        /// An operand of an instruction, as the verifier and the listing look at it.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum InstructionOperand {
            $($(#[$doc])* $name(u32),)*
            /// Which test.
            Test(TestKind),
            /// Which type.
            Type(Type),
            /// Which quantifier.
            Quantifier(ExprQuantifier),
            /// Yes or no.
            Flag(bool),
        }
    };
}

operand_numbers! {
    /// A literal of the program.
    Literal;
    /// A text of the program: a key, a root, a function.
    Name;
    /// A regular expression of the program.
    Pattern;
    /// A JSON Schema of the program.
    SchemaRef;
    /// A parameter.
    Parameter;
    /// A `let`.
    LetRef;
    /// A `def`.
    DefRef;
    /// A local value of the chunk.
    Slot;
    /// A binding `$x` of the assertion.
    BindingRef;
    /// An expression of the program.
    CodeRef;
    /// A selection of steps of the program.
    SelectionRef;
    /// How many values are taken from the stack.
    Amount;
    /// Jump target: an instruction index relative to the start of the chunk.
    Target;
}

/// How many binding values a selection receives: a `u16`, so that no instruction is larger than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BindingCount(pub u16);

impl BindingCount {
    /// The number.
    #[must_use]
    pub fn values(self) -> u32 {
        self.0.into()
    }
}

impl From<BindingCount> for Amount {
    fn from(given: BindingCount) -> Self {
        Self(given.values())
    }
}

impl From<BindingCount> for InstructionOperand {
    fn from(given: BindingCount) -> Self {
        Amount::from(given).into()
    }
}

impl From<TestKind> for InstructionOperand {
    fn from(kind: TestKind) -> Self {
        Self::Test(kind)
    }
}

impl From<Type> for InstructionOperand {
    fn from(ty: Type) -> Self {
        Self::Type(ty)
    }
}

impl From<ExprQuantifier> for InstructionOperand {
    fn from(quantifier: ExprQuantifier) -> Self {
        Self::Quantifier(quantifier)
    }
}

impl From<bool> for InstructionOperand {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// The table entry of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpInfo {
    /// The word in listings.
    pub mnemonic: &'static str,
    /// The operands by name.
    pub operands: &'static [&'static str],
    /// How many values it pops; in terms of its operands where these determine the number.
    pub takes: &'static str,
    /// Fuel that it takes beside what its values cost.
    pub cost: u32,
    /// What it does.
    pub doc: &'static str,
}

const fn pops_text(pops: &'static str) -> &'static str {
    match pops.as_bytes() {
        b"count.0" | b"count.values()" => "`count`",
        [b'0'..=b'9'] => pops,
        _ => "the ends it has",
    }
}

macro_rules! ops {
    ($($name:ident ($($operand:ident: $ty:ty),*) = $mnemonic:literal, $pops:expr => $pushes:expr, cost $cost:literal, $doc:literal;)*) => {
        /// An instruction.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Op {
            $(#[doc = $doc] $name($($ty),*),)*
        }

        impl Op {
            /// The table, in the order of the file format.
            pub const TABLE: &'static [OpInfo] = &[$(OpInfo {
                mnemonic: $mnemonic,
                operands: &[$(stringify!($operand)),*],
                takes: pops_text(stringify!($pops)),
                cost: $cost,
                doc: $doc,
            },)*];

            /// The row of this instruction.
            #[must_use]
            #[allow(unused_variables, reason = "the row names operands that only some columns use")]
            pub fn info(self) -> OpInfo {
                match self {
                    $(Self::$name($($operand),*) => OpInfo {
                        mnemonic: $mnemonic,
                        operands: &[$(stringify!($operand)),*],
                        takes: pops_text(stringify!($pops)),
                        cost: $cost,
                        doc: $doc,
                    },)*
                }
            }

            /// The fuel that it takes.
            #[must_use]
            #[allow(unused_variables, reason = "the row names operands that only some columns use")]
            pub fn cost(self) -> u32 {
                match self { $(Self::$name($($operand),*) => $cost,)* }
            }

            /// How many values it pops and pushes when it does not jump.
            #[must_use]
            #[allow(unused_variables, reason = "the row names operands that only some columns use")]
            pub fn effect(self) -> (u32, u32) {
                match self { $(Self::$name($($operand),*) => ($pops, $pushes),)* }
            }

            /// Its operands in the order of the table.
            #[must_use]
            pub fn operands(self) -> Vec<InstructionOperand> {
                match self { $(Self::$name($($operand),*) => vec![$(InstructionOperand::from($operand)),*],)* }
            }
        }
    };
}

ops! {
    // Values.
    Constant(literal: Literal) = "constant", 0 => 1, cost 1, "a literal";
    Regex(pattern: Pattern) = "regex", 0 => 1, cost 1, "a regular expression";
    Root(name: Name) = "root", 0 => 1, cost 1, "an entry of the run; absent where the run does not record it";
    Run() = "run", 0 => 1, cost 1, "the run as an object";
    Step() = "step", 0 => 1, cost 1, "the step in scope";
    StepField(name: Name) = "step_field", 0 => 1, cost 1, "a field of the step in scope";
    StepOrRoot(name: Name) = "step_or_root", 0 => 1, cost 1, "an entry of the step in scope; of the run where the step has none";
    StepOwn(name: Name) = "step_own", 0 => 1, cost 1, "an entry of the step in scope; absent where the step has none";
    Response() = "response", 0 => 1, cost 1, "the response of the call that an invariant judges";
    Param(parameter: Parameter) = "param", 0 => 1, cost 1, "the value of a parameter";
    Let(number: LetRef) = "let", 0 => 1, cost 1, "the value of a `let`, computed once per run";
    Local(slot: Slot) = "local", 0 => 1, cost 1, "a local value";
    Binding(binding: BindingRef) = "binding", 0 => 1, cost 1, "the value of a binding";
    // Paths. `spread` stands behind `[*]` and `[**]`: the step is taken in every element, and elements without it are left out.
    Field(name: Name, spread: bool) = "field", 1 => 1, cost 1, "the value of a key";
    Index(spread: bool) = "index", 2 => 1, cost 1, "the element at an index, counted from the end when negative; of an object the value of a key";
    Every(spread: bool) = "every", 1 => 1, cost 2, "all elements of a list or values of an object";
    Deep(spread: bool) = "deep", 1 => 1, cost 4, "the value and everything inside it, as a list";
    // Computing.
    Negate() = "negate", 1 => 1, cost 1, "the negative of a number";
    Add() = "add", 2 => 1, cost 1, "the sum of two numbers";
    Subtract() = "subtract", 2 => 1, cost 1, "the difference of two numbers";
    Multiply() = "multiply", 2 => 1, cost 1, "the product of two numbers";
    Divide() = "divide", 2 => 1, cost 1, "the quotient of two numbers; missing when the divisor is zero";
    Remainder() = "remainder", 2 => 1, cost 1, "the remainder of two numbers; missing when the divisor is zero";
    Range(start: bool, end: bool) = "range", u32::from(start) + u32::from(end) => 1, cost 2, "a range with the ends that it has";
    List(count: Amount) = "list", count.0 => 1, cost 2, "a list of the values";
    Object(count: Amount, keys: Literal) = "object", count.0 => 1, cost 4, "an object of the keys and the values";
    Join(count: Amount) = "join", count.0 => 1, cost 4, "the texts of the values joined";
    Select(selection: SelectionRef, count: BindingCount) = "select", count.values() => 1, cost 4, "what is taken of the steps that match a pattern, as a list, or their number; the values are those of the bindings that it uses";
    Fold(function: Name, selection: SelectionRef, count: BindingCount) = "fold", count.values() => 1, cost 4, "a function of the library over what is taken of the steps that match a pattern";
    Collect(code: CodeRef, slot: Slot, filter: bool) = "collect", 1 => 1, cost 4, "the elements of a list of which code is true, or its value for each; the element is in a local";
    Call(function: Name, count: Amount) = "call", count.0 => 1, cost 4, "a function of the library";
    CallDef(number: DefRef, count: Amount) = "call_def", count.0 => 1, cost 4, "a `def`";
    // Tests: each gives a truth that remembers whether something missing decided it.
    Test(kind: TestKind, negated: bool) = "test", 2 => 1, cost 2, "a test of a value against another";
    Inspect(kind: TestKind, negated: bool) = "inspect", 1 => 1, cost 2, "a test of a value alone";
    IsType(ty: Type, negated: bool) = "is_type", 1 => 1, cost 1, "whether the value has a type";
    IsSchema(schema: SchemaRef, negated: bool) = "is_schema", 1 => 1, cost 50, "whether the value fits a schema";
    IsJsonSchema(schema: SchemaRef, negated: bool) = "is_json_schema", 1 => 1, cost 50, "whether the text is JSON that fits a schema";
    ContainsJsonSchema(schema: SchemaRef, negated: bool) = "contains_json_schema", 1 => 1, cost 50, "whether the text holds JSON that fits a schema";
    // Logic.
    Condition() = "condition", 1 => 1, cost 1, "the value as a truth; a value that is no boolean ends the evaluation";
    Not() = "not", 1 => 1, cost 1, "the opposite of a truth";
    And() = "and", 2 => 1, cost 1, "the conjunction of two truths";
    Or() = "or", 2 => 1, cost 1, "the disjunction of two truths";
    SkipIfFalse(target: Target) = "skip_if_false", 0 => 0, cost 1, "jumps when the truth on top is plainly false: `and` cannot change it";
    SkipIfTrue(target: Target) = "skip_if_true", 0 => 0, cost 1, "jumps when the truth on top is plainly true: `or` cannot change it";
    Premise() = "premise", 1 => 1, cost 1, "the opposite of a truth; what is false becomes true because something is missing: nothing exercised the implication";
    SkipIfUnmet(target: Target) = "skip_if_unmet", 0 => 0, cost 1, "jumps when the truth on top is true because something is missing: the premise of an implication does not hold";
    SkipThen(target: Target) = "skip_then", 0 => 0, cost 1, "jumps past `then` with a placeholder when the condition on top is plainly false";
    SkipElse(target: Target) = "skip_else", 0 => 0, cost 1, "jumps past `else` with a placeholder when the condition below the top is plainly true";
    Choose() = "choose", 3 => 1, cost 1, "takes the branch that the condition says; both count where something missing decided it";
    // Quantifiers.
    Begin(quantifier: ExprQuantifier) = "begin", 1 => 0, cost 4, "starts a loop over the elements of a list or the values of an object";
    Next(slot: Slot, exit: Target) = "next", 0 => 0, cost 1, "puts the next element into a local, or jumps when there is none or the answer is known";
    Repeat(next: Target) = "repeat", 1 => 0, cost 1, "counts the truth for the quantifier and goes back to `next`";
    End() = "end", 0 => 1, cost 1, "ends the loop with the quantifier's answer";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_says_what_it_does_under_a_word_of_its_own() {
        let mut words: Vec<&str> = Op::TABLE.iter().map(|info| info.mnemonic).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Op::TABLE.len());
        assert!(Op::TABLE.iter().all(|info| !info.doc.is_empty() && info.cost > 0));
    }

    #[test]
    fn an_instruction_stays_small() {
        assert!(std::mem::size_of::<Op>() <= 12);
    }
}

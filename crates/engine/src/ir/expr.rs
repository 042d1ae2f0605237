//! Checked expressions.

use super::{CheckedPattern, Type, StepDistance};
use averment_base::source::Span;
use averment_syntax::ast::{BinaryOperator, ExprQuantifier, TestKind};
use serde::{Deserialize, Serialize};

/// An expression with its place and type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedExpr {
    /// Which form.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
    /// What is known of its type.
    pub ty: Type,
}

/// Slots of local values. Parameters of a `def` and variables of quantifiers are numbered from 0 in each code body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalId(pub u32);

impl LocalId {
    /// The value that a `no PREDICATE in`, a `file` or an `http` test looks at.
    pub const VALUE: LocalId = LocalId(0);
    /// The number that a `count` tests.
    pub const COUNT: LocalId = LocalId(0);
}

/// The number of a binding `$x` in its assertion, block headers included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BindingId(pub u32);

/// The forms of a checked expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Constant(Constant),
    /// A regular expression, by number.
    Regex(u32),
    /// A root name of section 4 of the reference (`output`, `calls`, …; never an alias).
    Root(&'static str),
    /// `run`.
    Run,
    /// The step in scope, as a value.
    Step,
    /// A field of the step in scope.
    StepField(String),
    /// A root name that a step may have for itself: the entry of the step in scope, where it has one, otherwise that of the run.
    StepOrRoot(&'static str),
    /// What the step in scope costs or uses itself; not recorded where it does not say.
    StepOwn(&'static str),
    /// The response of the call that an invariant judges.
    Response,
    /// A parameter, by number.
    Param(u32),
    /// A `let`, by number.
    Let(u32),
    /// A local value.
    Local(LocalId),
    /// A binding.
    Binding(BindingId),
    /// `a.b` and `a["b"]` with a literal key.
    Field(Box<TypedExpr>, String),
    /// `a[i]`.
    Index(Box<TypedExpr>, Box<TypedExpr>),
    /// `a[*]`: a list of all elements (or values); a field behind it maps over them.
    Every(Box<TypedExpr>),
    /// `a[**]`: a list of the value and everything in it.
    Deep(Box<TypedExpr>),
    /// `-a`.
    Negate(Box<TypedExpr>),
    /// `not a`.
    Not(Box<TypedExpr>),
    /// An operator; `and`, `or` and `implies` evaluate their right side only where it matters.
    Binary(BinaryOperator, Box<TypedExpr>, Box<TypedExpr>),
    /// An implication that is an assertion, or all that a quantifier asserts of its elements: where its premise does not hold, nothing
    /// exercised it.
    Exercised(Box<TypedExpr>, Box<TypedExpr>),
    /// A range.
    Range(Option<Box<TypedExpr>>, Option<Box<TypedExpr>>),
    /// A test.
    Test(TypedTest),
    /// `if c then a else b`.
    If(Box<TypedExpr>, Box<TypedExpr>, Box<TypedExpr>),
    /// A quantifier; its variable is a local.
    Quantifier(ExprQuantifier, LocalId, Box<TypedExpr>, Box<TypedExpr>),
    /// A function of the builtins table, by name.
    Builtin(&'static str, Vec<TypedExpr>),
    /// A `def`, by number.
    Def(u32, Vec<TypedExpr>),
    /// A list literal.
    List(Vec<TypedExpr>),
    /// An object literal.
    Object(Vec<(String, TypedExpr)>),
    /// Text with interpolations: the parts' texts joined.
    Join(Vec<TypedExpr>),
    /// `E of A`, `count A`.
    Select(Box<StepSelection>),
    /// `LIST where COND`, `E of LIST`: the element is the local.
    Collect(CollectMode, LocalId, Box<TypedExpr>, Box<TypedExpr>),
}

/// What is taken of the steps that match a pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct StepSelection {
    /// The steps.
    pub pattern: CheckedPattern,
    /// What is taken of each, the step in scope; their number where there is nothing.
    pub value: Option<TypedExpr>,
    /// Which of them.
    pub reach: SelectionReach,
    /// The bindings that it uses, each with its value at this place. One without a value is open: every value fits.
    pub given: Vec<(BindingId, TypedExpr)>,
}

/// Which of the steps that match a selection takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum SelectionReach {
    /// All of the run.
    Run,
    /// Those that were known when the step in scope was asked for.
    SoFar,
    /// The step in scope and those behind it, so far as the bound reaches.
    Within(StepDistance),
    /// The calls beside the step in scope, as far as all of them match.
    Row,
}

/// What a list is made of another one by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CollectMode {
    /// `where`: the elements that meet a condition.
    Where,
    /// `of`: a value of each element.
    Of,
}

/// A test of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedTest {
    /// Which test.
    pub kind: ValueTest,
    /// True for the negated form.
    pub negated: bool,
    /// What is tested.
    pub subject: Box<TypedExpr>,
    /// The right-hand side, where there is one.
    pub operand: Option<Box<TypedExpr>>,
}

/// Tests with their names resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValueTest {
    /// A test that needs nothing but its sides.
    Plain(TestKind),
    /// `is TYPE`.
    IsType(Type),
    /// `is Schema`.
    IsSchema(u32),
    /// `is json Schema`.
    IsJsonSchema(u32),
    /// `contains json Schema`.
    ContainsJsonSchema(u32),
}

/// A literal value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Constant {
    /// `null`.
    Null,
    /// A boolean.
    Boolean(bool),
    /// A number, as JSON text in its base unit.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(#[serde(deserialize_with = "averment_base::limits::nested::nested")] Vec<Constant>),
    /// An object.
    Object(#[serde(deserialize_with = "averment_base::limits::nested::nested")] Vec<(String, Constant)>),
}

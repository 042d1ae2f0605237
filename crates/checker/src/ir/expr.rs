//! Checked expressions.

use super::{CheckedPattern, StepDistance, Type};
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
    /// Its static type.
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
    /// A root of section 4 of the reference (`output`, `calls`, …), never an alias.
    Root(&'static str),
    /// `run`.
    Run,
    /// The step in scope, as a value.
    Step,
    /// A field of the step in scope.
    StepField(String),
    /// A root that a step may override: the step's own entry if it has one, otherwise the run's.
    StepOrRoot(&'static str),
    /// The step's own cost or usage; not recorded if the step does not say.
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
    /// `a[*]`: all elements or values; a following field maps over them.
    Every(Box<TypedExpr>),
    /// `a[**]`: the value and everything nested in it.
    Deep(Box<TypedExpr>),
    /// `-a`.
    Negate(Box<TypedExpr>),
    /// `not a`.
    Not(Box<TypedExpr>),
    /// A binary operator; `and`, `or` and `implies` evaluate their right side only if needed.
    Binary(BinaryOperator, Box<TypedExpr>, Box<TypedExpr>),
    /// An implication that is asserted, or the body of an asserted quantifier: vacuous if its premise does not hold.
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
    /// Text with interpolations: the concatenated parts.
    Join(Vec<TypedExpr>),
    /// `E of A`, `count A`.
    Select(Box<StepSelection>),
    /// `LIST where COND`, `E of LIST`: the element is the local.
    Collect(CollectMode, LocalId, Box<TypedExpr>, Box<TypedExpr>),
}

/// A value taken of each step that matches a pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct StepSelection {
    /// The steps.
    pub pattern: CheckedPattern,
    /// The value taken of each step, with the step in scope; `None` counts the steps.
    pub value: Option<TypedExpr>,
    /// Which of them.
    pub reach: SelectionReach,
    /// The bindings that it uses, each with its value at this place. One without a value is open: every value fits.
    pub given: Vec<(BindingId, TypedExpr)>,
}

/// Which of the steps that match a selection takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum SelectionReach {
    /// The whole run.
    Run,
    /// Steps known when the step in scope was requested.
    SoFar,
    /// Steps that started before the step in scope, ended or not.
    StartedSoFar,
    /// The step in scope and later ones within the bound.
    Within(StepDistance),
    /// Adjacent calls of the step in scope, as long as all of them match.
    Row,
}

/// How a list is derived from another one.
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
    /// The tested value.
    pub subject: Box<TypedExpr>,
    /// The right-hand side, where there is one.
    pub operand: Option<Box<TypedExpr>>,
}

/// Tests with their names resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValueTest {
    /// A test that needs only its two sides.
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

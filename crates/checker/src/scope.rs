//! Names: those of a file, and those in scope at one place of an expression.

use super::ty::{StepShape, Ty};
use crate::ir::{LocalId, SelectionReach};
use averment_base::source::Span;
use averment_syntax::{ast, words};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The meaning of a file-level name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSymbol {
    Param(u32),
    Let(u32),
    Def(u32),
    Step(usize),
    Broken,
}

/// A name with the place of its declaration.
#[derive(Debug, Clone, Copy)]
pub struct ScopedName {
    /// Its meaning.
    pub symbol: FileSymbol,
    /// Its declaration, or the `use` that brings it.
    pub span: Span,
    /// Its declaration.
    pub origin: Span,
}

/// The names of one file: its own and the imported ones.
#[derive(Debug, Default)]
pub struct FileScope {
    /// Parameters, `let`s and `def`s.
    pub names: IndexMap<String, ScopedName>,
    /// Schemas, by number; `None` for one that is wrong.
    pub schemas: IndexMap<String, (Option<u32>, Span)>,
    /// True when an import failed or a declaration could not be read: an unknown name may be that one.
    pub incomplete: bool,
}

/// How the first name of a path in a step's parentheses is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LookupSide {
    #[default]
    Plain,
    Left,
}

/// A variable of an expression.
#[derive(Debug, Clone)]
pub struct ScopeVariable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its meaning.
    pub value: VariableValue<'a>,
}

/// The meaning of a variable.
#[derive(Debug, Clone)]
pub enum VariableValue<'a> {
    Local(LocalId, Ty),
    /// An argument of a `def step`, with the scope of its use.
    Given(&'a ast::Expr, Rc<NameScope<'a>>),
    /// Nothing is known: a parameter of a `def step` that is checked by itself.
    Unknown,
    /// A named call of an invariant: the number of the binding with its response.
    Call(u32),
    Bound(u32, Ty),
    Fact(Box<crate::ir::TypedExpr>),
}

/// Names of a `def step`'s bindings in the statement that uses it.
#[derive(Debug, Clone, Default)]
pub struct RenamedBindings {
    /// Its `$` parameters, by name, with the keys of the bindings they were given.
    pub given: BTreeMap<String, String>,
    /// Suffix that keeps its own bindings apart from the statement's.
    pub suffix: String,
}

/// Names in scope at a place.
#[derive(Debug, Clone, Default)]
pub struct NameScope<'a> {
    /// The file whose names are seen.
    pub file: usize,
    /// Variables, innermost last.
    pub variables: Vec<ScopeVariable<'a>>,
    /// The next free local slot.
    pub next_local: u32,
    /// The step whose fields are in scope.
    pub step: Option<StepShape>,
    /// How the first name of a path is resolved.
    pub side: LookupSide,
    /// Names of bindings in the body of a `def step`.
    pub renamed: Option<Rc<RenamedBindings>>,
    /// True in an invariant: `response` and `output` are the result of the step in scope.
    pub response: bool,
    /// True inside of `LIST where COND` and `E of LIST`: a bare name is a field of the element.
    pub element: bool,
    /// True where what a step costs or uses is its own alone: in `E of A`.
    pub own: bool,
    /// True where an expression is a statement: what its selections bind is bound for it.
    pub binds: bool,
    /// Default reach of the selections in this expression.
    pub reach: Option<SelectionReach>,
    /// True in a block that opens windows.
    pub windowed: bool,
    /// The bindings that headers of blocks give.
    pub given: Vec<u32>,
}

impl<'a> NameScope<'a> {
    /// The scope of a file's top level.
    pub fn of_file(file: usize) -> Self {
        Self { file, ..Self::default() }
    }

    /// Adds a step to the scope.
    pub fn with_step(&self, step: StepShape) -> Self {
        Self { step: Some(step), element: false, own: false, binds: false, reach: None, ..self.clone() }
    }

    /// Changes the lookup side.
    pub fn on_side(&self, side: LookupSide) -> Self {
        Self { side, ..self.clone() }
    }

    /// Reserves slot 0 for the value under test.
    pub fn with_value(&self) -> Self {
        Self { next_local: self.next_local.max(1), ..self.clone() }
    }

    /// Reserves the first locals for given values.
    pub fn with_given(&self, given: u32) -> Self {
        Self { next_local: self.next_local.max(given), ..self.clone() }
    }

    /// Adds a local variable.
    pub fn with_local(&self, name: &'a str, ty: Ty) -> (Self, LocalId) {
        let local = LocalId(self.next_local);
        let mut scope = self.clone();
        scope.next_local = self.next_local.saturating_add(1);
        scope.variables.push(ScopeVariable { name, value: VariableValue::Local(local, ty) });
        (scope, local)
    }

    /// The variable of a name, the innermost.
    pub fn find_variable(&self, name: &str) -> Option<&ScopeVariable<'a>> {
        self.variables.iter().rev().find(|variable| variable.name == name)
    }
}

/// The root of a name, with a static lifetime. `run` and `response` are looked up by themselves.
pub fn find_root(name: &str) -> Option<&'static str> {
    words::ROOTS.iter().copied().find(|root| *root == name && !matches!(*root, "run" | "response"))
}

/// Root names that a step may have for itself, beside its own fields: where a step is in scope that has one, it is meant.
pub const OF_STEPS: [&str; 3] = ["cost", "usage", "meta"];

/// All root names that are always there, for suggestions.
pub fn root_names() -> impl Iterator<Item = &'static str> {
    words::ROOTS.iter().copied().filter(|root| *root != "response")
}

/// The kind words of section 2 of the reference and `any`: a `def step` of such a name could never be meant.
pub fn kind_word(name: &str) -> bool {
    matches!(
        name,
        "command"
            | "read"
            | "write"
            | "skill"
            | "http"
            | "user"
            | "assistant"
            | "thinking"
            | "message"
            | "span"
            | "handover"
            | "any"
    )
}

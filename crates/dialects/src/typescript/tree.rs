//! The syntax tree: expressions and statements with their locations.

use averment_base::source::Span;
use std::rc::Rc;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct TsExpr {
    /// The kind of expression.
    pub kind: TsExprKind,
    /// The location.
    pub span: Span,
}

/// Expression kinds. Parentheses, `as T`, `satisfies T`, `<T>x` and `x!` are transparent.
#[derive(Debug, Clone, PartialEq)]
pub enum TsExprKind {
    /// A text, its escapes resolved.
    Text(String),
    /// A text with values in it.
    Template(Vec<TemplatePart>),
    /// A number, as it is written.
    Number(String),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// A regular expression.
    Regex {
        /// The pattern.
        pattern: String,
        /// Its flags.
        flags: String,
    },
    /// A name; `undefined` is one.
    Name(String),
    /// `[a, ...b]`.
    List(Vec<TsElement>),
    /// `{ a: 1, b, ...c, d() {} }`.
    Object(Vec<TsProperty>),
    /// Any function.
    Function(Rc<TsFunction>),
    /// `of.name`.
    Member {
        /// The object.
        of: Box<TsExpr>,
        /// The field name.
        name: String,
    },
    /// The part before `?.`: if it is `undefined` or `null`, the whole chain is `undefined`.
    Optional(Box<TsExpr>),
    /// `of[index]`.
    Index {
        /// The indexed value.
        of: Box<TsExpr>,
        /// The index.
        index: Box<TsExpr>,
    },
    /// `callee(arguments)`.
    Call {
        /// The callee.
        callee: Box<TsExpr>,
        /// The arguments.
        arguments: Vec<TsElement>,
    },
    /// `new Class(arguments)`.
    New {
        /// The class.
        class: Box<TsExpr>,
        /// The arguments.
        arguments: Vec<TsElement>,
    },
    /// An operator before its operand: `!`, `-`, `+`, `typeof`, `void`, `await`, `~`.
    Unary {
        /// The operator.
        operator: &'static str,
        /// The operand.
        of: Box<TsExpr>,
    },
    /// A binary operator, except assignments.
    Binary {
        /// The operator.
        operator: &'static str,
        /// The left operand.
        left: Box<TsExpr>,
        /// The right operand.
        right: Box<TsExpr>,
    },
    /// `condition ? then : other`.
    If {
        /// The condition.
        condition: Box<TsExpr>,
        /// The value if true.
        then: Box<TsExpr>,
        /// The value if false.
        other: Box<TsExpr>,
    },
    /// Any other expression, with a short description.
    Other(&'static str),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// Text, its escapes resolved.
    Text(String),
    /// `${value}`.
    Value(TsExpr),
}

/// An element of a list, or an argument.
#[derive(Debug, Clone, PartialEq)]
pub struct TsElement {
    /// True for `...value`.
    pub spread: bool,
    /// The value.
    pub value: TsExpr,
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq)]
pub enum TsProperty {
    /// `key: value`, `key`, `key() {}`.
    Pair {
        /// The key: a text, or an expression for a computed key in brackets.
        key: TsExpr,
        /// The value.
        value: TsExpr,
    },
    /// `...value`.
    Spread(TsExpr),
    /// A getter or setter.
    Other(Span),
}

/// A function.
#[derive(Debug, Clone, PartialEq)]
pub struct TsFunction {
    /// The parameters.
    pub parameters: Vec<TsPattern>,
    /// The body.
    pub body: FunctionBody,
    /// True if it returns a promise.
    pub is_async: bool,
}

/// A function body.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionBody {
    /// An expression: `x => value`.
    Value(TsExpr),
    /// Statements.
    Block(Vec<TsStatement>),
}

/// A binding target.
#[derive(Debug, Clone, PartialEq)]
pub enum TsPattern {
    /// A name and its default value.
    Name(String, Option<TsExpr>),
    /// `{ key: pattern }`.
    Object(Vec<(String, TsPattern)>),
    /// `[pattern, pattern]`; `None` for an omitted element.
    List(Vec<Option<TsPattern>>),
    /// `...rest`, or any other target, with the names that it binds.
    Other(Vec<String>),
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub struct TsStatement {
    /// The kind of statement.
    pub kind: TsStatementKind,
    /// The location.
    pub span: Span,
}

/// Description of `continue` without a label.
pub const NEXT_TURN: &str = "the next turn of a loop";

/// Description of a statement that cannot be read.
pub const UNREADABLE: &str = "what cannot be read";

/// Statement kinds.
#[derive(Debug, Clone, PartialEq)]
pub enum TsStatementKind {
    /// `import … from "module"`, with exported and local names, including `default` and `*`.
    Import {
        /// The name of the module.
        module: String,
        /// Exported and local names.
        names: Vec<(String, String)>,
    },
    /// `export default value`.
    ExportDefault(TsExpr),
    /// `export { a as b }`, with or without `from "module"`.
    ExportNames {
        /// The source module.
        module: Option<String>,
        /// The names: inside the module, and as exported.
        names: Vec<(String, String)>,
    },
    /// `export` of a declaration.
    Export(Box<TsStatement>),
    /// `const`, `let` or `var`: patterns with their values, and true if they are constant.
    Bind(Vec<(TsPattern, Option<TsExpr>)>, bool),
    /// `function name() {}`.
    Function(String, Rc<TsFunction>),
    /// An expression.
    Expr(TsExpr),
    /// `name = value`, with any assignment operator.
    Assign(Option<String>),
    /// `return value`.
    Return(Option<TsExpr>),
    /// `if (condition) then else other`.
    If {
        /// The condition.
        condition: TsExpr,
        /// Statements if true.
        then: Vec<TsStatement>,
        /// Statements if false.
        other: Vec<TsStatement>,
    },
    /// `for (const pattern of list) body`.
    ForOf {
        /// The loop variable.
        pattern: TsPattern,
        /// The elements.
        list: TsExpr,
        /// The loop body.
        body: Vec<TsStatement>,
    },
    /// `throw value`.
    Throw(TsExpr),
    /// `{ … }`.
    Block(Vec<TsStatement>),
    /// A type declaration, or an empty statement.
    Nothing,
    /// Any other statement, with a short description.
    Other(&'static str),
}

//! The tree: expressions and statements with their places.

use averment_base::source::Span;
use std::rc::Rc;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is. Parentheses, `await`, `as T`, `satisfies T`, `<T>x` and `x!` are what stands in them.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
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
        /// What stands between its slashes.
        pattern: String,
        /// Its flags.
        flags: String,
    },
    /// A name; `undefined` is one.
    Name(String),
    /// `[a, ...b]`.
    List(Vec<Element>),
    /// `{ a: 1, b, ...c, d() {} }`.
    Object(Vec<Property>),
    /// Any function.
    Function(Rc<Function>),
    /// `of.name`, also `of?.name`.
    Member {
        /// What stands before the dot.
        of: Box<Expr>,
        /// The name behind it.
        name: String,
    },
    /// `of[index]`.
    Index {
        /// What stands before the bracket.
        of: Box<Expr>,
        /// What stands in it.
        index: Box<Expr>,
    },
    /// `callee(arguments)`.
    Call {
        /// What is called.
        callee: Box<Expr>,
        /// What it is given.
        arguments: Vec<Element>,
    },
    /// `new Class(arguments)`.
    New {
        /// The class.
        class: Box<Expr>,
        /// What it is given.
        arguments: Vec<Element>,
    },
    /// An operator before its operand: `!`, `-`, `+`, `typeof`, `void`, `~`.
    Unary {
        /// The operator.
        operator: &'static str,
        /// The operand.
        of: Box<Expr>,
    },
    /// An operator between two operands, assignments left out.
    Binary {
        /// The operator.
        operator: &'static str,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `condition ? then : other`.
    If {
        /// What is asked.
        condition: Box<Expr>,
        /// The value where it is so.
        then: Box<Expr>,
        /// The value where it is not.
        other: Box<Expr>,
    },
    /// Something else, in a word.
    Other(&'static str),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// Text, its escapes resolved.
    Text(String),
    /// `${value}`.
    Value(Expr),
}

/// An element of a list, or an argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Whether it is `...value`.
    pub spread: bool,
    /// The value.
    pub value: Expr,
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Property {
    /// `key: value`, `key`, `key() {}`.
    Pair {
        /// The key: a text, or an expression where it stands in brackets.
        key: Expr,
        /// The value.
        value: Expr,
    },
    /// `...value`.
    Spread(Expr),
    /// A getter or setter.
    Other(Span),
}

/// A function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// What it takes.
    pub parameters: Vec<Pattern>,
    /// What it does.
    pub body: Body,
}

/// What a function does.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// It gives a value: `x => value`.
    Value(Expr),
    /// It goes through statements.
    Block(Vec<Stmt>),
}

/// What names are given to.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// A name, with what it stands for where nothing is given.
    Name(String, Option<Expr>),
    /// `{ key: pattern }`.
    Object(Vec<(String, Pattern)>),
    /// `[pattern, pattern]`; `None` for one that is left out.
    List(Vec<Option<Pattern>>),
    /// `...rest`, or anything else, with the names in it.
    Other(Vec<String>),
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement is called that cannot be read.
pub const UNREADABLE: &str = "what cannot be read";

/// What a statement is.
#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    /// `import … from "module"`: names with what they are called there; `default` and `*` are such names.
    Import {
        /// The name of the module.
        module: String,
        /// The names: there, and here.
        names: Vec<(String, String)>,
    },
    /// `export default value`.
    ExportDefault(Expr),
    /// `export { a as b }`, with `from "module"` where it says so: names here (or there), and outside.
    ExportNames {
        /// The module that they come from.
        module: Option<String>,
        /// The names: inside, and outside.
        names: Vec<(String, String)>,
    },
    /// `export` of a declaration.
    Export(Box<Stmt>),
    /// `const`, `let`, `var`: patterns with their values, and whether they keep them.
    Bind(Vec<(Pattern, Option<Expr>)>, bool),
    /// `function name() {}`.
    Function(String, Rc<Function>),
    /// An expression.
    Expr(Expr),
    /// `name = value`, with any of the operators of assignment.
    Assign(Option<String>),
    /// `return value`.
    Return(Option<Expr>),
    /// `if (condition) then else other`.
    If {
        /// What is asked.
        condition: Expr,
        /// What is done where it is so.
        then: Vec<Stmt>,
        /// What is done where it is not.
        other: Vec<Stmt>,
    },
    /// `for (const pattern of list) body`.
    ForOf {
        /// What the elements are called.
        pattern: Pattern,
        /// The elements.
        list: Expr,
        /// What is done with each.
        body: Vec<Stmt>,
    },
    /// `throw value`.
    Throw(Expr),
    /// `{ … }`.
    Block(Vec<Stmt>),
    /// A type, or nothing.
    Nothing,
    /// Something else, in a word.
    Other(&'static str),
}

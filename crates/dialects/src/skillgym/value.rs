//! What an expression of a suite is: a value that is there without a run, something of a run, or neither.

use crate::typescript::tree::{Expr, Function};
use crate::writer::Binds;
use averment_base::source::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A value with the place that it was made of.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) value: Value,
    pub(super) span: Span,
}

impl Item {
    pub(super) fn new(value: Value, span: Span) -> Self {
        Self { value, span }
    }

    /// A property of an object.
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, item)| item)
    }

    pub(super) fn entries(&self) -> &[(String, Item)] {
        match &self.value {
            Value::Object(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether nothing was given.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.value, Value::Undefined | Value::Null)
    }

    /// Whether it is there without a run, all through.
    pub(super) fn is_plain(&self) -> bool {
        match &self.value {
            Value::List(items) => items.iter().all(Self::is_plain),
            Value::Object(entries) => entries.iter().all(|(_, item)| item.is_plain()),
            value => matches!(
                value,
                Value::Undefined
                    | Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Text(_)
                    | Value::Regex { .. }
            ),
        }
    }
}

/// What an expression is.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Regex {
        pattern: String,
        flags: String,
    },
    List(Vec<Item>),
    Object(Vec<(String, Item)>),
    Function(Rc<Function>, Scope),
    /// A matcher of commands that is being built, as the object that it becomes.
    Builder(Vec<(String, Item)>),
    /// What SkillGym and its runtime bring along, by its path: `assert.commands.includes`.
    Api(String),
    /// Something of a run, as an expression of the language.
    Told(Told),
    /// What only a running program shows, and why.
    Open(String),
}

/// What only a running program shows, and why.
pub(super) fn open(why: &str) -> Value {
    Value::Open(why.to_owned())
}

/// An expression of the language.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) text: String,
    /// How loosely its outermost operator binds.
    pub(super) binds: Binds,
    pub(super) kind: Kind,
    /// The opposite of a condition, where that has a word of its own.
    pub(super) opposite: Option<String>,
}

/// What something of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The report of a session.
    Report,
    /// What an assertion is given beside it.
    Context,
    Usage,
    Files,
    Runner,
    Agent,
    Text,
    Number,
    /// A number of milliseconds.
    Time,
    Truth,
    /// A value of any type.
    Any,
    /// A list of steps or of values: what its elements are.
    Commands,
    Calls,
    Reads,
    Skills,
    Texts,
    /// Elements.
    Command,
    Call,
    Skill,
    /// What went wrong, as `classifyFailure` sees it.
    Result,
    Failure,
    Message,
}

impl Told {
    pub(super) fn new(text: impl Into<String>, kind: Kind) -> Self {
        Self::bound(text, Binds::Closely, kind)
    }

    pub(super) fn bound(text: impl Into<String>, binds: Binds, kind: Kind) -> Self {
        Self { text: text.into(), binds, kind, opposite: None }
    }

    /// A test of something: its words where it holds, and where it does not.
    pub(super) fn test(&self, words: (&str, &str), other: &str) -> Self {
        let subject = self.inside(Binds::Sum);
        let said = |words: &str| format!("{subject} {words} {other}").trim_end().to_owned();
        Self { opposite: Some(said(words.1)), ..Self::bound(said(words.0), Binds::Test, Kind::Truth) }
    }

    /// Its text where an operator stands that binds so closely.
    pub(super) fn inside(&self, binds: Binds) -> String {
        if self.binds < binds { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// The number of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scope(usize);

/// Names and what they stand for, scope by scope.
#[derive(Debug, Default)]
pub(super) struct Scopes(Vec<Names>);

#[derive(Debug, Default)]
struct Names {
    of: BTreeMap<String, Bound>,
    around: Option<Scope>,
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Bound {
    /// This.
    Item(Item),
    /// What this expression is, in the scope of the name.
    Later(Rc<Expr>),
    /// What another module calls so: its number, and the name there.
    Of(usize, String),
    /// What is being looked at just now.
    Busy,
}

impl Scopes {
    pub(super) fn outermost(&mut self) -> Scope {
        self.0.push(Names::default());
        Scope(self.0.len().saturating_sub(1))
    }

    /// A scope inside of another one.
    pub(super) fn inside(&mut self, around: Scope) -> Scope {
        self.0.push(Names { around: Some(around), ..Names::default() });
        Scope(self.0.len().saturating_sub(1))
    }

    pub(super) fn bind(&mut self, scope: Scope, name: &str, bound: Bound) {
        if let Some(names) = self.0.get_mut(scope.0) {
            names.of.insert(name.to_owned(), bound);
        }
    }

    /// What a name stands for, with the scope that it was found in.
    pub(super) fn find(&self, scope: Scope, name: &str) -> Option<(Bound, Scope)> {
        let mut next = Some(scope);
        while let Some(scope) = next {
            let names = self.0.get(scope.0)?;
            if let Some(bound) = names.of.get(name) {
                return Some((bound.clone(), scope));
            }
            next = names.around;
        }
        None
    }
}

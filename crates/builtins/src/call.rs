//! What the body of a function sees: its arguments and its environment.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::cache::Cache;
use super::matcher::Matcher;
use averment_base::limits::{Exhausted, Limits, Meter};
use averment_base::value::{Node, Number, Object, Text, Value};
use bumpalo::Bump;

/// The body of a function.
pub type Body = for<'call, 'run> fn(&mut Call<'call, 'run>) -> Outcome<'run>;

/// What a body gives.
pub type Outcome<'run> = Result<Node<'run>, Exhausted>;

/// What a call sees beside its arguments.
pub struct Environment<'call, 'run> {
    /// Where results live.
    pub arena: &'run Bump,
    /// The limits of the evaluation.
    pub limits: &'call Limits,
    /// What it may still use.
    pub meter: &'call mut Meter,
    /// The regular expressions of the program, by number.
    pub regex: &'call dyn Fn(u32) -> Option<&'call Matcher>,
    /// Compiled paths and converted values of this run.
    pub cache: &'call Cache<'run>,
}

/// One call: checked arguments and the environment.
pub struct Call<'call, 'run> {
    arguments: &'call [Node<'run>],
    /// Where results live.
    pub arena: &'run Bump,
    /// The limits of the evaluation.
    pub limits: &'call Limits,
    /// What the evaluation may still use. Every body charges before it works.
    pub meter: &'call mut Meter,
    /// Compiled paths and converted values of this run.
    pub cache: &'call Cache<'run>,
    regex: &'call dyn Fn(u32) -> Option<&'call Matcher>,
}

/// A separator or a text to look for.
pub enum Needle<'call, 'run> {
    /// Exactly this text.
    Text(&'run str),
    /// What a regular expression finds.
    Regex(&'call Matcher),
}

impl<'call, 'run> Call<'call, 'run> {
    /// A call with arguments that fit.
    pub(super) fn new(arguments: &'call [Node<'run>], environment: Environment<'call, 'run>) -> Self {
        let Environment { arena, limits, meter, regex, cache } = environment;
        Self { arguments, arena, limits, meter, cache, regex }
    }

    /// An argument; `missing` behind the last one.
    pub fn node(&self, position: usize) -> Node<'run> {
        self.arguments.get(position).copied().unwrap_or(Node::computed(Value::Missing))
    }

    /// Whether an optional argument was given.
    pub fn has(&self, position: usize) -> bool {
        position < self.arguments.len()
    }

    /// A text argument; empty where it is none, which the table rules out.
    pub fn text(&self, position: usize) -> &'run str {
        match self.node(position).value {
            Value::Text(text) => text.as_str(),
            _ => "",
        }
    }

    /// A number argument; 0 where it is none.
    pub fn number(&self, position: usize) -> Number<'run> {
        match self.node(position).value {
            Value::Number(number) => number,
            _ => Number::Integer(0),
        }
    }

    /// Takes the fuel of looking through an argument, lists and objects inside of it included.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn look_through(&mut self, position: usize) -> Result<(), Exhausted> {
        self.meter.charge(self.cache.weights.of(&self.node(position)) / 64)
    }

    /// Whether there is room for a value as text behind so many bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn check_written(&self, node: &Node<'run>, behind: usize) -> Result<(), Exhausted> {
        let bytes = usize::try_from(self.cache.weights.of(node)).unwrap_or(usize::MAX);
        self.meter.check_memory(behind.saturating_add(bytes))
    }

    /// A list argument; empty where it is none.
    pub fn list(&self, position: usize) -> &'run [Node<'run>] {
        match self.node(position).value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// An object argument.
    pub fn object(&self, position: usize) -> Option<Object<'run>> {
        match self.node(position).value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// An argument that is text or a regular expression.
    pub fn needle(&self, position: usize) -> Option<Needle<'call, 'run>> {
        match self.node(position).value {
            Value::Text(text) => Some(Needle::Text(text.as_str())),
            Value::Regex(number) => (self.regex)(number).map(Needle::Regex),
            _ => None,
        }
    }

    /// A regular expression of the program.
    pub fn regex(&self, number: u32) -> Option<&'call Matcher> {
        (self.regex)(number)
    }

    /// No result.
    pub fn missing(&self) -> Outcome<'run> {
        Ok(Node::computed(Value::Missing))
    }

    /// A number, or no result.
    pub fn give_number(&self, number: Option<Number<'run>>) -> Outcome<'run> {
        Ok(Node::computed(number.map_or(Value::Missing, Value::Number)))
    }

    /// A computed double.
    pub fn give_real(&self, value: f64) -> Outcome<'run> {
        self.give_number(Number::from_f64(value))
    }

    /// A count.
    pub fn give_count(&self, count: usize) -> Outcome<'run> {
        self.give_number(Some(Number::from_count(count)))
    }

    /// A boolean.
    pub fn give_boolean(&self, value: bool) -> Outcome<'run> {
        Ok(Node::computed(Value::Boolean(value)))
    }

    /// A computed text.
    pub fn give_text(&mut self, text: &str) -> Outcome<'run> {
        self.meter.allocate(text.len())?;
        Ok(borrowed(self.arena.alloc_str(text)))
    }

    /// A list of computed values.
    pub fn give_list(&mut self, items: impl IntoIterator<Item = Node<'run>>) -> Outcome<'run> {
        let mut list = Vec::new();
        for item in items {
            self.meter.charge(1)?;
            self.meter.allocate(size_of::<Node<'_>>())?;
            list.push(item);
        }
        Ok(Node::computed(Value::List(self.arena.alloc_slice_copy(&list))))
    }
}

/// Text that lives as long as the run.
pub fn borrowed(text: &str) -> Node<'_> {
    Node::computed(Value::Text(Text::Plain(text)))
}

/// The first element of a list that is missing or not recorded decides what a computation over all of them gives.
pub fn gap<'run>(items: &[Node<'run>]) -> Option<Value<'run>> {
    items.iter().find_map(|item| match item.value {
        Value::Missing => Some(Value::Missing),
        ref value if value.is_absent() => Some(Value::Absent),
        _ => None,
    })
}

//! What the body of a function sees: its arguments and its environment.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::cache::JsonCache;
use super::matcher::RegexMatcher;
use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::value::{Node, Number, Object, Value, ValueText};
use bumpalo::Bump;

/// The body of a function.
pub type BuiltinBody = for<'call, 'run> fn(&mut BuiltinCall<'call, 'run>) -> BuiltinResult<'run>;

/// The result of a builtin's body.
pub type BuiltinResult<'run> = Result<Node<'run>, LimitError>;

/// What a call sees beside its arguments.
pub struct CallEnvironment<'call, 'run> {
    /// Where results live.
    pub arena: &'run Bump,
    /// The limits of the evaluation.
    pub limits: &'call Limits,
    /// The remaining budget.
    pub meter: &'call mut FuelMeter,
    /// The regular expressions of the program, by number.
    pub regex: &'call dyn Fn(u32) -> Option<&'call RegexMatcher>,
    /// Compiled paths and converted values of this run.
    pub cache: &'call JsonCache<'run>,
}

/// One call: checked arguments and the environment.
pub struct BuiltinCall<'call, 'run> {
    arguments: &'call [Node<'run>],
    /// Where results live.
    pub arena: &'run Bump,
    /// The limits of the evaluation.
    pub limits: &'call Limits,
    /// What the evaluation may still use. Every body charges before it works.
    pub meter: &'call mut FuelMeter,
    /// Compiled paths and converted values of this run.
    pub cache: &'call JsonCache<'run>,
    regex: &'call dyn Fn(u32) -> Option<&'call RegexMatcher>,
}

/// A separator or a text to look for.
pub enum SearchNeedle<'call, 'run> {
    /// Exactly this text.
    Text(&'run str),
    /// What a regular expression finds.
    Regex(&'call RegexMatcher),
}

impl<'call, 'run> BuiltinCall<'call, 'run> {
    /// A call with arguments that fit.
    pub(super) fn new(arguments: &'call [Node<'run>], environment: CallEnvironment<'call, 'run>) -> Self {
        let CallEnvironment { arena, limits, meter, regex, cache } = environment;
        Self { arguments, arena, limits, meter, cache, regex }
    }

    /// An argument; `missing` behind the last one.
    pub fn argument_node(&self, position: usize) -> Node<'run> {
        self.arguments.get(position).copied().unwrap_or(Node::computed(Value::Missing))
    }

    /// Whether an optional argument was given.
    pub fn has_argument(&self, position: usize) -> bool {
        position < self.arguments.len()
    }

    /// A text argument; empty where it is none, which the table rules out.
    pub fn text_argument(&self, position: usize) -> &'run str {
        match self.argument_node(position).value {
            Value::Text(text) => text.as_str(),
            _ => "",
        }
    }

    /// A number argument; 0 where it is none.
    pub fn number_argument(&self, position: usize) -> Number<'run> {
        match self.argument_node(position).value {
            Value::Number(number) => number,
            _ => Number::Integer(0),
        }
    }

    /// Takes the fuel of looking through an argument, lists and objects inside of it included.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn look_through(&mut self, position: usize) -> Result<(), LimitError> {
        self.meter.charge_fuel(self.cache.weights.weight_of(&self.argument_node(position)) / 64)
    }

    /// Whether there is room for a value as text behind so many bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn check_written(&self, node: &Node<'run>, behind: usize) -> Result<(), LimitError> {
        let bytes = usize::try_from(self.cache.weights.weight_of(node)).unwrap_or(usize::MAX);
        self.meter.check_memory(behind.saturating_add(bytes))
    }

    /// A list argument; empty where it is none.
    pub fn list_argument(&self, position: usize) -> &'run [Node<'run>] {
        match self.argument_node(position).value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// An object argument.
    pub fn object_argument(&self, position: usize) -> Option<Object<'run>> {
        match self.argument_node(position).value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// An argument that is text or a regular expression.
    pub fn needle_argument(&self, position: usize) -> Option<SearchNeedle<'call, 'run>> {
        match self.argument_node(position).value {
            Value::Text(text) => Some(SearchNeedle::Text(text.as_str())),
            Value::Regex(number) => (self.regex)(number).map(SearchNeedle::Regex),
            _ => None,
        }
    }

    /// A regular expression of the program.
    pub fn program_regex(&self, number: u32) -> Option<&'call RegexMatcher> {
        (self.regex)(number)
    }

    /// No result.
    pub fn give_missing(&self) -> BuiltinResult<'run> {
        Ok(Node::computed(Value::Missing))
    }

    /// A number, or no result.
    pub fn give_number(&self, number: Option<Number<'run>>) -> BuiltinResult<'run> {
        Ok(Node::computed(number.map_or(Value::Missing, Value::Number)))
    }

    /// A computed double.
    pub fn give_real(&self, value: f64) -> BuiltinResult<'run> {
        self.give_number(Number::from_f64(value))
    }

    /// A count.
    pub fn give_count(&self, count: usize) -> BuiltinResult<'run> {
        self.give_number(Some(Number::from_count(count)))
    }

    /// A boolean.
    pub fn give_boolean(&self, value: bool) -> BuiltinResult<'run> {
        Ok(Node::computed(Value::Boolean(value)))
    }

    /// A computed text.
    pub fn give_text(&mut self, text: &str) -> BuiltinResult<'run> {
        self.meter.charge_memory(text.len())?;
        Ok(borrowed_text(self.arena.alloc_str(text)))
    }

    /// A list of computed values.
    pub fn give_list(&mut self, items: impl IntoIterator<Item = Node<'run>>) -> BuiltinResult<'run> {
        let mut list = Vec::new();
        for item in items {
            self.meter.charge_fuel(1)?;
            self.meter.charge_memory(size_of::<Node<'_>>())?;
            list.push(item);
        }
        Ok(Node::computed(Value::List(self.arena.alloc_slice_copy(&list))))
    }
}

/// Text that lives as long as the run.
pub fn borrowed_text(text: &str) -> Node<'_> {
    Node::computed(Value::Text(ValueText::Plain(text)))
}

/// The first element of a list that is missing or not recorded decides what a computation over all of them gives.
pub fn first_gap<'run>(items: &[Node<'run>]) -> Option<Value<'run>> {
    items.iter().find_map(|item| match item.value {
        Value::Missing => Some(Value::Missing),
        ref value if value.is_absent() => Some(Value::Absent),
        _ => None,
    })
}

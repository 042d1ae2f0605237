//! The input of a builtin function: its arguments and its environment.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::cache::JsonCache;
use super::matcher::RegexMatcher;
use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::value::{Node, Number, Object, Value, ValueText};
use bumpalo::Bump;

/// The implementation of a builtin function.
pub type BuiltinBody = for<'call, 'run> fn(&mut BuiltinCall<'call, 'run>) -> BuiltinResult<'run>;

/// The result of a builtin's body.
pub type BuiltinResult<'run> = Result<Node<'run>, LimitError>;

/// The environment of a call.
pub struct CallEnvironment<'call, 'run> {
    /// The arena that owns the results.
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
    /// The arena that owns the results.
    pub arena: &'run Bump,
    /// The limits of the evaluation.
    pub limits: &'call Limits,
    /// The remaining fuel and memory. Every function must charge before it works.
    pub meter: &'call mut FuelMeter,
    /// Compiled paths and converted values of this run.
    pub cache: &'call JsonCache<'run>,
    regex: &'call dyn Fn(u32) -> Option<&'call RegexMatcher>,
}

/// A separator or a search text.
pub enum SearchNeedle<'call, 'run> {
    /// This exact text.
    Text(&'run str),
    /// A regular expression.
    Regex(&'call RegexMatcher),
}

impl<'call, 'run> BuiltinCall<'call, 'run> {
    /// Creates a call. The arguments must fit the signature.
    pub(super) fn new(arguments: &'call [Node<'run>], environment: CallEnvironment<'call, 'run>) -> Self {
        let CallEnvironment { arena, limits, meter, regex, cache } = environment;
        Self { arguments, arena, limits, meter, cache, regex }
    }

    /// Returns an argument; `missing` after the last one.
    pub fn argument_node(&self, position: usize) -> Node<'run> {
        self.arguments.get(position).copied().unwrap_or(Node::computed(Value::Missing))
    }

    /// True if an optional argument was given.
    pub fn has_argument(&self, position: usize) -> bool {
        position < self.arguments.len()
    }

    /// Returns a text argument; empty for other types, which the table excludes.
    pub fn text_argument(&self, position: usize) -> &'run str {
        match self.argument_node(position).value {
            Value::Text(text) => text.as_str(),
            _ => "",
        }
    }

    /// Returns a number argument; 0 for other types.
    pub fn number_argument(&self, position: usize) -> Number<'run> {
        match self.argument_node(position).value {
            Value::Number(number) => number,
            _ => Number::Integer(0),
        }
    }

    /// Charges for a traversal of an argument, with all nested lists and objects.
    ///
    /// # Errors
    /// Returns an error if there is not enough fuel.
    pub fn look_through(&mut self, position: usize) -> Result<(), LimitError> {
        self.meter.charge_fuel(self.cache.weights.weight_of(&self.argument_node(position)) / 64)
    }

    /// Checks the memory for a value as text after `behind` bytes.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn check_written(&self, node: &Node<'run>, behind: usize) -> Result<(), LimitError> {
        let bytes = usize::try_from(self.cache.weights.weight_of(node)).unwrap_or(usize::MAX);
        self.meter.check_memory(behind.saturating_add(bytes))
    }

    /// Returns a list argument; empty for other types.
    pub fn list_argument(&self, position: usize) -> &'run [Node<'run>] {
        match self.argument_node(position).value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Returns an object argument.
    pub fn object_argument(&self, position: usize) -> Option<Object<'run>> {
        match self.argument_node(position).value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns an argument that is text or a regular expression.
    pub fn needle_argument(&self, position: usize) -> Option<SearchNeedle<'call, 'run>> {
        match self.argument_node(position).value {
            Value::Text(text) => Some(SearchNeedle::Text(text.as_str())),
            Value::Regex(number) => (self.regex)(number).map(SearchNeedle::Regex),
            _ => None,
        }
    }

    /// Returns a regular expression of the program.
    pub fn program_regex(&self, number: u32) -> Option<&'call RegexMatcher> {
        (self.regex)(number)
    }

    /// Returns the result `missing`.
    pub fn give_missing(&self) -> BuiltinResult<'run> {
        Ok(Node::computed(Value::Missing))
    }

    /// Returns a number; `missing` for `None`.
    pub fn give_number(&self, number: Option<Number<'run>>) -> BuiltinResult<'run> {
        Ok(Node::computed(number.map_or(Value::Missing, Value::Number)))
    }

    /// Returns a computed double.
    pub fn give_real(&self, value: f64) -> BuiltinResult<'run> {
        self.give_number(Number::from_f64(value))
    }

    /// Returns a count.
    pub fn give_count(&self, count: usize) -> BuiltinResult<'run> {
        self.give_number(Some(Number::from_count(count)))
    }

    /// Returns a boolean.
    pub fn give_boolean(&self, value: bool) -> BuiltinResult<'run> {
        Ok(Node::computed(Value::Boolean(value)))
    }

    /// Copies a computed text into the arena and returns it.
    pub fn give_text(&mut self, text: &str) -> BuiltinResult<'run> {
        self.meter.charge_memory(text.len())?;
        Ok(borrowed_text(self.arena.alloc_str(text)))
    }

    /// Returns a list of computed values.
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

/// Wraps a text that lives as long as the run.
pub fn borrowed_text(text: &str) -> Node<'_> {
    Node::computed(Value::Text(ValueText::Plain(text)))
}

/// Returns the first element of a list that is missing or not recorded. It determines the result of a computation over all elements.
pub fn first_gap<'run>(items: &[Node<'run>]) -> Option<Value<'run>> {
    items.iter().find_map(|item| match item.value {
        Value::Missing => Some(Value::Missing),
        ref value if value.is_absent() => Some(Value::Absent),
        _ => None,
    })
}

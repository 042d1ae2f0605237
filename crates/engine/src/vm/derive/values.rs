//! Values of a derivation: in the notation of the language, with the place that they stand at.

use crate::vm::derivation::ShownValue;
use crate::vm::locate;
use crate::vm::machine::Machine;
use averment_base::value::notation::notation_with;
use averment_base::value::{Node, Value};
use averment_builtins::detect::redacted_start;

/// Characters shown of a value.
const LONGEST: usize = 400;

impl<'run> Machine<'run> {
    pub(in crate::vm) fn shown_value(&self, node: &Node<'run>) -> ShownValue {
        let truth = match node.value {
            Value::Truth(truth) => Some(truth),
            _ => None,
        };
        let text = match node.value {
            Value::Regex(number) => {
                self.program.regexes.get(number as usize).map_or_else(String::new, |regex| regex.text.clone())
            }
            ref value => notation_with(value, LONGEST, redacted_start),
        };
        // Where a value stands decides whether reports hide it.
        let path = match truth {
            Some(_) => String::new(),
            None => locate::node_pointer(self.run, node).unwrap_or_default(),
        };
        ShownValue { text, truth, path }
    }
}

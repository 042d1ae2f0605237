//! Whether the arguments of a made call are those of an expected one.

use super::expected::ExpectedCall;
use averment_base::truth::Truth;
use averment_base::value::compare::with_deep_stack;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_builtins::part_match::{IgnoredKeys, KeyPath, PartRules};
use averment_checker::ir::CallMatching;
use averment_syntax::ast::ArgumentMatch;

/// A call of the run.
#[derive(Debug, Clone, Copy)]
pub(in crate::vm) struct RunCall<'run> {
    /// Its step.
    pub(in crate::vm) step: u32,
    /// The name of its tool.
    pub(in crate::vm) tool: &'run str,
    /// Its arguments; `None` where they are not recorded.
    pub(in crate::vm) arguments: Option<Value<'run>>,
}

/// The defaults of arguments by the name of the tool.
type ArgumentDefaults<'m, 'run> = Box<dyn Fn(&str) -> Option<Object<'run>> + 'm>;

/// The comparison of arguments, with what does not matter.
pub(in crate::vm) struct ArgumentComparison<'m, 'run> {
    matching: &'m CallMatching,
    values: PartRules<'m>,
    defaults: ArgumentDefaults<'m, 'run>,
}

impl<'m, 'run> ArgumentComparison<'m, 'run> {
    pub(in crate::vm) fn new(matching: &'m CallMatching, defaults: impl Fn(&str) -> Option<Object<'run>> + 'm) -> Self {
        let ignored = IgnoredKeys::new(matching.ignored.iter().map(String::as_str));
        let values = PartRules {
            open: matching.arguments == ArgumentMatch::Named,
            optional: matching.arguments == ArgumentMatch::Optional,
            folded: matching.folded,
            ignored,
            ..PartRules::default()
        };
        Self { matching, values, defaults: Box::new(defaults) }
    }

    /// What is compared, and how.
    pub(in crate::vm) fn matching(&self) -> &'m CallMatching {
        self.matching
    }

    /// How many values were looked at since the last question.
    pub(in crate::vm) fn take_looked(&self) -> usize {
        self.values.take_looked()
    }

    /// Whether the call is the expected one.
    pub(in crate::vm) fn call_fit(&self, expected: &ExpectedCall<'run>, made: &RunCall<'run>) -> Truth {
        self.values.note_look();
        if expected.tool != made.tool {
            return Truth::False;
        }
        let (Some(wanted), false) = (expected.arguments, self.matching.arguments == ArgumentMatch::Ignored) else {
            return Truth::True;
        };
        let Some(given) = made.arguments else { return Truth::Undecided };
        let mut fit = Truth::True;
        self.visit_keys(expected, &wanted.value, &given, |_, one| {
            fit = fit.and(one);
            fit != Truth::False
        });
        fit
    }

    /// The first argument that differs, with both values.
    pub(in crate::vm) fn first_difference(
        &self,
        expected: &ExpectedCall<'run>,
        made: &RunCall<'run>,
    ) -> Option<ArgumentDifference<'run>> {
        let (wanted, given) = (expected.arguments?, made.arguments?);
        let mut found = None;
        self.visit_keys(expected, &wanted.value, &given, |pair, fit| {
            if fit.plain_answer() == Some(false) && found.is_none() {
                found = Some(pair);
            }
            true
        });
        found
    }

    /// How many arguments differ.
    pub(in crate::vm) fn difference_count(&self, expected: &ExpectedCall<'run>, made: &RunCall<'run>) -> usize {
        let (Some(wanted), Some(given)) = (expected.arguments, made.arguments) else { return 0 };
        let mut count = 0usize;
        self.visit_keys(expected, &wanted.value, &given, |_, fit| {
            count = count.saturating_add(usize::from(fit != Truth::True));
            true
        });
        count
    }

    /// Tells of each argument how it fits, as long as the answer is yes.
    fn visit_keys(
        &self,
        expected: &ExpectedCall<'run>,
        wanted: &Value<'run>,
        given: &Value<'run>,
        mut visit: impl FnMut(ArgumentDifference<'run>, Truth) -> bool,
    ) {
        let (Some(wanted), Some(given)) = (as_arguments(wanted), as_arguments(given)) else {
            let fit = self.values.value_fit(wanted, given, None);
            visit(
                ArgumentDifference {
                    key: "",
                    wanted: Some(Node::computed(*wanted)),
                    given: Some(Node::computed(*given)),
                },
                fit,
            );
            return;
        };
        let defaults = (self.defaults)(expected.tool);
        let default_of = |key: &str| defaults.and_then(|defaults| defaults.get(key));
        let is_compared = |key: &str| match expected.compared {
            Some(keys) => keys.iter().any(|one| matches!(one.value, Value::Text(text) if text.as_str() == key)),
            None => true,
        };
        let is_wanted = |key: &str| wanted.iter().any(|entry| entry.key == key);
        let others = given.iter().filter(|entry| !is_wanted(entry.key)).map(|entry| (entry.key, None));
        let keys = wanted.iter().map(|entry| (entry.key, Some(entry.node))).chain(others);
        for (key, wanted) in keys {
            if !is_compared(key) || self.values.ignored.has_key(key, None) {
                continue;
            }
            let is_named = wanted.is_some();
            let own = given.iter().find(|entry| entry.key == key).map(|entry| entry.node);
            if own.is_none() && self.matching.arguments == ArgumentMatch::Optional {
                continue;
            }
            let (wanted, own) = (wanted.or_else(|| default_of(key)), own.or_else(|| default_of(key)));
            let fit = match (wanted, own) {
                _ if !is_named && self.matching.arguments == ArgumentMatch::Named => continue,
                (Some(wanted), own) if self.matching.arguments == ArgumentMatch::Accepted && is_named => {
                    self.accepted_fit(&wanted.value, own.map(|node| node.value), KeyPath { key, outer: None })
                }
                (Some(wanted), Some(own)) => {
                    let part = KeyPath { key, outer: None };
                    self.values.value_fit(&wanted.value, &own.value, Some(&part))
                }
                _ => Truth::False,
            };
            if !visit(ArgumentDifference { key, wanted, given: own }, fit) {
                return;
            }
        }
    }

    /// A value among those of a list; an empty text in it lets the argument be absent.
    fn accepted_fit(&self, accepted: &Value<'run>, own: Option<Value<'run>>, part: KeyPath<'_>) -> Truth {
        let single = [Node::computed(*accepted)];
        let items: &[Node<'run>] = if let Value::List(items) = accepted { items } else { &single };
        let Some(own) = own else {
            let optional = items.iter().any(|item| matches!(item.value, Value::Text(text) if text.is_empty()));
            return Truth::from_bool(optional);
        };
        let mut fit = Truth::False;
        for item in items {
            let one = match (&item.value, &own) {
                (Value::Object(wanted), Value::Object(given)) => self.accepted_object(wanted, given, part),
                (wanted, given) => self.values.value_fit(wanted, given, Some(&part)),
            };
            fit = fit.or(one);
            if fit == Truth::True {
                break;
            }
        }
        fit
    }

    /// An object whose keys have lists of accepted values in their turn.
    fn accepted_object(&self, wanted: &Object<'run>, given: &Object<'run>, outer: KeyPath<'_>) -> Truth {
        let extra = given
            .entries()
            .iter()
            .any(|entry| wanted.get(entry.key).is_none() && !self.values.ignored.has_key(entry.key, Some(&outer)));
        let mut fit = Truth::from_bool(!extra);
        for entry in wanted.entries().iter().filter(|entry| !self.values.ignored.has_key(entry.key, Some(&outer))) {
            let part = KeyPath { key: entry.key, outer: Some(&outer) };
            let own = given.get(entry.key).map(|node| node.value);
            fit = fit.and(with_deep_stack(|| self.accepted_fit(&entry.node.value, own, part)));
        }
        fit
    }
}

/// The arguments by their keys; none for `null`.
fn as_arguments<'run>(value: &Value<'run>) -> Option<&'run [ObjectEntry<'run>]> {
    match value {
        Value::Null => Some(&[]),
        Value::Object(object) => Some(object.entries()),
        _ => None,
    }
}

/// An argument with what is expected of it and what was given; `None` where it is not there.
#[derive(Debug, Clone, Copy)]
pub(in crate::vm) struct ArgumentDifference<'run> {
    /// Its key; empty for arguments that are no object.
    pub(in crate::vm) key: &'run str,
    pub(in crate::vm) wanted: Option<Node<'run>>,
    pub(in crate::vm) given: Option<Node<'run>>,
}

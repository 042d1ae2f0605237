//! Whether the arguments of a made call are those of an expected one.

use super::expected::ExpectedCall;
use averment_base::value::compare::{values_equal, with_deep_stack};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_checker::ir::CallMatching;
use averment_syntax::ast::ArgumentMatch;
use std::cell::Cell;

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

/// Whether a made call is an expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vm) enum ArgumentFit {
    Yes,
    /// The run does not record what would say it.
    Unknown,
    No,
}

impl ArgumentFit {
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No => Self::No,
            Self::Yes => other(),
            Self::Unknown if other() == Self::No => Self::No,
            Self::Unknown => Self::Unknown,
        }
    }

    fn of_equality(equal: bool) -> Self {
        if equal { Self::Yes } else { Self::No }
    }
}

/// The comparison of arguments, with what does not matter.
pub(in crate::vm) struct ArgumentComparison<'m, 'run> {
    matching: &'m CallMatching,
    /// Ignored keys at any depth, and paths into the arguments.
    ignored_keys: Vec<&'m str>,
    ignored_paths: Vec<&'m str>,
    /// The defaults of arguments by the name of the tool.
    defaults: Box<dyn Fn(&str) -> Option<Object<'run>> + 'm>,
    /// Values that were looked at.
    looked: Cell<usize>,
}

/// A key with those around it.
#[derive(Clone, Copy)]
struct PathPart<'p> {
    key: &'p str,
    outer: Option<&'p PathPart<'p>>,
}

impl<'m, 'run> ArgumentComparison<'m, 'run> {
    pub(in crate::vm) fn new(matching: &'m CallMatching, defaults: impl Fn(&str) -> Option<Object<'run>> + 'm) -> Self {
        let (ignored_paths, ignored_keys) =
            matching.ignored.iter().map(String::as_str).partition(|key: &&str| key.contains('.'));
        Self { matching, ignored_keys, ignored_paths, defaults: Box::new(defaults), looked: Cell::new(0) }
    }

    /// What is compared, and how.
    pub(in crate::vm) fn matching(&self) -> &'m CallMatching {
        self.matching
    }

    /// How many values were looked at since the last question.
    pub(in crate::vm) fn take_looked(&self) -> usize {
        self.looked.replace(0)
    }

    /// Whether the call is the expected one.
    pub(in crate::vm) fn call_fit(&self, expected: &ExpectedCall<'run>, made: &RunCall<'run>) -> ArgumentFit {
        self.looked.set(self.looked.get().saturating_add(1));
        if expected.tool != made.tool {
            return ArgumentFit::No;
        }
        let (Some(wanted), false) = (expected.arguments, self.matching.arguments == ArgumentMatch::Ignored) else {
            return ArgumentFit::Yes;
        };
        let Some(given) = made.arguments else { return ArgumentFit::Unknown };
        let mut fit = ArgumentFit::Yes;
        self.visit_keys(expected, &wanted.value, &given, |_, one| {
            fit = fit.and(|| one);
            fit != ArgumentFit::No
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
            if fit == ArgumentFit::No && found.is_none() {
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
            count = count.saturating_add(usize::from(fit != ArgumentFit::Yes));
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
        mut visit: impl FnMut(ArgumentDifference<'run>, ArgumentFit) -> bool,
    ) {
        let (Some(wanted), Some(given)) = (as_arguments(wanted), as_arguments(given)) else {
            let fit = self.value_fit(wanted, given, None);
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
            if !is_compared(key) || self.is_ignored(key, None) {
                continue;
            }
            let is_named = wanted.is_some();
            let own = given.iter().find(|entry| entry.key == key).map(|entry| entry.node);
            let (wanted, own) = (wanted.or_else(|| default_of(key)), own.or_else(|| default_of(key)));
            let fit = match (wanted, own) {
                _ if !is_named && self.matching.arguments == ArgumentMatch::Named => continue,
                (Some(wanted), own) if self.matching.arguments == ArgumentMatch::Accepted && is_named => {
                    self.accepted_fit(&wanted.value, own.map(|node| node.value), PathPart { key, outer: None })
                }
                (Some(wanted), Some(own)) => {
                    let part = PathPart { key, outer: None };
                    self.value_fit(&wanted.value, &own.value, Some(&part))
                }
                _ => ArgumentFit::No,
            };
            if !visit(ArgumentDifference { key, wanted, given: own }, fit) {
                return;
            }
        }
    }

    /// A value among those of a list; an empty text in it lets the argument be absent.
    fn accepted_fit(&self, accepted: &Value<'run>, own: Option<Value<'run>>, part: PathPart<'_>) -> ArgumentFit {
        let single = [Node::computed(*accepted)];
        let items: &[Node<'run>] = if let Value::List(items) = accepted { items } else { &single };
        let Some(own) = own else {
            let optional = items.iter().any(|item| matches!(item.value, Value::Text(text) if text.is_empty()));
            return ArgumentFit::of_equality(optional);
        };
        let mut fit = ArgumentFit::No;
        for item in items {
            let one = match (&item.value, &own) {
                (Value::Object(wanted), Value::Object(given)) => self.accepted_object(wanted, given, part),
                (wanted, given) => self.value_fit(wanted, given, Some(&part)),
            };
            match one {
                ArgumentFit::Yes => return ArgumentFit::Yes,
                ArgumentFit::Unknown => fit = ArgumentFit::Unknown,
                ArgumentFit::No => {}
            }
        }
        fit
    }

    /// An object whose keys have lists of accepted values in their turn.
    fn accepted_object(&self, wanted: &Object<'run>, given: &Object<'run>, outer: PathPart<'_>) -> ArgumentFit {
        let extra = given
            .entries()
            .iter()
            .any(|entry| wanted.get(entry.key).is_none() && !self.is_ignored(entry.key, Some(&outer)));
        let mut fit = ArgumentFit::of_equality(!extra);
        for entry in wanted.entries().iter().filter(|entry| !self.is_ignored(entry.key, Some(&outer))) {
            let part = PathPart { key: entry.key, outer: Some(&outer) };
            let own = given.get(entry.key).map(|node| node.value);
            fit = fit.and(|| with_deep_stack(|| self.accepted_fit(&entry.node.value, own, part)));
        }
        fit
    }

    fn value_fit(&self, wanted: &Value<'run>, given: &Value<'run>, place: Option<&PathPart<'_>>) -> ArgumentFit {
        self.looked.set(self.looked.get().saturating_add(1));
        match (wanted, given) {
            (Value::Absent | Value::Missing, _) | (_, Value::Absent | Value::Missing) => ArgumentFit::Unknown,
            (Value::Object(wanted), Value::Object(given)) => self.object_fit(wanted, given, place),
            (Value::List(wanted), Value::List(given)) => {
                let mut fit = ArgumentFit::of_equality(wanted.len() == given.len());
                for (wanted, given) in wanted.iter().zip(*given) {
                    if fit == ArgumentFit::No {
                        break;
                    }
                    fit = fit.and(|| with_deep_stack(|| self.value_fit(&wanted.value, &given.value, place)));
                }
                fit
            }
            (wanted, given) => ArgumentFit::of_equality(values_equal(wanted, given)),
        }
    }

    fn object_fit(&self, wanted: &Object<'run>, given: &Object<'run>, place: Option<&PathPart<'_>>) -> ArgumentFit {
        let is_open = self.matching.arguments == ArgumentMatch::Named;
        let extra = |entry: &ObjectEntry<'run>| wanted.get(entry.key).is_none() && !self.is_ignored(entry.key, place);
        if !is_open && given.entries().iter().any(extra) {
            return ArgumentFit::No;
        }
        let mut fit = ArgumentFit::Yes;
        for entry in wanted.entries().iter().filter(|entry| !self.is_ignored(entry.key, place)) {
            let part = PathPart { key: entry.key, outer: place };
            fit = fit.and(|| match given.get(entry.key) {
                Some(own) => with_deep_stack(|| self.value_fit(&entry.node.value, &own.value, Some(&part))),
                None => ArgumentFit::No,
            });
            if fit == ArgumentFit::No {
                break;
            }
        }
        fit
    }

    fn is_ignored(&self, key: &str, outer: Option<&PathPart<'_>>) -> bool {
        self.ignored_keys.contains(&key)
            || self.ignored_paths.iter().any(|path| *path == key || ends_at(path, key, outer))
    }
}

/// Whether a path of keys leads to this one.
fn ends_at(path: &str, key: &str, outer: Option<&PathPart<'_>>) -> bool {
    match (path.rsplit_once('.'), outer) {
        (Some((rest, last)), Some(outer)) => last == key && ends_at(rest, outer.key, outer.outer),
        (None, None) => path == key,
        _ => false,
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

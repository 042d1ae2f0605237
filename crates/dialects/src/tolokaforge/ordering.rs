//! Sides of constraints: which of several matching events counts. Also the helper definitions of the written text.

use super::matcher::{EventMatcher, read_matcher};
use super::predicate::PredicateScope;
use crate::Lowering;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

/// Which event of a side counts if several match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SideQuantifier {
    Any,
    All,
    First,
    Last,
}

/// A quantified matcher.
pub(super) struct QuantifiedSide {
    pub(super) quantifier: SideQuantifier,
    pub(super) matcher: EventMatcher,
}

/// Helper definitions: name and line. Only the ones used are written above the rule.
pub(super) const HELPERS: &[(&str, &str)] = &[
    ("none_before(", "def none_before(blocked, anchor) = anchor exists and not (any p in blocked: p < anchor)"),
    (
        "none_between(",
        "def none_between(blocked, start, stop) = start < stop and not (any p in blocked: p > start and p < stop)",
    ),
    (
        "can_equal(",
        "def can_equal(value, bound) = value is missing or value == null or type_of(value) == type_of(bound)",
    ),
    (
        "can_hold(",
        "def can_hold(value, bound) = value is missing or value == null or type_of(value) in [type_of(bound), \"list\", \"object\"]",
    ),
    (
        "is_next(",
        "def is_next(left, right, view) = left < right and left in view and right in view and not (any p in view: p > left and p < right)",
    ),
];

/// The lists of events, in dependency order.
pub(super) const LISTS: &[(&str, &str)] = &[
    ("tool_calls", "let tool_calls = (numbered(steps) where value.kind == \"call\")"),
    (
        "assistant_messages",
        "let assistant_messages = (numbered(steps) where value.kind == \"message\" and value.role == \"assistant\")",
    ),
    (
        "user_messages",
        "let user_messages = (numbered(steps) where value.kind == \"message\" and value.role == \"user\")",
    ),
];

impl QuantifiedSide {
    /// Returns the position of the event that decides an order in which this side comes first or last.
    fn bound_place(&self, comes_first: bool, extra: &[String]) -> String {
        let takes_least = match self.quantifier {
            SideQuantifier::First => true,
            SideQuantifier::Last => false,
            // If any event may come first, the earliest one decides; if all must come first, the latest one does.
            SideQuantifier::Any => comes_first,
            SideQuantifier::All => !comes_first,
        };
        let choice = if takes_least { "min" } else { "max" };
        format!("{choice}({})", self.matcher.positions(extra))
    }

    /// Returns the position of the event that a window is measured from.
    pub(super) fn anchor_place(&self, extra: &[String]) -> String {
        self.bound_place(self.quantifier != SideQuantifier::Last, extra)
    }
}

/// Writes that one side comes before the other; it fails if either side has no events.
pub(super) fn order_test(left: &QuantifiedSide, right: &QuantifiedSide, extra: &[String]) -> String {
    format!("{} < {}", left.bound_place(true, extra), right.bound_place(false, extra))
}

/// Writes that one side is directly followed by the other in a view.
pub(super) fn adjacency_test(left: &QuantifiedSide, right: &QuantifiedSide, view: &str, extra: &[String]) -> String {
    let (left_name, right_name) = (side_name(left, "left", extra), side_name(right, "right", extra));
    let mut test = format!("is_next({left_name}, {right_name}, {view})");
    for (side, name) in [(right, "right"), (left, "left")] {
        let places = side.matcher.positions(extra);
        test = match side.quantifier {
            SideQuantifier::Any => format!("(any {name} in {places}: {test})"),
            SideQuantifier::All => format!("({places} is not empty and (all {name} in {places}: {test}))"),
            SideQuantifier::First | SideQuantifier::Last => test,
        };
    }
    test
}

fn side_name(side: &QuantifiedSide, name: &str, extra: &[String]) -> String {
    match side.quantifier {
        SideQuantifier::Any | SideQuantifier::All => name.to_owned(),
        SideQuantifier::First | SideQuantifier::Last => side.anchor_place(extra),
    }
}

/// Returns the positions of the view that adjacency refers to.
pub(super) fn view_places(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<String> {
    const VIEWS: &[&str] = &["tool_calls", "tool_results", "messages", "events"];
    let calls = "(at of tool_calls)";
    let results = "(at + 0.5 of (tool_calls where value.result exists))";
    let messages = ["(at of assistant_messages)", "(at of user_messages)"];
    Some(match node.as_text() {
        Some("tool_calls") => calls.to_owned(),
        Some("tool_results") => results.to_owned(),
        Some("messages") => format!("flatten([{}])", messages.join(", ")),
        Some("events") => format!("flatten([{calls}, {results}, {}])", messages.join(", ")),
        _ => {
            lowering.sink.unknown_word(node, "view of events", VIEWS);
            return None;
        }
    })
}

/// Reads a side. If it is an anchor, it must be a single event.
pub(super) fn read_side(
    node: &YamlNode,
    key: &str,
    is_anchor: bool,
    scope: &PredicateScope,
    lowering: &mut Lowering<'_>,
) -> Option<QuantifiedSide> {
    let Some(side) = node.get(key) else {
        let message = format!("the constraint has no `{key}`");
        let help = format!("write `{key}: {{quantifier: first, match: {{kind: tool_call}}}}`");
        lowering.sink.error(Slug::TypeMismatch, node.span, message, help);
        return None;
    };
    let what = format!("`{key}`");
    if !lowering.sink.check_keys(side, &what, &["quantifier", "match"]) {
        return None;
    }
    let word = lowering.sink.required_text(side, "quantifier", &what)?;
    let quantifier = match (word, is_anchor) {
        ("first", _) => SideQuantifier::First,
        ("last", _) => SideQuantifier::Last,
        ("any", false) => SideQuantifier::Any,
        ("all", false) => SideQuantifier::All,
        _ => {
            let known: &[&str] = if is_anchor { &["first", "last"] } else { &["any", "all", "first", "last"] };
            lowering.sink.unknown_word(side.get("quantifier")?, "quantifier of this side", known);
            return None;
        }
    };
    let matcher = required_matcher(side, "match", scope, lowering)?;
    Some(QuantifiedSide { quantifier, matcher })
}

/// Reads the matcher under a key.
pub(super) fn required_matcher(
    node: &YamlNode,
    key: &str,
    scope: &PredicateScope,
    lowering: &mut Lowering<'_>,
) -> Option<EventMatcher> {
    match node.get(key) {
        Some(matcher) => read_matcher(matcher, scope, lowering),
        None => {
            let message = format!("the constraint has no `{key}`");
            let help = format!("write `{key}: {{kind: tool_call, tool: {{equals: refund}}}}`");
            lowering.sink.error(Slug::TypeMismatch, node.span, message, help);
            None
        }
    }
}

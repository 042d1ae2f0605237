//! Writes the ten kinds of constraints as expressions.

use super::matcher::EventMatcher;
use super::ordering::{QuantifiedSide, adjacency_test, order_test, read_side, required_matcher, view_places};
use super::predicate::PredicateScope;
use crate::Lowering;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

/// The result of a constraint, as expressions.
#[derive(Debug, Clone)]
pub(super) struct ConstraintTruth {
    /// Condition under which it passes.
    pub(super) holds: String,
    /// Condition under which it does not count; `None` if it always counts.
    pub(super) withheld: Option<String>,
}

/// The verdict of a constraint whose anchor matched no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingAnchor {
    Fails,
    Passes,
    Withholds,
}

/// The state for reading a constraint.
pub(super) struct ConstraintReader<'r, 'l> {
    pub(super) scope: &'r PredicateScope,
    /// Conditions that each event has to meet, such as the range of turns.
    pub(super) extra: &'r [String],
    pub(super) missing: MissingAnchor,
    pub(super) has_policy: bool,
    pub(super) lowering: &'r mut Lowering<'l>,
    /// Conditions under which comparisons with bound values are possible.
    pub(super) comparisons: Vec<String>,
}

const KINDS: &[&str] = &[
    "present",
    "absent",
    "count",
    "before",
    "immediately_before",
    "absent_before",
    "absent_between",
    "all_of",
    "any_of",
    "negate",
];

/// Maximum nesting. It is low because the condition under which a constraint does not count is repeated at each level.
const DEEPEST: usize = 8;

impl ConstraintReader<'_, '_> {
    /// Reads a constraint.
    pub(super) fn read(&mut self, node: &YamlNode, depth: usize) -> Option<ConstraintTruth> {
        if !self.lowering.sink.check_keys(node, "a constraint", KINDS) {
            return None;
        }
        let declared: Vec<&(YamlNode, YamlNode)> =
            node.entries().iter().filter(|(_, payload)| !payload.is_null()).collect();
        let [(key, payload)] = declared.as_slice() else {
            let message = format!("a constraint is of {} kinds", declared.len());
            let help = "write one kind; two conditions are an `all_of` of two constraints";
            self.lowering.sink.error(Slug::TypeMismatch, node.span, message, help);
            return None;
        };
        if depth >= DEEPEST {
            let message = "constraints are nested too deeply";
            let help = format!("write at most {DEEPEST} levels");
            self.lowering.sink.error(Slug::TooLarge, node.span, message, help);
            return None;
        }
        let kind = key.key_text();
        match kind.as_str() {
            "all_of" | "any_of" => self.read_group(payload, kind == "all_of", depth),
            "negate" => {
                let inside = self.read(payload, depth.saturating_add(1))?;
                let withheld = inside.withheld.as_ref().map(|one| format!(" and not ({one})")).unwrap_or_default();
                Some(ConstraintTruth { holds: format!("not ({}){withheld}", inside.holds), withheld: inside.withheld })
            }
            _ => self.read_leaf(&kind, key, payload),
        }
    }

    fn read_group(&mut self, payload: &YamlNode, is_all: bool, depth: usize) -> Option<ConstraintTruth> {
        if payload.items().is_empty() {
            let what = if is_all { "`all_of`" } else { "`any_of`" };
            self.lowering.sink.wrong_shape(payload, what, "a list of constraints that is not empty");
            return None;
        }
        let members: Vec<ConstraintTruth> =
            payload.items().iter().map(|item| self.read(item, depth.saturating_add(1))).collect::<Option<_>>()?;
        let word = if is_all { " and " } else { " or " };
        let joined = |texts: Vec<String>, word: &str| texts.join(word);
        let holds = joined(members.iter().map(|one| format!("({})", one.holds)).collect(), word);
        let some: Vec<String> =
            members.iter().filter_map(|one| one.withheld.as_ref()).map(|one| format!("({one})")).collect();
        let withheld = (!some.is_empty()).then(|| {
            let some = joined(some, " or ");
            match is_all {
                // A failed member decides, even if other members do not count.
                true => {
                    let open = members.iter().map(|one| match &one.withheld {
                        Some(withheld) => format!("({} or {withheld})", one.holds),
                        None => format!("({})", one.holds),
                    });
                    format!("({some}) and {}", joined(open.collect(), " and "))
                }
                false => format!("({some}) and not ({holds})"),
            }
        });
        Some(ConstraintTruth { holds, withheld })
    }

    fn read_leaf(&mut self, kind: &str, key: &YamlNode, payload: &YamlNode) -> Option<ConstraintTruth> {
        self.check_policy(kind, key)?;
        match kind {
            "present" | "absent" => {
                let matcher = self.only_match(payload, kind, &["match"])?;
                let places = matcher.positions(self.extra);
                let is_present = kind == "present";
                let holds = format!("{places} {}", if is_present { "is not empty" } else { "is empty" });
                let empty = format!("{places} is empty");
                Some(ConstraintTruth { holds, withheld: self.withheld(|| empty).filter(|_| is_present) })
            }
            "count" => self.read_count(payload),
            "before" => {
                self.check_keys(payload, kind, &["left", "right"])?;
                let (left, right) = (self.side(payload, "left", false)?, self.side(payload, "right", false)?);
                let test = order_test(&left, &right, self.extra);
                Some(self.anchored(test, &[&left, &right]))
            }
            "immediately_before" => {
                self.check_keys(payload, kind, &["left", "right", "among"])?;
                let (left, right) = (self.side(payload, "left", false)?, self.side(payload, "right", false)?);
                let Some(among) = payload.get("among") else {
                    let help = "write `among: tool_calls`, `tool_results`, `messages` or `events`";
                    let message = "`immediately_before` has no `among`: what follows what depends on it";
                    self.lowering.sink.error(Slug::TypeMismatch, payload.span, message, help);
                    return None;
                };
                let view = view_places(among, self.lowering)?;
                let test = adjacency_test(&left, &right, &view, self.extra);
                Some(self.anchored(test, &[&left, &right]))
            }
            "absent_before" => {
                self.check_keys(payload, kind, &["forbidden", "anchor"])?;
                let anchor = self.side(payload, "anchor", true)?;
                let forbidden = self.matcher(payload, "forbidden")?.positions(self.extra);
                let test = format!("none_before({forbidden}, {})", anchor.anchor_place(self.extra));
                Some(self.anchored(test, &[&anchor]))
            }
            _ => self.read_between(payload),
        }
    }

    fn read_count(&mut self, payload: &YamlNode) -> Option<ConstraintTruth> {
        let matcher = self.only_match(payload, "count", &["match", "min", "max"])?;
        let places = matcher.positions(self.extra);
        let mut tests = Vec::new();
        for (key, sign) in [("min", ">="), ("max", "<=")] {
            let Some(bound) = payload.get(key).filter(|bound| !bound.is_null()) else { continue };
            let Some(number) = bound.as_number().filter(|number| number.parse::<u32>().is_ok()) else {
                self.lowering.sink.wrong_shape(bound, &format!("`{key}` of `count`"), "a whole number from 0 on");
                return None;
            };
            tests.push(format!("length({places}) {sign} {number}"));
        }
        if tests.is_empty() {
            let message = "`count` has neither `min` nor `max`: every number of events satisfies it";
            self.lowering.sink.error(Slug::TypeMismatch, payload.span, message, "write `min: 1` or `max: 3`");
            return None;
        }
        let empty = format!("{places} is empty");
        let withheld = self.withheld(|| empty.clone());
        if withheld.is_some() {
            tests.insert(0, format!("not ({empty})"));
        }
        Some(ConstraintTruth { holds: tests.join(" and "), withheld })
    }

    /// Reads `absent_between`. If the window does not open, or ends before its start, its anchor counts as missing.
    fn read_between(&mut self, payload: &YamlNode) -> Option<ConstraintTruth> {
        self.check_keys(payload, "absent_between", &["forbidden", "start", "end"])?;
        let (start, end) = (self.side(payload, "start", true)?, self.side(payload, "end", true)?);
        let forbidden = self.matcher(payload, "forbidden")?.positions(self.extra);
        let (from, to) = (start.anchor_place(self.extra), end.anchor_place(self.extra));
        let test = format!("none_between({forbidden}, {from}, {to})");
        let closed = format!("not ({from} < {to})");
        let withheld = self.withheld(|| closed.clone());
        let holds = if self.missing == MissingAnchor::Passes { format!("{closed} or {test}") } else { test };
        Some(ConstraintTruth { holds, withheld })
    }

    fn anchored(&self, test: String, sides: &[&QuantifiedSide]) -> ConstraintTruth {
        let empty: Vec<String> =
            sides.iter().map(|side| format!("{} is empty", side.matcher.positions(self.extra))).collect();
        let empty = empty.join(" or ");
        let withheld = self.withheld(|| empty.clone());
        let holds = if self.missing == MissingAnchor::Passes { format!("{empty} or {test}") } else { test };
        ConstraintTruth { holds, withheld }
    }

    fn withheld(&self, empty: impl FnOnce() -> String) -> Option<String> {
        (self.missing == MissingAnchor::Withholds).then(empty)
    }

    /// Checks `on_missing`, which is an error for kinds whose verdict is the match itself, since they have no anchor.
    fn check_policy(&mut self, kind: &str, key: &YamlNode) -> Option<()> {
        let is_match = ["present", "absent", "count"].contains(&kind);
        let refused = match self.missing {
            MissingAnchor::Withholds => kind == "absent",
            MissingAnchor::Fails | MissingAnchor::Passes => is_match,
        };
        if !(self.has_policy && refused) {
            return Some(());
        }
        let message = format!("`on_missing` has nothing to decide for `{kind}`: the match is its verdict");
        self.lowering.sink.error(Slug::TypeMismatch, key.span, message, "remove `on_missing`");
        None
    }

    fn check_keys(&mut self, payload: &YamlNode, kind: &str, known: &[&str]) -> Option<()> {
        self.lowering.sink.check_keys(payload, &format!("`{kind}`"), known).then_some(())
    }

    fn only_match(&mut self, payload: &YamlNode, kind: &str, known: &[&str]) -> Option<EventMatcher> {
        self.check_keys(payload, kind, known)?;
        self.matcher(payload, "match")
    }

    fn matcher(&mut self, payload: &YamlNode, key: &str) -> Option<EventMatcher> {
        let matcher = required_matcher(payload, key, self.scope, self.lowering)?;
        self.comparisons.extend(matcher.comparisons(self.extra));
        Some(matcher)
    }

    fn side(&mut self, payload: &YamlNode, key: &str, is_anchor: bool) -> Option<QuantifiedSide> {
        let side = read_side(payload, key, is_anchor, self.scope, self.lowering)?;
        self.comparisons.extend(side.matcher.comparisons(self.extra));
        Some(side)
    }
}

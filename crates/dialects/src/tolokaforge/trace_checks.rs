//! `trace_checks`: constraints with their weights and gates, and alternative routes.

use super::constraints::{ConstraintReader, ConstraintTruth, MissingAnchor};
use super::matcher::{EventMatcher, argument_path};
use super::ordering::required_matcher;
use super::predicate::{PredicateScope, read_engine, regex_literal};
use crate::Lowering;
use crate::writer::{CaseLine, quote_text};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use std::collections::BTreeSet;

/// A constraint after reading.
struct ScoredConstraint {
    place: Span,
    /// Name of the `let` that holds its truth.
    name: String,
    description: String,
    weight: String,
    is_gate: bool,
    truth: ConstraintTruth,
}

/// A lowered component: its declarations, its lines and its score.
#[derive(Default)]
pub(super) struct LoweredComponent {
    pub(super) declared: Vec<CaseLine>,
    pub(super) lines: Vec<CaseLine>,
    /// Expression of its score.
    pub(super) score: String,
}

/// Reads `trace_checks`.
pub(super) fn lower_trace_checks(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<LoweredComponent> {
    if !lowering.sink.check_keys(node, "`trace_checks`", &["constraints", "alternatives", "regex_engine"]) {
        return None;
    }
    let backtracks = match node.get("regex_engine").filter(|engine| !engine.is_null()) {
        Some(engine) => read_engine(engine, lowering)?,
        None => false,
    };
    let mut block = TraceBlock { backtracks, taken: BTreeSet::new(), lowering };
    let shared = block.read_constraints(node, "`trace_checks`");
    let routes = block.read_routes(node);
    if shared.is_empty() && routes.is_empty() && !block.lowering.sink.has_errors() {
        let message = "`trace_checks` has neither `constraints` nor `alternatives`";
        block.lowering.sink.error(Slug::TypeMismatch, node.span, message, "write constraints, or remove the block");
    }
    Some(write_component(node.span, &shared, &routes))
}

/// One of several alternative routes, with its own constraints.
struct TraceRoute {
    place: Span,
    name: String,
    constraints: Vec<ScoredConstraint>,
}

fn write_component(place: Span, shared: &[ScoredConstraint], routes: &[TraceRoute]) -> LoweredComponent {
    let mut written = LoweredComponent::default();
    for one in shared.iter().chain(routes.iter().flat_map(|route| &route.constraints)) {
        written.declared.push(CaseLine::new(one.place, format!("let {} = {}", one.name, one.truth.holds)));
        if let Some(withheld) = &one.truth.withheld {
            written.declared.push(CaseLine::new(one.place, format!("let {}_withheld = {withheld}", one.name)));
        }
    }
    shared.iter().for_each(|one| written.lines.push(one.line(false)));
    if routes.is_empty() {
        written.score = score_text(&shared.iter().collect::<Vec<_>>());
        return written;
    }
    for route in routes {
        let all: Vec<&ScoredConstraint> = shared.iter().chain(&route.constraints).collect();
        written.declared.push(CaseLine::new(route.place, format!("let {} = {}", route.name, score_text(&all))));
        route.constraints.iter().for_each(|one| written.lines.push(one.line(true)));
    }
    let names: Vec<&str> = routes.iter().map(|route| route.name.as_str()).collect();
    let best = format!("max([{}])", names.join(", "));
    written.declared.push(CaseLine::new(place, format!("let best_route = {best}")));
    // On a tie, a route with a failed gate wins, and then fails the trial.
    let gated = routes.iter().filter_map(|route| {
        let gates = gates_text(&route.constraints.iter().collect::<Vec<_>>())?;
        Some(format!("({} < best_route or {gates})", route.name))
    });
    let gated: Vec<String> = gated.collect();
    if !gated.is_empty() {
        let message = "a gate of the best route fails";
        let text = format!("{} weight 0 message {}", gated.join(" and "), quote_text(message));
        written.lines.push(CaseLine::new(place, text));
    }
    written.score = "best_route".to_owned();
    written
}

impl ScoredConstraint {
    /// Returns the line of the constraint. A constraint of a route cannot fail the rule by itself.
    fn line(&self, is_of_route: bool) -> CaseLine {
        let mut text = self.name.clone();
        match (self.is_gate, is_of_route) {
            (true, false) => text.push_str(" weight 0"),
            (true, true) => text.push_str(" weight 0 severity info"),
            (false, _) if self.weight == "1" => text.push_str(" severity info"),
            (false, _) => text.push_str(&format!(" weight {} severity info", self.weight)),
        }
        text.push_str(&format!(" message {}", quote_text(&self.description)));
        if self.truth.withheld.is_some() {
            text.push_str(&format!(" when not {}_withheld", self.name));
        }
        CaseLine::new(self.place, text)
    }
}

/// Returns the condition that all gates that count hold; `None` if there are no gates.
fn gates_text(constraints: &[&ScoredConstraint]) -> Option<String> {
    let gate = |one: &&ScoredConstraint| match one.truth.withheld {
        Some(_) => format!("({0} or {0}_withheld)", one.name),
        None => one.name.clone(),
    };
    let gates: Vec<String> = constraints.iter().filter(|one| one.is_gate).map(gate).collect();
    (!gates.is_empty()).then(|| format!("({})", gates.join(" and ")))
}

/// Returns the share of the weights that passed. Without a scored constraint, the gates decide.
fn score_text(constraints: &[&ScoredConstraint]) -> String {
    let gates = gates_text(constraints).map_or_else(|| "1".to_owned(), |gates| format!("(if {gates} then 1 else 0)"));
    let scored: Vec<&&ScoredConstraint> = constraints.iter().filter(|one| !one.is_gate).collect();
    if scored.is_empty() {
        return gates;
    }
    let earned = scored.iter().map(|one| format!("(if {} then {} else 0)", one.name, one.weight));
    let earned = earned.collect::<Vec<_>>().join(" + ");
    let share = |one: &&&ScoredConstraint| match one.truth.withheld {
        Some(_) => format!("(if {}_withheld then 0 else {})", one.name, one.weight),
        None => one.weight.clone(),
    };
    let total = scored.iter().map(share).collect::<Vec<_>>().join(" + ");
    match scored.iter().any(|one| one.truth.withheld.is_some()) {
        true => format!("if {total} > 0 then ({earned}) / ({total}) else {gates}"),
        false => format!("({earned}) / ({total})"),
    }
}

struct TraceBlock<'b, 'l> {
    backtracks: bool,
    /// Ids used so far, and names derived from them.
    taken: BTreeSet<String>,
    lowering: &'b mut Lowering<'l>,
}

impl TraceBlock<'_, '_> {
    fn read_constraints(&mut self, node: &YamlNode, what: &str) -> Vec<ScoredConstraint> {
        let items = self.lowering.sink.list_items(node, "constraints", what);
        items.iter().filter_map(|item| self.read_constraint(item)).collect()
    }

    fn read_routes(&mut self, node: &YamlNode) -> Vec<TraceRoute> {
        let items = self.lowering.sink.list_items(node, "alternatives", "`trace_checks`");
        if items.len() == 1 {
            let help = "move its constraints to `constraints`, or write the other route";
            let place = node.get("alternatives").map_or(node.span, |list| list.span);
            self.lowering.sink.error(Slug::TypeMismatch, place, "one route is no choice of routes", help);
        }
        items.iter().filter_map(|item| self.read_route(item)).collect()
    }

    fn read_route(&mut self, node: &YamlNode) -> Option<TraceRoute> {
        if !self.lowering.sink.check_keys(node, "a route", &["id", "description", "constraints"]) {
            return None;
        }
        let name = self.take_name(node, "a route", "route")?;
        self.lowering.sink.required_text(node, "description", "a route")?;
        let constraints = self.read_constraints(node, "a route");
        if constraints.is_empty() && !self.lowering.sink.has_errors() {
            let message = "the route has no constraints";
            self.lowering.sink.error(Slug::TypeMismatch, node.span, message, "write `constraints`");
        }
        Some(TraceRoute { place: node.span, name, constraints })
    }

    /// Returns a name derived from an id, which must be unique in the block.
    fn take_name(&mut self, node: &YamlNode, what: &str, prefix: &str) -> Option<String> {
        let id = self.lowering.sink.required_text(node, "id", what)?.to_owned();
        if !self.taken.insert(id.clone()) {
            let message = format!("the id `{id}` occurs twice");
            let place = node.get("id").map_or(node.span, |id| id.span);
            self.lowering.sink.error(Slug::Duplicate, place, message, "give each constraint and route its own id");
            return None;
        }
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        let wanted = format!("{prefix}_{}", id.chars().map(letter).collect::<String>());
        let mut name = wanted.clone();
        let mut number = 2_u32;
        while !self.taken.insert(format!("{name} ")) {
            name = format!("{wanted}_{number}");
            number = number.saturating_add(1);
        }
        Some(name)
    }

    fn read_constraint(&mut self, node: &YamlNode) -> Option<ScoredConstraint> {
        const KEYS: &[&str] = &["id", "description", "weight", "on_missing", "severity", "within", "bind", "require"];
        const WHAT: &str = "a constraint of `trace_checks`";
        if !self.lowering.sink.check_keys(node, WHAT, KEYS) {
            return None;
        }
        let name = self.take_name(node, WHAT, "check")?;
        let description = self.lowering.sink.required_text(node, "description", WHAT)?.to_owned();
        let is_gate = match self.word(node, "severity", &["scored", "gate"])? {
            None | Some("scored") => false,
            Some(_) => true,
        };
        let weight = self.read_weight(node, is_gate)?;
        let policy = self.word(node, "on_missing", &["fail", "pass", "withhold"])?;
        let missing = match policy {
            Some("pass") => MissingAnchor::Passes,
            Some("withhold") => MissingAnchor::Withholds,
            _ => MissingAnchor::Fails,
        };
        if is_gate && missing == MissingAnchor::Passes {
            let message = "a gate with `on_missing: pass` opens where nothing was there";
            self.lowering.sink.error(Slug::TypeMismatch, node.span, message, "remove `on_missing`");
            return None;
        }
        let extra = self.turn_tests(node)?;
        let mut scope = PredicateScope { backtracks: self.backtracks, bound: Vec::new() };
        let binding = match node.get("bind").filter(|bind| !bind.is_null()) {
            Some(bind) => Some(self.read_binding(bind, is_gate, &extra, &mut scope)?),
            None => None,
        };
        let Some(require) = node.get("require") else {
            let help = "write `require: {present: {match: {kind: tool_call}}}`";
            self.lowering.sink.error(Slug::TypeMismatch, node.span, "the constraint has no `require`", help);
            return None;
        };
        let mut reader = ConstraintReader {
            scope: &scope,
            extra: &extra,
            missing,
            has_policy: policy.is_some(),
            lowering: &mut *self.lowering,
            comparisons: Vec::new(),
        };
        let truth = reader.read(require, 0)?;
        let comparisons = reader.comparisons;
        let truth = match binding {
            Some(binding) => binding.wrap(truth, &comparisons),
            None => truth,
        };
        Some(ScoredConstraint { place: node.span, name, description, weight, is_gate, truth })
    }

    fn word<'n>(&mut self, node: &'n YamlNode, key: &str, known: &[&str]) -> Option<Option<&'n str>> {
        let Some(value) = node.get(key).filter(|value| !value.is_null()) else { return Some(None) };
        match value.as_text().filter(|word| known.contains(word)) {
            Some(word) => Some(Some(word)),
            None => {
                self.lowering.sink.unknown_word(value, &format!("`{key}`"), known);
                None
            }
        }
    }

    fn read_weight(&mut self, node: &YamlNode, is_gate: bool) -> Option<String> {
        let Some(weight) = node.get("weight") else { return Some("1".to_owned()) };
        let number = weight.as_number().and_then(|number| number.parse::<f64>().ok());
        let Some(number) = number.filter(|number| number.is_finite() && *number > 0.0) else {
            self.lowering.sink.wrong_shape(weight, "`weight`", "a number above 0");
            return None;
        };
        if is_gate && number != 1.0 {
            let message = "a gate is not scored, so its weight counts nothing";
            self.lowering.sink.error(Slug::TypeMismatch, weight.span, message, "remove `weight` or `severity`");
            return None;
        }
        Some(format!("{number}"))
    }

    /// Returns tests for `within`. tolokaforge counts turns from 0, a run counts them from 1.
    fn turn_tests(&mut self, node: &YamlNode) -> Option<Vec<String>> {
        let Some(within) = node.get("within").filter(|within| !within.is_null()) else { return Some(Vec::new()) };
        if !self.lowering.sink.check_keys(within, "`within`", &["first_turn", "last_turn"]) {
            return None;
        }
        let mut tests = Vec::new();
        for (key, sign) in [("first_turn", ">"), ("last_turn", "<=")] {
            let Some(bound) = within.get(key).filter(|bound| !bound.is_null()) else { continue };
            let Some(number) = bound.as_number().and_then(|number| number.parse::<u32>().ok()) else {
                self.lowering.sink.wrong_shape(bound, &format!("`{key}`"), "a whole number from 0 on");
                return None;
            };
            let turn = if sign == ">" { number } else { number.saturating_add(1) };
            tests.push(format!("value.turn {sign} {turn}"));
        }
        if tests.is_empty() {
            let message = "`within` has neither `first_turn` nor `last_turn`";
            self.lowering.sink.error(Slug::TypeMismatch, within.span, message, "write a bound, or remove `within`");
            return None;
        }
        Some(tests)
    }

    fn read_binding(
        &mut self,
        node: &YamlNode,
        is_gate: bool,
        extra: &[String],
        scope: &mut PredicateScope,
    ) -> Option<ValueBinding> {
        if !self.lowering.sink.check_keys(node, "`bind`", &["match", "values", "on_unbound"]) {
            return None;
        }
        let matcher = required_matcher(node, "match", scope, self.lowering)?;
        let passes = self.word(node, "on_unbound", &["fail", "pass"])? == Some("pass");
        if passes && is_gate {
            let message = "a gate with `on_unbound: pass` opens where nothing was bound";
            self.lowering.sink.error(Slug::TypeMismatch, node.span, message, "remove `on_unbound`");
            return None;
        }
        let values = node.get("values").map(YamlNode::entries).unwrap_or_default();
        if values.is_empty() {
            let help = "write `values: {id: {field: args.id}}`";
            self.lowering.sink.error(Slug::TypeMismatch, node.span, "`bind` binds no value", help);
            return None;
        }
        let mut tests = extra.to_vec();
        let mut guards = Vec::new();
        for (name, value) in values {
            let bound = self.read_bound_value(value, &matcher)?;
            tests.push(format!("{} exists and {0} != null", bound.value));
            guards.extend(bound.guard.map(|guard| guard.replacen("value.", "bound.value.", 1)));
            scope.bound.push((name.key_text(), bound.value.replacen("value.", "bound.value.", 1)));
        }
        Some(ValueBinding { events: matcher.events(&tests), passes, guards })
    }

    fn read_bound_value(&mut self, node: &YamlNode, matcher: &EventMatcher) -> Option<BoundValue> {
        if !self.lowering.sink.check_keys(node, "a bound value", &["field", "pattern", "regex_engine"]) {
            return None;
        }
        let field = self.lowering.sink.required_text(node, "field", "a bound value")?;
        let (head, path) = field.split_once('.').map_or((field, None), |(head, path)| (head, Some(path)));
        let plain = match (head, path) {
            ("args", Some(path)) => argument_path("value", path),
            ("args", None) => "value.args".to_owned(),
            ("tool" | "text", None) => format!("value.{head}"),
            ("result", None) => "text(value.result)".to_owned(),
            _ => {
                let known = ["tool", "text", "result", "args", "args.NAME"];
                self.lowering.sink.unknown_word(node.get("field")?, "field to bind", &known);
                return None;
            }
        };
        if !matcher.kind.carries(head) {
            let message = format!("events of this kind have no `{head}` to bind");
            let place = node.get("field").map_or(node.span, |field| field.span);
            self.lowering.sink.error(Slug::UnknownField, place, message, "fix the `kind`, or the field");
            return None;
        }
        let Some(pattern) = node.get("pattern").filter(|pattern| !matches!(pattern.value, YamlValue::Null)) else {
            return Some(BoundValue { value: plain, guard: None });
        };
        let backtracks = match node.get("regex_engine").filter(|engine| !engine.is_null()) {
            Some(engine) => read_engine(engine, self.lowering)?,
            None => self.backtracks,
        };
        let regex = regex_literal(pattern, backtracks, false, self.lowering)?;
        let why = quote_text("the expression finds several values to bind");
        let guard = format!("(length(split({plain}, {regex})) <= 2 or undecided({why}))");
        Some(BoundValue { value: format!("capture({plain}, {regex})"), guard: Some(guard) })
    }
}

struct BoundValue {
    value: String,
    /// Condition under which the value is unique.
    guard: Option<String>,
}

/// The events that provide the bound values.
struct ValueBinding {
    events: String,
    /// True if the constraint passes when nothing was bound.
    passes: bool,
    guards: Vec<String>,
}

impl ValueBinding {
    /// Applies the constraint to every bound value.
    fn wrap(&self, truth: ConstraintTruth, comparisons: &[String]) -> ConstraintTruth {
        let events = &self.events;
        let mut guards = self.guards.clone();
        if !comparisons.is_empty() {
            let why = quote_text("a bound value is compared with one of another type, which fails in tolokaforge");
            guards.push(format!("({} or undecided({why}))", comparisons.join(" and ")));
        }
        let guarded = |test: String| [vec![test], guards.clone()].concat().join(" and ");
        let each = format!("(all bound in {events}: {})", guarded(format!("({})", truth.holds)));
        let holds = if self.passes { each } else { format!("{events} is not empty and {each}") };
        let withheld = truth.withheld.map(|withheld| {
            let open = guarded(format!("({} or {withheld})", truth.holds));
            format!("(any bound in {events}: {withheld}) and (all bound in {events}: {open})")
        });
        ConstraintTruth { holds, withheld }
    }
}

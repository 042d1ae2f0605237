//! Derives candidate rules from the survey.

use super::flow::{FlowOrigin, FlowTarget, ValueOrigin};
use super::survey::{RunSurvey, ToolPair, ToolSurvey};
use super::values::KeyValues;
use super::{RuleCandidate, Topic, names, numbers};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of tools in a readable list.
const MOST_LISTED: usize = 30;
/// Maximum number of conditions per tool.
const MOST_CONDITIONS: usize = 5;
/// Larger numbers are probably ids or times.
const LARGEST: f64 = 1e9;
/// Factor between the largest observed value and a proposed bound.
const SLACK: f64 = 1.5;

impl RunSurvey {
    /// Returns the rules that the runs suggest, best first within each topic. [`super::CandidateTrial`] finds out if they hold.
    #[must_use]
    pub fn all_candidates(&self) -> Vec<RuleCandidate> {
        let mut all = self.tool_candidates();
        all.extend(self.order_of_tools());
        all.extend(self.data_candidates());
        all.extend(self.shape_candidates());
        all.extend(self.budget_candidates());
        all.extend(self.outcome_candidates());
        let secrets = |what: &str| {
            RuleCandidate::new(Topic::Safety, format!("no secrets in {what}")).with_declaration("use std.secrets")
        };
        all.extend([secrets("calls[*].args"), secrets("output")]);
        all
    }

    fn tool_candidates(&self) -> Vec<RuleCandidate> {
        let mut found = Vec::new();
        let named: Vec<String> = self.tools.keys().filter_map(|name| names::tool_pattern(name)).collect();
        if named.len() == self.tools.len() && (1..=MOST_LISTED).contains(&named.len()) {
            found.push(RuleCandidate::new(Topic::Tools, format!("only {}", named.join(", "))));
        }
        for (word, tools) in [("first", &self.first), ("last", &self.last)] {
            found.extend(sole_tool(tools).map(|tool| RuleCandidate::new(Topic::Tools, format!("{word} {tool}"))));
        }
        let ends = [sole_tool(&self.first), sole_tool(&self.last)];
        for (name, _) in self.tools.iter().filter(|(_, tool)| tool.runs == self.runs) {
            let Some(name) = names::tool_pattern(name).filter(|name| !ends.contains(&Some(name.clone()))) else {
                continue;
            };
            found.push(RuleCandidate::new(Topic::Tools, format!("require {name}")));
        }
        found
    }

    fn order_of_tools(&self) -> Vec<RuleCandidate> {
        let runs = |name: &String| self.tools.get(name).map_or(0, |tool| tool.runs);
        let mut found = self.related_candidates(
            |(_, later), pair| pair.before == runs(later),
            sole_tool(&self.first).is_some().then_some(&self.first),
            true,
        );
        found.extend(self.related_candidates(
            |(earlier, _), pair| pair.after == runs(earlier),
            sole_tool(&self.last).is_some().then_some(&self.last),
            false,
        ));
        found
    }

    /// Drops pairs implied by two others or by the tool that ends every run.
    fn related_candidates(
        &self,
        holds: impl Fn(&(String, String), &ToolPair) -> bool,
        end: Option<&BTreeSet<String>>,
        before: bool,
    ) -> Vec<RuleCandidate> {
        let related: BTreeSet<(&str, &str)> = self
            .pairs
            .iter()
            .filter(|(names, pair)| holds(names, pair))
            .map(|((one, other), _)| (one.as_str(), other.as_str()))
            .collect();
        let mut behind: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for &(one, other) in &related {
            behind.entry(one).or_default().insert(other);
        }
        let follows = |one: &str, other: &str| {
            let between = behind.get(one).into_iter().flatten();
            between.into_iter().any(|middle| related.contains(&(*middle, other)))
        };
        let at_end = |one: &str, other: &str| end.is_some_and(|end| end.contains(if before { one } else { other }));
        let mut pairs: Vec<(u64, &str, &str)> = related
            .iter()
            .filter(|(one, other)| !follows(one, other) && !at_end(one, other))
            .map(|&(one, other)| {
                (self.tools.get(if before { other } else { one }).map_or(0, |tool| tool.runs), one, other)
            })
            .collect();
        pairs.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)).then(a.2.cmp(b.2)));
        let word = if before { "before" } else { "after" };
        let candidate = |one: &str, other: &str| {
            let (one, other) = (names::tool_pattern(one)?, names::tool_pattern(other)?);
            Some(RuleCandidate::new(Topic::Order, format!("{word} {one} -> {other}")))
        };
        pairs.into_iter().filter_map(|(_, one, other)| candidate(one, other)).collect()
    }

    fn data_candidates(&self) -> Vec<RuleCandidate> {
        let mut best: BTreeMap<&FlowTarget, (u32, &FlowOrigin, u64)> = BTreeMap::new();
        for (target, origin, count) in self.flows.certain_flows() {
            let rank = origin_rank(target, origin);
            let known = best.entry(target).or_insert((rank, origin, count));
            if rank < known.0 {
                *known = (rank, origin, count);
            }
        }
        let mut found: Vec<(u64, RuleCandidate)> = best
            .into_iter()
            .filter_map(|(target, (_, origin, count))| Some((count, flow_candidate(target, origin)?)))
            .collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.text.cmp(&b.1.text)));
        found.into_iter().map(|(count, candidate)| candidate.with_seen(times_text(count, "argument"))).collect()
    }

    fn shape_candidates(&self) -> Vec<RuleCandidate> {
        let mut tools: Vec<(&String, &ToolSurvey)> = self.tools.iter().collect();
        tools.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then(a.0.cmp(b.0)));
        tools.into_iter().filter_map(|(name, tool)| shape_candidate(name, tool)).collect()
    }

    fn budget_candidates(&self) -> Vec<RuleCandidate> {
        let mut found = Vec::new();
        let mut add = |text: Option<String>, seen: String| {
            found.extend(text.map(|text| RuleCandidate::new(Topic::Budget, text).with_seen(seen)));
        };
        let limit = |name: &str, bound: Option<String>| bound.map(|bound| format!("{name} <= {bound}"));
        #[expect(clippy::cast_precision_loss, reason = "a count of calls that were read")]
        let calls = self.most_calls as f64;
        add(limit("count any", numbers::count_bound(calls, SLACK)), format!("most seen: {}", self.most_calls));
        if (1..=3).contains(&self.most_in_a_row) {
            let most = self.most_in_a_row.max(2);
            add(
                Some(format!("never repeat any more than {most} times")),
                format!("most seen: {} in a row", self.most_in_a_row),
            );
        }
        let milliseconds = self.duration.most;
        add(limit("duration", numbers::duration_bound(milliseconds, SLACK)), format!("most seen: {milliseconds:.0}ms"));
        add(limit("cost", numbers::money_bound(self.cost.most, SLACK)), format!("most seen: ${}", self.cost.most));
        add(
            limit("usage.total_tokens", numbers::count_bound(self.tokens.most, SLACK)),
            format!("most seen: {}", numbers::grouped_number(self.tokens.most)),
        );
        add(
            limit("turns", numbers::count_bound(self.turns.most, SLACK)),
            format!("most seen: {}", numbers::grouped_number(self.turns.most)),
        );
        for (name, tool) in self.tools.iter().filter(|(_, tool)| tool.most == 1 && tool.runs >= 3) {
            let text = names::tool_pattern(name).map(|name| format!("count {name} <= 1"));
            add(text, format!("called in {} of them", tool.runs));
        }
        found
    }

    fn outcome_candidates(&self) -> Vec<RuleCandidate> {
        let simple = |text: &str| RuleCandidate::new(Topic::Outcome, text);
        let mut found = vec![simple("not error exists"), simple("never any failed")];
        match self.output.value_type() {
            Some("object") => found.extend(self.schema_candidate().into_iter().chain(self.choice_candidates())),
            Some("string") => found.extend([simple("output is json"), simple("output is not empty")]),
            Some("list") => found.push(simple("output is not empty")),
            _ => {}
        }
        found
    }

    fn schema_candidate(&self) -> Option<RuleCandidate> {
        let always: Vec<(&String, &KeyValues)> =
            self.fields.iter().filter(|(_, values)| values.count == self.output.count).collect();
        let mut required = Vec::new();
        let mut properties = Vec::new();
        for (name, values) in always {
            let Some(key) = names::argument_key(name) else { continue };
            required.push(names::text_literal(name)?);
            properties.extend(json_type(values).map(|ty| format!("{key}: {{ type: \"{ty}\" }}")));
        }
        let (required, properties) = (required.join(", "), properties.join(", "));
        let schema =
            format!("schema Output = {{ type: \"object\", required: [{required}], properties: {{ {properties} }} }}");
        (!required.is_empty()).then(|| RuleCandidate::new(Topic::Outcome, "output is Output").with_declaration(schema))
    }

    fn choice_candidates(&self) -> impl Iterator<Item = RuleCandidate> {
        let always = self.fields.iter().filter(|(_, values)| values.count == self.output.count);
        always.filter_map(|(name, values)| {
            let field = names::field_path(name)?;
            Some(RuleCandidate::new(Topic::Outcome, format!("output{field} {}", choice_test(values)?)))
        })
    }
}

fn sole_tool(tools: &BTreeSet<String>) -> Option<String> {
    tools.first().filter(|_| tools.len() == 1).and_then(|tool| names::tool_pattern(tool))
}

/// Ranks origins: an argument with an equal name, a result, another argument, a text.
fn origin_rank(target: &FlowTarget, origin: &FlowOrigin) -> u32 {
    match &origin.1 {
        ValueOrigin::Argument(key) if *key == target.1 => 0,
        ValueOrigin::Result(path) => 1 + u32::try_from(path.len()).unwrap_or(u32::MAX / 2),
        ValueOrigin::Argument(_) => 100,
        ValueOrigin::Text => 200,
    }
}

fn flow_candidate(target: &FlowTarget, origin: &FlowOrigin) -> Option<RuleCandidate> {
    let (tool, key) = (names::tool_pattern(&target.0)?, names::argument_key(&target.1)?);
    let from = names::tool_pattern(&origin.0)?;
    let variable = if names::is_identifier(&target.1) && target.1.len() <= 20 { &target.1 } else { "value" };
    let pattern = match &origin.1 {
        ValueOrigin::Argument(other) => format!("{}: ${variable}", names::argument_key(other)?),
        ValueOrigin::Text => format!("result mentions ${variable}"),
        ValueOrigin::Result(path) => {
            let steps: Option<Vec<String>> = path
                .iter()
                .map(|step| step.as_ref().map_or(Some("[*]".to_owned()), |key| names::field_path(key)))
                .collect();
            let steps = steps?.concat();
            let is_list = path.contains(&None);
            if is_list { format!("result{steps} contains ${variable}") } else { format!("result{steps}: ${variable}") }
        }
    };
    let mut candidate =
        RuleCandidate::new(Topic::Data, format!("before {from}({pattern}) -> {tool}({key}: ${variable})"));
    candidate.covers.push(format!("before {from} -> {tool}"));
    Some(candidate)
}

fn shape_candidate(name: &str, tool: &ToolSurvey) -> Option<RuleCandidate> {
    let name = names::tool_pattern(name)?;
    let always = tool.arguments.iter().filter(|(_, values)| values.count == tool.calls);
    let conditions: Vec<String> =
        always.filter_map(|(key, values)| value_condition(key, values)).take(MOST_CONDITIONS).collect();
    let text = format!("each {name}: {}", conditions.join(" and "));
    (!conditions.is_empty())
        .then(|| RuleCandidate::new(Topic::Arguments, text).with_seen(times_text(tool.calls, "call")))
}

fn value_condition(key: &str, values: &KeyValues) -> Option<String> {
    let path = format!("args{}", names::field_path(key)?);
    let ty = values.value_type()?;
    let bounded =
        matches!(ty, "integer" | "number") && values.least >= 0.0 && values.most < LARGEST && values.count >= 3;
    let bound = if bounded { numbers::count_bound(values.most, SLACK) } else { None };
    Some(match (bound, choice_test(values)) {
        (Some(bound), _) => format!("{path} in 0..{bound}"),
        (None, Some(choice)) => format!("{path} {choice}"),
        (None, None) => format!("{path} is {ty}"),
    })
}

/// Returns `== "a"` or `in ["a", "b"]`.
fn choice_test(values: &KeyValues) -> Option<String> {
    let texts: Option<Vec<String>> = values.text_choice()?.iter().map(|text| names::text_literal(text)).collect();
    match texts?.as_slice() {
        [] => None,
        [only] => Some(format!("== {only}")),
        several => Some(format!("in [{}]", several.join(", "))),
    }
}

fn json_type(values: &KeyValues) -> Option<&'static str> {
    match values.value_type()? {
        "list" => Some("array"),
        ty => Some(ty),
    }
}

fn times_text(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

//! From what was seen to rules that may hold.

use super::flow::{Origin, Target, ValueOrigin};
use super::survey::{Pair, Survey, Tool};
use super::values::Values;
use super::{Candidate, Topic, names, numbers};
use std::collections::{BTreeMap, BTreeSet};

/// More tools than this are no list to read.
const MOST_LISTED: usize = 30;
/// Conditions on the arguments of one tool.
const MOST_CONDITIONS: usize = 5;
/// Numbers beyond this are ids and times.
const LARGEST: f64 = 1e9;
/// Room above the largest that was seen.
const SLACK: f64 = 1.5;

impl Survey {
    /// The rules that the runs suggest, best first within each topic. Whether they hold is for [`super::CandidateTrial`] to find out.
    #[must_use]
    pub fn candidates(&self) -> Vec<Candidate> {
        let mut all = self.tools();
        all.extend(self.order_of_tools());
        all.extend(self.data());
        all.extend(self.shapes());
        all.extend(self.budgets());
        all.extend(self.outcomes());
        let secrets =
            |what: &str| Candidate::new(Topic::Safety, format!("no secrets in {what}")).needs("use std.secrets");
        all.extend([secrets("calls[*].args"), secrets("output")]);
        all
    }

    fn tools(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let named: Vec<String> = self.tools.keys().filter_map(|name| names::tool(name)).collect();
        if named.len() == self.tools.len() && (1..=MOST_LISTED).contains(&named.len()) {
            found.push(Candidate::new(Topic::Tools, format!("only {}", named.join(", "))));
        }
        for (word, tools) in [("first", &self.first), ("last", &self.last)] {
            found.extend(sole(tools).map(|tool| Candidate::new(Topic::Tools, format!("{word} {tool}"))));
        }
        let ends = [sole(&self.first), sole(&self.last)];
        for (name, _) in self.tools.iter().filter(|(_, tool)| tool.runs == self.runs) {
            let Some(name) = names::tool(name).filter(|name| !ends.contains(&Some(name.clone()))) else { continue };
            found.push(Candidate::new(Topic::Tools, format!("require {name}")));
        }
        found
    }

    fn order_of_tools(&self) -> Vec<Candidate> {
        let runs = |name: &String| self.tools.get(name).map_or(0, |tool| tool.runs);
        let mut found = self.related(
            |(_, later), pair| pair.before == runs(later),
            sole(&self.first).is_some().then_some(&self.first),
            true,
        );
        found.extend(self.related(
            |(earlier, _), pair| pair.after == runs(earlier),
            sole(&self.last).is_some().then_some(&self.last),
            false,
        ));
        found
    }

    /// Pairs of a relation without those that follow from two others, or from the tool at the end of every run.
    fn related(
        &self,
        holds: impl Fn(&(String, String), &Pair) -> bool,
        end: Option<&BTreeSet<String>>,
        before: bool,
    ) -> Vec<Candidate> {
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
            let (one, other) = (names::tool(one)?, names::tool(other)?);
            Some(Candidate::new(Topic::Order, format!("{word} {one} -> {other}")))
        };
        pairs.into_iter().filter_map(|(_, one, other)| candidate(one, other)).collect()
    }

    fn data(&self) -> Vec<Candidate> {
        let mut best: BTreeMap<&Target, (u32, &Origin, u64)> = BTreeMap::new();
        for (target, origin, count) in self.flows.certain() {
            let rank = rank(target, origin);
            let known = best.entry(target).or_insert((rank, origin, count));
            if rank < known.0 {
                *known = (rank, origin, count);
            }
        }
        let mut found: Vec<(u64, Candidate)> =
            best.into_iter().filter_map(|(target, (_, origin, count))| Some((count, flow(target, origin)?))).collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.text.cmp(&b.1.text)));
        found.into_iter().map(|(count, candidate)| candidate.seen(times(count, "argument"))).collect()
    }

    fn shapes(&self) -> Vec<Candidate> {
        let mut tools: Vec<(&String, &Tool)> = self.tools.iter().collect();
        tools.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then(a.0.cmp(b.0)));
        tools.into_iter().filter_map(|(name, tool)| shape(name, tool)).collect()
    }

    fn budgets(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut add = |text: Option<String>, seen: String| {
            found.extend(text.map(|text| Candidate::new(Topic::Budget, text).seen(seen)));
        };
        let limit = |name: &str, bound: Option<String>| bound.map(|bound| format!("{name} <= {bound}"));
        #[expect(clippy::cast_precision_loss, reason = "a count of calls that were read")]
        let calls = self.most_calls as f64;
        add(limit("count any", numbers::count(calls, SLACK)), format!("most seen: {}", self.most_calls));
        if (1..=3).contains(&self.most_in_a_row) {
            let most = self.most_in_a_row.max(2);
            add(
                Some(format!("never repeat any more than {most} times")),
                format!("most seen: {} in a row", self.most_in_a_row),
            );
        }
        let milliseconds = self.duration.most;
        add(limit("duration", numbers::duration(milliseconds, SLACK)), format!("most seen: {milliseconds:.0}ms"));
        add(limit("cost", numbers::money(self.cost.most, SLACK)), format!("most seen: ${}", self.cost.most));
        add(
            limit("usage.total_tokens", numbers::count(self.tokens.most, SLACK)),
            format!("most seen: {}", numbers::whole(self.tokens.most)),
        );
        add(
            limit("turns", numbers::count(self.turns.most, SLACK)),
            format!("most seen: {}", numbers::whole(self.turns.most)),
        );
        for (name, tool) in self.tools.iter().filter(|(_, tool)| tool.most == 1 && tool.runs >= 3) {
            let text = names::tool(name).map(|name| format!("count {name} <= 1"));
            add(text, format!("called in {} of them", tool.runs));
        }
        found
    }

    fn outcomes(&self) -> Vec<Candidate> {
        let simple = |text: &str| Candidate::new(Topic::Outcome, text);
        let mut found = vec![simple("not error exists"), simple("never any failed")];
        match self.output.ty() {
            Some("object") => found.extend(self.schema().into_iter().chain(self.choices())),
            Some("string") => found.extend([simple("output is json"), simple("output is not empty")]),
            Some("list") => found.push(simple("output is not empty")),
            _ => {}
        }
        found
    }

    /// The fields that every output has.
    fn schema(&self) -> Option<Candidate> {
        let always: Vec<(&String, &Values)> =
            self.fields.iter().filter(|(_, values)| values.count == self.output.count).collect();
        let mut required = Vec::new();
        let mut properties = Vec::new();
        for (name, values) in always {
            let Some(key) = names::key(name) else { continue };
            required.push(names::literal(name)?);
            properties.extend(json_type(values).map(|ty| format!("{key}: {{ type: \"{ty}\" }}")));
        }
        let (required, properties) = (required.join(", "), properties.join(", "));
        let schema =
            format!("schema Output = {{ type: \"object\", required: [{required}], properties: {{ {properties} }} }}");
        (!required.is_empty()).then(|| Candidate::new(Topic::Outcome, "output is Output").needs(schema))
    }

    /// Fields of the output with one of a few texts.
    fn choices(&self) -> impl Iterator<Item = Candidate> {
        let always = self.fields.iter().filter(|(_, values)| values.count == self.output.count);
        always.filter_map(|(name, values)| {
            let field = names::field(name)?;
            Some(Candidate::new(Topic::Outcome, format!("output{field} {}", choice(values)?)))
        })
    }
}

/// The only tool of a set, as a pattern.
fn sole(tools: &BTreeSet<String>) -> Option<String> {
    tools.first().filter(|_| tools.len() == 1).and_then(|tool| names::tool(tool))
}

/// Which of several origins says most: the argument of the same name, a result, another argument, a text.
fn rank(target: &Target, origin: &Origin) -> u32 {
    match &origin.1 {
        ValueOrigin::Argument(key) if *key == target.1 => 0,
        ValueOrigin::Result(path) => 1 + u32::try_from(path.len()).unwrap_or(u32::MAX / 2),
        ValueOrigin::Argument(_) => 100,
        ValueOrigin::Text => 200,
    }
}

fn flow(target: &Target, origin: &Origin) -> Option<Candidate> {
    let (tool, key) = (names::tool(&target.0)?, names::key(&target.1)?);
    let from = names::tool(&origin.0)?;
    let variable = if names::is_identifier(&target.1) && target.1.len() <= 20 { &target.1 } else { "value" };
    let pattern = match &origin.1 {
        ValueOrigin::Argument(other) => format!("{}: ${variable}", names::key(other)?),
        ValueOrigin::Text => format!("result mentions ${variable}"),
        ValueOrigin::Result(path) => {
            let steps: Option<Vec<String>> =
                path.iter().map(|step| step.as_ref().map_or(Some("[*]".to_owned()), |key| names::field(key))).collect();
            let steps = steps?.concat();
            let is_list = path.contains(&None);
            if is_list { format!("result{steps} contains ${variable}") } else { format!("result{steps}: ${variable}") }
        }
    };
    let mut candidate = Candidate::new(Topic::Data, format!("before {from}({pattern}) -> {tool}({key}: ${variable})"));
    candidate.covers.push(format!("before {from} -> {tool}"));
    Some(candidate)
}

/// What all calls of a tool have in common.
fn shape(name: &str, tool: &Tool) -> Option<Candidate> {
    let name = names::tool(name)?;
    let always = tool.arguments.iter().filter(|(_, values)| values.count == tool.calls);
    let conditions: Vec<String> =
        always.filter_map(|(key, values)| condition(key, values)).take(MOST_CONDITIONS).collect();
    let text = format!("each {name}: {}", conditions.join(" and "));
    (!conditions.is_empty()).then(|| Candidate::new(Topic::Arguments, text).seen(times(tool.calls, "call")))
}

fn condition(key: &str, values: &Values) -> Option<String> {
    let path = format!("args{}", names::field(key)?);
    let ty = values.ty()?;
    let bounded =
        matches!(ty, "integer" | "number") && values.least >= 0.0 && values.most < LARGEST && values.count >= 3;
    let bound = if bounded { numbers::count(values.most, SLACK) } else { None };
    Some(match (bound, choice(values)) {
        (Some(bound), _) => format!("{path} in 0..{bound}"),
        (None, Some(choice)) => format!("{path} {choice}"),
        (None, None) => format!("{path} is {ty}"),
    })
}

/// `== "a"` or `in ["a", "b"]`.
fn choice(values: &Values) -> Option<String> {
    let texts: Option<Vec<String>> = values.choice()?.iter().map(|text| names::literal(text)).collect();
    match texts?.as_slice() {
        [] => None,
        [only] => Some(format!("== {only}")),
        several => Some(format!("in [{}]", several.join(", "))),
    }
}

/// The type in the words of JSON Schema.
fn json_type(values: &Values) -> Option<&'static str> {
    match values.ty()? {
        "list" => Some("array"),
        ty => Some(ty),
    }
}

fn times(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

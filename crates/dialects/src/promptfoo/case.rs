//! Writes a test as a case, with one line for each assertion and one for each threshold.
//!
//! If a threshold decides, a failed assertion does not fail the case, and the weighted mean is written out. A score of the rule language would not
//! do, because promptfoo also counts vacuous assertions in the mean.

use super::asserted::{Declarations, KindContext};
use super::assertion::{LoweredAssertion, lower_assertion, read_metric};
use super::modes::LoweringMode;
use super::template::TemplateVars;
use super::values::{number_of, plain_number};
use crate::Lowering;
use crate::weighted::{WeightedScore, gate_text, mean_text};
use crate::writer::{CaseLine, RuleWriter, WrittenCase, quote_text};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// A test, with the variables of one combination.
pub(super) struct TestPlan {
    pub(super) place: Span,
    pub(super) description: Option<String>,
    pub(super) vars: Option<YamlNode>,
    pub(super) asserts: Vec<YamlNode>,
    /// The threshold of the whole test, with its location.
    pub(super) threshold: Option<(f64, Span)>,
    /// The result columns that the test applies to; empty for all.
    pub(super) columns: Vec<String>,
}

struct AssertionSet {
    place: Span,
    threshold: Option<f64>,
    weight: f64,
    metric: Option<String>,
    members: Vec<LoweredAssertion>,
}

enum TestEntry {
    One(LoweredAssertion),
    Set(AssertionSet),
}

/// Writes the declarations that the cases of a file share, and then the cases.
pub(super) fn write_cases<'p>(
    cases: impl Iterator<Item = (String, &'p [TestPlan])>,
    mode: LoweringMode,
    lowering: &mut Lowering<'_>,
) {
    let mut declared = Declarations::default();
    let mut out = RuleWriter::default();
    let mut asks_answer = false;
    for (name, plans) in cases {
        let Some(first) = plans.first() else { continue };
        let mut lines = Vec::new();
        for plan in plans {
            let mut context = KindContext { lowering: &mut *lowering, mode, declared: &mut declared, score: None };
            let writer = PlanWriter { plan, mode, as_promptfoo: context.lowering.options.as_promptfoo };
            lines.extend(writer.lines(&mut context));
        }
        if lines.is_empty() {
            report_empty(first, &name, lowering);
            continue;
        }
        asks_answer |= lines.iter().any(|line| line.text.contains("answer"));
        let remark = first.description.as_deref();
        out.write_case(&WrittenCase { place: first.place, label: &name, remark, prompt: None, lines: &lines });
    }
    let at = Span::new(lowering.root, 0, 0);
    let mut head: Vec<&str> = Vec::new();
    head.extend(asks_answer.then_some("let answer = text(output)"));
    let tools = match lowering.options.as_promptfoo {
        true => super::traced_steps::TOOLS_OF_TRACE,
        false => super::traced_steps::TOOLS_OF_STEPS,
    };
    let steps = declared.asks_tools.then_some([super::traced_steps::TRACED_STEPS, tools]);
    head.extend(steps.into_iter().flatten().flat_map(str::lines));
    head.extend(declared.asks_rouge.then_some(super::score_kinds::ROUGE_WORDS).into_iter().flat_map(str::lines));
    head.extend(declared.asks_error_spans.then_some(super::trace_kinds::ERROR_SPAN));
    for line in head {
        lowering.out.write_line(at, |out| out.put_text(line));
    }
    lowering.out.append(declared.out);
    lowering.out.append(out);
}

fn report_empty(plan: &TestPlan, name: &str, lowering: &mut Lowering<'_>) {
    if plan.asserts.is_empty() {
        let message = format!("`{name}` asserts nothing: promptfoo passes it whatever the answer is");
        lowering.sink.warning(Slug::AlwaysTrue, plan.place, message, "write an assertion under `assert`");
    }
}

struct PlanWriter<'a> {
    plan: &'a TestPlan,
    mode: LoweringMode,
    as_promptfoo: bool,
}

impl PlanWriter<'_> {
    fn lines(&self, context: &mut KindContext<'_, '_>) -> Vec<CaseLine> {
        let vars = TemplateVars::new(self.plan.vars.as_ref());
        let mut entries = Vec::new();
        for node in &self.plan.asserts {
            let is_set = node.get("type").and_then(YamlNode::as_text) == Some("assert-set");
            match is_set {
                true => entries.extend(read_set(node, &vars, context).map(TestEntry::Set)),
                false => entries.extend(lower_assertion(node, &vars, context).map(TestEntry::One)),
            }
        }
        let mut lines = if self.as_promptfoo { self.take_light_metrics(&mut entries) } else { Vec::new() };
        let gated = self.plan.threshold.is_some();
        for entry in &entries {
            match entry {
                TestEntry::One(one) => self.push_assertion(one, one.weight, None, gated, &mut lines),
                TestEntry::Set(set) => self.push_set(set, gated, &mut lines),
            }
        }
        if let Some((threshold, place)) = self.plan.threshold.filter(|_| !entries.is_empty()) {
            let parts: Vec<WeightedScore> = entries.iter().map(|entry| self.entry_score(entry)).collect();
            let gate = gate_text(&parts, threshold);
            let recorded = "meta.gradingResult.pass";
            self.push_agreement("the test", &gate, recorded, place, &mut lines);
            lines.push(CaseLine::new(place, gate + &self.gate_modifiers(threshold)));
        }
        lines
    }

    /// Removes metrics whose assertions all have weight 0, and returns lines that state a score of 0 instead, because promptfoo gives them 0.
    fn take_light_metrics(&self, entries: &mut [TestEntry]) -> Vec<CaseLine> {
        let mut weights = std::collections::BTreeMap::<String, f64>::new();
        let mut add = |metric: Option<&String>, weight: f64| {
            if let Some(metric) = metric {
                *weights.entry(metric.clone()).or_default() += weight;
            }
        };
        for entry in entries.iter() {
            match entry {
                TestEntry::One(one) => add(one.metric.as_ref(), one.weight),
                TestEntry::Set(set) => {
                    add(set.metric.as_ref(), set.weight);
                    set.members.iter().for_each(|member| add(member.metric.as_ref(), member.weight));
                }
            }
        }
        weights.retain(|_, weight| *weight == 0.0);
        let leave_out = |metric: &mut Option<String>| {
            if metric.as_ref().is_some_and(|metric| weights.contains_key(metric)) {
                *metric = None;
            }
        };
        for entry in entries {
            match entry {
                TestEntry::One(one) => leave_out(&mut one.metric),
                TestEntry::Set(set) => {
                    leave_out(&mut set.metric);
                    set.members.iter_mut().for_each(|member| leave_out(&mut member.metric));
                }
            }
        }
        let line = |metric: &String| format!("score(0) >= 0 weight 0 as {metric} severity info{}", self.when(None));
        weights.keys().map(|metric| CaseLine::new(self.plan.place, line(metric))).collect()
    }

    fn when(&self, condition: Option<&str>) -> String {
        let columns = match self.plan.columns.is_empty() {
            true => None,
            false => Some(format!("meta.column in [{}]", self.plan.columns.join(", "))),
        };
        let all: Vec<String> = columns.into_iter().chain(condition.map(str::to_owned)).collect();
        if all.is_empty() { String::new() } else { format!(" when {}", all.join(" and ")) }
    }

    fn push_assertion(
        &self,
        one: &LoweredAssertion,
        weight: f64,
        metric: Option<&str>,
        gated: bool,
        lines: &mut Vec<CaseLine>,
    ) {
        let mut modifiers = String::new();
        if weight != 1.0 {
            modifiers.push_str(&format!(" weight {}", plain_number(weight)));
        }
        if let Some(metric) = one.metric.as_deref().or(metric) {
            modifiers.push_str(&format!(" as {metric}"));
        }
        // An assertion of weight 0 is only a metric and cannot fail the case.
        if gated || one.weight == 0.0 {
            modifiers.push_str(" severity info");
        }
        // An assertion with its own score takes that score from its comparison.
        let text = match self.as_promptfoo && !one.is_recorded && one.score.is_none() {
            true => format!("{} == 1", self.pass_number(one)),
            false => one.truth.clone(),
        };
        lines.push(CaseLine::new(one.place, format!("{text}{modifiers}{}", self.when(None))));
        let may_end = one.may_end_test || one.guard.is_some();
        if self.as_promptfoo && may_end && (gated || one.weight == 0.0) {
            lines.push(self.ending_line(one));
        }
        if one.weight != 0.0 && one.is_computed {
            self.push_agreement(&format!("`{}`", one.kind), &one.truth, &one.recorded, one.place, lines);
        }
    }

    /// Returns a line that fails if the assertion cannot be judged, because promptfoo then ends the whole test with an error, whatever the weight.
    fn ending_line(&self, one: &LoweredAssertion) -> CaseLine {
        // A recorded verdict can always be judged; only its transform can fail.
        let judged = match one.may_end_test {
            true => format!("(if {} then 1 else 2)", one.truth),
            false => "1".to_owned(),
        };
        let text = match &one.guard {
            Some(guard) => format!("coalesce(if {guard} then {judged} else 0, 0) >= 1"),
            None => format!("coalesce({judged}, 0) >= 1"),
        };
        let message = quote_text(&format!("`{}` cannot be judged, which ends the test in promptfoo", one.kind));
        CaseLine::new(one.place, format!("{text} weight 0 message {message}{}", self.when(None)))
    }

    /// Adds a line that fails if promptfoo recorded another verdict.
    fn push_agreement(&self, what: &str, truth: &str, recorded: &str, place: Span, lines: &mut Vec<CaseLine>) {
        if self.mode != LoweringMode::Results || truth.starts_with("undecided(") {
            return;
        }
        let message = quote_text(&format!("promptfoo recorded another verdict of {what}"));
        let when = self.when(Some(&format!("{recorded} exists")));
        let same = format!("(if {truth} then 1 else 0) == (if {recorded} == true then 1 else 0)");
        lines.push(CaseLine::new(place, format!("{same} weight 0 severity info message {message}{when}")));
    }

    fn push_set(&self, set: &AssertionSet, gated: bool, lines: &mut Vec<CaseLine>) {
        let total: f64 = set.members.iter().map(|member| member.weight).sum();
        let share = if total > 0.0 { set.weight / total } else { 0.0 };
        let decides = set.threshold.filter(|_| !gated);
        for member in &set.members {
            let (weight, metric) = (member.weight * share, set.metric.as_deref());
            self.push_assertion(member, weight, metric, gated || decides.is_some(), lines);
        }
        if total <= 0.0 && set.weight > 0.0 {
            // promptfoo gives the set a mean of 0, which counts with the weight of the set.
            let message = quote_text("the assertions of this set all weigh 0, so the set scores 0");
            let text = format!("score(0) >= 0 weight {} severity info message {message}", plain_number(set.weight));
            lines.push(CaseLine::new(set.place, text));
        }
        if let Some(threshold) = decides.filter(|_| !set.members.is_empty()) {
            let gate = gate_text(&self.member_scores(set), threshold) + &self.gate_modifiers(threshold);
            lines.push(CaseLine::new(set.place, gate));
        }
    }

    fn gate_modifiers(&self, threshold: f64) -> String {
        let message = format!("the weighted mean of the assertions is below {}", plain_number(threshold));
        format!(" weight 0 message {}{}", quote_text(&message), self.when(None))
    }

    fn member_scores(&self, set: &AssertionSet) -> Vec<WeightedScore> {
        set.members.iter().map(|member| WeightedScore::new(member.weight, self.score_number(member))).collect()
    }

    fn entry_score(&self, entry: &TestEntry) -> WeightedScore {
        match entry {
            TestEntry::One(one) => WeightedScore::new(one.weight, self.score_number(one)),
            TestEntry::Set(set) => WeightedScore::new(set.weight, mean_text(&self.member_scores(set))),
        }
    }

    fn score_number(&self, one: &LoweredAssertion) -> String {
        one.score.clone().unwrap_or_else(|| self.pass_number(one))
    }

    /// Returns 1 or 0 as an expression. Under promptfoo's semantics, undecided counts as 0.
    fn pass_number(&self, one: &LoweredAssertion) -> String {
        match self.as_promptfoo {
            true => format!("coalesce(if {} then 1 else 0, 0)", one.truth),
            false => format!("(if {} then 1 else 0)", one.truth),
        }
    }
}

fn read_set(node: &YamlNode, vars: &TemplateVars, context: &mut KindContext<'_, '_>) -> Option<AssertionSet> {
    const KEYS: &[&str] = &["type", "assert", "threshold", "weight", "metric", "config", "description"];
    if context.mode == LoweringMode::Config && !context.lowering.sink.check_keys(node, "an assertion set", KEYS) {
        return None;
    }
    let items = context.lowering.sink.list_items(node, "assert", "an assertion set");
    if items.is_empty() {
        let help = "write assertions under `assert`, or remove the set";
        context.unusable(node.span, Slug::TypeMismatch, "the assertion set has no assertions", help);
        return None;
    }
    let mut members = Vec::new();
    for item in items {
        if item.get("type").and_then(YamlNode::as_text) == Some("assert-set") {
            let help = "write its assertions into the outer set";
            context.unusable(item.span, Slug::TypeMismatch, "an assertion set is inside another one", help);
            continue;
        }
        members.extend(lower_assertion(item, vars, context));
    }
    let number = |key: &str| node.get(key).and_then(number_of);
    Some(AssertionSet {
        place: node.span,
        threshold: number("threshold"),
        weight: number("weight").unwrap_or(1.0),
        metric: read_metric(node, vars, context),
        members,
    })
}

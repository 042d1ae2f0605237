//! Rules as policies of Dogwood: those that can deny a call before it is made. Every other one becomes a remark that says why not.

use super::export_condition::{Binder, cedar_condition, cedar_literal, field_path, field_test};
use averment_base::source::{FileId, SourceMap};
use averment_syntax::ast::{
    AtomSubject, ExprKind, ItemKind, NeverWindow, PatternArgument, PatternForm, Quantifier, RuleFile, Statement,
    StatementKind, StatusWord, StepPattern, SyntaxItem, TestKind, ValueTest, WithinBound,
};

/// Rules as policies.
#[derive(Debug, Default)]
pub struct ExportedPolicies {
    /// The text of the file.
    pub text: String,
    /// Rules that became policies.
    pub written: usize,
    /// Rules that cannot be enforced there.
    pub left: usize,
}

/// Why a rule is no policy.
pub(super) type Refusal = &'static str;

const RESULT: Refusal = "it asks what a call answered, which nobody knows before the call";
const DUTY: Refusal = "it is a duty: what has to come is owed at the end, and no single call breaks it";
const RUN: Refusal = "it is about the whole run, and not about a call that can be denied";
const PATTERN: Refusal = "its steps are not tool calls with plain names";
const BOUND: Refusal = "a bound in calls or turns has no counterpart there";
const BINDING: Refusal = "its values are bound in a way that has no counterpart there";

/// Writes the rules of a file as policies.
#[must_use]
pub fn export_dogwood(sources: &SourceMap, root: FileId, rules: &RuleFile, namespace: &str) -> ExportedPolicies {
    let text = sources.get(root).map(|file| file.text.to_string()).unwrap_or_default();
    let mut writer = ExportWriter { namespace, source: &text, out: ExportedPolicies::default(), rule: None };
    writer.out.text.push_str(HEADER);
    writer.out.text.push_str("permit (principal, action, resource);\n");
    writer.items(&rules.items);
    writer.out
}

const HEADER: &str = "\
// Written by `aver export dogwood`. Everything is permitted that no rule denies.
// A rule without a time looks back over 24 hours here. A call that is denied stays in the history as a request and an error.
// What opens the way to a call counts once it has answered; what closes it counts from its request on.

";

struct ExportWriter<'a> {
    namespace: &'a str,
    source: &'a str,
    out: ExportedPolicies,
    rule: Option<String>,
}

/// A pattern of one tool.
struct CallPattern<'a> {
    tool: &'a str,
    arguments: &'a [PatternArgument],
    status: Option<StatusWord>,
}

impl ExportWriter<'_> {
    fn items(&mut self, items: &[SyntaxItem]) {
        for item in items {
            match &item.kind {
                ItemKind::Rule(block) => {
                    let outer = self.rule.replace(block.name.text.clone());
                    self.items(&block.body);
                    self.rule = outer;
                }
                ItemKind::Suite { body, .. } | ItemKind::Case { body, .. } => self.items(body),
                ItemKind::Assertion(assertion) => self.assertion(&assertion.statement),
                ItemKind::Pre { .. } | ItemKind::Post { .. } | ItemKind::Invariant(_) | ItemKind::Use(_) => {
                    self.leave(item.span.start, item.span.end, RUN);
                }
                _ => {}
            }
        }
    }

    fn written(&self, start: u32, end: u32) -> String {
        let text = self.source.get(start as usize..end as usize).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn leave(&mut self, start: u32, end: u32, why: Refusal) {
        let text = self.written(start, end);
        self.out.text.push_str(&format!("\n// not enforced: {text}\n//   {why}\n"));
        self.out.left = self.out.left.saturating_add(1);
    }

    fn assertion(&mut self, statement: &Statement) {
        let (start, end) = (statement.span.start, statement.span.end);
        match self.policies(&statement.kind) {
            Err(why) => self.leave(start, end, why),
            Ok(policies) => {
                self.out.written = self.out.written.saturating_add(1);
                let text = self.written(start, end);
                let of_rule = self.rule.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
                self.out.text.push_str(&format!("\n// {text}{of_rule}\n"));
                policies.iter().for_each(|policy| self.out.text.push_str(policy));
            }
        }
    }

    fn policies(&self, kind: &StatementKind) -> Result<Vec<String>, Refusal> {
        match kind {
            StatementKind::Never { steps, window: None, .. } => {
                steps.iter().flat_map(alternatives).map(|one| self.forbid(&call_pattern(one)?, None)).collect()
            }
            StatementKind::Never { steps, window: Some(NeverWindow::After { open, until }), within } => {
                self.never_after(steps, open, until.as_ref(), within.as_ref())
            }
            StatementKind::Before { each: false, immediately, step, targets, within, .. } => {
                self.before(*immediately, step, targets, within.as_ref())
            }
            StatementKind::Count { step, test } => self.count(step, test, None),
            StatementKind::Only { steps } => self.only(steps),
            StatementKind::Each { quantifier: quantifier @ (Quantifier::Each | Quantifier::No), step, condition } => {
                let condition = cedar_condition(condition)?;
                let keyword = if *quantifier == Quantifier::Each { "unless" } else { "when" };
                let clause = format!("{keyword} {{ {condition} }}");
                alternatives(step).into_iter().map(|one| self.forbid(&call_pattern(one)?, Some(&clause))).collect()
            }
            StatementKind::Sliding { condition, over: averment_syntax::ast::SlidingExtent::Within(within) } => {
                match &condition.kind {
                    ExprKind::Test { subject, test } => match &subject.kind {
                        ExprKind::Counted { step, so_far: None } => self.count(step, test, Some(within)),
                        _ => self.sum(subject, test, Some(within)),
                    },
                    _ => Err(RUN),
                }
            }
            StatementKind::Expression(expr) => match &expr.kind {
                ExprKind::Test { subject, test } => self.sum(subject, test, None),
                _ => Err(RUN),
            },
            StatementKind::Require { .. }
            | StatementKind::After { .. }
            | StatementKind::Last { .. }
            | StatementKind::Sequence { .. }
            | StatementKind::Nested { .. }
            | StatementKind::Either { .. }
            | StatementKind::IfThen { .. }
            | StatementKind::Iff { .. } => Err(DUTY),
            StatementKind::Before { .. } => {
                Err("`each` asks for one call for each other one, which is not counted there")
            }
            StatementKind::Never { .. } => {
                Err("a window before or between calls closes with a call that is no offence")
            }
            _ => Err(RUN),
        }
    }

    fn action(&self, tool: &str) -> String {
        let tool = tool.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{}::Action::\"{tool}\"", self.namespace)
    }

    /// A `forbid` of the calls that match a pattern.
    fn forbid(&self, call: &CallPattern<'_>, clause: Option<&str>) -> Result<String, Refusal> {
        if call.status.is_some() {
            return Err(RESULT);
        }
        let mut tests = Vec::new();
        for argument in call.arguments {
            match argument {
                PatternArgument::Matches { value, .. } if matches!(value.kind, ExprKind::Binding(_)) => {}
                other => tests.push(field_test(other)?),
            }
        }
        let when = if tests.is_empty() { String::new() } else { format!("\nwhen {{ {} }}", tests.join(" && ")) };
        let clause = clause.map(|clause| format!("\n{clause}")).unwrap_or_default();
        Ok(format!("forbid (principal, action == {}, resource){when}{clause};\n", self.action(call.tool)))
    }

    /// An event that matches a pattern; names that `target` binds have the value of the request.
    fn event(&self, call: &CallPattern<'_>, kind: &str, target: &CallPattern<'_>) -> Result<String, Refusal> {
        let kind = match call.status {
            Some(StatusWord::Ok) => "response",
            Some(StatusWord::Failed) => "error",
            None => kind,
        };
        let mut fields = Vec::new();
        for argument in call.arguments {
            let PatternArgument::Matches { path, value, .. } = argument else { return Err(BINDING) };
            let path = field_path(path)?;
            if path.starts_with("output") && kind != "response" {
                return Err(RESULT);
            }
            let value = match Binder::of(value) {
                Some(name) => bound_path(name, target)?,
                None => cedar_literal(value)?,
            };
            fields.push(format!("{path}: {value}"));
        }
        let inside = if fields.is_empty() { String::new() } else { format!(" {} ", fields.join(", ")) };
        Ok(format!("{}::{kind}{{{inside}}}", self.action(call.tool)))
    }

    fn before(
        &self,
        immediately: bool,
        step: &StepPattern,
        targets: &[StepPattern],
        within: Option<&WithinBound>,
    ) -> Result<Vec<String>, Refusal> {
        let time = look_back(within)?;
        let word = if immediately { "previous" } else { "formerly" };
        let mut policies = Vec::new();
        for target in targets.iter().flat_map(alternatives) {
            let target = call_pattern(target)?;
            let mut ways = Vec::new();
            for one in alternatives(step) {
                let event = self.event(&call_pattern(one)?, "response", &target)?;
                ways.push(format!("temporal {{ {word} within {time} {event} }}"));
            }
            let clause = match ways.as_slice() {
                [one] => format!("unless {one}"),
                several => format!("unless {{ {} }}", several.join(" || ")),
            };
            policies.push(self.forbid(&target, Some(&clause))?);
        }
        Ok(policies)
    }

    fn never_after(
        &self,
        steps: &[StepPattern],
        open: &StepPattern,
        until: Option<&StepPattern>,
        within: Option<&WithinBound>,
    ) -> Result<Vec<String>, Refusal> {
        let time = look_back(within)?;
        let mut policies = Vec::new();
        for step in steps.iter().flat_map(alternatives) {
            let target = call_pattern(step)?;
            for open in alternatives(open) {
                let open = call_pattern(open)?;
                if open.tool == target.tool {
                    return Err(
                        "the call that opens the window and the one that breaks it are of one tool, and there a request is in its own past",
                    );
                }
                let event = self.event(&open, "request", &target)?;
                let clause = match until.map(alternatives) {
                    None => format!("when temporal {{ formerly within {time} {event} }}"),
                    Some(ends) => match ends.as_slice() {
                        [end] => {
                            let end = self.event(&call_pattern(end)?, "response", &target)?;
                            format!("when temporal {{ !{end} since within {time} {event} }}")
                        }
                        _ => return Err(PATTERN),
                    },
                };
                policies.push(self.forbid(&target, Some(&clause))?);
            }
        }
        Ok(policies)
    }

    fn count(
        &self,
        step: &StepPattern,
        test: &ValueTest,
        within: Option<&WithinBound>,
    ) -> Result<Vec<String>, Refusal> {
        let limit = upper_limit(test)?;
        let time = look_back(within)?;
        let [one] = alternatives(step)[..] else { return Err("it counts several tools together") };
        let call = call_pattern(one)?;
        let event = self.event(&call, "request", &call)?;
        let clause = format!(
            "when temporal {{ (count for (t: Timepoint). where (formerly within {time} ({event} && tp(t)))) > {limit} }}"
        );
        Ok(vec![self.forbid(&call, Some(&clause))?])
    }

    fn sum(
        &self,
        subject: &averment_syntax::ast::Expr,
        test: &ValueTest,
        within: Option<&WithinBound>,
    ) -> Result<Vec<String>, Refusal> {
        let ExprKind::Call { name, arguments, .. } = &subject.kind else { return Err(RUN) };
        let [argument] = arguments.as_slice() else { return Err(RUN) };
        let ExprKind::Of { value, target, so_far: None } = &argument.kind else { return Err(RUN) };
        let (true, Some(step)) = (name.text == "sum", target.step.as_ref()) else { return Err(RUN) };
        let (limit, time) = (upper_limit(test)?, look_back(within)?);
        let [one] = alternatives(step)[..] else { return Err("it sums up several tools together") };
        let call = call_pattern(one)?;
        let field = field_path(value)?;
        if !field.starts_with("input.") {
            return Err(RESULT);
        }
        let event = self.event(&call, "request", &call)?;
        let event = match event.strip_suffix("{}") {
            Some(front) => format!("{front}{{ {field}: a }}"),
            None => event.strip_suffix(" }").map(|front| format!("{front}, {field}: a }}")).ok_or(BINDING)?,
        };
        let clause = format!(
            "when temporal {{ (sum a for (a: Long), (t: Timepoint). where (formerly within {time} ({event} && tp(t)))) > {limit} }}"
        );
        Ok(vec![self.forbid(&call, Some(&clause))?])
    }

    fn only(&self, steps: &[StepPattern]) -> Result<Vec<String>, Refusal> {
        let mut actions = Vec::new();
        for step in steps.iter().flat_map(alternatives) {
            let call = call_pattern(step)?;
            if !call.arguments.is_empty() || call.status.is_some() {
                return Err("a choice of calls by their arguments is no choice of actions");
            }
            actions.push(format!("action == {}", self.action(call.tool)));
        }
        Ok(vec![format!("forbid (principal, action, resource)\nunless {{ {} }};\n", actions.join(" || "))])
    }
}

/// The patterns of a choice.
fn alternatives(step: &StepPattern) -> Vec<&StepPattern> {
    match &step.kind {
        PatternForm::Choice(all) => all.iter().flat_map(alternatives).collect(),
        _ => vec![step],
    }
}

fn call_pattern(step: &StepPattern) -> Result<CallPattern<'_>, Refusal> {
    let PatternForm::Atom(atom) = &step.kind else { return Err(PATTERN) };
    let (name, quoted) = match &atom.subject {
        AtomSubject::Tool(name) => (name, false),
        AtomSubject::QuotedTool(name) => (name, true),
        _ => return Err(PATTERN),
    };
    let is_glob = !quoted && (name.text.contains(['*', '?']) || name.text == "any");
    if is_glob || atom.proposed || atom.by.is_some() || atom.tagged.is_some() {
        return Err(PATTERN);
    }
    Ok(CallPattern { tool: &name.text, arguments: atom.arguments.as_deref().unwrap_or_default(), status: atom.status })
}

/// Where the request has the value that a name is bound to.
fn bound_path(name: &str, target: &CallPattern<'_>) -> Result<String, Refusal> {
    let found = target.arguments.iter().find_map(|argument| match argument {
        PatternArgument::Matches { path, value, .. } if Binder::of(value) == Some(name) => Some(path),
        _ => None,
    });
    let path = field_path(found.ok_or(BINDING)?)?;
    if path.starts_with("input.") { Ok(format!("context.{path}")) } else { Err(RESULT) }
}

/// `<= 3` and `< 4`: the greatest number that is allowed.
fn upper_limit(test: &ValueTest) -> Result<i64, Refusal> {
    let less = match (test.kind, test.negated) {
        (TestKind::LessOrEqual, false) => 0,
        (TestKind::Less, false) => 1,
        _ => return Err(DUTY),
    };
    match test.operand.as_ref().map(|operand| &operand.kind) {
        Some(ExprKind::Number(number)) => {
            let number: i64 = number.value.parse().map_err(|_| "its bound is no whole number")?;
            number.checked_sub(less).ok_or("its bound is no whole number")
        }
        _ => Err("its bound is no number that is written there"),
    }
}

/// How far back a rule looks, as `1h`.
fn look_back(within: Option<&WithinBound>) -> Result<String, Refusal> {
    let Some(within) = within else { return Ok("24h".to_owned()) };
    if within.unit.is_some() {
        return Err(BOUND);
    }
    let time: u64 = within.number.value.parse().map_err(|_| "times there are whole seconds")?;
    let day = 86_400_000;
    match time {
        0 => Err("times there are whole seconds"),
        time if time > day => Err("there nothing looks back further than 24 hours"),
        time if time % 3_600_000 == 0 => Ok(format!("{}h", time / 3_600_000)),
        time if time % 60_000 == 0 => Ok(format!("{}m", time / 60_000)),
        time if time % 1_000 == 0 => Ok(format!("{}s", time / 1_000)),
        _ => Err("times there are whole seconds"),
    }
}

//! Exports rules as Dogwood policies: the rules that can deny a call before it is made. Any other rule becomes a comment with the reason.

use super::export_bounds::{alternatives, differences, look_back, upper_limit};
use super::export_condition::{Binder, PathStart, cedar_condition, cedar_literal, field_path, field_test};
use super::export_modifiers::ModifierScope;
use super::export_names::DeclaredNames;
use super::export_reasons::{BINDING, BLOCK, CASE, DUTY, GROUP, ORDER, OWN_PAST, PATTERN, RESULT, RUN, Refusal};
use averment_base::source::{FileId, SourceMap};
use averment_syntax::ast::{
    Assertion, AtomSubject, Expr, ExprKind, ItemKind, NeverWindow, PatternArgument, PatternForm, Quantifier, RuleFile,
    StatementKind, StatusWord, StepPattern, SyntaxItem, ValueTest, WithinBound,
};

/// The result of exporting a rule file as policies.
#[derive(Debug, Default)]
pub struct ExportedPolicies {
    /// The text of the file.
    pub text: String,
    /// Number of rules that became policies.
    pub written: usize,
    /// Number of rules that Dogwood cannot enforce.
    pub left: usize,
}

/// Writes the rules of a file as policies.
#[must_use]
pub fn export_dogwood(sources: &SourceMap, root: FileId, rules: &RuleFile, namespace: &str) -> ExportedPolicies {
    let text = sources.get(root).map(|file| file.text.to_string()).unwrap_or_default();
    let mut writer = ExportWriter {
        namespace,
        source: &text,
        out: ExportedPolicies::default(),
        rule: None,
        names: DeclaredNames::of_sources(sources),
    };
    writer.out.text.push_str(HEADER);
    writer.out.text.push_str("permit (principal, action, resource);\n");
    writer.items(&rules.items, ModifierScope::default());
    writer.out
}

const HEADER: &str = "\
// Written by `aver export dogwood`. Everything is permitted that no rule denies.
// A rule without a time looks back over 24 hours here. A call that is denied stays in the history as a request and an error.
// What opens the way to a call counts once it has answered without an error; what closes it counts from its request on.

";

struct ExportWriter<'a> {
    namespace: &'a str,
    source: &'a str,
    out: ExportedPolicies,
    rule: Option<String>,
    names: DeclaredNames,
}

/// A pattern for calls of one tool.
struct CallPattern<'a> {
    tool: &'a str,
    arguments: &'a [PatternArgument],
    status: Option<StatusWord>,
}

impl ExportWriter<'_> {
    fn items(&mut self, items: &[SyntaxItem], scope: ModifierScope) {
        for item in items {
            match &item.kind {
                ItemKind::Rule(block) => {
                    let outer = self.rule.replace(block.name.text.clone());
                    self.items(&block.body, scope.of_body(&block.modifiers, &block.body));
                    self.rule = outer;
                }
                ItemKind::Suite { body, modifiers, .. } => self.items(body, scope.of_body(modifiers, body)),
                ItemKind::Case { body, .. } => self.items(body, scope.refused(CASE)),
                ItemKind::Assertion(assertion) => self.assertion(assertion, scope),
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

    fn assertion(&mut self, assertion: &Assertion, scope: ModifierScope) {
        let (start, end) = (assertion.span.start, assertion.span.end);
        let kind = &assertion.statement.kind;
        let policies = match scope.refusal_of(&assertion.modifiers) {
            Some(why) => Err(why),
            None => self.policies(kind),
        };
        match policies {
            Err(why) => self.leave(start, end, why),
            Ok(policies) => {
                self.out.written = self.out.written.saturating_add(1);
                let text = self.written(start, end);
                let of_rule = self.rule.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
                self.out.text.push_str(&format!("\n// {text}{of_rule}\n"));
                differences(kind).iter().for_each(|note| self.out.text.push_str(&format!("//   there {note}\n")));
                policies.iter().for_each(|policy| self.out.text.push_str(policy));
            }
        }
    }

    fn policies(&self, kind: &StatementKind) -> Result<Vec<String>, Refusal> {
        match kind {
            StatementKind::Never { steps, window: None, .. } => {
                steps.iter().flat_map(alternatives).map(|one| self.forbid(&self.call_pattern(one)?, None)).collect()
            }
            StatementKind::Never { steps, window: Some(NeverWindow::After { open, until }), within } => {
                self.never_after(steps, open, until.as_ref(), within.as_ref())
            }
            StatementKind::Before { each: false, .. } => self.before(kind),
            StatementKind::Count { step, test } => self.count(step, test, None),
            StatementKind::Only { steps } => self.only(steps),
            StatementKind::Each { quantifier: quantifier @ (Quantifier::Each | Quantifier::No), step, condition } => {
                let condition = cedar_condition(condition, PathStart::Fields)?;
                let keyword = if *quantifier == Quantifier::Each { "unless" } else { "when" };
                let clause = format!("{keyword} {{ {condition} }}");
                alternatives(step).into_iter().map(|one| self.forbid(&self.call_pattern(one)?, Some(&clause))).collect()
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
            StatementKind::Block { .. } => Err(BLOCK),
            StatementKind::Group { .. } | StatementKind::Not(_) => Err(GROUP),
            StatementKind::First { .. }
            | StatementKind::Together { .. }
            | StatementKind::Apart { .. }
            | StatementKind::NotBoth { .. }
            | StatementKind::Repeat { .. }
            | StatementKind::Flow { .. }
            | StatementKind::Each { .. } => Err(ORDER),
            StatementKind::Sliding { .. }
            | StatementKind::NoPredicate { .. }
            | StatementKind::ArgsValid { .. }
            | StatementKind::CallsMatch { .. }
            | StatementKind::World(_)
            | StatementKind::Rate { .. } => Err(RUN),
        }
    }

    fn action(&self, tool: &str) -> String {
        let tool = tool.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{}::Action::\"{tool}\"", self.namespace)
    }

    /// Writes a `forbid` for the calls that match a pattern.
    fn forbid(&self, call: &CallPattern<'_>, clause: Option<&str>) -> Result<String, Refusal> {
        if call.status.is_some() {
            return Err(RESULT);
        }
        let (mut tests, mut bound) = (Vec::new(), Vec::new());
        for argument in call.arguments {
            match argument {
                PatternArgument::Matches { value, path, .. } if Binder::of(value).is_some() => {
                    let name = Binder::of(value);
                    if bound.contains(&name) || field_path(path, PathStart::Arguments)?.starts_with("output") {
                        return Err(BINDING);
                    }
                    bound.push(name);
                }
                other => tests.push(field_test(other)?),
            }
        }
        let when = if tests.is_empty() { String::new() } else { format!("\nwhen {{ {} }}", tests.join(" && ")) };
        let clause = clause.map(|clause| format!("\n{clause}")).unwrap_or_default();
        Ok(format!("forbid (principal, action == {}, resource){when}{clause};\n", self.action(call.tool)))
    }

    /// Writes an event that matches a pattern; names that `target` binds take the value of the request.
    fn event(&self, call: &CallPattern<'_>, kind: &str, target: &CallPattern<'_>) -> Result<String, Refusal> {
        if call.status.is_some() && self.names.decides_failures(call.tool) {
            return Err("the file says which calls of the tool failed, which has no counterpart there");
        }
        let kind = match call.status {
            Some(StatusWord::Ok) => "response",
            Some(StatusWord::Failed) => "error",
            None => kind,
        };
        let mut fields = Vec::new();
        for argument in call.arguments {
            let PatternArgument::Matches { path, value, .. } = argument else { return Err(BINDING) };
            let path = field_path(path, PathStart::Arguments)?;
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

    fn before(&self, kind: &StatementKind) -> Result<Vec<String>, Refusal> {
        let StatementKind::Before { immediately, starts, step, targets, within, .. } = kind else { return Err(RUN) };
        let time = look_back(within.as_ref())?;
        let word = if *immediately { "previous" } else { "formerly" };
        let event_kind = if *starts { "request" } else { "response" };
        let mut policies = Vec::new();
        for target in targets.iter().flat_map(alternatives) {
            let target = self.call_pattern(target)?;
            let mut ways = Vec::new();
            for one in alternatives(step) {
                let opening = self.call_pattern(one)?;
                if *starts && opening.status.is_some() {
                    return Err(RESULT);
                }
                if *starts && opening.tool == target.tool {
                    return Err(OWN_PAST);
                }
                let event = self.event(&opening, event_kind, &target)?;
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
            let target = self.call_pattern(step)?;
            for open in alternatives(open) {
                let open = self.call_pattern(open)?;
                if open.tool == target.tool {
                    return Err(OWN_PAST);
                }
                let event = self.event(&open, "request", &target)?;
                let clause = match until.map(alternatives) {
                    None => format!("when temporal {{ formerly within {time} {event} }}"),
                    Some(ends) => match ends.as_slice() {
                        [end] => {
                            let end = self.event(&self.call_pattern(end)?, "response", &target)?;
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
        let call = self.call_pattern(one)?;
        let event = self.event(&call, "request", &call)?;
        let clause = format!(
            "when temporal {{ (count for (t: Timepoint). where (formerly within {time} ({event} && tp(t)))) > {limit} }}"
        );
        Ok(vec![self.forbid(&call, Some(&clause))?])
    }

    fn sum(&self, subject: &Expr, test: &ValueTest, within: Option<&WithinBound>) -> Result<Vec<String>, Refusal> {
        let ExprKind::Call { name, arguments, .. } = &subject.kind else { return Err(RUN) };
        let [argument] = arguments.as_slice() else { return Err(RUN) };
        let ExprKind::Of { value, target, so_far: None } = &argument.kind else { return Err(RUN) };
        let (true, Some(step)) = (name.text == "sum", target.step.as_ref()) else { return Err(RUN) };
        let (limit, time) = (upper_limit(test)?, look_back(within)?);
        let [one] = alternatives(step)[..] else { return Err("it sums up several tools together") };
        let call = self.call_pattern(one)?;
        let field = field_path(value, PathStart::Fields)?;
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
            let call = self.call_pattern(step)?;
            if !call.arguments.is_empty() || call.status.is_some() {
                return Err("a choice of calls by their arguments is no choice of actions");
            }
            actions.push(format!("action == {}", self.action(call.tool)));
        }
        Ok(vec![format!("forbid (principal, action, resource)\nunless {{ {} }};\n", actions.join(" || "))])
    }

    fn call_pattern<'s>(&self, step: &'s StepPattern) -> Result<CallPattern<'s>, Refusal> {
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
        match self.names.refusal_of(&name.text, quoted) {
            Some(why) => Err(why),
            None => {
                let arguments = atom.arguments.as_deref().unwrap_or_default();
                Ok(CallPattern { tool: &name.text, arguments, status: atom.status })
            }
        }
    }
}

/// Returns the path in the request of the value that a name is bound to.
fn bound_path(name: &str, target: &CallPattern<'_>) -> Result<String, Refusal> {
    let found = target.arguments.iter().find_map(|argument| match argument {
        PatternArgument::Matches { path, value, .. } if Binder::of(value) == Some(name) => Some(path),
        _ => None,
    });
    let path = field_path(found.ok_or(BINDING)?, PathStart::Arguments)?;
    if path.starts_with("input.") { Ok(format!("context.{path}")) } else { Err(RESULT) }
}

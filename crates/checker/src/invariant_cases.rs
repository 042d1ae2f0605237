//! Tests inside invariants: `test "…" expect fail { response: … }` becomes a run in which the tool was called and answered that.

use super::Checker;
use super::fold;
use super::scope::NameScope;
use crate::ir::Constant;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, CallInput, ExprKind, GeneratedInputs, GeneratedKind, ItemKind, TestRun};

const OF_THE_CALL: [&str; 5] = ["response", "error", "status", "duration", "args"];

type AnsweredCall<'c> = (&'c ast::InvariantCall, Option<Constant>);

impl<'a> Checker<'a> {
    pub(super) fn tests_of_invariant(&mut self, rule: &'a ast::RuleBlock) {
        let own = self.rule_number(&rule.name.text);
        self.invariant_tests(&rule.body, own);
    }

    fn invariant_tests(&mut self, body: &'a [ast::SyntaxItem], own: Option<u32>) {
        let mut calls: Vec<&'a ast::InvariantCall> = Vec::new();
        for item in body {
            match &item.kind {
                ItemKind::Call(call) => calls.push(call),
                ItemKind::ForEachTool { body, .. } => self.invariant_tests(body, own),
                ItemKind::Test(test) => {
                    let run = match &test.run {
                        TestRun::Inline(expr) => self.invariant_run(expr, &calls).map(|run| (run, None)),
                        TestRun::File(path) => self.recorded_run(path),
                    };
                    self.add_test(test, own, run, item.span);
                }
                _ => {}
            }
        }
    }

    /// The run of a test: as written if it lists calls, otherwise built from the calls above it.
    fn invariant_run(&mut self, expr: &'a ast::Expr, calls: &[&'a ast::InvariantCall]) -> Option<String> {
        let entries = self.constant_entries(expr)?;
        if entries.iter().any(|(name, _)| name == "calls") {
            return Some(fold::json_text(&Constant::Object(entries)));
        }
        let aliases: Vec<&str> = calls.iter().filter_map(|call| Some(call.alias.as_ref()?.text.as_str())).collect();
        let known: Vec<&str> = OF_THE_CALL.into_iter().chain(aliases.iter().copied()).collect();
        self.check_run_keys(expr, &known);
        let last = calls.len().checked_sub(1)?;
        let mut answered: Vec<AnsweredCall<'_>> = Vec::new();
        let mut made = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let alias = call.alias.as_ref().map(|alias| alias.text.as_str());
            let given =
                alias.and_then(|alias| entries.iter().find(|(name, _)| name == alias)).map(|(_, value)| value.clone());
            let is_last = index == last;
            let response =
                entries.iter().find(|(name, _)| is_last && name == "response").map(|(_, value)| value.clone());
            let answer = response.or(given);
            if is_last || answer.is_some() {
                let own: &[(String, Constant)] = if is_last { &entries } else { &[] };
                made.push(self.build_call(call, answer.clone(), &answered, own, expr.span)?);
            }
            answered.push((call, answer));
        }
        let rest = entries.iter().filter(|(name, _)| !known.contains(&name.as_str())).cloned();
        let run = std::iter::once(("calls".to_owned(), Constant::List(made))).chain(rest).collect();
        Some(fold::json_text(&Constant::Object(run)))
    }

    fn build_call(
        &mut self,
        call: &'a ast::InvariantCall,
        answer: Option<Constant>,
        earlier: &[AnsweredCall<'_>],
        entries: &[(String, Constant)],
        test: Span,
    ) -> Option<Constant> {
        let given = |name: &str| entries.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let arguments = match given("args") {
            Some(arguments) => arguments,
            None => self.build_arguments(call, earlier, test)?,
        };
        let tool = self.call_tool(call);
        let failed = given("error").is_some();
        let status = given("status").unwrap_or_else(|| Constant::Text(if failed { "failed" } else { "ok" }.to_owned()));
        let mut made = vec![
            ("tool".to_owned(), Constant::Text(tool)),
            ("args".to_owned(), arguments),
            ("status".to_owned(), status),
        ];
        made.extend(answer.map(|answer| ("result".to_owned(), answer)));
        made.extend(["error", "duration"].into_iter().filter_map(|name| Some((name.to_owned(), given(name)?))));
        Some(Constant::Object(made))
    }

    fn call_tool(&self, call: &ast::InvariantCall) -> String {
        let first = || self.module.tools.first().map_or("tool", |tool| &tool.name).to_owned();
        match &call.tool_text {
            None if call.tool.text == "tool" => first(),
            None => call.tool.text.clone(),
            Some(_) => self.default_tool(call).unwrap_or_else(|| call.tool.text.clone()),
        }
    }

    fn build_arguments(
        &mut self,
        call: &'a ast::InvariantCall,
        earlier: &[AnsweredCall<'_>],
        test: Span,
    ) -> Option<Constant> {
        match &call.input {
            CallInput::Generate { inputs, .. } => {
                let arguments = match inputs {
                    GeneratedInputs::Arguments(arguments) => arguments.as_slice(),
                    GeneratedInputs::Schema(_) => &[],
                };
                let made = arguments.iter().map(|one| (one.name.text.clone(), example_value(&one.value)));
                Some(Constant::Object(made.collect()))
            }
            CallInput::Object(ast::Expr { kind: ExprKind::Object(entries), .. }) => {
                let mut all = Vec::new();
                for (name, value) in entries {
                    let is_tool =
                        matches!(&value.kind, ExprKind::Name(name) if name == "tool") && call.tool.text == "tool";
                    let made = match is_tool {
                        true => Constant::Text(self.call_tool(call)),
                        false => self.build_argument(value, earlier, test)?,
                    };
                    all.push((name.text.clone(), made));
                }
                Some(Constant::Object(all))
            }
            CallInput::Object(_) => Some(Constant::Object(Vec::new())),
        }
    }

    fn build_argument(&mut self, value: &'a ast::Expr, earlier: &[AnsweredCall<'_>], test: Span) -> Option<Constant> {
        if let Some((alias, path)) = response_path(value) {
            let found =
                earlier.iter().rev().find(|(call, _)| call.alias.as_ref().is_some_and(|name| name.text == alias));
            // An unknown name was reported where it stands.
            let (_, answer) = found?;
            let Some(answer) = answer else {
                self.report_diagnostic(
                    Diagnostic::new(Slug::Misplaced, test, format!("the test does not say what `{alias}` answered"))
                        .with_help(format!("add `{alias}: {{ … }}` to the test")),
                );
                return None;
            };
            let found = path.iter().try_fold(answer, |value, name| fold::object_entry(value, name));
            return Some(found.cloned().unwrap_or(Constant::Null));
        }
        let lowered = self.top_expr(&NameScope::of_file(0), value);
        Some(self.value_in_test(&lowered.expr).unwrap_or(Constant::Null))
    }
}

/// Splits `made.response.a.b` into the call's name and the path.
fn response_path(expr: &ast::Expr) -> Option<(&str, Vec<&str>)> {
    let ExprKind::Field { base, name } = &expr.kind else { return None };
    if let ExprKind::Name(alias) = &base.kind {
        return (name.text == "response").then_some((alias.as_str(), Vec::new()));
    }
    let (alias, mut path) = response_path(base)?;
    path.push(&name.text);
    Some((alias, path))
}

/// The smallest value that the generator can produce.
fn example_value(kind: &GeneratedKind) -> Constant {
    let least = match kind.bounds.as_ref().map(|bounds| &bounds.kind) {
        Some(ExprKind::Range { start: Some(start), .. }) => number_of(start),
        _ => None,
    };
    let number = least.unwrap_or("0");
    match kind.ty.text.as_str() {
        "string" => {
            let length = number.parse::<usize>().unwrap_or(1).clamp(0, 1_000);
            Constant::Text("a".repeat(length))
        }
        "boolean" => Constant::Boolean(true),
        "list" => Constant::List(Vec::new()),
        _ => Constant::Number(number.to_owned()),
    }
}

fn number_of(expr: &ast::Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Number(number) => Some(&number.value),
        ExprKind::Group(inner) => number_of(inner),
        _ => None,
    }
}

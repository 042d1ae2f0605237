//! `test` blocks: the rules they name, and the run they bring.

use super::Checker;
use super::fold;
use super::scope::NameScope;
use crate::ir::{self, Constant, RuleRole};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;
use averment_syntax::ast::{self, ExprKind, ItemKind, TestRun};

impl<'a> Checker<'a> {
    pub(super) fn check_tests(&mut self) {
        let loaded = self.loaded;
        let Some(root) = loaded.first() else { return };
        self.tests_in(&root.ast.items);
    }

    fn tests_in(&mut self, items: &'a [ast::SyntaxItem]) {
        for item in items {
            match &item.kind {
                ItemKind::Test(test) => self.test_block(test, None, item.span),
                ItemKind::Rule(rule) => self.tests_of(&rule.name, &rule.body),
                ItemKind::Case { name, body, .. } => self.tests_of(name, body),
                ItemKind::Suite { body, .. } => self.tests_in(body),
                ItemKind::Invariant(rule) => self.tests_of_invariant(rule),
                _ => {}
            }
        }
    }

    /// A test inside a rule covers that rule unless it names others.
    fn tests_of(&mut self, name: &ast::Name, body: &'a [ast::SyntaxItem]) {
        // Most rules have none: the number is looked for where there is one.
        let mut own = None;
        for item in body {
            if let ItemKind::Test(test) = &item.kind {
                let own = *own.get_or_insert_with(|| self.rule_number(&name.text));
                self.test_block(test, own, item.span);
            }
        }
    }

    fn test_block(&mut self, test: &'a ast::TestItem, own: Option<u32>, span: Span) {
        let run = match &test.run {
            TestRun::Inline(expr) => self.inline_run(expr).map(|run| (run, None)),
            TestRun::File(path) => self.recorded_run(path),
        };
        self.add_test(test, own, run, span);
    }

    /// An invalid run was already reported.
    pub(super) fn add_test(
        &mut self,
        test: &'a ast::TestItem,
        own: Option<u32>,
        run: Option<(String, Option<String>)>,
        span: Span,
    ) {
        let mut rules: Vec<u32> = test.rules.iter().filter_map(|name| self.tested_rule(name)).collect();
        if test.rules.is_empty() {
            rules.extend(own);
        }
        let Some(expect) = Verdict::parse(&test.expect.text) else { return };
        let Some((run, run_file)) = run else { return };
        let span = Span { end: test.name.span.end, ..span };
        self.module.tests.push(ir::RuleTest { name: test.name.text.clone(), expect, rules, run, run_file, span });
    }

    pub(super) fn rule_number(&self, id: &str) -> Option<u32> {
        self.module.rules.iter().position(|rule| rule.id == id).map(super::to_number)
    }

    pub(super) fn tested_rule(&mut self, name: &ast::Name) -> Option<u32> {
        if let Some(number) = self.rule_number(&name.text) {
            let declared = self.module.rules.get(number as usize).map(|rule| rule.span);
            if let Some(declared) = declared {
                self.symbols.add_reference(name.span, declared);
            }
            return Some(number);
        }
        if self.is_unread_rule(&name.text) {
            return None;
        }
        let ids: Vec<&str> = self
            .module
            .rules
            .iter()
            .filter(|rule| !matches!(rule.role, RuleRole::Pre | RuleRole::Post))
            .map(|rule| rule.id.as_str())
            .collect();
        let near = suggest::suggest_name(&name.text, ids.iter().copied()).map(str::to_owned);
        let is_assertion = self.module.assertions.iter().any(|assertion| assertion.id == name.text);
        let listed = ids.join(", ");
        let mut diagnostic = Diagnostic::new(Slug::UnknownRule, name.span, format!("unknown rule `{}`", name.text));
        diagnostic = match near {
            _ if is_assertion => diagnostic.with_help("a test names rules: put the assertion into `rule NAME { … }`"),
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                name.span,
                near,
            ),
            None if ids.is_empty() => diagnostic.with_help("there are no rules: write `rule NAME { … }`"),
            None => diagnostic.with_help(format!("the rules are {listed}")),
        };
        self.report_diagnostic(diagnostic);
        None
    }

    fn is_unread_rule(&self, name: &str) -> bool {
        let Some(root) = self.loaded.first().filter(|root| root.broken) else { return false };
        let Some(source) = self.map.get(root.id) else { return false };
        source.text.lines().any(|line| {
            let mut words = line.split(|letter: char| letter.is_whitespace() || letter == '{');
            matches!(words.find(|word| !word.is_empty()), Some("rule" | "case" | "invariant"))
                && words.any(|word| word == name)
        })
    }

    fn inline_run(&mut self, expr: &'a ast::Expr) -> Option<String> {
        let entries = self.constant_entries(expr)?;
        let keys: Vec<&str> = of_run::ALL.into_iter().chain(StepKind::ALL.map(StepKind::list_key)).collect();
        self.check_run_keys(expr, &keys);
        Some(fold::json_text(&Constant::Object(entries)))
    }

    /// Entries of an object that do not depend on a run; others are reported.
    pub(super) fn constant_entries(&mut self, expr: &'a ast::Expr) -> Option<Vec<(String, Constant)>> {
        let ExprKind::Object(entries) = &expr.kind else { return None };
        let mut all: Vec<(String, Constant)> = Vec::new();
        let mut good = true;
        for (name, value) in entries {
            let lowered = self.top_expr(&NameScope::of_file(0), value);
            match self.constant_value(&lowered.expr) {
                Some(_) if all.iter().any(|(known, _)| *known == name.text) => self.report_key_twice(name),
                Some(constant) => all.push((name.text.clone(), constant)),
                None => {
                    good = false;
                    if !lowered.is_broken() {
                        self.report_diagnostic(
                            Diagnostic::new(
                                Slug::TypeMismatch,
                                value.span,
                                "the run of a test holds only literals and constant `let`s",
                            )
                            .with_help("write the value itself"),
                        );
                    }
                }
            }
        }
        good.then_some(all)
    }

    /// Reports near misses of run entries; other names are the author's own.
    pub(super) fn check_run_keys(&mut self, expr: &ast::Expr, known: &[&str]) {
        let ExprKind::Object(entries) = &expr.kind else { return };
        for (name, value) in entries {
            self.check_run_key("a run", name, known);
            let ExprKind::List(calls) = &value.kind else { continue };
            if name.text != "calls" {
                continue;
            }
            for call in calls {
                let ExprKind::Object(entries) = &call.kind else { continue };
                for (name, _) in entries {
                    self.check_run_key("a call", name, StepKind::Call.field_names());
                }
            }
        }
    }

    fn check_run_key(&mut self, what: &str, name: &ast::Name, known: &[&str]) {
        if known.contains(&name.text.as_str()) {
            return;
        }
        let near = suggest::suggest_name(&name.text, known.iter().copied());
        if let Some(near) = near.filter(|near| strsim::osa_distance(&name.text, near) <= 2) {
            self.report_diagnostic(
                Diagnostic::new(Slug::UnknownField, name.span, format!("{what} has no entry `{}`", name.text))
                    .with_help(format!("did you mean `{near}`?"))
                    .with_fix(format!("replace with `{near}`"), name.span, near),
            );
        }
    }

    pub(super) fn recorded_run(&mut self, path: &ast::Name) -> Option<(String, Option<String>)> {
        let data = self.read_named(0, path)?;
        self.parse_json(&data, &path.text, path.span)?;
        let name = self.map.get(data.id).map(|file| file.name.clone());
        Some((data.text.to_string(), name))
    }
}

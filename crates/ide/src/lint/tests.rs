//! Lints for rules without tests, and tests without meaning.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_syntax::ast::{Expr, ExprKind, ItemKind, Name, SyntaxItem, TestItem, TestRun};

/// Runs all lints on the tests of a file.
pub fn tests(context: &mut LintContext<'_>) {
    let items = &context.checked.ast.items;
    let tests: Vec<&TestItem> = items.iter().filter_map(test).collect();
    if tests.is_empty() {
        return;
    }
    for (index, one) in tests.iter().enumerate() {
        nothing(context, one);
        twice(context, one, tests.get(..index).unwrap_or(&[]));
    }
    for rule in items.iter().filter_map(rule) {
        coverage(context, rule, &tests);
    }
}

fn test(item: &SyntaxItem) -> Option<&TestItem> {
    match &item.kind {
        ItemKind::Test(test) => Some(test),
        _ => None,
    }
}

fn rule(item: &SyntaxItem) -> Option<&Name> {
    match &item.kind {
        ItemKind::Rule(rule) => Some(&rule.name),
        _ => None,
    }
}

/// Reports a test on a run that records nothing.
fn nothing(context: &mut LintContext<'_>, test: &TestItem) {
    let TestRun::Inline(Expr { kind: ExprKind::Object(entries), .. }) = &test.run else { return };
    let decides = !matches!(test.expect.text.as_str(), "undecided" | "error" | "vacuous");
    if entries.is_empty() && decides {
        let message =
            format!("the run of this test records nothing: no statement about steps can {} on it", test.expect.text);
        context.report(Diagnostic::new(Slug::TestOfNothing, test.name.span, message).with_help(
            "write what the agent did: `calls: [{ tool: \"refund\" }]`; `calls: []` is a run without calls",
        ));
    }
}

/// Reports a duplicate test.
fn twice(context: &mut LintContext<'_>, test: &TestItem, earlier: &[&TestItem]) {
    let (TestRun::Inline(run), own) = (&test.run, names(test)) else { return };
    let text = folded(context.span_text(run.span));
    let same = earlier.iter().find(|other| match &other.run {
        TestRun::Inline(other_run) => {
            folded(context.span_text(other_run.span)) == text
                && names(other) == own
                && other.expect.text == test.expect.text
        }
        TestRun::File(_) => false,
    });
    let Some(same) = same.map(|same| same.name.span) else { return };
    let line = context.sources.line_column(same).line;
    context.report(
        Diagnostic::new(
            Slug::DuplicateTest,
            test.name.span,
            format!("the test in line {line} has the same run and expects the same"),
        )
        .with_other(same, "the same test")
        .with_help("change the run, or remove one of them"),
    );
}

fn names(test: &TestItem) -> Vec<&str> {
    test.rules.iter().map(|name| name.text.as_str()).collect()
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reports a rule that no test covers, or only tests with one kind of verdict.
fn coverage(context: &mut LintContext<'_>, rule: &Name, tests: &[&TestItem]) {
    let of: Vec<&&TestItem> = tests
        .iter()
        .filter(|test| test.rules.is_empty() || test.rules.iter().any(|name| covers(&name.text, &rule.text)))
        .collect();
    let expects = |word: &str| of.iter().any(|test| test.expect.text == word);
    let name = &rule.text;
    if of.is_empty() {
        context.report(
            Diagnostic::new(Slug::UntestedRule, rule.span, format!("no test speaks of the rule `{name}`"))
                .with_help(format!("write one: `test \"…\" expect fail {name} {{ calls: [{{ tool: \"…\" }}] }}`")),
        );
        return;
    }
    let lacks = match (expects("pass"), expects("fail")) {
        (true, false) => "fail",
        (false, true) => "pass",
        _ => return,
    };
    context.report(
        Diagnostic::new(Slug::OneSidedTests, rule.span, format!("no test expects the rule `{name}` to {lacks}"))
            .with_help(format!("write one: `test \"…\" expect {lacks} {name} {{ … }}`")),
    );
}

/// True if a name in a test is that of the rule, or of one of its assertions.
fn covers(named: &str, rule: &str) -> bool {
    named == rule || named.strip_prefix(rule).is_some_and(|rest| rest.starts_with('.'))
}

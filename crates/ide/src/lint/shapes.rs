//! Lints for values of the wrong shape: lists of lists where a test expects single values, and globs where text is compared.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{
    Atom, AtomSubject, Expr, ExprKind, Name, PatternArgument, PatternForm, PredicateTarget, StepPattern, StepWord,
    TestKind, ValueTest,
};
use averment_syntax::glob_test::test_of_glob;
use averment_syntax::words;

/// Reports `x in (result[*].id of search)`, because each call yields a list of its own.
pub fn lists_of_lists(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut ListVisitor(context));
}

struct ListVisitor<'c, 'a>(&'c mut LintContext<'a>);

impl<'a> SyntaxVisitor<'a> for ListVisitor<'_, 'a> {
    fn visit_test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {
        let single = |expr: &Expr| !matches!(expr.kind, ExprKind::List(_) | ExprKind::Every { .. }) && !has_every(expr);
        let operand = test.operand.as_deref();
        match (test.kind, subject, operand) {
            (TestKind::In, Some(subject), Some(list)) if single(subject) => self.report_nested(list, "`in` finds none"),
            (TestKind::Contains | TestKind::ContainsAny | TestKind::ContainsAll, Some(list), Some(value))
                if single(value) || test.kind != TestKind::Contains =>
            {
                self.report_nested(list, "`contains` finds none");
            }
            _ => {}
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let ExprKind::Call { name, arguments, .. } = &expr.kind
            && let [list] = arguments.as_slice()
            && matches!(name.text.as_str(), "sum" | "min" | "max" | "avg" | "median")
        {
            self.report_nested(list, &format!("`{}` has no numbers", name.text));
        }
    }
}

impl ListVisitor<'_, '_> {
    /// True if the target is a step pattern. A bare name may also be a list, if such a name is known.
    fn names_step(&self, target: &PredicateTarget) -> bool {
        let declared = |name: &str| self.0.checked.symbols.declarations.iter().any(|one| one.name == name);
        let is_list = match target.expr.as_ref().map(|expr| &expr.kind) {
            Some(ExprKind::Name(name)) => words::ROOTS.contains(&name.as_str()) || declared(name),
            Some(ExprKind::Call { .. }) | None => false,
            Some(_) => true,
        };
        target.step.is_some() && !is_list
    }

    fn report_nested(&mut self, list: &Expr, what: &str) {
        let ExprKind::Of { value, target, .. } = &ungrouped(list).kind else { return };
        if !has_every(value) || !self.names_step(target) {
            return;
        }
        let inner = self.0.span_text(ungrouped(list).span);
        let written = format!("flatten({inner})");
        let message = format!("this is a list for each call, a list of lists: {what} in it");
        self.0.report(
            Diagnostic::new(Slug::ListOfLists, list.span, message).with_help(format!("write `{written}`")).with_fix(
                "make it one list",
                list.span,
                written,
            ),
        );
    }
}

fn ungrouped(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Group(inner) => ungrouped(inner),
        _ => expr,
    }
}

/// True if a path takes every element of a list.
fn has_every(path: &Expr) -> bool {
    match &path.kind {
        ExprKind::Every { .. } => true,
        ExprKind::Field { base, .. } => has_every(base),
        ExprKind::Group(inner) => has_every(inner),
        _ => false,
    }
}

/// Reports `write_file(path: "/x/**")`: the text is compared, so a star is literal.
pub fn globs_as_text(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut GlobVisitor(context));
}

/// Arguments that name one file, folder, address or host. Other arguments, such as `pattern`, may contain globs.
const PLACES: [&str; 25] = [
    "path",
    "file_path",
    "filepath",
    "filePath",
    "file",
    "filename",
    "file_name",
    "target_file",
    "absolute_path",
    "notebook_path",
    "directory",
    "dir",
    "folder",
    "url",
    "uri",
    "host",
    "domain",
    "email",
    "recipient",
    "recipients",
    "to",
    "cc",
    "bcc",
    "from",
    "tool",
];

/// True if a glob is used where a single location is named, which `globs_as_text` reports.
pub(super) fn is_glob_of_place(name: &str, text: &str) -> bool {
    text.contains('*') && PLACES.contains(&name)
}

struct GlobVisitor<'c, 'a>(&'c mut LintContext<'a>);

impl<'a> SyntaxVisitor<'a> for GlobVisitor<'_, 'a> {
    fn visit_step(&mut self, step: &'a StepPattern) {
        let PatternForm::Atom(Atom { subject, arguments, .. }) = &step.kind else { return };
        if let AtomSubject::QuotedTool(name) = subject {
            self.report_quoted_tool(name);
        }
        let Some(arguments) = arguments else { return };
        if let AtomSubject::Kind { kind: StepWord::Read | StepWord::Write, text: None, .. } = subject
            && let [PatternArgument::Matches { path, value, .. }] = arguments.as_slice()
            && self.report_file_glob(path, value, step.span)
        {
            return;
        }
        for argument in arguments {
            if let PatternArgument::Matches { path, value, span } = argument {
                self.report_glob(path, value, *span);
            }
        }
    }

    fn visit_test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {
        if let (TestKind::Equal, false, Some(subject), Some(value)) =
            (test.kind, test.negated, subject, test.operand.as_deref())
        {
            self.report_glob(subject, value, Span { start: subject.span.start, ..test.span });
        }
    }
}

/// True if a name is valid without quotes, where its `*` is a wildcard.
fn is_bare_glob(name: &str) -> bool {
    !name.starts_with(|sign: char| sign.is_ascii_digit())
        && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "_*?-./".contains(sign))
}

impl GlobVisitor<'_, '_> {
    /// Reports `never "issue_*"`, because a quoted name is that of one tool.
    fn report_quoted_tool(&mut self, name: &Name) {
        if !name.text.contains('*') {
            return;
        }
        let shown = self.0.span_text(name.span);
        let message = format!("{shown} is the name of one tool: its `*` stands for nothing else");
        let diagnostic = Diagnostic::new(Slug::GlobAsText, name.span, message);
        let help = format!("write `{}` without quotes", name.text);
        self.0.report(if is_bare_glob(&name.text) {
            diagnostic.with_help(help.as_str()).with_fix(help, name.span, name.text.clone())
        } else {
            diagnostic.with_help("a glob of tools stands without quotes: `issue_*`")
        });
    }

    /// Reports `write(path: "src/**")`, because a text directly after the kind of step would be a glob.
    fn report_file_glob(&mut self, path: &Expr, value: &Expr, whole: Span) -> bool {
        let (ExprKind::Name(name), ExprKind::Text(text)) = (&path.kind, &value.kind) else { return false };
        let Some(kind) = self.0.span_text(whole).split('(').next().filter(|_| name == "path") else { return false };
        if !text.literal_text().is_some_and(|glob| glob.contains('*')) {
            return false;
        }
        let shown = self.0.span_text(value.span);
        let message = format!("{shown} is compared as it is: its `*` stands for nothing else");
        let written = format!("{} {shown}", kind.trim_end());
        let diagnostic = Diagnostic::new(Slug::GlobAsText, value.span, message);
        self.0.report(diagnostic.with_help(format!("write `{written}`")).with_fix(
            format!("write `{written}`"),
            whole,
            written,
        ));
        true
    }

    fn report_glob(&mut self, path: &Expr, value: &Expr, whole: Span) {
        let name = match &path.kind {
            ExprKind::Name(name) => name.as_str(),
            ExprKind::Field { name, .. } => name.text.as_str(),
            _ => return,
        };
        let ExprKind::Text(text) = &value.kind else { return };
        let Some(glob) = text.literal_text().filter(|glob| is_glob_of_place(name, glob)) else {
            return;
        };
        let (path, shown) = (self.0.span_text(path.span), self.0.span_text(value.span));
        let message = format!("{shown} is compared as it is: its `*` stands for nothing else");
        let diagnostic = Diagnostic::new(Slug::GlobAsText, value.span, message);
        self.0.report(match test_of_glob(glob) {
            Some(test) => {
                let written = format!("{path} {test}");
                let files = if name.contains("path") || name.contains("file") {
                    format!("; of files that were read or written also `read {shown}`, `write {shown}`")
                } else {
                    String::new()
                };
                diagnostic.with_help(format!("write `{written}`{files}")).with_fix(
                    format!("write `{written}`"),
                    whole,
                    written,
                )
            }
            None => diagnostic.with_help(format!("write `{path} matches /…/`")),
        });
    }
}

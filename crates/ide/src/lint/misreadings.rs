//! Lints for names in steps and flows that mean something other than they seem to.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::run::StepKind;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{
    Atom, AtomSubject, BinaryOperator, Expr, ExprKind, FlowExpr, FlowKind, NumberUnit, PatternArgument, PatternForm,
    Statement, StatementKind, StepPattern, TestKind,
};

/// Reports `fetch*` in a flow: it is a glob for tool names, not a repetition.
pub fn globs_in_flows(context: &mut LintContext<'_>) {
    let mut names = ToolNames::default();
    walk::walk_file(context.ast(), &mut names);
    let ToolNames { flows, others, .. } = names;
    for flow in flows {
        let mut known = ToolNames::default();
        walk::walk_flow(flow, &mut known);
        known.others.extend(others.iter().cloned());
        known.others.extend(context.checked.module.tools.iter().map(|tool| tool.name.clone()));
        walk::walk_flow(flow, &mut GlobVisitor(context, known.others));
    }
}

#[derive(Default)]
struct ToolNames<'a> {
    others: Vec<String>,
    flows: Vec<&'a FlowExpr>,
    in_flow: Option<Span>,
}

impl<'a> SyntaxVisitor<'a> for ToolNames<'a> {
    fn visit_statement(&mut self, statement: &'a Statement) {
        if let StatementKind::Flow { flow } = &statement.kind {
            self.flows.push(flow);
            self.in_flow = Some(flow.span);
        }
    }

    fn visit_step(&mut self, step: &'a StepPattern) {
        let inside = self.in_flow.is_some_and(|flow| flow.start <= step.span.start && step.span.end <= flow.end);
        if let PatternForm::Atom(Atom { subject: AtomSubject::Tool(name), .. }) = &step.kind
            && !inside
        {
            self.others.push(name.text.clone());
        }
    }
}

struct GlobVisitor<'c, 'a>(&'c mut LintContext<'a>, Vec<String>);

impl<'a> SyntaxVisitor<'a> for GlobVisitor<'_, 'a> {
    fn visit_flow(&mut self, flow: &'a FlowExpr) {
        let FlowKind::Step(StepPattern { kind: PatternForm::Atom(atom), span }) = &flow.kind else { return };
        let AtomSubject::Tool(name) = &atom.subject else { return };
        let Some(stem) = name.text.strip_suffix(['*', '?']).filter(|stem| !stem.contains(['*', '?'])) else { return };
        // A glob whose stem is not a tool name is intentional: `admin_*`.
        if !self.1.iter().any(|known| known == stem) {
            return;
        }
        let sign = name.text.get(stem.len()..).unwrap_or("*");
        let written = format!("({stem}){sign}");
        self.0.report(
            Diagnostic::new(
                Slug::GlobInFlow,
                *span,
                format!("one call of a tool whose name starts with `{stem}`, not several of `{stem}`"),
            )
            .with_help(format!("a repetition belongs after parentheses: `{written}`"))
            .with_fix("make it a repetition", *span, written),
        );
    }
}

/// Reports names in a call's parentheses that are arguments but look like fields of the step or of the run.
pub fn two_scopes(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut ScopeVisitor(context));
}

struct ScopeVisitor<'c, 'a>(&'c mut LintContext<'a>);
impl<'a> SyntaxVisitor<'a> for ScopeVisitor<'_, 'a> {
    fn visit_step(&mut self, step: &'a StepPattern) {
        let PatternForm::Atom(Atom {
            subject: AtomSubject::Tool(_) | AtomSubject::QuotedTool(_) | AtomSubject::ToolText(_),
            arguments: Some(all),
            ..
        }) = &step.kind
        else {
            return;
        };
        for argument in all {
            self.same_name(argument);
            self.own_value(argument);
            self.report_difference(argument);
            self.report_ending(step, argument);
            if let PatternArgument::Test(Expr { kind: ExprKind::Test { subject, test }, .. }) = argument
                && let (ExprKind::Name(name), Some(operand)) = (&subject.kind, test.operand.as_deref())
            {
                self.report_field(step, name, subject.span, operand);
            }
        }
    }
}
impl ScopeVisitor<'_, '_> {
    /// Reports `id: id`, in which the name on the right is a field of the step itself, not a value of another step.
    fn same_name(&mut self, argument: &PatternArgument) {
        let PatternArgument::Matches { path, value, .. } = argument else { return };
        let (ExprKind::Name(left), ExprKind::Name(right)) = (&path.kind, &value.kind) else { return };
        let declared = self.0.checked.symbols.declarations.iter().any(|one| one.name == *right);
        let field = StepKind::Call.field_names().contains(&right.as_str());
        if left != right || !field {
            return;
        }
        let message = format!("`{right}` on the right is a field of the same call, not a value of another step");
        let diagnostic = Diagnostic::new(Slug::TwoScopes, value.span, message);
        let whole = self.0.foreign_line(value.span);
        self.0.report(if declared {
            diagnostic.with_help(format!("give what is declared as `{right}` another name"))
        } else if let Some((line, text)) = whole {
            diagnostic.with_help(format!("write `{text}` for a value that the steps share")).with_fix(
                format!("write `{text}`"),
                line,
                text,
            )
        } else {
            diagnostic
                .with_help(format!("write `${right}` here and in the other step for a value that they share"))
                .with_fix(format!("write `${right}`"), value.span, format!("${right}"))
        });
    }

    /// Reports `id: args.id`, which compares the argument with itself.
    fn own_value(&mut self, argument: &PatternArgument) {
        let (path, value) = match argument {
            PatternArgument::Matches { path, value, .. } => (path, value),
            PatternArgument::Test(Expr { kind: ExprKind::Test { subject, test }, .. })
                if test.kind == TestKind::Equal =>
            {
                let Some(operand) = test.operand.as_deref() else { return };
                (&**subject, operand)
            }
            PatternArgument::Test(_) => return,
        };
        let (own, other) = (self.0.span_text(path.span), self.0.span_text(value.span));
        if other.strip_prefix("args.") != Some(own.strip_prefix("args.").unwrap_or(own)) {
            return;
        }
        let name: String = own.rsplit('.').next().unwrap_or(own).chars().filter(|c| c.is_alphanumeric()).collect();
        let message = format!("`{other}` is an argument of the same call, so it is compared with itself");
        self.0.report(Diagnostic::new(Slug::TwoScopes, value.span, message).with_help(format!(
            "write `{own}: ${name}` here and in the other step for a value that they share: `each refund({own}: ${name}) {{ require approve({own}: ${name}) }}`"
        )));
    }

    /// Reports `amount: 1-100`, which is a difference, not a range.
    fn report_difference(&mut self, argument: &PatternArgument) {
        let PatternArgument::Matches { value, .. } = argument else { return };
        let ExprKind::Binary { operator: BinaryOperator::Subtract, left, right, .. } = &value.kind else { return };
        let (ExprKind::Number(least), ExprKind::Number(most)) = (&left.kind, &right.kind) else { return };
        let range = format!("{}..{}", least.text, most.text);
        let message = format!("`{}` is one number, the difference of two", self.0.span_text(value.span));
        self.0.report(
            Diagnostic::new(Slug::TwoScopes, value.span, message)
                .with_help(format!("write `{range}` for a range"))
                .with_fix(format!("write `{range}`"), value.span, range.clone()),
        );
    }

    /// Reports `fetch(error exists)`, because the status of a call is not an argument.
    fn report_ending(&mut self, step: &StepPattern, argument: &PatternArgument) {
        let is_boolean = |value: Option<&Expr>| value.is_some_and(|value| matches!(value.kind, ExprKind::Boolean(_)));
        let (path, is_asked, is_compared) = match argument {
            PatternArgument::Matches { path, value, .. } => (path, false, is_boolean(Some(value))),
            PatternArgument::Test(Expr { kind: ExprKind::Test { subject, test }, .. }) => {
                let is_asked = matches!(test.kind, TestKind::Exists | TestKind::IsMissing | TestKind::IsEmpty);
                (&**subject, is_asked, is_boolean(test.operand.as_deref()))
            }
            PatternArgument::Test(_) => return,
        };
        let ExprKind::Name(name) = &path.kind else { return };
        let is_ending = match name.as_str() {
            "error" => is_asked,
            "ok" | "failed" => is_asked || is_compared,
            _ => false,
        };
        if !is_ending || self.is_listed(name) {
            return;
        }
        let tool = self.tool_of(step);
        let message = format!("in parentheses `{name}` is an argument of the call, not how it ended");
        let help = format!("write `{tool} failed` or `{tool} ok` for that, `args.{name}` for the argument");
        self.0.report(Diagnostic::new(Slug::TwoScopes, path.span, message).with_help(help));
    }

    /// True if the catalog lists the argument, which makes the meaning clear.
    fn is_listed(&self, name: &str) -> bool {
        let quoted = format!("\"{name}\"");
        self.0.checked.module.schemas.iter().any(|schema| schema.json.contains(&quoted))
    }

    fn tool_of(&self, step: &StepPattern) -> String {
        self.0.span_text(step.span).split(['(', ' ']).next().unwrap_or("").to_owned()
    }

    fn report_field(&mut self, step: &StepPattern, name: &str, span: Span, operand: &Expr) {
        let ExprKind::Number(number) = &operand.kind else { return };
        let looks_like = match (name, number.unit) {
            ("duration", NumberUnit::Duration) => "how long the call took",
            ("cost", NumberUnit::Money) => "what the run cost",
            _ => return,
        };
        if self.is_listed(name) {
            return;
        }
        let tool = self.tool_of(step);
        let help = match name {
            "duration" => {
                format!("write `({tool} where duration …)` for the time of the call, `args.{name}` for the argument")
            }
            _ => format!("write `({tool} where run.cost …)` for that, `args.{name}` for the argument"),
        };
        let message = format!("in parentheses `{name}` is an argument of the call, not {looks_like}");
        self.0.report(Diagnostic::new(Slug::TwoScopes, span, message).with_help(help));
    }
}

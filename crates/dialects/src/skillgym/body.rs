//! The body of an assertion: each statement as sentences.

use super::eval::plain_truth;
use super::groups::why;
use super::operators::not;
use super::program::Program;
use super::value::{Bound, Item, Scope, Told, Value, open};
use crate::typescript::on_its_stack;
use crate::typescript::tree::{Body, Element, Expr, ExprKind, Function, Stmt, StmtKind};
use averment_base::source::Span;

/// A line that was made of a statement.
#[derive(Debug, Clone)]
pub(super) enum Line {
    Assertion {
        text: String,
        place: Span,
        message: Option<String>,
        class: Option<(String, Option<String>)>,
        /// Whether a regular expression in it goes back.
        backtracks: bool,
    },
    /// Lines that speak of runs of which a condition is true.
    When(Told, Span, Vec<Line>),
    /// What is worth knowing.
    Remark(String),
}

/// What stands around statements.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    /// The class that failures get.
    class: Option<(String, Option<String>)>,
}

/// Whether the statements behind it are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    GoesOn,
    Ends,
}

/// The statements of a branch: where its condition holds, where it does not, and those behind it.
#[derive(Clone, Copy)]
struct BranchBodies<'a> {
    then: &'a [Stmt],
    other: &'a [Stmt],
    rest: &'a [Stmt],
}

impl Program<'_, '_> {
    /// The lines of a function that asserts.
    pub(super) fn body(&mut self, function: &Function, arguments: &[Item], scope: Scope, around: &Around) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.goes_deeper() {
            let place = arguments.first().map_or_else(Span::default, |item| item.span);
            self.not_read(place, "a function that calls itself");
            return lines;
        }
        let inner = self.entered(function, arguments, scope);
        match &function.body {
            Body::Value(value) => on_its_stack(|| self.expression(value, inner, around, &mut lines)),
            Body::Block(statements) => {
                on_its_stack(|| self.statements(statements, inner, around, &mut lines));
            }
        }
        self.comes_back();
        lines
    }

    fn statements(&mut self, statements: &[Stmt], scope: Scope, around: &Around, lines: &mut Vec<Line>) -> Flow {
        // Functions are known before the lines that declare them.
        for statement in statements {
            if let StmtKind::Function(name, function) = &statement.kind {
                self.declare(name, function, statement.span, scope);
            }
        }
        for (at, statement) in statements.iter().enumerate() {
            if !self.takes(1) {
                self.not_read(statement.span, "too much to follow");
                return Flow::Ends;
            }
            let rest = statements.get(at.saturating_add(1)..).unwrap_or_default();
            if let StmtKind::If { condition, then, other } = &statement.kind {
                let condition = self.eval(condition, scope);
                let branch =
                    on_its_stack(|| self.branch(&condition, BranchBodies { then, other, rest }, scope, around, lines));
                match branch {
                    Some(Flow::GoesOn) => continue,
                    Some(Flow::Ends) => return Flow::Ends,
                    None => {
                        self.not_read(statement.span, &format!("a condition on {}", why(&condition.value)));
                        continue;
                    }
                }
            }
            if on_its_stack(|| self.statement(statement, scope, around, lines)) == Flow::Ends {
                return Flow::Ends;
            }
        }
        Flow::GoesOn
    }

    fn statement(&mut self, statement: &Stmt, scope: Scope, around: &Around, lines: &mut Vec<Line>) -> Flow {
        match &statement.kind {
            StmtKind::Nothing | StmtKind::Function(..) => {}
            StmtKind::Expr(expr) => self.expression(expr, scope, around, lines),
            StmtKind::Return(value) => {
                value.iter().for_each(|value| self.expression(value, scope, around, lines));
                return Flow::Ends;
            }
            StmtKind::Throw(value) => {
                let message = self.eval(value, scope).get("message").and_then(Item::text).map(ToOwned::to_owned);
                lines.push(self.asserted("false".to_owned(), statement.span, message, around));
                return Flow::Ends;
            }
            StmtKind::Bind(bound, _) => {
                for (pattern, value) in bound {
                    let none = || Item::new(Value::Undefined, statement.span);
                    let item = value.as_ref().map_or_else(none, |value| self.eval(value, scope));
                    // It may throw, and what is made of it is not known.
                    if let Value::Open(why) = &item.value {
                        self.not_read(statement.span, why);
                    }
                    self.bind(pattern, item, scope);
                }
            }
            StmtKind::Block(inner) => {
                let scope = self.scopes.inside(scope);
                return self.statements(inner, scope, around, lines);
            }
            StmtKind::ForOf { pattern, list, body } => {
                let list = self.eval(list, scope);
                let Value::List(items) = list.value else {
                    self.not_read(statement.span, "a loop over what only a run shows");
                    return Flow::GoesOn;
                };
                for item in items {
                    let inner = self.scopes.inside(scope);
                    self.bind(pattern, item, inner);
                    self.statements(body, inner, around, lines);
                }
            }
            StmtKind::Assign(name) => {
                if let Some(name) = name {
                    let changed = Item::new(open("a value that changes"), statement.span);
                    let scope = self.scopes.find(scope, name).map_or(scope, |(_, found)| found);
                    self.scopes.bind(scope, name, Bound::Item(changed));
                }
                self.not_read(statement.span, "an assignment");
            }
            StmtKind::Other(what) => self.not_read(statement.span, what),
            _ => self.not_read(statement.span, "a statement that has no meaning here"),
        }
        Flow::GoesOn
    }

    /// A branch, with the statements behind it; `None` where its condition cannot be said.
    fn branch(
        &mut self,
        condition: &Item,
        bodies: BranchBodies<'_>,
        scope: Scope,
        around: &Around,
        lines: &mut Vec<Line>,
    ) -> Option<Flow> {
        let BranchBodies { then, other, rest } = bodies;
        if let Some(truth) = plain_truth(condition) {
            let inner = self.scopes.inside(scope);
            return Some(self.statements(if truth { then } else { other }, inner, around, lines));
        }
        let truth = self.truth(condition)?;
        let (mut of_then, mut of_other) = (Vec::new(), Vec::new());
        let inner = self.scopes.inside(scope);
        // What throws where a condition holds asserts its opposite.
        if let ([Stmt { kind: StmtKind::Throw(value), .. }], []) = (then, other) {
            let message = self.eval(value, inner).get("message").and_then(Item::text).map(ToOwned::to_owned);
            lines.push(self.asserted(not(&truth).text, condition.span, message, around));
            return Some(Flow::GoesOn);
        }
        let ends = self.statements(then, inner, around, &mut of_then) == Flow::Ends;
        let inner = self.scopes.inside(scope);
        let other_ends = self.statements(other, inner, around, &mut of_other) == Flow::Ends;
        let mut flow = if ends && other_ends { Flow::Ends } else { Flow::GoesOn };
        // The statements behind it are reached by one of both alone.
        if ends != other_ends {
            let inner = self.scopes.inside(scope);
            self.statements(rest, inner, around, if ends { &mut of_other } else { &mut of_then });
            flow = Flow::Ends;
        }
        if !of_then.is_empty() {
            lines.push(Line::When(truth.clone(), condition.span, of_then));
        }
        if !of_other.is_empty() {
            lines.push(Line::When(not(&truth), condition.span, of_other));
        }
        Some(flow)
    }

    /// An expression that stands as a statement.
    fn expression(&mut self, expr: &Expr, scope: Scope, around: &Around, lines: &mut Vec<Line>) {
        let ExprKind::Call { callee, arguments } = &expr.kind else {
            if !matches!(expr.kind, ExprKind::Text(_) | ExprKind::Name(_)) {
                self.not_read(expr.span, "an expression that asserts nothing");
            }
            return;
        };
        let called = self.eval(callee, scope);
        match &called.value {
            Value::Api(name) if name.starts_with("console.") => {}
            Value::Api(name) if name == "assert" || name.starts_with("assert.") => {
                let name = name.clone();
                self.assert(&name, arguments, expr.span, scope, around, lines);
            }
            Value::Function(function, own) => match self.elements(arguments, scope) {
                Ok(arguments) => {
                    let inner = self.body(&function.clone(), &arguments, *own, around);
                    lines.extend(inner);
                }
                Err(why) => self.not_read(expr.span, &why),
            },
            value => {
                let why = why(value);
                self.not_read(expr.span, &why);
            }
        }
    }

    /// A call of `assert`, or of something in it.
    fn assert(
        &mut self,
        name: &str,
        arguments: &[Element],
        span: Span,
        scope: Scope,
        around: &Around,
        lines: &mut Vec<Line>,
    ) {
        let arguments = match self.elements(arguments, scope) {
            Ok(arguments) => arguments,
            Err(why) => return self.not_read(span, &why),
        };
        let path: Vec<&str> =
            name.split('.').skip(1).filter(|part| !["soft", "strict", "default"].contains(part)).collect();
        if path == ["classify"] {
            return self.classified(&arguments, span, around, lines);
        }
        self.backtracks = false;
        let (text, message) = match path.as_slice() {
            [group, method] => {
                let about_run = arguments.first().is_some_and(
                    |first| matches!(&first.value, Value::Told(told) if told.kind == super::value::Kind::Report),
                );
                if !about_run {
                    return self.not_read(span, "an assertion that is not about the report");
                }
                let rest = arguments.get(1..).unwrap_or_default();
                let options =
                    rest.iter().rev().find(|item| item.get("message").is_some() || item.get("explain").is_some());
                let message =
                    options.and_then(|options| options.get("message")).and_then(Item::text).map(ToOwned::to_owned);
                let question = options.and_then(|options| options.get("explain")?.get("question")).cloned();
                self.asked(question.as_ref(), lines);
                (self.grouped(group, method, rest, span), message)
            }
            [] | [_] => {
                let method = path.first().copied().unwrap_or("ok");
                let message = arguments.last().filter(|_| arguments.len() > own_arguments(method));
                let message = message.and_then(Item::text).map(ToOwned::to_owned);
                (self.plainly(method, &arguments, span), message)
            }
            _ => return self.not_read(span, "an assertion that SkillGym does not have"),
        };
        if let Some(text) = text {
            lines.push(self.asserted(text, span, message, around));
        }
    }

    fn asserted(&mut self, text: String, place: Span, message: Option<String>, around: &Around) -> Line {
        let backtracks = std::mem::take(&mut self.backtracks);
        Line::Assertion { text, place, message, class: around.class.clone(), backtracks }
    }

    /// A question of the suite's own stands beside its assertion.
    fn asked(&mut self, question: Option<&Item>, lines: &mut Vec<Line>) {
        match question.map(|item| (&item.value, item.span)) {
            Some((Value::Text(text), _)) => lines.push(Line::Remark(format!("asked where it fails: {text}"))),
            Some((Value::Undefined, _)) | None => {}
            Some((_, span)) => {
                self.aside(span, "a question that a function makes is not read: what failed is asked about")
            }
        }
    }

    /// `assert.classify(class, () => …)`; the outer one of two wins.
    fn classified(&mut self, arguments: &[Item], span: Span, around: &Around, lines: &mut Vec<Line>) {
        let (Some(class), Some(Item { value: Value::Function(function, scope), .. })) =
            (arguments.first(), arguments.get(1))
        else {
            return self.not_read(span, "a class without a function that asserts");
        };
        let class = match class_of(class) {
            Some(class) => class,
            None => return self.not_read(class.span, "a class that only a running program shows"),
        };
        let around = Around { class: around.class.clone().or(Some(class)) };
        let inner = self.body(&function.clone(), &[], *scope, &around);
        lines.extend(inner);
    }

    /// An assertion of the runtime: `assert.equal(a, b)` and the like.
    fn plainly(&mut self, method: &str, arguments: &[Item], span: Span) -> Option<String> {
        let (first, second) = (arguments.first(), arguments.get(1));
        let told = match (method, first, second) {
            ("ok", Some(value), _) => match (&value.value, self.truth(value)) {
                (Value::Told(_), Some(truth)) => Some(truth),
                _ => None,
            },
            ("equal" | "strictEqual" | "deepEqual" | "deepStrictEqual", Some(one), Some(other)) => {
                self.equal(one, other, true)
            }
            ("notEqual" | "notStrictEqual" | "notDeepEqual" | "notDeepStrictEqual", Some(one), Some(other)) => {
                self.equal(one, other, false)
            }
            ("match", Some(text), Some(regex)) => self.searched(text, regex),
            ("doesNotMatch", Some(text), Some(regex)) => self.searched(text, regex).map(|found| not(&found)),
            ("fail", ..) => Some(Told::new("false", super::value::Kind::Truth)),
            _ => None,
        };
        if told.is_none() {
            let values =
                [first, second].into_iter().flatten().find(|item| matches!(item.value, Value::Open(_) | Value::Api(_)));
            let why = values
                .map_or_else(|| format!("`assert.{method}` of values that no run decides"), |item| why(&item.value));
            self.not_read(span, &why);
        }
        told.map(|told| told.text)
    }
}

/// How many arguments stand before the message.
fn own_arguments(method: &str) -> usize {
    match method {
        "ok" => 1,
        "fail" => 0,
        _ => 2,
    }
}

/// A class of failures: its id, or an object with a label.
pub(super) fn class_of(item: &Item) -> Option<(String, Option<String>)> {
    match &item.value {
        Value::Text(id) => Some((id.clone(), None)),
        Value::Object(_) => {
            let label = item.get("label").and_then(Item::text).map(ToOwned::to_owned);
            item.get("id").and_then(Item::text).map(|id| (id.to_owned(), label))
        }
        _ => None,
    }
}

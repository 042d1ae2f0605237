//! Lowers the body of an assertion function: each statement becomes lines of rules.

use super::conditions::EqualityKind;
use super::flow::{BodyLine, StatementFlow, push_when};
use super::groups::open_reason;
use super::needs::needs_of_parts;
use super::plain::{KEEPS_PLACE, is_object, keeps_place, plain_truth};
use super::program::SuiteProgram;
use super::value::{BoundName, JsValue, LocatedValue, RunExpr, RunExprKind, ScopeId, negate_condition, open_value};
use crate::typescript::on_its_stack;
use crate::typescript::tree::{
    FunctionBody, NEXT_TURN, TsElement, TsFunction, TsPattern, TsStatement, TsStatementKind,
};
use crate::writer::BindingStrength;
use averment_base::source::Span;

/// The text of an assertion.
enum AssertionText {
    /// A statement about the run.
    Sentence(String),
    Condition(RunExpr),
}

#[derive(Debug, Clone, Default)]
pub(super) struct BodyContext {
    class: Option<(String, Option<String>)>,
}

/// The two branches of a condition: the statements if it holds, and if it does not.
#[derive(Clone, Copy)]
pub(super) struct BranchBodies<'a> {
    pub(super) then: &'a [TsStatement],
    pub(super) other: &'a [TsStatement],
}

impl SuiteProgram<'_, '_> {
    pub(super) fn lower_body(
        &mut self,
        function: &TsFunction,
        arguments: &[LocatedValue],
        scope: ScopeId,
        around: &BodyContext,
    ) -> Vec<BodyLine> {
        let mut lines = Vec::new();
        if !self.enter_level() {
            let place = arguments.first().map_or_else(Span::default, |item| item.span);
            self.record_unread(place, "a function that calls itself");
            return lines;
        }
        let inner = self.enter_function(function, arguments, scope);
        match &function.body {
            FunctionBody::Value(value) => on_its_stack(|| self.lower_expression(value, inner, around, &mut lines)),
            FunctionBody::Block(statements) => {
                on_its_stack(|| self.lower_statements(statements, inner, around, &mut lines));
            }
        }
        self.leave_level();
        lines
    }

    pub(super) fn lower_statements(
        &mut self,
        statements: &[TsStatement],
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) -> StatementFlow {
        // Function declarations are hoisted.
        for statement in statements {
            if let TsStatementKind::Function(name, function) = &statement.kind {
                self.declare_function(name, function, statement.span, scope);
            }
        }
        for (at, statement) in statements.iter().enumerate() {
            if !self.spend_budget(1) {
                self.record_unread(statement.span, "too much to follow");
                return StatementFlow::Unknown;
            }
            match on_its_stack(|| self.lower_statement(statement, scope, around, lines)) {
                StatementFlow::GoesOn => {}
                StatementFlow::GoesOnWhen(condition) => {
                    let rest = statements.get(at.saturating_add(1)..).unwrap_or_default();
                    let mut inner = Vec::new();
                    let flow = on_its_stack(|| self.lower_statements(rest, scope, around, &mut inner));
                    push_when(&condition, statement.span, inner, lines);
                    return flow.behind_condition(&condition);
                }
                ended => return ended,
            }
        }
        StatementFlow::GoesOn
    }

    fn lower_statement(
        &mut self,
        statement: &TsStatement,
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) -> StatementFlow {
        match &statement.kind {
            TsStatementKind::Nothing | TsStatementKind::Function(..) => {}
            TsStatementKind::If { condition, then, other } => {
                let condition = self.eval_expr(condition, scope);
                let bodies = BranchBodies { then, other };
                return match self.lower_branch(&condition, bodies, scope, around, lines) {
                    Some(flow) => flow,
                    None => {
                        self.skip_unread(statement.span, &format!("a condition on {}", open_reason(&condition.value)))
                    }
                };
            }
            TsStatementKind::Expr(expr) => self.lower_expression(expr, scope, around, lines),
            TsStatementKind::Return(value) => {
                value.iter().for_each(|value| self.lower_expression(value, scope, around, lines));
                return StatementFlow::Ends;
            }
            TsStatementKind::Throw(value) => {
                let message =
                    self.eval_expr(value, scope).get("message").and_then(LocatedValue::as_text).map(ToOwned::to_owned);
                let never = RunExpr::new("false", RunExprKind::Truth);
                lines.push(self.assertion_line(AssertionText::Condition(never), statement.span, message, around));
                return StatementFlow::Ends;
            }
            TsStatementKind::Bind(bound, _) => {
                for (pattern, value) in bound {
                    let none = || LocatedValue::new(JsValue::Undefined, statement.span);
                    let item = value.as_ref().map_or_else(none, |value| self.eval_expr(value, scope));
                    // Evaluating the value may throw, and so may destructuring it.
                    self.lower_needs(&item, statement.span, around, lines);
                    if let (JsValue::RunExpr(told), TsPattern::Object(_) | TsPattern::List(_)) = (&item.value, pattern)
                    {
                        self.push_needs(told.needed_parts().as_deref(), statement.span, around, lines);
                    }
                    self.bind_pattern(pattern, item, scope);
                }
            }
            TsStatementKind::Block(inner) => {
                let scope = self.scopes.open_scope(scope);
                return self.lower_statements(inner, scope, around, lines);
            }
            TsStatementKind::ForOf { pattern, list, body } => {
                return self.lower_for_of((pattern, body.as_slice()), list, statement.span, scope, around, lines);
            }
            TsStatementKind::Assign(name) => {
                let is_report = name.as_deref().is_none_or(|name| name == "delete" || self.is_run_value(name, scope));
                if let Some(name) = name {
                    let changed = LocatedValue::new(open_value("a value that changes"), statement.span);
                    let scope = self.scopes.find_name(scope, name).map_or(scope, |(_, found)| found);
                    self.scopes.bind_name(scope, name, BoundName::Item(changed));
                }
                self.record_unread(statement.span, "an assignment");
                // The assignment may change a part of the report.
                if is_report {
                    return StatementFlow::Unknown;
                }
            }
            // In every loop that is followed, `continue` ends the turn of one element.
            TsStatementKind::Other(NEXT_TURN) => return StatementFlow::Ends,
            TsStatementKind::Other(what) => return self.skip_unread(statement.span, what),
            _ => self.record_unread(statement.span, "a statement that has no meaning here"),
        }
        StatementFlow::GoesOn
    }

    fn is_run_value(&self, name: &str, scope: ScopeId) -> bool {
        matches!(
            self.scopes.find_name(scope, name),
            Some((BoundName::Item(LocatedValue { value: JsValue::RunExpr(_), .. }), _))
        )
    }

    /// Records an unsupported statement. If it may end its function or loop, the statements after it may not be reached.
    pub(super) fn skip_unread(&mut self, span: Span, what: &str) -> StatementFlow {
        self.record_unread(span, what);
        let sources = &self.lowering.sources;
        let text = sources.get(span.file).and_then(|file| file.text.get(span.as_range())).unwrap_or_default();
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$');
        match words.any(|word| ["return", "break", "continue"].contains(&word)) {
            true => StatementFlow::Unknown,
            false => StatementFlow::GoesOn,
        }
    }

    /// Lowers a branch; returns `None` if its condition cannot be expressed.
    pub(super) fn lower_branch(
        &mut self,
        condition: &LocatedValue,
        bodies: BranchBodies<'_>,
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) -> Option<StatementFlow> {
        let BranchBodies { then, other } = bodies;
        if let Some(truth) = plain_truth(condition) {
            let inner = self.scopes.open_scope(scope);
            return Some(self.lower_statements(if truth { then } else { other }, inner, around, lines));
        }
        let truth = self.truth_condition(condition)?;
        self.push_needs(truth.needs.as_deref(), condition.span, around, lines);
        let truth = truth.as_total();
        let (mut of_then, mut of_other) = (Vec::new(), Vec::new());
        let inner = self.scopes.open_scope(scope);
        // A throw under a condition asserts the negated condition.
        if let ([TsStatement { kind: TsStatementKind::Throw(value), .. }], []) = (then, other) {
            let message =
                self.eval_expr(value, inner).get("message").and_then(LocatedValue::as_text).map(ToOwned::to_owned);
            let opposite = AssertionText::Condition(negate_condition(&truth));
            lines.push(self.assertion_line(opposite, condition.span, message, around));
            return Some(StatementFlow::GoesOn);
        }
        let then_flow = self.lower_statements(then, inner, around, &mut of_then);
        let inner = self.scopes.open_scope(scope);
        let other_flow = self.lower_statements(other, inner, around, &mut of_other);
        let opposite = negate_condition(&truth);
        push_when(&truth, condition.span, of_then, lines);
        push_when(&opposite, condition.span, of_other, lines);
        Some(then_flow.behind_condition(&truth).or_flow(other_flow.behind_condition(&opposite)))
    }

    pub(super) fn lower_assert(
        &mut self,
        name: &str,
        arguments: &[TsElement],
        span: Span,
        scope: ScopeId,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) {
        let arguments = match self.eval_elements(arguments, scope) {
            Ok(arguments) => arguments,
            Err(why) => return self.record_unread(span, &why),
        };
        let path: Vec<&str> =
            name.split('.').skip(1).filter(|part| !["soft", "strict", "loose", "default"].contains(part)).collect();
        if path == ["classify"] {
            return self.lower_classified(&arguments, span, around, lines);
        }
        self.backtracks = false;
        let (text, message) = match path.as_slice() {
            [group, method] => {
                let about_run = arguments.first().is_some_and(
                    |first| matches!(&first.value, JsValue::RunExpr(told) if told.kind == RunExprKind::Report),
                );
                if !about_run {
                    return self.record_unread(span, "an assertion that is not about the report");
                }
                let rest = arguments.get(1..).unwrap_or_default();
                let options =
                    rest.iter().rev().find(|item| item.get("message").is_some() || item.get("explain").is_some());
                let message = options
                    .and_then(|options| options.get("message"))
                    .and_then(LocatedValue::as_text)
                    .map(ToOwned::to_owned);
                let question = options.and_then(|options| options.get("explain")?.get("question")).cloned();
                self.lower_question(question.as_ref(), lines);
                (self.group_sentence(group, method, rest, span).map(AssertionText::Sentence), message)
            }
            [] | [_] => {
                let method = path.first().copied().unwrap_or("ok");
                let message = arguments.last().filter(|_| arguments.len() > own_arguments(method));
                let message = message.and_then(LocatedValue::as_text).map(ToOwned::to_owned);
                let kind = if name.contains(".loose") && !name.contains(".strict") {
                    EqualityKind::Loose
                } else {
                    EqualityKind::Strict
                };
                (self.runtime_assertion(method, &arguments, kind, span).map(AssertionText::Condition), message)
            }
            _ => return self.record_unread(span, "an assertion that SkillGym does not have"),
        };
        if let Some(text) = text {
            lines.push(self.assertion_line(text, span, message, around));
        }
    }

    /// Adds a line for the condition under which a value can be evaluated without an error; records the value as unread if that is unknown.
    pub(super) fn lower_needs(
        &mut self,
        item: &LocatedValue,
        place: Span,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) {
        match needs_of_parts(item) {
            Ok(needs) => self.push_needs(needs.as_deref(), place, around, lines),
            Err(why) => self.record_unread(place, &why),
        }
    }

    /// Adds a line that fails where the program throws.
    pub(super) fn push_needs(
        &mut self,
        needs: Option<&str>,
        place: Span,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) {
        if let Some(needs) = needs {
            let needed = RunExpr::with_binding(needs, BindingStrength::Or, RunExprKind::Truth);
            lines.push(self.assertion_line(AssertionText::Condition(needed), place, None, around));
        }
    }

    fn assertion_line(
        &mut self,
        text: AssertionText,
        place: Span,
        message: Option<String>,
        around: &BodyContext,
    ) -> BodyLine {
        let backtracks = std::mem::take(&mut self.backtracks);
        let (text, condition) = match text {
            AssertionText::Sentence(text) => (text, None),
            AssertionText::Condition(told) => (told.text.clone(), Some(told)),
        };
        BodyLine::Assertion { text, place, message, class: around.class.clone(), backtracks, condition }
    }

    fn lower_question(&mut self, question: Option<&LocatedValue>, lines: &mut Vec<BodyLine>) {
        match question.map(|item| (&item.value, item.span)) {
            Some((JsValue::Text(text), _)) => lines.push(BodyLine::Remark(format!("asked where it fails: {text}"))),
            Some((JsValue::Undefined, _)) | None => {}
            Some((_, span)) => {
                self.remark_unread(span, "a question that a function makes is not read: what failed is asked about")
            }
        }
    }

    /// Lowers `assert.classify(class, () => …)`; if two of these are nested, the outer class wins.
    fn lower_classified(
        &mut self,
        arguments: &[LocatedValue],
        span: Span,
        around: &BodyContext,
        lines: &mut Vec<BodyLine>,
    ) {
        let (Some(class), Some(LocatedValue { value: JsValue::Function(function, scope), .. })) =
            (arguments.first(), arguments.get(1))
        else {
            return self.record_unread(span, "a class without a function that asserts");
        };
        let class = match class_of(class) {
            Some(class) => class,
            None => return self.record_unread(class.span, "a class that only a running program shows"),
        };
        let around = BodyContext { class: around.class.clone().or(Some(class)) };
        let inner = self.lower_body(&function.clone(), &[], *scope, &around);
        lines.extend(inner);
    }

    fn runtime_assertion(
        &mut self,
        method: &str,
        arguments: &[LocatedValue],
        kind: EqualityKind,
        span: Span,
    ) -> Option<RunExpr> {
        // `strictEqual` is strict in both variants of the module.
        let kind = if method.contains("trict") { EqualityKind::Strict } else { kind };
        let (first, second) = (arguments.first(), arguments.get(1));
        let both = || [first, second].into_iter().flatten();
        // An object equals only itself. Calls and skills have more fields in SkillGym than here.
        let is_identity = method.contains("qual")
            && both().any(|item| is_object(&item.value))
            && !both().any(LocatedValue::is_nullish);
        let has_more = both().any(|item| {
            matches!(&item.value, JsValue::RunExpr(told) if matches!(
                told.kind,
                RunExprKind::Call | RunExprKind::Skill | RunExprKind::Calls | RunExprKind::Skills
            ))
        });
        if is_identity && (has_more || !method.contains("eep")) {
            self.record_unread(span, "whether two objects are the same");
            return None;
        }
        let keeps_place = both().any(|item| matches!(&item.value, JsValue::Regex { flags, .. } if keeps_place(flags)));
        if keeps_place && ["match", "doesNotMatch"].contains(&method) {
            self.record_unread(span, KEEPS_PLACE);
            return None;
        }
        let told = match (method, first, second) {
            ("ok", Some(value), _) => match (&value.value, self.truth_condition(value)) {
                (JsValue::RunExpr(_), Some(truth)) => Some(truth),
                _ => None,
            },
            ("equal" | "strictEqual" | "deepEqual" | "deepStrictEqual", Some(one), Some(other)) => {
                self.equality_test(one, other, kind)
            }
            ("notEqual" | "notStrictEqual" | "notDeepEqual" | "notDeepStrictEqual", Some(one), Some(other)) => {
                self.equality_test(one, other, kind).map(|test| negate_condition(&test))
            }
            ("match", Some(text), Some(regex)) => self.search_regex(text, regex),
            ("doesNotMatch", Some(text), Some(regex)) => {
                // It accepts only texts.
                let mut text = text.clone();
                if let JsValue::RunExpr(told) = &mut text.value {
                    told.needs = told.needed_parts();
                }
                self.search_regex(&text, regex).map(|found| negate_condition(&found))
            }
            ("fail", ..) => Some(RunExpr::new("false", RunExprKind::Truth)),
            _ => None,
        };
        if told.is_none() {
            let values = [first, second]
                .into_iter()
                .flatten()
                .find(|item| matches!(item.value, JsValue::RuntimeOnly(_) | JsValue::Api(_)));
            let why = values.map_or_else(
                || format!("`assert.{method}` of values that no run decides"),
                |item| open_reason(&item.value),
            );
            self.record_unread(span, &why);
        }
        told
    }
}

/// Number of arguments before the message argument.
fn own_arguments(method: &str) -> usize {
    match method {
        "ok" => 1,
        "fail" => 0,
        _ => 2,
    }
}

/// Returns the id and the label of a class, which is an id or an object with a label.
pub(super) fn class_of(item: &LocatedValue) -> Option<(String, Option<String>)> {
    match &item.value {
        JsValue::Text(id) => Some((id.clone(), None)),
        JsValue::Object(_) => {
            let label = item.get("label").and_then(LocatedValue::as_text).map(ToOwned::to_owned);
            item.get("id").and_then(LocatedValue::as_text).map(|id| (id.to_owned(), label))
        }
        _ => None,
    }
}

//! Evaluates expressions as far as possible without running the program.

use super::needs::needed_with;
use super::plain::{is_part_of_run, parse_number, plain_text, plain_truth, regex_of, whole_number, with_its_place};
use super::program::SuiteProgram;
use super::value::{
    BoundName, JsValue, Lack, LocatedValue, RunExpr, RunExprKind, ScopeId, element_of, join_needs, open_value,
};
use crate::typescript::on_its_stack;
use crate::typescript::tree::{
    FunctionBody, TemplatePart, TsElement, TsExpr, TsExprKind, TsFunction, TsPattern, TsProperty, TsStatement,
    TsStatementKind,
};
use crate::writer::BindingStrength;
use averment_base::source::Span;
use std::rc::Rc;

/// Maximum length of a computed text, in bytes.
const LONG: usize = 1 << 20;

impl SuiteProgram<'_, '_> {
    pub(super) fn eval_expr(&mut self, expr: &TsExpr, scope: ScopeId) -> LocatedValue {
        if !self.enter_level() {
            return LocatedValue::new(JsValue::RuntimeOnly("too much to follow".to_owned()), expr.span);
        }
        let value = on_its_stack(|| self.eval_value(expr, scope));
        self.leave_level();
        LocatedValue::new(value, expr.span)
    }

    fn eval_value(&mut self, expr: &TsExpr, scope: ScopeId) -> JsValue {
        match &expr.kind {
            TsExprKind::Text(text) => JsValue::Text(text.clone()),
            TsExprKind::Number(text) => {
                parse_number(text).map_or_else(|| open_value("a number of another kind"), JsValue::Number)
            }
            TsExprKind::Bool(value) => JsValue::Bool(*value),
            TsExprKind::Null => JsValue::Null,
            TsExprKind::Regex { pattern, flags } => JsValue::Regex { pattern: pattern.clone(), flags: flags.clone() },
            TsExprKind::Template(parts) => self.eval_template(parts, scope),
            TsExprKind::Name(name) => with_its_place(self.resolve_name(name, scope)),
            TsExprKind::List(elements) => match self.spread_list(elements, scope) {
                Some(list) => list,
                None => match self.eval_elements(elements, scope) {
                    Ok(items) => JsValue::List(items),
                    Err(why) => JsValue::RuntimeOnly(why),
                },
            },
            TsExprKind::Object(properties) => self.eval_object(properties, scope),
            TsExprKind::Function(function) => JsValue::Function(Rc::clone(function), scope),
            TsExprKind::Member { .. } | TsExprKind::Index { .. } | TsExprKind::Call { .. } => {
                match self.eval_link(expr, scope).map_or(JsValue::Undefined, |item| item.value) {
                    // The optional chain ends here.
                    JsValue::RunExpr(told) => {
                        let lack = if told.lack == Lack::Chain { Lack::Element } else { told.lack };
                        JsValue::RunExpr(RunExpr { lack, chain_end: None, ..told })
                    }
                    value => value,
                }
            }
            TsExprKind::Optional(of) => self.eval_expr(of, scope).value,
            TsExprKind::New { class, arguments } => self.construct_object(class, arguments, scope),
            TsExprKind::Unary { operator: "await", of } => {
                self.awaited.insert((of.span.file, of.span.start));
                self.eval_expr(of, scope).value
            }
            TsExprKind::Unary { operator, of } => {
                let of = self.eval_expr(of, scope);
                self.apply_unary(operator, &of)
            }
            TsExprKind::Binary { operator, left, right } => {
                let left = self.eval_expr(left, scope);
                if let (true, Some(truth)) = (["&&", "||", "??"].contains(operator), plain_truth(&left)) {
                    let keeps = match *operator {
                        "&&" => !truth,
                        "||" => truth,
                        _ => !left.is_nullish(),
                    };
                    return if keeps { left.value } else { self.eval_expr(right, scope).value };
                }
                let right = self.eval_expr(right, scope);
                if *operator == "," {
                    return needed_with(right.value, &[left]);
                }
                self.apply_binary(operator, &left, &right)
            }
            TsExprKind::If { condition, then, other } => {
                let condition = self.eval_expr(condition, scope);
                match plain_truth(&condition) {
                    Some(true) => self.eval_expr(then, scope).value,
                    Some(false) => self.eval_expr(other, scope).value,
                    None => self.choose_value(&condition, then, other, scope),
                }
            }
            TsExprKind::Other(what) => open_value(what),
        }
    }

    fn eval_template(&mut self, parts: &[TemplatePart], scope: ScopeId) -> JsValue {
        let mut text = String::new();
        for part in parts {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Value(value) => {
                    let item = self.eval_expr(value, scope);
                    match plain_text(&item) {
                        Some(part) => text.push_str(&part),
                        None => return open_value("a text that only a run shows"),
                    }
                }
            }
        }
        self.long_text(text)
    }

    pub(super) fn long_text(&mut self, text: String) -> JsValue {
        if text.len() > LONG || !self.spend_budget(text.len() / 64) {
            return open_value("too long a text");
        }
        JsValue::Text(text)
    }

    pub(super) fn resolve_name(&mut self, name: &str, scope: ScopeId) -> JsValue {
        let Some((bound, found)) = self.scopes.find_name(scope, name) else {
            return match name {
                "undefined" => JsValue::Undefined,
                "NaN" | "Infinity" => open_value("a number that is none"),
                // An undeclared name belongs to the JavaScript runtime.
                _ => JsValue::Api(name.to_owned()),
            };
        };
        match bound {
            BoundName::Item(item) => item.value,
            BoundName::Imported(module, name) => self.exported_value(module, &name),
            BoundName::Busy => open_value("a value that is made of itself"),
            BoundName::Deferred(expr) => {
                self.scopes.bind_name(found, name, BoundName::Busy);
                let item = self.eval_expr(&expr, found);
                self.scopes.bind_name(found, name, BoundName::Item(item.clone()));
                item.value
            }
        }
    }

    /// Evaluates `[...list]`, which is that list if it is a list of the run.
    fn spread_list(&mut self, elements: &[TsElement], scope: ScopeId) -> Option<JsValue> {
        let [TsElement { spread: true, value }] = elements else { return None };
        let item = self.eval_expr(value, scope).value;
        let is_list = |told: &RunExpr| element_of(told.kind).is_some();
        matches!(&item, JsValue::RunExpr(told) if is_list(told)).then_some(item)
    }

    /// Evaluates the elements of a list, with spreads expanded. An error says which part only a running program knows.
    pub(super) fn eval_elements(
        &mut self,
        elements: &[TsElement],
        scope: ScopeId,
    ) -> Result<Vec<LocatedValue>, String> {
        let mut items = Vec::new();
        for element in elements {
            let item = self.eval_expr(&element.value, scope);
            match item.value {
                JsValue::List(inner) if element.spread => {
                    if !self.spend_budget(inner.len()) {
                        return Err("too much to follow".to_owned());
                    }
                    items.extend(inner);
                }
                _ if element.spread => return Err("a list that only a running program shows".to_owned()),
                value => items.push(LocatedValue::new(value, item.span)),
            }
        }
        Ok(items)
    }

    fn eval_object(&mut self, properties: &[TsProperty], scope: ScopeId) -> JsValue {
        let mut entries: Vec<(String, LocatedValue)> = Vec::new();
        let put = |entries: &mut Vec<(String, LocatedValue)>, name: String, item: LocatedValue| match entries
            .iter_mut()
            .find(|(known, _)| *known == name)
        {
            Some((_, known)) => *known = item,
            None => entries.push((name, item)),
        };
        for property in properties {
            match property {
                TsProperty::Pair { key, value } => {
                    let key = self.eval_expr(key, scope);
                    let Some(key) = plain_text(&key) else {
                        return open_value("an object with keys that only a run shows");
                    };
                    let item = self.eval_expr(value, scope);
                    put(&mut entries, key, item);
                }
                TsProperty::Spread(value) => {
                    let item = self.eval_expr(value, scope);
                    match item.value {
                        JsValue::Object(inner) if self.spend_budget(inner.len()) => {
                            inner.into_iter().for_each(|(name, item)| put(&mut entries, name, item));
                        }
                        JsValue::Undefined | JsValue::Null | JsValue::Bool(false) => {}
                        _ => return open_value("an object that only a running program shows"),
                    }
                }
                TsProperty::Other(_) => return open_value("an object with accessors"),
            }
        }
        JsValue::Object(entries)
    }

    pub(super) fn eval_index(&mut self, of: &LocatedValue, index: &LocatedValue) -> JsValue {
        match (&of.value, &index.value) {
            (_, JsValue::Text(name)) => self.member_value(of, name),
            (JsValue::List(items), JsValue::Number(number)) => {
                let place = whole_number(*number).and_then(|place| usize::try_from(place).ok());
                place
                    .and_then(|place| items.get(place))
                    .map_or(JsValue::Undefined, |item| with_its_place(item.value.clone()))
            }
            (JsValue::RunExpr(told), JsValue::Number(number)) => match whole_number(*number) {
                Some(place) => self.list_element(told, place),
                None => open_value("an element that is none"),
            },
            (_, JsValue::RuntimeOnly(why)) | (JsValue::RuntimeOnly(why), _) => JsValue::RuntimeOnly(why.clone()),
            _ => open_value("what stands at a place that only a run shows"),
        }
    }

    /// Evaluates `new`; supports regular expressions and errors.
    fn construct_object(&mut self, class: &TsExpr, arguments: &[TsElement], scope: ScopeId) -> JsValue {
        let class = self.eval_expr(class, scope);
        let Ok(arguments) = self.eval_elements(arguments, scope) else { return open_value("an object of a class") };
        let text = |at: usize| arguments.get(at).and_then(|item| item.as_text().map(ToOwned::to_owned));
        match &class.value {
            JsValue::Api(name) if name == "RegExp" => regex_of(&arguments),
            JsValue::Api(name) if name.ends_with("Error") => {
                let message = LocatedValue::new(text(0).map_or(JsValue::Undefined, JsValue::Text), class.span);
                JsValue::Object(vec![("message".to_owned(), message)])
            }
            _ => open_value("an object of a class"),
        }
    }

    pub(super) fn call_function(
        &mut self,
        called: &LocatedValue,
        arguments: &[TsElement],
        span: Span,
        scope: ScopeId,
    ) -> JsValue {
        let arguments = match self.eval_elements(arguments, scope) {
            Ok(arguments) => arguments,
            Err(why) => return JsValue::RuntimeOnly(why),
        };
        match &called.value {
            JsValue::Function(function, around) => {
                let is_awaited = !function.is_async || self.awaited.contains(&(span.file, span.start));
                let value = match is_awaited {
                    true => self.result_of_body(function, &arguments, *around),
                    false => self.function_result(function, &arguments, *around),
                };
                needed_with(value, &arguments)
            }
            JsValue::Api(name) => self.given_by(name, &arguments, span),
            value => {
                if arguments.iter().any(is_part_of_run) {
                    self.record_unread(span, "a function that may change the run it is given");
                }
                match value {
                    JsValue::RuntimeOnly(why) => JsValue::RuntimeOnly(why.clone()),
                    _ => open_value("what is called here"),
                }
            }
        }
    }

    /// Returns the result of a function that does nothing but return a value.
    pub(super) fn function_result(
        &mut self,
        function: &TsFunction,
        arguments: &[LocatedValue],
        around: ScopeId,
    ) -> JsValue {
        if function.is_async {
            // A promise is truthy whatever its result is.
            return open_value("a promise that nobody waits for");
        }
        self.result_of_body(function, arguments, around)
    }

    fn result_of_body(&mut self, function: &TsFunction, arguments: &[LocatedValue], around: ScopeId) -> JsValue {
        if !self.enter_level() {
            return open_value("too much to follow");
        }
        let scope = self.enter_function(function, arguments, around);
        let value = match &function.body {
            FunctionBody::Value(value) => self.eval_expr(value, scope).value,
            FunctionBody::Block(statements) => {
                let given = self.given_back(statements, scope);
                given.map_or_else(
                    |()| open_value("what a function gives back"),
                    |given| given.unwrap_or(JsValue::Undefined),
                )
            }
        };
        self.leave_level();
        value
    }

    pub(super) fn enter_function(
        &mut self,
        function: &TsFunction,
        arguments: &[LocatedValue],
        around: ScopeId,
    ) -> ScopeId {
        let scope = self.scopes.open_scope(around);
        for (at, pattern) in function.parameters.iter().enumerate() {
            let given = arguments.get(at).cloned().unwrap_or(LocatedValue::new(JsValue::Undefined, Span::default()));
            self.bind_pattern(pattern, given, scope);
        }
        scope
    }

    pub(super) fn bind_pattern(&mut self, pattern: &TsPattern, item: LocatedValue, scope: ScopeId) {
        match pattern {
            TsPattern::Name(name, other) => {
                let item = match other {
                    Some(other) if matches!(item.value, JsValue::Undefined) => self.eval_expr(other, scope),
                    Some(other) => self.value_or_default(item, other, scope),
                    None => item,
                };
                self.scopes.bind_name(scope, name, BoundName::Item(item));
            }
            TsPattern::Object(fields) => {
                for (key, inner) in fields {
                    let value = self.member_value(&item, key);
                    self.bind_pattern(inner, LocatedValue::new(value, item.span), scope);
                }
            }
            TsPattern::List(patterns) => {
                for (at, inner) in patterns.iter().enumerate() {
                    let place = LocatedValue::new(JsValue::Number(at as f64), item.span);
                    let value = self.eval_index(&item, &place);
                    inner
                        .iter()
                        .for_each(|inner| self.bind_pattern(inner, LocatedValue::new(value.clone(), item.span), scope));
                }
            }
            TsPattern::Other(names) => {
                for name in names {
                    let rest = LocatedValue::new(open_value("the rest of a value"), item.span);
                    self.scopes.bind_name(scope, name, BoundName::Item(rest));
                }
            }
        }
    }

    /// Evaluates a default, which applies if the value may be `undefined` in a run.
    fn value_or_default(&mut self, item: LocatedValue, other: &TsExpr, scope: ScopeId) -> LocatedValue {
        let JsValue::RunExpr(told) = &item.value else { return item };
        if told.lack == Lack::Never {
            return item;
        }
        let default = self.eval_expr(other, scope);
        let value = match (self.run_expression(&item), self.run_expression(&default)) {
            (Some(told), Some(other)) if other.lack == Lack::Never && other.needs.is_none() => {
                let own = told.nested_text(BindingStrength::Sum);
                let text = format!("(if {own} exists then {} else {})", told.text, other.text);
                let kind = if told.kind == other.kind { told.kind } else { RunExprKind::Any };
                let lack = if kind == RunExprKind::Any { Lack::Key } else { Lack::Never };
                JsValue::RunExpr(RunExpr { needs: told.needs, lack, ..RunExpr::new(text, kind) })
            }
            _ => open_value("a value with a default"),
        };
        LocatedValue::new(value, item.span)
    }

    /// Returns the returned value, or `None` without a return; an error if that cannot be determined.
    fn given_back(&mut self, statements: &[TsStatement], scope: ScopeId) -> Result<Option<JsValue>, ()> {
        for statement in statements {
            match &statement.kind {
                TsStatementKind::Nothing => {}
                TsStatementKind::Return(None) => return Ok(Some(JsValue::Undefined)),
                TsStatementKind::Return(Some(value)) => return Ok(Some(self.eval_expr(value, scope).value)),
                TsStatementKind::Bind(bound, _) => self.bind_all(bound, scope),
                TsStatementKind::Function(name, function) => {
                    self.declare_function(name, function, statement.span, scope)
                }
                TsStatementKind::If { condition, then, other } => {
                    let condition = self.eval_expr(condition, scope);
                    let branch = if plain_truth(&condition).ok_or(())? { then } else { other };
                    let inner = self.scopes.open_scope(scope);
                    if let Some(value) = self.given_back(branch, inner)? {
                        return Ok(Some(value));
                    }
                }
                _ => return Err(()),
            }
        }
        Ok(None)
    }

    pub(super) fn declare_function(&mut self, name: &str, function: &Rc<TsFunction>, span: Span, scope: ScopeId) {
        let item = LocatedValue::new(JsValue::Function(Rc::clone(function), scope), span);
        self.scopes.bind_name(scope, name, BoundName::Item(item));
    }

    pub(super) fn bind_all(&mut self, bound: &[(TsPattern, Option<TsExpr>)], scope: ScopeId) {
        for (pattern, value) in bound {
            let item = match value {
                Some(value) => self.eval_expr(value, scope),
                None => LocatedValue::new(JsValue::Undefined, Span::default()),
            };
            self.bind_pattern(pattern, item, scope);
        }
    }

    /// Evaluates `?:` with a condition about the run.
    fn choose_value(&mut self, condition: &LocatedValue, then: &TsExpr, other: &TsExpr, scope: ScopeId) -> JsValue {
        let Some(condition) = self.truth_condition(condition) else {
            return open_value("a condition that only a running program shows");
        };
        let (then, other) = (self.eval_expr(then, scope), self.eval_expr(other, scope));
        match (self.run_expression(&then), self.run_expression(&other)) {
            (Some(then), Some(other)) => {
                let condition = condition.as_total();
                let text = format!("(if {} then {} else {})", condition.text, then.text, other.text);
                let kind = if then.kind == other.kind { then.kind } else { RunExprKind::Any };
                let inner = (then.needs.is_some() || other.needs.is_some()).then(|| {
                    let of = |branch: &RunExpr| branch.needs.clone().unwrap_or_else(|| "true".to_owned());
                    format!("(if {} then {} else {})", condition.text, of(&then), of(&other))
                });
                let needs = join_needs(condition.needs.as_deref(), inner.as_deref());
                let lack = if then.lack == other.lack { then.lack } else { Lack::Key };
                JsValue::RunExpr(RunExpr { needs, lack, ..RunExpr::new(text, kind) })
            }
            _ => open_value("a value that a condition decides"),
        }
    }
}

//! What expressions are, as far as that shows without running them.

use super::program::Program;
use super::value::{Bound, Item, Kind, Scope, Told, Value, open};
use crate::typescript::on_its_stack;
use crate::typescript::tree::{
    Body, Element, Expr, ExprKind, Function, Pattern, Property, Stmt, StmtKind, TemplatePart,
};
use averment_base::source::Span;
use std::rc::Rc;

/// So long a text is made at the most, in bytes.
const LONG: usize = 1 << 20;

impl Program<'_, '_> {
    /// What an expression is.
    pub(super) fn eval(&mut self, expr: &Expr, scope: Scope) -> Item {
        if !self.goes_deeper() {
            return Item::new(Value::Open("too much to follow".to_owned()), expr.span);
        }
        let value = on_its_stack(|| self.value(expr, scope));
        self.comes_back();
        Item::new(value, expr.span)
    }

    fn value(&mut self, expr: &Expr, scope: Scope) -> Value {
        match &expr.kind {
            ExprKind::Text(text) => Value::Text(text.clone()),
            ExprKind::Number(text) => number(text).map_or_else(|| open("a number of another kind"), Value::Number),
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Null => Value::Null,
            ExprKind::Regex { pattern, flags } => Value::Regex { pattern: pattern.clone(), flags: flags.clone() },
            ExprKind::Template(parts) => self.template(parts, scope),
            ExprKind::Name(name) => self.named(name, scope),
            ExprKind::List(elements) => match self.elements(elements, scope) {
                Ok(items) => Value::List(items),
                Err(why) => Value::Open(why),
            },
            ExprKind::Object(properties) => self.object(properties, scope),
            ExprKind::Function(function) => Value::Function(Rc::clone(function), scope),
            ExprKind::Member { of, name } => {
                let of = self.eval(of, scope);
                self.member(&of, name)
            }
            ExprKind::Index { of, index } => {
                let (of, index) = (self.eval(of, scope), self.eval(index, scope));
                self.index(&of, &index)
            }
            ExprKind::Call { callee, arguments } => self.call(callee, arguments, expr.span, scope),
            ExprKind::New { class, arguments } => self.made(class, arguments, scope),
            ExprKind::Unary { operator, of } => {
                let of = self.eval(of, scope);
                self.unary(operator, &of)
            }
            ExprKind::Binary { operator, left, right } => {
                let left = self.eval(left, scope);
                if let (true, Some(truth)) = (["&&", "||", "??"].contains(operator), plain_truth(&left)) {
                    let keeps = match *operator {
                        "&&" => !truth,
                        "||" => truth,
                        _ => !left.is_nothing(),
                    };
                    return if keeps { left.value } else { self.eval(right, scope).value };
                }
                let right = self.eval(right, scope);
                self.binary(operator, &left, &right)
            }
            ExprKind::If { condition, then, other } => {
                let condition = self.eval(condition, scope);
                match plain_truth(&condition) {
                    Some(true) => self.eval(then, scope).value,
                    Some(false) => self.eval(other, scope).value,
                    None => self.either(&condition, then, other, scope),
                }
            }
            ExprKind::Other(what) => open(what),
        }
    }

    fn template(&mut self, parts: &[TemplatePart], scope: Scope) -> Value {
        let mut text = String::new();
        for part in parts {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Value(value) => {
                    let item = self.eval(value, scope);
                    match written(&item) {
                        Some(part) => text.push_str(&part),
                        None => return open("a text that only a run shows"),
                    }
                }
            }
        }
        self.long_text(text)
    }

    /// A text that was made of others.
    pub(super) fn long_text(&mut self, text: String) -> Value {
        if text.len() > LONG || !self.takes(text.len() / 64) {
            return open("too long a text");
        }
        Value::Text(text)
    }

    /// What a name stands for.
    pub(super) fn named(&mut self, name: &str, scope: Scope) -> Value {
        let Some((bound, found)) = self.scopes.find(scope, name) else {
            return match name {
                "undefined" => Value::Undefined,
                "NaN" | "Infinity" => open("a number that is none"),
                // What is not declared anywhere is a part of the runtime.
                _ => Value::Api(name.to_owned()),
            };
        };
        match bound {
            Bound::Item(item) => item.value,
            Bound::Of(module, name) => self.exported(module, &name),
            Bound::Busy => open("a value that is made of itself"),
            Bound::Later(expr) => {
                self.scopes.bind(found, name, Bound::Busy);
                let item = self.eval(&expr, found);
                self.scopes.bind(found, name, Bound::Item(item.clone()));
                item.value
            }
        }
    }

    /// Elements, those of lists that are spread among them; an error says what only a running program shows.
    pub(super) fn elements(&mut self, elements: &[Element], scope: Scope) -> Result<Vec<Item>, String> {
        let mut items = Vec::new();
        for element in elements {
            let item = self.eval(&element.value, scope);
            match item.value {
                Value::List(inner) if element.spread => {
                    if !self.takes(inner.len()) {
                        return Err("too much to follow".to_owned());
                    }
                    items.extend(inner);
                }
                _ if element.spread => return Err("a list that only a running program shows".to_owned()),
                value => items.push(Item::new(value, item.span)),
            }
        }
        Ok(items)
    }

    fn object(&mut self, properties: &[Property], scope: Scope) -> Value {
        let mut entries: Vec<(String, Item)> = Vec::new();
        let put = |entries: &mut Vec<(String, Item)>, name: String, item: Item| match entries
            .iter_mut()
            .find(|(known, _)| *known == name)
        {
            Some((_, known)) => *known = item,
            None => entries.push((name, item)),
        };
        for property in properties {
            match property {
                Property::Pair { key, value } => {
                    let key = self.eval(key, scope);
                    let Some(key) = written(&key) else { return open("an object with keys that only a run shows") };
                    let item = self.eval(value, scope);
                    put(&mut entries, key, item);
                }
                Property::Spread(value) => {
                    let item = self.eval(value, scope);
                    match item.value {
                        Value::Object(inner) if self.takes(inner.len()) => {
                            inner.into_iter().for_each(|(name, item)| put(&mut entries, name, item));
                        }
                        Value::Undefined | Value::Null | Value::Bool(false) => {}
                        _ => return open("an object that only a running program shows"),
                    }
                }
                Property::Other(_) => return open("an object with accessors"),
            }
        }
        Value::Object(entries)
    }

    fn index(&mut self, of: &Item, index: &Item) -> Value {
        match (&of.value, &index.value) {
            (_, Value::Text(name)) => self.member(of, name),
            (Value::List(items), Value::Number(number)) => {
                let place = whole(*number).and_then(|place| usize::try_from(place).ok());
                place.and_then(|place| items.get(place)).map_or(Value::Undefined, |item| item.value.clone())
            }
            (Value::Told(told), Value::Number(number)) => match whole(*number) {
                Some(place) => self.element(told, place),
                None => open("an element that is none"),
            },
            (_, Value::Open(why)) | (Value::Open(why), _) => Value::Open(why.clone()),
            _ => open("what stands at a place that only a run shows"),
        }
    }

    /// An object that is made: regular expressions and errors are known.
    fn made(&mut self, class: &Expr, arguments: &[Element], scope: Scope) -> Value {
        let class = self.eval(class, scope);
        let Ok(arguments) = self.elements(arguments, scope) else { return open("an object of a class") };
        let text = |at: usize| arguments.get(at).and_then(|item| item.text().map(ToOwned::to_owned));
        match &class.value {
            Value::Api(name) if name == "RegExp" => regex_of(&arguments),
            Value::Api(name) if name.ends_with("Error") => {
                let message = Item::new(text(0).map_or(Value::Undefined, Value::Text), class.span);
                Value::Object(vec![("message".to_owned(), message)])
            }
            _ => open("an object of a class"),
        }
    }

    /// A call of something.
    fn call(&mut self, callee: &Expr, arguments: &[Element], span: Span, scope: Scope) -> Value {
        if let ExprKind::Member { of, name } = &callee.kind {
            let of = self.eval(of, scope);
            let called = match &of.value {
                Value::Api(_) | Value::Object(_) => self.member(&of, name),
                _ => {
                    return match self.elements(arguments, scope) {
                        Ok(arguments) => self.method(&of, name, &arguments),
                        Err(why) => Value::Open(why),
                    };
                }
            };
            return self.called(&Item::new(called, callee.span), arguments, span, scope);
        }
        let called = self.eval(callee, scope);
        self.called(&called, arguments, span, scope)
    }

    fn called(&mut self, called: &Item, arguments: &[Element], span: Span, scope: Scope) -> Value {
        let arguments = match self.elements(arguments, scope) {
            Ok(arguments) => arguments,
            Err(why) => return Value::Open(why),
        };
        match &called.value {
            Value::Function(function, around) => self.result(function, &arguments, *around),
            Value::Api(name) => self.given_by(name, &arguments, span),
            Value::Open(why) => Value::Open(why.clone()),
            _ => open("what is called here"),
        }
    }

    /// What a function gives back that does nothing else.
    pub(super) fn result(&mut self, function: &Function, arguments: &[Item], around: Scope) -> Value {
        if !self.goes_deeper() {
            return open("too much to follow");
        }
        let scope = self.entered(function, arguments, around);
        let value = match &function.body {
            Body::Value(value) => self.eval(value, scope).value,
            Body::Block(statements) => {
                let given = self.given_back(statements, scope);
                given.map_or_else(|()| open("what a function gives back"), |given| given.unwrap_or(Value::Undefined))
            }
        };
        self.comes_back();
        value
    }

    /// The scope of a function that is called.
    pub(super) fn entered(&mut self, function: &Function, arguments: &[Item], around: Scope) -> Scope {
        let scope = self.scopes.inside(around);
        for (at, pattern) in function.parameters.iter().enumerate() {
            let given = arguments.get(at).cloned().unwrap_or(Item::new(Value::Undefined, Span::default()));
            self.bind(pattern, given, scope);
        }
        scope
    }

    /// Gives the names of a pattern what stands in a value.
    pub(super) fn bind(&mut self, pattern: &Pattern, item: Item, scope: Scope) {
        match pattern {
            Pattern::Name(name, other) => {
                let item = match other {
                    Some(other) if matches!(item.value, Value::Undefined) => self.eval(other, scope),
                    _ => item,
                };
                self.scopes.bind(scope, name, Bound::Item(item));
            }
            Pattern::Object(fields) => {
                for (key, inner) in fields {
                    let value = self.member(&item, key);
                    self.bind(inner, Item::new(value, item.span), scope);
                }
            }
            Pattern::List(patterns) => {
                for (at, inner) in patterns.iter().enumerate() {
                    let place = Item::new(Value::Number(at as f64), item.span);
                    let value = self.index(&item, &place);
                    inner.iter().for_each(|inner| self.bind(inner, Item::new(value.clone(), item.span), scope));
                }
            }
            Pattern::Other(names) => {
                for name in names {
                    let rest = Item::new(open("the rest of a value"), item.span);
                    self.scopes.bind(scope, name, Bound::Item(rest));
                }
            }
        }
    }

    /// The value that statements give back, where they do; an error where that does not show.
    fn given_back(&mut self, statements: &[Stmt], scope: Scope) -> Result<Option<Value>, ()> {
        for statement in statements {
            match &statement.kind {
                StmtKind::Nothing => {}
                StmtKind::Return(None) => return Ok(Some(Value::Undefined)),
                StmtKind::Return(Some(value)) => return Ok(Some(self.eval(value, scope).value)),
                StmtKind::Bind(bound, _) => self.bind_all(bound, scope),
                StmtKind::Function(name, function) => self.declare(name, function, statement.span, scope),
                StmtKind::If { condition, then, other } => {
                    let condition = self.eval(condition, scope);
                    let branch = if plain_truth(&condition).ok_or(())? { then } else { other };
                    let inner = self.scopes.inside(scope);
                    if let Some(value) = self.given_back(branch, inner)? {
                        return Ok(Some(value));
                    }
                }
                _ => return Err(()),
            }
        }
        Ok(None)
    }

    pub(super) fn declare(&mut self, name: &str, function: &Rc<Function>, span: Span, scope: Scope) {
        let item = Item::new(Value::Function(Rc::clone(function), scope), span);
        self.scopes.bind(scope, name, Bound::Item(item));
    }

    pub(super) fn bind_all(&mut self, bound: &[(Pattern, Option<Expr>)], scope: Scope) {
        for (pattern, value) in bound {
            let item = match value {
                Some(value) => self.eval(value, scope),
                None => Item::new(Value::Undefined, Span::default()),
            };
            self.bind(pattern, item, scope);
        }
    }

    /// A condition of a run decides between two values.
    fn either(&mut self, condition: &Item, then: &Expr, other: &Expr, scope: Scope) -> Value {
        let Some(condition) = self.truth(condition) else {
            return open("a condition that only a running program shows");
        };
        let (then, other) = (self.eval(then, scope), self.eval(other, scope));
        match (self.told(&then), self.told(&other)) {
            (Some(then), Some(other)) => {
                let text = format!("(if {} then {} else {})", condition.text, then.text, other.text);
                Value::Told(Told::new(text, if then.kind == other.kind { then.kind } else { Kind::Any }))
            }
            _ => open("a value that a condition decides"),
        }
    }
}

/// Whether a value counts as true, where that shows without a run.
pub(super) fn plain_truth(item: &Item) -> Option<bool> {
    match &item.value {
        Value::Undefined | Value::Null => Some(false),
        Value::Bool(value) => Some(*value),
        Value::Number(number) => Some(*number != 0.0),
        Value::Text(text) => Some(!text.is_empty()),
        Value::Regex { .. } | Value::List(_) | Value::Object(_) | Value::Builder(_) | Value::Function(..) => Some(true),
        Value::Api(_) | Value::Told(_) | Value::Open(_) => None,
    }
}

/// A value as text, where it is one that is there without a run.
pub(super) fn written(item: &Item) -> Option<String> {
    match &item.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number_text(*number)),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// A number as it is written.
pub(super) fn number_text(number: f64) -> String {
    format!("{number}")
}

/// A number that is whole.
#[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
pub(super) fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

/// The number that a text of digits is.
fn number(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|letter| *letter != '_').collect();
    let lower = plain.to_ascii_lowercase();
    let of_base = |digits: &str, base| u32::from_str_radix(digits, base).ok().map(f64::from);
    for (mark, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(mark) {
            return of_base(digits, base);
        }
    }
    plain.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `new RegExp(text, flags)`, also of a regular expression.
pub(super) fn regex_of(arguments: &[Item]) -> Value {
    let flags = arguments.get(1).and_then(Item::text);
    match arguments.first().map(|first| &first.value) {
        Some(Value::Text(pattern)) => {
            Value::Regex { pattern: pattern.clone(), flags: flags.unwrap_or_default().to_owned() }
        }
        Some(Value::Regex { pattern, flags: own }) => {
            Value::Regex { pattern: pattern.clone(), flags: flags.unwrap_or(own).to_owned() }
        }
        _ => open("a regular expression that only a running program shows"),
    }
}

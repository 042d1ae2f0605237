//! Objects and functions.

use super::lexer::{Kind, unescaped};
use super::tree::{Body, Expr, ExprKind, Function, Pattern, Property};
use super::{Parser, Read, Unread};
use std::rc::Rc;

impl Parser<'_> {
    /// The properties of an object, with the brace behind them.
    pub(super) fn properties(&mut self) -> Read<Vec<Property>> {
        let mut properties = Vec::new();
        while !self.sign("}") {
            properties.push(self.property()?);
            if !self.is_sign("}") {
                self.expect(",")?;
            }
        }
        Ok(properties)
    }

    fn property(&mut self) -> Read<Property> {
        if self.sign("...") {
            return Ok(Property::Spread(self.expression()?));
        }
        let start = self.lexer.peek().start;
        let mut accessor = false;
        for word in ["async", "get", "set"] {
            accessor |= self.modifier(word) && word != "async";
        }
        let generates = self.sign("*");
        let key = self.key()?;
        if self.is_sign("(") || self.is_sign("<") {
            let function = self.parameters_and_body()?;
            let span = self.since(start);
            if accessor || generates {
                return Ok(Property::Other(span));
            }
            let value = Expr { kind: ExprKind::Function(Rc::new(function)), span };
            return Ok(Property::Pair { key, value });
        }
        if self.sign(":") {
            return Ok(Property::Pair { key, value: self.expression()? });
        }
        // `{ name }`, which may have a value of its own where it is a pattern.
        let ExprKind::Text(name) = &key.kind else { return Err(Unread) };
        let value = Expr { kind: ExprKind::Name(name.clone()), span: key.span };
        if self.sign("=") {
            self.expression()?;
        }
        Ok(Property::Pair { key, value })
    }

    /// Takes a word that says more of the property that follows, where it is not the property itself.
    fn modifier(&mut self, word: &str) -> bool {
        let taken = self.attempt(|parser| {
            let is = parser.word(word);
            let next = parser.lexer.peek();
            let goes_on = matches!(next.kind, Kind::Name(_) | Kind::Text(_) | Kind::Number(_) | Kind::Sign("[" | "*"));
            if is && goes_on { Ok(()) } else { Err(Unread) }
        });
        taken.is_ok()
    }

    /// The key of a property.
    pub(super) fn key(&mut self) -> Read<Expr> {
        let token = self.lexer.peek();
        let kind = match token.kind {
            Kind::Name(text) => ExprKind::Text(text.to_owned()),
            Kind::Number(text) => ExprKind::Text(text.to_owned()),
            Kind::Text(text) => ExprKind::Text(unescaped(text)),
            Kind::Sign("[") => {
                self.lexer.take(&token);
                let key = self.expression()?;
                self.expect("]")?;
                return Ok(key);
            }
            _ => return Err(Unread),
        };
        self.lexer.take(&token);
        Ok(self.made(token.start, kind))
    }

    /// A function behind its word: its name, and itself.
    pub(super) fn function(&mut self, start: usize) -> Read<(Option<String>, Expr)> {
        let generates = self.sign("*");
        let token = self.lexer.peek();
        let name = match token.kind {
            Kind::Name(name) => {
                self.lexer.take(&token);
                Some(name.to_owned())
            }
            _ => None,
        };
        let function = self.parameters_and_body()?;
        let kind = if generates { ExprKind::Other("a generator") } else { ExprKind::Function(Rc::new(function)) };
        Ok((name, self.made(start, kind)))
    }

    fn parameters_and_body(&mut self) -> Read<Function> {
        self.deeper(|parser| {
            let parameters = parser.parameters()?;
            parser.annotation()?;
            Ok(Function { parameters, body: Body::Block(parser.block()?) })
        })
    }

    pub(super) fn parameters(&mut self) -> Read<Vec<Pattern>> {
        if self.is_sign("<") {
            self.type_arguments()?;
        }
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.sign(")") {
            parameters.push(self.pattern()?);
            if !self.is_sign(")") {
                self.expect(",")?;
            }
        }
        Ok(parameters)
    }
}

//! Parses objects and functions.

use super::lexer::{TsTokenKind, unescape_text};
use super::tree::{FunctionBody, TsExpr, TsExprKind, TsFunction, TsPattern, TsProperty};
use super::{ParseResult, TsParser, UnreadPiece};
use std::rc::Rc;

impl TsParser<'_> {
    /// Parses properties, including the closing brace.
    pub(super) fn parse_properties(&mut self) -> ParseResult<Vec<TsProperty>> {
        let mut properties = Vec::new();
        while !self.take_sign("}") {
            properties.push(self.parse_property()?);
            if !self.is_sign("}") {
                self.expect_sign(",")?;
            }
        }
        Ok(properties)
    }

    fn parse_property(&mut self) -> ParseResult<TsProperty> {
        if self.take_sign("...") {
            return Ok(TsProperty::Spread(self.parse_expression()?));
        }
        let start = self.lexer.peek_token().start;
        let is_async = self.take_modifier("async");
        let accessor = self.take_modifier("get") || self.take_modifier("set");
        let generates = self.take_sign("*");
        let key = self.parse_key()?;
        if self.is_sign("(") || self.is_sign("<") {
            let function = self.parameters_and_body()?;
            let span = self.span_since(start);
            if accessor || generates {
                return Ok(TsProperty::Other(span));
            }
            let value = TsExpr { kind: TsExprKind::Function(Rc::new(TsFunction { is_async, ..function })), span };
            return Ok(TsProperty::Pair { key, value });
        }
        if self.take_sign(":") {
            return Ok(TsProperty::Pair { key, value: self.parse_expression()? });
        }
        // `{ name }`, which may have a default value in a pattern.
        let TsExprKind::Text(name) = &key.kind else { return Err(UnreadPiece) };
        let value = TsExpr { kind: TsExprKind::Name(name.clone()), span: key.span };
        if self.take_sign("=") {
            self.parse_expression()?;
        }
        Ok(TsProperty::Pair { key, value })
    }

    /// Takes a modifier, unless it is the name of the property itself.
    fn take_modifier(&mut self, word: &str) -> bool {
        let taken = self.try_parse(|parser| {
            let is = parser.take_word(word);
            let next = parser.lexer.peek_token();
            let goes_on = matches!(
                next.kind,
                TsTokenKind::Name(_) | TsTokenKind::Text(_) | TsTokenKind::Number(_) | TsTokenKind::Sign("[" | "*")
            );
            if is && goes_on { Ok(()) } else { Err(UnreadPiece) }
        });
        taken.is_ok()
    }

    pub(super) fn parse_key(&mut self) -> ParseResult<TsExpr> {
        let token = self.lexer.peek_token();
        let kind = match token.kind {
            TsTokenKind::Name(text) => TsExprKind::Text(text.to_owned()),
            TsTokenKind::Number(text) => TsExprKind::Text(text.to_owned()),
            TsTokenKind::Text(text) => TsExprKind::Text(unescape_text(text)),
            TsTokenKind::Sign("[") => {
                self.lexer.take_token(&token);
                let key = self.parse_expression()?;
                self.expect_sign("]")?;
                return Ok(key);
            }
            _ => return Err(UnreadPiece),
        };
        self.lexer.take_token(&token);
        Ok(self.make_expr(token.start, kind))
    }

    pub(super) fn parse_function(&mut self, start: usize) -> ParseResult<(Option<String>, TsExpr)> {
        let generates = self.take_sign("*");
        let token = self.lexer.peek_token();
        let name = match token.kind {
            TsTokenKind::Name(name) => {
                self.lexer.take_token(&token);
                Some(name.to_owned())
            }
            _ => None,
        };
        let function = self.parameters_and_body()?;
        let kind = if generates { TsExprKind::Other("a generator") } else { TsExprKind::Function(Rc::new(function)) };
        Ok((name, self.make_expr(start, kind)))
    }

    fn parameters_and_body(&mut self) -> ParseResult<TsFunction> {
        self.parse_deeper(|parser| {
            let parameters = parser.parse_parameters()?;
            parser.skip_annotation()?;
            Ok(TsFunction { parameters, body: FunctionBody::Block(parser.parse_block()?), is_async: false })
        })
    }

    pub(super) fn parse_parameters(&mut self) -> ParseResult<Vec<TsPattern>> {
        if self.is_sign("<") {
            self.type_arguments()?;
        }
        self.expect_sign("(")?;
        let mut parameters = Vec::new();
        while !self.take_sign(")") {
            parameters.push(self.parse_parameter()?);
            if !self.is_sign(")") {
                self.expect_sign(",")?;
            }
        }
        Ok(parameters)
    }
}

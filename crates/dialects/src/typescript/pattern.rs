//! Parses binding patterns: parameters and the targets of declarations.

use super::expression::is_keyword;
use super::lexer::TsTokenKind;
use super::tree::{TsExprKind, TsPattern};
use super::{ParseResult, TsParser, UnreadPiece};

impl TsParser<'_> {
    pub(super) fn parse_parameter(&mut self) -> ParseResult<TsPattern> {
        self.parse_deeper(|parser| {
            if parser.take_sign("...") {
                let inner = parser.parse_target()?;
                parser.skip_annotation()?;
                return Ok(TsPattern::Other(names_of(&inner)));
            }
            let target = parser.parse_target()?;
            let _ = parser.take_sign("?");
            parser.skip_annotation()?;
            let value = if parser.take_sign("=") { Some(parser.parse_expression()?) } else { None };
            Ok(match (target, value) {
                (TsPattern::Name(name, _), value) => TsPattern::Name(name, value),
                (target, None) => target,
                (target, Some(_)) => TsPattern::Other(names_of(&target)),
            })
        })
    }

    pub(super) fn parse_target(&mut self) -> ParseResult<TsPattern> {
        if self.take_sign("{") {
            return self.parse_deeper(Self::object_pattern);
        }
        if self.take_sign("[") {
            return self.parse_deeper(Self::list_pattern);
        }
        let token = self.lexer.peek_token();
        match token.kind {
            TsTokenKind::Name(name) if !is_keyword(name) => {
                self.lexer.take_token(&token);
                Ok(TsPattern::Name(name.to_owned(), None))
            }
            _ => Err(UnreadPiece),
        }
    }

    fn object_pattern(&mut self) -> ParseResult<TsPattern> {
        let (mut fields, mut others, mut plain) = (Vec::new(), Vec::new(), true);
        while !self.take_sign("}") {
            if self.take_sign("...") {
                others.push(self.parse_name()?);
                plain = false;
            } else {
                let key = self.parse_key()?;
                let TsExprKind::Text(key) = key.kind else { return Err(UnreadPiece) };
                let inner =
                    if self.take_sign(":") { self.parse_parameter()? } else { TsPattern::Name(key.clone(), None) };
                if self.take_sign("=") {
                    self.parse_expression()?;
                    plain = false;
                }
                fields.push((key, inner));
            }
            if !self.is_sign("}") {
                self.expect_sign(",")?;
            }
        }
        let pattern = TsPattern::Object(fields);
        if plain {
            return Ok(pattern);
        }
        others.extend(names_of(&pattern));
        Ok(TsPattern::Other(others))
    }

    fn list_pattern(&mut self) -> ParseResult<TsPattern> {
        let mut items = Vec::new();
        while !self.take_sign("]") {
            if self.take_sign(",") {
                items.push(None);
                continue;
            }
            items.push(Some(self.parse_parameter()?));
            if !self.is_sign("]") {
                self.expect_sign(",")?;
            }
        }
        Ok(TsPattern::List(items))
    }
}

fn names_of(pattern: &TsPattern) -> Vec<String> {
    match pattern {
        TsPattern::Name(name, _) => vec![name.clone()],
        TsPattern::Object(fields) => fields.iter().flat_map(|(_, inner)| names_of(inner)).collect(),
        TsPattern::List(items) => items.iter().flatten().flat_map(names_of).collect(),
        TsPattern::Other(names) => names.clone(),
    }
}

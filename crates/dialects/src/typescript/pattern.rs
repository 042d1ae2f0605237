//! What names are given to: parameters and targets of declarations.

use super::expression::is_keyword;
use super::lexer::Kind;
use super::tree::{ExprKind, Pattern};
use super::{Parser, Read, Unread};

impl Parser<'_> {
    /// A parameter, with its type and its value where nothing is given.
    pub(super) fn pattern(&mut self) -> Read<Pattern> {
        self.deeper(|parser| {
            if parser.sign("...") {
                let inner = parser.target()?;
                parser.annotation()?;
                return Ok(Pattern::Other(names_of(&inner)));
            }
            let target = parser.target()?;
            let _ = parser.sign("?");
            parser.annotation()?;
            let value = if parser.sign("=") { Some(parser.expression()?) } else { None };
            Ok(match (target, value) {
                (Pattern::Name(name, _), value) => Pattern::Name(name, value),
                (target, None) => target,
                (target, Some(_)) => Pattern::Other(names_of(&target)),
            })
        })
    }

    /// What names are given to, without a type.
    pub(super) fn target(&mut self) -> Read<Pattern> {
        if self.sign("{") {
            return self.deeper(Self::object_pattern);
        }
        if self.sign("[") {
            return self.deeper(Self::list_pattern);
        }
        let token = self.lexer.peek();
        match token.kind {
            Kind::Name(name) if !is_keyword(name) => {
                self.lexer.take(&token);
                Ok(Pattern::Name(name.to_owned(), None))
            }
            _ => Err(Unread),
        }
    }

    fn object_pattern(&mut self) -> Read<Pattern> {
        let (mut fields, mut others, mut plain) = (Vec::new(), Vec::new(), true);
        while !self.sign("}") {
            if self.sign("...") {
                others.push(self.name()?);
                plain = false;
            } else {
                let key = self.key()?;
                let ExprKind::Text(key) = key.kind else { return Err(Unread) };
                let inner = if self.sign(":") { self.pattern()? } else { Pattern::Name(key.clone(), None) };
                if self.sign("=") {
                    self.expression()?;
                    plain = false;
                }
                fields.push((key, inner));
            }
            if !self.is_sign("}") {
                self.expect(",")?;
            }
        }
        let pattern = Pattern::Object(fields);
        if plain {
            return Ok(pattern);
        }
        others.extend(names_of(&pattern));
        Ok(Pattern::Other(others))
    }

    fn list_pattern(&mut self) -> Read<Pattern> {
        let mut items = Vec::new();
        while !self.sign("]") {
            if self.sign(",") {
                items.push(None);
                continue;
            }
            items.push(Some(self.pattern()?));
            if !self.is_sign("]") {
                self.expect(",")?;
            }
        }
        Ok(Pattern::List(items))
    }
}

/// The names in a pattern.
fn names_of(pattern: &Pattern) -> Vec<String> {
    match pattern {
        Pattern::Name(name, _) => vec![name.clone()],
        Pattern::Object(fields) => fields.iter().flat_map(|(_, inner)| names_of(inner)).collect(),
        Pattern::List(items) => items.iter().flatten().flat_map(names_of).collect(),
        Pattern::Other(names) => names.clone(),
    }
}

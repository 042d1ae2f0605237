//! Parses imports and exports.

use super::lexer::{TsTokenKind, unescape_text};
use super::tree::{TsExpr, TsExprKind, TsStatement, TsStatementKind};
use super::{ParseResult, TsParser, UnreadPiece};

impl TsParser<'_> {
    pub(super) fn parse_import(&mut self) -> ParseResult<TsStatementKind> {
        self.take_word("import");
        let only_types = self.take_word("type")
            && !matches!(self.lexer.peek_token().kind, TsTokenKind::Name("from") | TsTokenKind::Sign(","));
        let mut names = Vec::new();
        let token = self.lexer.peek_token();
        if let TsTokenKind::Text(module) = token.kind {
            self.lexer.take_token(&token);
            self.parse_attributes()?;
            return Ok(TsStatementKind::Import { module: unescape_text(module), names });
        }
        if let TsTokenKind::Name(name) = token.kind {
            self.lexer.take_token(&token);
            names.push(("default".to_owned(), name.to_owned()));
            self.take_sign(",");
        }
        if self.take_sign("*") {
            if !self.take_word("as") {
                return Err(UnreadPiece);
            }
            names.push(("*".to_owned(), self.parse_name()?));
        } else if self.is_sign("{") {
            names.extend(self.parse_names()?);
        }
        if !self.take_word("from") {
            return Err(UnreadPiece);
        }
        let module = self.parse_module_path()?;
        self.parse_attributes()?;
        Ok(if only_types { TsStatementKind::Nothing } else { TsStatementKind::Import { module, names } })
    }

    /// Parses `with { type: "json" }` and the end of the statement.
    fn parse_attributes(&mut self) -> ParseResult<()> {
        if self.take_word("with") || self.take_word("assert") {
            self.skip_brackets()?;
        }
        self.end_statement()
    }

    fn parse_module_path(&mut self) -> ParseResult<String> {
        let token = self.lexer.peek_token();
        let TsTokenKind::Text(module) = token.kind else { return Err(UnreadPiece) };
        self.lexer.take_token(&token);
        Ok(unescape_text(module))
    }

    pub(super) fn parse_name(&mut self) -> ParseResult<String> {
        let token = self.lexer.peek_token();
        let name = match token.kind {
            TsTokenKind::Name(name) => name.to_owned(),
            TsTokenKind::Text(text) => unescape_text(text),
            _ => return Err(UnreadPiece),
        };
        self.lexer.take_token(&token);
        Ok(name)
    }

    /// Parses `{ a, b as c, type D }`, without the types.
    fn parse_names(&mut self) -> ParseResult<Vec<(String, String)>> {
        self.expect_sign("{")?;
        let mut names = Vec::new();
        while !self.take_sign("}") {
            let mut is_type = false;
            let mut name = self.parse_name()?;
            if name == "type"
                && !self.is_sign(",")
                && !self.is_sign("}")
                && self.lexer.peek_token().kind != TsTokenKind::Name("as")
            {
                is_type = true;
                name = self.parse_name()?;
            }
            let other = if self.take_word("as") { self.parse_name()? } else { name.clone() };
            if !is_type {
                names.push((name, other));
            }
            if !self.is_sign("}") {
                self.expect_sign(",")?;
            }
        }
        Ok(names)
    }

    pub(super) fn parse_export(&mut self) -> ParseResult<TsStatementKind> {
        self.take_word("export");
        if self.take_word("default") {
            let start = self.lexer.peek_token().start;
            let value = match self.try_parse(Self::function_statement) {
                Ok(TsStatementKind::Function(_, function)) => {
                    TsExpr { kind: TsExprKind::Function(function), span: self.span_since(start) }
                }
                _ => self.parse_expression()?,
            };
            self.end_statement()?;
            return Ok(TsStatementKind::ExportDefault(value));
        }
        if self.take_sign("=") {
            let value = self.parse_expression()?;
            self.end_statement()?;
            return Ok(TsStatementKind::ExportDefault(value));
        }
        let only_types = self.try_parse(|parser| {
            let is = parser.take_word("type") && (parser.is_sign("{") || parser.is_sign("*"));
            if is { Ok(()) } else { Err(UnreadPiece) }
        });
        let begin = self.lexer.peek_token().kind;
        if matches!(begin, TsTokenKind::Sign("*" | "{")) {
            let mut names = Vec::new();
            if self.take_sign("*") {
                let outside = if self.take_word("as") { self.parse_name()? } else { "*".to_owned() };
                names.push(("*".to_owned(), outside));
            } else {
                names = self.parse_names()?;
            }
            let module = if self.take_word("from") { Some(self.parse_module_path()?) } else { None };
            self.parse_attributes()?;
            return Ok(if only_types.is_ok() {
                TsStatementKind::Nothing
            } else {
                TsStatementKind::ExportNames { module, names }
            });
        }
        let start = self.lexer.peek_token().start;
        let kind = self.statement_kind()?;
        Ok(TsStatementKind::Export(Box::new(TsStatement { kind, span: self.span_since(start) })))
    }
}

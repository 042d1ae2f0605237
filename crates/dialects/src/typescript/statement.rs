//! Parses statements.

use super::expression::{as_async, is_keyword};
use super::lexer::TsTokenKind;
use super::tree::{NEXT_TURN, TsExprKind, TsStatement, TsStatementKind, UNREADABLE};
use super::{ParseResult, TsParser, UnreadPiece};

impl TsParser<'_> {
    pub(super) fn statements_until_end(&mut self) -> Vec<TsStatement> {
        let mut statements = Vec::new();
        while self.lexer.peek_token().kind != TsTokenKind::End {
            let start = self.lexer.peek_token().start;
            statements.push(self.parse_statement());
            // A closing bracket without an opening one.
            if self.lexer.last_end() <= start {
                let token = self.lexer.peek_token();
                self.lexer.take_token(&token);
            }
        }
        statements
    }

    pub(super) fn parse_block(&mut self) -> ParseResult<Vec<TsStatement>> {
        self.parse_deeper(|parser| {
            parser.expect_sign("{")?;
            let mut statements = Vec::new();
            // An unclosed block ends at the end of the text; its last statement is then unreadable.
            while !parser.take_sign("}") {
                let next = parser.lexer.peek_token();
                statements.push(parser.parse_statement());
                if next.kind == TsTokenKind::End {
                    break;
                }
            }
            Ok(statements)
        })
    }

    /// Parses a statement; unreadable ones are skipped.
    fn parse_statement(&mut self) -> TsStatement {
        let start = self.lexer.peek_token().start;
        let kind = self.try_parse(|parser| parser.parse_deeper(Self::statement_kind)).unwrap_or_else(|UnreadPiece| {
            self.skip_statement();
            TsStatementKind::Other(UNREADABLE)
        });
        TsStatement { kind, span: self.span_since(start) }
    }

    /// Skips to `;`, or to a line end outside of brackets.
    fn skip_statement(&mut self) {
        loop {
            let token = self.lexer.peek_token();
            match token.kind {
                TsTokenKind::End | TsTokenKind::Sign("}") => return,
                TsTokenKind::Sign("(" | "[" | "{") => {
                    // An unclosed bracket extends to the end of the text.
                    if self.skip_brackets().is_err() {
                        return self.lexer.take_rest();
                    }
                }
                _ => self.lexer.take_token(&token),
            }
            if token.kind == TsTokenKind::Sign(";") || self.lexer.peek_token().on_new_line {
                return;
            }
        }
    }

    pub(super) fn end_statement(&mut self) -> ParseResult<()> {
        let next = self.lexer.peek_token();
        if self.take_sign(";") || next.on_new_line || matches!(next.kind, TsTokenKind::End | TsTokenKind::Sign("}")) {
            Ok(())
        } else {
            Err(UnreadPiece)
        }
    }

    pub(super) fn statement_kind(&mut self) -> ParseResult<TsStatementKind> {
        let token = self.lexer.peek_token();
        let word = match token.kind {
            TsTokenKind::Sign("{") => return Ok(TsStatementKind::Block(self.parse_block()?)),
            TsTokenKind::Sign(";") => {
                self.lexer.take_token(&token);
                return Ok(TsStatementKind::Nothing);
            }
            TsTokenKind::Sign("@") => return Err(UnreadPiece),
            TsTokenKind::Name(word) => word,
            _ => return self.expression_statement(),
        };
        match word {
            "import" => self.try_parse(Self::parse_import).or_else(|UnreadPiece| self.expression_statement()),
            "export" => self.parse_export(),
            "const" | "let" | "var" if !self.begins_enum() => self.parse_binding(),
            "return" => self.give_back(),
            "if" => self.parse_branch(),
            "for" => self.try_parse(Self::for_of).or_else(|UnreadPiece| self.opaque_statement("a loop with a counter")),
            "throw" => {
                self.take_word("throw");
                let value = self.parse_expression()?;
                self.end_statement()?;
                Ok(TsStatementKind::Throw(value))
            }
            "while" | "do" | "switch" | "try" | "break" | "continue" | "debugger" | "with" => {
                self.opaque_statement(statement_name(word))
            }
            "class" | "abstract" | "enum" | "const" => {
                self.parse_declaration().or_else(|UnreadPiece| self.expression_statement())
            }
            "function" | "async" => self
                .function_statement()
                .or_else(|UnreadPiece| self.try_parse(Self::skip_signature))
                .or_else(|UnreadPiece| self.expression_statement()),
            "type" | "interface" | "declare" | "namespace" | "module" => {
                self.try_parse(Self::of_types).or_else(|UnreadPiece| self.expression_statement())
            }
            _ if self.try_parse(Self::skip_label).is_ok() => self.parse_deeper(Self::statement_kind),
            _ => self.expression_statement(),
        }
    }

    fn skip_label(&mut self) -> ParseResult<()> {
        self.parse_name()?;
        self.expect_sign(":")
    }

    fn begins_enum(&mut self) -> bool {
        let before = self.lexer.take_mark();
        let is = self.take_word("const") && self.take_word("enum");
        self.lexer.reset_to(before);
        is
    }

    fn expression_statement(&mut self) -> ParseResult<TsStatementKind> {
        let before = self.lexer.take_mark();
        let expr = self.parse_sequence()?;
        self.end_statement()?;
        if expr.kind != TsExprKind::Other("an assignment") {
            return Ok(TsStatementKind::Expr(expr));
        }
        let after = self.lexer.take_mark();
        self.lexer.reset_to(before);
        let token = self.lexer.peek_token();
        let name = match token.kind {
            TsTokenKind::Name(name) if !is_keyword(name) => Some(name.to_owned()),
            _ => None,
        };
        self.lexer.reset_to(after);
        Ok(TsStatementKind::Assign(name))
    }

    fn parse_binding(&mut self) -> ParseResult<TsStatementKind> {
        let keeps = self.take_word("const");
        let _ = keeps || self.take_word("let") || self.take_word("var");
        let mut bound = Vec::new();
        loop {
            let pattern = self.parse_target()?;
            let _ = self.take_sign("!");
            self.skip_annotation()?;
            let value = if self.take_sign("=") { Some(self.parse_expression()?) } else { None };
            bound.push((pattern, value));
            if !self.take_sign(",") {
                break;
            }
        }
        self.end_statement()?;
        Ok(TsStatementKind::Bind(bound, keeps))
    }

    fn give_back(&mut self) -> ParseResult<TsStatementKind> {
        self.take_word("return");
        let next = self.lexer.peek_token();
        if next.on_new_line || matches!(next.kind, TsTokenKind::End | TsTokenKind::Sign(";" | "}")) {
            self.end_statement()?;
            return Ok(TsStatementKind::Return(None));
        }
        let value = self.parse_expression()?;
        self.end_statement()?;
        Ok(TsStatementKind::Return(Some(value)))
    }

    fn parse_branch(&mut self) -> ParseResult<TsStatementKind> {
        self.take_word("if");
        self.expect_sign("(")?;
        let condition = self.parse_expression()?;
        self.expect_sign(")")?;
        let then = self.parse_body();
        let other = if self.take_word("else") { self.parse_body() } else { Vec::new() };
        Ok(TsStatementKind::If { condition, then, other })
    }

    fn parse_body(&mut self) -> Vec<TsStatement> {
        let statement = self.parse_statement();
        match statement.kind {
            TsStatementKind::Block(statements) => statements,
            _ => vec![statement],
        }
    }

    fn for_of(&mut self) -> ParseResult<TsStatementKind> {
        self.take_word("for");
        let _ = self.take_word("await");
        self.expect_sign("(")?;
        if !(self.take_word("const") || self.take_word("let") || self.take_word("var")) {
            return Err(UnreadPiece);
        }
        let pattern = self.parse_target()?;
        self.skip_annotation()?;
        if !self.take_word("of") {
            return Err(UnreadPiece);
        }
        let list = self.parse_expression()?;
        self.expect_sign(")")?;
        Ok(TsStatementKind::ForOf { pattern, list, body: self.parse_body() })
    }

    /// Parses a statement of which only the keyword is kept.
    fn opaque_statement(&mut self, what: &'static str) -> ParseResult<TsStatementKind> {
        let token = self.lexer.peek_token();
        self.lexer.take_token(&token);
        let is_next = token.kind == TsTokenKind::Name("continue");
        if what == "a jump" {
            let next = self.lexer.peek_token();
            let has_label = !next.on_new_line && !matches!(next.kind, TsTokenKind::Sign(";" | "}") | TsTokenKind::End);
            if has_label {
                self.parse_expression()?;
            }
            self.end_statement()?;
            return Ok(TsStatementKind::Other(if is_next && !has_label { NEXT_TURN } else { what }));
        }
        let does = what == "a loop that ends with a condition";
        if !does && self.is_sign("(") {
            self.skip_brackets()?;
        }
        let _ = self.parse_body();
        while self.take_word("catch") || self.take_word("finally") || does && self.take_word("while") {
            if self.is_sign("(") {
                self.skip_brackets()?;
            }
            if self.is_sign("{") {
                self.skip_brackets()?;
            }
        }
        Ok(TsStatementKind::Other(what))
    }

    fn parse_declaration(&mut self) -> ParseResult<TsStatementKind> {
        self.try_parse(|parser| {
            let _ = parser.take_word("abstract") || parser.take_word("const");
            if parser.take_word("class") {
                parser.skip_class()?;
                return Ok(TsStatementKind::Other("a class"));
            }
            if parser.take_word("enum") && matches!(parser.lexer.peek_token().kind, TsTokenKind::Name(_)) {
                parser.parse_name()?;
                parser.skip_brackets()?;
                return Ok(TsStatementKind::Other("an enumeration"));
            }
            Err(UnreadPiece)
        })
    }

    pub(super) fn skip_class(&mut self) -> ParseResult<()> {
        while !self.is_sign("{") {
            let token = self.lexer.peek_token();
            match token.kind {
                TsTokenKind::Name(_) | TsTokenKind::Sign("." | "," | "<" | ">" | "|" | "&") => {
                    self.lexer.take_token(&token)
                }
                TsTokenKind::Sign("(" | "[") => self.skip_brackets()?,
                _ => return Err(UnreadPiece),
            }
        }
        self.skip_brackets()
    }

    pub(super) fn function_statement(&mut self) -> ParseResult<TsStatementKind> {
        self.try_parse(|parser| {
            let start = parser.lexer.peek_token().start;
            let is_async = parser.take_word("async");
            if !parser.take_word("function") {
                return Err(UnreadPiece);
            }
            let (name, function) = parser.parse_function(start)?;
            let function = if is_async { as_async(function) } else { function };
            match function.kind {
                TsExprKind::Function(function) => Ok(TsStatementKind::Function(name.unwrap_or_default(), function)),
                _ => Ok(TsStatementKind::Other("a generator")),
            }
        })
    }

    /// Skips an overload signature, which has no body.
    fn skip_signature(&mut self) -> ParseResult<TsStatementKind> {
        self.take_word("async");
        if !self.take_word("function") {
            return Err(UnreadPiece);
        }
        self.parse_name()?;
        self.parse_parameters()?;
        self.skip_annotation()?;
        self.end_statement()?;
        Ok(TsStatementKind::Nothing)
    }

    /// Parses `type A = …`, `interface A {…}`, `declare …` and `namespace A {…}`.
    fn of_types(&mut self) -> ParseResult<TsStatementKind> {
        if self.take_word("declare") {
            self.lexer_goes_on()?;
            self.skip_statement();
            return Ok(TsStatementKind::Nothing);
        }
        if self.take_word("namespace") || self.take_word("module") {
            self.lexer_goes_on()?;
            self.skip_statement();
            return Ok(TsStatementKind::Other("a namespace"));
        }
        let is_alias = self.take_word("type");
        let _ = is_alias || self.take_word("interface");
        self.lexer_goes_on()?;
        self.parse_name()?;
        if self.is_sign("<") {
            self.type_arguments()?;
        }
        if is_alias {
            self.expect_sign("=")?;
            self.skip_type()?;
            self.end_statement()?;
            return Ok(TsStatementKind::Nothing);
        }
        if self.take_word("extends") {
            loop {
                self.skip_type()?;
                if !self.take_sign(",") {
                    break;
                }
            }
        }
        self.skip_brackets()?;
        Ok(TsStatementKind::Nothing)
    }

    fn lexer_goes_on(&self) -> ParseResult<()> {
        let next = self.lexer.peek_token();
        let goes_on = matches!(next.kind, TsTokenKind::Name(_) | TsTokenKind::Text(_)) && !next.on_new_line;
        if goes_on { Ok(()) } else { Err(UnreadPiece) }
    }
}

fn statement_name(word: &str) -> &'static str {
    match word {
        "while" => "a loop with a condition",
        "do" => "a loop that ends with a condition",
        "switch" => "a switch",
        "try" => "what is tried",
        "break" | "continue" => "a jump",
        _ => UNREADABLE,
    }
}

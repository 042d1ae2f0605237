//! Skips types.

use super::lexer::{LexerMark, TsTokenKind};
use super::{ParseResult, TsParser, UnreadPiece};

impl TsParser<'_> {
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let token = self.lexer.peek_token();
        let is = matches!(token.kind, TsTokenKind::Sign(found) if found == sign);
        if is {
            self.lexer.take_token(&token);
        }
        is
    }

    pub(super) fn expect_sign(&mut self, sign: &str) -> ParseResult<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(UnreadPiece) }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let token = self.lexer.peek_token();
        let is = token.kind == TsTokenKind::Name(word);
        if is {
            self.lexer.take_token(&token);
        }
        is
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.lexer.peek_token().kind, TsTokenKind::Sign(found) if found == sign)
    }

    /// Skips brackets. Their ends are cached because they are needed again at each level of nesting.
    pub(super) fn skip_brackets(&mut self) -> ParseResult<()> {
        let mut open = Vec::new();
        let skipped = self.close_brackets(&mut open);
        // Caches unclosed brackets too; otherwise each later attempt would scan the rest of the text again.
        self.closed.extend(open.into_iter().map(|start| (start, None)));
        skipped
    }

    /// Skips to the end of the brackets. Brackets that remain in `open` are never closed.
    fn close_brackets(&mut self, open: &mut Vec<usize>) -> ParseResult<()> {
        loop {
            let token = self.lexer.peek_token();
            if let Some(end) = self.closed.get(&token.start) {
                self.lexer.reset_to(end.ok_or(UnreadPiece)?);
            } else {
                self.lexer.take_token(&token);
                match token.kind {
                    TsTokenKind::Sign("(" | "[" | "{") => open.push(token.start),
                    TsTokenKind::Sign(")" | "]" | "}") => {
                        let start = open.pop().ok_or(UnreadPiece)?;
                        self.closed.insert(start, Some(self.lexer.take_mark()));
                    }
                    // The failure may be due to the nesting limit of this attempt, so the brackets around it may still be closed.
                    TsTokenKind::Template => self.skip_template().inspect_err(|UnreadPiece| open.clear())?,
                    TsTokenKind::End | TsTokenKind::Bad => return Err(UnreadPiece),
                    _ => {}
                }
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn skip_template(&mut self) -> ParseResult<()> {
        self.parse_deeper(|parser| {
            while parser.lexer.template_text().ok_or(UnreadPiece)?.1 {
                parser.skip_to_brace()?;
            }
            Ok(())
        })
    }

    fn skip_to_brace(&mut self) -> ParseResult<()> {
        loop {
            if self.take_sign("}") {
                return Ok(());
            }
            let token = self.lexer.peek_token();
            match token.kind {
                TsTokenKind::Sign("(" | "[" | "{") => self.skip_brackets()?,
                TsTokenKind::End | TsTokenKind::Bad => return Err(UnreadPiece),
                TsTokenKind::Template => {
                    self.lexer.take_token(&token);
                    self.skip_template()?;
                }
                _ => self.lexer.take_token(&token),
            }
        }
    }

    pub(super) fn skip_annotation(&mut self) -> ParseResult<()> {
        if self.take_sign(":") { self.skip_type() } else { Ok(()) }
    }

    pub(super) fn skip_type(&mut self) -> ParseResult<()> {
        self.parse_deeper(|parser| {
            parser.skip_union()?;
            if parser.on_this_line("extends") { parser.skip_condition() } else { Ok(()) }
        })
    }

    /// Skips a union or intersection type. Conditional types are allowed only in brackets.
    fn skip_union(&mut self) -> ParseResult<()> {
        let _ = self.take_sign("|") || self.take_sign("&");
        self.operand_of_type()?;
        loop {
            if self.take_sign("|") || self.take_sign("&") {
                self.operand_of_type()?;
            } else if self.on_this_line("is") {
                self.skip_type()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Skips `U ? A : B` after `T extends`.
    fn skip_condition(&mut self) -> ParseResult<()> {
        self.parse_deeper(Self::skip_union)?;
        self.expect_sign("?")?;
        self.skip_type()?;
        self.expect_sign(":")?;
        self.skip_type()
    }

    fn on_this_line(&mut self, word: &str) -> bool {
        !self.lexer.peek_token().on_new_line && self.take_word(word)
    }

    fn operand_of_type(&mut self) -> ParseResult<()> {
        self.parse_deeper(|parser| {
            parser.begin_of_type()?;
            while !parser.lexer.peek_token().on_new_line && parser.is_sign("[") {
                parser.skip_brackets()?;
            }
            Ok(())
        })
    }

    fn begin_of_type(&mut self) -> ParseResult<()> {
        let token = self.lexer.peek_token();
        match token.kind {
            TsTokenKind::Sign("(") => {
                self.skip_brackets()?;
                if self.take_sign("=>") { self.skip_type() } else { Ok(()) }
            }
            TsTokenKind::Sign("{" | "[") => self.skip_brackets(),
            TsTokenKind::Sign("<") => {
                self.type_arguments()?;
                self.operand_of_type()
            }
            TsTokenKind::Sign("-") => {
                self.lexer.take_token(&token);
                self.operand_of_type()
            }
            TsTokenKind::Text(_) | TsTokenKind::Number(_) => {
                self.lexer.take_token(&token);
                Ok(())
            }
            TsTokenKind::Template => {
                self.lexer.take_token(&token);
                self.skip_template()
            }
            TsTokenKind::Name(
                "keyof" | "readonly" | "unique" | "infer" | "asserts" | "new" | "abstract" | "typeof",
            ) => {
                self.lexer.take_token(&token);
                // Each of these words may also be a name.
                let goes_on = matches!(
                    self.lexer.peek_token().kind,
                    TsTokenKind::Name(_)
                        | TsTokenKind::Sign("(" | "{" | "[" | "<")
                        | TsTokenKind::Text(_)
                        | TsTokenKind::Template
                );
                if goes_on && !self.lexer.peek_token().on_new_line { self.operand_of_type() } else { Ok(()) }
            }
            TsTokenKind::Name(_) => {
                self.lexer.take_token(&token);
                self.rest_of_name()
            }
            _ => Err(UnreadPiece),
        }
    }

    fn rest_of_name(&mut self) -> ParseResult<()> {
        if self.is_sign("(") {
            self.skip_brackets()?;
        }
        while self.take_sign(".") {
            let token = self.lexer.peek_token();
            let TsTokenKind::Name(_) = token.kind else { return Err(UnreadPiece) };
            self.lexer.take_token(&token);
        }
        if self.is_sign("<") && !self.lexer.peek_token().on_new_line { self.type_arguments() } else { Ok(()) }
    }

    pub(super) fn type_arguments(&mut self) -> ParseResult<()> {
        self.expect_sign("<")?;
        loop {
            if self.close_type()? {
                return Ok(());
            }
            self.parse_deeper(Self::skip_union)?;
            // `T extends U` and `T = U` of a type parameter, or a conditional type.
            if self.take_word("extends") {
                self.parse_deeper(Self::skip_union)?;
            }
            if self.take_sign("?") {
                self.skip_type()?;
                self.expect_sign(":")?;
                self.skip_type()?;
            }
            if self.take_sign("=") {
                self.skip_type()?;
            }
            if !self.take_sign(",") {
                return if self.close_type()? { Ok(()) } else { Err(UnreadPiece) };
            }
        }
    }

    /// Closes a type list; takes only the first `>` of `>>` and `>=`.
    fn close_type(&mut self) -> ParseResult<bool> {
        let token = self.lexer.peek_token();
        match token.kind {
            TsTokenKind::Sign(sign) if sign.starts_with('>') => {
                self.lexer.take_part(&token, 1);
                Ok(true)
            }
            TsTokenKind::End | TsTokenKind::Bad => Err(UnreadPiece),
            _ => Ok(false),
        }
    }

    pub(super) fn are_parameters(&mut self) -> bool {
        let before: LexerMark = self.lexer.take_mark();
        let depth = self.depth;
        let is = self.skip_brackets().is_ok()
            && (self.is_sign("=>") || self.take_sign(":") && self.skip_type().is_ok() && self.is_sign("=>"));
        self.lexer.reset_to(before);
        self.depth = depth;
        is
    }
}

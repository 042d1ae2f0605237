//! Types, which are passed over.

use super::lexer::{Kind, Mark};
use super::{Parser, Read, Unread};

impl Parser<'_> {
    /// Takes a sign where it stands next.
    pub(super) fn sign(&mut self, sign: &str) -> bool {
        let token = self.lexer.peek();
        let is = matches!(token.kind, Kind::Sign(found) if found == sign);
        if is {
            self.lexer.take(&token);
        }
        is
    }

    /// Takes a sign that has to stand next.
    pub(super) fn expect(&mut self, sign: &str) -> Read<()> {
        if self.sign(sign) { Ok(()) } else { Err(Unread) }
    }

    /// Takes a word where it stands next.
    pub(super) fn word(&mut self, word: &str) -> bool {
        let token = self.lexer.peek();
        let is = token.kind == Kind::Name(word);
        if is {
            self.lexer.take(&token);
        }
        is
    }

    /// Whether a sign stands next.
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.lexer.peek().kind, Kind::Sign(found) if found == sign)
    }

    /// Passes over what stands in brackets, whose first one stands next. Where each of them ends is kept: they are asked for again.
    pub(super) fn skip_brackets(&mut self) -> Read<()> {
        let mut open = Vec::new();
        loop {
            let token = self.lexer.peek();
            if let Some(end) = self.closed.get(&token.start) {
                self.lexer.reset(*end);
            } else {
                self.lexer.take(&token);
                match token.kind {
                    Kind::Sign("(" | "[" | "{") => open.push(token.start),
                    Kind::Sign(")" | "]" | "}") => {
                        let start = open.pop().ok_or(Unread)?;
                        self.closed.insert(start, self.lexer.mark());
                    }
                    Kind::Template => self.skip_template()?,
                    Kind::End | Kind::Bad => return Err(Unread),
                    _ => {}
                }
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// Passes over the rest of a template.
    fn skip_template(&mut self) -> Read<()> {
        self.deeper(|parser| {
            while parser.lexer.template_text().ok_or(Unread)?.1 {
                parser.skip_to_brace()?;
            }
            Ok(())
        })
    }

    /// Passes over a value in a template, with the brace behind it.
    fn skip_to_brace(&mut self) -> Read<()> {
        loop {
            if self.sign("}") {
                return Ok(());
            }
            let token = self.lexer.peek();
            match token.kind {
                Kind::Sign("(" | "[" | "{") => self.skip_brackets()?,
                Kind::End | Kind::Bad => return Err(Unread),
                Kind::Template => {
                    self.lexer.take(&token);
                    self.skip_template()?;
                }
                _ => self.lexer.take(&token),
            }
        }
    }

    /// Passes over `: type`, where it stands next.
    pub(super) fn annotation(&mut self) -> Read<()> {
        if self.sign(":") { self.skip_type() } else { Ok(()) }
    }

    /// Passes over a type.
    pub(super) fn skip_type(&mut self) -> Read<()> {
        self.deeper(|parser| {
            parser.union()?;
            if parser.on_this_line("extends") { parser.condition() } else { Ok(()) }
        })
    }

    /// Passes over a type that has no condition, unless in brackets.
    fn union(&mut self) -> Read<()> {
        let _ = self.sign("|") || self.sign("&");
        self.operand_of_type()?;
        loop {
            if self.sign("|") || self.sign("&") {
                self.operand_of_type()?;
            } else if self.on_this_line("is") {
                self.skip_type()?;
            } else {
                return Ok(());
            }
        }
    }

    /// `U ? A : B` behind `T extends`.
    fn condition(&mut self) -> Read<()> {
        self.deeper(Self::union)?;
        self.expect("?")?;
        self.skip_type()?;
        self.expect(":")?;
        self.skip_type()
    }

    /// Takes a word that stands next on the same line.
    fn on_this_line(&mut self, word: &str) -> bool {
        !self.lexer.peek().on_new_line && self.word(word)
    }

    fn operand_of_type(&mut self) -> Read<()> {
        self.deeper(|parser| {
            parser.begin_of_type()?;
            while !parser.lexer.peek().on_new_line && parser.is_sign("[") {
                parser.skip_brackets()?;
            }
            Ok(())
        })
    }

    fn begin_of_type(&mut self) -> Read<()> {
        let token = self.lexer.peek();
        match token.kind {
            Kind::Sign("(") => {
                self.skip_brackets()?;
                if self.sign("=>") { self.skip_type() } else { Ok(()) }
            }
            Kind::Sign("{" | "[") => self.skip_brackets(),
            Kind::Sign("<") => {
                self.type_arguments()?;
                self.operand_of_type()
            }
            Kind::Sign("-") => {
                self.lexer.take(&token);
                self.operand_of_type()
            }
            Kind::Text(_) | Kind::Number(_) => {
                self.lexer.take(&token);
                Ok(())
            }
            Kind::Template => {
                self.lexer.take(&token);
                self.skip_template()
            }
            Kind::Name("keyof" | "readonly" | "unique" | "infer" | "asserts" | "new" | "abstract" | "typeof") => {
                self.lexer.take(&token);
                // Any of them may also be a name.
                let goes_on = matches!(
                    self.lexer.peek().kind,
                    Kind::Name(_) | Kind::Sign("(" | "{" | "[" | "<") | Kind::Text(_) | Kind::Template
                );
                if goes_on && !self.lexer.peek().on_new_line { self.operand_of_type() } else { Ok(()) }
            }
            Kind::Name(_) => {
                self.lexer.take(&token);
                self.rest_of_name()
            }
            _ => Err(Unread),
        }
    }

    /// `.b.c<T>` behind the name of a type; `("module")` behind `import`.
    fn rest_of_name(&mut self) -> Read<()> {
        if self.is_sign("(") {
            self.skip_brackets()?;
        }
        while self.sign(".") {
            let token = self.lexer.peek();
            let Kind::Name(_) = token.kind else { return Err(Unread) };
            self.lexer.take(&token);
        }
        if self.is_sign("<") && !self.lexer.peek().on_new_line { self.type_arguments() } else { Ok(()) }
    }

    /// Passes over `<A, B extends C = D>`.
    pub(super) fn type_arguments(&mut self) -> Read<()> {
        self.expect("<")?;
        loop {
            if self.close_type()? {
                return Ok(());
            }
            self.deeper(Self::union)?;
            // `T extends U` and `T = U` of a parameter, or a condition.
            if self.word("extends") {
                self.deeper(Self::union)?;
            }
            if self.sign("?") {
                self.skip_type()?;
                self.expect(":")?;
                self.skip_type()?;
            }
            if self.sign("=") {
                self.skip_type()?;
            }
            if !self.sign(",") {
                return if self.close_type()? { Ok(()) } else { Err(Unread) };
            }
        }
    }

    /// Takes the `>` that closes arguments of a type: the first one of `>>` and `>=`.
    fn close_type(&mut self) -> Read<bool> {
        let token = self.lexer.peek();
        match token.kind {
            Kind::Sign(sign) if sign.starts_with('>') => {
                self.lexer.take_part(&token, 1);
                Ok(true)
            }
            Kind::End | Kind::Bad => Err(Unread),
            _ => Ok(false),
        }
    }

    /// Whether the brackets that stand next hold the parameters of an arrow function.
    pub(super) fn are_parameters(&mut self) -> bool {
        let before: Mark = self.lexer.mark();
        let depth = self.depth;
        let is = self.skip_brackets().is_ok()
            && (self.is_sign("=>") || self.sign(":") && self.skip_type().is_ok() && self.is_sign("=>"));
        self.lexer.reset(before);
        self.depth = depth;
        is
    }
}

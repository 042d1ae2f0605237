//! Statements.

use super::expression::is_keyword;
use super::lexer::Kind;
use super::tree::{ExprKind, Stmt, StmtKind, UNREADABLE};
use super::{Parser, Read, Unread};

impl Parser<'_> {
    /// All statements of the text.
    pub(super) fn statements_until_end(&mut self) -> Vec<Stmt> {
        let mut statements = Vec::new();
        while self.lexer.peek().kind != Kind::End {
            let start = self.lexer.peek().start;
            statements.push(self.statement());
            // A bracket that closes nothing.
            if self.lexer.last_end() <= start {
                let token = self.lexer.peek();
                self.lexer.take(&token);
            }
        }
        statements
    }

    /// `{ … }`.
    pub(super) fn block(&mut self) -> Read<Vec<Stmt>> {
        self.deeper(|parser| {
            parser.expect("{")?;
            let mut statements = Vec::new();
            // What is never closed ends with the text: the last statement says that it cannot be read.
            while !parser.sign("}") {
                let next = parser.lexer.peek();
                statements.push(parser.statement());
                if next.kind == Kind::End {
                    break;
                }
            }
            Ok(statements)
        })
    }

    /// A statement; one that cannot be read is passed over.
    fn statement(&mut self) -> Stmt {
        let start = self.lexer.peek().start;
        let kind = self.attempt(|parser| parser.deeper(Self::kind)).unwrap_or_else(|Unread| {
            self.skip_statement();
            StmtKind::Other(UNREADABLE)
        });
        Stmt { kind, span: self.since(start) }
    }

    /// Passes over a statement: to its `;`, or to the end of a line behind which no bracket is open.
    fn skip_statement(&mut self) {
        loop {
            let token = self.lexer.peek();
            match token.kind {
                Kind::End | Kind::Sign("}") => return,
                Kind::Sign("(" | "[" | "{") => {
                    // What is never closed reaches to the end of the text.
                    if self.skip_brackets().is_err() {
                        return self.lexer.take_rest();
                    }
                }
                _ => self.lexer.take(&token),
            }
            if token.kind == Kind::Sign(";") || self.lexer.peek().on_new_line {
                return;
            }
        }
    }

    /// Takes the end of a statement.
    pub(super) fn end(&mut self) -> Read<()> {
        let next = self.lexer.peek();
        if self.sign(";") || next.on_new_line || matches!(next.kind, Kind::End | Kind::Sign("}")) {
            Ok(())
        } else {
            Err(Unread)
        }
    }

    pub(super) fn kind(&mut self) -> Read<StmtKind> {
        let token = self.lexer.peek();
        let word = match token.kind {
            Kind::Sign("{") => return Ok(StmtKind::Block(self.block()?)),
            Kind::Sign(";") => {
                self.lexer.take(&token);
                return Ok(StmtKind::Nothing);
            }
            Kind::Sign("@") => return Err(Unread),
            Kind::Name(word) => word,
            _ => return self.expression_statement(),
        };
        match word {
            "import" => self.attempt(Self::import).or_else(|Unread| self.expression_statement()),
            "export" => self.export(),
            "const" | "let" | "var" if !self.begins_enum() => self.bind(),
            "return" => self.give_back(),
            "if" => self.branch(),
            "for" => self.attempt(Self::for_of).or_else(|Unread| self.passed_over("a loop with a counter")),
            "throw" => {
                self.word("throw");
                let value = self.expression()?;
                self.end()?;
                Ok(StmtKind::Throw(value))
            }
            "while" | "do" | "switch" | "try" | "break" | "continue" | "debugger" | "with" => {
                self.passed_over(named(word))
            }
            "class" | "abstract" | "enum" | "const" => self.declaration().or_else(|Unread| self.expression_statement()),
            "function" | "async" => self
                .function_statement()
                .or_else(|Unread| self.attempt(Self::signature))
                .or_else(|Unread| self.expression_statement()),
            "type" | "interface" | "declare" | "namespace" | "module" => {
                self.attempt(Self::of_types).or_else(|Unread| self.expression_statement())
            }
            _ if self.attempt(Self::label).is_ok() => self.deeper(Self::kind),
            _ => self.expression_statement(),
        }
    }

    /// `name:` in front of a loop.
    fn label(&mut self) -> Read<()> {
        self.name()?;
        self.expect(":")
    }

    /// `const enum`.
    fn begins_enum(&mut self) -> bool {
        let before = self.lexer.mark();
        let is = self.word("const") && self.word("enum");
        self.lexer.reset(before);
        is
    }

    fn expression_statement(&mut self) -> Read<StmtKind> {
        let before = self.lexer.mark();
        let expr = self.expression()?;
        while self.sign(",") {
            self.expression()?;
        }
        self.end()?;
        if expr.kind != ExprKind::Other("an assignment") {
            return Ok(StmtKind::Expr(expr));
        }
        let after = self.lexer.mark();
        self.lexer.reset(before);
        let token = self.lexer.peek();
        let name = match token.kind {
            Kind::Name(name) if !is_keyword(name) => Some(name.to_owned()),
            _ => None,
        };
        self.lexer.reset(after);
        Ok(StmtKind::Assign(name))
    }

    fn bind(&mut self) -> Read<StmtKind> {
        let keeps = self.word("const");
        let _ = keeps || self.word("let") || self.word("var");
        let mut bound = Vec::new();
        loop {
            let pattern = self.target()?;
            let _ = self.sign("!");
            self.annotation()?;
            let value = if self.sign("=") { Some(self.expression()?) } else { None };
            bound.push((pattern, value));
            if !self.sign(",") {
                break;
            }
        }
        self.end()?;
        Ok(StmtKind::Bind(bound, keeps))
    }

    fn give_back(&mut self) -> Read<StmtKind> {
        self.word("return");
        let next = self.lexer.peek();
        if next.on_new_line || matches!(next.kind, Kind::End | Kind::Sign(";" | "}")) {
            self.end()?;
            return Ok(StmtKind::Return(None));
        }
        let value = self.expression()?;
        self.end()?;
        Ok(StmtKind::Return(Some(value)))
    }

    fn branch(&mut self) -> Read<StmtKind> {
        self.word("if");
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        let then = self.body();
        let other = if self.word("else") { self.body() } else { Vec::new() };
        Ok(StmtKind::If { condition, then, other })
    }

    /// The statements that a branch or a loop goes through.
    fn body(&mut self) -> Vec<Stmt> {
        let statement = self.statement();
        match statement.kind {
            StmtKind::Block(statements) => statements,
            _ => vec![statement],
        }
    }

    fn for_of(&mut self) -> Read<StmtKind> {
        self.word("for");
        let _ = self.word("await");
        self.expect("(")?;
        if !(self.word("const") || self.word("let") || self.word("var")) {
            return Err(Unread);
        }
        let pattern = self.target()?;
        self.annotation()?;
        if !self.word("of") {
            return Err(Unread);
        }
        let list = self.expression()?;
        self.expect(")")?;
        Ok(StmtKind::ForOf { pattern, list, body: self.body() })
    }

    /// A statement with blocks that nobody looks into.
    fn passed_over(&mut self, what: &'static str) -> Read<StmtKind> {
        let token = self.lexer.peek();
        self.lexer.take(&token);
        if what == "a jump" {
            let next = self.lexer.peek();
            if !next.on_new_line && !matches!(next.kind, Kind::Sign(";" | "}") | Kind::End) {
                self.expression()?;
            }
            self.end()?;
            return Ok(StmtKind::Other(what));
        }
        let does = what == "a loop that ends with a condition";
        if !does && self.is_sign("(") {
            self.skip_brackets()?;
        }
        let _ = self.body();
        while self.word("catch") || self.word("finally") || does && self.word("while") {
            if self.is_sign("(") {
                self.skip_brackets()?;
            }
            if self.is_sign("{") {
                self.skip_brackets()?;
            }
        }
        Ok(StmtKind::Other(what))
    }

    fn declaration(&mut self) -> Read<StmtKind> {
        self.attempt(|parser| {
            let _ = parser.word("abstract") || parser.word("const");
            if parser.word("class") {
                parser.skip_class()?;
                return Ok(StmtKind::Other("a class"));
            }
            if parser.word("enum") && matches!(parser.lexer.peek().kind, Kind::Name(_)) {
                parser.name()?;
                parser.skip_brackets()?;
                return Ok(StmtKind::Other("an enumeration"));
            }
            Err(Unread)
        })
    }

    /// Passes over a class behind its word.
    pub(super) fn skip_class(&mut self) -> Read<()> {
        while !self.is_sign("{") {
            let token = self.lexer.peek();
            match token.kind {
                Kind::Name(_) | Kind::Sign("." | "," | "<" | ">" | "|" | "&") => self.lexer.take(&token),
                Kind::Sign("(" | "[") => self.skip_brackets()?,
                _ => return Err(Unread),
            }
        }
        self.skip_brackets()
    }

    pub(super) fn function_statement(&mut self) -> Read<StmtKind> {
        self.attempt(|parser| {
            let start = parser.lexer.peek().start;
            parser.word("async");
            if !parser.word("function") {
                return Err(Unread);
            }
            let (name, function) = parser.function(start)?;
            match function.kind {
                ExprKind::Function(function) => Ok(StmtKind::Function(name.unwrap_or_default(), function)),
                _ => Ok(StmtKind::Other("a generator")),
            }
        })
    }

    /// A form of a function with other parameters, which has no body.
    fn signature(&mut self) -> Read<StmtKind> {
        self.word("async");
        if !self.word("function") {
            return Err(Unread);
        }
        self.name()?;
        self.parameters()?;
        self.annotation()?;
        self.end()?;
        Ok(StmtKind::Nothing)
    }

    /// `type A = …`, `interface A {…}`, `declare …`, `namespace A {…}`.
    fn of_types(&mut self) -> Read<StmtKind> {
        if self.word("declare") {
            self.lexer_goes_on()?;
            self.skip_statement();
            return Ok(StmtKind::Nothing);
        }
        if self.word("namespace") || self.word("module") {
            self.lexer_goes_on()?;
            self.skip_statement();
            return Ok(StmtKind::Other("a namespace"));
        }
        let is_alias = self.word("type");
        let _ = is_alias || self.word("interface");
        self.lexer_goes_on()?;
        self.name()?;
        if self.is_sign("<") {
            self.type_arguments()?;
        }
        if is_alias {
            self.expect("=")?;
            self.skip_type()?;
            self.end()?;
            return Ok(StmtKind::Nothing);
        }
        if self.word("extends") {
            loop {
                self.skip_type()?;
                if !self.sign(",") {
                    break;
                }
            }
        }
        self.skip_brackets()?;
        Ok(StmtKind::Nothing)
    }

    /// A name stands next, on the same line.
    fn lexer_goes_on(&self) -> Read<()> {
        let next = self.lexer.peek();
        let goes_on = matches!(next.kind, Kind::Name(_) | Kind::Text(_)) && !next.on_new_line;
        if goes_on { Ok(()) } else { Err(Unread) }
    }
}

/// What a statement is called that is passed over.
fn named(word: &str) -> &'static str {
    match word {
        "while" => "a loop with a condition",
        "do" => "a loop that ends with a condition",
        "switch" => "a switch",
        "try" => "what is tried",
        "break" | "continue" => "a jump",
        _ => UNREADABLE,
    }
}

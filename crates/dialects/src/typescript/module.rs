//! What a module takes from others and gives to them.

use super::lexer::{Kind, unescaped};
use super::tree::{Expr, ExprKind, Stmt, StmtKind};
use super::{Parser, Read, Unread};

impl Parser<'_> {
    /// `import …`.
    pub(super) fn import(&mut self) -> Read<StmtKind> {
        self.word("import");
        let only_types = self.word("type") && !matches!(self.lexer.peek().kind, Kind::Name("from") | Kind::Sign(","));
        let mut names = Vec::new();
        let token = self.lexer.peek();
        if let Kind::Text(module) = token.kind {
            self.lexer.take(&token);
            self.attributes()?;
            return Ok(StmtKind::Import { module: unescaped(module), names });
        }
        if let Kind::Name(name) = token.kind {
            self.lexer.take(&token);
            names.push(("default".to_owned(), name.to_owned()));
            self.sign(",");
        }
        if self.sign("*") {
            if !self.word("as") {
                return Err(Unread);
            }
            names.push(("*".to_owned(), self.name()?));
        } else if self.is_sign("{") {
            names.extend(self.names()?);
        }
        if !self.word("from") {
            return Err(Unread);
        }
        let module = self.module()?;
        self.attributes()?;
        Ok(if only_types { StmtKind::Nothing } else { StmtKind::Import { module, names } })
    }

    /// `with { type: "json" }` behind a module, and the end of the statement.
    fn attributes(&mut self) -> Read<()> {
        if self.word("with") || self.word("assert") {
            self.skip_brackets()?;
        }
        self.end()
    }

    fn module(&mut self) -> Read<String> {
        let token = self.lexer.peek();
        let Kind::Text(module) = token.kind else { return Err(Unread) };
        self.lexer.take(&token);
        Ok(unescaped(module))
    }

    /// A name, or a text in the place of one.
    pub(super) fn name(&mut self) -> Read<String> {
        let token = self.lexer.peek();
        let name = match token.kind {
            Kind::Name(name) => name.to_owned(),
            Kind::Text(text) => unescaped(text),
            _ => return Err(Unread),
        };
        self.lexer.take(&token);
        Ok(name)
    }

    /// `{ a, b as c, type D }`, without types.
    fn names(&mut self) -> Read<Vec<(String, String)>> {
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.sign("}") {
            let mut is_type = false;
            let mut name = self.name()?;
            if name == "type" && !self.is_sign(",") && !self.is_sign("}") && self.lexer.peek().kind != Kind::Name("as")
            {
                is_type = true;
                name = self.name()?;
            }
            let other = if self.word("as") { self.name()? } else { name.clone() };
            if !is_type {
                names.push((name, other));
            }
            if !self.is_sign("}") {
                self.expect(",")?;
            }
        }
        Ok(names)
    }

    /// `export …`.
    pub(super) fn export(&mut self) -> Read<StmtKind> {
        self.word("export");
        if self.word("default") {
            let start = self.lexer.peek().start;
            let value = match self.attempt(Self::function_statement) {
                Ok(StmtKind::Function(_, function)) => {
                    Expr { kind: ExprKind::Function(function), span: self.since(start) }
                }
                _ => self.expression()?,
            };
            self.end()?;
            return Ok(StmtKind::ExportDefault(value));
        }
        if self.sign("=") {
            let value = self.expression()?;
            self.end()?;
            return Ok(StmtKind::ExportDefault(value));
        }
        let only_types = self.attempt(|parser| {
            let is = parser.word("type") && (parser.is_sign("{") || parser.is_sign("*"));
            if is { Ok(()) } else { Err(Unread) }
        });
        let begin = self.lexer.peek().kind;
        if matches!(begin, Kind::Sign("*" | "{")) {
            let mut names = Vec::new();
            if self.sign("*") {
                let outside = if self.word("as") { self.name()? } else { "*".to_owned() };
                names.push(("*".to_owned(), outside));
            } else {
                names = self.names()?;
            }
            let module = if self.word("from") { Some(self.module()?) } else { None };
            self.attributes()?;
            return Ok(if only_types.is_ok() { StmtKind::Nothing } else { StmtKind::ExportNames { module, names } });
        }
        let start = self.lexer.peek().start;
        let kind = self.kind()?;
        Ok(StmtKind::Export(Box::new(Stmt { kind, span: self.since(start) })))
    }
}

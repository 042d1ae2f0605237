//! Expressions.

use super::lexer::{Kind, Token, unescaped};
use super::tree::{Body, Element, Expr, ExprKind, Function, Pattern, TemplatePart};
use super::{Parser, Read, Unread};
use std::rc::Rc;

/// Operators between two operands, those that bind loosest first.
const LEVELS: [&[&str]; 11] = [
    &["??"],
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["===", "!==", "==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>>", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// So many operators of a level, and so many links of a chain, may follow each other.
const LONG: usize = 300;

/// The level at which words are operators.
const RELATIONS: usize = 7;

/// Operators of assignment.
const ASSIGNMENTS: [&str; 16] =
    ["=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??="];

impl Parser<'_> {
    /// An expression that holds no comma.
    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.deeper(|parser| {
            let start = parser.lexer.peek().start;
            let left = parser.conditional()?;
            let token = parser.lexer.peek();
            match token.kind {
                Kind::Sign(sign) if ASSIGNMENTS.contains(&sign) => {
                    parser.lexer.take(&token);
                    parser.expression()?;
                    Ok(parser.made(start, ExprKind::Other("an assignment")))
                }
                _ => Ok(left),
            }
        })
    }

    pub(super) fn made(&self, start: usize, kind: ExprKind) -> Expr {
        Expr { kind, span: self.since(start) }
    }

    fn conditional(&mut self) -> Read<Expr> {
        let start = self.lexer.peek().start;
        let condition = self.binary(0)?;
        if !self.sign("?") {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(":")?;
        let other = self.expression()?;
        let (condition, then, other) = (Box::new(condition), Box::new(then), Box::new(other));
        Ok(self.made(start, ExprKind::If { condition, then, other }))
    }

    fn binary(&mut self, level: usize) -> Read<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let start = self.lexer.peek().start;
        let mut left = self.binary(level + 1)?;
        for _ in 0..LONG {
            let token = self.lexer.peek();
            let operator = match token.kind {
                Kind::Sign(sign) => operators.iter().find(|operator| **operator == sign).copied(),
                Kind::Name("as" | "satisfies") if level == RELATIONS && !token.on_new_line => {
                    self.lexer.take(&token);
                    if !self.word("const") {
                        self.skip_type()?;
                    }
                    continue;
                }
                Kind::Name("instanceof") if level == RELATIONS => Some("instanceof"),
                Kind::Name("in") if level == RELATIONS => Some("in"),
                _ => None,
            };
            let Some(operator) = operator else { return Ok(left) };
            self.lexer.take(&token);
            let right = self.binary(level + 1)?;
            let (one, other) = (Box::new(left), Box::new(right));
            left = self.made(start, ExprKind::Binary { operator, left: one, right: other });
        }
        Err(Unread)
    }

    fn power(&mut self) -> Read<Expr> {
        let start = self.lexer.peek().start;
        let left = self.unary()?;
        if !self.sign("**") {
            return Ok(left);
        }
        let right = self.deeper(Self::power)?;
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(self.made(start, ExprKind::Binary { operator: "**", left, right }))
    }

    fn unary(&mut self) -> Read<Expr> {
        let token = self.lexer.peek();
        let operator = match token.kind {
            Kind::Sign(sign @ ("!" | "-" | "+" | "~" | "++" | "--")) => sign,
            Kind::Name("typeof") => "typeof",
            Kind::Name("void") => "void",
            Kind::Name("delete") => "delete",
            Kind::Name("await") => "await",
            _ => return self.postfix(),
        };
        self.lexer.take(&token);
        let of = self.deeper(Self::unary)?;
        Ok(match operator {
            "await" => of,
            "++" | "--" | "delete" => self.made(token.start, ExprKind::Other("an assignment")),
            operator => self.made(token.start, ExprKind::Unary { operator, of: Box::new(of) }),
        })
    }

    fn postfix(&mut self) -> Read<Expr> {
        let start = self.lexer.peek().start;
        let mut of = if self.word("new") { self.deeper(|parser| parser.new_object(start))? } else { self.primary()? };
        for _ in 0..LONG {
            match self.link(of, start)? {
                (next, true) => of = next,
                (last, false) => return Ok(last),
            }
        }
        Err(Unread)
    }

    /// One more link of a chain, where there is one.
    fn link(&mut self, of: Expr, start: usize) -> Read<(Expr, bool)> {
        let token = self.lexer.peek();
        let kind = match token.kind {
            Kind::Sign("." | "?.") => {
                self.lexer.take(&token);
                if token.kind == Kind::Sign("?.") && (self.is_sign("(") || self.is_sign("[")) {
                    return Ok((of, true));
                }
                let name = self.lexer.peek();
                let Kind::Name(text) = name.kind else { return Err(Unread) };
                self.lexer.take(&name);
                ExprKind::Member { of: Box::new(of), name: text.to_owned() }
            }
            Kind::Sign("[") => {
                self.lexer.take(&token);
                let index = self.expression()?;
                self.expect("]")?;
                ExprKind::Index { of: Box::new(of), index: Box::new(index) }
            }
            Kind::Sign("(") => ExprKind::Call { callee: Box::new(of), arguments: self.arguments()? },
            Kind::Sign("<") => {
                let generic = self.attempt(|parser| {
                    parser.type_arguments()?;
                    if parser.is_sign("(") { Ok(()) } else { Err(Unread) }
                });
                return Ok((of, generic.is_ok()));
            }
            Kind::Sign("!") if !token.on_new_line => {
                self.lexer.take(&token);
                return Ok((of, true));
            }
            Kind::Sign("++" | "--") if !token.on_new_line => {
                self.lexer.take(&token);
                ExprKind::Other("an assignment")
            }
            Kind::Template => {
                self.template(&token)?;
                ExprKind::Other("a tagged template")
            }
            _ => return Ok((of, false)),
        };
        Ok((self.made(start, kind), true))
    }

    /// What stands behind `new`.
    fn new_object(&mut self, start: usize) -> Read<Expr> {
        let begin = self.lexer.peek().start;
        let mut class = self.primary()?;
        let mut links = 0;
        while self.sign(".") {
            let token = self.lexer.peek();
            let Kind::Name(name) = token.kind else { return Err(Unread) };
            self.lexer.take(&token);
            links += 1;
            if links > LONG {
                return Err(Unread);
            }
            class = self.made(begin, ExprKind::Member { of: Box::new(class), name: name.to_owned() });
        }
        if self.is_sign("<") {
            self.attempt(Self::type_arguments)?;
        }
        let arguments = if self.is_sign("(") { self.arguments()? } else { Vec::new() };
        Ok(self.made(start, ExprKind::New { class: Box::new(class), arguments }))
    }

    fn arguments(&mut self) -> Read<Vec<Element>> {
        self.expect("(")?;
        self.elements(")")
    }

    /// Elements up to a bracket, which is taken. One that is left out is none.
    fn elements(&mut self, close: &str) -> Read<Vec<Element>> {
        let mut elements = Vec::new();
        while !self.sign(close) {
            if self.sign(",") {
                continue;
            }
            let spread = self.sign("...");
            let value = self.expression()?;
            elements.push(Element { spread, value });
            if !self.is_sign(close) {
                self.expect(",")?;
            }
        }
        Ok(elements)
    }

    fn primary(&mut self) -> Read<Expr> {
        let token = self.lexer.peek();
        let start = token.start;
        let kind = match token.kind {
            Kind::Name(name) => return self.named(name, &token),
            Kind::Number(text) => {
                self.lexer.take(&token);
                ExprKind::Number(text.to_owned())
            }
            Kind::Text(text) => {
                self.lexer.take(&token);
                ExprKind::Text(unescaped(text))
            }
            Kind::Template => self.template(&token)?,
            Kind::Sign("/" | "/=") => {
                let (pattern, flags) = self.lexer.regex(&token).ok_or(Unread)?;
                ExprKind::Regex { pattern: pattern.to_owned(), flags: flags.to_owned() }
            }
            Kind::Sign("(") if self.are_parameters() => return self.arrow(start),
            Kind::Sign("(") => return self.in_parentheses(&token),
            Kind::Sign("[") => {
                self.lexer.take(&token);
                ExprKind::List(self.deeper(|parser| parser.elements("]"))?)
            }
            Kind::Sign("{") => {
                self.lexer.take(&token);
                ExprKind::Object(self.deeper(Self::properties)?)
            }
            // A function of any type, or the type of what follows.
            Kind::Sign("<") => {
                self.type_arguments()?;
                return if self.is_sign("(") && self.are_parameters() { self.arrow(start) } else { self.unary() };
            }
            _ => return Err(Unread),
        };
        Ok(self.made(start, kind))
    }

    fn named(&mut self, name: &str, token: &Token<'_>) -> Read<Expr> {
        let start = token.start;
        self.lexer.take(token);
        let next = self.lexer.peek();
        let kind = match name {
            "true" | "false" => ExprKind::Bool(name == "true"),
            "null" => ExprKind::Null,
            "function" => return self.function(start).map(|(_, function)| function),
            "class" => {
                self.skip_class()?;
                ExprKind::Other("a class")
            }
            "async" if next.kind == Kind::Name("function") && !next.on_new_line => {
                self.lexer.take(&next);
                return self.function(start).map(|(_, function)| function);
            }
            "async" if next.kind == Kind::Sign("(") && self.are_parameters() => return self.arrow(start),
            "async" if matches!(next.kind, Kind::Name(_)) && !next.on_new_line => return self.arrow(start),
            "import" if next.kind == Kind::Sign(".") => {
                self.lexer.take(&next);
                if !self.word("meta") {
                    return Err(Unread);
                }
                ExprKind::Name("import.meta".to_owned())
            }
            "import" | "yield" | "super" => ExprKind::Other("what only a running program knows"),
            _ if next.kind == Kind::Sign("=>") && !next.on_new_line => {
                let parameters = vec![Pattern::Name(name.to_owned(), None)];
                return self.arrow_of(start, parameters);
            }
            _ if is_keyword(name) => return Err(Unread),
            _ => ExprKind::Name(name.to_owned()),
        };
        Ok(self.made(start, kind))
    }

    /// An expression in parentheses; of several the last one counts.
    fn in_parentheses(&mut self, token: &Token<'_>) -> Read<Expr> {
        self.lexer.take(token);
        let mut inside = self.expression()?;
        while self.sign(",") {
            inside = self.expression()?;
        }
        self.expect(")")?;
        Ok(inside)
    }

    /// A template, whose first sign stands next.
    fn template(&mut self, token: &Token<'_>) -> Read<ExprKind> {
        self.lexer.take(token);
        self.deeper(|parser| {
            let mut parts = Vec::new();
            loop {
                let (text, goes_on) = parser.lexer.template_text().ok_or(Unread)?;
                if !text.is_empty() {
                    parts.push(TemplatePart::Text(unescaped(text)));
                }
                if !goes_on {
                    break;
                }
                parts.push(TemplatePart::Value(parser.expression()?));
                parser.expect("}")?;
            }
            Ok(match parts.as_slice() {
                [] => ExprKind::Text(String::new()),
                [TemplatePart::Text(text)] => ExprKind::Text(text.clone()),
                _ => ExprKind::Template(parts),
            })
        })
    }

    /// An arrow function whose parameters stand next.
    fn arrow(&mut self, start: usize) -> Read<Expr> {
        let parameters = if self.is_sign("(") {
            let parameters = self.parameters()?;
            self.annotation()?;
            parameters
        } else {
            vec![self.pattern()?]
        };
        self.arrow_of(start, parameters)
    }

    fn arrow_of(&mut self, start: usize, parameters: Vec<Pattern>) -> Read<Expr> {
        self.expect("=>")?;
        let body = self.deeper(|parser| match parser.is_sign("{") {
            true => parser.block().map(Body::Block),
            false => parser.expression().map(Body::Value),
        })?;
        Ok(self.made(start, ExprKind::Function(Rc::new(Function { parameters, body }))))
    }
}

/// Whether a word is none that names a value.
pub(super) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 24] = [
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "do",
        "else",
        "enum",
        "export",
        "extends",
        "finally",
        "for",
        "if",
        "in",
        "instanceof",
        "return",
        "switch",
        "throw",
        "try",
        "var",
        "while",
    ];
    KEYWORDS.contains(&word)
}

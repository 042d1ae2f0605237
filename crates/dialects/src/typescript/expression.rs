//! Parses expressions.

use super::lexer::{TsToken, TsTokenKind, unescape_text};
use super::tree::{FunctionBody, TemplatePart, TsElement, TsExpr, TsExprKind, TsFunction, TsPattern};
use super::{ParseResult, TsParser, UnreadPiece};
use std::rc::Rc;

/// Binary operators, loosest first.
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

/// Maximum number of operators of one level in a row, and of links in a chain.
const LONG: usize = 300;

const RELATIONS: usize = 7;

const ASSIGNMENTS: [&str; 16] =
    ["=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??="];

impl TsParser<'_> {
    /// Parses an expression without a top-level comma.
    pub(super) fn parse_expression(&mut self) -> ParseResult<TsExpr> {
        self.parse_deeper(|parser| {
            let start = parser.lexer.peek_token().start;
            let left = parser.parse_conditional()?;
            let token = parser.lexer.peek_token();
            match token.kind {
                TsTokenKind::Sign(sign) if ASSIGNMENTS.contains(&sign) => {
                    parser.lexer.take_token(&token);
                    parser.parse_expression()?;
                    Ok(parser.make_expr(start, TsExprKind::Other("an assignment")))
                }
                _ => Ok(left),
            }
        })
    }

    pub(super) fn make_expr(&self, start: usize, kind: TsExprKind) -> TsExpr {
        TsExpr { kind, span: self.span_since(start) }
    }

    fn parse_conditional(&mut self) -> ParseResult<TsExpr> {
        let start = self.lexer.peek_token().start;
        let condition = self.parse_binary(0)?;
        if !self.take_sign("?") {
            return Ok(condition);
        }
        let then = self.parse_expression()?;
        self.expect_sign(":")?;
        let other = self.parse_expression()?;
        let (condition, then, other) = (Box::new(condition), Box::new(then), Box::new(other));
        Ok(self.make_expr(start, TsExprKind::If { condition, then, other }))
    }

    fn parse_binary(&mut self, level: usize) -> ParseResult<TsExpr> {
        let Some(operators) = LEVELS.get(level) else { return self.parse_power() };
        let start = self.lexer.peek_token().start;
        let mut left = self.parse_binary(level + 1)?;
        for _ in 0..LONG {
            let token = self.lexer.peek_token();
            let operator = match token.kind {
                TsTokenKind::Sign(sign) => operators.iter().find(|operator| **operator == sign).copied(),
                TsTokenKind::Name("as" | "satisfies") if level == RELATIONS && !token.on_new_line => {
                    self.lexer.take_token(&token);
                    if !self.take_word("const") {
                        self.skip_type()?;
                    }
                    continue;
                }
                TsTokenKind::Name("instanceof") if level == RELATIONS => Some("instanceof"),
                TsTokenKind::Name("in") if level == RELATIONS => Some("in"),
                _ => None,
            };
            let Some(operator) = operator else { return Ok(left) };
            self.lexer.take_token(&token);
            let right = self.parse_binary(level + 1)?;
            let (one, other) = (Box::new(left), Box::new(right));
            left = self.make_expr(start, TsExprKind::Binary { operator, left: one, right: other });
        }
        Err(UnreadPiece)
    }

    fn parse_power(&mut self) -> ParseResult<TsExpr> {
        let start = self.lexer.peek_token().start;
        let left = self.parse_unary()?;
        if !self.take_sign("**") {
            return Ok(left);
        }
        let right = self.parse_deeper(Self::parse_power)?;
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(self.make_expr(start, TsExprKind::Binary { operator: "**", left, right }))
    }

    fn parse_unary(&mut self) -> ParseResult<TsExpr> {
        let token = self.lexer.peek_token();
        let operator = match token.kind {
            TsTokenKind::Sign(sign @ ("!" | "-" | "+" | "~" | "++" | "--")) => sign,
            TsTokenKind::Name("typeof") => "typeof",
            TsTokenKind::Name("void") => "void",
            TsTokenKind::Name("delete") => "delete",
            TsTokenKind::Name("await") => "await",
            _ => return self.parse_postfix(),
        };
        self.lexer.take_token(&token);
        let of = self.parse_deeper(Self::parse_unary)?;
        Ok(match operator {
            "await" => self.make_expr(token.start, TsExprKind::Unary { operator: "await", of: Box::new(of) }),
            "++" | "--" | "delete" => self.make_expr(token.start, TsExprKind::Other("an assignment")),
            operator => self.make_expr(token.start, TsExprKind::Unary { operator, of: Box::new(of) }),
        })
    }

    fn parse_postfix(&mut self) -> ParseResult<TsExpr> {
        let start = self.lexer.peek_token().start;
        let mut of = if self.take_word("new") {
            self.parse_deeper(|parser| parser.new_object(start))?
        } else {
            self.parse_primary()?
        };
        for _ in 0..LONG {
            match self.parse_link(of, start)? {
                (next, true) => of = next,
                (last, false) => return Ok(last),
            }
        }
        Err(UnreadPiece)
    }

    fn parse_link(&mut self, of: TsExpr, start: usize) -> ParseResult<(TsExpr, bool)> {
        let token = self.lexer.peek_token();
        let kind = match token.kind {
            TsTokenKind::Sign("." | "?.") => {
                self.lexer.take_token(&token);
                let mut of = of;
                if token.kind == TsTokenKind::Sign("?.") {
                    of = self.make_expr(start, TsExprKind::Optional(Box::new(of)));
                    if self.is_sign("(") || self.is_sign("[") {
                        return Ok((of, true));
                    }
                }
                let name = self.lexer.peek_token();
                let TsTokenKind::Name(text) = name.kind else { return Err(UnreadPiece) };
                self.lexer.take_token(&name);
                TsExprKind::Member { of: Box::new(of), name: text.to_owned() }
            }
            TsTokenKind::Sign("[") => {
                self.lexer.take_token(&token);
                let index = self.parse_expression()?;
                self.expect_sign("]")?;
                TsExprKind::Index { of: Box::new(of), index: Box::new(index) }
            }
            TsTokenKind::Sign("(") => TsExprKind::Call { callee: Box::new(of), arguments: self.parse_arguments()? },
            TsTokenKind::Sign("<") => {
                let generic = self.try_parse(|parser| {
                    parser.type_arguments()?;
                    if parser.is_sign("(") { Ok(()) } else { Err(UnreadPiece) }
                });
                return Ok((of, generic.is_ok()));
            }
            TsTokenKind::Sign("!") if !token.on_new_line => {
                self.lexer.take_token(&token);
                return Ok((of, true));
            }
            TsTokenKind::Sign("++" | "--") if !token.on_new_line => {
                self.lexer.take_token(&token);
                TsExprKind::Other("an assignment")
            }
            TsTokenKind::Template => {
                self.parse_template(&token)?;
                TsExprKind::Other("a tagged template")
            }
            _ => return Ok((of, false)),
        };
        Ok((self.make_expr(start, kind), true))
    }

    fn new_object(&mut self, start: usize) -> ParseResult<TsExpr> {
        let begin = self.lexer.peek_token().start;
        let mut class = self.parse_primary()?;
        let mut links = 0;
        while self.take_sign(".") {
            let token = self.lexer.peek_token();
            let TsTokenKind::Name(name) = token.kind else { return Err(UnreadPiece) };
            self.lexer.take_token(&token);
            links += 1;
            if links > LONG {
                return Err(UnreadPiece);
            }
            class = self.make_expr(begin, TsExprKind::Member { of: Box::new(class), name: name.to_owned() });
        }
        if self.is_sign("<") {
            self.try_parse(Self::type_arguments)?;
        }
        let arguments = if self.is_sign("(") { self.parse_arguments()? } else { Vec::new() };
        Ok(self.make_expr(start, TsExprKind::New { class: Box::new(class), arguments }))
    }

    fn parse_arguments(&mut self) -> ParseResult<Vec<TsElement>> {
        self.expect_sign("(")?;
        self.parse_elements(")")
    }

    /// Parses elements up to and including `close`; omitted elements are `undefined`.
    fn parse_elements(&mut self, close: &str) -> ParseResult<Vec<TsElement>> {
        let mut elements = Vec::new();
        while !self.take_sign(close) {
            let start = self.lexer.peek_token().start;
            if self.take_sign(",") {
                let value = self.make_expr(start, TsExprKind::Name("undefined".to_owned()));
                elements.push(TsElement { spread: false, value });
                continue;
            }
            let spread = self.take_sign("...");
            let value = self.parse_expression()?;
            elements.push(TsElement { spread, value });
            if !self.is_sign(close) {
                self.expect_sign(",")?;
            }
        }
        Ok(elements)
    }

    fn parse_primary(&mut self) -> ParseResult<TsExpr> {
        let token = self.lexer.peek_token();
        let start = token.start;
        let kind = match token.kind {
            TsTokenKind::Name(name) => return self.parse_named(name, &token),
            TsTokenKind::Number(text) => {
                self.lexer.take_token(&token);
                TsExprKind::Number(text.to_owned())
            }
            TsTokenKind::Text(text) => {
                self.lexer.take_token(&token);
                TsExprKind::Text(unescape_text(text))
            }
            TsTokenKind::Template => self.parse_template(&token)?,
            TsTokenKind::Sign("/" | "/=") => {
                let (pattern, flags) = self.lexer.take_regex(&token).ok_or(UnreadPiece)?;
                TsExprKind::Regex { pattern: pattern.to_owned(), flags: flags.to_owned() }
            }
            TsTokenKind::Sign("(") if self.are_parameters() => return self.parse_arrow(start),
            TsTokenKind::Sign("(") => return self.in_parentheses(&token),
            TsTokenKind::Sign("[") => {
                self.lexer.take_token(&token);
                TsExprKind::List(self.parse_deeper(|parser| parser.parse_elements("]"))?)
            }
            TsTokenKind::Sign("{") => {
                self.lexer.take_token(&token);
                TsExprKind::Object(self.parse_deeper(Self::parse_properties)?)
            }
            // A generic function, or a type assertion on the following expression.
            TsTokenKind::Sign("<") => {
                self.type_arguments()?;
                return if self.is_sign("(") && self.are_parameters() {
                    self.parse_arrow(start)
                } else {
                    self.parse_unary()
                };
            }
            _ => return Err(UnreadPiece),
        };
        Ok(self.make_expr(start, kind))
    }

    fn parse_named(&mut self, name: &str, token: &TsToken<'_>) -> ParseResult<TsExpr> {
        let start = token.start;
        self.lexer.take_token(token);
        let next = self.lexer.peek_token();
        let kind = match name {
            "true" | "false" => TsExprKind::Bool(name == "true"),
            "null" => TsExprKind::Null,
            "function" => return self.parse_function(start).map(|(_, function)| function),
            "class" => {
                self.skip_class()?;
                TsExprKind::Other("a class")
            }
            "async" if next.kind == TsTokenKind::Name("function") && !next.on_new_line => {
                self.lexer.take_token(&next);
                return self.parse_function(start).map(|(_, function)| as_async(function));
            }
            "async"
                if next.kind == TsTokenKind::Sign("(") && self.are_parameters()
                    || matches!(next.kind, TsTokenKind::Name(_)) && !next.on_new_line =>
            {
                return self.parse_arrow(start).map(as_async);
            }
            "import" if next.kind == TsTokenKind::Sign(".") => {
                self.lexer.take_token(&next);
                if !self.take_word("meta") {
                    return Err(UnreadPiece);
                }
                TsExprKind::Name("import.meta".to_owned())
            }
            "import" | "yield" | "super" => TsExprKind::Other("what only a running program knows"),
            _ if next.kind == TsTokenKind::Sign("=>") && !next.on_new_line => {
                let parameters = vec![TsPattern::Name(name.to_owned(), None)];
                return self.arrow_of(start, parameters);
            }
            _ if is_keyword(name) => return Err(UnreadPiece),
            _ => TsExprKind::Name(name.to_owned()),
        };
        Ok(self.make_expr(start, kind))
    }

    /// Parses a sequence `a, b`.
    pub(super) fn parse_sequence(&mut self) -> ParseResult<TsExpr> {
        let start = self.lexer.peek_token().start;
        let mut left = self.parse_expression()?;
        for _ in 0..LONG {
            if !self.take_sign(",") {
                return Ok(left);
            }
            let right = Box::new(self.parse_expression()?);
            left = self.make_expr(start, TsExprKind::Binary { operator: ",", left: Box::new(left), right });
        }
        Err(UnreadPiece)
    }

    fn in_parentheses(&mut self, token: &TsToken<'_>) -> ParseResult<TsExpr> {
        self.lexer.take_token(token);
        let inside = self.parse_sequence()?;
        self.expect_sign(")")?;
        if !has_optional_link(&inside) {
            return Ok(inside);
        }
        // Keeps the parentheses as a sequence, since `?.` ends the chain inside of them, but not links after them.
        let left = Box::new(self.make_expr(token.start, TsExprKind::Null));
        Ok(self.make_expr(token.start, TsExprKind::Binary { operator: ",", left, right: Box::new(inside) }))
    }

    fn parse_template(&mut self, token: &TsToken<'_>) -> ParseResult<TsExprKind> {
        self.lexer.take_token(token);
        self.parse_deeper(|parser| {
            let mut parts = Vec::new();
            loop {
                let (text, goes_on) = parser.lexer.template_text().ok_or(UnreadPiece)?;
                if !text.is_empty() {
                    // In a template, line ends are always `\n`, whatever the file has.
                    let text = text.replace("\r\n", "\n").replace('\r', "\n");
                    parts.push(TemplatePart::Text(unescape_text(&text)));
                }
                if !goes_on {
                    break;
                }
                parts.push(TemplatePart::Value(parser.parse_expression()?));
                parser.expect_sign("}")?;
            }
            Ok(match parts.as_slice() {
                [] => TsExprKind::Text(String::new()),
                [TemplatePart::Text(text)] => TsExprKind::Text(text.clone()),
                _ => TsExprKind::Template(parts),
            })
        })
    }

    fn parse_arrow(&mut self, start: usize) -> ParseResult<TsExpr> {
        let parameters = if self.is_sign("(") {
            let parameters = self.parse_parameters()?;
            self.skip_annotation()?;
            parameters
        } else {
            vec![self.parse_parameter()?]
        };
        self.arrow_of(start, parameters)
    }

    fn arrow_of(&mut self, start: usize, parameters: Vec<TsPattern>) -> ParseResult<TsExpr> {
        self.expect_sign("=>")?;
        let body = self.parse_deeper(|parser| match parser.is_sign("{") {
            true => parser.parse_block().map(FunctionBody::Block),
            false => parser.parse_expression().map(FunctionBody::Value),
        })?;
        Ok(self.make_expr(start, TsExprKind::Function(Rc::new(TsFunction { parameters, body, is_async: false }))))
    }
}

/// Marks a function as `async`.
pub(super) fn as_async(expr: TsExpr) -> TsExpr {
    let kind = match expr.kind {
        TsExprKind::Function(function) => {
            TsExprKind::Function(Rc::new(TsFunction { is_async: true, ..Rc::unwrap_or_clone(function) }))
        }
        kind => kind,
    };
    TsExpr { kind, ..expr }
}

/// True for keywords, which cannot be names of values.
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

fn has_optional_link(expr: &TsExpr) -> bool {
    match &expr.kind {
        TsExprKind::Optional(_) => true,
        TsExprKind::Member { of, .. } | TsExprKind::Index { of, .. } => has_optional_link(of),
        TsExprKind::Call { callee, .. } => has_optional_link(callee),
        _ => false,
    }
}

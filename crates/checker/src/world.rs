//! Checks of the world around a run: files, environment, tools, requests, commands.

use super::Checker;
use super::expr::CheckedExpr;
use super::scope::NameScope;
use super::shell::CodePlace;
use super::ty::Ty;
use crate::ir::{self, Constant, ExprKind, FileLook, LocalId, WorldCondition};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, TestKind, TextOrRegex, TextPart};

/// Placeholder for interpolations while a command is split; commands never contain it.
const MARK: char = '\u{F8F0}';

impl<'a> Checker<'a> {
    pub(super) fn check_world(
        &mut self,
        scope: &NameScope<'a>,
        world: &'a ast::WorldCheck,
    ) -> WorldCondition<ir::TypedExpr> {
        match world {
            ast::WorldCheck::File { path, test } => {
                let look = match test.kind {
                    TestKind::Exists | TestKind::IsMissing => FileLook::Presence,
                    TestKind::IsEmpty => FileLook::Size,
                    _ => FileLook::Text,
                };
                let test = self.value_test(scope, "the text of the file", Ty::String, path.span, test);
                WorldCondition::File { path: self.text_literal(scope, path).expr, test, look }
            }
            ast::WorldCheck::Env { name, empty, negated } => {
                WorldCondition::Env { name: name.text.clone(), empty: *empty, negated: *negated }
            }
            ast::WorldCheck::Tool { name, negated } => {
                WorldCondition::Tool { name: name.text.clone(), negated: *negated }
            }
            ast::WorldCheck::Http { url, test } => {
                let (url, place) = match url {
                    TextOrRegex::Text(text) => (self.text_literal(scope, text), text.span),
                    TextOrRegex::Regex(regex) => (self.regex_literal(regex, None), regex.span),
                };
                WorldCondition::Http { url: url.expr, test: self.value_test(scope, "status", Ty::Integer, place, test) }
            }
            ast::WorldCheck::Run { command, code } => {
                WorldCondition::Run { arguments: self.command_words(scope, command), code: self.exit_code(code) }
            }
        }
    }

    fn value_test(
        &mut self,
        scope: &NameScope<'a>,
        text: &str,
        ty: Ty,
        place: Span,
        test: &'a ast::ValueTest,
    ) -> ir::TypedExpr {
        let subject = CheckedExpr::new(ExprKind::Local(LocalId::VALUE), place, ty);
        self.test_of(&scope.with_value(), subject, text, test, place.cover_with(test.span)).expr
    }

    fn exit_code(&mut self, code: &ast::NumberLiteral) -> i64 {
        code.value.parse::<i64>().ok().filter(|_| code.unit == ast::NumberUnit::None).unwrap_or_else(|| {
            let message = format!("an exit code is a whole number, not `{}`", code.text);
            self.report_diagnostic(Diagnostic::new(Slug::Impossible, code.span, message).with_help("write `exits 0`"));
            0
        })
    }

    /// Splits a command like a shell does, but never inside an interpolated value.
    fn command_words(&mut self, scope: &NameScope<'a>, command: &'a ast::TextLiteral) -> Vec<ir::TypedExpr> {
        self.literals.push(command.span);
        let mut text = String::new();
        let mut values = Vec::new();
        for part in &command.parts {
            match part {
                TextPart::Literal(literal) => text.push_str(&literal.replace(MARK, "")),
                TextPart::Interpolation(expr) => {
                    text.push(MARK);
                    values.push(self.check_expr(scope, expr).expr);
                }
            }
        }
        let Ok(words) = shell_words::split(&text) else {
            self.report_diagnostic(
                Diagnostic::new(Slug::Unclosed, command.span, "a quote in this command is not closed")
                    .with_help("close the quote, or write `\\\\'` for the character"),
            );
            return Vec::new();
        };
        if words.is_empty() {
            self.report_diagnostic(
                Diagnostic::new(Slug::Impossible, command.span, "there is no command")
                    .with_help("write `run \"make test\" exits 0`"),
            );
        }
        for place in super::shell::code_places(&words, MARK) {
            let (what, help) = match place {
                CodePlace::Program => {
                    ("the program that is run", "write the program itself, and the value as its argument")
                }
                CodePlace::Script => {
                    ("code that is run", "hand the value on as an argument: `sh -c 'test -f \"$1\"' sh ${output.path}`")
                }
            };
            let message =
                format!("an interpolated value cannot be {what}: whoever records it would choose what happens here");
            self.report_diagnostic(Diagnostic::new(Slug::Impossible, command.span, message).with_help(help));
        }
        let mut values = values.into_iter();
        words.iter().map(|word| word_expr(word, &mut values, command.span)).collect()
    }
}

fn word_expr(word: &str, values: &mut impl Iterator<Item = ir::TypedExpr>, span: Span) -> ir::TypedExpr {
    let literal =
        |text: &str| CheckedExpr::new(ExprKind::Constant(Constant::Text(text.to_owned())), span, Ty::String).expr;
    if !word.contains(MARK) {
        return literal(word);
    }
    let mut parts = Vec::new();
    for (index, piece) in word.split(MARK).enumerate() {
        if index > 0 {
            parts.extend(values.next());
        }
        if !piece.is_empty() {
            parts.push(literal(piece));
        }
    }
    CheckedExpr::new(ExprKind::Join(parts), span, Ty::String).expr
}

//! Kind words with the text behind them: `command "npm test"`, `read "src/**"`, `user /yes/`, `span "db.*"`.

use super::Checker;
use super::expr::Typed;
use super::patterns::Part;
use super::scope::Scope;
use super::ty::Ty;
use crate::diagnostic::{Diagnostic, Slug};
use crate::ir::{self, Constant, ExprKind, NameTest, Tested, ValueTest};
use crate::source::Span;
use crate::syntax::ast::{self, KindText, StepWord, TestKind};
use crate::trace::run::Kind;

/// Roles that a kind word stands for.
const USER: [&str; 2] = ["user", "human"];
const ASSISTANT: [&str; 3] = ["assistant", "ai", "model"];
const THINKING: [&str; 2] = ["thinking", "reasoning"];

/// A text behind a kind word: known, or computed in the run.
enum Wanted {
    Known(String),
    Computed(ir::Expr),
}

impl<'a> Checker<'a> {
    /// A step of a kind.
    pub(super) fn kind(&mut self, scope: &Scope<'a>, word: StepWord, text: Option<&'a KindText>) -> Part {
        match word {
            StepWord::Command => self.command(scope, text),
            StepWord::Read => self.file(scope, Kind::Read, text),
            StepWord::Write => self.file(scope, Kind::Write, text),
            StepWord::Skill => self.named(scope, Kind::Skill, text),
            StepWord::Span => self.named(scope, Kind::Span, text),
            StepWord::Http => self.containing(scope, Part::of(Kind::Http, NameTest::Any), "url", text),
            StepWord::User => self.message(scope, &USER, text),
            StepWord::Assistant => self.message(scope, &ASSISTANT, text),
            StepWord::Thinking => self.message(scope, &THINKING, text),
            StepWord::Message => self.message(scope, &[], text),
        }
    }

    fn command(&mut self, scope: &Scope<'a>, text: Option<&'a KindText>) -> Part {
        let part = Part::of(Kind::Command, NameTest::Any);
        match text {
            Some(KindText::Command(name)) => self.parsed_command(part, name),
            text => self.containing(scope, part, "command", text),
        }
    }

    /// `command npm(…)`: the program by its name.
    fn parsed_command(&mut self, mut part: Part, name: &ast::Name) -> Part {
        let program = field("program", name.span);
        let (kind, operand) = if name.text.contains(['*', '?']) {
            let number = self.add_regex(super::regex::of_glob(&name.text), name.text.clone());
            (TestKind::Matches, ExprKind::Regex(number))
        } else {
            (TestKind::Equal, ExprKind::Constant(Constant::Text(name.text.clone())))
        };
        part.tests.push(test(kind, program, Typed::new(operand, name.span, Ty::Any).expr));
        part
    }

    /// The name (the command, the URL) contains a text or matches.
    fn containing(&mut self, scope: &Scope<'a>, mut part: Part, of: &str, text: Option<&'a KindText>) -> Part {
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => part.name = self.name_regex(regex),
            Some(KindText::Text(text)) => match self.wanted(scope, text) {
                Wanted::Known(text) => part.name = NameTest::Contains(text),
                Wanted::Computed(value) => part.tests.push(test(TestKind::Contains, field(of, text.span), value)),
            },
        }
        part
    }

    /// A file by a path glob.
    fn file(&mut self, scope: &Scope<'a>, kind: Kind, text: Option<&'a KindText>) -> Part {
        let mut part = Part::of(kind, NameTest::Any);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => part.name = self.name_regex(regex),
            Some(KindText::Text(text)) => match self.wanted(scope, text) {
                Wanted::Known(glob) => part.name = self.path_glob(&glob, text.span),
                Wanted::Computed(value) => part.tests.push(test(TestKind::Equal, field("path", text.span), value)),
            },
        }
        part
    }

    fn path_glob(&mut self, glob: &str, place: Span) -> NameTest {
        let plain = glob.strip_prefix("./").unwrap_or(glob);
        if let Err(error) = globset::GlobBuilder::new(plain).literal_separator(true).build() {
            self.report(
                Diagnostic::new(Slug::BadPath, place, format!("the path glob cannot be used: {}", error.kind())).help(
                    "`*` stands for a part of a name, `**` for folders, `[a-z]` for a character, `{a,b}` for either",
                ),
            );
        }
        NameTest::PathGlob(plain.to_owned())
    }

    /// A skill or a span by its name; `*` and `?` are globs.
    fn named(&mut self, scope: &Scope<'a>, kind: Kind, text: Option<&'a KindText>) -> Part {
        let mut part = Part::of(kind, NameTest::Any);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => part.name = self.name_regex(regex),
            Some(KindText::Text(text)) => match self.wanted(scope, text) {
                Wanted::Known(name) if name.contains(['*', '?']) => part.name = NameTest::Glob(name),
                Wanted::Known(name) => part.name = NameTest::Exactly(name),
                Wanted::Computed(value) => part.tests.push(test(TestKind::Equal, field("name", text.span), value)),
            },
        }
        part
    }

    /// A message of one of these roles (of any: none given) whose text contains or matches.
    fn message(&mut self, scope: &Scope<'a>, roles: &[&str], text: Option<&'a KindText>) -> Part {
        let roles: Vec<String> = roles.iter().map(|&role| role.to_owned()).collect();
        let name = if roles.is_empty() { NameTest::Any } else { NameTest::OneOf(roles) };
        let mut part = Part::of(Kind::Message, name);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => {
                let operand = self.regex_literal(regex, Some("text")).expr;
                part.tests.push(test(TestKind::Matches, field("text", regex.span), operand));
            }
            Some(KindText::Text(text)) => {
                let operand = self.text_literal(scope, text).expr;
                part.tests.push(test(TestKind::Contains, field("text", text.span), operand));
            }
        }
        part
    }

    fn name_regex(&mut self, regex: &ast::Regex) -> NameTest {
        self.regex_number(regex, None).map_or(NameTest::Any, NameTest::Matches)
    }

    fn wanted(&mut self, scope: &Scope<'a>, text: &'a ast::Text) -> Wanted {
        let value = self.text_literal(scope, text).expr;
        match self.constant(&value) {
            Some(Constant::Text(text)) => Wanted::Known(text),
            _ => Wanted::Computed(value),
        }
    }
}

/// A field of the step in scope.
pub fn field(name: &str, span: Span) -> ir::Expr {
    Typed::new(ExprKind::StepField(name.to_owned()), span, Ty::Any).expr
}

/// A positive test of two sides.
pub fn test(kind: TestKind, subject: ir::Expr, operand: ir::Expr) -> ir::Expr {
    let span = subject.span.to(operand.span);
    let tested = Tested {
        kind: ValueTest::Plain(kind),
        negated: false,
        subject: Box::new(subject),
        operand: Some(Box::new(operand)),
    };
    Typed::new(ExprKind::Test(tested), span, Ty::Boolean).expr
}

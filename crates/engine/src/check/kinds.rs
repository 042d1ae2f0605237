//! Kind words with the text behind them: `command "npm test"`, `read "src/**"`, `user /yes/`, `span "db.*"`.

use super::Checker;
use super::expr::Typed;
use super::patterns::AlternativeDraft;
use super::scope::Scope;
use super::ty::Ty;
use super::walk;
use crate::ir::{self, Constant, ExprKind, Local, NameTest, Tested, ValueTest};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::command::{WantedCommand, wrappers};
use averment_runs::normal::of_step;
use averment_runs::run::Kind;
use averment_syntax::ast::{self, BinaryOperator, ExprQuantifier, KindText, StepWord, TestKind};

/// Roles that a kind word stands for.
const USER: [&str; 2] = ["user", "human"];
const ASSISTANT: [&str; 3] = ["assistant", "ai", "model"];
const THINKING: [&str; 2] = ["thinking", "reasoning"];

/// A text behind a kind word: known, or computed in the run.
enum WantedText {
    Known(String),
    Computed(ir::Expr),
}

/// The fields of a command that each program of its line has for itself, in `parts`.
const OF_PROGRAM: [&str; 5] = [of_step::PROGRAM, of_step::ARGS, of_step::FLAGS, of_step::OPTIONS, WRAPPERS];
/// The wrappers that were taken off in front of a program.
const WRAPPERS: &str = "wrappers";

/// A line such as `npm test && rm -rf build` runs several programs. The tests of `command rm(flags: ["-rf"])` have to hold for one
/// and the same of them: those that look at its fields become one `any program in parts: …`.
pub(super) fn of_one_program(tests: &mut Vec<ir::Expr>, program: Local) {
    let looks = |kind: &ExprKind| matches!(kind, ExprKind::StepField(field) if OF_PROGRAM.contains(&field.as_str()));
    let (moved, kept) = tests.drain(..).partition::<Vec<_>, _>(|test| walk::any(test, &looks));
    *tests = kept;
    let mut bound = None;
    let mut free = None;
    for mut test in moved {
        look_at_program(&mut test, program);
        // What waits for a binding is decided later, and by the same program: the name is asked in both.
        let uses_binding = walk::uses_binding(&test);
        if !uses_binding {
            free = Some(walk::and(free, test.clone()));
        }
        if uses_binding || bound.is_some() {
            let before = if bound.is_none() { free.clone() } else { bound };
            bound = Some(walk::and(before, test));
        }
    }
    tests.extend([free, bound].into_iter().flatten().map(|body| {
        let span = body.span;
        let parts = field("parts", span);
        let kind = ExprKind::Quantifier(ExprQuantifier::Any, program, Box::new(parts), Box::new(body));
        Typed::new(kind, span, Ty::Boolean).expr
    }));
}

impl AlternativeDraft {
    /// Asks for the text behind the word of the kind, where that is no test of the name.
    fn ask_text(&mut self, test: ir::Expr) {
        self.text = Some(test.clone());
        self.tests.push(test);
    }
}

fn look_at_program(expr: &mut ir::Expr, program: Local) {
    if let ExprKind::StepField(field) = &expr.kind
        && OF_PROGRAM.contains(&field.as_str())
    {
        let local = Typed::new(ExprKind::Local(program), expr.span, Ty::Any).expr;
        expr.kind = ExprKind::Field(Box::new(local), field.clone());
        return;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || walk::children_mut(expr, &mut |child| look_at_program(child, program)));
}

impl<'a> Checker<'a> {
    /// A step of a kind.
    pub(super) fn kind(&mut self, scope: &Scope<'a>, word: StepWord, text: Option<&'a KindText>) -> AlternativeDraft {
        let mut part = self.kind_part(scope, word, text);
        part.shape.word = Some(word.as_str());
        part
    }

    fn kind_part(&mut self, scope: &Scope<'a>, word: StepWord, text: Option<&'a KindText>) -> AlternativeDraft {
        match word {
            StepWord::Command => self.command(scope, text),
            StepWord::Read => self.file(scope, Kind::Read, text),
            StepWord::Write => self.file(scope, Kind::Write, text),
            StepWord::Skill => self.named(scope, Kind::Skill, "name", text),
            StepWord::Span => self.named(scope, Kind::Span, "name", text),
            StepWord::Handover => self.named(scope, Kind::Handover, "to", text),
            StepWord::Http => self.containing(scope, AlternativeDraft::of(Kind::Http, NameTest::Any), "url", text),
            StepWord::User => self.message(scope, &USER, text),
            StepWord::Assistant => self.message(scope, &ASSISTANT, text),
            StepWord::Thinking => self.message(scope, &THINKING, text),
            StepWord::Message => self.message(scope, &[], text),
        }
    }

    fn command(&mut self, scope: &Scope<'a>, text: Option<&'a KindText>) -> AlternativeDraft {
        let part = AlternativeDraft::of(Kind::Command, NameTest::Any);
        match text {
            Some(KindText::Command(name)) => self.parsed_command(part, name),
            Some(KindText::Text(text)) => self.named_command(scope, part, text),
            text => self.containing(scope, part, "command", text),
        }
    }

    /// `command "rm -rf"`: a line that holds the text, or that runs the program which the text names.
    fn named_command(
        &mut self,
        scope: &Scope<'a>,
        mut part: AlternativeDraft,
        text: &'a ast::Text,
    ) -> AlternativeDraft {
        let named = match self.wanted(scope, text) {
            WantedText::Known(named) if WantedCommand::read(&named).is_none() => {
                part.name = NameTest::Contains(named);
                return part;
            }
            WantedText::Known(named) => {
                Typed::new(ExprKind::Constant(Constant::Text(named)), text.span, Ty::String).expr
            }
            WantedText::Computed(value) => value,
        };
        let contains = test(TestKind::Contains, field(of_step::COMMAND, text.span), named.clone());
        let call = ExprKind::Builtin("runs_command", vec![field(of_step::PARTS, text.span), named]);
        let runs = Typed::new(call, text.span, Ty::Boolean).expr;
        let either = ExprKind::Binary(BinaryOperator::Or, Box::new(contains), Box::new(runs));
        part.ask_text(Typed::new(either, text.span, Ty::Boolean).expr);
        part
    }

    /// `command npm(…)`: the program by its name.
    fn parsed_command(&mut self, mut part: AlternativeDraft, name: &ast::Name) -> AlternativeDraft {
        let program = field("program", name.span);
        let (kind, operand) = if name.text.contains(['*', '?']) {
            let number = self.add_regex(super::regex::of_glob(&name.text), name.text.clone());
            (TestKind::Matches, ExprKind::Regex(number))
        } else {
            (TestKind::Equal, ExprKind::Constant(Constant::Text(name.text.clone())))
        };
        let named = Typed::new(operand, name.span, Ty::Any).expr;
        let mut is_program = test(kind, program, named.clone());
        if wrappers::of_name(&name.text).any(|wrapper| wrapper.is_taken_off) {
            // `command sudo()`: one that is taken off is no program of the line.
            let is_wrapper = test(TestKind::Contains, field(WRAPPERS, name.span), named);
            let either = ExprKind::Binary(BinaryOperator::Or, Box::new(is_program), Box::new(is_wrapper));
            is_program = Typed::new(either, name.span, Ty::Boolean).expr;
        }
        part.tests.push(is_program);
        part
    }

    /// The name (the command, the URL) contains a text or matches.
    fn containing(
        &mut self,
        scope: &Scope<'a>,
        mut part: AlternativeDraft,
        of: &str,
        text: Option<&'a KindText>,
    ) -> AlternativeDraft {
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => self.name_matches(&mut part, of, regex),
            Some(KindText::Text(text)) => match self.wanted(scope, text) {
                WantedText::Known(text) => part.name = NameTest::Contains(text),
                WantedText::Computed(value) => part.ask_text(test(TestKind::Contains, field(of, text.span), value)),
            },
        }
        part
    }

    /// A file by a path glob.
    fn file(&mut self, scope: &Scope<'a>, kind: Kind, text: Option<&'a KindText>) -> AlternativeDraft {
        let mut part = AlternativeDraft::of(kind, NameTest::Any);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => self.name_matches(&mut part, "path", regex),
            Some(KindText::Text(text)) => match self.wanted(scope, text) {
                WantedText::Known(glob) => part.name = self.path_glob(&glob, text.span),
                WantedText::Computed(value) => part.ask_text(test(TestKind::Equal, field("path", text.span), value)),
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

    /// A skill, a span or a hand-over by its name, which stands in a field; `*` and `?` are globs.
    fn named(&mut self, scope: &Scope<'a>, kind: Kind, of: &str, text: Option<&'a KindText>) -> AlternativeDraft {
        let mut part = AlternativeDraft::of(kind, NameTest::Any);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => self.name_matches(&mut part, of, regex),
            Some(KindText::Text(text)) => match self.wanted(scope, text) {
                WantedText::Known(name) if name.contains(['*', '?']) => part.name = NameTest::Glob(name),
                WantedText::Known(name) => part.name = NameTest::Exactly(name),
                WantedText::Computed(value) => part.ask_text(test(TestKind::Equal, field(of, text.span), value)),
            },
        }
        part
    }

    /// A message of one of these roles (of any: none given) whose text contains or matches.
    fn message(&mut self, scope: &Scope<'a>, roles: &[&str], text: Option<&'a KindText>) -> AlternativeDraft {
        let roles: Vec<String> = roles.iter().map(|&role| role.to_owned()).collect();
        let name = if roles.is_empty() { NameTest::Any } else { NameTest::OneOf(roles) };
        let mut part = AlternativeDraft::of(Kind::Message, name);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => {
                let operand = self.regex_literal(regex, Some("text")).expr;
                part.ask_text(test(TestKind::Matches, field("text", regex.span), operand));
            }
            Some(KindText::Text(text)) => {
                let operand = self.text_literal(scope, text).expr;
                part.ask_text(test(TestKind::Contains, field("text", text.span), operand));
            }
        }
        part
    }

    /// The name matches, which is also that field of the step. Names are compared without a count of what that takes: what backtracks looks
    /// at the field.
    fn name_matches(&mut self, part: &mut AlternativeDraft, of: &str, regex: &'a ast::Regex) {
        let operand = self.regex_literal(regex, Some(of)).expr;
        if self.backtracks(&operand) {
            part.ask_text(test(TestKind::Matches, field(of, regex.span), operand));
        } else if let ExprKind::Regex(number) = operand.kind {
            part.name = NameTest::Matches(number);
        }
    }

    fn wanted(&mut self, scope: &Scope<'a>, text: &'a ast::Text) -> WantedText {
        let value = self.text_literal(scope, text).expr;
        match self.constant(&value) {
            Some(Constant::Text(text)) => WantedText::Known(text),
            _ => WantedText::Computed(value),
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

//! Kind words with the text behind them: `command "npm test"`, `read "src/**"`, `user /yes/`, `span "db.*"`.

use super::Checker;
use super::expr::CheckedExpr;
use super::scope::NameScope;
use super::ty::{StepShape, Ty};
use super::walk;
use crate::ir::{self, Constant, ExprKind, LocalId, NameTest, PatternAlternative, TypedTest, ValueTest};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::command::{WantedCommand, wrappers};
use averment_runs::normal::of_step;
use averment_runs::path::normal_path;
use averment_runs::run::StepKind;
use averment_syntax::ast::{self, BinaryOperator, ExprQuantifier, KindText, StepWord, TestKind};

/// An alternative that is being put together.
#[derive(Debug, Clone)]
pub struct AlternativeDraft {
    /// The kind of step.
    pub kind: StepKind,
    /// The test of the step's name.
    pub name: NameTest,
    /// True if it matches calls that were not executed.
    pub proposed: bool,
    /// `ok` or `failed`.
    pub succeeded: Option<bool>,
    /// Bindings with their paths.
    pub binds: Vec<(u32, ir::TypedExpr)>,
    /// The text behind the word of a kind, where it is no test of the name.
    pub text: Option<ir::TypedExpr>,
    /// Conditions, in the order of the text.
    pub tests: Vec<ir::TypedExpr>,
    /// The known shape of the step.
    pub shape: StepShape,
    /// True while its arguments may be unknown ones (a glob).
    pub lenient: bool,
}

impl AlternativeDraft {
    /// Any step of a kind.
    pub fn any_of_kind(kind: StepKind, name: NameTest) -> Self {
        Self {
            kind,
            name,
            proposed: false,
            succeeded: None,
            binds: Vec::new(),
            text: None,
            tests: Vec::new(),
            shape: StepShape::of_kind(kind),
            lenient: false,
        }
    }

    /// True if it depends on nothing of the place where its definition is used.
    pub(super) fn is_plain(&self) -> bool {
        self.binds.is_empty() && self.tests.is_empty() && self.text.is_none()
    }

    /// A test on a binding of this alternative reads the bound path instead; a test on another pattern's binding is a join.
    pub(super) fn into_alternative(self) -> PatternAlternative<ir::TypedExpr> {
        let text = self.text.map(|mut text| {
            walk::substitute_bindings(&mut text, &self.binds);
            text
        });
        let mut condition = None;
        let mut joins = Vec::new();
        for mut test in self.tests {
            walk::substitute_bindings(&mut test, &self.binds);
            if walk::uses_binding(&test) {
                joins.push(test);
            } else {
                condition = Some(walk::join_and(condition, test));
            }
        }
        PatternAlternative {
            kind: self.kind,
            name: self.name,
            proposed: self.proposed,
            succeeded: self.succeeded,
            text,
            condition,
            binds: self.binds,
            joins,
        }
    }
}

const USER: [&str; 2] = ["user", "human"];
const ASSISTANT: [&str; 3] = ["assistant", "ai", "model"];
const THINKING: [&str; 2] = ["thinking", "reasoning"];

enum WantedText {
    Known(String),
    Computed(ir::TypedExpr),
}

/// Fields of a command that each program in `parts` has separately.
const OF_PROGRAM: [&str; 5] = [of_step::PROGRAM, of_step::ARGS, of_step::FLAGS, of_step::OPTIONS, WRAPPERS];
/// The wrappers that were taken off in front of a program.
const WRAPPERS: &str = "wrappers";

/// All tests of `command rm(flags: ["-rf"])` have to hold for the same program of a line: `any program in parts: …`.
pub(super) fn join_program_tests(tests: &mut Vec<ir::TypedExpr>, program: LocalId) {
    let looks = |kind: &ExprKind| matches!(kind, ExprKind::StepField(field) if OF_PROGRAM.contains(&field.as_str()));
    let (moved, kept) = tests.drain(..).partition::<Vec<_>, _>(|test| walk::any_kind(test, &looks));
    *tests = kept;
    let mut bound = None;
    let mut free = None;
    for mut test in moved {
        look_at_program(&mut test, program);
        // What waits for a binding is decided later, and by the same program: the name is asked in both.
        let uses_binding = walk::uses_binding(&test);
        if !uses_binding {
            free = Some(walk::join_and(free, test.clone()));
        }
        if uses_binding || bound.is_some() {
            let before = if bound.is_none() { free.clone() } else { bound };
            bound = Some(walk::join_and(before, test));
        }
    }
    tests.extend([free, bound].into_iter().flatten().map(|body| {
        let span = body.span;
        let parts = step_field("parts", span);
        let kind = ExprKind::Quantifier(ExprQuantifier::Any, program, Box::new(parts), Box::new(body));
        CheckedExpr::new(kind, span, Ty::Boolean).expr
    }));
}

impl AlternativeDraft {
    /// Asks for a text that is a part of the step's name.
    pub(super) fn ask_text(&mut self, test: ir::TypedExpr) {
        self.text = Some(test.clone());
        self.tests.push(test);
    }
}

fn look_at_program(expr: &mut ir::TypedExpr, program: LocalId) {
    if let ExprKind::StepField(field) = &expr.kind
        && OF_PROGRAM.contains(&field.as_str())
    {
        let local = CheckedExpr::new(ExprKind::Local(program), expr.span, Ty::Any).expr;
        expr.kind = ExprKind::Field(Box::new(local), field.clone());
        return;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || walk::children_mut(expr, &mut |child| look_at_program(child, program)));
}

impl<'a> Checker<'a> {
    pub(super) fn kind_draft(
        &mut self,
        scope: &NameScope<'a>,
        word: StepWord,
        text: Option<&'a KindText>,
    ) -> AlternativeDraft {
        let mut part = self.kind_part(scope, word, text);
        part.shape.word = Some(word.as_str());
        part
    }

    fn kind_part(&mut self, scope: &NameScope<'a>, word: StepWord, text: Option<&'a KindText>) -> AlternativeDraft {
        match word {
            StepWord::Command => self.command_draft(scope, text),
            StepWord::Read => self.file_draft(scope, StepKind::Read, text),
            StepWord::Write => self.file_draft(scope, StepKind::Write, text),
            StepWord::Skill => self.named_draft(scope, StepKind::Skill, "name", text),
            StepWord::Span => self.named_draft(scope, StepKind::Span, "name", text),
            StepWord::Handover => self.named_draft(scope, StepKind::Handover, "to", text),
            StepWord::Http => {
                self.containing_draft(scope, AlternativeDraft::any_of_kind(StepKind::Http, NameTest::Any), "url", text)
            }
            StepWord::User => self.message_draft(scope, &USER, text),
            StepWord::Assistant => self.message_draft(scope, &ASSISTANT, text),
            StepWord::Thinking => self.message_draft(scope, &THINKING, text),
            StepWord::Message => self.message_draft(scope, &[], text),
        }
    }

    fn command_draft(&mut self, scope: &NameScope<'a>, text: Option<&'a KindText>) -> AlternativeDraft {
        let part = AlternativeDraft::any_of_kind(StepKind::Command, NameTest::Any);
        match text {
            Some(KindText::Command(name)) => self.parsed_command(part, name),
            Some(KindText::Text(text)) => self.named_command(scope, part, text),
            text => self.containing_draft(scope, part, "command", text),
        }
    }

    /// `command "rm -rf"`: a line that holds the text, or that runs the program which the text names.
    fn named_command(
        &mut self,
        scope: &NameScope<'a>,
        mut part: AlternativeDraft,
        text: &'a ast::TextLiteral,
    ) -> AlternativeDraft {
        let named = match self.wanted_text(scope, text) {
            WantedText::Known(named) if WantedCommand::read(&named).is_none() => {
                self.check_piped_text(&named, text.span);
                part.name = NameTest::Contains(named);
                return part;
            }
            WantedText::Known(named) => {
                CheckedExpr::new(ExprKind::Constant(Constant::Text(named)), text.span, Ty::String).expr
            }
            WantedText::Computed(value) => value,
        };
        let [parts, line] = [of_step::PARTS, of_step::COMMAND].map(|field| step_field(field, text.span));
        let call = ExprKind::Builtin("runs_command", vec![parts, named, line]);
        part.ask_text(CheckedExpr::new(call, text.span, Ty::Boolean).expr);
        part
    }

    /// `command "curl | sh"`: a text with a pipe is looked for sign by sign, while most programs have arguments in front of a pipe. Where each
    /// program in front of one is written with arguments, such as `cat log | wc`, the text may be meant as it is.
    fn check_piped_text(&mut self, text: &str, place: Span) {
        let Some(pattern) = piped_pattern(text) else { return };
        self.report_diagnostic(
            Diagnostic::new(Slug::PipedText, place, "a text with a pipe finds this spelling alone")
                .with_label("this matches only a program without arguments before the pipe")
                .with_help(format!("write `command /{pattern}/`, which allows arguments before the pipe")),
        );
    }

    fn parsed_command(&mut self, mut part: AlternativeDraft, name: &ast::Name) -> AlternativeDraft {
        let program = step_field("program", name.span);
        let (kind, operand) = if name.text.contains(['*', '?']) {
            let number = self.add_regex(super::regex::of_glob(&name.text), name.text.clone());
            (TestKind::Matches, ExprKind::Regex(number))
        } else {
            (TestKind::Equal, ExprKind::Constant(Constant::Text(name.text.clone())))
        };
        let named = CheckedExpr::new(operand, name.span, Ty::Any).expr;
        let mut is_program = positive_test(kind, program, named.clone());
        if wrappers::of_name(&name.text).any(|wrapper| wrapper.is_taken_off) {
            // `command sudo()`: one that is taken off is no program of the line.
            let is_wrapper = positive_test(TestKind::In, named, step_field(WRAPPERS, name.span));
            let either = ExprKind::Binary(BinaryOperator::Or, Box::new(is_program), Box::new(is_wrapper));
            is_program = CheckedExpr::new(either, name.span, Ty::Boolean).expr;
        }
        part.tests.push(is_program);
        part
    }

    fn containing_draft(
        &mut self,
        scope: &NameScope<'a>,
        mut part: AlternativeDraft,
        of: &str,
        text: Option<&'a KindText>,
    ) -> AlternativeDraft {
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => self.name_matches(&mut part, of, regex),
            Some(KindText::Text(text)) => match self.wanted_text(scope, text) {
                WantedText::Known(text) => part.name = NameTest::Contains(text),
                WantedText::Computed(value) => {
                    part.ask_text(positive_test(TestKind::Contains, step_field(of, text.span), value))
                }
            },
        }
        part
    }

    fn file_draft(&mut self, scope: &NameScope<'a>, kind: StepKind, text: Option<&'a KindText>) -> AlternativeDraft {
        let mut part = AlternativeDraft::any_of_kind(kind, NameTest::Any);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => self.name_matches(&mut part, "path", regex),
            Some(KindText::Text(text)) => match self.wanted_text(scope, text) {
                WantedText::Known(glob) if glob.starts_with('/') => {
                    let operand = self.location_regex(&glob, text.span);
                    part.ask_text(positive_test(TestKind::Matches, step_field(of_step::LOCATION, text.span), operand));
                }
                WantedText::Known(glob) => part.name = self.path_glob(&glob, text.span),
                WantedText::Computed(value) => {
                    part.ask_text(positive_test(TestKind::Equal, step_field("path", text.span), value))
                }
            },
        }
        part
    }

    /// A glob from the root asks for the location: a path that climbs out of an unknown folder may be anywhere.
    fn location_regex(&mut self, glob: &str, place: Span) -> ir::TypedExpr {
        self.path_glob(glob, place);
        // A folder may be written with a `/` behind it.
        let pattern = super::regex::of_path_glob(glob).unwrap_or_default();
        let pattern = pattern.strip_suffix('$').map_or(pattern.clone(), |front| format!("{front}/?$"));
        let number = self.add_regex(pattern, glob.to_owned());
        CheckedExpr::new(ExprKind::Regex(number), place, Ty::Any).expr
    }

    fn path_glob(&mut self, glob: &str, place: Span) -> NameTest {
        let plain = glob.strip_prefix("./").unwrap_or(glob);
        if let Some((message, help)) = unreachable_glob(plain) {
            self.report_diagnostic(Diagnostic::new(Slug::BadPath, place, message).with_help(help));
        }
        if let Err(error) = globset::GlobBuilder::new(plain).literal_separator(true).build() {
            self.report_diagnostic(
                Diagnostic::new(Slug::BadPath, place, format!("the path glob cannot be used: {}", error.kind()))
                    .with_help("`*` matches a part of a name, `**` folders, `[a-z]` a character, `{a,b}` for either"),
            );
        }
        NameTest::PathGlob(plain.to_owned())
    }

    /// A skill, span or handover by its name field; `*` and `?` are globs.
    fn named_draft(
        &mut self,
        scope: &NameScope<'a>,
        kind: StepKind,
        of: &str,
        text: Option<&'a KindText>,
    ) -> AlternativeDraft {
        let mut part = AlternativeDraft::any_of_kind(kind, NameTest::Any);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => self.name_matches(&mut part, of, regex),
            Some(KindText::Text(text)) => match self.wanted_text(scope, text) {
                WantedText::Known(name) if name.contains(['*', '?']) => part.name = NameTest::Glob(name),
                WantedText::Known(name) => part.name = NameTest::Exactly(name),
                WantedText::Computed(value) => {
                    part.ask_text(positive_test(TestKind::Equal, step_field(of, text.span), value))
                }
            },
        }
        part
    }

    fn message_draft(&mut self, scope: &NameScope<'a>, roles: &[&str], text: Option<&'a KindText>) -> AlternativeDraft {
        let roles: Vec<String> = roles.iter().map(|&role| role.to_owned()).collect();
        let name = if roles.is_empty() { NameTest::Any } else { NameTest::OneOf(roles) };
        let mut part = AlternativeDraft::any_of_kind(StepKind::Message, name);
        match text {
            None | Some(KindText::Command(_)) => {}
            Some(KindText::Regex(regex)) => {
                let operand = self.regex_literal(regex, Some("text")).expr;
                part.ask_text(positive_test(TestKind::Matches, step_field("text", regex.span), operand));
            }
            Some(KindText::Text(text)) => {
                let operand = self.text_literal(scope, text).expr;
                part.ask_text(positive_test(TestKind::Contains, step_field("text", text.span), operand));
            }
        }
        part
    }

    /// Name tests are not charged fuel, so a backtracking expression tests the name's field instead.
    fn name_matches(&mut self, part: &mut AlternativeDraft, of: &str, regex: &'a ast::RegexLiteral) {
        let operand = self.regex_literal(regex, Some(of)).expr;
        if self.is_backtracking(&operand) {
            part.ask_text(positive_test(TestKind::Matches, step_field(of, regex.span), operand));
        } else if let ExprKind::Regex(number) = operand.kind {
            part.name = NameTest::Matches(number);
        }
    }

    fn wanted_text(&mut self, scope: &NameScope<'a>, text: &'a ast::TextLiteral) -> WantedText {
        let value = self.text_literal(scope, text).expr;
        match self.constant_value(&value) {
            Some(Constant::Text(text)) => WantedText::Known(text),
            _ => WantedText::Computed(value),
        }
    }
}

/// A field of the step in scope.
pub fn step_field(name: &str, span: Span) -> ir::TypedExpr {
    CheckedExpr::new(ExprKind::StepField(name.to_owned()), span, Ty::Any).expr
}

/// A positive test of two sides.
pub fn positive_test(kind: TestKind, subject: ir::TypedExpr, operand: ir::TypedExpr) -> ir::TypedExpr {
    let span = subject.span.cover_with(operand.span);
    let tested = TypedTest {
        kind: ValueTest::Plain(kind),
        negated: false,
        subject: Box::new(subject),
        operand: Some(Box::new(operand)),
    };
    CheckedExpr::new(ExprKind::Test(tested), span, Ty::Boolean).expr
}

/// Programs that are joined by pipes, with anything between their words, as a regular expression; `None` for other texts, and where no program
/// stands without arguments in front of a pipe.
fn piped_pattern(text: &str) -> Option<String> {
    if text.contains(['"', '\'', '`', '\\', '>', '<', '$', '(']) || text.contains("||") || !text.contains('|') {
        return None;
    }
    let words = |part: &str| -> Vec<String> {
        part.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).map(whole_word).collect()
    };
    let parts: Vec<Vec<String>> = text.split('|').map(words).collect();
    let is_written = parts.len() >= 2 && parts.iter().all(|part| !part.is_empty());
    let is_bare = parts.iter().rev().skip(1).any(|words| words.len() == 1);
    (is_written && is_bare).then(|| {
        let parts: Vec<String> = parts.iter().map(|part| part.join(r"[^|]*\s")).collect();
        parts.join(r"[^|]*\|[^|]*").replace('/', r"\/")
    })
}

/// A word as a regular expression that finds it as a whole.
fn whole_word(word: &str) -> String {
    let bound = |sign: Option<char>| if sign.is_some_and(char::is_alphanumeric) { r"\b" } else { "" };
    format!("{}{}{}", bound(word.chars().next()), regex_syntax::escape(word), bound(word.chars().next_back()))
}

/// Why no path of a step has the spelling that a glob asks for, and what to write.
fn unreachable_glob(glob: &str) -> Option<(String, String)> {
    let written = |meant: &str| format!("write `\"{meant}\"`");
    for home in ["~/", "$HOME/", "${HOME}/"] {
        if let Some(rest) = glob.strip_prefix(home) {
            let message = format!("`{home}` is not expanded: paths of steps are those that the run records");
            return Some((message, written(&format!("**/{rest}"))));
        }
    }
    let climbs = glob.split('/').skip_while(|part| *part == "..").any(|part| part == "..");
    let other = climbs || glob.contains("//") || glob.contains("/./") || is_written_with_backslashes(glob);
    if other && let Some(meant) = normal_path(glob) {
        return Some(("no path of a step is spelled like this".to_owned(), written(&meant)));
    }
    let folder = glob.strip_suffix('/').filter(|folder| !folder.is_empty())?;
    Some(("a file is no folder".to_owned(), format!("write `\"{folder}/**\"` for the files in it")))
}

/// `C:\Users\**`; `\*` and `\[` are signs of a glob.
fn is_written_with_backslashes(glob: &str) -> bool {
    let mut letters = glob.chars();
    letters.any(|letter| letter == '\\') && letters.next().is_some_and(char::is_alphanumeric)
}

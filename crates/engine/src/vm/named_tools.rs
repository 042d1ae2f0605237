//! The tools that rules name: in patterns, and where conditions test the name of a tool.

use super::asked_texts::literal_in_front;
use super::select::RuleSelection;
use crate::bytecode::ops::{CodeRef, DefRef, Op, SelectionRef};
use crate::bytecode::program::{CodeId, CompiledCheck, PatternId, Program};
use averment_base::source::Span;
use averment_checker::ir::{Constant, NameTest, RegexSource, StatementOperand};
use averment_runs::normal::of_step;
use averment_runs::run::StepKind;
use averment_syntax::ast::TestKind;
use regex_syntax::hir::{Hir, HirKind, Look};
use std::collections::BTreeSet;

/// Where a text stands in the name of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamePlace {
    /// `tool starts with "refund"`.
    Start,
    /// `tool ends with "refund"`.
    End,
    /// `tool contains "refund"`.
    Anywhere,
}

/// A condition on a part of the names of tools.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolNameTest {
    /// The text or regular expression, as it is written.
    pub written: String,
    /// The texts of which the name of a tool holds one, each with its place.
    pub parts: Vec<(NamePlace, String)>,
    /// True where letter case does not count.
    pub ignores_case: bool,
}

/// What rules say of the names of tools, each with its place.
#[derive(Debug, Default)]
pub struct NamedTools<'p> {
    /// Whole names, and globs.
    pub whole: Vec<(&'p str, Span)>,
    /// Tests of a part of a name.
    pub tests: Vec<(ToolNameTest, Span)>,
}

/// The tools that patterns of the selected assertions of a program name (by a glob, too), or conditions compare with.
#[must_use]
pub fn named_tools<'p>(program: &'p Program, selection: &RuleSelection) -> NamedTools<'p> {
    let mut reach = RuleReach { program, patterns: BTreeSet::new(), codes: BTreeSet::new() };
    // A test of all code is that of facts about tools, too.
    if program.assertions.iter().all(|assertion| selection.is_selected(program, assertion)) {
        reach.patterns.extend((0..).map(PatternId).take(program.patterns.len()));
        reach.codes.extend((0..).map(CodeId).take(program.chunks.len()));
    } else {
        for assertion in program.assertions.iter().filter(|one| selection.is_selected(program, one)) {
            reach.add_check(&assertion.check);
            assertion.settings.when.iter().for_each(|code| reach.add_code(*code));
        }
    }
    let mut found = NamedTools::default();
    for pattern in reach.patterns.iter().filter_map(|id| program.patterns.get(id.0 as usize)) {
        found.whole.extend(pattern.alternatives.iter().filter_map(|one| match (&one.name, one.kind) {
            (NameTest::Exactly(name) | NameTest::Glob(name), StepKind::Call) => Some((name.as_str(), pattern.span)),
            _ => None,
        }));
    }
    for chunk in reach.codes.iter().filter_map(|id| program.chunks.get(id.0 as usize)) {
        (chunk.start as usize..chunk.end as usize).for_each(|at| found.add_test(program, at));
    }
    found
}

/// The patterns and expressions that some assertions lead to.
struct RuleReach<'p> {
    program: &'p Program,
    patterns: BTreeSet<PatternId>,
    codes: BTreeSet<CodeId>,
}

impl RuleReach<'_> {
    fn add_check(&mut self, check: &CompiledCheck) {
        // The depth of checks is that of the rule file, which the reader limits.
        match check {
            CompiledCheck::Temporal(id) => {
                let program = self.program;
                let operands = program.temporals.get(id.0 as usize).map(|entry| entry.temporal.operands());
                for operand in operands.into_iter().flatten() {
                    match operand {
                        StatementOperand::Pattern(pattern) => self.add_pattern(*pattern),
                        StatementOperand::Code(code, _) => self.add_code(*code),
                        StatementOperand::Within(_) => {}
                    }
                }
            }
            CompiledCheck::Not(inner) => self.add_check(inner),
            CompiledCheck::Scoped { scope, body, .. } => {
                scope.header_patterns().for_each(|pattern| self.add_pattern(*pattern));
                self.add_check(body);
            }
            CompiledCheck::Group { members, .. } => members.iter().for_each(|member| {
                member.when.iter().for_each(|code| self.add_code(*code));
                self.add_check(&member.check);
            }),
            CompiledCheck::Expression(code) => self.add_code(*code),
            CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => {}
        }
    }

    fn add_pattern(&mut self, id: PatternId) {
        let program = self.program;
        if !self.patterns.insert(id) {
            return;
        }
        for one in program.patterns.get(id.0 as usize).iter().flat_map(|pattern| &pattern.alternatives) {
            let binds = one.binds.iter().map(|(_, code)| code);
            one.text.iter().chain(&one.condition).chain(binds).chain(&one.joins).for_each(|code| self.add_code(*code));
        }
    }

    /// Each expression is looked at once, and code does not lead back to itself.
    fn add_code(&mut self, id: CodeId) {
        let program = self.program;
        if !self.codes.insert(id) {
            return;
        }
        for op in program.code_ops(id).unwrap_or_default() {
            match *op {
                Op::Let(number) => {
                    program.lets.get(number.0 as usize).iter().for_each(|code| self.add_code(**code));
                }
                Op::CallDef(DefRef(number), _) => {
                    program.defs.get(number as usize).iter().for_each(|def| self.add_code(def.code));
                }
                Op::Collect(CodeRef(code), ..) => self.add_code(CodeId(code)),
                Op::Select(selection, _) | Op::Fold(_, selection, _) => self.add_selection(selection),
                _ => {}
            }
        }
    }

    fn add_selection(&mut self, selection: SelectionRef) {
        if let Some(one) = self.program.selections.get(selection.0 as usize) {
            self.add_pattern(one.pattern);
            one.value.iter().for_each(|code| self.add_code(*code));
        }
    }
}

/// What is tested at a place of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameSubject {
    /// The name of one tool.
    One,
    /// The names of several: `calls[*].tool`.
    List,
}

impl<'p> NamedTools<'p> {
    /// A test of `tool` at a place of the code, with the literals that it compares.
    fn add_test(&mut self, program: &'p Program, at: usize) {
        let Some(&Op::Test(kind, _)) = program.code.get(at) else { return };
        let before = |steps: usize| at.checked_sub(steps);
        let subject = before(2).and_then(|at| tool_subject(program, at));
        match (before(1).and_then(|at| program.code.get(at)), subject) {
            (Some(Op::Constant(literal)), Some(subject)) => {
                let span = program.op_span(at.saturating_sub(1));
                if let Some(literal) = program.constants.get(literal.0 as usize) {
                    self.add_literal(kind, subject, literal, span);
                }
            }
            (Some(Op::Regex(regex)), Some(NameSubject::One)) if kind == TestKind::Matches => {
                let span = program.op_span(at.saturating_sub(1));
                let test = program.regexes.get(regex.0 as usize).and_then(test_of_regex);
                self.tests.extend(test.map(|test| (test, span)));
            }
            _ if kind == TestKind::In => self.add_in_front(program, at),
            _ => {}
        }
    }

    fn add_literal(&mut self, kind: TestKind, subject: NameSubject, literal: &'p Constant, span: Span) {
        let is_whole = match (kind, subject) {
            (TestKind::Equal | TestKind::Identical | TestKind::In, NameSubject::One) => true,
            (
                TestKind::Contains | TestKind::ContainsAny | TestKind::ContainsAll | TestKind::ContainsNone,
                NameSubject::List,
            ) => true,
            (_, NameSubject::List) => return,
            _ => false,
        };
        let place = match kind {
            TestKind::StartsWith => NamePlace::Start,
            TestKind::EndsWith => NamePlace::End,
            TestKind::Contains
            | TestKind::ContainsIgnoringCase
            | TestKind::ContainsAny
            | TestKind::ContainsAll
            | TestKind::ContainsNone => NamePlace::Anywhere,
            _ if is_whole => NamePlace::Anywhere,
            _ => return,
        };
        let items = match literal {
            Constant::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for item in items {
            let Constant::Text(text) = item else { continue };
            if is_whole {
                self.whole.push((text, span));
            } else {
                let (written, parts) = (text.clone(), vec![(place, text.clone())]);
                let ignores_case = kind == TestKind::ContainsIgnoringCase;
                self.tests.push((ToolNameTest { written, parts, ignores_case }, span));
            }
        }
    }

    /// `"refund" in calls[*].tool`.
    fn add_in_front(&mut self, program: &'p Program, at: usize) {
        let is_list = at.checked_sub(1).and_then(|at| tool_subject(program, at)) == Some(NameSubject::List);
        let Some(literal) = literal_in_front(program, at).filter(|_| is_list) else { return };
        if let Some(&Op::Constant(number)) = program.code.get(literal)
            && let Some(Constant::Text(text)) = program.constants.get(number.0 as usize)
        {
            self.whole.push((text, program.op_span(literal)));
        }
    }
}

/// What an instruction leaves on the stack, where that is the name of a tool or a list of them.
fn tool_subject(program: &Program, at: usize) -> Option<NameSubject> {
    let is_tool = |name: u32| program.names.get(name as usize).is_some_and(|name| name == of_step::TOOL);
    match *program.code.get(at)? {
        Op::Field(name, spread) if is_tool(name.0) => Some(if spread { NameSubject::List } else { NameSubject::One }),
        Op::StepField(name) | Op::StepOrRoot(name) | Op::StepOwn(name) if is_tool(name.0) => Some(NameSubject::One),
        Op::Select(selection, _) => {
            let value = program.selections.get(selection.0 as usize)?.value?;
            let chunk = program.chunks.get(value.0 as usize)?;
            let last = (chunk.end as usize).checked_sub(1)?;
            let is_select = matches!(program.code.get(last), Some(Op::Select(..)));
            (!is_select && tool_subject(program, last) == Some(NameSubject::One)).then_some(NameSubject::List)
        }
        _ => None,
    }
}

/// The texts that a regular expression begins with, one for each alternative; `None` where some alternative has none.
fn test_of_regex(regex: &RegexSource) -> Option<ToolNameTest> {
    if regex.backtracks {
        return None;
    }
    // In front of the pattern stand its flags. A pattern that ignores letter case is a class for each letter.
    let (flags, pattern) = match regex.pattern.strip_prefix("(?").and_then(|rest| rest.split_once(')')) {
        Some((flags, rest)) if flags.chars().all(|flag| flag.is_ascii_alphabetic()) => (flags, rest),
        _ => ("", &*regex.pattern),
    };
    let mut parts = Vec::new();
    let is_complete = add_parts(&regex_syntax::parse(pattern).ok()?, &mut parts);
    let ignores_case = flags.contains('i');
    (is_complete && !parts.is_empty()).then(|| ToolNameTest { written: regex.text.clone(), parts, ignores_case })
}

/// False where an alternative has no text that each of its matches holds. The tree is as deep as the parser allows.
fn add_parts(tree: &Hir, parts: &mut Vec<(NamePlace, String)>) -> bool {
    let text_of = |one: &Hir| match one.kind() {
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok().map(str::to_owned),
        _ => None,
    };
    match tree.kind() {
        HirKind::Literal(_) => {
            parts.extend(text_of(tree).map(|text| (NamePlace::Anywhere, text)));
            true
        }
        HirKind::Alternation(branches) => branches.iter().all(|branch| add_parts(branch, parts)),
        HirKind::Capture(capture) => add_parts(&capture.sub, parts),
        HirKind::Concat(all) => {
            let is_start = matches!(all.first().map(Hir::kind), Some(HirKind::Look(Look::Start)));
            let Some(at) = all.iter().position(|one| text_of(one).is_some()) else {
                let inner = all.iter().find(|one| matches!(one.kind(), HirKind::Alternation(_) | HirKind::Capture(_)));
                return inner.is_some_and(|inner| add_parts(inner, parts));
            };
            let is_end = at + 2 == all.len() && matches!(all.last().map(Hir::kind), Some(HirKind::Look(Look::End)));
            let place = match (is_start && at == 1, is_end) {
                (true, _) => NamePlace::Start,
                (false, true) => NamePlace::End,
                (false, false) => NamePlace::Anywhere,
            };
            parts.extend(all.get(at).and_then(text_of).map(|text| (place, text)));
            true
        }
        _ => false,
    }
}

//! Blocks and groups: a block hands its scope to every statement in it; a group, or a block that stands in one, is one check.

use super::Checker;
use super::scope::NameScope;
use super::settings::{self, OwnModifiers};
use super::temporal::CheckedStatement;
use super::walk;
use crate::ir::{self, AssertionCheck, CheckedPattern, GroupKind, GroupMember};
use averment_base::diagnostic::{Diagnostic, Severity, Slug};
use averment_syntax::ast::{self, ItemKind, ModifierKind, StatementKind};

/// The kind of body that an item is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum BodyKind {
    File,
    Rule,
    Case,
    Suite,
    Pre,
    Post,
    Invariant,
    Block,
    Group,
}

impl BodyKind {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Rule => "a rule",
            Self::Case => "a case",
            Self::Suite => "a suite",
            Self::Pre => "`pre`",
            Self::Post => "`post`",
            Self::Invariant => "an invariant",
            Self::Block => "a block",
            Self::Group => "a group",
        }
    }
}

/// What a block adds around its statements.
#[derive(Debug, Clone)]
pub enum BlockWrap {
    Window(ir::WindowScope<CheckedPattern>),
    When(Vec<ir::TypedExpr>),
}

impl BlockWrap {
    /// The check inside this.
    pub fn wrap_check(self, check: CheckedStatement, span: averment_base::source::Span) -> CheckedStatement {
        match self {
            Self::Window(scope) => AssertionCheck::Scoped { scope, body: Box::new(check) },
            Self::When(when) => AssertionCheck::Group {
                kind: GroupKind::All,
                members: vec![GroupMember { span, weight: 1.0, when, check }],
            },
        }
    }
}

type Members = Vec<GroupMember<CheckedPattern, ir::TypedExpr>>;

/// The statements of a block that stands in a group: one check, since a window that is not known opens for all of them or for none. The
/// condition of a modifier belongs to its statement: it is asked once, before any window is looked at, unless it looks at the step of one.
fn in_windows(window: ir::WindowScope<CheckedPattern>, members: Members, body: &[ast::SyntaxItem]) -> CheckedStatement {
    let statements = body.iter().filter_map(|item| match &item.kind {
        ItemKind::Assertion(assertion) => Some(&assertion.statement.kind),
        _ => None,
    });
    let mut parts = Members::new();
    for (member, statement) in members.into_iter().zip(statements) {
        match (statement, member) {
            // A block inside, whose statements have such conditions.
            (
                StatementKind::Block { scope, .. },
                GroupMember { when, check: AssertionCheck::Group { members, .. }, .. },
            ) if when.is_empty() && !matches!(scope, ast::BlockScope::When { .. }) => parts.extend(members),
            (_, member) => parts.push(member),
        }
    }
    let all = |members| AssertionCheck::Group { kind: GroupKind::All, members };
    let scoped = |scope, members| AssertionCheck::Scoped { scope, body: Box::new(all(members)) };
    let (plain, modified): (Members, Members) =
        parts.into_iter().partition(|part| part.when.iter().all(walk::looks_at_step));
    if modified.is_empty() {
        return scoped(window, plain);
    }
    let together = plain.first().map(|first| first.span).map(|span| {
        let weight = plain.iter().map(|part| part.weight).sum();
        GroupMember { span, weight, when: Vec::new(), check: scoped(window.clone(), plain) }
    });
    let alone = |part: GroupMember<CheckedPattern, ir::TypedExpr>| {
        let (inside, outside) = part.when.iter().cloned().partition::<Vec<_>, _>(walk::looks_at_step);
        let (span, weight) = (part.span, part.weight);
        let inner = GroupMember { when: inside, ..part };
        GroupMember { span, weight, when: outside, check: scoped(window.clone(), vec![inner]) }
    };
    all(together.into_iter().chain(modified.into_iter().map(alone)).collect())
}

impl<'a> Checker<'a> {
    pub(super) fn block_window(
        &mut self,
        scope: &NameScope<'a>,
        header: &'a ast::BlockScope,
    ) -> (Option<ir::WindowScope<CheckedPattern>>, NameScope<'a>) {
        let mut inner = scope.clone();
        let window = match header {
            ast::BlockScope::After { open, until } => Some(ir::WindowScope::After {
                open: self.lower_pattern(scope, open).pattern,
                until: until.as_ref().map(|until| self.lower_pattern(scope, until).pattern),
            }),
            ast::BlockScope::Before { close } => {
                Some(ir::WindowScope::Before { close: self.lower_pattern(scope, close).pattern })
            }
            ast::BlockScope::Between { open, close } => Some(ir::WindowScope::Between {
                open: self.lower_pattern(scope, open).pattern,
                close: self.lower_pattern(scope, close).pattern,
            }),
            ast::BlockScope::Each { step } => {
                let lowered = self.lower_pattern(scope, step);
                inner.step = Some(lowered.shape);
                inner.response = false;
                Some(ir::WindowScope::Each { step: lowered.pattern })
            }
            ast::BlockScope::When { .. } => None,
        };
        self.report_unbound();
        inner.windowed |= window.as_ref().is_some_and(|window| !matches!(window, ir::WindowScope::Each { .. }));
        let patterns =
            window.iter().flat_map(ir::WindowScope::header_patterns).flat_map(|pattern| &pattern.alternatives);
        inner.given.extend(patterns.flat_map(|alternative| alternative.binds.iter().map(|bind| bind.0)));
        (window, inner)
    }

    pub(super) fn block_check(
        &mut self,
        scope: &NameScope<'a>,
        header: &'a ast::BlockScope,
        body: &'a [ast::SyntaxItem],
    ) -> CheckedStatement {
        stacker::maybe_grow(128 << 10, 1 << 20, || {
            if let ast::BlockScope::When { condition } = header {
                let when = self.condition_expr(scope, condition);
                self.report_unbound();
                let inside = self.all_of(scope, body);
                let members = vec![GroupMember { span: condition.span, weight: 1.0, when: vec![when], check: inside }];
                return AssertionCheck::Group { kind: GroupKind::All, members };
            }
            let (window, inner) = self.block_window(scope, header);
            let members = self.group_members(&inner, body);
            match window {
                Some(window) => in_windows(window, members, body),
                None => AssertionCheck::Group { kind: GroupKind::All, members },
            }
        })
    }

    fn all_of(&mut self, scope: &NameScope<'a>, body: &'a [ast::SyntaxItem]) -> CheckedStatement {
        AssertionCheck::Group { kind: GroupKind::All, members: self.group_members(scope, body) }
    }

    pub(super) fn group_check(
        &mut self,
        scope: &NameScope<'a>,
        kind: &'a ast::GroupKind,
        body: &'a [ast::SyntaxItem],
    ) -> CheckedStatement {
        stacker::maybe_grow(128 << 10, 1 << 20, || {
            let members = self.group_members(scope, body);
            let kind = match kind {
                ast::GroupKind::Any => GroupKind::Any,
                ast::GroupKind::All => GroupKind::All,
                ast::GroupKind::None => GroupKind::None,
                ast::GroupKind::AtLeast(number) => GroupKind::AtLeast(self.at_least(number, members.len())),
            };
            AssertionCheck::Group { kind, members }
        })
    }

    fn at_least(&mut self, number: &ast::NumberLiteral, statements: usize) -> u32 {
        let Some(written) = self.whole_number(number, "how many have to hold") else { return 0 };
        let least = u32::try_from(written).unwrap_or(u32::MAX);
        if least as usize > statements && statements > 0 {
            let noun = if statements == 1 { "statement" } else { "statements" };
            self.report_diagnostic(
                Diagnostic::new(
                    Slug::Impossible,
                    number.span,
                    format!("`at least {written}` of {statements} {noun} can never hold"),
                )
                .with_help(format!("write `at least {statements} of`"))
                .with_fix(format!("write `{statements}`"), number.span, statements.to_string()),
            );
        }
        least
    }

    fn group_members(
        &mut self,
        scope: &NameScope<'a>,
        body: &'a [ast::SyntaxItem],
    ) -> Vec<GroupMember<CheckedPattern, ir::TypedExpr>> {
        let mut members = Vec::new();
        for item in body {
            match &item.kind {
                ItemKind::Assertion(assertion) => members.push(self.member_of_group(scope, assertion)),
                ItemKind::Setting(ast::BodySetting::Modifier(_)) => {}
                _ => self.report_misplaced(item, BodyKind::Group),
            }
        }
        members
    }

    fn member_of_group(
        &mut self,
        scope: &NameScope<'a>,
        assertion: &'a ast::Assertion,
    ) -> GroupMember<CheckedPattern, ir::TypedExpr> {
        let outer = self.bindings.bound_flags();
        self.warn_without_effect(assertion);
        let check = self.check_statement(scope, &assertion.statement);
        self.report_unbound();
        let (own, inner) = self.with_outer_bindings(&outer, |checker| {
            let own = checker.read_modifiers(scope, assertion.modifiers.iter());
            let inner = match &assertion.statement.kind {
                StatementKind::Group { body, .. } => checker.read_modifiers(scope, settings::opening_modifiers(body)),
                _ => OwnModifiers::default(),
            };
            (own, inner)
        });
        // Every statement of a group has bindings of its own.
        self.bindings.restore_bound(&outer);
        GroupMember {
            span: assertion.statement.span,
            weight: own.weight.or(inner.weight).unwrap_or(1.0),
            when: own.when.into_iter().chain(inner.when).collect(),
            check,
        }
    }

    /// A group is one assertion, so of its members' modifiers only weight and condition have an effect.
    fn warn_without_effect(&mut self, assertion: &ast::Assertion) {
        for modifier in &assertion.modifiers {
            if matches!(modifier.kind, ModifierKind::Weight(_) | ModifierKind::When(_)) {
                continue;
            }
            let word = settings::word_of(&modifier.kind);
            let mut diagnostic = Diagnostic::new(
                Slug::Misplaced,
                modifier.span,
                format!("`{word}` has no effect on a statement of a group"),
            );
            diagnostic.severity = Severity::Warning;
            self.report_diagnostic(
                diagnostic.with_help(format!("a group is one assertion: put `{word}` after its `}}` or at its start")),
            );
        }
    }
}

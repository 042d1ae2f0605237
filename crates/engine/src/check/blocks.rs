//! Blocks and groups: a block hands its scope to every statement in it; a group, or a block that stands in one, is one check.

use super::Checker;
use super::scope::Scope;
use super::settings::{self, Own};
use super::temporal::CheckedStatement;
use crate::ir::{self, Check, GroupKind, Member, Pattern};
use averment_base::diagnostic::{Diagnostic, Severity, Slug};
use averment_syntax::ast::{self, ItemKind, ModifierKind, StatementKind};

/// What a block puts around its statements.
#[derive(Debug, Clone)]
pub enum Wrap {
    /// A window.
    Window(ir::Scope<Pattern>),
    /// A condition that looks at the step of an `each` around it.
    When(Vec<ir::Expr>),
}

impl Wrap {
    /// The check inside this.
    pub fn around(self, check: CheckedStatement, span: averment_base::source::Span) -> CheckedStatement {
        match self {
            Self::Window(scope) => Check::Scoped { scope, body: Box::new(check) },
            Self::When(when) => {
                Check::Group { kind: GroupKind::All, members: vec![Member { span, weight: 1.0, when, check }] }
            }
        }
    }
}

impl<'a> Checker<'a> {
    /// The window of a block and what is in scope inside it.
    pub(super) fn window(
        &mut self,
        scope: &Scope<'a>,
        header: &'a ast::Scope,
    ) -> (Option<ir::Scope<Pattern>>, Scope<'a>) {
        let mut inner = scope.clone();
        let window = match header {
            ast::Scope::After { open, until } => Some(ir::Scope::After {
                open: self.pattern(scope, open).pattern,
                until: until.as_ref().map(|until| self.pattern(scope, until).pattern),
            }),
            ast::Scope::Before { close } => Some(ir::Scope::Before { close: self.pattern(scope, close).pattern }),
            ast::Scope::Between { open, close } => Some(ir::Scope::Between {
                open: self.pattern(scope, open).pattern,
                close: self.pattern(scope, close).pattern,
            }),
            ast::Scope::Each { step } => {
                let lowered = self.pattern(scope, step);
                inner.step = Some(lowered.shape);
                inner.response = false;
                Some(ir::Scope::Each { step: lowered.pattern })
            }
            ast::Scope::When { .. } => None,
        };
        self.report_unbound();
        inner.windowed |= window.as_ref().is_some_and(|window| !matches!(window, ir::Scope::Each { .. }));
        let patterns = window.iter().flat_map(ir::Scope::patterns).flat_map(|pattern| &pattern.alternatives);
        inner.given.extend(patterns.flat_map(|alternative| alternative.binds.iter().map(|bind| bind.0)));
        (window, inner)
    }

    /// A block as one check: all of its statements.
    pub(super) fn block_check(
        &mut self,
        scope: &Scope<'a>,
        header: &'a ast::Scope,
        body: &'a [ast::Item],
    ) -> CheckedStatement {
        stacker::maybe_grow(128 << 10, 1 << 20, || {
            if let ast::Scope::When { condition } = header {
                let when = self.condition(scope, condition);
                let inside = self.all_of(scope, body);
                let members = vec![Member { span: condition.span, weight: 1.0, when: vec![when], check: inside }];
                return Check::Group { kind: GroupKind::All, members };
            }
            let (window, inner) = self.window(scope, header);
            let inside = self.all_of(&inner, body);
            match window {
                Some(window) => Check::Scoped { scope: window, body: Box::new(inside) },
                None => inside,
            }
        })
    }

    fn all_of(&mut self, scope: &Scope<'a>, body: &'a [ast::Item]) -> CheckedStatement {
        Check::Group { kind: GroupKind::All, members: self.members(scope, body) }
    }

    /// A group.
    pub(super) fn group_check(
        &mut self,
        scope: &Scope<'a>,
        kind: &'a ast::GroupKind,
        body: &'a [ast::Item],
    ) -> CheckedStatement {
        stacker::maybe_grow(128 << 10, 1 << 20, || {
            let members = self.members(scope, body);
            let kind = match kind {
                ast::GroupKind::Any => GroupKind::Any,
                ast::GroupKind::All => GroupKind::All,
                ast::GroupKind::None => GroupKind::None,
                ast::GroupKind::AtLeast(number) => GroupKind::AtLeast(self.at_least(number, members.len())),
            };
            Check::Group { kind, members }
        })
    }

    fn at_least(&mut self, number: &ast::Number, statements: usize) -> u32 {
        let Some(written) = self.whole(number, "how many have to hold") else { return 0 };
        let least = u32::try_from(written).unwrap_or(u32::MAX);
        if least as usize > statements && statements > 0 {
            let noun = if statements == 1 { "statement" } else { "statements" };
            self.report(
                Diagnostic::new(
                    Slug::Impossible,
                    number.span,
                    format!("`at least {written}` of {statements} {noun} can never hold"),
                )
                .help(format!("write `at least {statements} of`"))
                .fix(format!("write `{statements}`"), number.span, statements.to_string()),
            );
        }
        least
    }

    /// The statements of a group.
    fn members(&mut self, scope: &Scope<'a>, body: &'a [ast::Item]) -> Vec<Member<Pattern, ir::Expr>> {
        let mut members = Vec::new();
        for item in body {
            match &item.kind {
                ItemKind::Assertion(assertion) => members.push(self.member_of_group(scope, assertion)),
                ItemKind::Setting(ast::Setting::Modifier(_)) => {}
                _ => self.report_misplaced(item, super::body::BodyKind::Group),
            }
        }
        members
    }

    fn member_of_group(&mut self, scope: &Scope<'a>, assertion: &'a ast::Assertion) -> Member<Pattern, ir::Expr> {
        let own = self.modifiers(scope, assertion.modifiers.iter());
        let inner = match &assertion.statement.kind {
            StatementKind::Group { body, .. } => self.modifiers(scope, settings::opening(body)),
            _ => Own::default(),
        };
        self.warn_without_effect(assertion);
        let check = self.statement(scope, &assertion.statement);
        Member {
            span: assertion.statement.span,
            weight: own.weight.or(inner.weight).unwrap_or(1.0),
            when: own.when.into_iter().chain(inner.when).collect(),
            check,
        }
    }

    /// A group is one assertion: of the modifiers of its statements only weight and condition count.
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
            self.report(
                diagnostic.help(format!("a group is one assertion: put `{word}` behind its `}}` or at its start")),
            );
        }
    }
}

//! Visits the nodes of a syntax tree. Data (schemas, runs of tests, arguments of calls) is skipped, because it asserts nothing.

use super::*;

/// A visitor; each method is called before the methods for the node's parts.
#[allow(unused_variables, reason = "the names say what comes")]
pub trait SyntaxVisitor<'a> {
    /// Visits an item, before its body.
    fn visit_item(&mut self, item: &'a SyntaxItem) {}
    /// Visits a statement.
    fn visit_statement(&mut self, statement: &'a Statement) {}
    /// Visits a step pattern.
    fn visit_step(&mut self, step: &'a StepPattern) {}
    /// Visits a flow expression.
    fn visit_flow(&mut self, flow: &'a FlowExpr) {}
    /// Visits an expression.
    fn visit_expr(&mut self, expr: &'a Expr) {}
    /// Visits a test, with its subject if it has one.
    fn visit_test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {}
    /// Visits a regular expression.
    fn visit_regex(&mut self, regex: &'a RegexLiteral) {}
    /// Visits `within …`.
    fn visit_within(&mut self, within: &'a WithinBound) {}
}

type VisitorRef<'v, 'a> = &'v mut dyn SyntaxVisitor<'a>;

fn with_grown_stack<R>(run: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(64 << 10, 1 << 20, run)
}

/// Walks a file.
pub fn walk_file<'a>(file: &'a RuleFile, visitor: VisitorRef<'_, 'a>) {
    walk_items(&file.items, visitor);
}

/// Walks items and their bodies.
pub fn walk_items<'a>(items: &'a [SyntaxItem], visitor: VisitorRef<'_, 'a>) {
    for one in items {
        with_grown_stack(|| walk_item(one, visitor));
    }
}

/// Walks an item and its body.
pub fn walk_item<'a>(item: &'a SyntaxItem, visitor: VisitorRef<'_, 'a>) {
    visitor.visit_item(item);
    match &item.kind {
        ItemKind::Param(param) => param.default.iter().for_each(|value| walk_expr(value, visitor)),
        ItemKind::Let { value, .. } => walk_expr(value, visitor),
        ItemKind::Def { body, .. } => walk_expr(body, visitor),
        ItemKind::DefStep { body, .. } => walk_step(body, visitor),
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => {
            rule.modifiers.iter().for_each(|one| walk_modifier(&one.kind, visitor));
            walk_items(&rule.body, visitor);
        }
        ItemKind::Suite { modifiers, body, .. } | ItemKind::Case { modifiers, body, .. } => {
            modifiers.iter().for_each(|one| walk_modifier(&one.kind, visitor));
            walk_items(body, visitor);
        }
        ItemKind::Pre { body } | ItemKind::Post { body } => walk_items(body, visitor),
        ItemKind::ForEachTool { condition, body } => {
            condition.iter().for_each(|condition| walk_expr(condition, visitor));
            walk_items(body, visitor);
        }
        ItemKind::ToolFacts { facts, .. } => facts.iter().for_each(|fact| match fact {
            ToolFact::Fails(condition) => walk_expr(condition, visitor),
            ToolFact::Also(_) | ToolFact::Tagged(_) => {}
        }),
        ItemKind::Setting(BodySetting::Modifier(one)) => walk_modifier(&one.kind, visitor),
        ItemKind::Assertion(assertion) => {
            walk_statement(&assertion.statement, visitor);
            assertion.modifiers.iter().for_each(|one| walk_modifier(&one.kind, visitor));
        }
        ItemKind::Use(_)
        | ItemKind::Schema { .. }
        | ItemKind::ToolsFrom { .. }
        | ItemKind::Tool { .. }
        | ItemKind::Workspace { .. }
        | ItemKind::Runner { .. }
        | ItemKind::Test(_)
        | ItemKind::Call(_)
        | ItemKind::Setting(BodySetting::Key { .. } | BodySetting::Classify { .. }) => {}
    }
}

fn walk_modifier<'a>(kind: &'a ModifierKind, visitor: VisitorRef<'_, 'a>) {
    match kind {
        ModifierKind::When(condition) => walk_expr(condition, visitor),
        ModifierKind::Message(message) => walk_text(message, visitor),
        _ => {}
    }
}

/// Walks a statement.
pub fn walk_statement<'a>(statement: &'a Statement, visitor: VisitorRef<'_, 'a>) {
    visitor.visit_statement(statement);
    with_grown_stack(|| statement.kind.visit_parts(visitor));
}

/// Walks a step pattern.
pub fn walk_step<'a>(one: &'a StepPattern, visitor: VisitorRef<'_, 'a>) {
    visitor.visit_step(one);
    with_grown_stack(|| one.kind.visit_parts(visitor));
}

/// Walks a flow expression.
pub fn walk_flow<'a>(one: &'a FlowExpr, visitor: VisitorRef<'_, 'a>) {
    visitor.visit_flow(one);
    with_grown_stack(|| one.kind.visit_parts(visitor));
}

fn walk_test<'a>(subject: Option<&'a Expr>, test: &'a ValueTest, visitor: VisitorRef<'_, 'a>) {
    visitor.visit_test(subject, test);
    test.operand.iter().for_each(|operand| walk_expr(operand, visitor));
}

fn walk_text<'a>(text: &'a TextLiteral, visitor: VisitorRef<'_, 'a>) {
    for part in &text.parts {
        if let TextPart::Interpolation(one) = part {
            walk_expr(one, visitor);
        }
    }
}

/// Walks an expression.
pub fn walk_expr<'a>(one: &'a Expr, visitor: VisitorRef<'_, 'a>) {
    visitor.visit_expr(one);
    with_grown_stack(|| walk_children(&one.kind, visitor));
}

fn walk_children<'a>(kind: &'a ExprKind, visitor: VisitorRef<'_, 'a>) {
    match kind {
        ExprKind::Null | ExprKind::Boolean(_) | ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Binding(_) => {}
        ExprKind::Text(one) => walk_text(one, visitor),
        ExprKind::Regex(regex) => visitor.visit_regex(regex),
        ExprKind::List(values) | ExprKind::Call { arguments: values, .. } => {
            values.iter().for_each(|value| walk_expr(value, visitor));
        }
        ExprKind::Object(entries) => entries.iter().for_each(|(_, value)| walk_expr(value, visitor)),
        ExprKind::Field { base, .. } | ExprKind::Every { base } | ExprKind::Deep { base } => walk_expr(base, visitor),
        ExprKind::Negate(inner) | ExprKind::Not(inner) | ExprKind::Group(inner) => walk_expr(inner, visitor),
        ExprKind::Index { base: left, index: right }
        | ExprKind::Binary { left, right, .. }
        | ExprKind::Filtered { list: left, condition: right }
        | ExprKind::Quantifier { source: left, body: right, .. } => {
            walk_expr(left, visitor);
            walk_expr(right, visitor);
        }
        ExprKind::Counted { step: one, .. } => walk_step(one, visitor),
        ExprKind::Of { value, target, .. } => {
            walk_expr(value, visitor);
            target.visit_parts(visitor);
        }
        ExprKind::OverRuns { value, by } => {
            walk_expr(value, visitor);
            by.iter().for_each(|by| walk_expr(by, visitor));
        }
        ExprKind::Range { start, end } => start.iter().chain(end).for_each(|side| walk_expr(side, visitor)),
        ExprKind::Test { subject, test } => {
            walk_expr(subject, visitor);
            walk_test(Some(subject), test, visitor);
        }
        ExprKind::If { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|part| walk_expr(part, visitor));
        }
    }
}

trait VisitParts {
    fn visit_parts<'a>(&'a self, visitor: VisitorRef<'_, 'a>);
}

impl<T: VisitParts> VisitParts for Vec<T> {
    fn visit_parts<'a>(&'a self, visitor: VisitorRef<'_, 'a>) {
        self.iter().for_each(|one| one.visit_parts(visitor));
    }
}

impl<T: VisitParts> VisitParts for Option<T> {
    fn visit_parts<'a>(&'a self, visitor: VisitorRef<'_, 'a>) {
        self.iter().for_each(|one| one.visit_parts(visitor));
    }
}

impl<T: VisitParts> VisitParts for Box<T> {
    fn visit_parts<'a>(&'a self, visitor: VisitorRef<'_, 'a>) {
        (**self).visit_parts(visitor);
    }
}

macro_rules! seen {
    ($($ty:ty: $one:ident, $visitor:ident => $seen:expr;)*) => {
        $(impl VisitParts for $ty {
            fn visit_parts<'a>(&'a self, $visitor: VisitorRef<'_, 'a>) {
                let $one = self;
                $seen;
            }
        })*
    };
}

seen! {
    SyntaxItem: one, visitor => with_grown_stack(|| walk_item(one, visitor));
    Statement: one, visitor => walk_statement(one, visitor);
    StepPattern: one, visitor => walk_step(one, visitor);
    FlowExpr: one, visitor => walk_flow(one, visitor);
    Expr: one, visitor => walk_expr(one, visitor);
    ValueTest: one, visitor => walk_test(None, one, visitor);
    TextLiteral: one, visitor => walk_text(one, visitor);
    RegexLiteral: one, visitor => visitor.visit_regex(one);
    WithinBound: one, visitor => visitor.visit_within(one);
    Atom: one, visitor => {
        one.subject.visit_parts(visitor);
        one.arguments.visit_parts(visitor);
        one.by.visit_parts(visitor);
    };
    ByAgent: one, visitor => one.agent.visit_parts(visitor);
    // If both readings are kept, they are the same text, so one of them is enough.
    PredicateTarget: one, visitor => match &one.expr {
        Some(reading) => walk_expr(reading, visitor),
        None => one.step.visit_parts(visitor),
    };
}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => {
        $(impl VisitParts for $ty {
            fn visit_parts<'a>(&'a self, _: VisitorRef<'_, 'a>) {}
        })*
    };
}

plain!(
    bool,
    u32,
    Name,
    NumberLiteral,
    Quantifier,
    SequenceMode,
    MatchExtent,
    MatchOrder,
    ArgumentMatch,
    Span,
    StepWord,
    StepCount
);

macro_rules! variants {
    ($($(#[$about:meta])* $ty:ident {
        $($(#[$doc:meta])* $variant:ident $(($($part:ident $(: $of:ty)?),*))? $({ $($field:ident $(: $holds:ty)?),* })?;)*
    })*) => {
        $(impl VisitParts for $ty {
            fn visit_parts<'a>(&'a self, visitor: VisitorRef<'_, 'a>) {
                match self {
                    $(Self::$variant $(($($part),*))? $({ $($field),* })? => {
                        $($($part.visit_parts(&mut *visitor);)*)?
                        $($($field.visit_parts(&mut *visitor);)*)?
                        let _ = &visitor;
                    })*
                }
            }
        })*
    };
}

super::statement::statements!(variants);
super::parts::pattern_parts!(variants);

//! Going through a syntax tree. Data (schemas, runs of tests, arguments of calls) is left out: nobody asserts anything with it.

use super::*;

/// What wants to see nodes. Every method is called before those of the parts.
#[allow(unused_variables, reason = "the names say what comes")]
pub trait Visit<'a> {
    /// An item, with its body still to come.
    fn item(&mut self, item: &'a Item) {}
    /// A statement.
    fn statement(&mut self, statement: &'a Statement) {}
    /// A step pattern.
    fn step(&mut self, step: &'a Step) {}
    /// A flow expression.
    fn flow(&mut self, flow: &'a Flow) {}
    /// An expression.
    fn expr(&mut self, expr: &'a Expr) {}
    /// A test, with its subject where it has one.
    fn test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {}
    /// A regular expression.
    fn regex(&mut self, regex: &'a Regex) {}
    /// `within …`.
    fn within(&mut self, within: &'a Within) {}
}

type Visitor<'v, 'a> = &'v mut dyn Visit<'a>;

/// Runs a step of the recursion on a stack that is large enough.
fn deeper<R>(run: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(64 << 10, 1 << 20, run)
}

/// Goes through a file.
pub fn file<'a>(file: &'a File, visitor: Visitor<'_, 'a>) {
    items(&file.items, visitor);
}

/// Goes through items and their bodies.
pub fn items<'a>(items: &'a [Item], visitor: Visitor<'_, 'a>) {
    for one in items {
        deeper(|| item(one, visitor));
    }
}

/// Goes through an item and its body.
pub fn item<'a>(item: &'a Item, visitor: Visitor<'_, 'a>) {
    visitor.item(item);
    match &item.kind {
        ItemKind::Param(param) => param.default.iter().for_each(|value| expr(value, visitor)),
        ItemKind::Let { value, .. } => expr(value, visitor),
        ItemKind::Def { body, .. } => expr(body, visitor),
        ItemKind::DefStep { body, .. } => step(body, visitor),
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => {
            rule.modifiers.iter().for_each(|one| modifier(&one.kind, visitor));
            items(&rule.body, visitor);
        }
        ItemKind::Suite { modifiers, body, .. } | ItemKind::Case { modifiers, body, .. } => {
            modifiers.iter().for_each(|one| modifier(&one.kind, visitor));
            items(body, visitor);
        }
        ItemKind::Pre { body } | ItemKind::Post { body } => items(body, visitor),
        ItemKind::ForEachTool { condition, body } => {
            condition.iter().for_each(|condition| expr(condition, visitor));
            items(body, visitor);
        }
        ItemKind::ToolFacts { facts, .. } => facts.iter().for_each(|fact| match fact {
            ToolFact::Fails(condition) => expr(condition, visitor),
            ToolFact::Also(_) | ToolFact::Tagged(_) => {}
        }),
        ItemKind::Setting(Setting::Modifier(one)) => modifier(&one.kind, visitor),
        ItemKind::Assertion(assertion) => {
            statement(&assertion.statement, visitor);
            assertion.modifiers.iter().for_each(|one| modifier(&one.kind, visitor));
        }
        ItemKind::Use(_)
        | ItemKind::Schema { .. }
        | ItemKind::ToolsFrom { .. }
        | ItemKind::Tool { .. }
        | ItemKind::Workspace { .. }
        | ItemKind::Runner { .. }
        | ItemKind::Test(_)
        | ItemKind::Call(_)
        | ItemKind::Setting(Setting::Key { .. } | Setting::Classify { .. }) => {}
    }
}

fn modifier<'a>(kind: &'a ModifierKind, visitor: Visitor<'_, 'a>) {
    match kind {
        ModifierKind::When(condition) => expr(condition, visitor),
        ModifierKind::Message(message) => text(message, visitor),
        _ => {}
    }
}

/// Goes through a statement.
pub fn statement<'a>(statement: &'a Statement, visitor: Visitor<'_, 'a>) {
    visitor.statement(statement);
    deeper(|| statement.kind.visit(visitor));
}

/// Goes through a step pattern.
pub fn step<'a>(one: &'a Step, visitor: Visitor<'_, 'a>) {
    visitor.step(one);
    deeper(|| one.kind.visit(visitor));
}

/// Goes through a flow expression.
pub fn flow<'a>(one: &'a Flow, visitor: Visitor<'_, 'a>) {
    visitor.flow(one);
    deeper(|| one.kind.visit(visitor));
}

fn value_test<'a>(subject: Option<&'a Expr>, test: &'a ValueTest, visitor: Visitor<'_, 'a>) {
    visitor.test(subject, test);
    test.operand.iter().for_each(|operand| expr(operand, visitor));
}

fn text<'a>(text: &'a Text, visitor: Visitor<'_, 'a>) {
    for part in &text.parts {
        if let TextPart::Interpolation(one) = part {
            expr(one, visitor);
        }
    }
}

/// Goes through an expression.
pub fn expr<'a>(one: &'a Expr, visitor: Visitor<'_, 'a>) {
    visitor.expr(one);
    deeper(|| inside(&one.kind, visitor));
}

fn inside<'a>(kind: &'a ExprKind, visitor: Visitor<'_, 'a>) {
    match kind {
        ExprKind::Null | ExprKind::Boolean(_) | ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Binding(_) => {}
        ExprKind::Text(one) => text(one, visitor),
        ExprKind::Regex(regex) => visitor.regex(regex),
        ExprKind::List(values) | ExprKind::Call { arguments: values, .. } => {
            values.iter().for_each(|value| expr(value, visitor));
        }
        ExprKind::Object(entries) => entries.iter().for_each(|(_, value)| expr(value, visitor)),
        ExprKind::Field { base, .. } | ExprKind::Every { base } | ExprKind::Deep { base } => expr(base, visitor),
        ExprKind::Negate(inner) | ExprKind::Not(inner) | ExprKind::Group(inner) => expr(inner, visitor),
        ExprKind::Index { base: left, index: right }
        | ExprKind::Binary { left, right, .. }
        | ExprKind::Filtered { list: left, condition: right }
        | ExprKind::Quantifier { source: left, body: right, .. } => {
            expr(left, visitor);
            expr(right, visitor);
        }
        ExprKind::Counted { step: one, .. } => step(one, visitor),
        ExprKind::Of { value, target, .. } => {
            expr(value, visitor);
            target.visit(visitor);
        }
        ExprKind::OverRuns { value, by } => {
            expr(value, visitor);
            by.iter().for_each(|by| expr(by, visitor));
        }
        ExprKind::Range { start, end } => start.iter().chain(end).for_each(|side| expr(side, visitor)),
        ExprKind::Test { subject, test } => {
            expr(subject, visitor);
            value_test(Some(subject), test, visitor);
        }
        ExprKind::If { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|part| expr(part, visitor));
        }
    }
}

/// A part of a statement or pattern: what a visitor sees of it. Those with variants go through all of their parts by the table.
trait Part {
    fn visit<'a>(&'a self, visitor: Visitor<'_, 'a>);
}

impl<T: Part> Part for Vec<T> {
    fn visit<'a>(&'a self, visitor: Visitor<'_, 'a>) {
        self.iter().for_each(|one| one.visit(visitor));
    }
}

impl<T: Part> Part for Option<T> {
    fn visit<'a>(&'a self, visitor: Visitor<'_, 'a>) {
        self.iter().for_each(|one| one.visit(visitor));
    }
}

impl<T: Part> Part for Box<T> {
    fn visit<'a>(&'a self, visitor: Visitor<'_, 'a>) {
        (**self).visit(visitor);
    }
}

macro_rules! seen {
    ($($ty:ty: $one:ident, $visitor:ident => $seen:expr;)*) => {
        $(impl Part for $ty {
            fn visit<'a>(&'a self, $visitor: Visitor<'_, 'a>) {
                let $one = self;
                $seen;
            }
        })*
    };
}

seen! {
    Item: one, visitor => deeper(|| item(one, visitor));
    Statement: one, visitor => statement(one, visitor);
    Step: one, visitor => step(one, visitor);
    Flow: one, visitor => flow(one, visitor);
    Expr: one, visitor => expr(one, visitor);
    ValueTest: one, visitor => value_test(None, one, visitor);
    Text: one, visitor => text(one, visitor);
    Regex: one, visitor => visitor.regex(one);
    Within: one, visitor => visitor.within(one);
    Atom: one, visitor => {
        one.subject.visit(visitor);
        one.arguments.visit(visitor);
        one.by.visit(visitor);
    };
    By: one, visitor => one.agent.visit(visitor);
    // Where both readings are kept they are the same text: one of them is enough.
    PredicateTarget: one, visitor => match &one.expr {
        Some(reading) => expr(reading, visitor),
        None => one.step.visit(visitor),
    };
}

/// What has nothing to see in it.
macro_rules! plain {
    ($($ty:ty),* $(,)?) => {
        $(impl Part for $ty {
            fn visit<'a>(&'a self, _: Visitor<'_, 'a>) {}
        })*
    };
}

plain!(bool, u32, Name, Number, Quantifier, SequenceMode, Span, StepWord, Times);

macro_rules! variants {
    ($($(#[$about:meta])* $ty:ident {
        $($(#[$doc:meta])* $variant:ident $(($($part:ident $(: $of:ty)?),*))? $({ $($field:ident $(: $holds:ty)?),* })?;)*
    })*) => {
        $(impl Part for $ty {
            fn visit<'a>(&'a self, visitor: Visitor<'_, 'a>) {
                match self {
                    $(Self::$variant $(($($part),*))? $({ $($field),* })? => {
                        $($($part.visit(&mut *visitor);)*)?
                        $($($field.visit(&mut *visitor);)*)?
                        let _ = &visitor;
                    })*
                }
            }
        })*
    };
}

super::statement::statements!(variants);
super::parts::pattern_parts!(variants);

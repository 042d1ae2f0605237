//! Going through a syntax tree. Data (schemas, runs of tests, arguments of calls) is left out: nobody asserts anything with it.

use averment_syntax::ast::{
    Argument, Atom, Expr, ExprKind, File, Flow, FlowKind, Item, ItemKind, KindText, ModifierKind, PredicateTarget,
    Regex, Scope, Setting, Statement, StatementKind, Step, StepKind, Subject, Text, TextOrRegex, TextPart, ValueTest,
    Window, World,
};

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
        | ItemKind::Setting(Setting::Key { .. }) => {}
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
    deeper(|| parts(&statement.kind, visitor));
}

fn parts<'a>(kind: &'a StatementKind, visitor: Visitor<'_, 'a>) {
    match kind {
        StatementKind::Expression(one) => expr(one, visitor),
        StatementKind::Not(inner) => statement(inner, visitor),
        StatementKind::Require { step: one, .. }
        | StatementKind::First { step: one }
        | StatementKind::Last { step: one }
        | StatementKind::Repeat { step: one, .. } => step(one, visitor),
        StatementKind::Never { steps, window: around, .. } => {
            all(steps, visitor);
            around.iter().for_each(|around| window(around, visitor));
        }
        StatementKind::Only { steps } | StatementKind::Sequence { steps, .. } | StatementKind::Either { steps } => {
            all(steps, visitor);
        }
        StatementKind::Count { step: one, test } => {
            step(one, visitor);
            value_test(None, test, visitor);
        }
        StatementKind::Before { step: one, targets, .. } | StatementKind::After { step: one, targets, .. } => {
            step(one, visitor);
            all(targets, visitor);
        }
        StatementKind::Together { left, right }
        | StatementKind::Apart { left, right }
        | StatementKind::IfThen { condition: left, consequence: right }
        | StatementKind::Iff { left, right }
        | StatementKind::NotBoth { left, right } => {
            step(left, visitor);
            step(right, visitor);
        }
        StatementKind::Flow { flow: one } => flow(one, visitor),
        StatementKind::Each { step: one, condition, .. } => {
            step(one, visitor);
            expr(condition, visitor);
        }
        StatementKind::NoPredicate { target, .. } => predicate_target(target, visitor),
        StatementKind::ArgsValid { step: one, .. } => one.iter().for_each(|one| step(one, visitor)),
        StatementKind::Block { scope: around, body } => {
            scope(around, visitor);
            items(body, visitor);
        }
        StatementKind::Group { body, .. } => items(body, visitor),
        StatementKind::World(one) => world(one, visitor),
    }
}

fn all<'a>(steps: &'a [Step], visitor: Visitor<'_, 'a>) {
    steps.iter().for_each(|one| step(one, visitor));
}

fn predicate_target<'a>(target: &'a PredicateTarget, visitor: Visitor<'_, 'a>) {
    // Where both readings are kept they are the same text: one of them is enough.
    match (&target.expr, &target.step) {
        (Some(one), _) => expr(one, visitor),
        (None, Some(one)) => step(one, visitor),
        (None, None) => {}
    }
}

fn window<'a>(window: &'a Window, visitor: Visitor<'_, 'a>) {
    match window {
        Window::After { open, until } => {
            step(open, visitor);
            until.iter().for_each(|until| step(until, visitor));
        }
        Window::Before { close } => step(close, visitor),
        Window::Between { open, close } => {
            step(open, visitor);
            step(close, visitor);
        }
    }
}

fn scope<'a>(scope: &'a Scope, visitor: Visitor<'_, 'a>) {
    match scope {
        Scope::After { open, until } => {
            step(open, visitor);
            until.iter().for_each(|until| step(until, visitor));
        }
        Scope::Before { close: one } | Scope::Each { step: one } => step(one, visitor),
        Scope::Between { open, close } => {
            step(open, visitor);
            step(close, visitor);
        }
        Scope::When { condition } => expr(condition, visitor),
    }
}

fn world<'a>(world: &'a World, visitor: Visitor<'_, 'a>) {
    match world {
        World::File { path, test } => {
            text(path, visitor);
            value_test(None, test, visitor);
        }
        World::Http { url, test } => {
            match url {
                TextOrRegex::Text(one) => text(one, visitor),
                TextOrRegex::Regex(regex) => visitor.regex(regex),
            }
            value_test(None, test, visitor);
        }
        World::Run { command, .. } => text(command, visitor),
        World::Env { .. } | World::Tool { .. } => {}
    }
}

/// Goes through a step pattern.
pub fn step<'a>(one: &'a Step, visitor: Visitor<'_, 'a>) {
    visitor.step(one);
    deeper(|| match &one.kind {
        StepKind::Atom(one) => atom(one, visitor),
        StepKind::Choice(steps) => all(steps, visitor),
        StepKind::Where { step: inner, condition } => {
            step(inner, visitor);
            expr(condition, visitor);
        }
        StepKind::Proposed(inner) => step(inner, visitor),
    });
}

fn atom<'a>(atom: &'a Atom, visitor: Visitor<'_, 'a>) {
    if let Subject::Kind { text: Some(behind), .. } = &atom.subject {
        match behind {
            KindText::Text(one) => text(one, visitor),
            KindText::Regex(regex) => visitor.regex(regex),
            KindText::Command(_) => {}
        }
    }
    for argument in atom.arguments.iter().flatten() {
        match argument {
            Argument::Matches { path, value, .. } => {
                expr(path, visitor);
                expr(value, visitor);
            }
            Argument::Test(test) => expr(test, visitor),
        }
    }
}

/// Goes through a flow expression.
pub fn flow<'a>(one: &'a Flow, visitor: Visitor<'_, 'a>) {
    visitor.flow(one);
    deeper(|| match &one.kind {
        FlowKind::Step(one) => step(one, visitor),
        FlowKind::Sequence(parts) | FlowKind::Choice(parts) => parts.iter().for_each(|part| flow(part, visitor)),
        FlowKind::Repeat { body, .. } => flow(body, visitor),
    });
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
        | ExprKind::Quantifier { source: left, body: right, .. } => {
            expr(left, visitor);
            expr(right, visitor);
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

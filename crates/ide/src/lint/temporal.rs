//! Going through checked assertions: their patterns and expressions.

use averment_engine::ir::{Check, Expr, Module, Operand, Pattern, Temporal, World};

/// Every expression of a module that stands for itself: of assertions, their patterns and settings, of `let`s and `def`s.
pub fn expressions(module: &Module) -> Vec<&Expr> {
    let lets = module.lets.iter().filter(|one| one.is_written).map(|one| &one.value);
    let mut found: Vec<&Expr> = lets.collect();
    found.extend(module.defs.iter().filter(|one| one.is_written).map(|one| &one.body));
    for assertion in &module.assertions {
        found.extend(assertion.settings.when.iter().chain(&assertion.settings.message));
        of_check(&assertion.check, &mut found);
    }
    found
}

fn of_check<'c>(check: &'c Check<Pattern, Expr>, found: &mut Vec<&'c Expr>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match check {
        Check::Expression(expr) => found.push(expr),
        Check::Temporal(temporal) => of_temporal(temporal, found),
        Check::Not(inner) => of_check(inner, found),
        Check::Group { members, .. } => {
            for member in members {
                found.extend(&member.when);
                of_check(&member.check, found);
            }
        }
        Check::Scoped { scope, body } => {
            for pattern in scope.patterns() {
                of_pattern(pattern, found);
            }
            of_check(body, found);
        }
        Check::World(World::File { path: one, test, .. } | World::Http { url: one, test, .. }) => {
            found.extend([one, test])
        }
        Check::World(World::Run { arguments, .. }) => found.extend(arguments),
        Check::World(World::Env { .. } | World::Tool { .. }) => {}
        Check::OverRuns(over) => found.extend(over.of_each_run()),
    });
}

fn of_temporal<'c>(temporal: &'c Temporal<Pattern, Expr>, found: &mut Vec<&'c Expr>) {
    temporal.patterns().for_each(|pattern| of_pattern(pattern, found));
    found.extend(temporal.operands().into_iter().filter_map(|operand| match operand {
        Operand::Code(code, _) => Some(code),
        Operand::Pattern(_) | Operand::Within(_) => None,
    }));
}

fn of_pattern<'c>(pattern: &'c Pattern, found: &mut Vec<&'c Expr>) {
    for one in &pattern.alternatives {
        found.extend(one.condition.iter().chain(&one.joins));
        found.extend(one.binds.iter().map(|(_, path)| path));
    }
}

/// Calls `visit` with an expression and everything in it.
pub fn each_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        averment_engine::check::children(expr, &mut |child| each_expr(child, visit))
    });
}

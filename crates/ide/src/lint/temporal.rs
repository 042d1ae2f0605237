//! Iterates over checked assertions: their patterns and expressions.

use averment_checker::ir::{
    AssertionCheck, CheckedModule, CheckedPattern, StatementOperand, Temporal, TypedExpr, WorldCondition,
};

/// Returns every top-level expression of a module: of assertions, their patterns and settings, of `let`s and `def`s.
pub fn module_expressions(module: &CheckedModule) -> Vec<&TypedExpr> {
    let lets = module.lets.iter().filter(|one| one.is_written).map(|one| &one.value);
    let mut found: Vec<&TypedExpr> = lets.collect();
    found.extend(module.defs.iter().filter(|one| one.is_written).map(|one| &one.body));
    for assertion in &module.assertions {
        found.extend(assertion.settings.when.iter().chain(&assertion.settings.message));
        of_check(&assertion.check, &mut found);
    }
    found
}

fn of_check<'c>(check: &'c AssertionCheck<CheckedPattern, TypedExpr>, found: &mut Vec<&'c TypedExpr>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match check {
        AssertionCheck::Expression(expr) => found.push(expr),
        AssertionCheck::Temporal(temporal) => of_temporal(temporal, found),
        AssertionCheck::Not(inner) => of_check(inner, found),
        AssertionCheck::Group { members, .. } => {
            for member in members {
                found.extend(&member.when);
                of_check(&member.check, found);
            }
        }
        AssertionCheck::Scoped { scope, body } => {
            for pattern in scope.header_patterns() {
                of_pattern(pattern, found);
            }
            of_check(body, found);
        }
        AssertionCheck::World(
            WorldCondition::File { path: one, test, .. } | WorldCondition::Http { url: one, test, .. },
        ) => found.extend([one, test]),
        AssertionCheck::World(WorldCondition::Run { arguments, .. }) => found.extend(arguments),
        AssertionCheck::World(WorldCondition::Env { .. } | WorldCondition::Tool { .. }) => {}
        AssertionCheck::OverRuns(over) => found.extend(over.run_expressions()),
    });
}

fn of_temporal<'c>(temporal: &'c Temporal<CheckedPattern, TypedExpr>, found: &mut Vec<&'c TypedExpr>) {
    temporal.patterns().for_each(|pattern| of_pattern(pattern, found));
    found.extend(temporal.operands().into_iter().filter_map(|operand| match operand {
        StatementOperand::Code(code, _) => Some(code),
        StatementOperand::Pattern(_) | StatementOperand::Within(_) => None,
    }));
}

fn of_pattern<'c>(pattern: &'c CheckedPattern, found: &mut Vec<&'c TypedExpr>) {
    for one in &pattern.alternatives {
        found.extend(one.condition.iter().chain(&one.joins));
        found.extend(one.binds.iter().map(|(_, path)| path));
    }
}

/// Calls `visit` with an expression and everything in it.
pub fn each_expr(expr: &TypedExpr, visit: &mut dyn FnMut(&TypedExpr)) {
    visit(expr);
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        averment_checker::visit_children(expr, &mut |child| each_expr(child, visit))
    });
}

//! Rules: every statement with every modifier, over the same small alphabet as the runs.

use crate::generate_step::{Steps, condition_on_call, condition_on_inputs};
use crate::model::{
    Adjacency, Comparison, Condition, CountTest, Flow, Fold, Header, Over, Path, Pattern, Quantifier, Right, Segment,
    Selected, Selection, SequenceMode, Simple, SoFar, Statement, What, Within,
};
use crate::source::Source;

/// One statement, group or block.
pub fn rule(source: &mut Source) -> Statement {
    match source.weighted(&[70, 10, 14, 4, 2, 14]) {
        5 => with_selection(source),
        0 => statement(source, &[]),
        1 => group(source, 2, &[]),
        2 => block(source, 2, &[]),
        3 => Statement::When(Box::new(statement(source, &[])), condition_on_inputs(source)),
        _ => Statement::Block(Header::When(condition_on_inputs(source)), body(source, 1, &[], false)),
    }
}

/// Lists over steps, as an assertion, in a group, in the condition of a step.
fn with_selection(source: &mut Source) -> Statement {
    let mut lone = Steps::new(&[], false, 1);
    match source.below(10) {
        7..=9 => sliding(source),
        0 => {
            let other = statement(source, &[]);
            let members = vec![Statement::Expression(selected(source, false)), other];
            source.pick(&[Statement::AnyOf(members.clone()), Statement::NoneOf(members)])
        }
        1 | 2 => {
            let quantifier = source.pick(&[Quantifier::Each, Quantifier::Some, Quantifier::No]);
            let a = if source.chance(70) { lone.call(source) } else { lone.alone(source) };
            Statement::Quantified(quantifier, a, so_far(source))
        }
        3 => Statement::Block(Header::Each(lone.call(source)), vec![Statement::Expression(so_far(source))]),
        4 => {
            let mut a = lone.plain_call(source);
            a.alternatives[0].condition = Some(so_far(source));
            Statement::Never(vec![a])
        }
        5 => {
            let left = selected(source, true);
            let right = if source.chance(50) { selected(source, false) } else { condition_on_inputs(source) };
            Statement::Expression(if source.chance(50) {
                Condition::And(Box::new(left), Box::new(right))
            } else {
                Condition::Or(Box::new(left), Box::new(right))
            })
        }
        _ => Statement::Expression(selected(source, true)),
    }
}

/// `count a <= 2 within 3 calls`, `sum(args.n of a) >= 1 in a row`.
fn sliding(source: &mut Source) -> Statement {
    let mut left = selection(source, &mut Steps::new(&[], false, 1), false);
    let over = match source.below(3) {
        0 => Over::Row,
        // A list of choices that has become short gives nothing but zeros.
        _ => Over::Within(within(source).unwrap_or(Within::Calls(1))),
    };
    if over == Over::Row {
        left.pattern = Steps::new(&[], false, 1).call(source);
    }
    left.over = Some(over);
    let pattern = left.pattern.clone();
    let right = Right::Number(source.below(4) as i64);
    let comparison = source.pick(&[Comparison::Le, Comparison::Ge, Comparison::Eq, Comparison::Lt]);
    let condition = Condition::Selected(Box::new(Selected { left, comparison, right }));
    Statement::Quantified(Quantifier::Each, pattern, condition)
}

fn so_far(source: &mut Source) -> Condition {
    let left = selection(source, &mut Steps::new(&[], false, 1), true);
    let right = Right::Number(source.below(4) as i64);
    let comparison = source.pick(&[Comparison::Le, Comparison::Ge, Comparison::Eq, Comparison::Lt]);
    Condition::Selected(Box::new(Selected { left, comparison, right }))
}

fn selected(source: &mut Source, binds: bool) -> Condition {
    let mut steps = Steps::new(&[], binds && source.chance(45), 1);
    let left = selection(source, &mut steps, false);
    let right = match source.chance(60) || left.value.is_none() {
        true => Right::Selection(selection(source, &mut steps, false)),
        false => Right::Number(source.below(4) as i64),
    };
    let comparison =
        source.pick(&[Comparison::Le, Comparison::Ge, Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Gt]);
    Condition::Selected(Box::new(Selected { left, comparison, right }))
}

fn selection(source: &mut Source, steps: &mut Steps, so_far: bool) -> Selection {
    let counts = source.chance(45);
    let reaches = [None, Some(SoFar::Known), Some(SoFar::Started)];
    let so_far = if so_far { reaches[source.weighted(&[15, 75, 10])] } else { None };
    let mut pattern = if counts && !steps.binds() { steps.alone(source) } else { steps.binding_call(source) };
    // What an alternative binds is of all of them or of none.
    if pattern.alternatives.iter().any(|simple| !simple.binds().is_empty()) {
        pattern.alternatives.truncate(1);
    }
    let paths = ["args.n", "args.n", "args.n", "args.id", "result.code", "cost"];
    // What has a unit is compared with a bare number at most.
    let paths = if so_far.is_some() { &paths[..] } else { &paths[..5] };
    let value = (!counts).then(|| (source.pick(&Fold::ALL).1, path(source.pick(paths))));
    Selection { pattern, value, so_far, over: None }
}

fn body(source: &mut Source, depth: usize, known: &[&'static str], on_step: bool) -> Vec<Statement> {
    (0..=source.below(2)).map(|_| member(source, depth, known, on_step)).collect()
}

fn member(source: &mut Source, depth: usize, known: &[&'static str], on_step: bool) -> Statement {
    if on_step && source.chance(50) {
        return Statement::Expression(condition_on_call(source, 1));
    }
    match source.weighted(&[8, depth.min(1), depth.min(1), depth.min(1)]) {
        0 => match statement(source, known) {
            inner if source.chance(8) => Statement::When(Box::new(inner), condition_on_inputs(source)),
            inner => inner,
        },
        3 => Statement::Block(Header::When(condition_on_inputs(source)), body(source, depth - 1, known, on_step)),
        1 => group(source, depth - 1, known),
        _ => block(source, depth - 1, known),
    }
}

fn group(source: &mut Source, depth: usize, known: &[&'static str]) -> Statement {
    let members: Vec<Statement> = (0..1 + source.below(3)).map(|_| member(source, depth, known, false)).collect();
    match source.below(5) {
        0 => Statement::AllOf(members),
        1 => Statement::AnyOf(members),
        2 => Statement::NoneOf(members),
        3 => Statement::AtLeast(1 + source.below(members.len()), members),
        _ => Statement::Not(Box::new(Statement::AnyOf(members))),
    }
}

/// A block; its header's binding is known in the body.
fn block(source: &mut Source, depth: usize, known: &[&'static str]) -> Statement {
    let binds = known.is_empty() && source.chance(40);
    let mut steps = Steps::new(known, binds, 1);
    let which = source.below(5);
    // The expressions in the body of `each` are written for calls.
    let a = if which == 2 { steps.binding_call(source) } else { steps.binding(source) };
    let mut inside = known.to_vec();
    inside.extend(binds.then_some("x"));
    let (header, on_step) = match which {
        0 => (Header::After(a, None), false),
        1 => (Header::Before(a), false),
        2 => (Header::Each(a), true),
        3 => (Header::After(a, Some(steps.closing(source))), false),
        _ => (Header::Between(a, steps.closing(source)), false),
    };
    Statement::Block(header, body(source, depth, &inside, on_step))
}

const STATEMENTS: usize = 32;

/// A single statement. `known`: variables that a block around it binds.
pub fn statement(source: &mut Source, known: &[&'static str]) -> Statement {
    let inner = plain(source, known);
    // `not (…)` reads as an expression, so a statement that starts with a parenthesis stays as it is.
    let starts_with_step = matches!(&inner, Statement::Iff(..) | Statement::Before { reversed: true, .. });
    if !starts_with_step && source.chance(8) { Statement::Not(Box::new(inner)) } else { inner }
}

fn plain(source: &mut Source, known: &[&'static str]) -> Statement {
    use Statement as S;
    let shared = source.chance(40);
    let variables = 1 + usize::from(source.chance(20));
    let mut steps = Steps::new(known, shared, variables);
    if source.chance(12) {
        steps = steps.with_open();
    }
    let mut lone = Steps::new(known, false, 1);
    match source.below(STATEMENTS) {
        0 => S::Require(lone.alone(source)),
        1 => S::Never(several(source, &mut lone)),
        2 => S::Only((0..=source.below(3)).map(|_| lone.call(source)).collect()),
        3 => S::Either({
            let mut all = several(source, &mut lone);
            all.push(lone.alone(source));
            all
        }),
        4 => S::First(lone.call(source)),
        5 => S::Last(lone.call(source)),
        6 => times(source, &mut steps),
        7 => count(source, &mut steps),
        8 => {
            let adjacency = source.pick(&[Adjacency::Plain, Adjacency::Plain, Adjacency::Starts]);
            before(source, &mut steps, adjacency)
        }
        9 => {
            let adjacency = source.pick(&[Adjacency::Each, Adjacency::Each, Adjacency::StartsEach]);
            before(source, &mut steps, adjacency)
        }
        10 => before(source, &mut steps, Adjacency::Immediately),
        11 => after(source, &mut steps, Adjacency::Plain),
        12 => after(source, &mut steps, Adjacency::Each),
        13 => after(source, &mut steps, Adjacency::Immediately),
        14 => sequence(source, &mut steps, SequenceMode::Gaps),
        15 => sequence(source, &mut steps, SequenceMode::Only),
        16 => sequence(source, &mut steps, SequenceMode::Exactly),
        17 => {
            let (a, b) = steps.two(source);
            let until = source.chance(45).then(|| steps.closing(source));
            S::NeverAfter { b: more(source, &mut steps, b), a, until, within: within(source) }
        }
        18 => {
            let (a, b) = steps.two(source);
            S::NeverBefore { b: more(source, &mut steps, b), a, within: within(source) }
        }
        19 => {
            let (a, b) = steps.two(source);
            let c = steps.closing(source);
            S::NeverBetween { b: more(source, &mut steps, b), a, c }
        }
        20 => pair(source, &mut steps, S::Together),
        21 => pair(source, &mut steps, S::Apart),
        22 => pair(source, &mut steps, S::If),
        23 => pair(source, &mut steps, S::Iff),
        24 => pair(source, &mut steps, S::NotBoth),
        25 => S::NeverRepeat(lone.call(source), 1 + source.below(2)),
        26 | 27 => S::Flow(flow(source, &mut steps, 3)),
        28 => S::NoBad(lone.plain_call(source)),
        29 => pair(source, &mut steps, S::Nested),
        30 => crate::calls_match::generate(source),
        _ => quantified(source, &mut lone),
    }
}

fn several(source: &mut Source, steps: &mut Steps) -> Vec<Pattern> {
    (0..=source.weighted(&[3, 2, 1])).map(|_| steps.alone(source)).collect()
}

/// Sometimes a second one that stands alone beside the first.
fn more(source: &mut Source, steps: &mut Steps, first: Pattern) -> Vec<Pattern> {
    let second = source.chance(12).then(|| steps.target(source, false));
    std::iter::once(first).chain(second).collect()
}

fn pair(source: &mut Source, steps: &mut Steps, build: fn(Pattern, Pattern) -> Statement) -> Statement {
    let (a, b) = steps.two(source);
    build(a, b)
}

fn times(source: &mut Source, steps: &mut Steps) -> Statement {
    let a = steps.binding(source);
    let (from, to) = range(source);
    Statement::RequireTimes(a, from, to)
}

fn range(source: &mut Source) -> (Option<i64>, Option<i64>) {
    let low = source.below(3) as i64;
    match source.below(4) {
        0 => (Some(low + 1), None),
        1 => (None, Some(low)),
        2 => (Some(low), Some(low)),
        _ => (Some(low), Some(low + 1 + source.below(2) as i64)),
    }
}

fn count(source: &mut Source, steps: &mut Steps) -> Statement {
    use Comparison as C;
    let a = steps.binding(source);
    let n = source.below(4) as i64;
    let test = match source.below(8) {
        0 => {
            let (from, to) = range(source);
            CountTest::Range(from, to)
        }
        1 => CountTest::List(vec![n, n + 2]),
        _ => match source.pick(&[C::Le, C::Ge, C::Eq, C::Lt, C::Gt, C::Ne]) {
            C::Lt => CountTest::Compare(C::Lt, n + 1),
            comparison => CountTest::Compare(comparison, n),
        },
    };
    Statement::Count(a, test)
}

fn within(source: &mut Source) -> Option<Within> {
    let n = source.below(3) as i64;
    match source.weighted(&[6, 2, 1, 1]) {
        0 => None,
        1 => Some(Within::Calls(1 + n)),
        2 => Some(Within::Turns(n)),
        _ => Some(Within::Milliseconds(100 * (1 + n))),
    }
}

fn before(source: &mut Source, steps: &mut Steps, adjacency: Adjacency) -> Statement {
    let (a, b) = if adjacency == Adjacency::Immediately { steps.two_calls(source) } else { steps.two(source) };
    let reversed = adjacency == Adjacency::Plain && source.chance(20);
    let mut targets = vec![b];
    if !reversed && source.chance(20) {
        targets.push(steps.target(source, adjacency == Adjacency::Immediately));
    }
    let within = if reversed { None } else { within(source) };
    Statement::Before { adjacency, a, targets, within, reversed }
}

fn after(source: &mut Source, steps: &mut Steps, adjacency: Adjacency) -> Statement {
    let (a, b) = if adjacency == Adjacency::Immediately { steps.two_calls(source) } else { steps.two(source) };
    let mut targets = vec![b];
    if source.chance(20) {
        targets.push(steps.target(source, adjacency == Adjacency::Immediately));
    }
    Statement::After { adjacency, a, targets, within: within(source) }
}

fn sequence(source: &mut Source, steps: &mut Steps, mode: SequenceMode) -> Statement {
    let is_exact = mode == SequenceMode::Exactly;
    let patterns = if mode != SequenceMode::Gaps && source.chance(15) {
        // A step alone has no other one whose binding it could use.
        vec![if is_exact { steps.binding_call(source) } else { steps.binding(source) }]
    } else {
        let (a, b) = if is_exact { steps.two_calls(source) } else { steps.two(source) };
        let third = source.chance(35).then(|| steps.target(source, is_exact));
        [a, b].into_iter().chain(third).collect()
    };
    Statement::Sequence { mode, patterns, within: within(source) }
}

fn quantified(source: &mut Source, steps: &mut Steps) -> Statement {
    let quantifier = source.pick(&[Quantifier::Each, Quantifier::Some, Quantifier::No]);
    let condition = condition_on_call(source, 2);
    Statement::Quantified(quantifier, steps.call(source), condition)
}

/// A flow; half of them are wide enough to take many runs.
fn flow(source: &mut Source, steps: &mut Steps, depth: usize) -> Flow {
    let length = 1 + source.weighted(&[3, 4, 2]);
    let mut parts: Vec<Flow> = (0..length).map(|_| flow_part(source, steps, depth)).collect();
    if depth == 3 && source.chance(50) {
        let tool =
            |name: &str| Flow::Pattern(Pattern { id: 0, alternatives: vec![Simple::new(What::Tool(name.to_owned()))] });
        let rest = Flow::Choice(vec![tool("a"), tool("b*"), tool("c")]);
        parts.push(Flow::Repeat(Box::new(rest), 0, None));
    }
    if parts.len() == 1 { parts.into_iter().next().expect("one part") } else { Flow::Sequence(parts) }
}

fn flow_part(source: &mut Source, steps: &mut Steps, depth: usize) -> Flow {
    match source.weighted(&[4, 5 * depth.min(1), 2 * depth.min(1)]) {
        0 => Flow::Pattern(steps.in_flow(source)),
        1 => {
            let inner = Box::new(flow(source, steps, depth - 1));
            let times =
                [(0, None), (1, None), (0, Some(1)), (0, None), (1, None), (1, Some(2)), (2, Some(2)), (2, None)];
            let (least, most) = source.pick(&times);
            Flow::Repeat(inner, least, most)
        }
        _ => Flow::Choice((0..2).map(|_| flow_part(source, steps, depth - 1)).collect()),
    }
}

/// A path of plain names.
pub fn path(text: &str) -> Path {
    Path(text.split('.').map(|key| Segment::Key(key.to_owned())).collect())
}

/// Conditions joined.
pub fn joined(source: &mut Source, left: Condition, right: Condition) -> Condition {
    match source.below(4) {
        0 => Condition::And(Box::new(left), Box::new(right)),
        1 => Condition::Or(Box::new(left), Box::new(right)),
        2 => Condition::Implies(Box::new(left), Box::new(right)),
        _ => Condition::Not(Box::new(left)),
    }
}

//! What is asked: the calls of invariants, in the order of the rules, and the sequences of imported packs.

use crate::listing::Listing;
use averment_base::diagnostic::Slug;
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap};
use averment_engine::bytecode::program::Program;
use averment_engine::ir::{GeneratedCall, InputsSpec, Module};
use averment_syntax::ast::{self, CallInput, Expr, ExprKind, ItemKind};
use averment_testing::inputs::{Found, Inputs, find};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What is asked.
#[derive(Debug, Default)]
pub struct Plan {
    /// In order.
    pub asks: Vec<Ask>,
    /// What cannot be asked.
    pub left: Vec<Unasked>,
    /// What is said of the inputs.
    pub found: averment_base::diagnostic::Diagnostics,
}

/// An invariant that cannot be asked, for a tool where it is for each.
#[derive(Debug)]
pub struct Unasked {
    /// The id of the invariant.
    pub invariant: String,
    /// The tool.
    pub each: Option<String>,
    /// Why.
    pub why: String,
    /// What that is.
    pub gap: Gap,
}

/// What it is that an invariant cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// As it may be: there is no tool that it is for.
    Idle,
    /// The server does not list its tool.
    Unlisted,
    /// Its inputs cannot be made.
    Unusable,
}

/// The calls of an invariant, of one tool where it is for each.
#[derive(Debug)]
pub struct Ask {
    /// The id of the invariant.
    pub invariant: String,
    /// The tool, where the invariant is for each.
    pub each: Option<String>,
    pub(crate) calls: Vec<Call>,
}

/// What is known of a server where it is planned.
struct Known<'a> {
    tools: &'a Listing,
    /// By place and tool.
    inputs: BTreeMap<(u32, String), Rc<Inputs>>,
    /// The same of those that inputs cannot be made for.
    without_schema: BTreeSet<(u32, String)>,
}

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub tool: String,
    pub arguments: Arguments,
    /// What later ones know it by.
    pub alias: Option<String>,
    /// Whether an error is what has to become of it.
    pub fails: bool,
}

/// What a call is given.
#[derive(Debug, Clone)]
pub enum Arguments {
    /// Values as written, with what earlier calls answered.
    Written(Vec<(String, Expr)>),
    /// Inputs that are made.
    Made(Rc<Inputs>),
}

/// A rule file as it was read and checked.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// Its text, as sentences of the language.
    pub text: &'a str,
    /// What the checker knows of it.
    pub module: &'a Module,
    /// Its program, with values for its parameters.
    pub program: &'a Program,
}

/// The names of all tools that a text calls.
#[must_use]
pub fn named(text: &str, limits: &Limits) -> Vec<String> {
    let mut names = Vec::new();
    for item in &parsed(text, limits).items {
        match &item.kind {
            ItemKind::Invariant(rule) => each_call(&rule.body, false, &mut |call, is_each| {
                if !is_each {
                    names.push(call.tool.text.clone());
                }
            }),
            ItemKind::Let { value, .. } => names.extend(sequence_step(value).map(|step| step.tool)),
            _ => {}
        }
    }
    names.sort();
    names.dedup();
    names
}

/// What is asked of a server with these tools.
#[must_use]
pub fn plan(rules: Rules<'_>, tools: &Listing, limits: &Limits, chosen: impl Fn(&str) -> bool) -> Plan {
    let file = parsed(rules.text, limits);
    let mut plan = Plan::default();
    let Found { inputs, without_schema, said } = find(&with_fixed(&file, rules.module), rules.program, limits, &chosen);
    plan.found = said;
    // That there is no schema is said of the invariant.
    plan.found.0.retain(|one| one.slug != Slug::UnknownSchema);
    let inputs = inputs.into_iter().map(|one| ((one.place().start, one.tool.clone()), Rc::new(one)));
    let without_schema = without_schema.into_iter().map(|(place, tool)| (place.start, tool)).collect();
    let known = Known { tools, inputs: inputs.collect(), without_schema };
    let mut steps: Vec<Step> = Vec::new();
    for item in &file.items {
        match &item.kind {
            ItemKind::Let { name, value } => {
                steps.extend(sequence_step(value).map(|step| Step { alias: name.text.clone(), ..step }));
            }
            ItemKind::Rule(rule) => {
                let steps = std::mem::take(&mut steps);
                if chosen(&rule.name.text) && !steps.is_empty() {
                    plan.asks.push(Ask::of_steps(rule, steps));
                }
            }
            ItemKind::Invariant(rule) if chosen(&rule.name.text) => plan.invariant(rule, &known),
            _ => {}
        }
    }
    plan
}

fn parsed(text: &str, limits: &Limits) -> ast::File {
    let mut sources = SourceMap::default();
    let root: FileId = sources.add(SourceFile::new("rules", None, text.to_owned()));
    averment_syntax::parse(&sources, root, limits).0
}

/// The module with the fixed calls of `for each tool` among those that inputs are made for: so it is asked for which tools they stand.
fn with_fixed(file: &ast::File, module: &Module) -> Module {
    let mut module = module.clone();
    for item in &file.items {
        let ItemKind::Invariant(rule) = &item.kind else { continue };
        let Some(number) = module.rules.iter().position(|one| one.id == rule.name.text) else { continue };
        let Ok(number) = u32::try_from(number) else { continue };
        each_call(&rule.body, false, &mut |call, is_each| {
            if is_each && matches!(call.input, CallInput::Object(_)) {
                let (inputs, seed_name) = (InputsSpec::Arguments(Vec::new()), Vec::new());
                let span = call.tool.span;
                module.inputs.push(GeneratedCall {
                    rule: number,
                    tool: None,
                    span,
                    inputs,
                    cases: 1,
                    seed: 0,
                    seed_name,
                });
            }
        });
    }
    module
}

/// Goes through the calls of a body; the second says whether one stands in `for each tool` and calls each.
fn each_call<'a>(body: &'a [ast::Item], each: bool, then: &mut impl FnMut(&'a ast::Call, bool)) {
    for item in body {
        match &item.kind {
            ItemKind::Call(call) => then(call, each && call.tool.text == "tool"),
            ItemKind::ForEachTool { body, .. } => each_call(body, true, then),
            _ => {}
        }
    }
}

impl Plan {
    fn invariant(&mut self, rule: &ast::Rule, known: &Known<'_>) {
        let name = &rule.name.text;
        let own = calls_of(&rule.body);
        if !own.is_empty() {
            self.of_body(name, &own, None, known);
        }
        for item in &rule.body {
            let ItemKind::ForEachTool { body, .. } = &item.kind else { continue };
            let own = calls_of(body);
            let Some((first, _)) = own.first() else { continue };
            if own.iter().any(|(call, _)| call.tool.text == "tool" && is_written(call)) {
                let why = "the call of each tool has fixed arguments, and which tools it is for is known only of those without";
                self.leave(name, None, Gap::Unusable, why.to_owned());
                continue;
            }
            let fits = |tool: &&str| {
                let place = (first.tool.span.start, (*tool).to_owned());
                known.inputs.contains_key(&place) || known.without_schema.contains(&place)
            };
            let fitting: Vec<&str> = known.tools.names().filter(fits).collect();
            if fitting.is_empty() {
                let (invariant, why) = (name.clone(), "no tool of the server fits".to_owned());
                self.left.push(Unasked { invariant, each: None, why, gap: Gap::Idle });
            }
            for tool in fitting {
                self.of_body(name, &own, Some(tool), known);
            }
        }
    }

    fn leave(&mut self, name: &str, each: Option<&str>, gap: Gap, why: String) {
        self.left.push(Unasked { invariant: name.to_owned(), each: each.map(str::to_owned), why, gap });
    }

    /// The calls of a body, for one tool where it is for each.
    fn of_body(&mut self, name: &str, body: &[(&ast::Call, bool)], each: Option<&str>, known: &Known<'_>) {
        let mut calls = Vec::new();
        for &(call, fails) in body {
            let tool = match each {
                Some(tool) if call.tool.text == "tool" => tool.to_owned(),
                _ => call.tool.text.clone(),
            };
            let arguments = match &call.input {
                CallInput::Object(Expr { kind: ExprKind::Object(entries), .. }) => {
                    let entries = entries.iter().map(|(name, value)| (name.text.clone(), value.clone()));
                    Some(Arguments::Written(entries.collect()))
                }
                CallInput::Object(_) => None,
                CallInput::Generate { .. } => {
                    let made = known.inputs.get(&(call.tool.span.start, tool.clone()));
                    made.map(|made| Arguments::Made(Rc::clone(made)))
                }
            };
            let Some(arguments) = arguments else {
                let (gap, why) = match known.tools.unusable(&tool) {
                    Some(why) => (Gap::Unusable, why.to_owned()),
                    None if !known.tools.lists(&tool) => (Gap::Unlisted, known.tools.unlisted(&tool)),
                    None => (Gap::Unusable, format!("no inputs are known for `{tool}`")),
                };
                return self.leave(name, each, gap, why);
            };
            let alias = call.alias.as_ref().map(|alias| alias.text.clone());
            calls.push(Call { tool, arguments, alias, fails });
        }
        self.asks.push(Ask { invariant: name.to_owned(), each: each.map(str::to_owned), calls });
    }
}

/// The calls of a body, with whether an error is what has to become of each.
fn calls_of(body: &[ast::Item]) -> Vec<(&ast::Call, bool)> {
    let calls = (1_usize..).zip(body).filter_map(|(number, item)| match &item.kind {
        ItemKind::Call(call) => Some((call, call.expects_error(body.get(number..).unwrap_or_default()))),
        _ => None,
    });
    calls.collect()
}

/// Whether arguments are written for a call.
fn is_written(call: &ast::Call) -> bool {
    matches!(&call.input, CallInput::Object(Expr { kind: ExprKind::Object(entries), .. }) if !entries.is_empty())
}

impl Ask {
    /// Whether one of its calls is of a tool.
    #[must_use]
    pub fn calls(&self, tool: &str) -> bool {
        self.calls.iter().any(|call| call.tool == tool)
    }

    /// The tools of its calls that the server does not list, though more than an error is expected of them.
    pub fn unlisted(&self, tools: &Listing) -> impl Iterator<Item = &str> {
        self.calls.iter().filter(|call| !call.fails && !tools.lists(&call.tool)).map(|call| call.tool.as_str())
    }

    fn of_steps(rule: &ast::Rule, steps: Vec<Step>) -> Self {
        let calls = steps.into_iter().map(|step| {
            let Step { tool, alias, arguments } = step;
            let fails = rule.body.iter().any(|item| says_that_it_fails(item, &alias));
            Call { tool, arguments: Arguments::Written(arguments), alias: Some(alias), fails }
        });
        Self { invariant: rule.name.text.clone(), each: None, calls: calls.collect() }
    }
}

/// `is_error(answer(STEP))`, as steps of packs that are to fail are imported.
fn says_that_it_fails(item: &ast::Item, step: &str) -> bool {
    let ItemKind::Assertion(assertion) = &item.kind else { return false };
    let ast::StatementKind::Expression(said) = &assertion.statement.kind else { return false };
    let inner = argument_of(said, "is_error").and_then(|answer| argument_of(answer, "answer"));
    inner.is_some_and(|inner| matches!(&inner.kind, ExprKind::Name(name) if name == step))
}

/// What a function of this name is given.
fn argument_of<'a>(expr: &'a Expr, function: &str) -> Option<&'a Expr> {
    match &expr.kind {
        ExprKind::Call { name, arguments, .. } if name.text == function => arguments.first(),
        _ => None,
    }
}

/// A step of a sequence.
#[derive(Default)]
struct Step {
    tool: String,
    alias: String,
    arguments: Vec<(String, Expr)>,
}

/// The call that `first(calls where tool == "create" and args.name == "a")` looks for: as steps of packs are imported.
fn sequence_step(value: &Expr) -> Option<Step> {
    let ExprKind::Call { name, arguments, .. } = &value.kind else { return None };
    let [Expr { kind: ExprKind::Filtered { list, condition }, .. }] = arguments.as_slice() else { return None };
    if name.text != "first" || !matches!(&list.kind, ExprKind::Name(name) if name == "calls") {
        return None;
    }
    let mut step = Step::default();
    let mut open = vec![&**condition];
    while let Some(condition) = open.pop() {
        match &condition.kind {
            ExprKind::Binary { operator: ast::BinaryOperator::And, left, right, .. } => {
                open.extend([&**right, &**left])
            }
            ExprKind::Test {
                subject,
                test: ast::ValueTest { kind: ast::TestKind::Equal, negated: false, operand: Some(wanted), .. },
            } => match (&subject.kind, &wanted.kind) {
                (ExprKind::Name(name), ExprKind::Text(tool)) if name == "tool" => {
                    step.tool = tool.literal()?.to_owned()
                }
                _ => step.arguments.push((argument(subject)?, (**wanted).clone())),
            },
            ExprKind::Test { .. } => {}
            _ => return None,
        }
    }
    (!step.tool.is_empty()).then_some(step)
}

/// The name of an argument: `args.name`, `args["the name"]`.
fn argument(path: &Expr) -> Option<String> {
    let (base, name) = match &path.kind {
        ExprKind::Field { base, name } => (base, name.text.clone()),
        ExprKind::Index { base, index } => match &index.kind {
            ExprKind::Text(text) => (base, text.literal()?.to_owned()),
            _ => return None,
        },
        _ => return None,
    };
    matches!(&base.kind, ExprKind::Name(name) if name == "args").then_some(name)
}

//! What is asked: the calls of invariants, in the order of the rules, and the sequences of imported packs.

use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_engine::bytecode::program::Program;
use averment_engine::ir::{GeneratedCall, InputsSpec, Module};
use averment_syntax::ast::{self, CallInput, Expr, ExprKind, ItemKind};
use averment_testing::inputs::{Found, Inputs, find};
use std::rc::Rc;

/// What is asked.
#[derive(Debug, Default)]
pub struct Plan {
    /// In order.
    pub asks: Vec<Ask>,
    /// What cannot be asked: the invariant, and why.
    pub left: Vec<(String, String)>,
    /// What is said of the inputs.
    pub found: averment_base::diagnostic::Diagnostics,
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

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub tool: String,
    pub arguments: Arguments,
    /// What later ones know it by.
    pub alias: Option<String>,
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
pub fn plan(rules: Rules<'_>, tools: &[String], limits: &Limits, chosen: impl Fn(&str) -> bool) -> Plan {
    let file = parsed(rules.text, limits);
    let mut plan = Plan::default();
    let Found { inputs, said } = find(&with_fixed(&file, rules.module), rules.program, limits, &chosen);
    plan.found = said;
    let inputs: Vec<Rc<Inputs>> = inputs.into_iter().map(Rc::new).collect();
    let mut steps: Vec<Step> = Vec::new();
    for item in &file.items {
        match &item.kind {
            ItemKind::Let { name, value } => {
                steps.extend(sequence_step(value).map(|step| Step { alias: name.text.clone(), ..step }));
            }
            ItemKind::Rule(rule) => {
                let steps = std::mem::take(&mut steps);
                if chosen(&rule.name.text) && !steps.is_empty() {
                    plan.asks.push(Ask::of_steps(&rule.name.text, steps));
                }
            }
            ItemKind::Invariant(rule) if chosen(&rule.name.text) => plan.invariant(rule, &inputs, tools),
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
    fn invariant(&mut self, rule: &ast::Rule, inputs: &[Rc<Inputs>], tools: &[String]) {
        let name = &rule.name.text;
        let plain = |item: &&ast::Item| matches!(item.kind, ItemKind::Call(_));
        let own: Vec<&ast::Item> = rule.body.iter().filter(plain).collect();
        if !own.is_empty() {
            self.of_body(name, &own, None, inputs);
        }
        for item in &rule.body {
            let ItemKind::ForEachTool { body, .. } = &item.kind else { continue };
            let own: Vec<&ast::Item> = body.iter().filter(plain).collect();
            let Some(place) = own.first().and_then(|item| tool_place(item)) else { continue };
            if own.iter().any(|item| matches!(&item.kind, ItemKind::Call(ast::Call { input: CallInput::Object(Expr { kind: ExprKind::Object(entries), .. }), tool, .. }) if tool.text == "tool" && !entries.is_empty()))
            {
                self.left.push((name.clone(), "the call of each tool has fixed arguments, and which tools it is for is known only of those without".to_owned()));
                continue;
            }
            let fitting = inputs.iter().filter(|one| at(one.place(), place) && tools.contains(&one.tool));
            let fitting: Vec<String> = fitting.map(|one| one.tool.clone()).collect();
            if fitting.is_empty() {
                self.left.push((name.clone(), "no tool of the server fits".to_owned()));
            }
            for tool in fitting {
                self.of_body(name, &own, Some(&tool), inputs);
            }
        }
    }

    /// The calls of a body, for one tool where it is for each.
    fn of_body(&mut self, name: &str, body: &[&ast::Item], each: Option<&str>, inputs: &[Rc<Inputs>]) {
        let mut calls = Vec::new();
        for item in body {
            let ItemKind::Call(call) = &item.kind else { continue };
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
                    let made = inputs.iter().find(|one| at(one.place(), call.tool.span) && one.tool == tool);
                    made.map(|made| Arguments::Made(Rc::clone(made)))
                }
            };
            let Some(arguments) = arguments else {
                self.left.push((name.to_owned(), format!("no inputs are known for `{tool}`")));
                return;
            };
            let alias = call.alias.as_ref().map(|alias| alias.text.clone());
            calls.push(Call { tool, arguments, alias });
        }
        self.asks.push(Ask { invariant: name.to_owned(), each: each.map(str::to_owned), calls });
    }
}

impl Ask {
    /// Whether one of its calls is of a tool.
    #[must_use]
    pub fn calls(&self, tool: &str) -> bool {
        self.calls.iter().any(|call| call.tool == tool)
    }

    fn of_steps(name: &str, steps: Vec<Step>) -> Self {
        let calls = steps.into_iter().map(|step| {
            let Step { tool, alias, arguments } = step;
            Call { tool, arguments: Arguments::Written(arguments), alias: Some(alias) }
        });
        Self { invariant: name.to_owned(), each: None, calls: calls.collect() }
    }
}

fn tool_place(item: &ast::Item) -> Option<Span> {
    if let ItemKind::Call(call) = &item.kind { Some(call.tool.span) } else { None }
}

fn at(one: Span, other: Span) -> bool {
    one.start == other.start
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

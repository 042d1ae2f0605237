//! Plans the calls of a probe: those of invariants in rule order, and the sequences of imported packs.

use crate::listing::ToolListing;
use crate::value::param_values;
use averment_base::diagnostic::Slug;
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap};
use averment_checker::ir::{CheckedModule, GeneratedCall, InputsSpec};
use averment_engine::bytecode::program::Program;
use averment_syntax::ast::{self, CallInput, Expr, ExprKind, ItemKind, TextPart};
use averment_testing::inputs::{CallInputs, FoundInputs, find_inputs};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The calls to make.
#[derive(Debug, Default)]
pub struct ProbePlan {
    /// The calls of each invariant, in order.
    pub asks: Vec<InvariantCalls>,
    /// Invariants that cannot be checked.
    pub left: Vec<SkippedInvariant>,
    /// Diagnostics about the inputs.
    pub found: averment_base::diagnostic::Diagnostics,
}

/// An invariant that cannot be checked; for one tool if it is `for each tool`.
#[derive(Debug)]
pub struct SkippedInvariant {
    /// Id of the invariant.
    pub invariant: String,
    /// The tool, if the invariant is `for each tool`.
    pub each: Option<String>,
    /// The reason as text.
    pub why: String,
    /// The kind of reason.
    pub gap: SkipKind,
}

/// The kinds of reasons why an invariant cannot be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipKind {
    /// No tool matches the invariant, which is not an error.
    Idle,
    /// The server does not list its tool.
    Unlisted,
    /// Its inputs cannot be generated.
    Unusable,
}

/// The calls of an invariant; for one tool if it is `for each tool`.
#[derive(Debug)]
pub struct InvariantCalls {
    /// Id of the invariant.
    pub invariant: String,
    /// The tool, if the invariant is `for each tool`.
    pub each: Option<String>,
    pub(crate) calls: Vec<PlannedCall>,
    pub(crate) params: Rc<BTreeMap<String, Value>>,
}

impl InvariantCalls {
    /// Returns true if arguments are generated, because only then can a failing input be reduced.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.arguments, CallArguments::Made(_)))
    }
}

struct PlanContext<'a> {
    tools: &'a ToolListing,
    /// Generated inputs by source offset and tool.
    inputs: BTreeMap<(u32, String), Rc<CallInputs>>,
    without_schema: BTreeSet<(u32, String)>,
    params: Rc<BTreeMap<String, Value>>,
}

#[derive(Debug, Clone)]
pub(crate) struct PlannedCall {
    pub tool: String,
    pub arguments: CallArguments,
    /// Name by which later calls refer to this one.
    pub alias: Option<String>,
    /// True if an error is expected.
    pub fails: bool,
}

/// The arguments of a call.
#[derive(Debug, Clone)]
pub enum CallArguments {
    /// Values from the rules, which may refer to earlier answers.
    Written(Vec<(String, Expr)>),
    /// Generated inputs.
    Made(Rc<CallInputs>),
}

/// A checked rule file.
#[derive(Debug, Clone, Copy)]
pub struct CheckedRules<'a> {
    /// Text of the rules.
    pub text: &'a str,
    /// The module from the checker.
    pub module: &'a CheckedModule,
    /// The program, with parameter values.
    pub program: &'a Program,
}

/// Returns the names of all tools that a text calls.
#[must_use]
pub fn called_tools(text: &str, program: &Program, limits: &Limits) -> Vec<String> {
    let params = param_values(program);
    let mut names = Vec::new();
    for item in &parse_rules(text, limits).items {
        match &item.kind {
            ItemKind::Invariant(rule) => each_call(&rule.body, false, &mut |call, is_each| {
                if !is_each {
                    names.push(tool_name(call, &params));
                }
            }),
            ItemKind::Let { value, .. } => names.extend(sequence_step(value, &params).map(|step| step.tool)),
            _ => {}
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Plans the calls for a server with these tools.
#[must_use]
pub fn plan_calls(
    rules: CheckedRules<'_>,
    tools: &ToolListing,
    limits: &Limits,
    chosen: impl Fn(&str) -> bool,
) -> ProbePlan {
    let file = parse_rules(rules.text, limits);
    let mut plan = ProbePlan::default();
    let FoundInputs { inputs, without_schema, said } =
        find_inputs(&with_fixed(&file, rules.module), rules.program, limits, &chosen);
    plan.found = said;
    // A missing schema is reported with the invariant instead.
    plan.found.0.retain(|one| one.slug != Slug::UnknownSchema);
    let inputs = inputs.into_iter().map(|one| ((one.call_span().start, one.tool.clone()), Rc::new(one)));
    let without_schema = without_schema.into_iter().map(|(place, tool)| (place.start, tool)).collect();
    let params = Rc::new(param_values(rules.program));
    let known = PlanContext { tools, inputs: inputs.collect(), without_schema, params };
    let mut steps: Vec<SequenceStep> = Vec::new();
    for item in &file.items {
        match &item.kind {
            ItemKind::Let { name, value } => {
                steps.extend(
                    sequence_step(value, &known.params).map(|step| SequenceStep { alias: name.text.clone(), ..step }),
                );
            }
            ItemKind::Rule(rule) => {
                let steps = std::mem::take(&mut steps);
                if chosen(&rule.name.text) && !steps.is_empty() {
                    plan.asks.push(InvariantCalls::from_steps(rule, steps, &known.params));
                }
            }
            ItemKind::Invariant(rule) if chosen(&rule.name.text) => plan.plan_invariant(rule, &known),
            _ => {}
        }
    }
    plan
}

fn parse_rules(text: &str, limits: &Limits) -> ast::RuleFile {
    let mut sources = SourceMap::default();
    let root: FileId = sources.add_file(SourceFile::new("rules", None, text.to_owned()));
    averment_syntax::parse(&sources, root, limits).0
}

/// Returns the module with the fixed `for each tool` calls added to the generated ones, so that their tools are found too.
fn with_fixed(file: &ast::RuleFile, module: &CheckedModule) -> CheckedModule {
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

/// Visits the calls of a body. The flag is true for a fixed call in `for each tool`.
fn each_call<'a>(body: &'a [ast::SyntaxItem], each: bool, then: &mut impl FnMut(&'a ast::InvariantCall, bool)) {
    for item in body {
        match &item.kind {
            ItemKind::Call(call) => then(call, each && call.tool.text == "tool"),
            ItemKind::ForEachTool { body, .. } => each_call(body, true, then),
            _ => {}
        }
    }
}

impl ProbePlan {
    fn plan_invariant(&mut self, rule: &ast::RuleBlock, known: &PlanContext<'_>) {
        let name = &rule.name.text;
        let own = calls_of(&rule.body);
        if !own.is_empty() {
            self.plan_body(name, &own, None, known);
        }
        for item in &rule.body {
            let ItemKind::ForEachTool { body, .. } = &item.kind else { continue };
            let own = calls_of(body);
            let Some((first, _)) = own.first() else { continue };
            if own.iter().any(|(call, _)| call.tool.text == "tool" && is_written(call)) {
                let why = "the call of each tool has fixed arguments, and which tools it is for is known only of those without";
                self.skip_invariant(name, None, SkipKind::Unusable, why.to_owned());
                continue;
            }
            let fits = |tool: &&str| {
                let place = (first.tool.span.start, (*tool).to_owned());
                known.inputs.contains_key(&place) || known.without_schema.contains(&place)
            };
            let fitting: Vec<&str> = known.tools.tool_names().filter(fits).collect();
            if fitting.is_empty() {
                let (invariant, why) = (name.clone(), "no tool of the server fits".to_owned());
                self.left.push(SkippedInvariant { invariant, each: None, why, gap: SkipKind::Idle });
            }
            for tool in fitting {
                self.plan_body(name, &own, Some(tool), known);
            }
        }
    }

    fn skip_invariant(&mut self, name: &str, each: Option<&str>, gap: SkipKind, why: String) {
        self.left.push(SkippedInvariant { invariant: name.to_owned(), each: each.map(str::to_owned), why, gap });
    }

    /// Plans the calls of a body; for one tool if it is `for each tool`.
    fn plan_body(
        &mut self,
        name: &str,
        body: &[(&ast::InvariantCall, bool)],
        each: Option<&str>,
        known: &PlanContext<'_>,
    ) {
        let mut calls = Vec::new();
        for &(call, fails) in body {
            let tool = match each {
                Some(tool) if call.tool.text == "tool" => tool.to_owned(),
                _ => tool_name(call, &known.params),
            };
            let arguments = match &call.input {
                CallInput::Object(Expr { kind: ExprKind::Object(entries), .. }) => {
                    let entries = entries.iter().map(|(name, value)| (name.text.clone(), value.clone()));
                    Some(CallArguments::Written(entries.collect()))
                }
                CallInput::Object(_) => None,
                CallInput::Generate { .. } => {
                    let made = known.inputs.get(&(call.tool.span.start, tool.clone()));
                    made.map(|made| CallArguments::Made(Rc::clone(made)))
                }
            };
            let Some(arguments) = arguments else {
                let (gap, why) = match known.tools.unusable_reason(&tool) {
                    Some(why) => (SkipKind::Unusable, why.to_owned()),
                    None if !known.tools.has_tool(&tool) => (SkipKind::Unlisted, known.tools.unlisted_reason(&tool)),
                    None => (SkipKind::Unusable, format!("no inputs are known for `{tool}`")),
                };
                return self.skip_invariant(name, each, gap, why);
            };
            let alias = call.alias.as_ref().map(|alias| alias.text.clone());
            calls.push(PlannedCall { tool, arguments, alias, fails });
        }
        let params = Rc::clone(&known.params);
        self.asks.push(InvariantCalls { invariant: name.to_owned(), each: each.map(str::to_owned), calls, params });
    }
}

/// Returns the tool name of a call, with parameter values inserted.
fn tool_name(call: &ast::InvariantCall, params: &BTreeMap<String, Value>) -> String {
    let made = call.tool_text.as_ref().and_then(|text| text_value(text, params));
    made.unwrap_or_else(|| call.tool.text.clone())
}

fn text_value(text: &ast::TextLiteral, params: &BTreeMap<String, Value>) -> Option<String> {
    let value = |part: &TextPart| match part {
        TextPart::Literal(text) => Some(text.clone()),
        TextPart::Interpolation(Expr { kind: ExprKind::Name(name), .. }) => {
            params.get(name).and_then(Value::as_str).map(str::to_owned)
        }
        TextPart::Interpolation(_) => None,
    };
    text.parts.iter().map(value).collect()
}

/// Returns the calls of a body. The flag is true if an error is expected.
fn calls_of(body: &[ast::SyntaxItem]) -> Vec<(&ast::InvariantCall, bool)> {
    let calls = (1_usize..).zip(body).filter_map(|(number, item)| match &item.kind {
        ItemKind::Call(call) => Some((call, call.expects_error(body.get(number..).unwrap_or_default()))),
        _ => None,
    });
    calls.collect()
}

fn is_written(call: &ast::InvariantCall) -> bool {
    matches!(&call.input, CallInput::Object(Expr { kind: ExprKind::Object(entries), .. }) if !entries.is_empty())
}

impl InvariantCalls {
    /// Returns true if the invariant calls this tool.
    #[must_use]
    pub fn calls_tool(&self, tool: &str) -> bool {
        self.calls.iter().any(|call| call.tool == tool)
    }

    /// Returns the called tools that the server does not list, except those of calls that expect an error.
    pub fn unlisted_tools(&self, tools: &ToolListing) -> impl Iterator<Item = &str> {
        self.calls.iter().filter(|call| !call.fails && !tools.has_tool(&call.tool)).map(|call| call.tool.as_str())
    }

    fn from_steps(rule: &ast::RuleBlock, steps: Vec<SequenceStep>, params: &Rc<BTreeMap<String, Value>>) -> Self {
        let calls = steps.into_iter().map(|step| {
            let SequenceStep { tool, alias, arguments } = step;
            let fails = rule.body.iter().any(|item| says_that_it_fails(item, &alias));
            PlannedCall { tool, arguments: CallArguments::Written(arguments), alias: Some(alias), fails }
        });
        let params = Rc::clone(params);
        Self { invariant: rule.name.text.clone(), each: None, calls: calls.collect(), params }
    }
}

/// Returns true for `is_error(answer(STEP))`, which the import writes for pack steps that must fail.
fn says_that_it_fails(item: &ast::SyntaxItem, step: &str) -> bool {
    let ItemKind::Assertion(assertion) = &item.kind else { return false };
    let ast::StatementKind::Expression(said) = &assertion.statement.kind else { return false };
    let inner = argument_of(said, "is_error").and_then(|answer| argument_of(answer, "answer"));
    inner.is_some_and(|inner| matches!(&inner.kind, ExprKind::Name(name) if name == step))
}

fn argument_of<'a>(expr: &'a Expr, function: &str) -> Option<&'a Expr> {
    match &expr.kind {
        ExprKind::Call { name, arguments, .. } if name.text == function => arguments.first(),
        _ => None,
    }
}

#[derive(Default)]
struct SequenceStep {
    tool: String,
    alias: String,
    arguments: Vec<(String, Expr)>,
}

/// Returns the call that `first(calls where …)` searches for, which the import writes for the steps of packs.
fn sequence_step(value: &Expr, params: &BTreeMap<String, Value>) -> Option<SequenceStep> {
    let ExprKind::Call { name, arguments, .. } = &value.kind else { return None };
    let [Expr { kind: ExprKind::Filtered { list, condition }, .. }] = arguments.as_slice() else { return None };
    if name.text != "first" || !matches!(&list.kind, ExprKind::Name(name) if name == "calls") {
        return None;
    }
    let mut step = SequenceStep::default();
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
                (ExprKind::Name(name), ExprKind::Text(tool)) if name == "tool" => step.tool = text_value(tool, params)?,
                _ => step.arguments.push((argument_name(subject)?, (**wanted).clone())),
            },
            ExprKind::Test { .. } => {}
            _ => return None,
        }
    }
    (!step.tool.is_empty()).then_some(step)
}

fn argument_name(path: &Expr) -> Option<String> {
    let (base, name) = match &path.kind {
        ExprKind::Field { base, name } => (base, name.text.clone()),
        ExprKind::Index { base, index } => match &index.kind {
            ExprKind::Text(text) => (base, text.literal_text()?.to_owned()),
            _ => return None,
        },
        _ => return None,
    };
    matches!(&base.kind, ExprKind::Name(name) if name == "args").then_some(name)
}

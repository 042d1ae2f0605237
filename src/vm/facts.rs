//! Checks of the world: first what the run has recorded, then what may be looked at.

use super::context::{Context, Scope};
use super::fault::Fault;
use super::machine::Machine;
use super::outcome::{Evidence, Finding, Role};
use super::world::{FileState, Permissions};
use crate::bytecode::program::CodeId;
use crate::ir::World;
use crate::trace::run::Kind;
use crate::truth::{Truth, Verdict};
use crate::value::{Node, Text, Value};

/// Judges a check of the world.
pub(super) fn judge<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    world: &World<CodeId>,
    context: &Context<'run>,
) -> Result<Finding, Fault> {
    match world {
        World::File { path, test } => file(machine, permissions, *path, *test, context),
        World::Env { name, negated } => environment(machine, permissions, name, *negated),
        World::Tool { name, negated } => Ok(tool(machine, name, *negated)),
        World::Http { url, test } => http(machine, *url, *test, context),
        World::Run { arguments, code } => command(machine, permissions, arguments, *code, context),
    }
}

/// A text that a check is about; a finding where it is none.
fn text<'run>(
    machine: &mut Machine<'run>,
    code: CodeId,
    scope: &Scope<'_, 'run>,
) -> Result<Result<&'run str, Finding>, Fault> {
    let node = machine.evaluate(code, scope)?;
    Ok(match node.value {
        Value::Text(text) => Ok(text.as_str()),
        Value::Absent => {
            let explanation = machine.describe_code(code, &node);
            Err(Finding::new(Verdict::Undecided, explanation))
        }
        _ => {
            let explanation = machine.describe_code(code, &node);
            Err(Finding::new(Verdict::Fail, format!("{explanation}, which is no text")))
        }
    })
}

fn file<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    path: CodeId,
    test: CodeId,
    context: &Context<'run>,
) -> Result<Finding, Fault> {
    let path = match text(machine, path, &context.scope())? {
        Ok(path) => path,
        Err(finding) => return Ok(finding),
    };
    let node = match recorded_file(machine, path) {
        Some(node) => node,
        None => match permissions.file(path)? {
            FileState::Missing => Node::computed(Value::Missing),
            FileState::Folder => Node::computed(Value::Null),
            FileState::Text(text) => {
                machine.meter.allocate(text.len())?;
                Node::computed(Value::Text(Text::Plain(machine.arena.alloc_str(&text))))
            }
        },
    };
    let truth = machine.truth(test, &context.scope().with_locals(&[node]))?;
    Ok(answer(truth, || match node.value {
        Value::Missing => format!("the file `{path}` does not exist"),
        Value::Text(text) => {
            format!("the file `{path}` holds {} bytes and does not meet the test", text.as_str().len())
        }
        _ => format!("`{path}` does not meet the test"),
    }))
}

/// The text of a file in `files`: its value, or the `content` or `text` of an object that describes it. A run that records files
/// says with that which there are not; `None` when it records none.
fn recorded_file<'run>(machine: &Machine<'run>, path: &str) -> Option<Node<'run>> {
    let Value::Object(files) = machine.run.root("files").value else { return None };
    let node = files.get(path).unwrap_or(Node::computed(Value::Missing));
    Some(match node.value {
        Value::Object(file) => file.get("content").or_else(|| file.get("text")).unwrap_or(node),
        _ => node,
    })
}

fn environment(machine: &Machine<'_>, permissions: &Permissions, name: &str, negated: bool) -> Result<Finding, Fault> {
    let recorded = match machine.run.root("env").value {
        // A run that records its environment says with that what is not set.
        Value::Object(env) => Some(env.get(name).is_some_and(|node| !matches!(node.value, Value::Null))),
        _ => None,
    };
    let set = match recorded {
        Some(set) => set,
        None => permissions.variable_is_set(name)?,
    };
    let word = if set { "is set" } else { "is not set" };
    Ok(answer(Truth::from_bool(set != negated), || format!("the environment variable `{name}` {word}")))
}

/// A tool of `tools`: a name, or an object with one.
fn tool(machine: &Machine<'_>, name: &str, negated: bool) -> Finding {
    let available = match machine.run.root("tools").value {
        Value::List(tools) => tools.iter().any(|tool| tool_name(tool) == Some(name)),
        Value::Object(tools) => tools.get(name).is_some(),
        _ => {
            let reason = "the run does not record which tools it had (`tools`)";
            return Finding::new(Verdict::Undecided, reason);
        }
    };
    let word = if available { "is available" } else { "is not available" };
    answer(Truth::from_bool(available != negated), || format!("the tool `{name}` {word}"))
}

fn tool_name<'run>(tool: &Node<'run>) -> Option<&'run str> {
    let named = |node: Node<'run>| match node.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    };
    match tool.value {
        Value::Object(object) => {
            let function = object.get("function").and_then(|function| match function.value {
                Value::Object(function) => function.get("name"),
                _ => None,
            });
            object.get("name").or(function).and_then(named)
        }
        _ => named(*tool),
    }
}

/// Every request whose URL fits meets the test, and there is one at least.
fn http<'run>(
    machine: &mut Machine<'run>,
    url: CodeId,
    test: CodeId,
    context: &Context<'run>,
) -> Result<Finding, Fault> {
    if !machine.run.records(Kind::Http) {
        return Ok(Finding::new(Verdict::Undecided, "the run does not record requests (`http`)"));
    }
    let wanted = machine.evaluate(url, &context.scope())?;
    let steps = machine.run.steps;
    let (mut truth, mut evidence, mut seen) = (Truth::True, Vec::new(), false);
    for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.kind == Kind::Http) {
        machine.spend(1 + step.name.len() as u64 / 16)?;
        if !fits(machine, &wanted, step.name) {
            continue;
        }
        seen = true;
        let status = step.object.get("status").unwrap_or(Node::computed(Value::Missing));
        let one = machine.truth(test, &context.scope().with_locals(&[status]))?;
        if one != Truth::True {
            let shown = crate::value::json::to_json(&status.value);
            evidence.push(Evidence {
                role: Role::Decisive,
                label: format!("the request to `{}` has the status {shown}", step.name),
                step: u32::try_from(at).ok(),
                path: super::locate::pointer(machine.run, &status).unwrap_or_default(),
                value: Some(shown),
                origin: status.origin.range().or_else(|| step.node.origin.range()),
                rule_span: None,
            });
        }
        truth = truth.and(one);
    }
    if !seen {
        return Ok(Finding::new(Verdict::Fail, "no request has such a URL"));
    }
    let reason = evidence.first().map(|first: &Evidence| first.label.clone()).unwrap_or_default();
    let mut finding = answer(truth, || reason);
    finding.evidence = if finding.verdict == Verdict::Pass { Vec::new() } else { evidence };
    Ok(finding)
}

fn fits(machine: &Machine<'_>, wanted: &Node<'_>, url: &str) -> bool {
    match wanted.value {
        Value::Text(part) => url.contains(part.as_str()),
        Value::Regex(number) => machine.prepared.regex(number).is_some_and(|regex| regex.is_match(url)),
        _ => false,
    }
}

/// Runs a command; every argument is one argument, whatever stands in it.
fn command<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    arguments: &[CodeId],
    code: i64,
    context: &Context<'run>,
) -> Result<Finding, Fault> {
    let mut words = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match text(machine, *argument, &context.scope())? {
            Ok(word) => words.push(word.to_owned()),
            Err(finding) => return Ok(finding),
        }
    }
    let outcome = permissions.command(&words)?;
    let mut finding =
        answer(Truth::from_bool(outcome.code == code), || format!("the command exits {}, not {code}", outcome.code));
    if finding.verdict != Verdict::Pass && !outcome.output.is_empty() {
        finding.evidence.push(Evidence {
            role: Role::Value,
            label: "what the command wrote".to_owned(),
            value: serde_json::to_string(&outcome.output).ok(),
            ..Evidence::default()
        });
    }
    Ok(finding)
}

fn answer(truth: Truth, reason: impl FnOnce() -> String) -> Finding {
    let verdict = truth.verdict();
    if verdict == Verdict::Pass { Finding::new(verdict, "") } else { Finding::new(verdict, reason()) }
}

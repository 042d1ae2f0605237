//! Checks of the world: first what the run has recorded, then what may be looked at.

use super::context::{Context, ExpressionScope};
use super::describe::shortened;
use super::fault::Fault;
use super::machine::Machine;
use super::outcome::{Evidence, Finding, Role};
use super::recorded::{self, Recorded};
use super::world::{FileState, Permissions, VariableState};
use crate::bytecode::program::CodeId;
use crate::ir::{FileLook, World};
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Node, Text, Value};
use averment_runs::run::Kind;

/// Judges a check of the world.
pub(super) fn judge<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    world: &World<CodeId>,
    context: &Context<'run>,
) -> Result<Finding, Fault> {
    match world {
        World::File { path, test, look } => file(machine, permissions, *path, *test, *look, context),
        World::Env { name, empty, negated } => environment(machine, permissions, name, *empty, *negated),
        World::Tool { name, negated } => Ok(tool(machine, name, *negated)),
        World::Http { url, test } => http(machine, *url, *test, context),
        World::Run { arguments, code } => command(machine, permissions, arguments, *code, context),
    }
}

/// A text that a check is about; a finding where it is none.
fn text<'run>(
    machine: &mut Machine<'run>,
    code: CodeId,
    scope: &ExpressionScope<'_, 'run>,
) -> Result<Result<&'run str, Finding>, Fault> {
    let node = machine.evaluate(code, scope)?;
    Ok(match node.value {
        Value::Text(text) => Ok(text.as_str()),
        Value::Absent => {
            let explanation = machine.describe_code(code, &node);
            Err(Finding::new(Verdict::Undecided, explanation))
        }
        Value::Missing => {
            let part = machine.missing_part(code, scope).unwrap_or_else(|| machine.code_text(code));
            Err(Finding::new(Verdict::Fail, format!("`{part}` is missing")))
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
    look: FileLook,
    context: &Context<'run>,
) -> Result<Finding, Fault> {
    let named = machine.code_text(path);
    let path = match text(machine, path, &context.scope())? {
        Ok(path) => path,
        Err(finding) => return Ok(finding),
    };
    let recorded = recorded::file(machine.run, path, look);
    let node = match recorded {
        Recorded::Known(node) => node,
        Recorded::Unknown => {
            return Ok(Finding::new(Verdict::Undecided, format!("the run does not record whether there is `{path}`")));
        }
        Recorded::Nothing => found_file(machine, permissions, path, look)?,
    };
    let truth = machine.truth(test, &context.scope().with_locals(&[node]))?;
    let whole = machine.code_text(test);
    let wanted = whole.strip_prefix(&named).unwrap_or(&whole).trim_start();
    Ok(answer(truth, || match node.value {
        // Nobody looked at the disk: the run says which files there were.
        Value::Missing if matches!(recorded, Recorded::Known(_)) => format!("the run records no file `{path}`"),
        Value::Missing => format!("the file `{path}` does not exist"),
        Value::Absent => format!("the run records that `{path}` exists, but not what it holds"),
        Value::Text(text) if look == FileLook::Text => {
            format!("the text of the file `{path}`, {} bytes, does not meet `{wanted}`", text.as_str().len())
        }
        Value::Text(text) if text.as_str().is_empty() => format!("the file `{path}` is empty"),
        Value::List(names) if look != FileLook::Presence => {
            let count = names.len();
            format!("`{path}` is a folder with {count} {} in it", if count == 1 { "file" } else { "files" })
        }
        _ if look == FileLook::Presence => format!("`{path}` exists"),
        _ => format!("`{path}` does not meet `{wanted}`"),
    }))
}

/// What stands for a file that was found: its text, the names in a folder, a sign where nobody asked for the text.
fn found_file<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    path: &str,
    look: FileLook,
) -> Result<Node<'run>, Fault> {
    Ok(Node::computed(match permissions.file(path, look)? {
        FileState::Missing => Value::Missing,
        FileState::Unread(_) => Value::Boolean(true),
        FileState::Text(text) => {
            machine.meter.allocate(text.len())?;
            Value::Text(Text::Plain(machine.arena.alloc_str(&text)))
        }
        FileState::Folder(names) => {
            machine.meter.allocate(names.iter().map(|name| name.len() + size_of::<Node<'_>>()).sum())?;
            let arena = machine.arena;
            let name = |name: &String| Node::computed(Value::Text(Text::Plain(arena.alloc_str(name))));
            Value::List(arena.alloc_slice_fill_iter(names.iter().map(name)))
        }
    }))
}

fn environment(
    machine: &Machine<'_>,
    permissions: &Permissions,
    name: &str,
    empty: bool,
    negated: bool,
) -> Result<Finding, Fault> {
    let state = match machine.run.root("env").value {
        // A run that records its environment says with that what is not set.
        Value::Object(env) => recorded::variable(env.get(name)),
        _ => permissions.variable(name)?,
    };
    let holds = if empty { state != VariableState::Filled } else { state != VariableState::Unset };
    let word = match state {
        VariableState::Unset => "is not set",
        VariableState::Empty => "is set to an empty text",
        VariableState::Filled => "is set",
    };
    Ok(answer(Truth::from_bool(holds != negated), || format!("the environment variable `{name}` {word}")))
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
    answer(Truth::from_bool(available != negated), || match available {
        true => format!("the tool `{name}` {word}"),
        false => format!("the tool `{name}` {word}: {}", had(machine)),
    })
}

/// The tools that a run had, in words.
fn had(machine: &Machine<'_>) -> String {
    const NAMED: usize = 5;
    let names: Vec<String> = match machine.run.root("tools").value {
        Value::List(tools) => tools.iter().filter_map(tool_name).map(str::to_owned).collect(),
        Value::Object(tools) => tools.entries().iter().map(|entry| entry.key.to_owned()).collect(),
        _ => Vec::new(),
    };
    let named: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{}`", shortened(name))).collect();
    match names.len().saturating_sub(NAMED) {
        _ if names.is_empty() => "the run had none".to_owned(),
        0 => format!("the run had {}", named.join(", ")),
        more => format!("the run had {} and {more} more", named.join(", ")),
    }
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
        if !fits(machine, &wanted, step.name)? {
            continue;
        }
        seen = true;
        let status = step.object.get("status").unwrap_or(Node::computed(Value::Missing));
        let one = machine.truth(test, &context.scope().with_locals(&[status]))?;
        if one != Truth::True {
            let shown = averment_base::value::json::to_json(&status.value);
            evidence.push(Evidence {
                role: Role::Decisive,
                label: match status.value {
                    Value::Absent | Value::Missing => format!("the request to `{}` records no status", step.name),
                    _ => format!("the request to `{}` has the status {shown}", step.name),
                },
                step: u32::try_from(at).ok(),
                path: super::locate::pointer(machine.run, &status).unwrap_or_default(),
                value: Some(shown),
                origin: status.origin.range().or_else(|| step.node.origin.range()),
                ..Evidence::default()
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

fn fits<'run>(machine: &mut Machine<'run>, wanted: &Node<'run>, url: &'run str) -> Result<bool, Fault> {
    match wanted.value {
        Value::Text(part) => Ok(url.contains(part.as_str())),
        Value::Regex(_) => Ok(machine.matches(&Value::Text(Text::Plain(url)), &wanted.value)?.unwrap_or(false)),
        _ => Ok(false),
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
    let outcome = match recorded::command(machine.run, &words) {
        Recorded::Known(outcome) => outcome?,
        Recorded::Unknown => {
            let reason = format!("the run does not record how `{}` ended", shortened(&words.join(" ")));
            return Ok(Finding::new(Verdict::Undecided, reason));
        }
        Recorded::Nothing => permissions.command(&words)?,
    };
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

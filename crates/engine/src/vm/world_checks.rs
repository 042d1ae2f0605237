//! Checks of the world: first what the run has recorded, then what may be looked at.

use super::context::{ExpressionScope, JudgeContext};
use super::fault::Fault;
use super::machine::Machine;
use super::outcome::{CheckFinding, Role, VerdictEvidence};
use super::recorded_world::{self, RecordedFact};
use super::why::describe::shorten_text;
use super::world::{FileState, Permissions, VariableState};
use crate::bytecode::program::CodeId;
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Node, Value, ValueText};
use averment_checker::ir::{FileLook, WorldCondition};
use averment_runs::run::StepKind;

pub(super) fn judge_world<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    world: &WorldCondition<CodeId>,
    context: &JudgeContext<'run>,
) -> Result<CheckFinding, Fault> {
    match world {
        WorldCondition::File { path, test, look } => judge_file(machine, permissions, *path, *test, *look, context),
        WorldCondition::Env { name, empty, negated } => judge_environment(machine, permissions, name, *empty, *negated),
        WorldCondition::Tool { name, negated } => Ok(judge_tool(machine, name, *negated)),
        WorldCondition::Http { url, test } => judge_http(machine, *url, *test, context),
        WorldCondition::Run { arguments, code } => judge_command(machine, permissions, arguments, *code, context),
    }
}

fn check_text<'run>(
    machine: &mut Machine<'run>,
    code: CodeId,
    scope: &ExpressionScope<'_, 'run>,
) -> Result<Result<&'run str, CheckFinding>, Fault> {
    let node = machine.evaluate_code(code, scope)?;
    Ok(match node.value {
        Value::Text(text) => Ok(text.as_str()),
        Value::Absent => {
            let explanation = machine.describe_code(code, &node);
            Err(CheckFinding::new(Verdict::Undecided, explanation))
        }
        Value::Missing => {
            let part = machine.missing_part(code, scope).unwrap_or_else(|| machine.code_text(code));
            Err(CheckFinding::new(Verdict::Fail, format!("`{part}` is missing")))
        }
        _ => {
            let explanation = machine.describe_code(code, &node);
            Err(CheckFinding::new(Verdict::Fail, format!("{explanation}, which is no text")))
        }
    })
}

fn judge_file<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    path: CodeId,
    test: CodeId,
    look: FileLook,
    context: &JudgeContext<'run>,
) -> Result<CheckFinding, Fault> {
    let named = machine.code_text(path);
    let path = match check_text(machine, path, &context.expression_scope())? {
        Ok(path) => path,
        Err(finding) => return Ok(finding),
    };
    let recorded = recorded_world::recorded_file(machine.run, path, look);
    let node = match recorded {
        RecordedFact::Known(node) => node,
        RecordedFact::Unknown => {
            return Ok(CheckFinding::new(
                Verdict::Undecided,
                format!("the run does not record whether there is `{path}`"),
            ));
        }
        RecordedFact::Nothing => found_file(machine, permissions, path, look)?,
    };
    let truth = machine.evaluate_truth(test, &context.expression_scope().with_locals(&[node]))?;
    let whole = machine.code_text(test);
    let wanted = whole.strip_prefix(&named).unwrap_or(&whole).trim_start();
    Ok(truth_finding(truth, || match node.value {
        // Nobody looked at the disk: the run says which files there were.
        Value::Missing if matches!(recorded, RecordedFact::Known(_)) => format!("the run records no file `{path}`"),
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

/// The value of a file: its text, a folder's names, or a placeholder if the text is not needed.
fn found_file<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    path: &str,
    look: FileLook,
) -> Result<Node<'run>, Fault> {
    Ok(Node::computed(match permissions.file_state(path, look)? {
        FileState::Missing => Value::Missing,
        FileState::Unread(_) => Value::Boolean(true),
        FileState::Text(text) => {
            machine.meter.charge_memory(text.len())?;
            Value::Text(ValueText::Plain(machine.arena.alloc_str(&text)))
        }
        FileState::Folder(names) => {
            machine.meter.charge_memory(names.iter().map(|name| name.len() + size_of::<Node<'_>>()).sum())?;
            let arena = machine.arena;
            let name = |name: &String| Node::computed(Value::Text(ValueText::Plain(arena.alloc_str(name))));
            Value::List(arena.alloc_slice_fill_iter(names.iter().map(name)))
        }
    }))
}

fn judge_environment(
    machine: &Machine<'_>,
    permissions: &Permissions,
    name: &str,
    empty: bool,
    negated: bool,
) -> Result<CheckFinding, Fault> {
    let state = match machine.run.root_value("env").value {
        // A run that records its environment says with that what is not set.
        Value::Object(env) => recorded_world::recorded_variable(env.get(name)),
        _ => permissions.variable_state(name)?,
    };
    let holds = if empty { state != VariableState::Filled } else { state != VariableState::Unset };
    let word = match state {
        VariableState::Unset => "is not set",
        VariableState::Empty => "is set to an empty text",
        VariableState::Filled => "is set",
    };
    Ok(truth_finding(Truth::from_bool(holds != negated), || format!("the environment variable `{name}` {word}")))
}

/// An entry of `tools`: a name, or an object with one.
fn judge_tool(machine: &Machine<'_>, name: &str, negated: bool) -> CheckFinding {
    let available = match machine.run.root_value("tools").value {
        Value::List(tools) => tools.iter().any(|tool| tool_name(tool) == Some(name)),
        Value::Object(tools) => tools.get(name).is_some(),
        _ => {
            let reason = "the run does not record which tools it had (`tools`)";
            return CheckFinding::new(Verdict::Undecided, reason);
        }
    };
    let word = if available { "is available" } else { "is not available" };
    truth_finding(Truth::from_bool(available != negated), || match available {
        true => format!("the tool `{name}` {word}"),
        false => format!("the tool `{name}` {word}: {}", tools_text(machine)),
    })
}

fn tools_text(machine: &Machine<'_>) -> String {
    const NAMED: usize = 5;
    let names: Vec<String> = match machine.run.root_value("tools").value {
        Value::List(tools) => tools.iter().filter_map(tool_name).map(str::to_owned).collect(),
        Value::Object(tools) => tools.entries().iter().map(|entry| entry.key.to_owned()).collect(),
        _ => Vec::new(),
    };
    let named: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{}`", shorten_text(name))).collect();
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

/// At least one request has a fitting URL, and all of these meet the test.
fn judge_http<'run>(
    machine: &mut Machine<'run>,
    url: CodeId,
    test: CodeId,
    context: &JudgeContext<'run>,
) -> Result<CheckFinding, Fault> {
    if !machine.run.records_kind(StepKind::Http) {
        return Ok(CheckFinding::new(Verdict::Undecided, "the run does not record requests (`http`)"));
    }
    let wanted = machine.evaluate_code(url, &context.expression_scope())?;
    let steps = machine.run.steps;
    let (mut truth, mut evidence, mut seen) = (Truth::True, Vec::new(), false);
    for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.kind == StepKind::Http) {
        machine.spend(1 + step.name.len() as u64 / 16)?;
        if !fits_url(machine, &wanted, step.name)? {
            continue;
        }
        seen = true;
        let status = step.object.get("status").unwrap_or(Node::computed(Value::Missing));
        let one = machine.evaluate_truth(test, &context.expression_scope().with_locals(&[status]))?;
        if one != Truth::True {
            let shown = averment_base::value::json::to_json(&status.value);
            evidence.push(VerdictEvidence {
                role: Role::Decisive,
                label: match status.value {
                    Value::Absent | Value::Missing => format!("the request to `{}` records no status", step.name),
                    _ => format!("the request to `{}` has the status {shown}", step.name),
                },
                step: u32::try_from(at).ok(),
                path: super::locate::node_pointer(machine.run, &status).unwrap_or_default(),
                value: Some(shown),
                origin: status.origin.byte_range().or_else(|| step.node.origin.byte_range()),
                ..VerdictEvidence::default()
            });
        }
        truth = truth.and(one);
    }
    if !seen {
        return Ok(CheckFinding::new(Verdict::Fail, "no request has such a URL"));
    }
    let reason = evidence.first().map(|first: &VerdictEvidence| first.label.clone()).unwrap_or_default();
    let mut finding = truth_finding(truth, || reason);
    finding.evidence = if finding.verdict == Verdict::Pass { Vec::new() } else { evidence };
    Ok(finding)
}

fn fits_url<'run>(machine: &mut Machine<'run>, wanted: &Node<'run>, url: &'run str) -> Result<bool, Fault> {
    match wanted.value {
        Value::Text(part) => Ok(url.contains(part.as_str())),
        Value::Regex(_) => {
            Ok(machine.matches_regex(&Value::Text(ValueText::Plain(url)), &wanted.value)?.unwrap_or(false))
        }
        _ => Ok(false),
    }
}

/// Arguments are never split.
fn judge_command<'run>(
    machine: &mut Machine<'run>,
    permissions: &Permissions,
    arguments: &[CodeId],
    code: i64,
    context: &JudgeContext<'run>,
) -> Result<CheckFinding, Fault> {
    let mut words = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match check_text(machine, *argument, &context.expression_scope())? {
            Ok(word) => words.push(word.to_owned()),
            Err(finding) => return Ok(finding),
        }
    }
    let outcome = match recorded_world::recorded_command(machine.run, &words) {
        RecordedFact::Known(outcome) => outcome?,
        RecordedFact::Unknown => {
            let reason = format!("the run does not record how `{}` ended", shorten_text(&words.join(" ")));
            return Ok(CheckFinding::new(Verdict::Undecided, reason));
        }
        RecordedFact::Nothing => permissions.run_command(&words)?,
    };
    let mut finding = truth_finding(Truth::from_bool(outcome.code == code), || {
        format!("the command exits {}, not {code}", outcome.code)
    });
    if finding.verdict != Verdict::Pass && !outcome.output.is_empty() {
        finding.evidence.push(VerdictEvidence {
            role: Role::Value,
            label: "what the command wrote".to_owned(),
            value: serde_json::to_string(&outcome.output).ok(),
            ..VerdictEvidence::default()
        });
    }
    Ok(finding)
}

fn truth_finding(truth: Truth, reason: impl FnOnce() -> String) -> CheckFinding {
    let verdict = truth.verdict();
    if verdict == Verdict::Pass { CheckFinding::new(verdict, "") } else { CheckFinding::new(verdict, reason()) }
}

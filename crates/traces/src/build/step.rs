//! One step: its fields, checked, completed and marked where the run does not record them.

use super::fields::{Fields, required, wrong_type};
use super::{Builder, Lists, agents, status};
use crate::adapt::content;
use crate::error::Placed;
use crate::time;
use averment_base::limits::Limits;
use averment_base::value::{Entry, Node, Number, Object, Origin, Text, Value};
use averment_runs::command;
use averment_runs::normal::{MAIN_AGENT, of_step};
use averment_runs::run::{Kind, Status, Step};

/// What the run records about its calls at all, and whether it names agents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    results: bool,
    args: bool,
    agents: bool,
}

impl Evidence {
    pub(super) fn of(lists: &Lists<'_>) -> Self {
        let calls = lists.get(Kind::Call as usize).map(|list| list.items.as_slice()).unwrap_or_default();
        let any = |keys: &[&str]| calls.iter().any(|call| has_any(call, keys));
        let hands_over = lists.get(Kind::Handover as usize).is_some_and(|list| !list.items.is_empty());
        let agents = || lists.iter().flat_map(|list| &list.items).any(agents::names_agent);
        Self { results: any(&of_step::OUTCOME), args: any(&[of_step::ARGS]), agents: hands_over || agents() }
    }
}

fn has_any(call: &Node<'_>, keys: &[&str]) -> bool {
    matches!(call.value, Value::Object(object) if records_any(object.entries(), keys))
}

/// Whether one of some fields of a call is recorded. A result may be `null`; of the others that says that nothing is known.
pub(crate) fn records_any(fields: &[Entry<'_>], keys: &[&str]) -> bool {
    let is_known = |entry: &Entry<'_>| match entry.node.value {
        Value::Absent => false,
        Value::Null => !of_step::UNKNOWN_AS_NULL.contains(&entry.key),
        _ => true,
    };
    fields.iter().any(|entry| keys.contains(&entry.key) && is_known(entry))
}

/// Start and turn of a recorded step, for the order. What somebody else's program wrote in place of a time is none.
pub(super) fn start_and_turn(node: &Node<'_>, of_format: bool) -> Result<(Option<f64>, Option<u32>), Placed> {
    let Value::Object(object) = node.value else { return Ok((None, None)) };
    let known = |key| object.get(key).filter(|node: &Node<'_>| !matches!(node.value, Value::Null | Value::Absent));
    let start = known(of_step::START).filter(|node| !time::is_in_seconds(&node.value));
    let start = start.filter(|node| !of_format || time::milliseconds(&node.value).is_some());
    let start = start.map(|node| instant(node, of_step::START)).transpose()?;
    let turn = known(of_step::TURN).map(turn).transpose()?;
    Ok((start, turn))
}

fn instant(node: Node<'_>, field: &str) -> Result<f64, Placed> {
    time::milliseconds(&node.value).ok_or_else(|| {
        Placed::new(
            node.origin,
            format!("the `{field}` of a step is no point in time"),
            "write RFC 3339 text such as `2025-01-31T12:00:00Z`, or milliseconds",
        )
    })
}

fn turn(node: Node<'_>) -> Result<u32, Placed> {
    let number = match node.value {
        Value::Number(number) => number.as_i64().and_then(|number| u32::try_from(number).ok()),
        _ => None,
    };
    number.ok_or_else(|| wrong_type(node, "a step", of_step::TURN, "a whole number, not negative"))
}

/// Builds a step from what is recorded. Its call position is set by the caller.
pub(super) fn step<'run>(
    builder: &mut Builder<'run>,
    kind: Kind,
    node: Node<'run>,
    index: u32,
    evidence: Evidence,
) -> Result<Step<'run>, Placed> {
    let mut fields = Fields::of(kind, recorded_fields(builder, kind, node)?);
    let (start, end) = times(builder, &mut fields)?;
    let turn = fields.known(of_step::TURN).map(self::turn).transpose()?;
    let place = Value::Number(Number::Integer(i64::from(index)));
    fields.set(of_step::INDEX, Node { value: place, origin: node.origin });
    fields.set(of_step::KIND, Node::computed(Value::plain(kind.as_str())));
    if evidence.agents && fields.known(of_step::AGENT).is_none() {
        fields.set(of_step::AGENT, Node::computed(Value::plain(MAIN_AGENT)));
    }
    let (name, status) = match kind {
        Kind::Call => call(builder, &mut fields, node.origin, evidence)?,
        Kind::Message => message(builder, &mut fields, node.origin)?,
        Kind::Command => shell_command(builder, &mut fields, node.origin)?,
        Kind::Read | Kind::Write => file(builder, &mut fields, kind, node.origin)?,
        Kind::Skill => (required(&fields, of_step::NAME, "a skill", node.origin)?, Status::Unknown),
        Kind::Http => http(&mut fields, node.origin)?,
        Kind::Span => span(builder, &mut fields, node.origin)?,
        Kind::Handover => (agents::handover(builder, &mut fields, node.origin)?, Status::Unknown),
    };
    fields.absent(&[of_step::START, of_step::END, of_step::DURATION, of_step::TURN, of_step::OK]);
    let object = fields.into_object(builder.arena);
    let node = Node::new(Value::Object(object), node.origin);
    Ok(Step { kind, name, status, object, node, index, call_position: 0, turn, start, end })
}

/// The entries of a step. Where one field is enough, its text alone may stand for the step.
fn recorded_fields<'run>(builder: &Builder<'run>, kind: Kind, node: Node<'run>) -> Result<&'run [Entry<'run>], Placed> {
    let short = kind.short_field();
    match (node.value, short) {
        (Value::Object(object), _) => Ok(object.entries()),
        (Value::Text(_), Some(key)) => Ok(builder.arena.alloc([Entry { key, node }])),
        (_, short) => {
            let found = node.value.type_name();
            let or_text = if short.is_some() { " or text" } else { "" };
            let list = kind.list_key();
            Err(Placed::new(
                node.origin,
                format!("an element of `{list}` must be an object{or_text}, found {found}"),
                format!("write `{{ {}: … }}`", kind.fields().first().copied().unwrap_or(of_step::NAME)),
            ))
        }
    }
}

/// What is said of a time of a format that is none: one field of many is no reason to refuse the run.
const NO_TIME: &str = "the time of a step is no point in time: it counts as not recorded";

/// Start and end in milliseconds; duration and end are completed from each other.
fn times(builder: &mut Builder<'_>, fields: &mut Fields<'_>) -> Result<(Option<f64>, Option<f64>), Placed> {
    for field in [of_step::START, of_step::END] {
        let Some(node) = fields.known(field) else { continue };
        let odd = match node.value {
            value if time::is_in_seconds(&value) => time::IN_SECONDS,
            value if builder.of_format && time::milliseconds(&value).is_none() => NO_TIME,
            _ => continue,
        };
        builder.warn_once(node.origin, odd);
        fields.clear(field);
    }
    if let Some(node) = fields.known(of_step::DURATION).filter(|node| super::root::is_negative(node.value)) {
        builder.warn_once(node.origin, "the `duration` of a step is below 0: it counts as not recorded");
        fields.clear(of_step::DURATION);
    }
    let start = fields.known(of_step::START).map(|node| instant(node, of_step::START)).transpose()?;
    let mut end = fields.known(of_step::END).map(|node| instant(node, of_step::END)).transpose()?;
    let mut duration = fields.known(of_step::DURATION).map(duration).transpose()?;
    if let Some(start) = start {
        end = end.or_else(|| duration.map(|duration| start + duration));
        duration = duration.or_else(|| end.map(|end| end - start));
    }
    for (field, value) in [(of_step::START, start), (of_step::END, end), (of_step::DURATION, duration)] {
        match (value, fields.get(field)) {
            (Some(_), Some(Node { value: Value::Number(_), .. })) => {}
            (Some(value), Some(node)) => fields.set(field, Node::new(time::value(value), node.origin)),
            (Some(value), None) => fields.set(field, Node::computed(time::value(value))),
            (None, _) => fields.clear(field),
        }
    }
    if fields.get(of_step::TURN).is_some_and(|node| matches!(node.value, Value::Null)) {
        fields.clear(of_step::TURN);
    }
    Ok((start, end))
}

fn duration(node: Node<'_>) -> Result<f64, Placed> {
    match node.value {
        Value::Number(number) if number.to_f64().is_finite() => Ok(number.to_f64()),
        _ => Err(wrong_type(node, "a step", of_step::DURATION, "a number of milliseconds")),
    }
}

fn call<'run>(
    builder: &mut Builder<'run>,
    fields: &mut Fields<'run>,
    origin: Origin,
    evidence: Evidence,
) -> Result<(&'run str, Status), Placed> {
    let tool = required(fields, of_step::TOOL, "a call", origin)?;
    if let Some(args) = fields.get(of_step::ARGS).and_then(|args| written_object(builder, args)) {
        fields.set(of_step::ARGS, args);
    }
    if fields.get(of_step::ERROR).is_some_and(|node| matches!(node.value, Value::Null)) {
        fields.clear(of_step::ERROR);
    }
    let status = status(builder, fields, "a call")?;
    if !evidence.results {
        fields.absent(&[of_step::RESULT]);
    }
    if !evidence.args {
        fields.absent(&[of_step::ARGS]);
    }
    Ok((tool, status))
}

/// What is said of a run that records no command beside calls of a shell.
pub(super) const HIDDEN_COMMANDS: &str =
    "the run records an empty list of `commands` and calls of a shell: rules about commands see none of these";

/// Whether a run has calls that run commands, and an empty list of commands.
pub(super) fn hides_commands(lists: &Lists<'_>, steps: &[Step<'_>]) -> bool {
    let is_empty = |kind: Kind| lists.get(kind as usize).is_some_and(|list| list.recorded && list.items.is_empty());
    let is_shell = |step: &Step<'_>| {
        let words = ["bash", "shell", "sh"].iter().any(|word| step.name.eq_ignore_ascii_case(word));
        let command = step.object.get(of_step::ARGS).map(|args| args.field(of_step::COMMAND).value);
        words && step.status.executed() && matches!(command, Some(Value::Text(_)))
    };
    is_empty(Kind::Command) && steps.iter().any(|step| step.kind == Kind::Call && is_shell(step))
}

/// Arguments that are text with an object of JSON in it.
fn written_object<'run>(builder: &Builder<'run>, args: Node<'run>) -> Option<Node<'run>> {
    let Value::Text(text) = args.value else { return None };
    let is_object = text.as_str().trim_start().starts_with('{');
    let read = is_object.then(|| args.embedded(builder.arena, &Limits::default())).flatten()?;
    matches!(read.value, Value::Object(_)).then_some(read)
}

/// Whether a step says that it went wrong in the words of a protocol: `is_error`, `isError` in its result, an exit code other than 0.
fn says_failed(fields: &Fields<'_>) -> bool {
    let is_true = |node: Node<'_>| matches!(node.value, Value::Boolean(true));
    let holders = [of_step::RESULT, of_step::RESPONSE].into_iter().filter_map(|field| fields.get(field));
    let inside = holders.flat_map(|held| of_step::IS_ERROR.map(|key| held.field(key)));
    let beside = of_step::IS_ERROR.iter().filter_map(|key| fields.other(key));
    let code = fields.other(of_step::EXIT_CODE).is_some_and(|node| match node.value {
        Value::Number(code) => code != Number::Integer(0),
        _ => false,
    });
    // An object that holds an error and nothing else is no answer.
    let envelope = match fields.get(of_step::RESULT).map(|result| result.value) {
        Some(Value::Object(object)) => match object.entries() {
            [only] => only.key == of_step::ERROR && status::is_error(&only.node.value),
            _ => false,
        },
        _ => false,
    };
    code || envelope || beside.chain(inside).any(is_true)
}

/// The status of a step and its fields `status` and `ok`: given, else from `ok`, an error or a result.
fn status<'run>(builder: &mut Builder<'run>, fields: &mut Fields<'run>, what: &str) -> Result<Status, Placed> {
    let error = fields.other(of_step::ERROR).is_some_and(|node| status::is_error(&node.value));
    let is_call = fields.get(of_step::TOOL).is_some();
    let error = error || is_call && says_failed(fields);
    let result = fields.get(of_step::RESULT).filter(|node| !matches!(node.value, Value::Null | Value::Absent));
    // An adapter whose format cannot tell says so, with a status that is not recorded.
    let withheld = fields.get(of_step::STATUS).is_some_and(|node| matches!(node.value, Value::Absent));
    let given = match fields.text(of_step::STATUS, what)? {
        Some((word, origin)) => Some(match status::of_word(word) {
            Some(status) => status,
            None => {
                builder.warn(origin, format!("unknown status `{word}`: it counts as not recorded"));
                Status::Unknown
            }
        }),
        None => given_ok(fields, what)?,
    };
    // What has come back was executed, whatever was said of it before.
    let given = given.filter(|given| *given != Status::Pending || result.is_none());
    let found = match given {
        Some(Status::Ok | Status::Unknown) | None if error => Status::Failed,
        Some(given) => given,
        None if withheld || result.is_none() => Status::Unknown,
        None => Status::Ok,
    };
    set_status(fields, found);
    Ok(found)
}

fn given_ok(fields: &Fields<'_>, what: &str) -> Result<Option<Status>, Placed> {
    match fields.known(of_step::OK) {
        None => Ok(None),
        Some(Node { value: Value::Boolean(ok), .. }) => Ok(Some(status::of_boolean(ok))),
        Some(node) => Err(wrong_type(node, what, of_step::OK, "`true` or `false`")),
    }
}

/// Writes the fields `status` (in the words of the language) and `ok`; the places stay those of what was recorded.
fn set_status(fields: &mut Fields<'_>, status: Status) {
    let origin = |node: Option<Node<'_>>| node.map_or(Origin::COMPUTED, |node| node.origin);
    match status.as_str() {
        Some(word) => {
            let place = origin(fields.get(of_step::STATUS));
            fields.set(of_step::STATUS, Node::new(Value::plain(word), place));
            let place = origin(fields.get(of_step::OK));
            fields.set(of_step::OK, Node::new(Value::Boolean(status == Status::Ok), place));
        }
        None => {
            if fields.known(of_step::STATUS).is_none() {
                fields.set(of_step::STATUS, Node::computed(Value::Absent));
            }
            fields.set(of_step::OK, Node::computed(Value::Absent));
        }
    }
}

fn message<'run>(
    builder: &mut Builder<'run>,
    fields: &mut Fields<'run>,
    origin: Origin,
) -> Result<(&'run str, Status), Placed> {
    let role = required(fields, of_step::ROLE, "a message", origin)?;
    if let Some(text) = fields.known(of_step::TEXT).and_then(|text| content::of_blocks(text, builder.arena)) {
        fields.set(of_step::TEXT, text);
    }
    if fields.text(of_step::TEXT, "a message")?.is_none() {
        match fields.other(of_step::CONTENT).and_then(|content| content::text(content, builder.arena)) {
            Some(text) => fields.set(of_step::TEXT, text),
            None => fields.clear(of_step::TEXT),
        }
    }
    Ok((role, Status::Unknown))
}

fn shell_command<'run>(
    builder: &mut Builder<'run>,
    fields: &mut Fields<'run>,
    origin: Origin,
) -> Result<(&'run str, Status), Placed> {
    let command = required(fields, of_step::COMMAND, "a command", origin)?;
    let exit_code = match fields.known(of_step::EXIT_CODE) {
        None => None,
        Some(Node { value: Value::Number(number), .. }) => Some(number),
        Some(node) => return Err(wrong_type(node, "a command", of_step::EXIT_CODE, "a number")),
    };
    if exit_code.is_none() {
        fields.clear(of_step::EXIT_CODE);
    }
    let mut found = status(builder, fields, "a command")?;
    if let (Status::Unknown, Some(code)) = (found, exit_code) {
        found = status::of_boolean(code == Number::Integer(0));
        set_status(fields, found);
    }
    let given = fields.get(of_step::PROGRAM).is_some() && fields.get(of_step::PARTS).is_none();
    let before = builder.arena.allocated_bytes();
    command::set_fields(command, builder.arena, |name, value| {
        if fields.get(name).is_none() {
            fields.set(name, Node::computed(value));
        }
    });
    if given {
        let part = command::part(|name| fields.get(name), builder.arena);
        fields.set(of_step::PARTS, part);
    }
    builder.count_derived(before, origin)?;
    fields.absent(&[of_step::EXIT_CODE, of_step::OUTPUT]);
    Ok((command, found))
}

fn file<'run>(
    builder: &mut Builder<'run>,
    fields: &mut Fields<'run>,
    kind: Kind,
    origin: Origin,
) -> Result<(&'run str, Status), Placed> {
    let what = if kind == Kind::Read { "a read" } else { "a write" };
    let mut path = required(fields, of_step::PATH, what, origin)?;
    // A path without `/` that has `\\` is one of Windows.
    if path.contains('\\') && !path.contains('/') {
        path = builder.arena.alloc_str(&path.replace('\\', "/"));
        let place = fields.get(of_step::PATH).map_or(Origin::COMPUTED, |node| node.origin);
        fields.set(of_step::PATH, Node::new(Value::Text(Text::Plain(path)), place));
    }
    let status = status(builder, fields, what)?;
    Ok((path, status))
}

/// The `status` of a request is the number of its response: below 400 it went well.
fn http<'run>(fields: &mut Fields<'run>, origin: Origin) -> Result<(&'run str, Status), Placed> {
    let url = required(fields, of_step::URL, "a request", origin)?;
    let code = match fields.known(of_step::STATUS) {
        None => None,
        Some(Node { value: Value::Number(number), .. }) => Some(number),
        Some(node) => return Err(wrong_type(node, "a request", of_step::STATUS, "a number")),
    };
    let status = match (code, given_ok(fields, "a request")?) {
        (_, Some(given)) => given,
        (Some(code), None) => status::of_boolean(code.compare(Number::Integer(400)).is_lt()),
        (None, None) => Status::Unknown,
    };
    if code.is_none() {
        fields.clear(of_step::STATUS);
    }
    if status != Status::Unknown && fields.known(of_step::OK).is_none() {
        fields.set(of_step::OK, Node::computed(Value::Boolean(status == Status::Ok)));
    }
    fields.absent(&[of_step::STATUS, of_step::METHOD]);
    Ok((url, status))
}

/// The status of a span may be an object with a `code`, as OpenTelemetry writes it.
fn span<'run>(
    builder: &mut Builder<'run>,
    fields: &mut Fields<'run>,
    origin: Origin,
) -> Result<(&'run str, Status), Placed> {
    let name = required(fields, of_step::NAME, "a span", origin)?;
    if let Some(Node { value: Value::Object(status), .. }) = fields.get(of_step::STATUS) {
        let found = span_status(status);
        fields.set(
            of_step::OK,
            Node::computed(found.map_or(Value::Absent, |status| Value::Boolean(status == Status::Ok))),
        );
        return Ok((name, found.unwrap_or(Status::Unknown)));
    }
    let status = status(builder, fields, "a span")?;
    if fields.get(of_step::ATTRIBUTES).is_none() {
        let empty = Object::new(builder.arena, &[]);
        fields.set(of_step::ATTRIBUTES, Entry::computed(of_step::ATTRIBUTES, Value::Object(empty)).node);
    }
    Ok((name, status))
}

fn span_status(status: Object<'_>) -> Option<Status> {
    match status.get(of_step::CODE)?.value {
        Value::Text(code) => {
            let code = code.as_str();
            status::of_word(code.strip_prefix("STATUS_CODE_").unwrap_or(code)).filter(|s| *s != Status::Unknown)
        }
        Value::Number(code) => match code.as_i64() {
            Some(1) => Some(Status::Ok),
            Some(2) => Some(Status::Failed),
            _ => None,
        },
        _ => None,
    }
}

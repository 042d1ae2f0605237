//! One step: its fields, checked, completed and marked where the run does not record them.

mod other_steps;

use other_steps::{build_file, build_message, build_request, build_span, shell_command};

use super::fields::{StepFields, required_text, wrong_type};
use super::status::StepEnding;
use super::{StepBuilder, StepLists, agents, status};
use crate::adapt::content;
use crate::error::PlacedError;
use crate::time;
use averment_base::limits::Limits;
use averment_base::value::{Node, Number, Object, ObjectEntry, TextOrigin, Value, ValueText};
use averment_runs::command;
use averment_runs::normal::{MAIN_AGENT, is_misspelt_ending, is_nothing, of_step};
use averment_runs::path::{leaves_root, normal_path};
use averment_runs::run::{Step, StepKind, StepStatus};

#[derive(Debug, Clone, Copy)]
pub(super) struct CallEvidence {
    results: bool,
    args: bool,
    agents: bool,
    /// More of the run may come: also what a call gives back.
    unfinished: bool,
}

impl CallEvidence {
    pub(super) fn from_lists(lists: &StepLists<'_>, complete: bool) -> Self {
        let calls = lists.get(StepKind::Call as usize).map(|list| list.items.as_slice()).unwrap_or_default();
        let any = |keys: &[&str]| calls.iter().any(|call| has_any(call, keys));
        let hands_over = lists.get(StepKind::Handover as usize).is_some_and(|list| !list.items.is_empty());
        let agents = || lists.iter().flat_map(|list| &list.items).any(agents::names_agent);
        Self {
            results: any(&of_step::OUTCOME),
            args: any(&[of_step::ARGS]),
            agents: hands_over || agents(),
            unfinished: !complete,
        }
    }
}

fn has_any(call: &Node<'_>, keys: &[&str]) -> bool {
    matches!(call.value, Value::Object(object) if records_any(object.entries(), keys))
}

/// A result may be `null`; in other fields that means unknown.
pub(crate) fn records_any(fields: &[ObjectEntry<'_>], keys: &[&str]) -> bool {
    let is_known = |entry: &ObjectEntry<'_>| match entry.node.value {
        Value::Absent => false,
        Value::Null => !of_step::UNKNOWN_AS_NULL.contains(&entry.key),
        _ => true,
    };
    fields.iter().any(|entry| keys.contains(&entry.key) && is_known(entry))
}

/// An invalid time from a foreign program counts as none.
pub(super) fn start_and_turn(node: &Node<'_>, of_format: bool) -> Result<(Option<f64>, Option<u32>), PlacedError> {
    let Value::Object(object) = node.value else { return Ok((None, None)) };
    let known = |key| object.get(key).filter(|node: &Node<'_>| !matches!(node.value, Value::Null | Value::Absent));
    let start = known(of_step::START).filter(|node| !time::is_in_seconds(&node.value));
    let start = start.filter(|node| !of_format || time::to_milliseconds(&node.value).is_some());
    let start = start.map(|node| parse_instant(node, of_step::START)).transpose()?;
    let turn = known(of_step::TURN).map(parse_turn).transpose()?;
    Ok((start, turn))
}

fn parse_instant(node: Node<'_>, field: &str) -> Result<f64, PlacedError> {
    time::to_milliseconds(&node.value).ok_or_else(|| {
        PlacedError::new(
            node.origin,
            format!("the `{field}` of a step is no point in time"),
            "write RFC 3339 text such as `2025-01-31T12:00:00Z`, or milliseconds",
        )
    })
}

fn parse_turn(node: Node<'_>) -> Result<u32, PlacedError> {
    let number = match node.value {
        Value::Number(number) => number.as_i64().and_then(|number| u32::try_from(number).ok()),
        _ => None,
    };
    number.ok_or_else(|| wrong_type(node, "a step", of_step::TURN, "a whole number, not negative"))
}

/// The caller sets its call position.
pub(super) fn build_step<'run>(
    builder: &mut StepBuilder<'run>,
    kind: StepKind,
    node: Node<'run>,
    index: u32,
    evidence: CallEvidence,
) -> Result<Step<'run>, PlacedError> {
    let mut fields = StepFields::from_recorded(kind, recorded_fields(builder, kind, node)?);
    let (start, end) = complete_times(builder, &mut fields)?;
    let turn = fields.known_field(of_step::TURN).map(self::parse_turn).transpose()?;
    let place = Value::Number(Number::Integer(i64::from(index)));
    fields.set_field(of_step::INDEX, Node { value: place, origin: node.origin });
    fields.set_field(of_step::KIND, Node::computed(Value::plain_text(kind.as_str())));
    if evidence.agents && fields.known_field(of_step::AGENT).is_none() {
        fields.set_field(of_step::AGENT, Node::computed(Value::plain_text(MAIN_AGENT)));
    }
    let (name, status) = match kind {
        StepKind::Call => build_call(builder, &mut fields, node.origin, evidence)?,
        StepKind::Message => build_message(builder, &mut fields, node.origin)?,
        StepKind::Command => shell_command(builder, &mut fields, node.origin)?,
        StepKind::Read | StepKind::Write => build_file(builder, &mut fields, kind, node.origin)?,
        StepKind::Skill => (required_text(&fields, of_step::NAME, "a skill", node.origin)?, StepStatus::Unknown),
        StepKind::Http => build_request(&mut fields, node.origin)?,
        StepKind::Span => build_span(builder, &mut fields, node.origin)?,
        StepKind::Handover => (agents::build_handover(builder, &mut fields, node.origin)?, StepStatus::Unknown),
    };
    fields.mark_absent(&[of_step::START, of_step::END, of_step::DURATION, of_step::TURN, of_step::OK]);
    let object = fields.into_object(builder.arena);
    let node = Node::new(Value::Object(object), node.origin);
    Ok(Step { kind, name, status, object, node, index, call_position: 0, turn, start, end })
}

/// Text alone may stand for a step with one field.
fn recorded_fields<'run>(
    builder: &StepBuilder<'run>,
    kind: StepKind,
    node: Node<'run>,
) -> Result<&'run [ObjectEntry<'run>], PlacedError> {
    let short = kind.short_field();
    match (node.value, short) {
        (Value::Object(object), _) => Ok(object.entries()),
        (Value::Text(_), Some(key)) => Ok(builder.arena.alloc([ObjectEntry { key, node }])),
        (_, short) => {
            let found = node.value.type_name();
            let or_text = if short.is_some() { " or text" } else { "" };
            let list = kind.list_key();
            Err(PlacedError::new(
                node.origin,
                format!("an element of `{list}` must be an object{or_text}, found {found}"),
                format!("write `{{ {}: … }}`", kind.field_names().first().copied().unwrap_or(of_step::NAME)),
            ))
        }
    }
}

/// One bad field is no reason to refuse the run.
const NO_TIME: &str = "the time of a step is no point in time: it counts as not recorded";

/// In milliseconds; duration and end complete each other.
fn complete_times(
    builder: &mut StepBuilder<'_>,
    fields: &mut StepFields<'_>,
) -> Result<(Option<f64>, Option<f64>), PlacedError> {
    for field in [of_step::START, of_step::END] {
        let Some(node) = fields.known_field(field) else { continue };
        let odd = match node.value {
            value if time::is_in_seconds(&value) => time::IN_SECONDS,
            value if builder.of_format && time::to_milliseconds(&value).is_none() => NO_TIME,
            _ => continue,
        };
        builder.warn_once(node.origin, odd);
        fields.clear_field(field);
    }
    if let Some(node) = fields.known_field(of_step::DURATION).filter(|node| super::root::is_negative(node.value)) {
        builder.warn_once(node.origin, "the `duration` of a step is below 0: it counts as not recorded");
        fields.clear_field(of_step::DURATION);
    }
    let start = fields.known_field(of_step::START).map(|node| parse_instant(node, of_step::START)).transpose()?;
    let mut end = fields.known_field(of_step::END).map(|node| parse_instant(node, of_step::END)).transpose()?;
    let mut duration = fields.known_field(of_step::DURATION).map(parse_duration).transpose()?;
    if let Some(start) = start {
        end = end.or_else(|| duration.map(|duration| start + duration));
        duration = duration.or_else(|| end.map(|end| end - start));
    }
    for (field, value) in [(of_step::START, start), (of_step::END, end), (of_step::DURATION, duration)] {
        match (value, fields.field_node(field)) {
            (Some(_), Some(Node { value: Value::Number(_), .. })) => {}
            (Some(value), Some(node)) => {
                fields.set_field(field, Node::new(time::milliseconds_value(value), node.origin))
            }
            (Some(value), None) => fields.set_field(field, Node::computed(time::milliseconds_value(value))),
            (None, _) => fields.clear_field(field),
        }
    }
    if fields.field_node(of_step::TURN).is_some_and(|node| matches!(node.value, Value::Null)) {
        fields.clear_field(of_step::TURN);
    }
    Ok((start, end))
}

fn parse_duration(node: Node<'_>) -> Result<f64, PlacedError> {
    match node.value {
        Value::Number(number) if number.to_f64().is_finite() => Ok(number.to_f64()),
        _ => Err(wrong_type(node, "a step", of_step::DURATION, "a number of milliseconds")),
    }
}

fn build_call<'run>(
    builder: &mut StepBuilder<'run>,
    fields: &mut StepFields<'run>,
    origin: TextOrigin,
    evidence: CallEvidence,
) -> Result<(&'run str, StepStatus), PlacedError> {
    let tool = required_text(fields, of_step::TOOL, "a call", origin)?;
    if let Some(args) = fields.field_node(of_step::ARGS).and_then(|args| written_object(builder, args)) {
        fields.set_field(of_step::ARGS, args);
    }
    if fields.field_node(of_step::ERROR).is_some_and(|node| matches!(node.value, Value::Null)) {
        fields.clear_field(of_step::ERROR);
    }
    let status = read_status(builder, fields, "a call")?;
    let returned =
        fields.field_node(of_step::RESULT).is_some_and(|node| !matches!(node.value, Value::Null | Value::Absent));
    // What came back may be an error, and nothing says so.
    if returned && status == StepStatus::Unknown {
        fields.mark_absent(&[of_step::ERROR]);
    }
    // What has not come back yet may still come.
    let runs_on = evidence.unfinished && status == StepStatus::Unknown && fields.field_node(of_step::RESULT).is_none();
    if !evidence.results || runs_on {
        fields.mark_absent(&[of_step::RESULT]);
    }
    if runs_on {
        fields.mark_absent(&[of_step::ERROR]);
    }
    if !evidence.args {
        fields.mark_absent(&[of_step::ARGS]);
    }
    Ok((tool, status))
}

fn written_object<'run>(builder: &StepBuilder<'run>, args: Node<'run>) -> Option<Node<'run>> {
    let Value::Text(text) = args.value else { return None };
    let is_object = text.as_str().trim_start().starts_with('{');
    let read = is_object.then(|| args.parse_embedded(builder.arena, &Limits::default())).flatten()?;
    matches!(read.value, Value::Object(_)).then_some(read)
}

/// By protocol: `is_error`, `isError` beside the result or in the response, or a nonzero exit code.
fn says_failed(fields: &StepFields<'_>) -> bool {
    let beside = of_step::IS_ERROR.iter().filter_map(|key| fields.recorded_field(key));
    let code = fields.recorded_field(of_step::EXIT_CODE).is_some_and(|node| status::is_other_than_zero(&node.value));
    code || beside.into_iter().any(|node| matches!(node.value, Value::Boolean(true)))
        || fields.field_node(of_step::RESPONSE).is_some_and(status::says_is_error)
}

/// As given, else from `ok`, an error or a result.
fn read_status<'run>(
    builder: &mut StepBuilder<'run>,
    fields: &mut StepFields<'run>,
    what: &str,
) -> Result<StepStatus, PlacedError> {
    let error = fields.recorded_field(of_step::ERROR).is_some_and(|node| status::is_error(&node.value));
    let is_call = fields.field_node(of_step::TOOL).is_some();
    let error = error || is_call && says_failed(fields);
    let result = fields.field_node(of_step::RESULT).filter(|node| !matches!(node.value, Value::Null | Value::Absent));
    // An adapter whose format cannot tell says so, with a status that is not recorded.
    let withheld = fields.field_node(of_step::STATUS).is_some_and(|node| matches!(node.value, Value::Absent));
    let withheld = withheld || is_call && fields.recorded_others().any(may_be_ending);
    let given = match fields.field_text(of_step::STATUS, what)? {
        Some((word, origin)) => Some(match StepStatus::from_word(word) {
            Some(status) => status,
            None => {
                builder.add_warning(origin, format!("unknown status `{word}`: it counts as not recorded"));
                StepStatus::Unknown
            }
        }),
        None => given_ok(fields, what)?,
    };
    // What has come back was executed, whatever was said of it before.
    let given = given.filter(|given| *given != StepStatus::Pending || result.is_none());
    let ending = StepEnding { error, given, withheld };
    let found =
        if is_call { ending.call_status(result, builder.arena) } else { ending.status_by(result.is_some(), false) };
    set_status(fields, found, given.is_some());
    Ok(found)
}

/// Whether an entry of a call is nearly called like one that says how it ended, and does not say that all is well: it may have failed.
fn may_be_ending(entry: &ObjectEntry<'_>) -> bool {
    let is_well = match entry.node.value {
        Value::Text(text) => StepStatus::from_word(text.as_str()) == Some(StepStatus::Ok),
        ref value => is_nothing(value),
    };
    is_misspelt_ending(entry.key) && !is_well && !is_nothing(&entry.node.value)
}

fn given_ok(fields: &StepFields<'_>, what: &str) -> Result<Option<StepStatus>, PlacedError> {
    match fields.known_field(of_step::OK) {
        None => Ok(None),
        Some(Node { value: Value::Boolean(ok), .. }) => Ok(Some(status::of_boolean(ok))),
        Some(node) => Err(wrong_type(node, what, of_step::OK, "`true` or `false`")),
    }
}

/// In the language's words. The origin of a status that the run gives stays: one without an origin was concluded.
fn set_status(fields: &mut StepFields<'_>, status: StepStatus, is_given: bool) {
    let given = |node: &Node<'_>| is_given && !matches!(node.value, Value::Null);
    let origin = |node: Option<Node<'_>>| node.filter(given).map_or(TextOrigin::COMPUTED, |node| node.origin);
    match status.as_str() {
        Some(word) => {
            let place = origin(fields.field_node(of_step::STATUS));
            fields.set_field(of_step::STATUS, Node::new(Value::plain_text(word), place));
            let place = origin(fields.field_node(of_step::OK));
            fields.set_field(of_step::OK, Node::new(Value::Boolean(status == StepStatus::Ok), place));
        }
        None => {
            if fields.known_field(of_step::STATUS).is_none() {
                fields.set_field(of_step::STATUS, Node::computed(Value::Absent));
            }
            fields.set_field(of_step::OK, Node::computed(Value::Absent));
        }
    }
}

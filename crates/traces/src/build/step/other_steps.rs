//! Messages, commands, files, requests and spans as steps.

use super::*;
use averment_base::limits::used_bytes;

pub(super) fn build_message<'run>(
    builder: &mut StepBuilder<'run>,
    fields: &mut StepFields<'run>,
    origin: TextOrigin,
) -> Result<(&'run str, StepStatus), PlacedError> {
    let role = required_text(fields, of_step::ROLE, "a message", origin)?;
    if let Some(text) = fields.known_field(of_step::TEXT).and_then(|text| content::of_blocks(text, builder.arena)) {
        fields.set_field(of_step::TEXT, text);
    }
    if fields.field_text(of_step::TEXT, "a message")?.is_none() {
        match fields.recorded_field(of_step::CONTENT).and_then(|content| content::content_text(content, builder.arena))
        {
            Some(text) => fields.set_field(of_step::TEXT, text),
            None => fields.clear_field(of_step::TEXT),
        }
    }
    Ok((role, StepStatus::Unknown))
}

pub(super) fn shell_command<'run>(
    builder: &mut StepBuilder<'run>,
    fields: &mut StepFields<'run>,
    origin: TextOrigin,
) -> Result<(&'run str, StepStatus), PlacedError> {
    let command = required_text(fields, of_step::COMMAND, "a command", origin)?;
    let exit_code = match fields.known_field(of_step::EXIT_CODE) {
        None => None,
        Some(Node { value: Value::Number(number), .. }) => Some(number),
        Some(node) => return Err(wrong_type(node, "a command", of_step::EXIT_CODE, "a number")),
    };
    if exit_code.is_none() {
        fields.clear_field(of_step::EXIT_CODE);
    }
    let mut found = read_status(builder, fields, "a command")?;
    if let (StepStatus::Unknown, Some(code)) = (found, exit_code) {
        found = status::of_boolean(code == Number::Integer(0));
        set_status(fields, found, false);
    }
    let given = fields.field_node(of_step::PROGRAM).is_some() && fields.field_node(of_step::PARTS).is_none();
    let before = used_bytes(builder.arena);
    command::set_fields(command, builder.arena, |name, value| {
        if fields.field_node(name).is_none() {
            fields.set_field(name, Node::computed(value));
        }
    });
    if given {
        let part = command::recorded_part(|name| fields.field_node(name), builder.arena);
        fields.set_field(of_step::PARTS, part);
    }
    builder.count_derived(before, origin)?;
    fields.mark_absent(&[of_step::EXIT_CODE, of_step::OUTPUT]);
    Ok((command, found))
}

pub(super) fn build_file<'run>(
    builder: &mut StepBuilder<'run>,
    fields: &mut StepFields<'run>,
    kind: StepKind,
    origin: TextOrigin,
) -> Result<(&'run str, StepStatus), PlacedError> {
    let what = if kind == StepKind::Read { "a read" } else { "a write" };
    let recorded = required_text(fields, of_step::PATH, what, origin)?;
    let mut path = recorded;
    let place = fields.field_node(of_step::PATH).map_or(TextOrigin::COMPUTED, |node| node.origin);
    let text = |path: &'run str| Node::new(Value::Text(ValueText::Plain(path)), place);
    if let Some(normal) = normal_path(recorded) {
        let before = used_bytes(builder.arena);
        path = builder.arena.alloc_str(&normal);
        builder.count_derived(before, origin)?;
        fields.set_field(of_step::PATH, text(path));
    }
    fields.set_field(of_step::RECORDED_PATH, text(recorded));
    let location = if leaves_root(path) { Node::computed(Value::Absent) } else { text(path) };
    fields.set_field(of_step::LOCATION, location);
    let status = read_status(builder, fields, what)?;
    Ok((path, status))
}

/// `status` is the HTTP status: below 400 is success.
pub(super) fn build_request<'run>(
    fields: &mut StepFields<'run>,
    origin: TextOrigin,
) -> Result<(&'run str, StepStatus), PlacedError> {
    let url = required_text(fields, of_step::URL, "a request", origin)?;
    let code = match fields.known_field(of_step::STATUS) {
        None => None,
        Some(Node { value: Value::Number(number), .. }) => Some(number),
        Some(node) => return Err(wrong_type(node, "a request", of_step::STATUS, "a number")),
    };
    let status = match (code, given_ok(fields, "a request")?) {
        (_, Some(given)) => given,
        (Some(code), None) => status::of_boolean(code.compare(Number::Integer(400)).is_lt()),
        (None, None) => StepStatus::Unknown,
    };
    if code.is_none() {
        fields.clear_field(of_step::STATUS);
    }
    if status != StepStatus::Unknown && fields.known_field(of_step::OK).is_none() {
        fields.set_field(of_step::OK, Node::computed(Value::Boolean(status == StepStatus::Ok)));
    }
    fields.mark_absent(&[of_step::STATUS, of_step::METHOD]);
    Ok((url, status))
}

/// OpenTelemetry's status may be an object with a `code`.
pub(super) fn build_span<'run>(
    builder: &mut StepBuilder<'run>,
    fields: &mut StepFields<'run>,
    origin: TextOrigin,
) -> Result<(&'run str, StepStatus), PlacedError> {
    let name = required_text(fields, of_step::NAME, "a span", origin)?;
    if let Some(Node { value: Value::Object(status), .. }) = fields.field_node(of_step::STATUS) {
        let found = span_status(status);
        fields.set_field(
            of_step::OK,
            Node::computed(found.map_or(Value::Absent, |status| Value::Boolean(status == StepStatus::Ok))),
        );
        return Ok((name, found.unwrap_or(StepStatus::Unknown)));
    }
    let status = read_status(builder, fields, "a span")?;
    if fields.field_node(of_step::ATTRIBUTES).is_none() {
        let empty = Object::new(builder.arena, &[]);
        fields.set_field(of_step::ATTRIBUTES, ObjectEntry::computed(of_step::ATTRIBUTES, Value::Object(empty)).node);
    }
    Ok((name, status))
}

fn span_status(status: Object<'_>) -> Option<StepStatus> {
    match status.get(of_step::CODE)?.value {
        Value::Text(code) => {
            let code = code.as_str();
            StepStatus::from_word(code.strip_prefix("STATUS_CODE_").unwrap_or(code))
                .filter(|s| *s != StepStatus::Unknown)
        }
        Value::Number(code) => match code.as_i64() {
            Some(1) => Some(StepStatus::Ok),
            Some(2) => Some(StepStatus::Failed),
            _ => None,
        },
        _ => None,
    }
}

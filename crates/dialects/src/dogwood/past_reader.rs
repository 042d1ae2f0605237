//! Reads conditions on the past: the contents of `temporal { … }`.

use super::cursor::{ReaderState, TokenCursor};
use super::names::{entity_name, literal_term};
use super::tree::{EventPattern, PastAggregate, PastCondition, PastTerm, ScopeRoot};

const COMPARISONS: [&str; 6] = ["<=", ">=", "!=", "==", "<", ">"];
/// Operators that may follow a value in a comparison.
const BEHIND_VALUE: [&str; 9] = ["<=", ">=", "!=", "==", "<", ">", "+", "-", "*"];

/// Reads a whole condition and reports trailing tokens.
pub(super) fn read_whole(mut from: TokenCursor, state: &mut ReaderState<'_>) -> Option<PastCondition> {
    let condition = read_condition(&mut from, state)?;
    from.need_end(state)?;
    Some(condition)
}

pub(super) fn read_condition(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastCondition> {
    state.nested(from.span(), |state| {
        let mut parts = vec![read_since(from, state)?];
        while from.take_sign("&&") {
            parts.push(read_since(from, state)?);
        }
        if from.is_sign("||") {
            let help = "write two policies, or `!(!a && !b)`";
            return state.refuse(from.span(), "a condition on the past has no `||`", help);
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { PastCondition::And(parts) })
    })
}

fn read_since(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastCondition> {
    let left = read_negated(from, state)?;
    if !from.take_word("since") {
        return Some(left);
    }
    let within = read_within(from, state)?;
    let right = read_atom(from, state)?;
    Some(PastCondition::Since { left: Box::new(left), within, right: Box::new(right) })
}

fn read_negated(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastCondition> {
    let mut negated = false;
    while from.take_sign("!") {
        negated = !negated;
    }
    let inner = read_conjunct(from, state)?;
    Some(if negated { PastCondition::Not(Box::new(inner)) } else { inner })
}

/// Reads the operand of `formerly within 1h`: one condition, or a condition in parentheses.
fn read_atom(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastCondition> {
    state.nested(from.span(), |state| read_conjunct(from, state))
}

fn read_conjunct(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastCondition> {
    if from.is_sign("(") && !from.has_sign_behind_group(0, &BEHIND_VALUE) {
        return read_whole(from.take_group(state)?, state);
    }
    if from.is_sign("?") {
        let is_value = BEHIND_VALUE.iter().any(|sign| from.is_sign_ahead(2, sign));
        if !is_value {
            let condition = read_whole(from.take_parameter(state)?, state)?;
            return read_refined(condition, from, state);
        }
    }
    match from.word_ahead(0) {
        Some("formerly") => {
            from.take_token();
            let within = read_within(from, state)?;
            return Some(PastCondition::Formerly { within, body: Box::new(read_atom(from, state)?) });
        }
        Some("previous") => {
            from.take_token();
            let within = read_within(from, state)?;
            return Some(PastCondition::Previous { within, body: Box::new(read_atom(from, state)?) });
        }
        Some("exists") if from.is_sign_ahead(1, "(") => return read_exists(from, state),
        Some("tp") if from.is_sign_ahead(1, "(") => {
            from.take_token();
            let mut inside = from.take_group(state)?;
            let variable = read_binder(&mut inside, state)?;
            inside.need_end(state)?;
            return Some(PastCondition::Timepoint(variable));
        }
        Some("decimal") => {}
        Some(_) if from.is_sign_ahead(1, "(") && !from.has_sign_behind_group(1, &BEHIND_VALUE) => {
            let (_, body) = from.take_call(state)?;
            return state.nested(from.last_span(), |state| read_whole(body, state));
        }
        Some(_) if is_event(from) => return read_event(from, state),
        _ => {}
    }
    let left = read_value(from, state)?;
    let Some(operator) = from.take_one_of(&COMPARISONS) else { return from.expected("a comparison", state) };
    let right = read_value(from, state)?;
    Some(PastCondition::Compare { operator, left, right })
}

/// Reads `exists (x: T). condition`; the condition extends as far as possible.
fn read_exists(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastCondition> {
    from.take_token();
    let variable = read_typed_binder(from, state)?;
    from.need_sign(".", state)?;
    let body = read_condition(from, state)?;
    Some(PastCondition::Exists { variable, body: Box::new(body) })
}

fn read_typed_binder(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<String> {
    if !from.is_sign("(") {
        return from.expected("`(name: Type)`", state);
    }
    let mut inside = from.take_group(state)?;
    let variable = read_binder(&mut inside, state)?;
    inside.need_sign(":", state)?;
    inside.need_name("a type", state)?;
    while inside.take_sign("::") {
        inside.need_name("a type", state)?;
    }
    inside.need_end(state)?;
    Some(variable)
}

/// Reads a bound name: a plain one, `?p` or `$t`.
fn read_binder(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<String> {
    if from.is_sign("$") {
        return from.take_own_name(state).map(|(name, _)| name);
    }
    if from.is_sign("?") {
        let mut argument = from.take_parameter(state)?;
        let name = read_binder(&mut argument, state)?;
        argument.need_end(state)?;
        return Some(name);
    }
    from.need_name("a name", state).map(|(name, _)| name.to_string())
}

/// Reads `within 1h` and returns milliseconds.
fn read_within(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<u64> {
    from.need_word("within", state)?;
    read_interval(from, state)
}

fn read_interval(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<u64> {
    if from.is_sign("?") {
        let mut argument = from.take_parameter(state)?;
        let within = read_interval(&mut argument, state)?;
        argument.need_end(state)?;
        return Some(within);
    }
    let place = from.span();
    let Some(number) = from.take_number() else { return from.expected("a time such as `1h`", state) };
    let unit = match from.word_ahead(0) {
        Some("s") => 1_000_u64,
        Some("m") => 60_000,
        Some("h") => 3_600_000,
        Some("d") => 86_400_000,
        _ => return from.expected("one of the units `s`, `m`, `h` and `d`", state),
    };
    from.take_token();
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|time| *time < 1 << 53) {
        Some(time) => Some(time),
        None => state.refuse(place, "this time is too long", "write a shorter one"),
    }
}

/// Returns the number of tokens of a qualified name that ends in a text, including the text.
fn qualified_length(from: &TokenCursor) -> Option<usize> {
    let mut at = 0_usize;
    loop {
        from.word_ahead(at)?;
        if !from.is_sign_ahead(at.saturating_add(1), "::") {
            return None;
        }
        at = at.saturating_add(2);
        if from.is_text_ahead(at) {
            return Some(at.saturating_add(1));
        }
    }
}

/// True if the next tokens are a qualified action with an event kind.
fn is_event(from: &TokenCursor) -> bool {
    qualified_length(from).is_some_and(|length| from.is_sign_ahead(length, "::"))
}

fn read_event(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastCondition> {
    let action = entity_name(from, state)?;
    from.need_sign("::", state)?;
    let (kind, kind_span) = from.need_name("the kind of the event, such as `request`", state)?;
    if !from.is_sign("{") {
        return from.expected("`{`, with the fields of the event", state);
    }
    let fields = read_fields(from, state)?;
    let event = EventPattern { action, kind: kind.to_string(), kind_span, fields };
    read_refined(PastCondition::Event(event), from, state)
}

/// Reads further fields after an event: `{ a: 1 }{ b: 2 }`.
fn read_refined(
    mut condition: PastCondition,
    from: &mut TokenCursor,
    state: &mut ReaderState<'_>,
) -> Option<PastCondition> {
    while from.is_sign("{") {
        let place = from.span();
        let further = read_fields(from, state)?;
        match &mut condition {
            PastCondition::Event(event) => event.fields.extend(further),
            _ => {
                return state.refuse(place, "fields follow something that is not an event", "put them behind an event");
            }
        }
    }
    Some(condition)
}

type EventFields = Vec<(Vec<String>, averment_base::source::Span, PastTerm)>;

fn read_fields(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<EventFields> {
    let mut fields = Vec::new();
    for mut part in from.take_group(state)?.split_at_commas() {
        let place = part.span();
        let mut path = vec![part.need_name("the name of a field", state)?.0.to_string()];
        while part.take_sign(".") {
            path.push(part.need_name("the name of a field", state)?.0.to_string());
        }
        part.need_sign(":", state)?;
        let value = read_value(&mut part, state)?;
        part.need_end(state)?;
        fields.push((path, place, value));
    }
    Some(fields)
}

/// Reads a value: terms joined by `+`, `-` and `*`.
fn read_value(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastTerm> {
    state.nested(from.span(), |state| {
        let mut left = read_product(from, state)?;
        while let Some(operator) = from.take_one_of(&["+", "-"]) {
            let right = read_product(from, state)?;
            left = PastTerm::Arithmetic(operator, Box::new(left), Box::new(right));
        }
        Some(left)
    })
}

fn read_product(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastTerm> {
    let mut left = read_term(from, state)?;
    while from.take_sign("*") {
        let right = read_term(from, state)?;
        left = PastTerm::Arithmetic("*", Box::new(left), Box::new(right));
    }
    Some(left)
}

fn read_whole_value(mut from: TokenCursor, state: &mut ReaderState<'_>) -> Option<PastTerm> {
    let value = read_value(&mut from, state)?;
    from.need_end(state)?;
    Some(value)
}

fn read_term(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastTerm> {
    if from.is_sign("(") {
        return read_whole_value(from.take_group(state)?, state);
    }
    if from.is_sign("?") {
        return read_whole_value(from.take_parameter(state)?, state);
    }
    if from.is_sign("$") {
        return from.take_own_name(state).map(|(name, place)| PastTerm::Variable(name, place));
    }
    if from.is_sign("[") {
        let parts = from.take_group(state)?.split_at_commas();
        let parts: Option<Vec<PastTerm>> = parts.into_iter().map(|part| read_whole_value(part, state)).collect();
        return parts.map(PastTerm::List);
    }
    if from.take_sign("*") {
        return Some(PastTerm::Anything);
    }
    if qualified_length(from).is_some() {
        return entity_name(from, state).map(PastTerm::Entity);
    }
    if let Some(literal) = literal_term(from, state) {
        return literal.map(PastTerm::Literal);
    }
    match from.word_ahead(0) {
        Some("count") if from.word_ahead(1) == Some("for") => {
            from.take_token();
            read_aggregate(None, from, state)
        }
        Some("sum") if from.word_ahead(2) == Some("for") || from.word_ahead(3) == Some("for") => {
            from.take_token();
            let summed = read_binder(from, state)?;
            read_aggregate(Some(summed), from, state)
        }
        Some("context") => {
            from.take_token();
            let path = read_path(from, state)?;
            match path.is_empty() {
                true => from.expected("`.` and a field of `context`", state),
                false => Some(PastTerm::Context(path)),
            }
        }
        Some(word @ ("principal" | "resource")) => {
            let root = if word == "principal" { ScopeRoot::Principal } else { ScopeRoot::Resource };
            from.take_token();
            Some(PastTerm::Scope(root, read_path(from, state)?))
        }
        Some("_") => {
            from.take_token();
            Some(PastTerm::Anything)
        }
        Some(_) if from.is_sign_ahead(1, "(") => {
            let (_, body) = from.take_call(state)?;
            state.nested(from.last_span(), |state| read_whole_value(body, state))
        }
        Some(_) => {
            let (name, place) = from.need_name("a value", state)?;
            Some(PastTerm::Variable(name.to_string(), place))
        }
        None => from.expected("a value", state),
    }
}

/// Reads the rest of a path after its root.
pub(super) fn read_path(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<Vec<String>> {
    let mut path = Vec::new();
    while from.is_sign(".") && from.word_ahead(1).is_some() {
        from.take_token();
        path.push(from.need_name("the name of a field", state)?.0.to_string());
    }
    Some(path)
}

fn read_aggregate(summed: Option<String>, from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PastTerm> {
    from.need_word("for", state)?;
    let mut variables = vec![read_typed_binder(from, state)?];
    while from.take_sign(",") {
        variables.push(read_typed_binder(from, state)?);
    }
    from.need_sign(".", state)?;
    from.need_word("where", state)?;
    let body = read_condition(from, state)?;
    Some(PastTerm::Aggregate(Box::new(PastAggregate { summed, variables, body })))
}

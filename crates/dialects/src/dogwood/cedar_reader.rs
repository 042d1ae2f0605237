//! Reads Cedar expressions: the contents of `when { … }` and `unless { … }`.

use super::cursor::{ReaderState, TokenCursor};
use super::names::{entity_list, entity_name, literal_term, type_name};
use super::past_reader;
use super::tree::{CedarExpr, EntityTest, ScopeRoot};

/// Methods of Cedar values, with the equivalent operator if there is one.
const METHODS: [(&str, Option<&str>); 9] = [
    ("contains", None),
    ("containsAll", None),
    ("containsAny", None),
    ("isEmpty", None),
    ("lessThan", Some("<")),
    ("lessThanOrEqual", Some("<=")),
    ("greaterThan", Some(">")),
    ("greaterThanOrEqual", Some(">=")),
    ("hasTag", None),
];

pub(super) fn read_cedar(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    state.nested(from.span(), |state| {
        if !from.take_word("if") {
            return read_or(from, state);
        }
        let condition = read_cedar(from, state)?;
        from.need_word("then", state)?;
        let then = read_cedar(from, state)?;
        from.need_word("else", state)?;
        let otherwise = read_cedar(from, state)?;
        Some(CedarExpr::If(Box::new([condition, then, otherwise])))
    })
}

fn read_or(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    let mut left = read_and(from, state)?;
    while from.take_sign("||") {
        left = CedarExpr::Binary("or", Box::new(left), Box::new(read_and(from, state)?));
    }
    Some(left)
}

fn read_and(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    let mut left = read_relation(from, state)?;
    while from.take_sign("&&") {
        left = CedarExpr::Binary("and", Box::new(left), Box::new(read_relation(from, state)?));
    }
    Some(left)
}

fn read_relation(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    let left = read_sum(from, state)?;
    if let Some(operator) = from.take_one_of(&["==", "!=", "<=", ">=", "<", ">"]) {
        return Some(CedarExpr::Binary(operator, Box::new(left), Box::new(read_sum(from, state)?)));
    }
    if from.take_word("in") {
        return Some(CedarExpr::Test(Box::new(left), EntityTest::In(entity_list(from, state)?)));
    }
    if from.take_word("is") {
        let kind = type_name(from, state)?;
        let is = CedarExpr::Test(Box::new(left.clone()), EntityTest::Is(kind));
        if !from.take_word("in") {
            return Some(is);
        }
        let below = CedarExpr::Test(Box::new(left), EntityTest::In(entity_list(from, state)?));
        return Some(CedarExpr::Binary("and", Box::new(is), Box::new(below)));
    }
    if from.take_word("has") {
        let first = match from.take_text() {
            Some((text, _)) => text,
            None => from.need_name("the name of an attribute", state)?.0,
        };
        let mut path = vec![first.to_string()];
        path.extend(past_reader::read_path(from, state)?);
        return Some(CedarExpr::Has(Box::new(left), path));
    }
    if from.take_word("like") {
        let place = from.span();
        let Some((_, raw)) = from.take_text() else { return from.expected("a pattern in quotes", state) };
        let Some(regex) = pattern_regex(&raw) else {
            return state.refuse(place, "this pattern has an unknown escape", "write `\\*` for a star");
        };
        return Some(CedarExpr::Like(Box::new(left), regex));
    }
    Some(left)
}

/// Returns a pattern with `*` as a regular expression over the whole text.
fn pattern_regex(raw: &str) -> Option<String> {
    // Replaces escaped stars while the other stars are processed.
    const STAR: char = '\u{e000}';
    let raw = raw.replace("\\*", &STAR.to_string());
    let parts: Option<Vec<String>> = raw.split('*').map(super::tokens::decode_text).collect();
    let literal = |part: &String| {
        let mut written = String::new();
        for sign in part.chars() {
            let sign = if sign == STAR { '*' } else { sign };
            match sign {
                '\n' => written.push_str("\\n"),
                '\r' => written.push_str("\\r"),
                '/' | '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '#'
                | '&' | '-' | '~' => {
                    written.push('\\');
                    written.push(sign);
                }
                sign => written.push(sign),
            }
        }
        written
    };
    Some(format!("/\\A{}\\z/s", parts?.iter().map(literal).collect::<Vec<_>>().join(".*")))
}

fn read_sum(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    let mut left = read_product(from, state)?;
    while let Some(operator) = from.take_one_of(&["+", "-"]) {
        left = CedarExpr::Binary(operator, Box::new(left), Box::new(read_product(from, state)?));
    }
    Some(left)
}

fn read_product(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    let mut left = read_unary(from, state)?;
    while from.take_sign("*") {
        left = CedarExpr::Binary("*", Box::new(left), Box::new(read_unary(from, state)?));
    }
    Some(left)
}

fn read_unary(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    if let Some(literal) = literal_term(from, state) {
        return read_members(CedarExpr::Literal(literal?), from, state);
    }
    state.nested(from.span(), |state| {
        if from.take_sign("!") {
            return Some(CedarExpr::Not(Box::new(read_unary(from, state)?)));
        }
        if from.take_sign("-") {
            return Some(CedarExpr::Negate(Box::new(read_unary(from, state)?)));
        }
        let first = read_primary(from, state)?;
        read_members(first, from, state)
    })
}

fn read_members(mut value: CedarExpr, from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    loop {
        if from.is_sign("[") {
            let mut inside = from.take_group(state)?;
            let Some((key, _)) = inside.take_text() else { return inside.expected("a key in quotes", state) };
            inside.need_end(state)?;
            value = value.member(key.to_string());
        } else if from.take_sign(".") {
            let (name, place) = from.need_name("the name of an attribute", state)?;
            if !from.is_sign("(") {
                value = value.member(name.to_string());
                continue;
            }
            let Some((name, operator)) = METHODS.iter().find(|(known, _)| *known == &*name) else {
                let known: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
                let help = format!("{} are known", crate::shape::listed_names(&known));
                return state.refuse(place, format!("the function `{name}` cannot be checked on a recorded run"), help);
            };
            let parts = from.take_group(state)?.split_at_commas();
            let one = |mut part: TokenCursor| {
                let read = read_cedar(&mut part, state)?;
                part.need_end(state)?;
                Some(read)
            };
            let mut arguments: Vec<CedarExpr> = parts.into_iter().map(one).collect::<Option<_>>()?;
            let wanted = usize::from(*name != "isEmpty");
            if arguments.len() != wanted {
                return state.refuse(place, format!("`{name}` takes {wanted} values"), format!("give it {wanted}"));
            }
            value = match (operator, arguments.pop()) {
                (Some(operator), Some(right)) => CedarExpr::Binary(operator, Box::new(value), Box::new(right)),
                (_, argument) => {
                    CedarExpr::Method { on: Box::new(value), name, arguments: argument.into_iter().collect() }
                }
            };
        } else {
            return Some(value);
        }
    }
}

fn read_primary(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    if from.is_sign("(") {
        return read_whole(from.take_group(state)?, state);
    }
    if from.is_sign("?") {
        return read_whole(from.take_parameter(state)?, state);
    }
    if from.is_sign("[") {
        let parts = from.take_group(state)?.split_at_commas();
        let parts: Option<Vec<CedarExpr>> = parts.into_iter().map(|part| read_whole(part, state)).collect();
        return parts.map(CedarExpr::Set);
    }
    if from.is_sign("{") {
        return read_record(from, state);
    }
    match from.word_ahead(0) {
        Some("temporal") if from.is_sign_ahead(1, "{") => {
            from.take_token();
            let condition = past_reader::read_whole(from.take_group(state)?, state)?;
            Some(CedarExpr::Temporal(Box::new(condition)))
        }
        Some("guardrail") if from.is_sign_ahead(1, "{") => {
            from.take_token();
            read_whole(from.take_group(state)?, state)
        }
        Some("context") => {
            from.take_token();
            Some(CedarExpr::Context(Vec::new()))
        }
        Some(word) if ScopeRoot::ALL.iter().any(|root| root.name() == word) && !from.is_sign_ahead(1, "::") => {
            let root = ScopeRoot::ALL.into_iter().find(|root| from.is_word(root.name()))?;
            from.take_token();
            Some(CedarExpr::Scope(root, Vec::new()))
        }
        Some(_) => read_named(from, state),
        None => from.expected("a value", state),
    }
}

fn read_whole(mut from: TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    let value = read_cedar(&mut from, state)?;
    from.need_end(state)?;
    Some(value)
}

fn read_record(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    let mut entries = Vec::new();
    for mut part in from.take_group(state)?.split_at_commas() {
        let key = match part.take_text() {
            Some((text, _)) => text,
            None => part.need_name("a key", state)?.0,
        };
        part.need_sign(":", state)?;
        entries.push((key.to_string(), read_whole(part, state)?));
    }
    Some(CedarExpr::Record(entries))
}

/// Reads an entity, a macro, or an information provider such as `Risk::Elevated(…)`.
fn read_named(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<CedarExpr> {
    let mut length = 0_usize;
    while from.word_ahead(length).is_some() && from.is_sign_ahead(length.saturating_add(1), "::") {
        length = length.saturating_add(2);
    }
    if from.is_text_ahead(length) && length > 0 {
        return entity_name(from, state).map(CedarExpr::Entity);
    }
    if length == 0 && from.is_sign_ahead(1, "(") {
        let place = from.span();
        let word = from.word_ahead(0).unwrap_or_default().to_owned();
        if ["ip", "datetime", "duration"].contains(&word.as_str()) {
            let help = "compare numbers and texts, or write the rule in the language";
            return state.refuse(place, format!("`{word}(…)` cannot be checked on a recorded run"), help);
        }
        let (definition, body) = from.take_call(state)?;
        return state.nested(place, |state| match definition.is_temporal {
            true => past_reader::read_whole(body, state).map(|condition| CedarExpr::Temporal(Box::new(condition))),
            false => read_whole(body, state),
        });
    }
    let name = type_name(from, state)?;
    if !from.is_sign("(") {
        let help = "write `principal`, `action`, `resource`, `context`, a literal or an entity";
        return state.refuse(from.last_span(), format!("`{name}` is no value"), help);
    }
    from.take_group(state)?;
    Some(CedarExpr::Provider { name, path: Vec::new() })
}

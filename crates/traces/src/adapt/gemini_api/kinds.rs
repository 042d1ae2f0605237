//! What a record of Gemini's API is: a request, a response, or both.

use super::{GeminiApiKey, GeminiApiRole, GeminiMethod};
use crate::adapt::adk::{self, AdkPartKey};
use crate::adapt::conversation::Speaker;
use crate::adapt::fields::value_of;
use crate::adapt::nodes::{list_of, node_list, node_object, object_items, object_of, text_of};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};

fn has_parts(content: Object<'_>) -> bool {
    list_of(content, AdkPartKey::Parts).is_some()
}

pub(super) fn is_request(object: Object<'_>) -> bool {
    list_of(object, GeminiApiKey::Contents).is_some_and(|list| object_items(list).any(|(_, one)| has_parts(one)))
}

/// Beside a response a request may be written as the SDK takes it: one content, or texts.
pub(super) fn is_short_request(object: Object<'_>) -> bool {
    value_of(object, GeminiApiKey::Contents).is_some_and(|contents| {
        let is_content =
            |node: &Node<'_>| matches!(node.value, Value::Text(_)) || node_object(*node).is_some_and(has_parts);
        node_list(contents).unwrap_or(std::slice::from_ref(&contents)).iter().all(is_content)
    })
}

/// What a request repeats and adds, whether as a list or alone.
pub(super) fn contents_of<'run>(request: Object<'run>, builder: &RunBuilder<'run, '_>) -> &'run [Node<'run>] {
    let contents = value_of(request, GeminiApiKey::Contents);
    let alone = |node| std::slice::from_ref(builder.arena.alloc(node));
    contents.map(|contents| node_list(contents).unwrap_or_else(|| alone(contents))).unwrap_or_default()
}

pub(super) fn is_response(object: Object<'_>) -> bool {
    let of_content = |one| object_of(one, GeminiApiKey::Content).is_some_and(has_parts);
    let ends = |one| value_of(one, GeminiApiKey::Ended).is_some();
    list_of(object, GeminiApiKey::Candidates)
        .is_some_and(|list| object_items(list).any(|(_, one)| of_content(one) || ends(one)))
}

pub(super) fn is_exchange(object: Object<'_>) -> bool {
    is_request(object)
        || is_response(object)
        || object_of(object, GeminiApiKey::Request).is_some_and(|request| {
            is_request(request)
                || is_short_request(request) && object_of(object, GeminiApiKey::Response).is_some_and(is_response)
        })
        || method_of(object).is_some()
}

/// Whether two responses that follow one another are pieces of one answer, although the first says that it ends there: older models
/// end each piece. Without ids, pieces tell the same size of the prompt, which grows from answer to answer.
pub(super) fn is_same_answer<'run>(first: Object<'run>, second: Object<'run>) -> bool {
    let both = [first, second];
    let usages = both.map(|one| object_of(one, GeminiApiKey::Usage).and_then(adk::prompt_tokens));
    match both.map(|one| text_of(one, GeminiApiKey::Id)) {
        [Some(first), Some(second)] => first == second,
        [None, None] => matches!(usages, [Some(first), Some(second)] if values_equal(&first.value, &second.value)),
        _ => false,
    }
}

/// Of an answer in a recording that holds no requests.
pub(super) fn method_of(object: Object<'_>) -> Option<GeminiMethod> {
    let method = text_of(object, GeminiApiKey::Method).and_then(GeminiMethod::from_key)?;
    let response = value_of(object, GeminiApiKey::Response)?;
    let is_answer = || match node_list(response) {
        Some(pieces) => pieces.is_empty() || object_items(pieces).any(|(_, piece)| is_response(piece)),
        None => node_object(response).is_some_and(is_response),
    };
    Some(method).filter(|method| *method == GeminiMethod::Silent || is_answer())
}

pub(super) fn speaker_of(role: Option<&str>, given: Speaker) -> Option<Speaker> {
    match role.map(GeminiApiRole::from_key) {
        None => Some(given),
        Some(None) => None,
        Some(Some(GeminiApiRole::Model)) => Some(Speaker::Assistant),
        Some(Some(GeminiApiRole::User)) => Some(Speaker::User),
        Some(Some(GeminiApiRole::Function | GeminiApiRole::System)) => Some(Speaker::System),
    }
}

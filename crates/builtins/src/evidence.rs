//! Functions about evidence: groundedness of answers in sources, credentials, personal data.

use super::call::{BuiltinCall, BuiltinResult, borrowed_text};
use super::detect::Detector;
use super::grounding;
use super::overlap::longest_overlap;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};

/// Returns its argument. For a missing value, the machine reports the error at the call.
pub(super) fn required<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    Ok(call.argument_node(0))
}

pub(super) fn grounded<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let claims = grounding::collect_claims(&call.argument_node(0).value, call.meter)?;
    if claims.is_empty() {
        // Without any claim, the test holds vacuously.
        return Ok(Node::computed(Value::Truth(Truth::TrueByMissing)));
    }
    let missing = grounding::find_ungrounded(claims, &call.argument_node(1).value, call.meter)?;
    call.give_boolean(missing.is_empty())
}

pub(super) fn ungrounded<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let claims = grounding::collect_claims(&call.argument_node(0).value, call.meter)?;
    let missing = grounding::find_ungrounded(claims, &call.argument_node(1).value, call.meter)?;
    let mut texts = Vec::with_capacity(missing.len());
    for claim in missing {
        call.meter.charge_memory(claim.text.len())?;
        texts.push(borrowed_text(call.arena.alloc_str(&claim.text)));
    }
    call.give_list(texts)
}

pub(super) fn overlap<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let words = longest_overlap(&call.argument_node(0).value, &call.argument_node(1).value, call.meter)?;
    // If one side has no words, the comparison is vacuous.
    let node = call.give_count(words.unwrap_or(0))?;
    Ok(if words.is_none() { Node::from_nowhere(node.value) } else { node })
}

fn contains_finding<'run>(call: &mut BuiltinCall<'_, 'run>, detector: Detector) -> BuiltinResult<'run> {
    let value = call.argument_node(0).value;
    let found = detector.finds_any(call.cache.name_of(&value), &value, call.meter)?;
    call.give_boolean(found)
}

fn find_kinds<'run>(call: &mut BuiltinCall<'_, 'run>, detector: Detector) -> BuiltinResult<'run> {
    let value = call.argument_node(0).value;
    let kinds = detector.find_kinds(call.cache.name_of(&value), &value, call.meter)?;
    call.give_list(kinds.into_iter().map(borrowed_text))
}

pub(super) fn contains_secret<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    contains_finding(call, Detector::Secrets)
}

pub(super) fn find_secrets<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    find_kinds(call, Detector::Secrets)
}

pub(super) fn contains_pii<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    contains_finding(call, Detector::Pii)
}

pub(super) fn find_pii<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    find_kinds(call, Detector::Pii)
}

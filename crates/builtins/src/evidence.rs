//! Functions about evidence: what an answer claims and what its sources hold, credentials, personal data.

use super::call::{Call, Outcome, borrowed};
use super::detect::Detector;
use super::grounding;
use super::overlap::longest;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};

/// The value; that a missing one is a fault is said where the machine calls.
pub(super) fn required<'run>(call: &mut Call<'_, 'run>) -> Outcome<'run> {
    Ok(call.node(0))
}

pub(super) fn grounded<'run>(call: &mut Call<'_, 'run>) -> Outcome<'run> {
    let claims = grounding::claims(&call.node(0).value, call.meter)?;
    if claims.is_empty() {
        // Nothing was claimed: it holds, and nothing exercised it.
        return Ok(Node::computed(Value::Truth(Truth::TrueByMissing)));
    }
    let missing = grounding::ungrounded(claims, &call.node(1).value, call.meter)?;
    call.give_boolean(missing.is_empty())
}

pub(super) fn ungrounded<'run>(call: &mut Call<'_, 'run>) -> Outcome<'run> {
    let claims = grounding::claims(&call.node(0).value, call.meter)?;
    let missing = grounding::ungrounded(claims, &call.node(1).value, call.meter)?;
    let mut texts = Vec::with_capacity(missing.len());
    for claim in missing {
        call.meter.allocate(claim.text.len())?;
        texts.push(borrowed(call.arena.alloc_str(&claim.text)));
    }
    call.give_list(texts)
}

pub(super) fn overlap<'run>(call: &mut Call<'_, 'run>) -> Outcome<'run> {
    let words = longest(&call.node(0).value, &call.node(1).value, call.meter)?;
    call.give_count(words)
}

fn detect<'run>(call: &mut Call<'_, 'run>, detector: Detector) -> Outcome<'run> {
    let value = call.node(0).value;
    let found = detector.any(call.cache.name_of(&value), &value, call.meter)?;
    call.give_boolean(found)
}

fn kinds<'run>(call: &mut Call<'_, 'run>, detector: Detector) -> Outcome<'run> {
    let value = call.node(0).value;
    let kinds = detector.kinds(call.cache.name_of(&value), &value, call.meter)?;
    call.give_list(kinds.into_iter().map(borrowed))
}

pub(super) fn contains_secret<'run>(call: &mut Call<'_, 'run>) -> Outcome<'run> {
    detect(call, Detector::Secrets)
}

pub(super) fn find_secrets<'run>(call: &mut Call<'_, 'run>) -> Outcome<'run> {
    kinds(call, Detector::Secrets)
}

pub(super) fn contains_pii<'run>(call: &mut Call<'_, 'run>) -> Outcome<'run> {
    detect(call, Detector::Pii)
}

pub(super) fn find_pii<'run>(call: &mut Call<'_, 'run>) -> Outcome<'run> {
    kinds(call, Detector::Pii)
}

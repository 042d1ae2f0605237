//! Reasons why a rule cannot be exported as a policy.

/// The reason why a rule cannot be exported as a policy.
pub(super) type Refusal = &'static str;

pub(super) const RESULT: Refusal = "it asks what a call answered, which nobody knows before the call";
pub(super) const DUTY: Refusal = "it is a duty: what has to come is owed at the end, and no single call breaks it";
pub(super) const RUN: Refusal = "it is about the whole run, and not about a call that can be denied";
pub(super) const PATTERN: Refusal = "its steps are not tool calls with plain names";
pub(super) const BOUND: Refusal = "a bound in calls or turns has no counterpart there";
pub(super) const OWN_PAST: Refusal =
    "the call that opens the window and the one that breaks it are of one tool, and there a request is in its own past";
pub(super) const BLOCK: Refusal = "a block says where in the run its rules hold, which has no counterpart there";
pub(super) const GROUP: Refusal = "a group and `not` are decided as a whole, and no single call breaks them";
pub(super) const ORDER: Refusal = "what it asks of calls has no counterpart there";
pub(super) const CASE: Refusal = "it is about the runs of one case, which nothing tells apart there";
pub(super) const BINDING: Refusal = "its values are bound in a way that has no counterpart there";

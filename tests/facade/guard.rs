//! A guard in the process of an agent.

use averment::guard::{CallEnd, Decision, Guard, GuardMode, ProposedCall};
use averment::{Limits, Rules};
use serde_json::{Value, json};

#[test]
fn a_call_that_cannot_be_read_is_not_let_through() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let few = Limits { json_depth: 16, ..Limits::default() };
    for (limits, levels) in [(Limits::default(), 300), (few, 20)] {
        let rules = Rules::builder().text("r", "never delete").limits(limits).build().unwrap();
        let mut guard = Guard::new(&rules, GuardMode::Enforce);
        let error = guard.propose(&ProposedCall::new("a", "delete", json!({ "x": nested(levels) })), 0).unwrap_err();
        assert!(error.contains("nested deeper"), "{error}");
        // Nor does what a tool gives back become a line that nobody can read.
        let call = ProposedCall::new("c", "approve", json!({}));
        assert_eq!(guard.propose(&call, 0).unwrap(), Decision::Pass);
        let ended = [Ok(nested(levels)), Err(nested(levels))];
        assert!(ended.into_iter().all(|ended| guard.result(&CallEnd::of(call.clone(), ended), 0).is_err()));
        let denied = guard.propose(&ProposedCall::new("b", "delete", json!({ "x": nested(3) })), 0).unwrap();
        assert!(matches!(denied, Decision::Deny(_)));
    }
}

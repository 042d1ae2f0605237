//! Edge cases of assertion kinds: missing values, values of another type, and earlier parts that decide.

use super::vectors::word;
use crate::judged::Given;
use averment::Verdict;
use serde_json::{Value as Json, json};

/// Returns the verdict of a list of assertions on a response, as a fixture and as a recorded call.
fn said(asserts: &Json, response: &Json) -> &'static str {
    let fixture = json!({"name": "f", "response": response, "input": {"w": 3}, "expect": "pass"});
    let invariant = json!({"name": "v", "tool": "t", "fixed": {}, "assert": asserts, "test_fixtures": [fixture]});
    let text = json!({"version": 3, "invariants": [invariant]}).to_string();
    let given = Given { name: "pack.yaml", text: &text, ..Given::default() };
    given.imports_cleanly();
    let verdict = given.tested().unwrap()[0].2[0].1;
    assert!(verdict != Verdict::Vacuous, "{asserts} on {response}:\n{}", given.imported().unwrap());
    let run = json!({"tools": [], "calls": [{"tool": "t", "args": {"w": 3}, "response": response}]}).to_string();
    let judged = given.judge(&run).unwrap();
    assert_eq!(word(judged.rules[0].1), word(verdict), "{asserts} on {response}");
    word(verdict)
}

fn holds(rows: &[(Json, Json, &str)]) {
    for (asserts, response, wanted) in rows {
        let asserts = if asserts.is_array() { asserts.clone() } else { json!([asserts]) };
        assert_eq!(said(&asserts, response), *wanted, "{asserts} on {response}");
    }
}

fn equals(path: &str, value: &Json) -> Json {
    json!({"kind": "equals", "lhs": {"path": path}, "rhs": {"value": value}})
}

fn not(assertion: &Json) -> Json {
    json!({"kind": "not", "assertion": assertion})
}

#[test]
fn values_are_the_same_with_their_type() {
    let v = |value: Json| equals("$.response.v", &value);
    let differs = |value: Json| json!({"kind": "not_equals", "lhs": {"path": "$.response.v"}, "rhs": {"value": value}});
    holds(&[
        (v(json!(1)), json!({"v": 1}), "pass"),
        (v(json!(1)), json!({"v": 1.0}), "fail"),
        (v(json!(1)), json!({"v": true}), "fail"),
        (v(json!("OK")), json!({"v": "ok"}), "fail"),
        (v(json!({"a": 1, "b": [1]})), json!({"v": {"b": [1], "a": 1}}), "pass"),
        (v(json!({"a": 1})), json!({"v": {"a": 1.0}}), "fail"),
        (v(json!([])), json!({"v": {}}), "fail"),
        (differs(json!("OK")), json!({"v": "ok"}), "pass"),
        (differs(json!("OK")), json!({"v": "OK"}), "fail"),
        (differs(json!("OK")), json!({"v": 5}), "pass"),
        (differs(json!("1")), json!({"v": 1}), "pass"),
        (differs(json!(1)), json!({"v": "1"}), "pass"),
        (differs(json!(true)), json!({"v": "true"}), "pass"),
        (differs(json!(null)), json!({"v": 0}), "pass"),
        (differs(json!(null)), json!({"v": null}), "fail"),
        (differs(json!(null)), json!({}), "structural"),
        (not(&v(json!("OK"))), json!({"v": "ok"}), "pass"),
        (not(&v(json!("OK"))), json!({"v": "OK"}), "fail"),
        (not(&v(json!("OK"))), json!({}), "pass"),
        (not(&v(json!(1))), json!({"v": "1"}), "pass"),
        (not(&v(json!(false))), json!({"v": 0}), "pass"),
        (not(&v(json!(null))), json!({"v": null}), "fail"),
        (not(&v(json!(null))), json!({}), "pass"),
        (not(&differs(json!(1))), json!({"v": 1}), "pass"),
        (not(&differs(json!(1))), json!({"v": 2}), "fail"),
        (not(&differs(json!(1))), json!({}), "pass"),
    ]);
}

#[test]
fn numbers_and_lengths_are_not_made_of_other_values() {
    let most = |value: Json| json!({"kind": "at_most", "path": "$.response.v", "value": value});
    let long = |value: Json| json!({"kind": "length_at_least", "path": "$.response.v", "value": value});
    let is = |ty: &str| json!({"kind": "is_type", "path": "$.response.v", "type": ty});
    holds(&[
        (most(json!(5)), json!({"v": 5.0}), "pass"),
        (most(json!(5)), json!({"v": "4"}), "fail"),
        (most(json!(5)), json!({"v": true}), "fail"),
        (most(json!(5)), json!({"v": [1]}), "fail"),
        (most(json!(5)), json!({}), "structural"),
        (most(json!("$.input.w")), json!({"v": 3}), "pass"),
        (most(json!("$.input.w")), json!({"v": 4}), "fail"),
        (most(json!("$.input.zz")), json!({"v": 4}), "structural"),
        (most(json!("$.response.u")), json!({"v": "a", "u": "b"}), "fail"),
        (most(json!(null)), json!({"v": 1}), "fail"),
        (not(&most(json!(5))), json!({"v": "9"}), "pass"),
        (not(&most(json!(5))), json!({"v": null}), "pass"),
        (not(&most(json!(5))), json!({"v": 5}), "fail"),
        (long(json!(1)), json!({"v": "ä"}), "pass"),
        (long(json!(1)), json!({"v": {"a": 1, "b": 2}}), "fail"),
        (long(json!(0)), json!({"v": {}}), "fail"),
        (long(json!(-1)), json!({"v": [1]}), "fail"),
        (long(json!("$.input.w")), json!({"v": [1, 2, 3]}), "pass"),
        (long(json!("$.response.n")), json!({"v": [1, 2, 3], "n": 2.0}), "fail"),
        (not(&long(json!(1))), json!({"v": {"a": 1}}), "pass"),
        (not(&long(json!(1))), json!({"v": []}), "pass"),
        (is("null"), json!({"v": null}), "pass"),
        (is("null"), json!({}), "structural"),
        (is("number"), json!({"v": 1.0}), "pass"),
        (is("number"), json!({"v": "1.0"}), "fail"),
        (is("integer"), json!({"v": "1"}), "fail"),
        (is("integer"), json!({"v": -3}), "pass"),
        (is("array"), json!({"v": {}}), "fail"),
        (not(&is("integer")), json!({"v": 1.0}), "pass"),
        (not(&is("null")), json!({}), "pass"),
        (not(&is("null")), json!({"v": null}), "fail"),
        (not(&is("boolean")), json!({}), "pass"),
    ]);
}

#[test]
fn the_first_part_that_does_not_hold_decides() {
    let (v, u) = (equals("$.response.v", &json!(1)), equals("$.response.u", &json!(1)));
    let all = |parts: &[&Json]| json!({"kind": "all_of", "assert": parts});
    let any = |parts: &[&Json]| json!({"kind": "any_of", "assert": parts});
    let text = json!({"kind": "matches_regex", "path": "$.response.t", "pattern": "^a"});
    holds(&[
        (json!([v, u]), json!({"v": 2}), "fail"),
        (json!([v, u]), json!({"v": "1"}), "fail"),
        (json!([v, u]), json!({"v": null}), "fail"),
        (json!([v, u]), json!({"u": 2}), "structural"),
        (json!([v, u]), json!({"v": 1}), "structural"),
        (json!([v, u]), json!({"v": 1, "u": 1}), "pass"),
        (json!([text, u]), json!({"t": 5}), "fail"),
        (json!([text, u]), json!({"t": ["a"]}), "fail"),
        (json!([not(&v), u]), json!({"v": 1}), "fail"),
        (json!([not(&v), u]), json!({"v": 2}), "structural"),
        (json!([any(&[&v, &text]), u]), json!({}), "fail"),
        (json!([any(&[&v, &text]), u]), json!({"t": "abc"}), "structural"),
        (all(&[&v, &all(&[&u])]), json!({"v": 2}), "fail"),
        (any(&[&all(&[&v, &u]), &text]), json!({"v": 1, "t": "a"}), "pass"),
        (any(&[&v]), json!({"v": 2}), "fail"),
        (any(&[&not(&v)]), json!({}), "pass"),
        (not(&any(&[])), json!({}), "pass"),
        (not(&all(&[&v, &u])), json!({"v": 1}), "pass"),
        (not(&not(&v)), json!({}), "fail"),
        (not(&not(&v)), json!({"v": 1}), "pass"),
        (not(&not(&not(&v))), json!({"v": 1}), "fail"),
        (any(&[&not(&not(&v))]), json!({"v": 1}), "pass"),
        (json!([all(&[]), v]), json!({"v": 1}), "pass"),
    ]);
}

#[test]
fn every_element_is_looked_at_with_its_place() {
    let each = |path: &str, parts: Json| json!({"kind": "for_each", "path": path, "assert": parts});
    let positive = json!({"kind": "at_least", "path": "$.item", "value": 1});
    let id = equals("$.item.id", &json!(1));
    let index = json!({"kind": "equals", "lhs": "$.item", "rhs": "$.index"});
    let outer = json!({"kind": "equals", "lhs": {"path": "$.item"}, "rhs": {"path": "$.response.most"}});
    let items = "$.response.items[*]";
    holds(&[
        (each(items, json!([positive])), json!({"items": [1, 2]}), "pass"),
        (each(items, json!([positive])), json!({"items": [1, "2"]}), "fail"),
        (each(items, json!([positive])), json!({"items": 5}), "pass"),
        (each(items, json!([positive])), json!({"items": "[0]"}), "pass"),
        (each(items, json!([id])), json!({"items": [{"id": 2}, {}]}), "fail"),
        (each(items, json!([id])), json!({"items": [{"id": "1"}, {}]}), "fail"),
        (each(items, json!([id])), json!({"items": [{}, {"id": 2}]}), "structural"),
        (each(items, json!([not(&id)])), json!({"items": [{}, {"id": 2}]}), "pass"),
        (each(items, json!([index])), json!({"items": [0, 1, 2]}), "pass"),
        (each(items, json!([index])), json!({"items": [0, 2]}), "fail"),
        (each(items, json!([outer])), json!({"items": [3, 3], "most": 3}), "pass"),
        (each(items, json!([equals("$.response.gone", &json!(1))])), json!({"items": []}), "pass"),
        (each(items, json!([equals("$.response.gone", &json!(1))])), json!({"items": [1]}), "structural"),
        (json!([equals("$.response.v", &json!(1)), each(items, json!([id]))]), json!({"v": 2, "items": []}), "fail"),
        (json!([each(items, json!([id])), equals("$.response.v", &json!(1))]), json!({"v": 2, "items": []}), "fail"),
        (json!([each(items, json!([id])), each(items, json!([positive]))]), json!({"items": [{"id": 1}]}), "fail"),
        (
            json!({"kind": "any_of", "assert": [each(items, json!([positive])), equals("$.response.v", &json!(1))]}),
            json!({"v": 1, "items": [0]}),
            "pass",
        ),
        (each(items, json!([each("$.item[*]", json!([positive])), id])), json!({"items": [[0]]}), "fail"),
        (not(&each(items, json!([id]))), json!({"items": [{"id": 1}, {}]}), "pass"),
        (not(&each(items, json!([id]))), json!({"items": [{"id": 1}]}), "fail"),
        (each("$.response..id", json!([positive])), json!({"a": {"id": 1}, "b": [{"id": 0}]}), "fail"),
        (equals("$.response.items[-1].id", &json!(1)), json!({"items": [{"id": 0}, {"id": 1}]}), "pass"),
        (equals("$.response.items[?@.on].v", &json!(1)), json!({"items": [{"v": 2}, {"on": 1, "v": 1}]}), "pass"),
        (equals("$.response['a b']", &json!(1)), json!({"a b": 1}), "pass"),
        (equals("$.nowhere", &json!(1)), json!({}), "structural"),
        (equals("$.response.v.x", &json!(1)), json!({"v": "text"}), "structural"),
    ]);
}

#[test]
fn schemas_are_looked_at_where_there_is_a_value() {
    let fits = |schema: Json| json!({"kind": "matches_schema", "path": "$.response.v", "schema": schema});
    holds(&[
        (fits(json!({"type": "integer", "minimum": 2})), json!({"v": 2}), "pass"),
        (fits(json!({"type": "integer", "minimum": 2})), json!({"v": 1}), "fail"),
        (fits(json!({"type": "integer"})), json!({}), "structural"),
        (fits(json!(false)), json!({"v": 1}), "fail"),
        (fits(json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})), json!({"v": "x"}), "pass"),
        (not(&fits(json!({"type": "string"}))), json!({"v": 1}), "pass"),
        (not(&fits(json!({"type": "string"}))), json!({}), "pass"),
        (not(&fits(json!({"type": "string"}))), json!({"v": "x"}), "fail"),
    ]);
}

//! Sentences of reviewers: lists over steps, counts on both sides, lists made of lists, what was known so far. One row per rule and run.

use crate::values::judge;

const SHOP: &str = r#"{"calls": [
  {"tool": "get_order", "args": {"id": "o-1"}, "result": {"total": 100}},
  {"tool": "refund", "args": {"order": "o-1", "amount": 60}},
  {"tool": "refund", "args": {"order": "o-1", "amount": 30}},
  {"tool": "get_order", "args": {"id": "o-2"}, "result": {"total": 10}},
  {"tool": "refund", "args": {"order": "o-2", "amount": 20}}
], "output": {"items": [{"price": 150, "qty": 1}, {"price": 5, "qty": 0}, {"price": 7, "qty": 2}], "total": 164}}"#;

#[test]
fn a_list_over_the_steps_that_match() {
    judge(&[
        ("sum(args.amount of refund) == 110", SHOP, "pass", ""),
        ("sum(args.amount of refund) <= 100", SHOP, "fail", "is 110"),
        ("sum(args.amount of (refund where args.amount > 25)) == 90", SHOP, "pass", ""),
        ("max(args.amount of refund | get_order) == 60", SHOP, "pass", ""),
        ("length(tool of any) == 5 and (tool of any) contains \"refund\"", SHOP, "pass", ""),
        ("(args.id of get_order) == [\"o-1\", \"o-2\"]", SHOP, "pass", ""),
        ("sum(args.amount of refund(order: \"o-1\")) == 90", SHOP, "pass", ""),
        ("let total = sum(args.amount of refund)\ntotal == 110", SHOP, "pass", ""),
        ("all o in [\"o-1\", \"o-2\"]: sum(args.amount of refund(order == o)) <= 100", SHOP, "pass", ""),
        ("all o in [\"o-1\", \"o-2\"]: count refund(order == o) <= 1", SHOP, "fail", ""),
        ("sum(args.amount of charge) <= 100", SHOP, "vacuous", ""),
        ("sum(args.amout of refund) <= 100", SHOP, "vacuous", ""),
        ("sum(cost of any) <= $1", SHOP, "undecided", ""),
        ("sum(result.total of get_order ok) <= 1000", SHOP, "pass", ""),
        ("length(it of output.items) == 3", SHOP, "pass", ""),
    ]);
}

#[test]
fn bindings_ask_for_every_value_that_occurs() {
    let rule = "sum(args.amount of refund(order: $o)) <= first(result.total of get_order(id: $o))";
    let opened = |calls: &str| -> &'static str { format!(r#"{{"calls": [{calls}]}}"#).leak() };
    let (open, close) = (r#"{"tool": "open", "args": {"id": 1}}"#, r#"{"tool": "close", "args": {"id": 1}}"#);
    let equal = "count open(id: $i) == count close(id: $i)";
    let (both, one) = (opened(&format!("{open}, {close}")), opened(open));
    judge(&[
        (rule, SHOP, "fail", "\"o-2\""),
        (rule, opened(r#"{"tool": "other"}"#), "vacuous", ""),
        (equal, both, "pass", ""),
        (equal, one, "fail", ""),
        (equal, opened(close), "fail", ""),
        (equal, opened(""), "vacuous", ""),
        ("count open == count close", both, "pass", ""),
        ("count open == count close", one, "fail", "1"),
        ("count open == count close", opened(r#"{"tool": "x"}"#), "vacuous", ""),
        ("count open <= 2 * count close", one, "fail", ""),
        ("count open + count close <= 5", one, "pass", ""),
        ("count open + count close <= 5", opened(""), "pass", ""),
        ("not count open == count close", one, "pass", ""),
        ("any of { count open == count close; require x }", one, "fail", ""),
        ("each open(id: $i) { count close(id: $i) == 1 }", both, "pass", ""),
        ("each open(id: $i): count close(id: $i) == count open(id: $i)", one, "fail", ""),
        ("when count open == 1 { require close }", one, "fail", ""),
    ]);
}

#[test]
fn a_list_is_made_of_a_list() {
    judge(&[
        ("length(output.items where price > 100) <= 3", SHOP, "pass", ""),
        ("length(output.items where price > 100) == 0", SHOP, "fail", ""),
        ("sum(price * qty of (output.items where qty > 0)) == output.total", SHOP, "pass", ""),
        ("sum(price * qty of output.items where qty > 0) == 164", SHOP, "pass", ""),
        ("(price of output.items) == [150, 5, 7]", SHOP, "pass", ""),
        ("let items = output.items\nsum(price of items) == 162", SHOP, "pass", ""),
        ("param least: number = 6\nlength(output.items where price > least) == 2", SHOP, "pass", ""),
        ("length(calls where tool == \"refund\" and args.amount > 25) == 2", SHOP, "pass", ""),
        ("any n in [1, 2]: length(output.items where qty == n) == 1", SHOP, "pass", ""),
        ("sum(price of output.gone) <= 5", SHOP, "fail", "`output.gone` is missing"),
        ("length(output.items where colour == \"red\") == 0", SHOP, "vacuous", ""),
        ("each get_order: length(args.items where price > 5) == 0", SHOP, "fail", ""),
    ]);
}

#[test]
fn what_was_known_so_far() {
    let talk = r#"{"steps": [
      {"kind": "message", "role": "user", "text": "no"},
      {"kind": "message", "role": "user", "text": "yes please"},
      {"kind": "call", "tool": "wire", "args": {"n": 1}, "turn": 1},
      {"kind": "message", "role": "user", "text": "stop"},
      {"kind": "call", "tool": "wire", "args": {"n": 2}, "turn": 2}
    ]}"#;
    let turns = r#"{"calls": [
      {"tool": "login", "turn": 1}, {"tool": "login", "turn": 2}, {"tool": "login", "turn": 2}, {"tool": "login", "turn": 3, "args": {"captcha": "x"}}
    ]}"#;
    judge(&[
        ("each wire: last(text of user so far) matches /\\byes\\b/i", talk, "fail", "wire at step 5"),
        ("each wire(n: 1): last(text of user so far) matches /\\byes\\b/i", talk, "pass", ""),
        ("each wire: count user so far >= 2", talk, "pass", ""),
        ("each wire { count user so far >= 3 }", talk, "fail", ""),
        ("each login: count login so far >= 2 implies args.captcha exists", turns, "pass", ""),
        ("each login: count login so far <= 1", turns, "fail", "login at call 4"),
        ("each login: (count login so far) in [0, 1, 3]", turns, "pass", ""),
        ("never (login where count login so far > 2)", turns, "fail", "login at call 4"),
        ("each wire: grounded(args.n, text of user so far)", talk, "fail", ""),
        ("each login: count login started so far <= 2", turns, "fail", "login at call 4"),
        ("each login: (count login started so far) in [0, 1, 2, 3]", turns, "pass", ""),
        ("never (login where (count login started so far) == 2)", turns, "fail", "login at call 3"),
        ("never (login where (count login so far) == 2)", turns, "pass", ""),
    ]);
}

#[test]
fn around_every_match() {
    let rate = r#"{"calls": [
      {"tool": "refund", "args": {"c": 1, "n": 5}, "start": 0}, {"tool": "refund", "args": {"c": 2, "n": 1}, "start": 1000},
      {"tool": "refund", "args": {"c": 1, "n": 6}, "start": 4000}, {"tool": "other", "start": 5000}, {"tool": "refund", "args": {"c": 1, "n": 7}, "start": 20000}
    ]}"#;
    let row = r#"{"calls": [
      {"tool": "a", "status": "failed"}, {"tool": "b", "status": "failed"}, {"tool": "a", "status": "ok"}, {"tool": "a", "status": "failed"}
    ]}"#;
    let open =
        r#"{"complete": false, "calls": [{"tool": "a", "status": "failed"}, {"tool": "a", "status": "failed"}]}"#;
    judge(&[
        ("count refund(c: $c) <= 1 within 10s", rate, "fail", "refund at call 1"),
        ("count refund(c: $c) <= 2 within 10s", rate, "pass", ""),
        ("count refund <= 2 within 10s", rate, "fail", ""),
        ("count refund <= 2 within 1 call", rate, "pass", ""),
        ("sum(args.n of refund(c: $c)) <= 11 within 4s", rate, "pass", ""),
        ("sum(args.n of refund(c: $c)) <= 10 within 4s", rate, "fail", "11"),
        ("count charge <= 2 within 10s", rate, "vacuous", ""),
        ("count refund <= 2 within 2 turns", rate, "undecided", ""),
        ("count any failed <= 2 in a row", row, "pass", ""),
        ("count any failed <= 1 in a row", row, "fail", "a at call 1"),
        ("length(tool of any failed) <= 1 in a row", row, "fail", ""),
        ("count any failed in 1..2 in a row", row, "pass", ""),
        ("count a failed <= 2 in a row", open, "undecided", ""),
        ("let a = [1]\ncount any failed in a", row, "fail", ""),
        ("all of { count any failed <= 2 in a row; count any <= 4 }", row, "pass", ""),
    ]);
}

#[test]
fn names_of_tools_and_fields_can_still_be_said() {
    let odd = r#"{"calls": [
      {"tool": "of", "args": {"of": 1, "so": 2, "far": 3, "count": 4, "where": 5, "it": 6}}, {"tool": "so"}, {"tool": "count"}, {"tool": "output"}, {"tool": "sort", "args": {"n": 1}}
    ], "output": {"of": 1, "count": 2, "items": [{"count": 3, "of": 4, "where": 5, "it": 6, "output": 7}]}}"#;
    judge(&[
        ("require of(of: 1, so: 2, far: 3, count: 4, where: 5, it: 6)", odd, "pass", ""),
        ("require of(count > 3, of > 0)", odd, "pass", ""),
        ("sum(args.of of of) == 1", odd, "pass", ""),
        ("sum(args.count of of) == 4", odd, "pass", ""),
        ("count \"of\" == count \"so\"", odd, "pass", ""),
        ("count of == 1", odd, "pass", ""),
        ("count output == count \"output\"", odd, "pass", ""),
        ("length(it of \"output\") == 1", odd, "pass", ""),
        ("sum(args.n of \"sort\"(n: 1)) == 1", odd, "pass", ""),
        ("output.of == 1 and output.count == 2", odd, "pass", ""),
        ("sum(count of output.items) == 3", odd, "pass", ""),
        ("sum(of of output.items) == 4", odd, "pass", ""),
        (
            "length(output.items where count == 3 and of == 4 and it.where == 5 and it.it == 6 and output == 7) == 1",
            odd,
            "pass",
            "",
        ),
    ]);
}

//! JSON in a text: paths go into the value that it holds, everything else sees the text. One row per rule and run.

use crate::values::judge;
use serde_json::{Value, json};

fn order() -> String {
    let order =
        json!({"status": "open", "id": "o-1", "items": [{"price": 5, "tags": ["a"]}, {"price": 7}], "ok": true});
    json!({
        "output": order.to_string(),
        "calls": [
            {"tool": "get_order", "args": {"payload": json!({"id": "o-1"}).to_string()}, "result": format!(" \n{order:#}\n")},
            {"tool": "refund", "args": {"id": "o-1"}, "result": "done"},
            {"tool": "list", "args": {}, "result": "[{\"id\": 1}, {\"id\": 2}]"}
        ]
    })
    .to_string()
}

fn judge_on(run: String, rows: &[(&'static str, &'static str, &'static str)]) {
    let run: &'static str = run.leak();
    let rows: Vec<_> = rows.iter().map(|(rule, verdict, reason)| (*rule, run, *verdict, *reason)).collect();
    judge(&rows);
}

#[test]
fn a_path_goes_into_the_value_that_a_text_holds() {
    judge_on(
        order(),
        &[
            (r#"require get_order(result.status: "open")"#, "pass", ""),
            (r#"never get_order(result.status: "open")"#, "fail", ""),
            ("before get_order(result.id: $r) -> refund(id: $r)", "pass", ""),
            (r#"require get_order(payload.id: "o-1")"#, "pass", ""),
            ("output.items[0].price == 5 and output.items[-1].price == 7", "pass", ""),
            (r#"output["status"] == "open""#, "pass", ""),
            ("sum(output.items[*].price) == 12", "pass", ""),
            ("output.items[*].tags[*] == [\"a\"]", "pass", ""),
            ("calls[*].result.status == [\"open\"]", "pass", ""),
            ("calls[2].result[1].id == 2", "pass", ""),
            ("calls[2].result[*].id == [1, 2]", "pass", ""),
            ("output[**].price == [5, 7]", "pass", ""),
            ("output.itmes is missing", "vacuous", ""),
            ("output.gone exists", "fail", ""),
            ("output.gone is missing", "pass", ""),
            ("output.status != \"closed\"", "pass", ""),
            ("output.gone != 1", "vacuous", ""),
            ("all i in output.items: i.price > 4", "pass", ""),
            ("any i in calls[2].result: i.id == 2", "pass", ""),
            ("no i in output: i == \"closed\"", "pass", ""),
            ("jsonpath(output, \"$.items[*].price\") == [5, 7]", "pass", ""),
            ("json(output).status == \"open\"", "pass", ""),
            ("output.ok", "pass", ""),
            ("run.output.id == \"o-1\"", "pass", ""),
            ("output.status == \"opne\"", "fail", "`output.status` is \"open\""),
        ],
    );
}

#[test]
fn what_is_no_path_sees_the_text() {
    judge_on(
        order(),
        &[
            (r#"output contains "\"status\":\"open\"""#, "pass", ""),
            (r#"calls[0].result matches /"id": "o-1"/"#, "pass", ""),
            ("output is string and not output is object", "pass", ""),
            ("output is json and calls[1].result is not json", "pass", ""),
            ("length(calls[2].result) == 22", "pass", ""),
            ("output is not empty", "pass", ""),
            ("schema Order = { type: \"object\" }\noutput is Order", "fail", ""),
            ("schema Order = { type: \"object\" }\noutput is json Order", "pass", ""),
            (r#"require list(result == "[{\"id\": 1}, {\"id\": 2}]")"#, "pass", ""),
            (r#"require get_order(result mentions "o-1")"#, "pass", ""),
        ],
    );
}

#[test]
fn only_a_text_that_is_an_object_or_a_list_as_a_whole_is_gone_into() {
    let of = |text: &str| json!({"output": text, "calls": []}).to_string();
    for text in ["{\"a\": 1} and more", "a: 1", "{\"a\": 1", "\"{\\\"a\\\": 1}\"", "1", "", "null"] {
        judge_on(of(text), &[("output.a == 1", "fail", ""), ("output.a != 2", "vacuous", "")]);
    }
    judge_on(of("\t{\"a\": {\"b\": \"[1, {\\\"c\\\": 2}]\"}} "), &[("output.a.b[1].c == 2", "pass", "")]);
    // Of a key that comes twice the last counts.
    judge_on(of("{\"a\": 1, \"a\": 2}"), &[("output.a == 2", "pass", "")]);
}

#[test]
fn what_is_nested_too_deep_is_no_value_and_what_is_too_large_is_an_error() {
    let deep = json!({"output": format!("{}1{}", "[".repeat(400), "]".repeat(400)), "calls": []}).to_string();
    judge_on(deep, &[("output[0] exists", "fail", "")]);
}

#[test]
fn evidence_stands_where_the_value_stands_in_the_trace() {
    let run = order();
    let rules = averment::Rules::from_text("r.assert", "output.items[1].price == 8").unwrap();
    let outcome = rules.check_one(run.as_str()).unwrap();
    let report: Value = serde_json::to_value(&outcome).unwrap();
    let evidence = &report["results"][0]["evidence"][0];
    assert_eq!(evidence["path"], "/output/items/1/price", "{report:#}");
    let (start, end) =
        (evidence["source"]["start"].as_u64().unwrap() as usize, evidence["source"]["end"].as_u64().unwrap() as usize);
    assert_eq!(&run[start..end], "7");
}

//! Tests of generated inputs: deterministic, within their bounds, never larger than allowed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected has failed"
)]

use super::random::CaseRandom;
use super::{FoundInputs, find_inputs, size, value};
use averment_base::diagnostic::Diagnostics;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap, Span};
use averment_checker::files::Memory;
use averment_checker::ir::{ValueKind, ValueSpec};
use averment_checker::{CheckOptions, check_with_tools};
use averment_engine::compile::compile;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns the inputs that rules request, with a catalog.
fn found(rules: &str, tools: &Value) -> Result<FoundInputs, String> {
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("r.assert", None, rules));
    let tools = sources.add_file(SourceFile::new("tools.json", None, tools.to_string()));
    let options = CheckOptions { limits: Limits::default(), files: &Memory::default() };
    let checked = check_with_tools(&mut sources, root, &[tools], &options);
    if checked.diagnostics.has_errors() {
        return Err(checked.diagnostics.0.iter().map(|one| one.message.as_str()).collect::<Vec<_>>().join("; "));
    }
    let program = compile(&checked.module, &sources);
    Ok(find_inputs(&checked.module, &program, &Limits::default(), |_| true))
}

/// Returns all cases of rules, one per line.
fn lines(rules: &str, tools: &Value) -> Vec<String> {
    let found = found(rules, tools).unwrap();
    let said: Vec<&str> = found.said.0.iter().map(|one| one.message.as_str()).collect();
    let all = found.inputs.iter().flat_map(|inputs| {
        (0..inputs.cases).map(|case| match inputs.case_input(inputs.seed, case) {
            Ok(input) => format!("{} {case} {} {}", inputs.tool, input.seed, Value::Object(input.arguments)),
            Err(diagnostic) => format!("{} {case} {}", inputs.tool, diagnostic.message),
        })
    });
    said.into_iter().map(str::to_owned).chain(all).collect()
}

#[test]
fn arguments_are_made_by_what_the_rules_say() {
    let rules = "invariant g { call t generate { b: list 1..2 of list 1..1 of integer 3..3, a: boolean, c: string 2..2 } cases 2 seed 7; response exists }";
    let made = lines(rules, &json!([]));
    assert!(made[0].ends_with(r#"{"a":true,"b":[[3],[3]],"c":"xx"}"#), "{made:?}");
    assert!(made[1].contains(r#""c":"aa"}"#), "{made:?}");
    assert_eq!(made, lines(rules, &json!([])));
    assert_ne!(made[1], lines(&rules.replace("seed 7", "seed 8"), &json!([]))[1]);
}

/// Lengths beyond the default limits are generated if the rules request them.
#[test]
fn large_texts_and_lists_are_made_where_the_rules_want_them() {
    let rules =
        "invariant g { call t generate { a: string 70000..70000, b: list 100.. } cases 2 seed 7; response exists }";
    let found = found(rules, &json!([])).unwrap();
    for case in 0..2 {
        let made = found.inputs[0].case_input(7, case).unwrap().arguments;
        assert_eq!((made["a"].as_str().unwrap().len(), made["b"].as_array().unwrap().len()), (70000, 100));
    }
}

#[test]
fn the_name_that_a_seed_goes_with_can_be_given() {
    let one = "invariant g { call t generate { a: integer } cases 3 seed 7; response exists }";
    let other = one.replace("invariant g", "invariant other");
    assert_ne!(lines(one, &json!([])), lines(&other, &json!([])));
    let named = other.replace("seed 7", "seed 7 for \"g\"");
    assert_eq!(lines(one, &json!([])), lines(&named, &json!([])));
    let outside = found(&one.replace("seed 7", "seed 7 for \"${tool}\""), &json!([])).unwrap_err();
    assert_eq!(outside, "the name that a seed goes with is known before any run");
}

#[test]
fn each_tool_that_fits_gets_its_own() {
    let tools = json!([
        {"name": "read", "annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object"}},
        {"name": "write", "annotations": {"readOnlyHint": false}},
        {"name": "list", "annotations": {"readOnlyHint": true}},
    ]);
    let rules = "param hint: boolean = true\ninvariant g { for each tool where annotations.readOnlyHint == hint { call tool generate { a: integer } cases 1 seed 7 for \"g.${tool}\"; response exists } }";
    let found_ones = found(rules, &tools).unwrap();
    let names: Vec<&str> = found_ones.inputs.iter().map(|one| one.seed_name.as_str()).collect();
    assert_eq!(names, ["g.read", "g.list"]);
    let none = lines(&rules.replace("== hint", "== \"x\""), &tools);
    assert_eq!(none, ["none of the 3 tools of the catalogue fits"]);
    let unknown = found(&rules.replace("annotations.readOnlyHint == hint", "name == \"read\""), &json!([])).unwrap();
    assert_eq!(unknown.inputs[0].seed_name, "g.{{tool_name}}");
    assert!(unknown.said.0[0].message.contains("which tools there are is not known"));
    let nothing =
        "invariant g { for each tool where name == \"read\" { call tool generate { a: integer } cases 1 seed 7 } }";
    assert!(found(nothing, &tools).unwrap().said.0[0].message.contains("no assertion stands behind this call"));
}

#[test]
fn a_block_and_a_call_of_one_invariant_are_told_apart() {
    let tools = json!([{"name": "a"}, {"name": "b"}]);
    let rules = "invariant g { call a generate { n: integer } cases 1 seed 7; response exists when args.n > 1000\nfor each tool where name == \"b\" { call tool generate { n: integer } cases 1 seed 7; response exists when args.n > 1000 } }";
    let found = found(rules, &tools).unwrap();
    assert_eq!(found.inputs.iter().map(|one| one.tool.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

/// Schemas for which arguments exist.
#[test]
fn schemas_make_what_they_allow() {
    for schema in [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 3, "maxLength": 5}, "b": {"type": ["integer", "null"]}}, "required": ["a"]}),
        json!({"properties": {"a": {"enum": ["x", 1, null]}, "b": {"const": {"c": []}}}, "required": ["a", "b"], "additionalProperties": false}),
        json!({"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 3, "maximum": 9, "multipleOf": 4}}, "required": ["n"]}),
        json!({"type": "object", "properties": {"n": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}}, "required": ["n"]}),
        json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": -500}}, "required": ["n"]}),
        json!({"type": "object", "$defs": {"t": {"type": "object", "properties": {"left": {"$ref": "#/$defs/t"}, "right": {"$ref": "#/$defs/t"}, "v": {"type": "boolean"}}, "required": ["v"]}}, "properties": {"tree": {"$ref": "#/$defs/t"}}, "required": ["tree"]}),
        json!({"allOf": [{"properties": {"a": {"type": "integer", "minimum": 5}}, "required": ["a"]}, {"properties": {"a": {"maximum": 7}, "b": {"type": "string"}}, "required": ["b"]}]}),
        json!({"type": "object", "oneOf": [{"required": ["a"], "properties": {"a": {"type": "string"}}}, {"required": ["b"], "properties": {"b": {"type": "string"}}}], "additionalProperties": true}),
        json!({"type": "object", "properties": {"a": {"type": "string", "not": {"maxLength": 3}}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"kind": {"enum": ["card", "cash"]}, "number": {"type": "string"}}, "required": ["kind"], "if": {"properties": {"kind": {"const": "card"}}}, "then": {"required": ["number"]}}),
        json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4, "uniqueItems": true}}, "required": ["l"]}),
        json!({"type": "object", "properties": {"p": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false, "minItems": 2}}, "required": ["p"]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "dependentRequired": {"a": ["b"]}, "minProperties": 2}),
        json!({"type": "object", "properties": {"m": {"type": "string", "format": "email"}, "d": {"format": "date-time"}, "u": {"format": "uuid"}, "w": {"type": "string", "pattern": "^[a-z]+$", "minLength": 1}}, "required": ["m", "d", "u", "w"]}),
    ] {
        let tools = json!([{"name": "t", "inputSchema": schema}]);
        let rules = "invariant g { call t generate from schema cases 40 seed 7; response exists }";
        let made = lines(rules, &tools);
        // Only values that the validator accepted are generated.
        assert!(made.len() == 40 && made.iter().all(|line| line.ends_with('}')), "{schema}: {made:?}");
        assert_eq!(made, lines(rules, &tools));
    }
}

#[test]
fn schemas_that_allow_nothing_or_are_not_known_are_told() {
    let rules = "invariant g { call t generate from schema cases 3 seed 7; response exists }";
    for schema in [
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^[0-9]{4}-[A-Z]$"}}, "required": ["a"]}),
        json!({"type": "object", "$ref": "#"}),
        json!({"type": "object", "properties": {"a": false}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}, "required": ["a"]}}, "required": ["a"]}),
    ] {
        let made = lines(rules, &json!([{"name": "t", "inputSchema": schema}]));
        assert_eq!(
            made[0], "t 0 for case 0 no arguments were found that the schema of the tool `t` allows",
            "{schema}"
        );
    }
    let known = |tools: Value| found(rules, &tools).unwrap().said.0[0].message.clone();
    assert_eq!(known(json!([{"name": "t"}])), "these inputs come from the schema of the tool `t`, which is not known");
}

#[test]
fn what_cannot_be_made_is_told() {
    let said = |spec: &str| {
        let rules = format!("invariant g {{ call t generate {{ a: {spec} }} cases 3 seed 7; response exists }}");
        match found(&rules, &json!([])) {
            Ok(found) => found.said.0.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; "),
            Err(said) => said,
        }
    };
    for (spec, words) in [
        ("string ..2000", "texts with more than 1024 characters are made only where the shortest is longer"),
        ("list 64..65 of boolean", "lists with more than 64 elements are made only where the shortest is longer"),
        ("string 2000..", ""),
        ("string 20000000..", "an input of this call can be larger than 16 MiB"),
        ("list 5000000.. of boolean", "an input of this call can be larger than 16 MiB"),
        ("string 0..18446744073709551615", "are made only where the shortest is longer"),
        ("string 1025..18446744073709551615", "an input of this call can be larger than 16 MiB"),
        (
            "list 64..64 of list 64..64 of list 64..64 of string 9..99",
            "an input of this call can be larger than 16 MiB",
        ),
        ("integer 9..1", "nothing lies between 9 and 1: case 0 is made with 1, all others with 9"),
        ("integer ..-500", "nothing lies between -100, which is the least where none is written, and -500"),
        ("integer 0..9223372036854775808", "an end of generated whole numbers is a whole number of 64 bits"),
        ("integer 0.5..1", "an end of generated whole numbers is a whole number of 64 bits"),
        ("integer 1s..9s", "an end of generated whole numbers is a whole number of 64 bits"),
        ("number -1e308..1e308", "numbers between these ends cannot be told apart"),
        ("number 1e400..", "too large"),
        ("string -1..3", "the length of a generated value is a whole number that is not negative"),
        ("string 5", "put a range after the type of a generated value"),
        ("boolean 0..1", "a boolean has no bounds"),
        ("integer 0..9 of boolean", "only a list has elements"),
        ("strng", "unknown type `strng`"),
    ] {
        assert!(said(spec).contains(words), "{spec}: {}", said(spec));
    }
    let deep = format!("{}boolean", "list 1..1 of ".repeat(20));
    assert_eq!(said(&deep), "lists are made at most 16 levels deep");
    assert_eq!(said(&format!("{}string", "list ..0 of ".repeat(16))), "");
    let many = "invariant g { call t generate { a: integer, a: string } cases 5000000000 seed 7; response exists }";
    let said = found(many, &json!([])).unwrap_err();
    assert_eq!(
        said,
        "the key `a` occurs twice in this object; 5000000000 are more cases than the 4294967295 that there can be"
    );
}

fn spec() -> impl Strategy<Value = ValueSpec> {
    let end = || prop_oneof![Just(None), any::<i64>().prop_map(Some), (-200_i64..200).prop_map(Some)];
    let float =
        || prop_oneof![Just(None), (-1e9_f64..1e9).prop_map(Some), any::<i32>().prop_map(|end| Some(f64::from(end)))];
    let length = || {
        prop_oneof![
            4 => Just(None),
            8 => (0_u64..70).prop_map(Some),
            1 => (0_u64..3000).prop_map(Some),
            1 => any::<u64>().prop_map(Some),
        ]
    };
    let leaf = prop_oneof![
        Just(ValueKind::Boolean),
        (end(), end()).prop_map(|(least, most)| ValueKind::Integer { least, most }),
        (float(), float()).prop_map(|(least, most)| ValueKind::Number { least, most }),
        (length(), length()).prop_map(|(least, most)| ValueKind::Text { least, most }),
    ];
    let place = |kind| ValueSpec { kind, span: Span::default() };
    leaf.prop_map(place).prop_recursive(3, 4, 1, move |inner| {
        (length(), length(), proptest::option::of(inner)).prop_map(move |(least, most, elements)| {
            place(ValueKind::List { least, most, elements: elements.map(Box::new) })
        })
    })
}

/// True if a value is within the specified bounds.
fn fits(spec: &ValueSpec, value: &Value) -> bool {
    fn within<T: PartialOrd>(value: T, least: &Option<T>, most: &Option<T>) -> bool {
        least.as_ref().is_none_or(|least| *least <= value) && most.as_ref().is_none_or(|most| value <= *most)
    }
    match (&spec.kind, value) {
        (ValueKind::Boolean, value) => value.is_boolean(),
        (ValueKind::Integer { least, most }, value) => within(value.as_i64().unwrap(), least, most),
        (ValueKind::Number { least, most }, value) => value.is_f64() && within(value.as_f64().unwrap(), least, most),
        (ValueKind::Text { least, most }, Value::String(text)) => within(text.len() as u64, least, most),
        (ValueKind::List { least, most, elements }, Value::Array(values)) => {
            within(values.len() as u64, least, most)
                && values.iter().all(|value| elements.as_ref().map_or(value.is_null(), |spec| fits(spec, value)))
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every value is within its bounds unless the bounds were rejected, and no value is larger than allowed.
    #[test]
    fn values_lie_within_their_bounds(spec in spec(), seed in any::<u64>()) {
        let mut said = Diagnostics::default();
        size::check_sizes(&[("a".to_owned(), spec.clone())], Span::default(), &mut said);
        prop_assume!(!said.has_errors());
        let made: Vec<Value> = (0..4_u64)
            .map(|case| match case {
                0 => value::border_value(&spec),
                _ => value::random_value(&spec, &mut CaseRandom::new(seed, "g", case)),
            })
            .collect();
        for (case, one) in (0_u64..).zip(&made) {
            prop_assert!(!said.0.is_empty() || fits(&spec, one), "{case}: {one}");
            prop_assert!(one.to_string().len() <= 16 << 20);
            if case > 0 {
                prop_assert_eq!(one, &value::random_value(&spec, &mut CaseRandom::new(seed, "g", case)));
            }
        }
    }
}

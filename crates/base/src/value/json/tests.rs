use super::*;
use proptest::prelude::*;

fn read<'run>(text: &'run str, arena: &'run Bump) -> Result<JsonDocument<'run>, JsonError> {
    parse(text, 0, arena, &Limits::default())
}

fn complaint(text: &str) -> String {
    let arena = Bump::new();
    let error = read(text, &arena).unwrap_err();
    format!("{error}; {}", error.help)
}

fn round_trip(text: &str) -> String {
    let arena = Bump::new();
    to_json(&read(text, &arena).unwrap().node.value)
}

#[test]
fn values_keep_their_text_and_their_order() {
    let text = r#" {"z": [1, 1.0, -0e+5, 123456789012345678901234567890], "a": {"b": null, "c": [true, false, {}, []]}, "t\u0041": "\u00e9\n\/"} "#;
    assert_eq!(
        round_trip(text),
        r#"{"z":[1,1.0,-0e+5,123456789012345678901234567890],"a":{"b":null,"c":[true,false,{},[]]},"tA":"é\n/"}"#
    );
}

#[test]
fn every_value_knows_its_place() {
    let arena = Bump::new();
    let text = r#"{"a": [1, "x\n", {"b": null}]}"#;
    let document = read(text, &arena).unwrap();
    let Value::Object(object) = document.node.value else { panic!() };
    let list = object.get("a").unwrap();
    assert_eq!(&text[list.origin.byte_range().unwrap()], r#"[1, "x\n", {"b": null}]"#);
    let Value::List(items) = list.value else { panic!() };
    let places: Vec<_> = items.iter().map(|item| &text[item.origin.byte_range().unwrap()]).collect();
    assert_eq!(places, ["1", r#""x\n""#, r#"{"b": null}"#]);
}

#[test]
fn of_duplicate_keys_the_last_counts_and_is_reported() {
    let arena = Bump::new();
    let document = read(r#"{"a": 1, "b": {"c": 1, "c": 2}, "a": 3, "a": 4}"#, &arena).unwrap();
    assert_eq!(to_json(&document.node.value), r#"{"b":{"c":2},"a":4}"#);
    let keys: Vec<_> = document.duplicates.iter().map(|duplicate| duplicate.key.as_str()).collect();
    assert_eq!(keys, ["c", "a", "a"]);
}

#[test]
fn objects_with_many_keys_are_found_by_key() {
    let arena = Bump::new();
    let text = format!("{{{}}}", (0..1000).map(|i| format!("\"k{}\":{i}", i % 990)).collect::<Vec<_>>().join(","));
    let document = read(&text, &arena).unwrap();
    assert_eq!(document.duplicates.len(), 10);
    let Value::Object(object) = document.node.value else { panic!() };
    assert_eq!(to_json(&object.get("k3").unwrap().value), "993");
    assert_eq!(to_json(&object.get("k500").unwrap().value), "500");
    assert!(object.get("k990").is_none());
}

#[test]
fn the_depth_limit_is_exact() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let arena = Bump::new();
    let (good, bad) = (nested(256), nested(257));
    assert!(read(&good, &arena).is_ok());
    assert_eq!(read(&bad, &arena).unwrap_err().message, "nested deeper than 256 levels");
    let endless = "[{\"a\":".repeat(1_000_000);
    assert_eq!(read(&endless, &arena).unwrap_err().offset, 6 * 128);
}

#[test]
fn values_of_one_run_are_bounded_in_memory() {
    let arena = Bump::new();
    let limits = Limits { run_memory: 20_000, ..Limits::default() };
    let text = format!("[{}0]", "0,".repeat(1000));
    assert!(parse(&text, 0, &arena, &limits).unwrap_err().message.contains("take more than"));
}

#[test]
fn mistakes_say_what_to_write() {
    for (text, expected) in [
        ("", "line 1, column 1: expected a value, found the end; write a JSON value"),
        ("[1,]", "line 1, column 4: `]` behind a comma; remove the comma"),
        ("{\"a\": 1,}", "line 1, column 9: `}` behind a comma; remove the comma"),
        ("{a: 1}", "line 1, column 2: expected a key, found `a`; write the key in double quotes: `\"key\": value`"),
        ("{'a': 1}", "line 1, column 2: expected a key, found `'`; write the key in double quotes: `\"key\": value`"),
        ("['a']", "line 1, column 2: text in single quotes; write it in double quotes"),
        ("{\"a\" 1}", "line 1, column 6: expected `:` after the key, found `1`; write `\"key\": value`"),
        (
            "{\"a\": 1 \"b\": 2}",
            "line 1, column 9: expected `,` or `}` behind the entry, found `\"`; put a comma between two of them, or close with `}`",
        ),
        ("[True]", "line 1, column 2: `True` is not JSON; write `true`"),
        ("[None]", "line 1, column 2: `None` is not JSON; write `null`"),
        ("[NaN]", "line 1, column 2: `NaN` is not JSON; write `null`, or leave the key out"),
        ("[-Infinity]", "line 1, column 2: `-Infinity` is not a number of JSON; write `null`, or leave the key out"),
        ("[hello]", "line 1, column 2: expected a value, found `hello`; write text in double quotes"),
        ("[truer]", "line 1, column 2: expected a value, found `truer`; write text in double quotes"),
        ("// c\n1", "line 1, column 1: a comment; remove it: JSON has no comments"),
        (
            "[007]",
            "line 1, column 2: `007` is not a number of JSON; remove the leading zero, or write text in double quotes",
        ),
        ("[.5]", "line 1, column 2: `.5` is not a number of JSON; start it with a digit or `-`"),
        (
            "[1.]",
            "line 1, column 2: `1.` is not a number of JSON; write digits on both sides of `.` and after `e`, or write text in double quotes",
        ),
        ("{\"a\": [1", "line 1, column 9: the text ends inside a list; close it with `]}`; was the file cut off?"),
        ("[\"é\", \"abc", "line 1, column 7: text that is never closed; close it with `\"`; was the file cut off?"),
        ("\"a\nb\"", "line 1, column 3: a line end inside text; write `\\n`, or close the text with `\"`"),
        ("\"a\u{1}\"", "line 1, column 3: the control character U+0001 inside text; write `\\u0001`"),
        (
            "{\n \"a\": \"C:\\dir\"\n}",
            "line 2, column 10: unknown escape `\\d`; write `\\\\` for a backslash; known are `\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000`",
        ),
        ("\"\\u12g4\"", "line 1, column 2: unknown escape `\\u12g4`; write four hexadecimal digits after `\\u`"),
        ("1 2", "line 1, column 3: `2` after the end of the value; one value is expected here: remove the rest"),
        (
            "{\"a\":}",
            "line 1, column 6: expected a value of the key, found `}`; write an object, a list, text in double quotes, a number, `true`, `false` or `null`",
        ),
    ] {
        assert_eq!(complaint(text), expected, "{text}");
    }
}

#[test]
fn json_inside_text_points_at_the_outer_bytes() {
    let arena = Bump::new();
    let text = r#"{"arguments": "{\"path\": \"a\\nb\", \"n\": [1, {\"é\": \"\u00e9\"}]}", "plain": "[1, 22]"}"#;
    let document = read(text, &arena).unwrap();
    let Value::Object(outer) = document.node.value else { panic!() };
    let inner = outer.get("arguments").unwrap().parse_embedded(&arena, &Limits::default()).unwrap();
    assert_eq!(to_json(&inner.value), r#"{"path":"a\nb","n":[1,{"é":"é"}]}"#);
    let at = |node: Node<'_>| text[node.origin.byte_range().unwrap()].to_owned();
    let Value::Object(object) = inner.value else { panic!() };
    assert_eq!(at(inner), r#"{\"path\": \"a\\nb\", \"n\": [1, {\"é\": \"\u00e9\"}]}"#);
    assert_eq!(at(object.get("path").unwrap()), r#"\"a\\nb\""#);
    let Value::List(items) = object.get("n").unwrap().value else { panic!() };
    assert_eq!(at(items[0]), "1");
    let Value::Object(deep) = items[1].value else { panic!() };
    assert_eq!(at(deep.get("é").unwrap()), r#"\"\u00e9\""#);
    let plain = outer.get("plain").unwrap().parse_embedded(&arena, &Limits::default()).unwrap();
    let Value::List(items) = plain.value else { panic!() };
    assert_eq!(at(items[1]), "22");
}

#[test]
fn json_inside_json_inside_text_points_at_the_nearest_known_place() {
    let arena = Bump::new();
    let text = r#"["{\"a\": \"{\\\"b\\\": 1}\"}"]"#;
    let Value::List(items) = read(text, &arena).unwrap().node.value else { panic!() };
    let first = items[0].parse_embedded(&arena, &Limits::default()).unwrap();
    let Value::Object(object) = first.value else { panic!() };
    let second = object.get("a").unwrap().parse_embedded(&arena, &Limits::default()).unwrap();
    let Value::Object(object) = second.value else { panic!() };
    assert_eq!(&text[object.get("b").unwrap().origin.byte_range().unwrap()], r#"\"{\\\"b\\\": 1}\""#);
}

/// Any JSON value, as `serde_json` sees it.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-c\\\\\"\n\u{1}é😀]{0,12}".prop_map(Into::into),
        ".{0,30}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map("[a-c\"\\\\é]{0,3}", inner, 0..20)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// What both readers make of a text; lone surrogates are the one difference that is meant.
fn agree(text: &str) {
    let arena = Bump::new();
    let ours = read(text, &arena);
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(theirs) => {
            let ours = ours.unwrap_or_else(|error| panic!("refused {text}: {error}"));
            let written = to_json(&ours.node.value);
            assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), theirs, "{text}");
        }
        Err(error) => {
            let meant = ["surrogate", "lone leading", "hex escape", "number out of range", "recursion limit"];
            let theirs = error.to_string();
            assert!(ours.is_err() || meant.iter().any(|word| theirs.contains(word)), "accepted {text}: {theirs}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn valid_json_reads_as_serde_json_reads_it(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        agree(&text);
        // The text of our own writer reads back to the same values.
        let arena = Bump::new();
        let node = read(&text, &arena).unwrap().node;
        let written = to_json(&node.value);
        let again = read(&written, &arena).unwrap().node;
        prop_assert!(crate::value::compare::values_identical(&node.value, &again.value));
    }

    #[test]
    fn damaged_json_is_refused_exactly_where_serde_json_refuses(value in any_json(), at in any::<prop::sample::Index>(),
        new in prop::sample::select(vec!["", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "\\u00", "\n", "tru", " ", "\u{0}", "é"]),
        cut in 0_usize..3) {
        let text = serde_json::to_string(&value).unwrap();
        let place = text.char_indices().map(|(offset, _)| offset).collect::<Vec<_>>();
        let start = at.index(place.len());
        let end = place.get(start + cut).copied().unwrap_or(text.len());
        agree(&format!("{}{new}{}", &text[..place[start]], &text[end..]));
    }

    #[test]
    fn short_texts_are_read_alike(text in "[-+0-9.eE{}\\[\\],:\"\\\\ntrufals \n]{0,12}") {
        agree(&text);
    }

    #[test]
    fn embedded_json_has_the_values_and_places_of_its_text(value in any_json(), ascii in any::<bool>()) {
        let inner = serde_json::to_string(&value).unwrap();
        let mut outer = serde_json::to_string(&inner).unwrap();
        if ascii {
            outer = outer.chars().map(|c| if c.is_ascii() { c.to_string() } else {
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            }).collect();
        }
        let arena = Bump::new();
        let node = read(&outer, &arena).unwrap().node;
        let node = node.parse_embedded(&arena, &Limits::default()).unwrap();
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&to_json(&node.value)).unwrap(), value);
        check_places(node, &outer, &arena);
    }
}

/// The bytes under every value, read as JSON text, are the JSON of the value.
fn check_places(node: Node<'_>, outer: &str, arena: &Bump) {
    let slice = &outer[node.origin.byte_range().unwrap()];
    let content = unescape_text(slice, arena);
    let again = read(content, arena).unwrap();
    assert!(crate::value::compare::values_identical(&node.value, &again.node.value), "{slice}");
    match node.value {
        Value::List(items) => items.iter().for_each(|item| check_places(*item, outer, arena)),
        Value::Object(object) => object.entries().iter().for_each(|entry| check_places(entry.node, outer, arena)),
        _ => {}
    }
}

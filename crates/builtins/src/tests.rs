//! Direct calls of functions, with arguments and results as JSON.

use super::json::JsonCache;
use super::table::find_builtin;
use super::{CallEnvironment, test};
use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::value::json::{parse, to_json};
use averment_base::value::{Node, Value};
use bumpalo::Bump;
use proptest::prelude::*;
use std::time::Duration;

/// Returns the result of a call as JSON, or `missing` or `absent`.
fn call(name: &str, arguments: &str) -> String {
    limited(name, arguments, &Limits::default()).unwrap()
}

fn limited(name: &str, arguments: &str, limits: &Limits) -> Result<String, LimitError> {
    let arena = Bump::new();
    let Value::List(arguments) = parse(arguments, 0, &arena, limits).unwrap().node.value else { panic!("{arguments}") };
    run(name, arguments, &arena, limits)
}

fn run<'run>(name: &str, arguments: &[Node<'run>], arena: &'run Bump, limits: &Limits) -> Result<String, LimitError> {
    let regex = super::pattern::LinearRegex::new("(?-u)([a-z])([0-9])", 1 << 20).unwrap();
    let regex = super::matcher::RegexMatcher::Linear(Box::new(regex));
    let environment = CallEnvironment {
        arena,
        limits,
        meter: &mut FuelMeter::new(limits),
        regex: &|number| (number == 0).then_some(&regex),
        cache: &JsonCache::default(),
    };
    find_builtin(name).unwrap().call(arguments, environment).map(|node| match node.value {
        Value::Missing => "missing".to_owned(),
        Value::Absent => "absent".to_owned(),
        value => to_json(&value),
    })
}

#[test]
fn arguments_decide_first() {
    let arena = Bump::new();
    let limits = Limits::default();
    let text = || super::call::borrowed_text("a");
    let (missing, absent) = (Node::computed(Value::Missing), Node::computed(Value::Absent));
    let number = Node::computed(Value::Number(averment_base::value::Number::Integer(1)));
    for (arguments, expected) in [
        (vec![text(), absent], "absent"),
        (vec![absent, missing], "missing"),
        (vec![text(), number], "missing"),
        (vec![number, absent], "missing"),
        (vec![text()], "missing"),
        (vec![text(), text()], "1"),
    ] {
        assert_eq!(run("similarity", &arguments, &arena, &limits).unwrap().replace("1.0", "1"), expected);
    }
    for (items, expected) in [([number, absent], "absent"), ([number, missing], "missing"), ([number, number], "2")] {
        let list = Node::computed(Value::List(arena.alloc_slice_copy(&items)));
        assert_eq!(run("sum", &[list], &arena, &limits).unwrap(), expected);
    }
}

#[test]
fn text_functions() {
    for (name, arguments, expected) in [
        ("lower", r#"["ΌΣΟΣ İ"]"#, "\"όσος i̇\""),
        ("trim", r#"["\u001c x\u00a0"]"#, r#""x""#),
        ("words", r#"["a\u001fb\u2003c\u200bd"]"#, "[\"a\",\"b\",\"c\u{200b}d\"]"),
        ("lines", r#"["a\r\nb\n\n"]"#, r#"["a","b",""]"#),
        ("length", r#"["e\u0301😀"]"#, "3"),
        ("length", r#"[{"a": 1}]"#, "1"),
        ("length", "[5]", "missing"),
        ("replace", r#"["aaa", "aa", "b"]"#, r#""ba""#),
        ("replace", r#"["abc", "", "x"]"#, r#""abc""#),
        ("split", r#"["héy", ""]"#, r#"["h","é","y"]"#),
        ("split", r#"["", ","]"#, r#"[""]"#),
        ("join", r#"[["a", null, {"b": 1.50}], ", "]"#, r#""a, null, {\"b\":1.50}""#),
        ("join", r#"[[]]"#, r#""""#),
        ("text", r#"[12.50]"#, r#""12.50""#),
        ("number", r#"[" -1.50e3\n"]"#, "-1.50e3"),
        ("number", r#"["01"]"#, "missing"),
        ("number", r#"["1."]"#, "missing"),
        ("number", r#"["+1"]"#, "missing"),
        ("number", r#"["NaN"]"#, "missing"),
        ("number", r#"[7]"#, "7"),
    ] {
        assert_eq!(call(name, arguments), expected, "{name}{arguments}");
    }
}

#[test]
fn regular_expressions_split_and_replace() {
    let arena = Bump::new();
    let limits = Limits::default();
    let text = super::call::borrowed_text;
    let regex = Node::computed(Value::Regex(0));
    assert_eq!(run("split", &[text("xa1yb2"), regex], &arena, &limits).unwrap(), r#"["x","y",""]"#);
    let swapped = run("replace", &[text("a1-b2"), regex, text("$2$1")], &arena, &limits).unwrap();
    assert_eq!(swapped, r#""1a-2b""#);
}

#[test]
fn values_are_taken_out_of_prose() {
    for (text, expected) in [
        ("3 of 1,286 orders, -5 and \u{2212}7", "[3,1286,-5,-7]"),
        ("$1,234.50, 1.234,50 €, $-3 and -$4", "[1234.5,1234.5,-3,-4]"),
        ("20% of 2.5k, ½ or 1½, ３４．５", "[0.2,2500,0.5,1.5,34.5]"),
        ("1. First\n2) Second: 8", "[8]"),
        ("order o-17 of 2025-03-01 at https://a.example/12", "[]"),
        ("3-5 days, id=42, 0.0", "[3,5,42,0]"),
        ("1e40 and 12e-3", "[1e40,0.012]"),
        ("", "[]"),
    ] {
        assert_eq!(call("numbers", &serde_json::to_string(&[text]).unwrap()), expected, "{text}");
    }
    for (name, arguments, expected) in [
        ("all_json", r#"["{\"a\": [1]} and [2] and {"]"#, r#"[{"a":[1]},[2]]"#),
        ("all_json", r#"["none"]"#, "[]"),
        ("without", r#"[{"id": 1, "in": [{"ts": 2, "x": {"id": 3}}]}, ["id", "ts"]]"#, r#"{"in":[{"x":{}}]}"#),
        ("without", r#"[[{"a": 1}], []]"#, r#"[{"a":1}]"#),
        ("without", r#"[{"a": 1}, [1]]"#, "missing"),
        ("f1", r#"[["a", "a", "b"], ["a", "b", "b", "c"]]"#, "0.5714285714285714"),
        ("f1", r#"[[{"x": 1}, 2.0], [2, {"x": 1.0}]]"#, "1"),
        ("f1", r#"[[], ["a"]]"#, "0"),
        ("f1", r#"["Paris, France!", "paris in FRANCE"]"#, "0.8"),
        ("f1", r#"["Zürich 12", ["zürich", "12"]]"#, "1"),
        ("f1", r#"["", "…"]"#, "1"),
        ("f1", r#"[5, "5"]"#, "missing"),
    ] {
        assert_eq!(call(name, arguments).replace("1.0", "1").replace("0.0", "0"), expected, "{name}{arguments}");
    }
}

/// In builds without the SQL parser, the answer is `absent`.
#[test]
fn statements_of_sql_are_told_from_prose() {
    let answer = |text: &str| call("is_sql", &serde_json::to_string(&[text]).unwrap());
    let known = |answer: &'static str| if super::text_format::READS_SQL { answer } else { "absent" };
    for text in ["SELECT 1", "select * from t where a = 'x'; delete from t", "INSERT INTO \"t\" VALUES (1, 2)"] {
        assert_eq!(answer(text), known("true"), "{text}");
    }
    for text in ["", "-- nothing", "SELECT FROM WHERE", "the answer is SELECT 1", "Use the force"] {
        assert_eq!(answer(text), known("false"), "{text}");
    }
    assert_eq!(answer(&format!("SELECT {}1{}", "(".repeat(13), ")".repeat(13))), "absent");
    assert_eq!(answer(&format!("SELECT '{}'", "a".repeat(256 << 10))), "absent");
}

#[test]
fn expressions_capture_by_both_engines() {
    let meter = || FuelMeter::new(&Limits::default());
    for (pattern, text, expected) in [
        (r"ANSWER:\s*(\d+)", "so ANSWER: 42.", Some(vec![(None, Some("ANSWER: 42")), (None, Some("42"))])),
        ("(a)|(b)", "b", Some(vec![(None, Some("b")), (None, None), (None, Some("b"))])),
        ("(?P<x>a)b", "ab", Some(vec![(None, Some("ab")), (Some("x"), Some("a"))])),
        ("c", "ab", None),
    ] {
        for backtracks in [false, true] {
            let matcher = super::matcher::RegexMatcher::new(0, pattern, backtracks, 1, 1 << 20).unwrap();
            let found = matcher.capture_groups(text, &mut meter()).unwrap();
            let found = found.map(|groups| groups.iter().map(|group| (group.name, group.text)).collect::<Vec<_>>());
            assert_eq!(found, expected, "{pattern} {backtracks}");
        }
    }
    let arena = Bump::new();
    let arguments = [super::call::borrowed_text("x b7"), Node::computed(Value::Regex(0))];
    assert_eq!(run("capture", &arguments, &arena, &Limits::default()).unwrap(), r#"["b","7"]"#);
}

#[test]
fn lists_and_numbers() {
    for (name, arguments, expected) in [
        ("sum", "[[]]", "0"),
        ("sum", "[[9007199254740993, 2]]", "9007199254740995"),
        ("sum", "[[123456789012345678901234567890]]", "123456789012345678901234567890"),
        ("sum", r#"[[1, "2"]]"#, "missing"),
        ("avg", "[[1, 2]]", "1.5"),
        ("avg", "[[]]", "missing"),
        ("median", "[[3, 1, 2]]", "2"),
        ("median", "[[4, 1, 2, 3]]", "2.5"),
        ("exp", "[-1000]", "0.0"),
        ("exp", "[1000]", "missing"),
        ("gleu", r#"["the cat sat", "the cat sat on the mat"]"#, "0.3333333333333333"),
        ("gleu", r#"["The cat sat on the mat", ["no", "the cat is on the mat."]]"#, "0.5"),
        ("gleu", r#"["one.", ["two", "one"]]"#, "1.0"),
        ("gleu", r#"["a", [1]]"#, "missing"),
        ("gleu", r#"["a", []]"#, "missing"),
        ("bleu", r#"["the cat sat", "the cat sat on the mat", 1e-7]"#, "0.36787944117144233"),
        ("bleu", r#"["the cat sat", "the cat sat", 1e-7]"#, "1.0"),
        ("bleu", r#"["a b", "a b", 0]"#, "missing"),
        ("bleu", r#"["the cat sat", ["no", "the cat sat"]]"#, "1.0"),
        ("percentile", "[[1, 2, 3, 4], 0.5]", "2.5"),
        ("percentile", "[[7], 0.99]", "7"),
        ("percentile", "[[1, 2], 1]", "2"),
        ("percentile", "[[1, 2], 95]", "missing"),
        ("min", r#"[["b", "a"]]"#, r#""a""#),
        ("max", r#"[[1, "a"]]"#, "missing"),
        ("max", "[[true]]", "missing"),
        ("max", "[[1, 1.0]]", "1"),
        ("distinct", r#"[[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}, [1], [1]]]"#, r#"[{"a":1,"b":2},[1]]"#),
        ("sort", r#"[["b", "B", "a"]]"#, r#"["B","a","b"]"#),
        ("sort", "[[1e1, 9, 9.5]]", "[9,9.5,1e1]"),
        ("sort", "[[1, null]]", "missing"),
        ("reverse", r#"["aé"]"#, r#""éa""#),
        ("flatten", "[[1, [2, [3]]]]", "[1,2,[3]]"),
        ("first", "[[]]", "missing"),
        ("abs", "[-123456789012345678901234567890]", "123456789012345678901234567890"),
        ("abs", "[-0.5]", "0.5"),
        ("floor", "[-2.5]", "-3"),
        ("ceil", "[1e300]", "1e300"),
        ("round", "[2.5]", "3"),
        ("round", "[-2.5]", "-3"),
        ("round", "[1.005, 2]", "1.01"),
        ("round", "[0.0449, 1]", "0"),
        ("round", "[0.05, 1]", "0.1"),
        ("round", "[99.96, 1]", "100"),
        ("round", "[1251, -2]", "1300"),
        ("round", "[49, -2]", "0"),
        ("round", "[1e300, 2]", "1e300"),
        ("round", "[1.5, 99]", "missing"),
    ] {
        assert_eq!(call(name, arguments), expected, "{name}{arguments}");
    }
}

#[test]
fn encodings_and_times() {
    for (name, arguments, expected) in [
        ("sha256", r#"[""]"#, r#""e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#),
        ("base64_decode", r#"["w6Q_"]"#, r#""ä?""#),
        ("base64_decode", r#"["aGVs\nbG8="]"#, r#""hello""#),
        ("base64_decode", r#"["/w=="]"#, "missing"),
        ("base64_decode", r#"["a*"]"#, "missing"),
        ("url_decode", r#"["a+b%2"]"#, r#""a+b%2""#),
        ("url_decode", r#"["%ff"]"#, "missing"),
        ("timestamp", r#"["2025-03-01T12:00:00.0005Z"]"#, "1740830400000.5"),
        ("timestamp", r#"["2025-03-01T12:00:00+02:00"]"#, "1740823200000"),
        ("timestamp", r#"["2025-03-01T12:00:00"]"#, "1740830400000"),
        ("timestamp", r#"["2025-03-01"]"#, "1740787200000"),
        ("timestamp", "[5]", "5"),
        ("timestamp", r#"["2025-13-01"]"#, "missing"),
        ("timestamp", r#"["2025-03-01T12:00:00[Europe/Berlin]"]"#, "missing"),
        ("timestamp", r#"["soon"]"#, "missing"),
        ("date", "[-1]", r#""1969-12-31""#),
        ("date", "[1e300]", "missing"),
        ("weekday", "[0]", r#""thursday""#),
        ("hour", r#"["2025-03-01T23:59:59Z"]"#, "23"),
        ("hour", r#"["2025-03-01T23:59:59Z", "Berlin"]"#, "missing"),
        ("hour", r#"["2025-03-01T23:59:59Z", "Etc/Unknown"]"#, "missing"),
    ] {
        assert_eq!(call(name, arguments), expected, "{name}{arguments}");
    }
}

#[test]
fn times_in_zones_follow_their_clocks() {
    for (name, time, zone, expected) in [
        ("hour", "2025-03-01T12:00:00Z", "UTC", "12"),
        ("hour", "2025-03-01T12:00:00Z", "europe/berlin", "13"),
        ("hour", "2025-03-01T12:00:00", "Asia/Kolkata", "17"),
        // On 30 March 2025 clocks went from 2 to 3 o'clock, and on 26 October back from 3 to 2.
        ("hour", "2025-03-30T00:59:59Z", "Europe/Berlin", "1"),
        ("hour", "2025-03-30T01:00:00Z", "Europe/Berlin", "3"),
        ("hour", "2025-10-26T00:30:00Z", "Europe/Berlin", "2"),
        ("hour", "2025-10-26T01:30:00Z", "Europe/Berlin", "2"),
        ("hour", "2025-10-26T02:00:00Z", "Europe/Berlin", "3"),
        // Samoa skipped 30 December 2011.
        ("date", "2011-12-30T09:59:00Z", "Pacific/Apia", r#""2011-12-29""#),
        ("date", "2011-12-30T10:00:00Z", "Pacific/Apia", r#""2011-12-31""#),
        ("weekday", "2025-03-02T23:30:00Z", "Europe/Berlin", r#""monday""#),
        ("weekday", "2025-03-03T02:00:00Z", "America/New_York", r#""sunday""#),
        // After the end of the table, the zone's rule applies.
        ("hour", "2099-07-01T12:00:00Z", "Europe/Berlin", "14"),
    ] {
        assert_eq!(call(name, &format!(r#"["{time}", "{zone}"]"#)), expected, "{name} {time} {zone}");
    }
    assert!(super::time::zone_names().len() > 500);
}

#[test]
fn json_and_paths() {
    for (name, arguments, expected) in [
        ("json", r#"["{\"a\": [1.50]}"]"#, r#"{"a":[1.50]}"#),
        ("json", r#"["{a}"]"#, "missing"),
        ("json", r#"[{"a": 1}]"#, r#"{"a":1}"#),
        ("jsonpath", r#"[{"a": [1, {"b": 2.50}]}, "$..b"]"#, "[2.50]"),
        ("jsonpath", r#"[[3, 1, 2], "$[-1, 0]"]"#, "[2,3]"),
        ("jsonpath", r#"[{"it's": 1}, "$['it\\'s']"]"#, "[1]"),
        ("jsonpath", r#"[[1], "items"]"#, "missing"),
    ] {
        assert_eq!(call(name, arguments), expected, "{name}{arguments}");
    }
    assert_eq!(super::json::check_path("$.a[?@.b > 1]"), Ok(()));
    assert_eq!(super::json::check_path("a").unwrap_err().offset, 0);
    assert!(super::json::check_path("$.items[?@.price > 10").unwrap_err().offset > 0);
}

#[test]
fn found_values_keep_their_place_in_the_trace() {
    let arena = Bump::new();
    let limits = Limits::default();
    let text = r#"{"note": "{\"ids\": [\"o-1\", \"o-2\"]}"}"#;
    let Value::Object(root) = parse(text, 0, &arena, &limits).unwrap().node.value else { panic!() };
    let cache = JsonCache::default();
    let mut meter = FuelMeter::new(&limits);
    let mut results = vec![root.get("note").unwrap()];
    for (name, more) in [("json", None), ("jsonpath", Some(super::call::borrowed_text("$.ids[1]")))] {
        let environment =
            CallEnvironment { arena: &arena, limits: &limits, meter: &mut meter, regex: &|_| None, cache: &cache };
        let arguments: Vec<_> = results.last().copied().into_iter().chain(more).collect();
        results.push(find_builtin(name).unwrap().call(arena.alloc_slice_copy(&arguments), environment).unwrap());
    }
    let found = results[2];
    let Value::List(&[id]) = found.value else { panic!() };
    assert_eq!(&text[id.origin.byte_range().unwrap()], r#"\"o-2\""#);
}

#[test]
fn tests_of_values_know_texts_lists_and_keys() {
    let arena = Bump::new();
    let limits = Limits::default();
    let value = |text: &str| parse(arena.alloc_str(text), 0, &arena, &limits).unwrap().node.value;
    let mut meter = FuelMeter::new(&limits);
    for (subject, wanted, expected) in [
        (r#""abc""#, r#""b""#, Some(true)),
        (r#""abc""#, r#""""#, Some(true)),
        (r#""5""#, "5", None),
        (r#"[1, "a"]"#, "1.0", Some(true)),
        (r#"["abc"]"#, r#""b""#, Some(false)),
        (r#"{"a": null}"#, r#""a""#, Some(true)),
        ("5", "5", None),
    ] {
        assert_eq!(test::contains(&value(subject), &value(wanted), &mut meter), Ok(expected), "{subject} {wanted}");
    }
    for (subject, wanted, expected) in [
        (r#""ΌΣΟΣ""#, r#""όσος""#, Some(true)),
        (r#""Straße""#, r#""STRASSE""#, Some(false)),
        (r#""4 \u212a""#, r#""k""#, Some(true)),
        (r#"["VIP"]"#, r#""vip""#, Some(true)),
        (r#"{"Id": 1}"#, r#""iD""#, Some(true)),
    ] {
        let answer = test::contains_ignoring_case(&value(subject), &value(wanted), &mut meter);
        assert_eq!(answer, Ok(expected), "{subject} {wanted}");
    }
}

/// Asserts a time limit for hostile input. It is generous, for slow machines and unoptimized builds.
fn in_time<R>(work: impl FnOnce() -> R) -> R {
    let start = crate::clock::now();
    let result = work();
    let worked = crate::clock::now() - start;
    assert!(worked < Duration::from_secs(30), "{worked:?}");
    result
}

#[test]
fn hostile_input_ends_at_a_limit() {
    let limits = Limits { fuel: 2_000_000, computed_bytes: 4 << 20, ..Limits::default() };
    let long = "a".repeat(1 << 20);
    let quote = |text: &str| serde_json::to_string(text).unwrap();
    let other = "b".repeat(1 << 20);
    let hostile = [
        ("levenshtein", format!("[{}, {}]", quote(&long), quote(&other))),
        ("similarity", format!("[{}, {}]", quote(&long), quote(&other))),
        ("replace", format!("[{}, \"a\", {}]", quote(&long), quote(&long))),
        ("join", format!("[[{}], {}]", vec!["1"; 1000].join(","), quote(&long))),
        ("rouge_l", format!("[{}, {}]", quote(&"a ".repeat(1 << 19)), quote(&"b ".repeat(1 << 19)))),
        ("gleu", format!("[{}, {}]", quote(&"a ".repeat(1 << 19)), quote(&"b ".repeat(1 << 19)))),
        ("jsonpath", format!("[{}1{}, \"$..*..*..*..*..*\"]", "[".repeat(200), "]".repeat(200))),
        ("jsonpath", format!("[[{}], \"$[?$[?$[?@]]]\"]", vec!["1"; 3000].join(","))),
        ("words", format!("[{}]", quote(&"a ".repeat(1 << 19)))),
        ("numbers", format!("[{}]", quote(&"1 ".repeat(1 << 19)))),
        ("all_json", format!("[{}]", quote(&"[]".repeat(1 << 19)))),
    ];
    for (name, arguments) in &hostile {
        let result = in_time(|| limited(name, arguments, &limits));
        assert!(matches!(result, Err(LimitError::Fuel | LimitError::Memory)), "{name}: {result:?}");
    }
}

#[test]
fn json_in_hostile_text_is_found_in_bounded_time() {
    let limits = Limits::default();
    for text in ["{".repeat(1 << 18), "{\"a\":[".repeat(1 << 14), "[[".repeat(1 << 15), "{\"".repeat(1 << 17)] {
        let mut meter = FuelMeter::new(&limits);
        let _ = in_time(|| super::json::find_json(&text, &limits, &mut meter, |_, _| Ok(true)));
    }
}

proptest! {
    /// The results are valid numbers, and reading them again gives the same ones.
    #[test]
    fn numbers_of_texts_are_numbers(text in "[-0-9,.%k½$４ ]{0,20}") {
        let once = call("numbers", &serde_json::to_string(&[&text]).unwrap());
        prop_assert!(serde_json::from_str::<Vec<f64>>(&once).is_ok(), "{once}");
    }

    #[test]
    fn the_edit_distance_is_the_plain_one(left in "[abcé]{0,150}", right in "[abcé]{0,150}") {
        let arguments = serde_json::to_string(&[&left, &right]).unwrap();
        prop_assert_eq!(call("levenshtein", &arguments), strsim::levenshtein(&left, &right).to_string());
    }

    #[test]
    fn the_common_subsequence_is_the_plain_one(
        left in prop::collection::vec("[a-c]", 0..150),
        right in prop::collection::vec("[a-c]", 0..150),
    ) {
        let arguments = serde_json::to_string(&[left.join(" "), right.join(" ")]).unwrap();
        let mut row = vec![0_usize; right.len() + 1];
        for a in &left {
            let mut diagonal = 0;
            for (index, b) in right.iter().enumerate() {
                let above = row[index + 1];
                row[index + 1] = if a == b { diagonal + 1 } else { above.max(row[index]) };
                diagonal = above;
            }
        }
        let common = row[right.len()] as f64;
        let (precision, recall) = (common / left.len().max(1) as f64, common / right.len().max(1) as f64);
        let expected =
            if common > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
        prop_assert_eq!(call("rouge_l", &arguments), format!("{expected:?}"));
    }

    #[test]
    fn rounding_agrees_with_decimal_text(value in -1e6_f64..1e6, digits in 0_u8..6) {
        let arguments = format!("[{value:?}, {digits}]");
        let rounded: f64 = call("round", &arguments).parse().unwrap();
        prop_assert!((rounded - value).abs() <= 0.5000001 * 10_f64.powi(-i32::from(digits)));
        let text = format!("{rounded:?}");
        prop_assert!(text.split_once('.').is_none_or(|(_, fraction)| fraction.len() <= usize::from(digits.max(1))), "{}", text);
    }
}

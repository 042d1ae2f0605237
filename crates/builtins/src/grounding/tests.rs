use super::*;
use averment_base::limits::Limits;
use averment_base::value::json::parse;
use bumpalo::Bump;

/// Returns the ungrounded claims of two JSON values.
fn check(values: &str, sources: &str) -> Vec<String> {
    let arena = Bump::new();
    let limits = Limits::default();
    let mut meter = FuelMeter::new(&limits);
    let value = |text| parse(text, 0, &arena, &limits).unwrap().node.value;
    let claims = collect_claims(&value(values), &mut meter).unwrap();
    find_ungrounded(claims, &value(sources), &mut meter).unwrap().into_iter().map(|claim| claim.text).collect()
}

#[test]
fn numbers_are_grounded_in_every_spelling() {
    for (claim, source) in [
        ("paid $1,234.50", "[1234.5]"),
        ("1234.5", r#""total: 1,234.50 USD""#),
        ("1.234,50 €", "1234.50"),
        ("12%", "0.12"),
        ("12%", r#""12 percent""#),
        ("0.12", r#""12%""#),
        ("2.5M users", "2500000"),
        ("about 30s", "30"),
        ("the 3rd try", "3"),
        ("3-5 days", r#""between 3 and 5""#),
        ("3–5 days", "[3, 5]"),
        ("-7 degrees", "7"),
        ("1e3", "1000"),
        ("EUR12.50", "12.5"),
        ("id=42", "42"),
        ("12", r#""1,12,123""#),
        ("1'000'000", "1000000"),
        ("0,5", "0.5"),
        ("1. First\n2) Second\n- 3. Third", "[]"),
        ("007", "7"),
    ] {
        let claim = serde_json::to_string(claim).unwrap();
        assert_eq!(check(&format!("{{\"text\": {claim}}}"), source), [""; 0], "{claim} in {source}");
    }
}

#[test]
fn numbers_that_stand_nowhere_are_named() {
    for (claim, source, expected) in [
        ("3 of 7 orders", r#"["7 orders"]"#, vec!["3"]),
        ("$1,234.50.", "1234.05", vec!["$1,234.50"]),
        ("1.234", "1234", vec!["1.234"]),
        ("10", r#""100 and 0.1 and INV-10""#, vec!["10"]),
        ("12,5", "125", vec!["12,5"]),
        ("3-5", "3", vec!["5"]),
    ] {
        let claim = serde_json::to_string(claim).unwrap();
        assert_eq!(check(&format!("{{\"text\": {claim}}}"), source), expected, "{claim} in {source}");
    }
}

#[test]
fn ids_and_urls_are_grounded_as_wholes() {
    let source = r#"{"o-1": {"url": "https://shop.example/orders/o-1?x=1", "note": "see https://docs.example/a/, INV-2024-001 of 2025-03-01"}}"#;
    for (claim, expected) in [
        (r#"["o-1"]"#, vec![]),
        (r#"["o-12", "o", "o-1-2"]"#, vec!["o-12", "o", "o-1-2"]),
        (r#""order o-1, invoice INV-2024-001.""#, vec![]),
        (r#""invoice INV-2024""#, vec!["INV-2024"]),
        (r#""on 2025-03-01 and 2025-03-02""#, vec!["2025-03-02"]),
        (r#""[docs](https://docs.example/a).""#, vec![]),
        (r#""https://docs.example/a/b""#, vec!["https://docs.example/a/b"]),
        (r#""https://shop.example/orders""#, vec!["https://shop.example/orders"]),
        (r#"["shop"]"#, vec![]),
        (r#""all is well""#, vec![]),
        (r#"{"status": "done"}"#, vec![]),
        (r#"["NYC"]"#, vec!["NYC"]),
    ] {
        assert_eq!(check(claim, source), expected, "{claim}");
    }
}

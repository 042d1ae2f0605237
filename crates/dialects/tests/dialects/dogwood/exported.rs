//! Rules written as policies.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_dialects::export_dogwood;

fn exported(rules: &str) -> String {
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("rules.assert", None, rules));
    let (file, _, said) = averment_syntax::parse(&sources, root, &Limits::default());
    assert!(!said.has_errors(), "{said:?}");
    let text = export_dogwood(&sources, root, &file, "Shop").text;
    text.split_once("resource);\n").unwrap().1.trim().to_owned()
}

#[test]
fn rules_that_can_deny_are_policies() {
    for (rule, wanted) in [
        (
            "before approve(id: $k, result.ok: true) -> refund(id: $k, amount > 100) within 1h",
            "forbid (principal, action == Shop::Action::\"refund\", resource)\nwhen { context.input.amount > 100 }\n\
             unless temporal { formerly within 1h Shop::Action::\"approve\"::response{ input.id: context.input.id, output.ok: true } };",
        ),
        ("never drop_table", "forbid (principal, action == Shop::Action::\"drop_table\", resource);"),
        (
            "never pay(k: $k) after close(k: $k) until open(k: $k)",
            "when temporal { !Shop::Action::\"open\"::response{ input.k: context.input.k } since within 24h \
             Shop::Action::\"close\"::request{ input.k: context.input.k } };",
        ),
        (
            "count pay <= 3 within 10m",
            "when temporal { (count for (t: Timepoint). where (formerly within 10m (Shop::Action::\"pay\"::request{} && tp(t)))) > 3 };",
        ),
        (
            "sum(args.n of pay(k: $k)) <= 500",
            "(formerly within 24h (Shop::Action::\"pay\"::request{ input.k: context.input.k, input.n: a } && tp(t)))) > 500 };",
        ),
        (
            "each pay: args.cur in [\"EUR\"] and args.n <= 9",
            "unless { ([\"EUR\"].contains(context.input.cur) && context.input.n <= 9) };",
        ),
        ("only a, b", "unless { action == Shop::Action::\"a\" || action == Shop::Action::\"b\" };"),
        ("immediately before a -> b", "unless temporal { previous within 24h Shop::Action::\"a\"::response{} };"),
    ] {
        let found = exported(rule);
        assert!(found.ends_with(wanted), "{rule}\n{found}\nlacks:\n{wanted}");
    }
}

#[test]
fn other_rules_are_remarks_with_a_reason() {
    for (rule, wanted) in [
        ("after pay -> receipt", "it is a duty"),
        ("require pay", "it is a duty"),
        ("output contains \"done\"", "it is about the whole run"),
        ("each pay: result.ok == true", "what a call answered"),
        ("before a -> b within 3 calls", "a bound in calls or turns"),
        ("never delete_*", "plain names"),
        ("never a after a", "in its own past"),
        ("count a >= 3", "it is a duty"),
    ] {
        let found = exported(rule);
        assert!(found.starts_with(&format!("// not enforced: {rule}\n")) && found.contains(wanted), "{rule}\n{found}");
    }
}

//! Rules exported as policies.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_dialects::export_dogwood;

pub fn exported(rules: &str) -> String {
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

#[test]
fn what_stands_around_a_rule_is_not_lost() {
    for (rules, wanted) in [
        ("never a severity warn", "it only warns"),
        ("never a severity info", "it only warns"),
        ("never a when inputs.vip == true", "a condition on the run"),
        ("never a allow undecided", "what a verdict does"),
        ("never a deny vacuous", "what a verdict does"),
        ("never a weight 2", "a part of a score"),
        ("never a threshold 0.5", "a part of a score"),
        ("never a expect fail \"known\"", "expected to fail"),
        ("rule r severity warn { never a }", "it only warns"),
        ("rule r { severity warn\n never a }", "it only warns"),
        ("rule r threshold 0.5 { never a }", "a part of a score"),
        ("rule r when inputs.x == 1 { never a }", "a condition on the run"),
        ("suite \"s\" { severity warn\n never a }", "it only warns"),
        ("case c { never a }", "the runs of one case"),
        ("each b { never a }", "a block says where"),
        ("before b { never a }", "a block says where"),
        ("when inputs.x == 1 { never a }", "a block says where"),
        ("any of { never a; never b }", "a group"),
        ("not never a", "a group"),
        ("def step paid = a\nnever paid", "defined elsewhere"),
        ("tool a also b\nnever a", "other names"),
        ("tool a also b\nnever b", "other names"),
        ("tool a* fails when result.code != 0\nbefore ab ok -> c", "which calls of the tool failed"),
        ("never a(x: $x, y: $x)", "its values are bound"),
        ("param most: number = 5\nnever a(n > most)", "more than the arguments"),
        ("param who: string = \"x\"\nnever a(n: who)", "no counterpart"),
        ("each a: inputs.n > 5", "more than the arguments"),
        ("starts before a -> a", "in its own past"),
        ("starts before a ok -> b", "what a call answered"),
        ("never repeat a more than 3 times", "no counterpart"),
        ("sum(cost of a) <= 5", "more than the arguments"),
        ("sum(args.n of a) <= $5", "no number that is written there"),
    ] {
        let found = exported(rules);
        assert!(found.starts_with("// not enforced: ") && found.contains(wanted), "{rules}\n{found}");
        assert!(!found.contains("forbid (") && !found.contains("permit ("), "{rules}\n{found}");
    }
}

#[test]
fn the_nearest_severity_counts_and_plain_words_change_nothing() {
    for rules in [
        "rule r severity warn { never a severity error }",
        "never a severity error",
        "never a message \"no\" tags x must id y",
        "rule r \"why\" { message \"no\"\n never a }",
        "tool a tagged slow\nnever a",
        "tool a fails when result.code != 0\nnever a",
    ] {
        let found = exported(rules);
        assert!(found.ends_with("forbid (principal, action == Shop::Action::\"a\", resource);"), "{rules}\n{found}");
    }
}

#[test]
fn what_a_policy_decides_otherwise_stands_above_it() {
    insta::assert_snapshot!(exported(
        "starts before a -> b\nbefore a -> b within 5m\nbefore a ok -> b\nimmediately before a -> b within 1m\n\
         never b(tool: \"x\") after a ok until c\nnever b"
    ));
}

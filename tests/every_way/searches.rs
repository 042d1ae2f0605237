//! Rules that look for texts, at entries of the run and at fields of calls: what can often be decided before a run is read in full.

use crate::source::Source;

/// Words that texts of runs are made of.
pub const WORDS: [&str; 14] = [
    "x",
    "yes",
    "refund",
    "KEY-77",
    "key-",
    "order_1234",
    "summary of",
    "zürich",
    "a\"b",
    "https://a.example/x",
    "\u{1f600}",
    "c\\d",
    "",
    "hunter22Xq9vTz7w",
];

/// A word as it stands in a text of a rule.
fn quoted(source: &mut Source) -> String {
    format!("\"{}\"", source.pick(&WORDS).replace('\\', "\\\\").replace('"', "\\\""))
}

fn regex(source: &mut Source) -> &'static str {
    source.pick(&[
        r"/\bkey-[0-9]{2,}\b/i",
        r"/^x/",
        r"/order_[0-9]+/",
        r"/(?i)refund|summary/",
        r"/s$/",
        r"/z.rich/",
        r"/[a-z]+ refund/",
        r"/hunter[0-9]+[A-Za-z]/",
        r"/^$/",
        r"/\\/",
        r"/(?<!\w)key-(?=[0-9])/ib",
        r"/([a-z])\1/b",
    ])
}

/// A test of a text.
fn text_test(source: &mut Source) -> String {
    match source.below(11) {
        0 => format!("contains {}", quoted(source)),
        1 => format!("not contains {}", quoted(source)),
        2 => format!("matches {}", regex(source)),
        3 => format!("not matches {}", regex(source)),
        4 => format!("icontains {}", quoted(source)),
        5 => format!("starts with {}", quoted(source)),
        6 => format!("ends with {}", quoted(source)),
        7 => format!("== {}", quoted(source)),
        8 => format!("mentions {}", quoted(source)),
        9 => format!("not mentions {}", quoted(source)),
        _ => source.pick(&["is empty", "is not empty", "exists", "is missing", "is string"]).to_owned(),
    }
}

/// A test of a number.
fn number_test(source: &mut Source, unit: &str) -> String {
    let sign = source.pick(&["<", "<=", ">", ">=", "==", "!="]);
    format!("{sign} {}{unit}", source.pick(&["1", "2", "0", "2.5", "3", "1e2"]))
}

/// A condition on entries of the run.
fn entry(source: &mut Source) -> String {
    match source.below(12) {
        0 | 1 => format!("output.text {}", text_test(source)),
        2 => format!("output.n {}", number_test(source, "")),
        3 => format!("duration {} {}", source.pick(&["<", "<=", ">", ">="]), source.pick(&["100", "1s", "2.5s", "0"])),
        4 => source.pick(&["error is missing", "error exists", "error == \"went wrong\""]).to_owned(),
        5 => format!("prompt {}", text_test(source)),
        6 => format!("output contains {}", quoted(source)),
        7 => format!("meta.text {}", text_test(source)),
        8 => format!("usage.input_tokens {}", number_test(source, "")),
        9 => format!("cost {}", number_test(source, "")),
        10 => format!("turns {}", number_test(source, "")),
        _ => source.pick(&["inputs.vip == true", "meta.n === 1", "run.id == \"run-1\"", "run.extra.x == 1"]).to_owned(),
    }
}

/// A condition on a call.
fn on_call(source: &mut Source) -> String {
    match source.below(7) {
        0 => format!("args.note {}", text_test(source)),
        1 => format!("args.n {}", number_test(source, "")),
        2 => format!("result.text {}", text_test(source)),
        3 => format!("result {}", text_test(source)),
        4 => format!("args.n {} and output.text {}", number_test(source, ""), text_test(source)),
        5 => format!("args.id == 1 or result contains {}", quoted(source)),
        _ => format!("duration {}", number_test(source, "")),
    }
}

fn tool(source: &mut Source) -> &'static str {
    source.pick(&["a", "b", "c", "d", "b*", "*", "?"])
}

/// The kind of a rule, what it defines and its assertion.
pub fn search(source: &mut Source) -> (&'static str, String, String) {
    let none = String::new;
    match source.below(12) {
        0 | 1 => {
            let join = source.pick(&[" or ", " and "]);
            let count = 1 + source.below(3);
            let tests: Vec<String> = (0..count).map(|_| format!("s {}", text_in_predicate(source))).collect();
            let place = source.pick(&[
                "calls[*].result",
                "calls[*].result",
                "calls[*].args",
                "calls[*].args",
                "output",
                "calls[*].args.note",
                "messages",
            ]);
            let definition = format!("def t@(s) = {}\n", tests.join(join));
            ("search: predicate", definition, format!("no t@ in {place}"))
        }
        2 => {
            let place = source.pick(&["calls[*].result", "calls[*].args", "output"]);
            ("search: secrets", none(), format!("no secrets in {place}"))
        }
        3 | 4 => ("search: entry", none(), entry(source)),
        5 => {
            let sign = source.pick(&[" and ", " or ", " implies "]);
            ("search: entries", none(), format!("({}){sign}({})", entry(source), entry(source)))
        }
        6 => ("search: not", none(), format!("not ({})", entry(source))),
        7 | 8 => {
            let word = source.pick(&["each", "some", "no"]);
            ("search: calls", none(), format!("{word} {}: {}", tool(source), on_call(source)))
        }
        9 => ("search: condition", none(), format!("{} when {}", entry(source), entry(source))),
        10 => {
            let condition = entry(source);
            ("search: let", format!("let l@ = {condition}\n"), "l@".to_owned())
        }
        _ => match source.below(4) {
            0 => ("search: score", none(), "bleu(output.text, \"refund summary of\") >= 0.5".to_owned()),
            1 => ("search: world", none(), format!("tool {} is available", source.pick(&["a", "z"]))),
            2 => ("search: world", none(), "http \"a.example\" status < 400".to_owned()),
            _ => {
                let count = source.below(4);
                (
                    "search: list",
                    none(),
                    format!("(count x in calls: x.tool == \"a\") {} {count}", source.pick(&["<=", ">="])),
                )
            }
        },
    }
}

fn text_in_predicate(source: &mut Source) -> String {
    match source.below(8) {
        0..=4 => format!("contains {}", quoted(source)),
        5 | 6 => format!("matches {}", regex(source)),
        _ => format!("== {}", quoted(source)),
    }
}

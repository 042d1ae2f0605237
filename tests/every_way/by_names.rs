//! Statements about names of calls alone, as most of those that people write are: what lists of names decide.

use crate::source::Source;

fn tool(source: &mut Source) -> &'static str {
    source.pick(&["a", "b", "c", "a", "b", "c", "d", "b*", "?", "a | b", "nothing"])
}

fn several(source: &mut Source) -> String {
    let all: Vec<&str> = (0..=source.weighted(&[3, 2, 1])).map(|_| tool(source)).collect();
    all.join(", ")
}

/// A statement, and its word.
pub fn statement(source: &mut Source) -> (&'static str, String) {
    let word = source.pick(&[
        "never",
        "only",
        "count",
        "require",
        "times",
        "first",
        "last",
        "before",
        "before each",
        "starts before",
        "starts before each",
        "after",
        "never after",
        "never before",
        "sequence",
        "if",
        "iff",
        "either",
        "not both",
        "never repeat",
        "not",
        "group",
    ]);
    (word, written(source, word))
}

fn written(source: &mut Source, word: &str) -> String {
    let (a, b) = (tool(source), tool(source));
    match word {
        "never" | "only" => format!("{word} {}", several(source)),
        "count" => format!("count {a} {} {}", source.pick(&["<=", ">=", "==", "!=", "<", ">"]), 1 + source.below(3)),
        "times" => format!("require {a} {} times", source.pick(&["1", "2", "1..2", "..2", "2.."])),
        "require" | "first" | "last" => format!("{word} {a}"),
        "before" | "before each" | "starts before" | "starts before each" | "after" => {
            format!("{word} {a} -> {}", several(source))
        }
        "never after" => format!("never {b} after {a}"),
        "never before" => format!("never {b} before {a}"),
        "sequence" => format!("sequence {a} -> {b}{}", source.pick(&["", " -> c", " -> a"])),
        "if" => format!("if {a} then {b}"),
        "iff" => format!("{} iff {}", source.pick(&["a", "b", "c", "d"]), source.pick(&["a", "b", "c", "nothing"])),
        "either" => format!("either {a} or {b}"),
        "not both" => format!("not both {a}, {b}"),
        "never repeat" => format!("never repeat {a} more than {} times", 1 + source.below(2)),
        "not" => {
            format!("not {}", source.pick(&["never a", "require b", "count c <= 1", "before a -> b", "only a, b*"]))
        }
        _ => format!("any of {{ require {a}; never {b} }}"),
    }
}

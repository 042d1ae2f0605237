//! The reference page of all functions, generated from the table.

use super::table::{BUILTINS, Builtin, BuiltinFamily};
use std::fmt::Write as _;

const HEAD: &str = "\
# Functions

A function is called `f(a, b)` or behind a pipe: `a | f(b)`. Arguments with `?` may be left out.

- An argument that is **missing**, or of a type that the function does not take, gives `missing`: a test on the result is false, and its reason says
  what was missing. It is a fault of `required` alone.
- An argument that the run does **not record** gives what is not recorded: what depends on it is undecided. A list with such an element, or with a missing one, has no
  sum, no mean, no order.
- Nothing a function gives depends on a clock, on chance or on the network. Work and memory count against the limits of the evaluation.
- Durations, money and sizes are numbers (milliseconds, USD, bytes); functions marked *keeps the unit* give a value that may be compared with the unit of what went in.
- Functions marked *score* give a similarity between 0 and 1: a comparison with it gives that value as the score of the assertion.
";

fn family_intro(family: BuiltinFamily) -> (&'static str, &'static str) {
    match family {
        BuiltinFamily::Text => (
            "Text",
            "Characters are Unicode code points. White space is what Unicode calls so, and U+001C to U+001F; zero-width characters are none.",
        ),
        BuiltinFamily::Score => (
            "Scores",
            "BLEU and ROUGE agree with the common implementations to the last bit on texts in Latin letters. `bleu` and `gleu` split at white space, in lower case. `rouge_n` and `rouge_l` \
             look at runs of letters and digits in lower case, without stemming; a Latin letter with an accent ends a run, as it does there. In scripts without spaces (Han, Kana, Thai) each sign is a word, but for `gleu` and `bleu` with a `floor`.\n\n\
             A text without a word scores 0, and the score comes from nowhere, as that of `similarity` of an empty text: a comparison with it proves nothing.",
        ),
        BuiltinFamily::List => (
            "Lists and objects",
            "Integers stay exact where they fit into 128 bits, and sums of decimals are decimals, as money is counted: `sum([0.1, 0.2])` is `0.3`.",
        ),
        BuiltinFamily::Number => ("Numbers", "What is whole already stays as it is, at any size."),
        BuiltinFamily::Json => (
            "JSON",
            "Values that are found keep their place in the trace, also inside JSON that was written into a text. Duplicate keys: the last one counts. JSON that is nested deeper \
             than 256 levels is not read.",
        ),
        BuiltinFamily::Encoding => ("Encodings", "All of them work on the UTF-8 bytes of the text."),
        BuiltinFamily::Time => (
            "Time",
            "A time is RFC 3339 text, the same without an offset (taken as UTC), a date, or milliseconds since 1970: what `start` and `end` of steps hold.",
        ),
        BuiltinFamily::Evidence => (
            "Evidence",
            "**Grounding.** Claims are URLs; numbers in any common spelling (`1,234.50`, `$12`, `12%`, `2.5k`, `3rd`); and ids, words that mix digits with letters or signs \
             (`ord_8f3a`, `INV-2024-001`, `2025-03-01`). A text without white space that is an element of a list is a claim as it is (`grounded(output.ids, …)`; of one value, `grounded([output.city], …)`).\n\n\
             A number is in the sources if some number there has its value, however it is spelled; signs do not count. A URL or id has to be there literally, as a whole \
             (`o-1` is not in `o-12`). Values that claim nothing are grounded vacuously.\n\n\
             **Credentials and personal data** count if they can be checked: prefix, alphabet and length of a provider's key, the header of a token, key material, check \
             digits, the randomness of an assigned value. Base64, URL and JSON escapes and invisible characters are read through. `std.secrets` and `std.pii` make predicates of these functions.\n\n\
             `tests/data` has two labelled sets. The second one was written by somebody who had not seen the detectors, and was used to improve them afterwards:\n\n\
             | set | texts | precision | recall | recall before |\n|---|---|---|---|---|\n\
             | credentials, first | 114 of 245 | 1.000 | 0.982 | |\n\
             | credentials, second | 158 of 324 | 1.000 | 0.987 | 0.563 |\n\
             | personal data, first | 32 of 83 | 1.000 | 1.000 | |\n\
             | personal data, second | 54 of 119 | 1.000 | 1.000 | 0.870 |\n\n\
             Before, the precision on the second sets was 0.978 and 0.979. `cargo test --test language labelled -- --nocapture` prints them with everything that is missed.",
        ),
    }
}

/// Returns the page as Markdown, in the order of the table.
#[must_use]
pub fn reference_page() -> String {
    let mut text = HEAD.to_owned();
    let mut family: Option<BuiltinFamily> = None;
    for builtin in BUILTINS {
        if family != Some(builtin.family) {
            family = Some(builtin.family);
            let (title, intro) = family_intro(builtin.family);
            // Writing to a string cannot fail.
            let _ = write!(text, "\n## {title}\n\n{intro}\n");
        }
        let _ = write!(text, "\n{}", function_entry(builtin));
    }
    text
}

/// Returns the entry of one function as Markdown.
#[must_use]
pub fn function_entry(builtin: &Builtin) -> String {
    let mut doc = builtin.doc.chars();
    let doc: String = doc.next().into_iter().flat_map(char::to_uppercase).chain(doc).collect();
    let marks = match (builtin.score, builtin.keeps_unit) {
        (true, _) => " *(score)*",
        (_, true) => " *(keeps the unit)*",
        _ => "",
    };
    format!("### `{}`\n\n{doc}.{marks}\n\n```assert\n{}\n```\n", builtin.signature(), builtin.example)
}

//! Long files: after an edit, only the changed parts are parsed and checked again.

use super::client::Client;
use serde_json::json;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Returns a file of 5,000 lines: 500 rules with statements, documentation and bare assertions.
fn long_file() -> String {
    let mut text = String::from("param limit: number = 100\ndef large(amount) = amount > limit\n");
    for number in 0..499 {
        write!(
            text,
            "\n## Refunds of kind {number}.\nrule approval_{number} \"Refunds above the limit need an approval\" {{\n  severity error\n  \
             before approve(id: $id) -> refund(id: $id, amount > limit + {number})\n  never refund(id: $id) after cancel(id: $id)\n  \
             each refund: args.amount <= 10 * limit and args.currency in [\"EUR\", \"USD\"]\n}}\n\
             output.field_{number} matches /^https:\\/\\/shop\\.example\\/refunds\\/\\d+$/ weight 2\ncount api_call_{number} <= 10\n"
        )
        .unwrap();
    }
    while text.lines().count() < 5_000 {
        text.push_str("# the end\n");
    }
    text
}

/// Returns the time of the first analysis, and the sorted times after edits.
fn measured(text: &str, settings: &serde_json::Value) -> (Duration, Vec<Duration>) {
    let mut client = Client::over_stdio_with(&[], json!({}), settings.clone());
    let begun = Instant::now();
    client.open("long.assert", text);
    let first_said = client.messages("long.assert", 1);
    let first = begun.elapsed();
    let mut times: Vec<Duration> = Vec::new();
    let mut version = 1;
    // Renames a name in an expression to an unknown one and back, at the start, in the middle and at the end of the file.
    for line in [8, 2_008, 2_498, 4_008, 4_978] {
        let line = u32::try_from(line).unwrap();
        let written = text.lines().nth(line as usize).unwrap();
        let at = u32::try_from(written.find("limit").unwrap()).unwrap();
        for (end, new) in [(at + 5, "limits"), (at + 6, "limit")] {
            version += 1;
            let begun = Instant::now();
            client.change("long.assert", version, [line, at, line, end], new);
            let said = client.messages("long.assert", version);
            times.push(begun.elapsed());
            if new == "limit" {
                assert_eq!(said, first_said);
            } else {
                assert_eq!(said.len(), first_said.len() + 1, "{said:?}");
                assert!(said.iter().any(|one| one.starts_with(&format!("{}: [unknown-name]", line + 1))), "{said:?}");
            }
        }
    }
    assert_eq!(client.leave(), 0);
    times.sort();
    (first, times)
}

#[test]
fn after_an_edit_diagnostics_take_at_most_a_tenth_of_the_first_analysis() {
    let text = long_file();
    assert_eq!(text.lines().count(), 5_000);
    // Without lints, the first analysis only parses and checks. Its ratio is printed but not asserted, because it depends on the machine.
    for (what, settings) in [("with lints", json!({})), ("without lints", json!({ "lint": false }))] {
        let (first, times) = measured(&text, &settings);
        let (best, median, worst) = (times[0], times[times.len() / 2], times[times.len() - 1]);
        let share = median.as_secs_f64() / first.as_secs_f64();
        println!(
            "5,000 lines {what}: first {first:?}, after an edit {median:?} ({best:?} to {worst:?}), a share of {share:.3}"
        );
        assert!(share <= 0.1 || what == "without lints", "a share of {share:.3}");
    }
}

#[test]
fn when_nobody_types_everything_is_checked() {
    let mut client = Client::over_stdio(&[], json!({}));
    client.open("first.assert", "require a\noutput.x == 1\n");
    assert!(client.messages("first.assert", 1).is_empty());
    // The lints of the edited statement arrive a moment later, for the same version.
    client.change("first.assert", 2, [1, 0, 1, 13], "1 == output.x");
    let first = client.messages("first.assert", 2);
    let settled = client.messages("first.assert", 2);
    assert!(first.is_empty(), "{first:?}");
    assert!(settled.iter().any(|one| one.contains("[yoda-condition]")), "{settled:?}");
    assert_eq!(client.leave(), 0);
}

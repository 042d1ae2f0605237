//! The rows of the tables here.

use super::{LONGEST, ROWS, intended_statement};
use crate::hints::{classes, filters, rewrite};

#[test]
fn every_row_knows_its_example_and_what_it_writes_can_be_read() {
    let unknown: Vec<&str> =
        ROWS.iter().map(|(_, row, _)| row.example).filter(|example| intended_statement(example).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn rows_use_only_what_exists() {
    let mut wrong = String::new();
    for (_, row, pattern) in ROWS.iter() {
        let Some(pattern) = pattern else { continue };
        let unknown = row.conditions().filter(|name| classes::find_guard(name).is_none());
        wrong.extend(unknown.map(|name| format!("`{}`: no condition is called {name}\n", row.example)));
        let names = pattern.names();
        for (name, filter) in rewrite::names_of(row.write) {
            if !names.contains(&name) || !filter.is_empty() && !filters::exists(filter) {
                wrong += &format!("`{}`: nothing is called {name}|{filter}\n", row.example);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn hostile_statements_take_little_time() {
    let signs =
        ["(", "the ", "must ", "a.b.", "[", "{", "before ", "not ", "x, ", "-> ", "for x in ", ".length", "'", "5k "];
    for sign in signs {
        let text: String = sign.repeat(600 / sign.len());
        let short = |text: &str| intended_statement(text).is_none_or(|meant| meant.text.len() <= 2 * LONGEST);
        assert!(short(&text) && short(&format!("never {text}")), "{sign}");
    }
}

//! What the fuzz targets do, with a few thousand mutated inputs: rules, runs, compiled programs and sessions of an editor of which nobody
//! vouches for a byte. `AVERMENT_MUTATED_CASES=100000` tries so many of each, `AVERMENT_MUTATED_SEED` others; `fuzz/mutate.rs` millions.

#[path = "../../../../fuzz/inputs/lib.rs"]
mod inputs;

use averment_fixtures as fixtures;
use inputs::kinds::{corpus, kind};
use inputs::mutate::Dice;
use std::panic::catch_unwind;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: `{text}`")))
}

/// Tries so many mutated inputs of a kind.
fn each(cases: u64, name: &str) {
    let kind = kind(name).expect("a kind");
    let seeds = (kind.seeds)(&fixtures::project(""));
    assert!(seeds.len() > 2, "{name} is made of next to nothing");
    let (cases, seed) = (setting("AVERMENT_MUTATED_CASES", cases), setting("AVERMENT_MUTATED_SEED", 1));
    for number in 0..cases {
        let input = Dice::of_input(seed, number).mutated(&seeds);
        if catch_unwind(|| (kind.run)(&input)).is_err() {
            let kept = std::env::temp_dir().join(format!("averment-mutated-{}", std::process::id()));
            std::fs::write(&kept, &input).unwrap();
            panic!("input {number} broke it; it is kept in {}:\n{}", kept.display(), String::from_utf8_lossy(&input));
        }
    }
}

#[test]
fn rules_are_read_checked_and_evaluated() {
    each(400, "rules");
}

#[test]
fn what_is_formatted_is_the_same_program_and_stays() {
    each(400, "format");
}

#[test]
fn files_of_other_systems_are_read_and_judged_as_they_are_imported() {
    each(400, "foreign");
}

#[test]
fn runs_are_read_and_judged_alike_in_every_way() {
    each(400, "traces");
}

#[cfg(feature = "parquet")]
#[test]
fn files_of_columns_are_read_or_refused() {
    each(400, "columns");
}

#[test]
fn forged_programs_are_refused_or_end() {
    each(1500, "compiled");
}

#[test]
fn the_server_answers_whatever_is_said() {
    each(100, "protocol");
}

#[cfg(feature = "guard")]
#[test]
fn a_guard_answers_and_denies_whatever_is_said() {
    each(60, "guard");
}

#[test]
fn inputs_that_broke_a_target_once_break_none() {
    let (began, project) = (std::time::Instant::now(), fixtures::project(""));
    corpus(&project, "rules").iter().for_each(|input| inputs::rules::run(input));
    corpus(&project, "rules").iter().for_each(|input| inputs::format::run(input));
    corpus(&project, "rules").iter().for_each(|input| inputs::protocol::run(input));
    #[cfg(feature = "guard")]
    corpus(&project, "guard").iter().for_each(|input| inputs::guard::run(input));
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

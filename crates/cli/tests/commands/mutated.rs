//! Runs the fuzz targets on a few thousand mutated inputs: rules, runs, compiled programs and editor sessions. `AVERMENT_MUTATED_CASES=100000` sets
//! the number of cases for each target, `AVERMENT_MUTATED_SEED` changes the seed. `fuzz/mutate.rs` tries millions.

use super::mutated_inputs::each;
use super::mutated_inputs::inputs::{self, kinds::corpus};
use averment_fixtures as fixtures;

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

//! Mutated inputs for one target in `fuzz/inputs`, shared by the tests with and without columnar files.

#[path = "../../../../fuzz/inputs/lib.rs"]
pub mod inputs;

use averment_fixtures as fixtures;
use inputs::kinds::kind;
use inputs::mutate::Dice;
use std::panic::catch_unwind;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: `{text}`")))
}

/// Runs one target on this number of mutated inputs.
pub fn each(cases: u64, name: &str) {
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

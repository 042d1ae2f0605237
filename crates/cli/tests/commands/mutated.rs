//! What the fuzz targets do, with a few thousand mutated inputs: rules, runs, compiled programs and sessions of an editor of which nobody
//! vouches for a byte. `AVERMENT_MUTATED_CASES=1000000` tries so many of each, `AVERMENT_MUTATED_SEED` others.

#[path = "../../../../fuzz/inputs/lib.rs"]
mod inputs;

use averment_engine::bytecode::codec;
use averment_fixtures as fixtures;
use std::panic::catch_unwind;
use std::path::Path;

/// Words that mean something in rules, in runs and to whatever reads them.
const WORDS: [&str; 40] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ":",
    ",",
    "\n",
    "\\",
    "\u{1b}[31m",
    "\u{202e}",
    "\0",
    "\u{feff}",
    "'",
    "`",
    "$",
    "->",
    "=>",
    "each",
    "before",
    "never",
    "not",
    "any of",
    "0x",
    "1e999",
    "-9223372036854775808",
    "null",
    "true",
    "9007199254740993",
    "[0]",
    "[**]",
    "\"calls\":",
    "\"messages\":",
    "\"role\":",
    "\"tool_calls\":",
    "\\u0000",
    "\\ud800",
    "#> hover 0 0",
];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: `{text}`")))
}

/// Numbers in no order, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    /// An input made of one of the seeds, and sometimes of a part of another.
    fn mutated(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len() + 1);
            let end = (at + 1 + self.below(12)).min(bytes.len()).max(at);
            match self.below(7) {
                0 => drop(bytes.drain(at..end)),
                1 => {
                    let word = WORDS[self.below(WORDS.len())];
                    bytes.splice(at..at, word.bytes());
                }
                2 => {
                    let word = WORDS[self.below(WORDS.len())];
                    bytes.splice(at..end, word.bytes());
                }
                3 => {
                    let copy = bytes[at..end].repeat(1 + self.below(40));
                    bytes.splice(at..at, copy);
                }
                4 => bytes[at..end].iter_mut().for_each(|byte| *byte = self.below(256) as u8),
                5 => bytes[at..end].reverse(),
                _ => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len());
                    let part = &other[from..(from + self.below(200)).min(other.len())];
                    bytes.splice(at..end, part.iter().copied());
                }
            }
        }
        bytes.truncate(16 << 10);
        bytes
    }
}

/// Files of these kinds in some folders of the project.
fn files(folders: &[&str], endings: &[&str]) -> Vec<Vec<u8>> {
    fn below(folder: &Path, endings: &[&str], found: &mut Vec<Vec<u8>>) {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                below(&path, endings, found);
            } else if endings.iter().any(|ending| path.extension().is_some_and(|own| own == *ending)) {
                found.push(std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = Vec::new();
    folders.iter().for_each(|folder| below(&fixtures::project(folder), endings, &mut found));
    found.retain(|bytes| bytes.len() <= 8 << 10);
    assert!(found.len() > 12, "{folders:?} hold next to nothing");
    found
}

/// The small inputs of a fuzz target that are in the repository.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = fixtures::project("fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn rules() -> Vec<Vec<u8>> {
    files(&["tests/golden", "examples", "crates/builtins/stdlib"], &["assert"])
}

/// Tries so many mutated inputs.
fn each(cases: u64, seeds: &[Vec<u8>], run: fn(&[u8])) {
    let cases = setting("AVERMENT_MUTATED_CASES", cases);
    let mut dice = Dice(setting("AVERMENT_MUTATED_SEED", 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for number in 0..cases {
        let input = dice.mutated(seeds);
        if catch_unwind(|| run(&input)).is_err() {
            let kept = std::env::temp_dir().join(format!("averment-mutated-{}", std::process::id()));
            std::fs::write(&kept, &input).unwrap();
            panic!("input {number} broke it; it is kept in {}:\n{}", kept.display(), String::from_utf8_lossy(&input));
        }
    }
}

#[test]
fn rules_are_read_checked_and_evaluated() {
    each(400, &rules(), inputs::rules::run);
}

#[test]
fn what_is_formatted_is_the_same_program_and_stays() {
    each(400, &rules(), inputs::format::run);
}

#[test]
fn files_of_other_systems_are_read_and_judged_as_they_are_imported() {
    each(400, &files(&["examples", "tests/golden/import"], &["ts", "yaml"]), inputs::foreign::run);
}

#[test]
fn runs_are_read_and_judged_alike_in_every_way() {
    each(400, &files(&["tests/golden", "examples"], &["json", "jsonl"]), inputs::traces::run);
}

#[test]
fn forged_programs_are_refused_or_end() {
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let programs = rules()
        .iter()
        .filter_map(|rules| inputs::rules::program(&text(rules)))
        .map(|one| codec::encode(&one))
        .collect::<Vec<_>>();
    each(1500, &programs, inputs::compiled::run);
}

#[test]
fn the_server_answers_whatever_is_said() {
    let said = "\n#> hover 1 3\n#> completion 1 5\n#> change 1 0 1 2 each\\n\n#> rename 1 4 x\n#> codeAction 9 9\n#> semanticTokens/full\n";
    let sessions: Vec<Vec<u8>> = rules().into_iter().map(|rules| [&rules, said.as_bytes()].concat()).collect();
    each(100, &sessions, inputs::protocol::run);
}

#[cfg(feature = "guard")]
#[test]
fn a_guard_answers_and_denies_whatever_is_said() {
    each(60, &corpus("guard"), inputs::guard::run);
}

#[test]
fn inputs_that_broke_a_target_once_break_none() {
    let began = std::time::Instant::now();
    corpus("rules").iter().for_each(|input| inputs::rules::run(input));
    corpus("rules").iter().for_each(|input| inputs::format::run(input));
    corpus("rules").iter().for_each(|input| inputs::protocol::run(input));
    #[cfg(feature = "guard")]
    corpus("guard").iter().for_each(|input| inputs::guard::run(input));
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

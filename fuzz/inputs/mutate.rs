//! Inputs of which nobody vouches for a byte, made of the recorded texts of the project.

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

/// Numbers in no order, the same for the same seed.
pub struct Dice(u64);

impl Dice {
    /// The numbers of one input: any input can be made again without those before it.
    pub fn of_input(seed: u64, number: u64) -> Self {
        let mut mixed =
            seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^= mixed >> 32;
        Self(mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    /// An input made of one of the seeds, and sometimes of a part of another.
    pub fn mutated(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let first = self.below(seeds.len());
        let edits = 1 + self.below(6);
        self.edited(seeds, first, edits)
    }

    /// This seed with so many edits.
    pub fn edited(&mut self, seeds: &[Vec<u8>], seed: usize, edits: usize) -> Vec<u8> {
        let mut bytes = seeds[seed].clone();
        for _ in 0..edits {
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

/// Small files of these kinds in some folders.
pub fn files(folders: &[impl AsRef<Path>], endings: &[&str]) -> Vec<Vec<u8>> {
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
    folders.iter().for_each(|folder| below(folder.as_ref(), endings, &mut found));
    found.retain(|bytes| bytes.len() <= 8 << 10);
    found
}

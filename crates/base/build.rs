//! Writes what letters look like (Unicode Technical Standard 39) as tables without pointers: the loader would have to set each of six thousand
//! of them whenever the program starts.

#![allow(clippy::disallowed_methods, reason = "a build script writes what it makes into a file")]

use std::fmt::Write as _;
use std::path::Path;
use unicode_normalization::is_nfd;
use unicode_security::skeleton;

/// Where letters with another shape stand. A test compares all others.
const PLANES: [std::ops::Range<u32>; 2] = [0..0x4_0000, 0xe_0000..0xe_1000];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let (mut letters, mut ends, mut shapes, mut count, mut end) =
        (String::new(), String::new(), String::new(), 0_usize, 0_usize);
    for letter in PLANES.into_iter().flatten().filter_map(char::from_u32) {
        let text = letter.to_string();
        let shape: String = skeleton(&text).collect();
        // What is composed is taken apart first, and each part looked up.
        if shape == text || !is_nfd(&text) {
            continue;
        }
        (count, end) = (count + 1, end + shape.len());
        write!(letters, "{},", u32::from(letter))?;
        write!(ends, "{end},")?;
        write!(shapes, "{}", shape.escape_unicode())?;
    }
    let tables = format!(
        "/// Letters that look like others, in order.\nstatic LETTERS: [u32; {count}] = [{letters}];\n\
         /// Where the shape of each ends in [`SHAPES`]; it begins where that of the letter before it ends.\n\
         static ENDS: [u16; {count}] = [{ends}];\nstatic SHAPES: &str = \"{shapes}\";\n"
    );
    let folder = std::env::var_os("OUT_DIR").ok_or("cargo names no folder for what is made")?;
    std::fs::write(Path::new(&folder).join("letter_shapes.rs"), tables)?;
    Ok(())
}

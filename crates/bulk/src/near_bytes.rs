//! Whether a text of the rules stands in the bytes of traces that were not searched.

use crate::feed::TraceInput;
use averment_engine::vm::near_names::{NameCategory, NearName};
use rustc_hash::FxHashMap;
use std::io::{Read as _, Seek as _, SeekFrom};

/// Longer keys are not names.
pub(crate) const KEY: usize = 100;

/// How far files were searched, by name; what stands behind that is known by its bytes alone.
pub(crate) type SearchedBytes = FxHashMap<Box<str>, u64>;

/// Standard input is only known as far as it was searched. `words` are those by which a regular expression is found.
pub(crate) fn stands_in(inputs: &[TraceInput], found: &NearName, words: &[&str], searched: &SearchedBytes) -> bool {
    let needles: Vec<String> = match found.what {
        NameCategory::File | NameCategory::Role => return false,
        NameCategory::Percent | NameCategory::Folder | NameCategory::Rooted => return false,
        NameCategory::LetterCase if found.wanted.starts_with('/') && !words.is_empty() => {
            words.iter().map(|word| (*word).to_owned()).collect()
        }
        NameCategory::LetterCase | NameCategory::WhiteSpace | NameCategory::Options | NameCategory::Scheme => {
            vec![escaped(&found.wanted)]
        }
        NameCategory::NotAtStart => vec![format!("\"{}", escaped(&found.wanted))],
        NameCategory::NotAtEnd => {
            vec![format!("{}\"", escaped(&found.wanted)), format!("{}\\\"", escaped(&found.wanted))]
        }
        _ => vec![format!("\"{}\"", found.wanted), format!("\"{}\\\"", found.wanted)],
    };
    let finders: Vec<_> = needles.iter().map(memchr::memmem::Finder::new).collect();
    // Of texts the runs at the beginning are known by their values, in which keys do not count.
    let from = |name: &str| if found.what.is_text() { searched.get(name).copied().unwrap_or(0) } else { 0 };
    inputs.iter().any(|input| match input {
        TraceInput::File(path) => file_has(path, from(&path.to_string_lossy()), &finders).unwrap_or(false),
        TraceInput::Stdin => false,
        TraceInput::Made { bytes, name, .. } => {
            let rest = usize::try_from(from(name)).ok().and_then(|from| bytes.get(from..)).unwrap_or_default();
            finders.iter().any(|finder| finder.find(rest).is_some())
        }
    })
}

/// As a text stands in JSON.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn file_has(path: &std::path::Path, from: u64, finders: &[memchr::memmem::Finder<'_>]) -> std::io::Result<bool> {
    const BLOCK: usize = 1 << 20;
    let mut file = averment_base::files::open_named(path)?;
    if from > 0 {
        file.seek(SeekFrom::Start(from))?;
    }
    let mut buffer = Vec::with_capacity(BLOCK + 2 * KEY);
    loop {
        let read = file.by_ref().take(BLOCK as u64).read_to_end(&mut buffer)?;
        if finders.iter().any(|finder| finder.find(&buffer).is_some()) {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        let keep = buffer.len().saturating_sub(2 * KEY);
        buffer.drain(..keep);
    }
}

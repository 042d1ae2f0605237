//! Names of `--map` that stand in no trace: a misspelt one would silently read nothing.

use averment_traces::names::PartNames;
use averment_traces::read::FilePart;
use std::sync::atomic::{AtomicBool, Ordering};

/// The names that a user gives to parts, and whether they were seen. What is seen does not depend on who looks first.
#[derive(Debug, Default)]
pub struct UnusedNames {
    parts: Vec<MappedPart>,
}

#[derive(Debug)]
struct MappedPart {
    part: String,
    names: Vec<(String, memchr::memmem::Finder<'static>)>,
    seen: AtomicBool,
}

impl UnusedNames {
    /// The names of a file of `--map`. One that JSON may write in several ways is not looked for.
    pub fn new(names: Option<&PartNames>) -> Self {
        let mut parts: Vec<MappedPart> = Vec::new();
        for (part, name) in names.into_iter().flat_map(PartNames::given_names) {
            let plain =
                name.bytes().all(|byte| (byte.is_ascii_graphic() || byte == b' ') && !b"\"\\/<>&'".contains(&byte));
            // Of a path the last key is looked for.
            let key = name.rsplit('.').next().unwrap_or(name);
            let finder = memchr::memmem::Finder::new(&format!("\"{key}\"")).into_owned();
            let place = parts.iter().position(|known| known.part == part).unwrap_or_else(|| {
                parts.push(MappedPart { part: part.to_owned(), names: Vec::new(), seen: AtomicBool::new(false) });
                parts.len() - 1
            });
            if let Some(given) = parts.get_mut(place) {
                given.names.push((name.to_owned(), finder));
                given.seen.fetch_or(!plain, Ordering::Relaxed);
            }
        }
        Self { parts }
    }

    /// Looks through a chunk for the names that were not seen yet.
    pub fn search_part(&self, part: &FilePart, lines: &[u8]) {
        for given in self.parts.iter().filter(|given| !given.seen.load(Ordering::Relaxed)) {
            let is_in = |text: &[u8]| given.names.iter().any(|(_, finder)| finder.find(text).is_some());
            let seen = match part {
                FilePart::Lines(_) => is_in(lines),
                FilePart::Runs(runs) => runs.iter().flatten().any(|run| is_in(run.run_text().as_bytes())),
            };
            given.seen.fetch_or(seen, Ordering::Relaxed);
        }
    }

    /// A line for each part none of whose names was seen.
    pub fn warning_lines(&self) -> String {
        let unseen = self.parts.iter().filter(|given| !given.seen.load(Ordering::Relaxed));
        let line = |given: &MappedPart| {
            let names: Vec<String> = given.names.iter().map(|(name, _)| format!("`{name}`")).collect();
            let names = names.join(" nor ");
            let neither = if given.names.len() > 1 { "neither " } else { "no " };
            format!("warning: the traces have {neither}{names}, which `--map` names as `{}`\n", given.part)
        };
        unseen.map(line).collect()
    }
}

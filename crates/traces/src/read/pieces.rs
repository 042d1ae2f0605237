//! The parts of the runs that one value holds, found by their brackets, and the text that each run has of its own.

use super::split;
use super::walk::{self, Entry, Indexed};
use crate::adapt::cutting::Cutting;
use crate::adapt::format::Format;
use crate::adapt::registry;
use averment_base::limits::Limits;
use averment_base::memory::asking;
use averment_base::value::json;
use averment_runs::run::TextPart;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What a cutting has found in a value: the parts of runs, and what is around them.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    around: Vec<Around>,
    parts: Vec<Part>,
    /// The ids by which parts belong together, by their number in order of the text.
    pub(super) ids: Vec<Option<String>>,
    /// The offset behind the value.
    pub(super) end: usize,
    /// The value holds nothing that no run keeps.
    keeps_all: bool,
}

/// An object or list that holds parts.
#[derive(Debug, Clone)]
struct Around {
    parent: Option<usize>,
    before: Vec<Piece>,
    after: Vec<Piece>,
}

/// A part of a run.
#[derive(Debug)]
struct Part {
    range: Range<usize>,
    parent: Option<usize>,
    /// The number of its run.
    run: usize,
}

/// So many parts are looked at to tell what a file holds, and so many of one run.
const LOOKED_AT: usize = 32;
const OF_ONE: usize = 8;

/// A piece of a run's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// It stands in the file.
    Text(Range<usize>),
    /// It holds others together.
    Glue(&'static str),
}

impl Piece {
    /// How long it is, in bytes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(range) => range.len(),
            Self::Glue(glue) => glue.len(),
        }
    }
}

impl Pieces {
    /// The parts of runs in the value at `start`; `None` where the cutting does not fit it.
    pub(super) fn find(indexed: Indexed<'_>, start: usize, cutting: &Cutting) -> Option<Self> {
        Self::find_in(indexed, start, cutting, true)
    }

    /// The same; where the value is not the only one, those behind it are looked through like the elements of a list.
    pub(super) fn find_in(indexed: Indexed<'_>, start: usize, cutting: &Cutting, single: bool) -> Option<Self> {
        let text = indexed.text;
        let mut finder = Finder { text, indexed, cutting, found: Self::default(), runs: FxHashMap::default() };
        if !single {
            let list = finder.around(None);
            let mut at = start;
            while at < text.len() {
                at = split::skip_blank(text, finder.whole(at, Some(list)).filter(|end| *end > at)?);
            }
            finder.found.end = at;
            finder.set(list, vec![Piece::Glue("[")], vec![Piece::Glue("]")]);
        } else if text.as_bytes().get(start) == Some(&b'[') {
            let list = finder.around(None);
            let parent = Some(list);
            finder.found.end = walk::list(text, start, |at| finder.whole(at, parent))?;
            finder.set(list, vec![Piece::Glue("[")], vec![Piece::Glue("]")]);
        } else {
            finder.found.end = finder.whole(start, None)?;
        }
        Some(finder.found).filter(|found| !found.parts.is_empty())
    }

    /// Whether the value as it stands is the text of a run.
    pub(super) fn is_one_run(&self) -> bool {
        self.keeps_all && self.runs() == 1
    }

    /// How many runs there are.
    pub(super) fn runs(&self) -> usize {
        self.ids.len()
    }

    /// Whether the first parts of some run make a run of a format: what stands in front of it may be none.
    pub(super) fn is_of(&self, text: &str, format: &Format, limits: &Limits) -> bool {
        let first = self.parts.iter().enumerate().take(LOOKED_AT);
        let mut runs: Vec<(usize, Vec<usize>)> = Vec::new();
        for (number, part) in first {
            match runs.iter_mut().find(|(run, _)| *run == part.run) {
                Some((_, parts)) => parts.push(number),
                None => runs.push((part.run, vec![number])),
            }
        }
        runs.iter().any(|(_, parts)| {
            let parts = parts.get(..OF_ONE).unwrap_or(parts);
            let Some(text) = join(text, &self.text_of(parts)) else { return false };
            let arena = bumpalo::Bump::new();
            json::parse_recorded(&text, 0, &arena, limits)
                .is_ok_and(|document| registry::detect(&document.node).is_some_and(|found| std::ptr::eq(found, format)))
        })
    }

    /// The parts of each run, in order of the text.
    pub(super) fn by_run(&self) -> Vec<Vec<usize>> {
        let mut runs = vec![Vec::new(); self.runs()];
        for (number, part) in self.parts.iter().enumerate() {
            if let Some(run) = runs.get_mut(part.run) {
                run.push(number);
            }
        }
        runs
    }

    /// Where a part stands.
    pub(super) fn range(&self, part: usize) -> Range<usize> {
        self.parts.get(part).map_or(0..0, |part| part.range.clone())
    }

    /// The pieces that make up the text of a run of these parts, with what is around them.
    pub(super) fn text_of(&self, parts: &[usize]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (position, part) in parts.iter().filter_map(|part| self.parts.get(*part)).enumerate() {
            let way = self.way(part.parent);
            let same = open.iter().zip(&way).take_while(|(a, b)| a == b).count();
            for around in open.drain(same..).rev() {
                self.add(&mut pieces, around, false);
            }
            if position > 0 {
                pieces.push(Piece::Glue(",\n"));
            }
            for around in way.iter().skip(same) {
                self.add(&mut pieces, *around, true);
                open.push(*around);
            }
            pieces.push(Piece::Text(part.range.clone()));
        }
        let outer = |part: &usize| self.way(self.parts.get(*part).and_then(|part| part.parent)).first().copied();
        let several = parts.iter().any(|part| outer(part) != parts.first().and_then(outer));
        for around in open.into_iter().rev() {
            self.add(&mut pieces, around, false);
        }
        if several {
            pieces.insert(0, Piece::Glue("["));
            pieces.push(Piece::Glue("]"));
        }
        pieces
    }

    /// What is around a part, from the outside.
    fn way(&self, parent: Option<usize>) -> Vec<usize> {
        let above = |around: &usize| self.around.get(*around).and_then(|around| around.parent);
        let mut way: Vec<usize> = std::iter::successors(parent, above).collect();
        way.reverse();
        way
    }

    fn add(&self, pieces: &mut Vec<Piece>, around: usize, before: bool) {
        if let Some(around) = self.around.get(around) {
            pieces.extend_from_slice(if before { &around.before } else { &around.after });
        }
    }
}

struct Finder<'a> {
    text: &'a str,
    indexed: Indexed<'a>,
    cutting: &'a Cutting,
    found: Pieces,
    runs: FxHashMap<&'a str, usize>,
}

impl<'a> Finder<'a> {
    fn around(&mut self, parent: Option<usize>) -> usize {
        self.found.around.push(Around { parent, before: Vec::new(), after: Vec::new() });
        self.found.around.len() - 1
    }

    fn set(&mut self, around: usize, before: Vec<Piece>, after: Vec<Piece>) {
        if let Some(around) = self.found.around.get_mut(around) {
            (around.before, around.after) = (before, after);
        }
    }

    /// Looks through a value, or through the one inside of it in which the way begins; gives the end of the outer one.
    fn whole(&mut self, start: usize, parent: Option<usize>) -> Option<usize> {
        let inner = walk::under(self.indexed, start, self.cutting.within).map_or(start, |inner| inner.start);
        let end = self.value(inner, 0, parent)?;
        if inner == start {
            return Some(end);
        }
        self.found.keeps_all = false;
        self.indexed.end_of_value(start)
    }

    /// Looks through a value on the way; gives its end.
    fn value(&mut self, start: usize, level: usize, parent: Option<usize>) -> Option<usize> {
        let (text, indexed) = (self.text, self.indexed);
        let Some(keys) = self.cutting.way.get(level) else {
            self.found.keeps_all |= parent.is_none();
            return self.part(start, parent);
        };
        if text.as_bytes().get(start) != Some(&b'{') {
            // What stands among containers and is none goes with the parts before it.
            return if parent.is_some() { self.part(start, parent) } else { indexed.end_of_value(start) };
        }
        let (mut lists, mut kept, mut several, mut entries) = (Vec::new(), Vec::new(), false, 0_usize);
        let keeps = (level == 0).then_some(self.cutting.keeps);
        let (alone, outer) = (self.cutting.takes_parts_alone(), parent);
        let inside = |key: &str, at: usize| {
            if !keys.contains(&key) || text.as_bytes().get(at) != Some(&b'[') {
                return None;
            }
            // What is kept around one list would hold the other.
            several |= keeps.is_none() && !lists.is_empty();
            let around = match (alone, parent, lists.first()) {
                (true, Some(list), _) => list,
                (true, None, Some((list, _))) => *list,
                (true, None, None) | (false, ..) => self.around(parent),
            };
            let end = walk::list(text, at, |at| self.value(at, level + 1, Some(around)))?;
            lists.push((around, at..end));
            Some(end)
        };
        let keep = |entry: &Entry| {
            entries += 1;
            let key = text.get(entry.key.clone()).unwrap_or_default();
            if keeps.is_some_and(|keeps| keeps.contains(&key)) {
                kept.push(entry.key.start - 1..entry.value.end);
            }
        };
        let end = walk::object(indexed, start, inside, keep)?;
        if several {
            return None;
        }
        if lists.is_empty() && level == 0 && parent.is_some() {
            return self.part(start, parent);
        }
        if parent.is_none() && level == 0 {
            self.found.keeps_all = entries == 1 && !alone;
        }
        for (around, list) in lists {
            let (before, after) = match keeps {
                Some(_) if alone && outer.is_some() => continue,
                Some(_) if alone => (vec![Piece::Glue("[")], vec![Piece::Glue("]")]),
                Some(_) => (skeleton(text, &list, &kept), vec![Piece::Glue("]}")]),
                None => (vec![Piece::Text(start..list.start + 1)], vec![Piece::Text(list.end - 1..end)]),
            };
            self.set(around, before, after);
        }
        Some(end)
    }

    fn part(&mut self, start: usize, parent: Option<usize>) -> Option<usize> {
        let end = self.indexed.end_of_value(start)?;
        let id = || {
            let found = self.cutting.by.iter().find_map(|way| walk::under(self.indexed, start, way))?;
            Some(self.text.get(found)?.trim_matches('"'))
        };
        let run = match (self.cutting.by.is_empty(), id()) {
            (true, _) => self.run(None),
            (false, id) => self.run_with(id),
        };
        self.found.parts.push(Part { range: start..end, parent, run });
        Some(end)
    }

    /// The run with an id. What has none goes with what stands before it, or with the first run: its reader tells what that is.
    fn run_with(&mut self, id: Option<&'a str>) -> usize {
        let last = self.found.parts.last().map(|part| part.run);
        let Some(id) = id else { return last.unwrap_or_else(|| self.run(None)) };
        if let Some(run) = self.runs.get(id) {
            return *run;
        }
        let run = match self.found.ids.as_mut_slice() {
            // Nothing so far had an id.
            [first @ None] => {
                *first = Some(id.to_owned());
                0
            }
            _ => self.run(Some(id)),
        };
        self.runs.insert(id, run);
        run
    }

    fn run(&mut self, id: Option<&str>) -> usize {
        self.found.ids.push(id.map(str::to_owned));
        self.found.ids.len() - 1
    }
}

/// The beginning of an object with the entries that are kept, and of its list last.
fn skeleton(text: &str, list: &Range<usize>, kept: &[Range<usize>]) -> Vec<Piece> {
    // The key of the list stands in front of it.
    let before = text.get(..list.start).unwrap_or_default().trim_end().trim_end_matches(':').trim_end();
    let key = before.strip_suffix('"').and_then(|before| before.rfind('"')).unwrap_or(list.start);
    let mut pieces = vec![Piece::Glue("{")];
    for range in kept {
        pieces.extend([Piece::Text(range.clone()), Piece::Glue(",")]);
    }
    pieces.push(Piece::Text(key..list.start + 1));
    pieces
}

/// Puts pieces of a text together, and says where each stands in the file. `None` where there is no memory for it.
pub(super) fn join(text: &str, pieces: &[Piece]) -> Option<String> {
    let piece = |piece: &Piece| match piece {
        Piece::Text(range) => text.get(range.clone()).unwrap_or_default(),
        Piece::Glue(glue) => glue,
    };
    let mut joined = String::new();
    let length = pieces.iter().map(Piece::len).sum();
    asking(|| joined.try_reserve_exact(length)).ok()?;
    pieces.iter().for_each(|one| joined.push_str(piece(one)));
    Some(joined)
}

/// Where all pieces of a text stand in it: lines are counted once, from the first to the last.
pub(super) struct Places {
    /// Offset, line, column.
    known: Vec<(usize, usize, usize)>,
}

impl Places {
    /// Those of all that was found.
    pub(super) fn of(text: &str, found: &Pieces) -> Self {
        let around = found.around.iter().flat_map(|around| around.before.iter().chain(&around.after));
        let around = around.filter_map(|piece| match piece {
            Piece::Text(range) => Some(range.start),
            Piece::Glue(_) => None,
        });
        let mut known: Vec<_> =
            around.chain(found.parts.iter().map(|part| part.range.start)).map(|offset| (offset, 0, 0)).collect();
        known.sort_unstable();
        let mut counter = split::LineCounter::default();
        for (offset, line, column) in &mut known {
            (*line, *column) = counter.line_and_column(text, *offset);
        }
        Self { known }
    }

    /// Line and column of an offset at which a piece starts.
    pub(super) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let found = self.known.binary_search_by_key(&offset, |(offset, ..)| *offset);
        found.ok().and_then(|found| self.known.get(found)).map_or((1, 1), |(_, line, column)| (*line, *column))
    }

    /// Where the pieces of a run's text stand in the file, in which this text starts at an offset and on a line.
    pub(super) fn of_run(&self, pieces: &[Piece], offset: u64, lines: usize) -> Vec<TextPart> {
        let mut parts = Vec::new();
        let mut start = 0;
        for piece in pieces {
            match piece {
                Piece::Text(range) => {
                    let (line, column) = self.line_and_column(range.start);
                    parts.push(TextPart { start, line: line + lines, column, offset: offset + range.start as u64 });
                    start += range.len();
                }
                Piece::Glue(glue) => start += glue.len(),
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPANS: Cutting = Cutting {
        within: &[],
        way: &[&["resources", "batches"], &["scopes"], &["spans"]],
        by: &[&["trace"], &["of", "trace"]],
        keeps: &[],
    };
    const SAMPLES: Cutting = Cutting { within: &[], way: &[&["samples"]], by: &[], keeps: &["eval"] };
    const FLAT: Cutting = Cutting { within: &[], way: &[], by: &[&["trace"]], keeps: &[] };

    fn runs(text: &str, cutting: &Cutting) -> Vec<String> {
        let Some(found) = Pieces::find(Indexed::not(text), 0, cutting) else { return Vec::new() };
        found.by_run().iter().map(|parts| join(text, &found.text_of(parts)).unwrap()).collect()
    }

    #[test]
    fn the_text_of_a_run_is_the_value_without_the_parts_of_others() {
        let text = r#"{"x": [1], "batches": [{"of": "A", "scopes": [{"spans": [{"trace": "1", "n": 1}, {"trace": "2", "n": "]"}]}]},
            {"of": "B", "scopes": [{"spans": [{"of": {"trace": "1"}, "n": 3}], "s": 5}, {"spans": []}]}]}"#;
        let runs = runs(text, &SPANS);
        let of_1 = concat!(
            r#"{"batches": [{"of": "A", "scopes": [{"spans": [{"trace": "1", "n": 1}]}]},"#,
            "\n",
            r#"{"of": "B", "scopes": [{"spans": [{"of": {"trace": "1"}, "n": 3}], "s": 5}]}]}"#
        );
        assert_eq!(runs, [of_1, r#"{"batches": [{"of": "A", "scopes": [{"spans": [{"trace": "2", "n": "]"}]}]}]}"#]);
    }

    #[test]
    fn each_part_may_be_a_run_and_keep_what_stands_beside_the_list() {
        let text = "{\"eval\": {\"a\": 1}, \"other\": 2,\n \"samples\" : [{\"id\": 1}, {\"id\": 2}], \"late\": 3}";
        let runs = runs(text, &SAMPLES);
        assert_eq!(
            runs,
            [r#"{"eval": {"a": 1},"samples" : [{"id": 1}]}"#, r#"{"eval": {"a": 1},"samples" : [{"id": 2}]}"#]
        );
        let found = Pieces::find(Indexed::not(text), 0, &SAMPLES).unwrap();
        let pieces = found.text_of(&found.by_run()[1]);
        let places = Places::of(text, &found).of_run(&pieces, 3, 0);
        let (line, column) = (places[2].line, places[2].column);
        assert_eq!((line, column, places[2].start, places[2].offset), (2, 26, 31, 59));
    }

    #[test]
    fn lists_of_parts_and_single_parts_are_cut_too() {
        let text = r#"[{"trace": 1}, {"trace": 2}, {"trace": 1, "b": []}]"#;
        assert_eq!(runs(text, &FLAT), ["[{\"trace\": 1},\n{\"trace\": 1, \"b\": []}]", "[{\"trace\": 2}]"]);
        assert_eq!(runs(r#"{"trace": 1}"#, &FLAT), [r#"{"trace": 1}"#]);
        for broken in ["[{\"trace\": 1}", "{\"trace\" 1}", "{\"samples\": 5}", "{\"samples\": [}", "5", ""] {
            assert!(runs(broken, &SAMPLES).is_empty(), "{broken}");
        }
    }
}

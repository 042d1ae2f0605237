//! The parts of the runs that one value holds, found by their brackets, and the text that each run has of its own.

use super::json_walk::{self, EntrySpan, IndexedText};
use super::split;
use crate::adapt::cutting::{JoinedRecords, RunCutting};
use crate::adapt::format::TraceFormat;
use crate::adapt::registry;
use averment_base::limits::Limits;
use averment_base::memory::allow_failure;
use averment_base::value::json;
use rustc_hash::FxHashMap;
use std::ops::Range;

#[derive(Debug, Default)]
pub(super) struct CutPieces {
    around: Vec<PartHolder>,
    parts: Vec<RunPart>,
    /// Run ids by number, in text order.
    pub(super) ids: Vec<Option<String>>,
    pub(super) end: usize,
    /// Every run keeps everything else in the value.
    keeps_all: bool,
}

#[derive(Debug, Clone)]
struct PartHolder {
    parent: Option<usize>,
    before: Vec<RunPiece>,
    after: Vec<RunPiece>,
}

#[derive(Debug)]
struct RunPart {
    range: Range<usize>,
    parent: Option<usize>,
    run: usize,
}

/// Parts examined to detect a file's content, and of one run.
const LOOKED_AT: usize = 32;
const OF_ONE: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunPiece {
    Text(Range<usize>),
    Glue(&'static str),
}

impl RunPiece {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(range) => range.len(),
            Self::Glue(glue) => glue.len(),
        }
    }
}

impl CutPieces {
    /// `None` if the cutting does not fit.
    pub(super) fn find_parts(indexed: IndexedText<'_>, start: usize, cutting: &RunCutting) -> Option<Self> {
        Self::find_in(indexed, start, cutting, true)
    }

    /// If the value is not the only one, later ones are treated like list elements.
    pub(super) fn find_in(indexed: IndexedText<'_>, start: usize, cutting: &RunCutting, single: bool) -> Option<Self> {
        let text = indexed.text;
        let mut finder =
            PartFinder { text, indexed, cutting, found: Self::default(), runs: FxHashMap::default(), last: None };
        if !single {
            let list = finder.add_holder(None);
            let mut at = start;
            while at < text.len() {
                at = split::skip_blank(text, finder.scan_value(at, Some(list)).filter(|end| *end > at)?);
            }
            finder.found.end = at;
            finder.set_holder(list, vec![RunPiece::Glue("[")], vec![RunPiece::Glue("]")]);
        } else if text.as_bytes().get(start) == Some(&b'[') {
            let list = finder.add_holder(None);
            let parent = Some(list);
            finder.found.end = json_walk::walk_list(text, start, |at| finder.scan_value(at, parent))?;
            finder.set_holder(list, vec![RunPiece::Glue("[")], vec![RunPiece::Glue("]")]);
        } else {
            finder.found.end = finder.scan_value(start, None)?;
            if let Some(joins) = &cutting.joins {
                finder.join_records(start, joins);
            }
        }
        Some(finder.found).filter(|found| !found.parts.is_empty())
    }

    /// Where the texts begin that its runs are joined of.
    pub(super) fn text_starts(&self) -> impl Iterator<Item = usize> {
        let around = self.around.iter().flat_map(|around| around.before.iter().chain(&around.after));
        let around = around.filter_map(|piece| match piece {
            RunPiece::Text(range) => Some(range.start),
            RunPiece::Glue(_) => None,
        });
        around.chain(self.parts.iter().map(|part| part.range.start))
    }

    pub(super) fn is_one_run(&self) -> bool {
        self.keeps_all && self.run_count() == 1
    }

    pub(super) fn run_count(&self) -> usize {
        self.ids.len()
    }

    /// True if some run's first parts are of the format: what precedes may not be.
    pub(super) fn is_of(&self, text: &str, format: &TraceFormat, limits: &Limits) -> bool {
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
            let Some(text) = join_pieces(text, &self.text_of(parts)) else { return false };
            let arena = bumpalo::Bump::new();
            json::parse_recorded(&text, 0, &arena, limits).is_ok_and(|document| {
                registry::detect_format(&document.node).is_some_and(|found| std::ptr::eq(found, format))
            })
        })
    }

    pub(super) fn by_run(&self) -> Vec<Vec<usize>> {
        let mut runs = vec![Vec::new(); self.run_count()];
        for (number, part) in self.parts.iter().enumerate() {
            if let Some(run) = runs.get_mut(part.run) {
                run.push(number);
            }
        }
        runs
    }

    pub(super) fn part_range(&self, part: usize) -> Range<usize> {
        self.parts.get(part).map_or(0..0, |part| part.range.clone())
    }

    pub(super) fn text_of(&self, parts: &[usize]) -> Vec<RunPiece> {
        let mut pieces: Vec<RunPiece> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (position, part) in parts.iter().filter_map(|part| self.parts.get(*part)).enumerate() {
            let way = self.holder_path(part.parent);
            let same = open.iter().zip(&way).take_while(|(a, b)| a == b).count();
            for around in open.drain(same..).rev() {
                self.push_holder(&mut pieces, around, false);
            }
            if position > 0 {
                pieces.push(RunPiece::Glue(",\n"));
            }
            for around in way.iter().skip(same) {
                self.push_holder(&mut pieces, *around, true);
                open.push(*around);
            }
            pieces.push(RunPiece::Text(part.range.clone()));
        }
        let outer =
            |part: &usize| self.holder_path(self.parts.get(*part).and_then(|part| part.parent)).first().copied();
        let several = parts.iter().any(|part| outer(part) != parts.first().and_then(outer));
        for around in open.into_iter().rev() {
            self.push_holder(&mut pieces, around, false);
        }
        if several {
            pieces.insert(0, RunPiece::Glue("["));
            pieces.push(RunPiece::Glue("]"));
        }
        pieces
    }

    fn holder_path(&self, parent: Option<usize>) -> Vec<usize> {
        let above = |around: &usize| self.around.get(*around).and_then(|around| around.parent);
        let mut way: Vec<usize> = std::iter::successors(parent, above).collect();
        way.reverse();
        way
    }

    fn push_holder(&self, pieces: &mut Vec<RunPiece>, around: usize, before: bool) {
        if let Some(around) = self.around.get(around) {
            pieces.extend_from_slice(if before { &around.before } else { &around.after });
        }
    }
}

struct PartFinder<'a> {
    text: &'a str,
    indexed: IndexedText<'a>,
    cutting: &'a RunCutting,
    found: CutPieces,
    runs: FxHashMap<&'a str, usize>,
    /// The id of the part before, with its run: most parts are of the same.
    last: Option<(&'a str, usize)>,
}

impl<'a> PartFinder<'a> {
    fn add_holder(&mut self, parent: Option<usize>) -> usize {
        self.found.around.push(PartHolder { parent, before: Vec::new(), after: Vec::new() });
        self.found.around.len() - 1
    }

    fn set_holder(&mut self, around: usize, before: Vec<RunPiece>, after: Vec<RunPiece>) {
        if let Some(around) = self.found.around.get_mut(around) {
            (around.before, around.after) = (before, after);
        }
    }

    /// Enters the value in which the path begins; returns the outer end.
    fn scan_value(&mut self, start: usize, parent: Option<usize>) -> Option<usize> {
        let inner = json_walk::value_under(self.indexed, start, self.cutting.within).map_or(start, |inner| inner.start);
        let end = self.scan_level(inner, 0, parent)?;
        if inner == start {
            return Some(end);
        }
        self.found.keeps_all = false;
        self.indexed.end_of_value(start)
    }

    fn scan_level(&mut self, start: usize, level: usize, parent: Option<usize>) -> Option<usize> {
        let (text, indexed) = (self.text, self.indexed);
        let Some(keys) = self.cutting.way.get(level) else {
            self.found.keeps_all |= parent.is_none();
            return self.add_part(start, parent);
        };
        if text.as_bytes().get(start) != Some(&b'{') {
            // What stands among containers and is none goes with the parts before it.
            return if parent.is_some() { self.add_part(start, parent) } else { indexed.end_of_value(start) };
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
                (true, None, None) | (false, ..) => self.add_holder(parent),
            };
            let end = json_walk::walk_list(text, at, |at| self.scan_level(at, level + 1, Some(around)))?;
            lists.push((around, at..end));
            Some(end)
        };
        let keep = |entry: &EntrySpan| {
            entries += 1;
            let key = text.get(entry.key.clone()).unwrap_or_default();
            if keeps.is_some_and(|keeps| keeps.contains(&key)) {
                kept.push(entry.key.start - 1..entry.value.end);
            }
        };
        let end = json_walk::walk_object(indexed, start, inside, keep)?;
        if several {
            return None;
        }
        if lists.is_empty() && level == 0 && parent.is_some() {
            return self.add_part(start, parent);
        }
        if parent.is_none() && level == 0 {
            self.found.keeps_all = entries == 1 && !alone;
        }
        for (around, list) in lists {
            let (before, after) = match keeps {
                Some(_) if alone && outer.is_some() => continue,
                Some(_) if alone => (vec![RunPiece::Glue("[")], vec![RunPiece::Glue("]")]),
                Some(_) => (list_skeleton(text, &list, &kept), vec![RunPiece::Glue("]}")]),
                None => (vec![RunPiece::Text(start..list.start + 1)], vec![RunPiece::Text(list.end - 1..end)]),
            };
            self.set_holder(around, before, after);
        }
        Some(end)
    }

    /// Takes the parts out of what stands around them; a part with records of its id holds them.
    fn join_records(&mut self, start: usize, joins: &JoinedRecords) {
        let (text, indexed) = (self.text, self.indexed);
        let id_in = |at: usize| text.get(json_walk::value_under(indexed, at, &[joins.by])?);
        let mut records: FxHashMap<&str, Vec<Range<usize>>> = FxHashMap::default();
        if let Some(list) = json_walk::value_under(indexed, start, &[joins.list]) {
            json_walk::walk_list(text, list.start, |at| {
                let end = indexed.end_of_value(at)?;
                if let Some(id) = id_in(at) {
                    records.entry(id).or_default().push(at..end);
                }
                Some(end)
            });
        }
        for number in 0..self.found.parts.len() {
            let own = self.found.parts.get(number).and_then(|part| records.get(id_in(part.range.start)?));
            let pieces = own.map(|own| {
                let mut pieces = vec![RunPiece::Glue(joins.before)];
                for (at, range) in own.iter().enumerate() {
                    pieces.extend((at > 0).then_some(RunPiece::Glue(",")));
                    pieces.push(RunPiece::Text(range.clone()));
                }
                pieces.push(RunPiece::Glue(joins.between));
                pieces
            });
            let parent = pieces.map(|before| {
                let holder = self.add_holder(None);
                self.set_holder(holder, before, vec![RunPiece::Glue("}")]);
                holder
            });
            if let Some(part) = self.found.parts.get_mut(number) {
                part.parent = parent;
            }
        }
    }

    fn add_part(&mut self, start: usize, parent: Option<usize>) -> Option<usize> {
        let end = self.indexed.end_of_value(start)?;
        let id = || {
            let found = self.cutting.by.iter().find_map(|way| json_walk::value_under(self.indexed, start, way))?;
            Some(self.text.get(found)?.trim_matches('"'))
        };
        let run = match (self.cutting.by.is_empty(), id()) {
            (true, _) => self.run_number(None),
            (false, id) => self.run_with(id),
        };
        self.found.parts.push(RunPart { range: start..end, parent, run });
        Some(end)
    }

    /// Parts without an id join the preceding run, or the first: its reader decides.
    fn run_with(&mut self, id: Option<&'a str>) -> usize {
        let last = self.found.parts.last().map(|part| part.run);
        let Some(id) = id else { return last.unwrap_or_else(|| self.run_number(None)) };
        if let Some((_, run)) = self.last.filter(|(last, _)| *last == id) {
            return run;
        }
        if let Some(run) = self.runs.get(id).copied() {
            self.last = Some((id, run));
            return run;
        }
        let run = match self.found.ids.as_mut_slice() {
            // Nothing so far had an id.
            [first @ None] => {
                *first = Some(id.to_owned());
                0
            }
            _ => self.run_number(Some(id)),
        };
        self.runs.insert(id, run);
        self.last = Some((id, run));
        run
    }

    fn run_number(&mut self, id: Option<&str>) -> usize {
        self.found.ids.push(id.map(str::to_owned));
        self.found.ids.len() - 1
    }
}

/// Kept entries first, the list last.
fn list_skeleton(text: &str, list: &Range<usize>, kept: &[Range<usize>]) -> Vec<RunPiece> {
    // The key of the list stands in front of it.
    let before = text.get(..list.start).unwrap_or_default().trim_end().trim_end_matches(':').trim_end();
    let key = before.strip_suffix('"').and_then(|before| before.rfind('"')).unwrap_or(list.start);
    let mut pieces = vec![RunPiece::Glue("{")];
    for range in kept {
        pieces.extend([RunPiece::Text(range.clone()), RunPiece::Glue(",")]);
    }
    pieces.push(RunPiece::Text(key..list.start + 1));
    pieces
}

/// `None` if memory is exhausted.
pub(super) fn join_pieces(text: &str, pieces: &[RunPiece]) -> Option<String> {
    let piece = |piece: &RunPiece| match piece {
        RunPiece::Text(range) => text.get(range.clone()).unwrap_or_default(),
        RunPiece::Glue(glue) => glue,
    };
    let mut joined = String::new();
    let length = pieces.iter().map(RunPiece::len).sum();
    allow_failure(|| joined.try_reserve_exact(length)).ok()?;
    pieces.iter().for_each(|one| joined.push_str(piece(one)));
    Some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::piece_places::PiecePlaces;

    const SPANS: RunCutting = RunCutting {
        within: &[],
        way: &[&["resources", "batches"], &["scopes"], &["spans"]],
        by: &[&["trace"], &["of", "trace"]],
        keeps: &[],
        joins: None,
    };
    const SAMPLES: RunCutting =
        RunCutting { within: &[], way: &[&["samples"]], by: &[], keeps: &["eval"], joins: None };
    const FLAT: RunCutting = RunCutting { within: &[], way: &[], by: &[&["trace"]], keeps: &[], joins: None };

    fn runs(text: &str, cutting: &RunCutting) -> Vec<String> {
        let Some(found) = CutPieces::find_parts(IndexedText::without_index(text), 0, cutting) else {
            return Vec::new();
        };
        found.by_run().iter().map(|parts| join_pieces(text, &found.text_of(parts)).unwrap()).collect()
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
        let found = CutPieces::find_parts(IndexedText::without_index(text), 0, &SAMPLES).unwrap();
        let pieces = found.text_of(&found.by_run()[1]);
        let places = PiecePlaces::locate_all(text, &found).of_run(&pieces, 3, 0);
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

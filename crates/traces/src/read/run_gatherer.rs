//! Files with parts of runs on their lines, those of one run scattered over the file: the parts of a run are gathered, within a bound.

use super::gathered_text::{GatheredText, TextBlock};
use super::json_walk::IndexedText;
use super::piece_places::PiecePlaces;
use super::run_pieces::{CutPieces, join_pieces};
use super::{RawRun, RunText, TextForm, bytes, split};
use crate::adapt::cutting::RunCutting;
use crate::adapt::format::TraceFormat;
use crate::adapt::registry;
use crate::error::ReadError;
use crate::scan::ByteIndex;
use averment_base::limits::Limits;
use averment_runs::run::{ReadWarning, RunSource, TextPart};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of parts held back, at most one run's limit. Beyond that, the least recently extended run is emitted.
pub(super) const GATHERED: usize = 64 << 20;

const TOO_LATE: &str =
    "parts of this run stand too far behind others to be gathered with them: those are a run of their own";

/// Runs emitted early that are remembered, to detect late parts.
const REMEMBERED: usize = 1 << 20;

pub(super) struct RunGatherer {
    cutting: &'static RunCutting,
    open: FxHashMap<Arc<str>, GatheredRun>,
    /// Run ids by last touched line; may contain outdated entries.
    touched: VecDeque<(u64, Arc<str>)>,
    touches: u64,
    held: usize,
    early: FxHashSet<u64>,
    runs: usize,
    index: ByteIndex,
    alone: bool,
    /// The texts of the lines of a chunk that are a run so far.
    block: TextBlock,
    in_block: Vec<Arc<str>>,
    /// Bytes that stand in blocks and are of no run any more.
    unused: usize,
}

/// So many bytes of blocks may be of no run: then each text is given a block of its own.
const MOST_UNUSED: usize = GATHERED / 8;

struct GatheredRun {
    text: GatheredText,
    places: Vec<TextPart>,
    /// First part: line, column, offset, and run number in the file.
    first: (usize, usize, u64),
    position: usize,
    touched: u64,
    warnings: Vec<ReadWarning>,
}

impl RunGatherer {
    /// `None` if no format gathers such lines.
    pub(super) fn detect_lines(line: &str, keys: &[&str], limits: &Limits) -> Option<Self> {
        if !registry::may_be_cut(keys) {
            return None;
        }
        let has = |wanted: &str| keys.contains(&wanted);
        // A line that is a part itself is one that the format may know.
        let may_fit = |(format, cutting): &(&TraceFormat, &RunCutting)| {
            cutting.first_keys().any(has) && (!cutting.way.is_empty() || line.starts_with('[') || format.may_match(has))
        };
        let (_, cutting) = registry::all_cuttings().filter(may_fit).find(|(format, cutting)| {
            CutPieces::find_parts(IndexedText::without_index(line), 0, cutting)
                .filter(|found| !cutting.by.is_empty() || found.run_count() > 1 || cutting.is_for_one())
                .is_some_and(|found| found.is_of(line, format, limits))
        })?;
        Some(Self {
            cutting,
            open: FxHashMap::default(),
            touched: VecDeque::new(),
            touches: 0,
            held: 0,
            early: FxHashSet::default(),
            runs: 0,
            index: ByteIndex::default(),
            alone: true,
            block: TextBlock::default(),
            in_block: Vec::new(),
            unused: 0,
        })
    }

    /// Says that lines of so many bytes follow.
    pub(super) fn begin_block(&mut self, bytes: usize) {
        self.block = TextBlock::with_room(bytes);
    }

    /// Ends a chunk of lines: the runs in its block share it from here on.
    pub(super) fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block).into_shared();
        for id in self.in_block.drain(..) {
            if let Some(gathered) = self.open.get_mut(&*id) {
                gathered.text.share_block(&block);
            }
        }
        if self.unused > MOST_UNUSED {
            self.open.values_mut().for_each(|gathered| gathered.text.leave_block());
            self.unused = 0;
        }
    }

    /// Lines that cannot be gathered are emitted at once.
    pub(super) fn take_line(
        &mut self,
        line: &str,
        source: &dyn Fn() -> RunSource,
        limits: &Limits,
        ready: &mut VecDeque<Result<RawRun, ReadError>>,
    ) {
        let start = split::skip_blank(line, 0);
        let is_one = |found: &CutPieces| split::skip_blank(line, found.end) >= line.len();
        let indexed = IndexedText::new(line, &mut self.index, limits.json_depth);
        let Some(found) = CutPieces::find_parts(indexed, start, self.cutting).filter(is_one) else {
            // What is wrong with it is for the reader to say.
            self.alone = false;
            ready.push_back(Ok(RawRun::new(line.to_owned(), source())));
            return;
        };
        let at = source();
        if found.is_one_run() && !self.cutting.by.is_empty() {
            self.whole_line(line, start, &found, &at);
            return self.hand_out_oldest(&at.file, limits, ready);
        }
        let places = PiecePlaces::locate_all(line, &found);
        for (id, parts) in found.ids.iter().zip(found.by_run()) {
            let id = id.as_deref().unwrap_or_default();
            let pieces = found.text_of(&parts);
            let Some(text) = join_pieces(line, &pieces) else {
                ready.push_back(Err(bytes::no_memory(&at, "the parts of a run")));
                continue;
            };
            let first = parts.first().map_or(0, |part| found.part_range(*part).start);
            let (_, column) = places.line_and_column(first);
            let of_run = places.of_run(&pieces, at.offset, at.line - 1);
            let first = (at.line, column, at.offset + first as u64);
            if self.cutting.by.is_empty() {
                self.runs += 1;
                ready.push_back(Ok(gathered_run(&at.file, RunText::whole_text(text), of_run, first, self.runs)));
            } else {
                // Of several lists one is made.
                let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                let shift = usize::from(list.is_some());
                let of_run: Vec<TextPart> = of_run
                    .into_iter()
                    .map(|place| TextPart { start: place.start.saturating_sub(shift), ..place })
                    .collect();
                self.add_part(id, list.unwrap_or(&text), &of_run, first);
            }
        }
        self.hand_out_oldest(&at.file, limits, ready);
    }

    fn whole_line(&mut self, line: &str, start: usize, found: &CutPieces, at: &RunSource) {
        let column = |offset: usize| line.get(..offset).unwrap_or_default().chars().count() + 1;
        let place = TextPart { start: 0, line: at.line, column: column(start), offset: at.offset + start as u64 };
        let first = found.part_range(0).start;
        let text = line.get(start..found.end).unwrap_or_default();
        let id = found.ids.first().and_then(Option::as_deref).unwrap_or_default();
        self.add_part(id, text, &[place], (at.line, column(first), at.offset + first as u64));
    }

    fn add_part(&mut self, id: &str, text: &str, places: &[TextPart], first: (usize, usize, u64)) {
        self.touches += 1;
        let touched = self.touches;
        let id = match self.open.get_key_value(id) {
            Some((id, _)) => Arc::clone(id),
            None => self.begin_run(id, first),
        };
        let Some(gathered) = self.open.get_mut(&id) else { return };
        let before = gathered.text.length();
        self.unused += gathered.text.add_part(text, &mut self.block);
        let start = gathered.text.length() - text.len();
        gathered.places.extend(places.iter().map(|place| TextPart { start: place.start + start, ..*place }));
        gathered.touched = touched;
        self.held += gathered.text.length() - before;
        self.touched.push_back((touched, id));
    }

    fn begin_run(&mut self, id: &str, first: (usize, usize, u64)) -> Arc<str> {
        self.runs += 1;
        let late = self.early.contains(&hash(id));
        let warnings = late.then(|| ReadWarning { message: TOO_LATE.to_owned(), offset: 0, lost: false });
        let warnings = warnings.into_iter().collect();
        let (text, places) = (GatheredText::default(), Vec::with_capacity(1));
        let id: Arc<str> = Arc::from(id);
        self.in_block.push(Arc::clone(&id));
        self.open
            .insert(Arc::clone(&id), GatheredRun { text, places, first, position: self.runs, touched: 0, warnings });
        id
    }

    /// Emits runs while too much is held; a single run may reach the run limit.
    fn hand_out_oldest(&mut self, file: &str, limits: &Limits, ready: &mut VecDeque<Result<RawRun, ReadError>>) {
        let most = |open: usize| if open > 1 { GATHERED.min(limits.run_bytes) } else { limits.run_bytes };
        while self.held > most(self.open.len()) {
            let Some((touched, id)) = self.touched.pop_front() else { return };
            if self.open.get(&id).is_none_or(|gathered| gathered.touched != touched) {
                continue;
            }
            if self.early.len() >= REMEMBERED {
                self.early.clear();
            }
            self.early.insert(hash(&id));
            self.hand_out(&id, file, ready);
        }
        // What was touched often stands in the list often.
        if self.touched.len() > 2 * self.open.len() + 1024 {
            let open = &self.open;
            self.touched.retain(|(touched, id)| open.get(id).is_some_and(|gathered| gathered.touched == *touched));
        }
    }

    fn hand_out(&mut self, id: &str, file: &str, ready: &mut VecDeque<Result<RawRun, ReadError>>) {
        let Some(gathered) = self.open.remove(id) else { return };
        self.held -= gathered.text.length();
        let text = gathered.text.into_run_text(&self.block);
        let raw = gathered_run(file, text, gathered.places, gathered.first, gathered.position);
        ready.push_back(Ok(RawRun { warnings: gathered.warnings, ..raw }));
    }

    pub(super) fn finish_runs(&mut self, file: &str, ready: &mut VecDeque<Result<RawRun, ReadError>>) {
        let mut left: Vec<(usize, Arc<str>)> =
            self.open.iter().map(|(id, gathered)| (gathered.position, Arc::clone(id))).collect();
        left.sort();
        let alone = self.runs == 1 && self.alone;
        for (_, id) in left {
            self.hand_out(&id, file, ready);
        }
        if let (true, Some(Ok(run))) = (alone, ready.back_mut()) {
            run.source.position = None;
        }
    }
}

fn gathered_run(
    file: &str,
    text: RunText,
    places: Vec<TextPart>,
    first: (usize, usize, u64),
    position: usize,
) -> RawRun {
    let (line, column, offset) = first;
    let source = RunSource {
        file: file.to_owned(),
        line,
        column,
        offset,
        position: Some(position),
        by_line: false,
        parts: Some(places.into()),
        label: None,
    };
    RawRun { text, form: TextForm::Value, warnings: Vec::new(), source }
}

fn hash(id: &str) -> u64 {
    use std::hash::BuildHasher;
    rustc_hash::FxBuildHasher.hash_one(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::TraceRuns;

    fn line(trace: &str, name: &str) -> String {
        let span = format!(r#"{{"traceId":"{trace}","spanId":"1","name":"{name}","startTimeUnixNano":"1"}}"#);
        format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{span}]}}]}}]}}"#)
    }

    /// The runs of these lines, each as the memory that holds it and its text.
    fn held(lines: &[String]) -> Vec<(Arc<String>, String)> {
        let bytes = std::io::Cursor::new(lines.join("\n").into_bytes());
        let runs = TraceRuns::new("spans", bytes, &Limits::default()).map(Result::unwrap);
        let parts = runs.map(|run| match run.text {
            RunText::Range(block, range) => (Arc::clone(&block), block[range].to_owned()),
            RunText::Joined(_) => unreachable!("lines are not joined when they are asked for"),
        });
        parts.collect()
    }

    #[test]
    fn runs_of_one_line_stand_in_one_block_and_others_in_their_own() {
        let lines = [line("a", "1"), line("b", "2"), line("a", "3"), line("c", "4"), line("d", "5"), line("d", "6")];
        let [a, b, c, d] = held(&lines).try_into().unwrap();
        assert_eq!(a.1, format!("[{},\n{}]", lines[0], lines[2]));
        assert_eq!((b.1, c.1), (format!("[{}]", lines[1]), format!("[{}]", lines[3])));
        assert_eq!(d.1, format!("[{},\n{}]", lines[4], lines[5]));
        assert!(Arc::ptr_eq(&b.0, &c.0) && !Arc::ptr_eq(&a.0, &b.0) && !Arc::ptr_eq(&a.0, &d.0));
    }

    #[test]
    fn a_run_takes_its_text_along_where_it_would_keep_much_of_others() {
        // In each chunk a run of one line stands beside one that goes on in the last lines.
        let long = "x".repeat(120 << 10);
        let each = |number: usize| [line(&format!("long-{number}"), &long), line(&format!("short-{number}"), "y")];
        let count = MOST_UNUSED / long.len() + 2;
        let mut lines: Vec<String> = (0..count).flat_map(each).collect();
        lines.extend((0..count).map(|number| line(&format!("long-{number}"), "z")));
        let runs = held(&lines);
        assert_eq!(runs.len(), 2 * count);
        for (number, pair) in runs.chunks(2).enumerate() {
            assert_eq!(pair[0].1, format!("[{},\n{}]", lines[2 * number], lines[2 * count + number]));
            assert_eq!(pair[1].1, format!("[{}]", lines[2 * number + 1]));
        }
        let alone = runs.iter().filter(|(block, text)| block.len() == text.len()).count();
        assert!(alone > count + count / 2, "{alone} of {count} pairs");
    }
}

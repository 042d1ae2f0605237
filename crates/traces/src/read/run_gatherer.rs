//! Files with parts of runs on their lines, those of one run scattered over the file: the parts of a run are gathered, within a bound.

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

/// Bytes of parts held back, at most one run's limit. Beyond that, the least recently extended run is emitted.
pub(super) const GATHERED: usize = 64 << 20;

const TOO_LATE: &str =
    "parts of this run stand too far behind others to be gathered with them: those are a run of their own";

/// Runs emitted early that are remembered, to detect late parts.
const REMEMBERED: usize = 1 << 20;

pub(super) struct RunGatherer {
    cutting: &'static RunCutting,
    open: FxHashMap<String, GatheredRun>,
    /// Run ids by last touched line; may contain outdated entries.
    touched: VecDeque<(u64, String)>,
    touches: u64,
    held: usize,
    early: FxHashSet<u64>,
    runs: usize,
    index: ByteIndex,
    alone: bool,
}

struct GatheredRun {
    text: String,
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
        })
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
            let id = id.clone().unwrap_or_default();
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
                ready.push_back(Ok(gathered_run(&at.file, text, of_run, first, self.runs)));
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
        let id = found.ids.first().cloned().flatten().unwrap_or_default();
        self.add_part(id, text, &[place], (at.line, column(first), at.offset + first as u64));
    }

    fn add_part(&mut self, id: String, text: &str, places: &[TextPart], first: (usize, usize, u64)) {
        self.touches += 1;
        let touched = self.touches;
        let runs = &mut self.runs;
        let late = self.early.contains(&hash(&id));
        let gathered = self.open.entry(id.clone()).or_insert_with(|| {
            *runs += 1;
            let warnings = late.then(|| ReadWarning { message: TOO_LATE.to_owned(), offset: 0, lost: false });
            GatheredRun {
                // Most often nothing comes behind it but the bracket.
                text: String::with_capacity(text.len() + 2),
                places: Vec::with_capacity(places.len()),
                first,
                position: *runs,
                touched,
                warnings: warnings.into_iter().collect(),
            }
        });
        let before = gathered.text.len();
        gathered.text.push_str(if before == 0 { "[" } else { ",\n" });
        let start = gathered.text.len();
        gathered.text.push_str(text);
        gathered.places.extend(places.iter().map(|place| TextPart { start: place.start + start, ..*place }));
        gathered.touched = touched;
        self.held += gathered.text.len() - before;
        self.touched.push_back((touched, id));
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
        let Some(mut gathered) = self.open.remove(id) else { return };
        self.held -= gathered.text.len();
        gathered.text.push(']');
        let raw = gathered_run(file, gathered.text, gathered.places, gathered.first, gathered.position);
        ready.push_back(Ok(RawRun { warnings: gathered.warnings, ..raw }));
    }

    pub(super) fn finish_runs(&mut self, file: &str, ready: &mut VecDeque<Result<RawRun, ReadError>>) {
        let mut left: Vec<(usize, String)> =
            self.open.iter().map(|(id, gathered)| (gathered.position, id.clone())).collect();
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
    text: String,
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
    RawRun { text: RunText::whole_text(text), form: TextForm::Value, warnings: Vec::new(), source }
}

fn hash(id: &str) -> u64 {
    use std::hash::BuildHasher;
    rustc_hash::FxBuildHasher.hash_one(id)
}

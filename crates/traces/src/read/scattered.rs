//! Files with parts of runs on their lines, those of one run scattered over the file: the parts of a run are gathered, within a bound.

use super::pieces::{Pieces, Places, join};
use super::walk::Indexed;
use super::{RawRun, RunText, TextForm, bytes, split};
use crate::adapt::cutting::Cutting;
use crate::adapt::format::Format;
use crate::adapt::registry;
use crate::error::ReadError;
use crate::scan::{Cursor, Index};
use averment_base::limits::{LONG, Limits};
use averment_runs::run::{ReadWarning, RunSource, TextPart};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// So many bytes of parts are held back, or as many as a run may have where that is less. Where more come, the run is handed out whose last part came longest ago.
pub(super) const GATHERED: usize = 64 << 20;

/// What is said of parts that come later than that.
const TOO_LATE: &str =
    "parts of this run stand too far behind others to be gathered with them: those are a run of their own";

/// So many runs that were handed out early are remembered, to tell what comes too late.
const REMEMBERED: usize = 1 << 20;

/// The runs whose parts are being gathered.
pub(super) struct Scattered {
    cutting: &'static Cutting,
    open: FxHashMap<String, Gathered>,
    /// The ids of open runs by the number of the line on which they were touched last; a run that was touched again stands in it again.
    touched: VecDeque<(u64, String)>,
    touches: u64,
    held: usize,
    early: FxHashSet<u64>,
    runs: usize,
    index: Index,
    /// Nothing else was found in the file.
    alone: bool,
}

/// The parts of a run so far.
struct Gathered {
    text: String,
    places: Vec<TextPart>,
    /// Line, column and offset of its first part, and its number in the file.
    first: (usize, usize, u64),
    position: usize,
    touched: u64,
    warnings: Vec<ReadWarning>,
}

impl Scattered {
    /// How the lines of a file are gathered that starts like this, with these keys; `None` where no format does that.
    pub(super) fn of(line: &str, keys: &[&str], limits: &Limits) -> Option<Self> {
        let has = |wanted: &str| keys.contains(&wanted);
        // A line that is a part itself is one that the format may know.
        let may_fit = |(format, cutting): &(&Format, &Cutting)| {
            cutting.first_keys().any(has) && (!cutting.way.is_empty() || line.starts_with('[') || format.may_know(has))
        };
        let (_, cutting) = registry::cuttings().filter(may_fit).find(|(format, cutting)| {
            Pieces::find(Indexed::not(line), 0, cutting)
                .filter(|found| !cutting.by.is_empty() || found.runs() > 1)
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
            index: Index::default(),
            alone: true,
        })
    }

    /// Takes in a line; what cannot be gathered is handed out at once.
    pub(super) fn line(
        &mut self,
        line: &str,
        source: &dyn Fn() -> RunSource,
        limits: &Limits,
        ready: &mut VecDeque<Result<RawRun, ReadError>>,
    ) {
        let start = split::skip_blank(line, 0);
        let is_one = |found: &Pieces| split::skip_blank(line, found.end) >= line.len();
        let index = (line.len() <= LONG && self.index.build(line.as_bytes()).is_ok()).then_some(&self.index);
        let cursor =
            index.filter(|index| index.is_clean()).map(|index| Cursor::new(line.as_bytes(), index, limits.json_depth));
        let indexed = Indexed { text: line, cursor };
        let Some(found) = Pieces::find(indexed, start, self.cutting).filter(is_one) else {
            // What is wrong with it is for the reader to say.
            self.alone = false;
            ready.push_back(Ok(RawRun::new(line.to_owned(), source())));
            return;
        };
        let at = source();
        if found.is_one_run() && !self.cutting.by.is_empty() {
            self.whole_line(line, start, &found, &at);
            return self.make_room(&at.file, limits, ready);
        }
        let places = Places::of(line, &found);
        for (id, parts) in found.ids.iter().zip(found.by_run()) {
            let id = id.clone().unwrap_or_default();
            let pieces = found.text_of(&parts);
            let Some(text) = join(line, &pieces) else {
                ready.push_back(Err(bytes::no_memory(&at, "the parts of a run")));
                continue;
            };
            let first = parts.first().map_or(0, |part| found.range(*part).start);
            let (_, column) = places.line_and_column(first);
            let of_run = places.of_run(&pieces, at.offset, at.line - 1);
            let first = (at.line, column, at.offset + first as u64);
            if self.cutting.by.is_empty() {
                self.runs += 1;
                ready.push_back(Ok(run(&at.file, text, of_run, first, self.runs)));
            } else {
                // Of several lists one is made.
                let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                let shift = usize::from(list.is_some());
                let of_run: Vec<TextPart> = of_run
                    .into_iter()
                    .map(|place| TextPart { start: place.start.saturating_sub(shift), ..place })
                    .collect();
                self.add(id, list.unwrap_or(&text), &of_run, first);
            }
        }
        self.make_room(&at.file, limits, ready);
    }

    /// Takes in a line that is a part of one run as it stands.
    fn whole_line(&mut self, line: &str, start: usize, found: &Pieces, at: &RunSource) {
        let column = |offset: usize| line.get(..offset).unwrap_or_default().chars().count() + 1;
        let place = TextPart { start: 0, line: at.line, column: column(start), offset: at.offset + start as u64 };
        let first = found.range(0).start;
        let text = line.get(start..found.end).unwrap_or_default();
        let id = found.ids.first().cloned().flatten().unwrap_or_default();
        self.add(id, text, &[place], (at.line, column(first), at.offset + first as u64));
    }

    fn add(&mut self, id: String, text: &str, places: &[TextPart], first: (usize, usize, u64)) {
        self.touches += 1;
        let touched = self.touches;
        let runs = &mut self.runs;
        let late = self.early.contains(&hash(&id));
        let gathered = self.open.entry(id.clone()).or_insert_with(|| {
            *runs += 1;
            let warnings = late.then(|| ReadWarning { message: TOO_LATE.to_owned(), offset: 0, lost: false });
            Gathered {
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

    /// Hands out runs while more is held than there is room for: one alone may be as long as a run may be.
    fn make_room(&mut self, file: &str, limits: &Limits, ready: &mut VecDeque<Result<RawRun, ReadError>>) {
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
        let raw = run(file, gathered.text, gathered.places, gathered.first, gathered.position);
        ready.push_back(Ok(RawRun { warnings: gathered.warnings, ..raw }));
    }

    /// Hands out all that is left, in the order of the file.
    pub(super) fn finish(&mut self, file: &str, ready: &mut VecDeque<Result<RawRun, ReadError>>) {
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

/// A run of a text that is put together, with the line, the column and the offset of its first part.
fn run(file: &str, text: String, places: Vec<TextPart>, first: (usize, usize, u64), position: usize) -> RawRun {
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
    RawRun { text: RunText::whole(text), form: TextForm::Value, warnings: Vec::new(), source }
}

fn hash(id: &str) -> u64 {
    use std::hash::BuildHasher;
    rustc_hash::FxBuildHasher.hash_one(id)
}

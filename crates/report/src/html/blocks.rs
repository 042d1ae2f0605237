//! The runs of the page: blocks of some, each compressed by itself and written as soon as it is full.
//!
//! A block has two parts. Its index says what lists and filters need and is unpacked when the page opens; the other holds the steps and the
//! evidence, and is unpacked when somebody looks at one of its runs. A large page is no more than twice as long as the lines of `jsonl` of the
//! same runs: what does not fit is left out of runs that pass before those that fail, folded values first, then the steps that prove nothing.

use super::data::{BlockIndex, RunData, ShownDetail};
use crate::line;
use crate::model::RunReport;
use crate::table::ReportTable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Write};

/// Runs of a block at most.
const RUNS: usize = 100;
/// Bytes of a block before it is compressed, more or less.
const BYTES: usize = 512 << 10;
/// A page may be so long whatever the lines of `jsonl` are.
const FLOOR: usize = 1 << 20;
/// What is kept free for the overview.
const RESERVE: usize = 96 << 10;
/// How hard is compressed: the usual level of zlib.
const LEVEL: u8 = 6;

/// What is shown of runs that fail and of those that pass, from everything to nothing.
const LADDER: [(ShownDetail, ShownDetail); 7] = [
    (ShownDetail::Everything, ShownDetail::Everything),
    (ShownDetail::Everything, ShownDetail::Steps),
    (ShownDetail::Everything, ShownDetail::Proof),
    (ShownDetail::Steps, ShownDetail::Proof),
    (ShownDetail::Proof, ShownDetail::Proof),
    (ShownDetail::Proof, ShownDetail::Nothing),
    (ShownDetail::Nothing, ShownDetail::Nothing),
];

/// Writes blocks.
pub(super) struct RunBlocks {
    index: BlockIndex,
    runs: Vec<WaitingRun>,
    bytes: usize,
    /// Bytes of the page so far, its overview included.
    written: usize,
    /// Bytes of the lines of `jsonl` of all runs so far.
    lines: usize,
    buffer: Vec<u8>,
    /// Where the last block stood on the ladder.
    rung: usize,
}

/// A run that waits for its block.
struct WaitingRun {
    failed: bool,
    /// What is shown of it in each way of [`ShownDetail`].
    shown: [Vec<u8>; 4],
}

impl RunBlocks {
    /// For a page that has so many bytes beside its runs and its overview.
    pub(super) fn new(page: usize) -> Self {
        let (index, runs, buffer) = Default::default();
        Self { index, runs, bytes: 0, written: page + RESERVE, lines: 0, buffer, rung: 0 }
    }

    /// Adds a run, and writes the block where it is full.
    pub(super) fn add_run(&mut self, out: &mut dyn Write, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.buffer.clear();
        line::write_whole(table, run, &mut self.buffer)?;
        self.lines += self.buffer.len();
        self.index.add_run(table, run);
        let data = RunData::new(table, run);
        let mut shown: [Vec<u8>; 4] = Default::default();
        for (shows, into) in ShownDetail::ALL.into_iter().zip(&mut shown) {
            serde_json::to_writer(into, &data.show_run(shows))?;
        }
        self.bytes += shown.iter().map(Vec::len).sum::<usize>();
        self.runs.push(WaitingRun { failed: !run.passed(), shown });
        if self.runs.len() >= RUNS || self.bytes >= BYTES { self.finish_block(out) } else { Ok(()) }
    }

    /// Writes the last block.
    pub(super) fn finish_block(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        self.written += write_part(out, "index", &serde_json::to_vec(&self.index)?)?;
        let room = FLOOR.max(2 * self.lines).saturating_sub(self.written);
        // A block is tried with a little more than the one before it, so that few are compressed often.
        self.rung = self.rung.saturating_sub(1);
        let packed = loop {
            let packed = pack_data(&self.joined_runs());
            if packed.len() + PART <= room || self.rung + 1 >= LADDER.len() {
                break packed;
            }
            self.rung += 1;
        };
        self.written += write_packed(out, "runs", &packed)?;
        self.runs.clear();
        self.index = BlockIndex::default();
        self.bytes = 0;
        Ok(())
    }

    /// The runs of the block as a list.
    fn joined_runs(&self) -> Vec<u8> {
        let (of_failed, of_passed) = LADDER.get(self.rung).copied().unwrap_or((ShownDetail::Nothing, ShownDetail::Nothing));
        let mut json = vec![b'['];
        for (number, run) in self.runs.iter().enumerate() {
            json.extend_from_slice(if number > 0 { b"," } else { b"" });
            let shows = if run.failed { of_failed } else { of_passed };
            json.extend_from_slice(run.shown.get(shows as usize).map_or(b"null", Vec::as_slice));
        }
        json.push(b']');
        json
    }
}

/// Bytes around the data of a part, more or less.
const PART: usize = 80;

/// Writes data as a part of the page; gives its length.
pub(super) fn write_part(out: &mut dyn Write, name: &str, json: &[u8]) -> io::Result<usize> {
    write_packed(out, name, &pack_data(json))
}

/// The data, compressed, in letters that mean nothing in markup.
fn pack_data(json: &[u8]) -> String {
    STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(json, LEVEL))
}

fn write_packed(out: &mut dyn Write, name: &str, packed: &str) -> io::Result<usize> {
    writeln!(out, "<script type=\"application/octet-stream\" data-part=\"{name}\">{packed}</script>")?;
    Ok(packed.len() + PART)
}

//! The runs of the HTML page, in blocks. Each block is compressed separately, and written when it is full.
//!
//! A block has two parts. Its index has the data for lists and filters, and is decompressed when the page opens. The other part has steps and
//! evidence, and is decompressed when a user opens one of its runs. A large page is at most twice as long as the `jsonl` lines of the same runs. If
//! there is too much data, details of passing runs are left out before those of failing ones: first collapsed values, then steps that are no
//! evidence.

use super::data::{BlockIndex, RunData, ShownDetail};
use crate::line;
use crate::model::RunReport;
use crate::table::ReportTable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Write};

/// Maximum number of runs in a block.
const RUNS: usize = 100;
/// Approximate size of a block before compression, in bytes.
const BYTES: usize = 512 << 10;
/// Size that a page may always have, in bytes, even if the `jsonl` lines are short.
const FLOOR: usize = 1 << 20;
/// Bytes reserved for the overview.
const RESERVE: usize = 96 << 10;
/// The default compression level of zlib.
const LEVEL: u8 = 6;

/// Levels of detail for failed and for passed runs, in decreasing order.
const LADDER: [(ShownDetail, ShownDetail); 7] = [
    (ShownDetail::Everything, ShownDetail::Everything),
    (ShownDetail::Everything, ShownDetail::Steps),
    (ShownDetail::Everything, ShownDetail::Proof),
    (ShownDetail::Steps, ShownDetail::Proof),
    (ShownDetail::Proof, ShownDetail::Proof),
    (ShownDetail::Proof, ShownDetail::Nothing),
    (ShownDetail::Nothing, ShownDetail::Nothing),
];

pub(super) struct RunBlocks {
    index: BlockIndex,
    runs: Vec<WaitingRun>,
    bytes: usize,
    /// Size of the page so far, including its overview, in bytes.
    written: usize,
    /// Size of all runs as `jsonl` so far, in bytes.
    lines: usize,
    buffer: Vec<u8>,
    rung: usize,
}

struct WaitingRun {
    failed: bool,
    /// Its data at each level of [`ShownDetail`].
    shown: [Vec<u8>; 4],
}

impl RunBlocks {
    /// Creates empty blocks. `page` is the size of the page without runs and overview, in bytes.
    pub(super) fn new(page: usize) -> Self {
        let (index, runs, buffer) = Default::default();
        Self { index, runs, bytes: 0, written: page + RESERVE, lines: 0, buffer, rung: 0 }
    }

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

    pub(super) fn finish_block(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        self.written += write_part(out, "index", &serde_json::to_vec(&self.index)?)?;
        let room = FLOOR.max(2 * self.lines).saturating_sub(self.written);
        // Each block starts one level above the previous one, so that few blocks are compressed repeatedly.
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

    fn joined_runs(&self) -> Vec<u8> {
        let (of_failed, of_passed) =
            LADDER.get(self.rung).copied().unwrap_or((ShownDetail::Nothing, ShownDetail::Nothing));
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

/// Approximate bytes of markup around a part's data.
const PART: usize = 80;

pub(super) fn write_part(out: &mut dyn Write, name: &str, json: &[u8]) -> io::Result<usize> {
    write_packed(out, name, &pack_data(json))
}

/// Compresses data, and encodes it in characters that are safe in markup.
fn pack_data(json: &[u8]) -> String {
    STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(json, LEVEL))
}

fn write_packed(out: &mut dyn Write, name: &str, packed: &str) -> io::Result<usize> {
    writeln!(out, "<script type=\"application/octet-stream\" data-part=\"{name}\">{packed}</script>")?;
    Ok(packed.len() + PART)
}

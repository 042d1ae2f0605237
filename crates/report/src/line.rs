//! A line of `--format jsonl`, from its pieces: the name of the run, the head that its verdicts decide, its findings, the end. Runs with the
//! same verdicts have the same head, so that it is made once for many.

use super::model::{ResultReport, RunReport};
use super::redact;
use super::table::ReportTable;
use super::wire::{self, FindingObject, RunHead, UnjudgedFinding};
use averment_runs::run::RunSource;
use std::io::{self, Write};

/// The end of every line.
pub const END: &[u8] = b"]}\n";

/// Appends the whole line of a run.
///
/// # Errors
/// Never: the line is made in memory.
pub fn write_whole(table: &ReportTable, run: &RunReport, into: &mut Vec<u8>) -> io::Result<()> {
    write_name(&run.run, into)?;
    write_head(table, run, into)?;
    for result in &run.results {
        write_finding(table, result, into)?;
    }
    write_end(table, run, into)
}

/// Ends the line of a run, with what could not be judged in it.
///
/// # Errors
/// Never, as [`write_whole`].
pub fn write_end(table: &ReportTable, run: &RunReport, into: &mut Vec<u8>) -> io::Result<()> {
    let unjudged: Vec<_> = run.results.iter().filter_map(|result| UnjudgedFinding::new(table, result)).collect();
    if unjudged.is_empty() {
        into.extend_from_slice(END);
        return Ok(());
    }
    into.extend_from_slice(b"],\"unjudged\":");
    serde_json::to_writer(&mut *into, &unjudged)?;
    into.extend_from_slice(b"}\n");
    Ok(())
}

/// Begins a line with the name of its run.
///
/// # Errors
/// Never, as [`write_whole`].
pub fn write_name(run: &str, into: &mut Vec<u8>) -> io::Result<()> {
    into.extend_from_slice(b"{\"run\":");
    Ok(serde_json::to_writer(into, run)?)
}

/// Begins a line with the name of a run that was read there: [`RunSource::write_name`], without making it first.
///
/// # Errors
/// Never, as [`write_whole`].
pub fn name_of(source: &RunSource, into: &mut Vec<u8>) -> io::Result<()> {
    if source.position.is_none() || !source.by_line {
        return write_name(&redact::redact_source(source), into);
    }
    write_name(&redact::redact_file(&source.file), into)?;
    into.pop();
    write!(into, ":{}\"", source.line)
}

/// Appends what stands between the name and the findings.
///
/// # Errors
/// Never, as [`write_whole`].
pub fn write_head(table: &ReportTable, run: &RunReport, into: &mut Vec<u8>) -> io::Result<()> {
    let from = into.len();
    serde_json::to_writer(&mut *into, &RunHead::new(table, run))?;
    // It is no object of its own: it goes on where the name ends, and is not closed.
    if let Some(bracket) = into.get_mut(from) {
        *bracket = b',';
    }
    into.pop();
    into.extend_from_slice(b",\"findings\":[");
    Ok(())
}

/// Appends a result to the findings, where it is one.
///
/// # Errors
/// Never, as [`write_whole`].
pub fn write_finding(table: &ReportTable, result: &ResultReport, into: &mut Vec<u8>) -> io::Result<()> {
    if !result.is_finding() {
        return Ok(());
    }
    let evidence = wire::write_evidence(result);
    if let Some(finding) = FindingObject::new(table, result, evidence.as_deref()) {
        next(into);
        serde_json::to_writer(into, &finding)?;
    }
    Ok(())
}

/// Appends findings that are finished, if any, to others.
pub fn append_finished(findings: &[u8], into: &mut Vec<u8>) {
    if !findings.is_empty() {
        next(into);
        into.extend_from_slice(findings);
    }
}

fn next(into: &mut Vec<u8>) {
    if into.last() == Some(&b'}') {
        into.push(b',');
    }
}

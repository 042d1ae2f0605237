//! Lines of `--format jsonl`, made of pieces: the name of the run, the head with its verdicts, the findings, the end. Runs with the same verdicts
//! have the same head, so that many runs share it.

use super::model::{ResultReport, RunReport};
use super::redact;
use super::table::ReportTable;
use super::wire::{self, FindingObject, RunHead, UnjudgedFinding};
use averment_runs::run::RunSource;
use std::io::{self, Write};

/// The end of every line.
pub const END: &[u8] = b"]}\n";

/// Appends the complete line of a run.
///
/// # Errors
/// Never, because the line is in memory.
pub fn write_whole(table: &ReportTable, run: &RunReport, into: &mut Vec<u8>) -> io::Result<()> {
    write_name(&run.run, into)?;
    write_head(table, run, into)?;
    for result in &run.results {
        write_finding(table, result, into)?;
    }
    write_end(table, run, into)
}

/// Appends the end of a line, with the unjudged steps of the run.
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

/// Starts a line with the name of its run.
///
/// # Errors
/// Never, as [`write_whole`].
pub fn write_name(run: &str, into: &mut Vec<u8>) -> io::Result<()> {
    into.extend_from_slice(b"{\"run\":");
    Ok(serde_json::to_writer(into, run)?)
}

/// Starts a line with the name of a run from this source. Faster than [`write_name`], because the name is not built first.
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

/// Appends the part between the name and the findings.
///
/// # Errors
/// Never, as [`write_whole`].
pub fn write_head(table: &ReportTable, run: &RunReport, into: &mut Vec<u8>) -> io::Result<()> {
    let from = into.len();
    serde_json::to_writer(&mut *into, &RunHead::new(table, run))?;
    // The opening brace becomes a comma, because the head continues the object that the name started.
    if let Some(bracket) = into.get_mut(from) {
        *bracket = b',';
    }
    into.pop();
    into.extend_from_slice(b",\"findings\":[");
    Ok(())
}

/// Appends a result to the findings, if it is a finding.
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

/// Appends finished findings, if there are any.
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

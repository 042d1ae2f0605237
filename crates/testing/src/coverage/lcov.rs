//! Coverage in LCOV format, which editors and CI services show beside the source. Rules are its functions, and every possible outcome is a branch.
//! The count of a line is the number of runs in which something on it was evaluated.

use super::{Coverage, CoveragePoint};
use averment_base::source::{FileId, SourceMap};
use averment_engine::bytecode::program::Program;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the records of one rule file and its imports.
///
/// # Errors
/// If the stream cannot be written.
pub fn write_lcov(out: &mut dyn Write, coverage: &Coverage, program: &Program, sources: &SourceMap) -> io::Result<()> {
    for (id, file) in sources.iter() {
        let points: Vec<&CoveragePoint> = coverage.points.iter().filter(|point| point.span.file == id).collect();
        if points.is_empty() {
            continue;
        }
        writeln!(out, "TN:")?;
        writeln!(out, "SF:{}", file.name.replace(['\n', '\r'], " "))?;
        write_functions(out, coverage, program, sources, id)?;
        write_branches(out, &points, sources)?;
        write_lines(out, &points, sources)?;
        writeln!(out, "end_of_record")?;
    }
    Ok(())
}

/// Writes rules as functions, with the number of runs in which one of their assertions was judged.
fn write_functions(
    out: &mut dyn Write,
    coverage: &Coverage,
    program: &Program,
    sources: &SourceMap,
    file: FileId,
) -> io::Result<()> {
    let rules = program.rules.iter().enumerate().filter(|(_, rule)| rule.span.file == file);
    let counts: Vec<(usize, &str, u64)> = rules
        .map(|(number, rule)| {
            let own = program.assertions.iter().filter(|one| one.rule.is_some_and(|rule| rule as usize == number));
            let ids: Vec<&str> = own.map(|assertion| assertion.id.as_str()).collect();
            let judged = coverage.points.iter().filter(|point| ids.contains(&point.id.as_str()));
            let most = judged.map(|point| point.looked).max().unwrap_or(0);
            (sources.line_column(rule.span).line, rule.id.as_str(), most)
        })
        .collect();
    for (line, id, _) in &counts {
        writeln!(out, "FN:{line},{id}")?;
    }
    for (_, id, count) in &counts {
        writeln!(out, "FNDA:{count},{id}")?;
    }
    writeln!(out, "FNF:{}", counts.len())?;
    writeln!(out, "FNH:{}", counts.iter().filter(|(_, _, count)| *count > 0).count())
}

/// Writes `BRDA:LINE,BLOCK,BRANCH,TAKEN`, with `-` if it was never evaluated.
fn write_branches(out: &mut dyn Write, points: &[&CoveragePoint], sources: &SourceMap) -> io::Result<()> {
    let (mut found, mut hit) = (0_u64, 0_u64);
    for (block, point) in points.iter().enumerate() {
        let line = sources.line_column(point.span).line;
        for (branch, (_, count)) in point.outcome_counts().enumerate() {
            found += 1;
            hit += u64::from(count > 0);
            let taken = if point.looked == 0 { "-".to_owned() } else { count.to_string() };
            writeln!(out, "BRDA:{line},{block},{branch},{taken}")?;
        }
    }
    writeln!(out, "BRF:{found}")?;
    writeln!(out, "BRH:{hit}")
}

fn write_lines(out: &mut dyn Write, points: &[&CoveragePoint], sources: &SourceMap) -> io::Result<()> {
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    for point in points {
        let count = counts.entry(sources.line_column(point.span).line).or_default();
        *count = (*count).max(point.looked);
    }
    for (line, count) in &counts {
        writeln!(out, "DA:{line},{count}")?;
    }
    writeln!(out, "LF:{}", counts.len())?;
    writeln!(out, "LH:{}", counts.values().filter(|count| **count > 0).count())
}

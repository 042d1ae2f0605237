//! Reads reports written by `aver check --format json` and `--format jsonl`.

use super::side::{CompareSide, SideRun};
use crate::error::HistoryError;
use averment_base::diagnostic::render::one_line;
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::Status;
use averment_report::change::BlockReport;
use averment_report::change::RunMeasures;
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// Maximum size in bytes of a report that is a single JSON object.
const SIZE: u64 = 1 << 30;

#[derive(Deserialize)]
struct WholeReport {
    runs: Vec<WholeRun>,
    over_runs: Option<ReportOverRuns>,
}

#[derive(Deserialize)]
struct ReportOverRuns {
    run: String,
    results: Vec<WholeResult>,
}

#[derive(Deserialize)]
struct WholeRun {
    run: String,
    passed: bool,
    score: Option<f64>,
    #[serde(default)]
    measured: Option<ReportedMeasures>,
    results: Vec<WholeResult>,
    #[serde(default)]
    rules: Vec<WholeRule>,
}

#[derive(Deserialize)]
struct WholeResult {
    id: String,
    rule: Option<String>,
    text: String,
    status: String,
    #[serde(default)]
    rated: bool,
}

#[derive(Deserialize)]
struct WholeRule {
    id: String,
    own: Option<BlockReport>,
}

#[derive(Deserialize, Default)]
struct ReportedMeasures {
    id: Option<String>,
    cost_usd: Option<f64>,
    total_tokens: Option<f64>,
    duration_ms: Option<f64>,
}

/// A line of a report: header, run, results over all runs, unreadable trace, or summary.
#[derive(Deserialize)]
struct ReportLine {
    rules: Option<Vec<HeaderRule>>,
    run: Option<String>,
    #[serde(default)]
    passed: bool,
    score: Option<f64>,
    #[serde(default)]
    verdicts: Vec<Option<String>>,
    #[serde(default)]
    findings: Vec<LineFinding>,
    over_runs: Option<ReportOverRuns>,
    #[serde(default)]
    summary: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    measured: Option<ReportedMeasures>,
}

#[derive(Deserialize)]
struct HeaderRule {
    id: String,
    rule: Option<String>,
    text: String,
    #[serde(default)]
    rated: bool,
}

#[derive(Deserialize)]
struct LineFinding {
    id: String,
    status: String,
}

pub(super) fn read_report(path: &Path, side: &mut CompareSide) -> Result<(), HistoryError> {
    let name = one_line(&path.display().to_string()).into_owned();
    let help = "name what `aver check --format json` or `--format jsonl` wrote, a folder of such files, or a history";
    let refused = |what: String| HistoryError::new(format!("`{name}` is no report: {what}"), help);
    if !path.is_file() {
        return Err(match path.exists() {
            true => refused("it is no file".to_owned()),
            false => HistoryError::new(format!("there is no file or folder `{name}`"), help),
        });
    }
    let file = File::open(path).map_err(|error| refused(error.to_string()))?;
    let mut reader = BufReader::new(file);
    let mut first = Vec::new();
    reader.read_until(b'\n', &mut first).map_err(|error| refused(error.to_string()))?;
    match serde_json::from_slice::<ReportLine>(&first) {
        Ok(ReportLine { rules: Some(rules), .. }) => {
            let numbers: Vec<(String, usize)> = rules.into_iter().map(|one| read_header(side, one)).collect();
            let mut ended = false;
            for (number, line) in (2..).zip(reader.lines()) {
                let line = line.map_err(|error| refused(error.to_string()))?;
                let line = serde_json::from_str(&line).map_err(|error| refused(format!("line {number}: {error}")))?;
                let mut line: ReportLine = line;
                ended = line.summary.is_some();
                if let Some(over) = line.over_runs.take() {
                    read_over_runs(side, over).map_err(|what| refused(format!("line {number}: {what}")))?;
                }
                side.runs.extend(read_line(&numbers, line).map_err(|what| refused(format!("line {number}: {what}")))?);
            }
            if !ended {
                return Err(refused("its last line is no summary: it was cut off".to_owned()));
            }
        }
        _ => {
            reader.take(SIZE).read_to_end(&mut first).map_err(|error| refused(error.to_string()))?;
            let report: WholeReport = serde_json::from_slice(&first).map_err(|error| refused(error.to_string()))?;
            for run in report.runs {
                let run = read_object(side, run).map_err(refused)?;
                side.runs.push(run);
            }
            report.over_runs.map_or(Ok(()), |over| read_over_runs(side, over)).map_err(refused)?;
        }
    }
    Ok(())
}

fn read_header(side: &mut CompareSide, one: HeaderRule) -> (String, usize) {
    let HeaderRule { id, rule, text, rated } = one;
    (id.clone(), side.assertion_number(rule, id, text, rated))
}

fn read_over_runs(side: &mut CompareSide, over: ReportOverRuns) -> Result<(), String> {
    let results = read_results(side, over.results)?;
    side.over_runs.push((over.run, results));
    Ok(())
}

fn read_results(side: &mut CompareSide, all: Vec<WholeResult>) -> Result<Vec<(usize, Status)>, String> {
    let each = all.into_iter().map(|WholeResult { id, rule, text, status: word, rated }| {
        let number = side.assertion_number(rule, id, text, rated);
        Ok((number, parse_status(&word)?))
    });
    each.collect()
}

fn parse_status(word: &str) -> Result<Status, String> {
    let found = Status::ALL.into_iter().find(|status| status.as_str() == word);
    found.ok_or_else(|| format!("`{}` is no status", one_line(word)))
}

fn to_standing(passed: bool, score: Option<f64>, measured: &ReportedMeasures) -> RunMeasures {
    let ReportedMeasures { cost_usd, total_tokens, .. } = *measured;
    RunMeasures { passed: Some(passed), score, cost_usd, total_tokens }
}

fn read_object(side: &mut CompareSide, run: WholeRun) -> Result<SideRun, String> {
    let results = read_results(side, run.results)?;
    let measured = run.measured.unwrap_or_default();
    Ok(SideRun {
        name: run.run,
        standing: to_standing(run.passed, run.score, &measured),
        own: measured.id,
        duration: measured.duration_ms,
        results,
        blocks: run.rules.into_iter().filter_map(|rule| Some((rule.id, rule.own?))).collect(),
    })
}

fn read_line(numbers: &[(String, usize)], line: ReportLine) -> Result<Option<SideRun>, String> {
    let Some(name) = line.run else { return Ok(None) };
    let mut results = Vec::with_capacity(numbers.len());
    for ((id, number), verdict) in numbers.iter().zip(&line.verdicts) {
        let Some(verdict) = verdict else { continue };
        // Expected failures and unexpected passes are findings too.
        let finding = line.findings.iter().find(|finding| finding.id == *id);
        let status = match finding {
            Some(finding) => parse_status(&finding.status)?,
            None => {
                let known = Verdict::ALL.into_iter().find(|known| known.as_str() == verdict);
                Status::of_verdict(known.ok_or_else(|| format!("`{}` is no verdict", one_line(verdict)))?, false)
            }
        };
        results.push((*number, status));
    }
    let measured = line.measured.unwrap_or_default();
    let standing = to_standing(line.passed, line.score, &measured);
    Ok(Some(SideRun { name, own: measured.id, standing, duration: measured.duration_ms, results, blocks: Vec::new() }))
}

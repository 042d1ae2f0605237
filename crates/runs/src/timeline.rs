//! A run to look at: one line a step, what the run records and what it lacks, and what was odd while reading.

use super::normal::{MAIN_AGENT, of_run, of_step};
use super::run::{CostSource, RecordCounts, Run, Step, StepKind, StepStatus};
use averment_base::limits::Limits;
use averment_base::value::json::{may_hold, parse, write_json};
use averment_base::value::notation::TextShortener;
use averment_base::value::{Node, Value, ValueText};
use bumpalo::Bump;
use std::fmt::Write as _;

/// The run as lines of at most `width` characters (never less than 40; the name of the file is not cut), each with its line end.
#[must_use]
pub fn render_timeline(run: &Run<'_>, width: usize, beginning: TextShortener) -> String {
    timeline_of(run, &StepKind::ALL, width, beginning)
}

/// The timeline of some kinds only; steps keep their numbers.
#[must_use]
pub fn timeline_of(run: &Run<'_>, kinds: &[StepKind], width: usize, beginning: TextShortener) -> String {
    let width = width.max(40);
    let mut out = String::new();
    write_head(run, width, beginning, &mut out);
    out.push_str(&wrap_items("has", &recorded_entries(run), width));
    out.push_str(&wrap_items("lacks", &missing_entries(run), width));
    if let Some(calls) = call_fields(run) {
        out.push_str(&wrap_items("calls", &calls, width));
    }
    let unordered = unordered_kinds(run);
    if !unordered.is_empty() {
        out.push_str(&wrap_items("order", &unordered, width));
    }
    if run.steps.iter().any(|step| kinds.contains(&step.kind)) {
        out.push('\n');
        write_steps(run, kinds, width, beginning, &mut out);
    }
    write_tail(run, width, beginning, &mut out);
    out
}

fn write_head(run: &Run<'_>, width: usize, beginning: TextShortener, out: &mut String) {
    out.push_str(&clean_text(&run.source.run_name()));
    out.push('\n');
    if let Some(id) = run.id {
        let _ = writeln!(out, "id     {}", shorten_text(&clean_text(id), width.saturating_sub(7), beginning));
    }
    if let CostSource::Unknown(why) = &run.priced {
        let _ =
            writeln!(out, "cost   not known: {}", shorten_text(&clean_text(why), width.saturating_sub(18), beginning));
    }
    if !run.complete {
        out.push_str(match run.records {
            RecordCounts { missing_calls: 1.., .. } => "state  not complete: the call of a result is missing\n",
            RecordCounts { lost: 1.., .. } => "state  not complete: a part of it was not understood\n",
            _ => "state  not complete, more may come\n",
        });
    }
}

fn wrap_items(name: &str, items: &[String], width: usize) -> String {
    let mut out = String::new();
    let mut line = format!("{name:<6} ");
    for (place, item) in items.iter().enumerate() {
        let comma = if place + 1 < items.len() { "," } else { "" };
        if line.chars().count() + item.chars().count() + comma.len() > width && line.chars().count() > 7 {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(7);
        }
        let _ = write!(line, "{item}{comma} ");
    }
    if items.is_empty() {
        line.push_str("nothing");
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

const ROOTS: [&str; 11] = [
    of_run::INPUTS,
    of_run::PROMPT,
    of_run::OUTPUT,
    of_run::USAGE,
    of_run::COST,
    of_run::DURATION,
    of_run::TURNS,
    of_run::META,
    of_run::ENV,
    of_run::TOOLS,
    of_run::FILES,
];

fn is_recorded(node: Node<'_>) -> bool {
    !matches!(node.value, Value::Absent | Value::Missing)
}

fn recorded_entries(run: &Run<'_>) -> Vec<String> {
    let count = |kind: StepKind| run.steps.iter().filter(|step| step.kind == kind).count();
    let told = |kind: &StepKind| run.records_kind(*kind) && (*kind != StepKind::Handover || count(*kind) > 0);
    let kinds = StepKind::ALL.into_iter().filter(told);
    let kinds = kinds.map(|kind| format!("{} ({})", kind.list_key(), count(kind)));
    let roots = ROOTS.into_iter().filter(|root| is_recorded(run.root_value(root))).map(str::to_owned);
    kinds.chain(roots).collect()
}

fn missing_entries(run: &Run<'_>) -> Vec<String> {
    // Few runs have more than one agent: that there is no hand-over is told of none.
    let kinds = StepKind::ALL
        .into_iter()
        .filter(|kind| !run.records_kind(*kind) && *kind != StepKind::Handover)
        .map(|kind| kind.list_key().to_owned());
    let roots = ROOTS.into_iter().filter(|root| !is_recorded(run.root_value(root))).map(str::to_owned);
    kinds.chain(roots).collect()
}

fn call_fields(run: &Run<'_>) -> Option<Vec<String>> {
    let calls: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Call).collect();
    if calls.is_empty() {
        return None;
    }
    let all = calls.len();
    let of_field = |field: &&str| {
        let has = |step: &&&Step<'_>| step.object.get(field).is_some_and(is_recorded);
        match calls.iter().filter(has).count() {
            0 => format!("no {field}"),
            count if count == all => format!("all {field}{}", in_text(&calls, field)),
            count => format!("{field} in {count} of {all}{}", in_text(&calls, field)),
        }
    };
    Some(
        [of_step::ARGS, of_step::RESULT, of_step::STATUS, of_step::START, of_step::DURATION, of_step::TURN]
            .iter()
            .map(of_field)
            .collect(),
    )
}

/// ` (2 hold JSON in text)`: the number of text values that paths can enter.
fn in_text(calls: &[&Step<'_>], field: &str) -> String {
    let holds = |step: &&&Step<'_>| match step.object.get(field).map(|node| node.value) {
        Some(Value::Text(text)) => holds_json(text),
        _ => false,
    };
    match calls.iter().filter(holds).count() {
        0 => String::new(),
        count => format!(" ({count} JSON in text)"),
    }
}

fn unordered_kinds(run: &Run<'_>) -> Vec<String> {
    let has = |kind: &StepKind| run.steps.iter().any(|step| step.kind == *kind);
    let kinds: Vec<_> = StepKind::ALL.into_iter().filter(has).collect();
    let mut pairs = Vec::new();
    for (place, a) in kinds.iter().enumerate() {
        for b in kinds.iter().skip(place + 1).filter(|b| !run.is_ordered(*a, **b)) {
            pairs.push(format!("{} and {} have no common order", a.list_key(), b.list_key()));
        }
    }
    pairs
}

/// The cells of one step's line.
#[derive(Debug, Clone)]
pub struct TimelineRow {
    /// Its number, from 1.
    pub number: String,
    /// `turn 2`; empty where it is not recorded.
    pub turn: String,
    /// When it started, counted from the first step that says so: `+1.25s`; empty where it is not recorded.
    pub time: String,
    /// Its kind.
    pub kind: &'static str,
    /// The tool with its arguments, the text of a message, or the command.
    pub what: String,
    /// `ok`, `failed`, …; empty where it is not recorded.
    pub status: &'static str,
    /// How long it took; empty where it is not recorded.
    pub duration: String,
}

/// The lines of some steps, by their indices; what they did in at most about `most` characters. Secrets are only taken out where a text is cut.
#[must_use]
pub fn timeline_rows(
    run: &Run<'_>,
    steps: impl Iterator<Item = usize>,
    most: usize,
    beginning: TextShortener,
) -> Vec<TimelineRow> {
    let zero = start_time(run);
    steps.filter_map(|at| Some(timeline_row(run.steps.get(at)?, at + 1, zero, most, beginning))).collect()
}

fn start_time(run: &Run<'_>) -> f64 {
    run.steps.iter().filter_map(|step| step.start).min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Minimum columns for what a step did.
const NARROW: usize = 12;

fn write_steps(run: &Run<'_>, kinds: &[StepKind], width: usize, beginning: TextShortener, out: &mut String) {
    let zero = start_time(run);
    // What a cell shows at most; the line is cut once more at its end.
    let shown = run.steps.iter().zip(1..).filter(|(step, _)| kinds.contains(&step.kind));
    let rows: Vec<_> = shown.map(|(step, number)| timeline_row(step, number, zero, width, beginning)).collect();
    let widest = |cell: fn(&TimelineRow) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    let widths = [
        widest(|row| &row.number),
        widest(|row| &row.turn),
        widest(|row| &row.time),
        widest(|row| row.kind),
        widest(|row| row.status),
        widest(|row| &row.duration),
    ];
    let taken: usize = widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum();
    let room = width.saturating_sub(taken).clamp(NARROW, widest(|row| &row.what).max(NARROW));
    for row in &rows {
        out.push_str(row_line(row, widths, room, beginning).trim_end());
        out.push('\n');
    }
}

fn row_line(
    row: &TimelineRow,
    [number, turn, time, kind, status, duration]: [usize; 6],
    room: usize,
    beginning: TextShortener,
) -> String {
    let mut line = format!("{:>number$}  ", row.number);
    if turn > 0 {
        let _ = write!(line, "{:>turn$}  ", row.turn);
    }
    if time > 0 {
        let _ = write!(line, "{:>time$}  ", row.time);
    }
    let _ = write!(line, "{:<kind$}  {:<room$}  ", row.kind, shorten_text(&row.what, room, beginning));
    if status > 0 {
        let _ = write!(line, "{:<status$}  ", row.status);
    }
    if duration > 0 {
        let _ = write!(line, "{:>duration$}", row.duration);
    }
    line
}

fn timeline_row(step: &Step<'_>, number: usize, zero: f64, most: usize, beginning: TextShortener) -> TimelineRow {
    let length = match step.object.get(of_step::DURATION).map(|node| node.value) {
        Some(Value::Number(number)) => duration_text(number.to_f64()),
        _ => String::new(),
    };
    TimelineRow {
        number: number.to_string(),
        turn: step.turn.map(|turn| format!("turn {turn}")).unwrap_or_default(),
        time: step.start.map(|start| format!("+{}", duration_text(start - zero))).unwrap_or_default(),
        kind: step.kind.as_str(),
        what: step_summary(step, most, beginning),
        status: match step.status {
            StepStatus::Unknown => "",
            status => status.as_str().unwrap_or_default(),
        },
        duration: length,
    }
}

fn step_summary(step: &Step<'_>, most: usize, beginning: TextShortener) -> String {
    let mut text = match step.kind {
        StepKind::Call => format!("{}({})", clean_text(step.name), argument_text(step, most, beginning)),
        StepKind::Message => {
            format!("{} {}", clean_text(step.name), value_text(step.object.get(of_step::TEXT), most, beginning))
        }
        StepKind::Http => match step.object.get(of_step::METHOD).map(|node| node.value) {
            Some(Value::Text(method)) => format!("{} {}", clean_text(method.as_str()), clean_text(step.name)),
            _ => clean_text(step.name),
        },
        StepKind::Read | StepKind::Write => match step.object.get(of_step::RECORDED_PATH).map(|node| node.value) {
            Some(Value::Text(recorded)) if recorded.as_str() != step.name => {
                format!("{} (recorded as {})", clean_text(step.name), clean_text(recorded.as_str()))
            }
            _ => clean_text(step.name),
        },
        _ => clean_text(step.name),
    };
    if let Some(Value::Text(agent)) = step.object.get(of_step::AGENT).map(|node| node.value)
        && (agent.as_str() != MAIN_AGENT || step.kind == StepKind::Handover)
    {
        text.insert_str(0, &format!("[{}] ", clean_text(agent.as_str())));
    }
    text
}

fn argument_text(step: &Step<'_>, most: usize, beginning: TextShortener) -> String {
    match step.object.get(of_step::ARGS).map(|node| node.value) {
        Some(Value::Object(object)) => {
            let mut out = String::new();
            for entry in object.entries() {
                if out.chars().count() > most {
                    break;
                }
                let comma = if out.is_empty() { "" } else { ", " };
                let _ =
                    write!(out, "{comma}{}: {}", clean_text(entry.key), value_text(Some(entry.node), most, beginning));
            }
            out
        }
        Some(Value::Absent) | None => String::new(),
        Some(_) => value_text(step.object.get(of_step::ARGS), most, beginning),
    }
}

const IN_TEXT: &str = "text";

/// True if a text is entirely a JSON object or list, which paths can enter.
fn holds_json(text: ValueText<'_>) -> bool {
    may_hold(text.raw_text().as_bytes()) && parse(text.as_str(), 0, &Bump::new(), &Limits::default()).is_ok()
}

fn value_text(node: Option<Node<'_>>, most: usize, beginning: TextShortener) -> String {
    match node.map(|node| node.value) {
        None | Some(Value::Missing | Value::Absent) => String::new(),
        // What paths go into is shown as it stands in the text.
        Some(Value::Text(text)) if holds_json(text) => {
            clean_text(&format!("{IN_TEXT} {}", shorten_text(text.as_str().trim(), most, beginning)))
        }
        // A long text is cut before it is written: only its start is shown.
        Some(Value::Text(text)) => {
            let start = beginning(text.as_str(), most);
            let mut out = String::new();
            write_json(&Value::plain_text(&start), &mut out);
            clean_text(&out)
        }
        Some(value) => {
            let mut out = String::new();
            write_json(&value, &mut out);
            clean_text(&shorten_text(&out, most, beginning))
        }
    }
}

/// A duration for people: `250ms`, `1.25s`, `2m05s`, `1h02m`.
fn duration_text(milliseconds: f64) -> String {
    let rounded = milliseconds.round();
    if rounded.abs() < 1000.0 {
        return format!("{rounded}ms");
    }
    let seconds = rounded / 1000.0;
    if seconds.abs() < 60.0 {
        return format!("{seconds:.2}s");
    }
    let whole = seconds.trunc();
    let (hours, minutes, rest) = ((whole / 3600.0).trunc(), (whole % 3600.0 / 60.0).trunc(), whole % 60.0);
    if hours.abs() < 1.0 { format!("{minutes}m{:02}s", rest.abs()) } else { format!("{hours}h{:02}m", minutes.abs()) }
}

/// Removes characters that move the cursor, color the terminal or change the text direction.
fn clean_text(text: &str) -> String {
    let harmless = |c: char| match c {
        '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(harmless).collect()
}

fn shorten_text(text: &str, most: usize, beginning: TextShortener) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => format!("{}…", beginning(text, most.saturating_sub(1))),
    }
}

fn write_tail(run: &Run<'_>, width: usize, beginning: TextShortener, out: &mut String) {
    let mut lines = Vec::new();
    for root in [of_run::OUTPUT, of_run::ERROR] {
        if is_recorded(run.root_value(root)) {
            lines.push(format!("{root:<6} {}", value_text(Some(run.root_value(root)), width, beginning)));
        }
    }
    for warning in &run.warnings {
        let (line, _) = run.source.line_column(run.text, warning.offset);
        lines.push(format!("warning line {line}: {}", clean_text(&warning.message)));
    }
    if !lines.is_empty() {
        out.push('\n');
    }
    for line in lines {
        out.push_str(&shorten_text(&line, width, beginning));
        out.push('\n');
    }
}

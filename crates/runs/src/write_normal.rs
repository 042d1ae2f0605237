//! A run written out in the normal form: what is read from that again is the same run.

use crate::command::LINE_FIELDS;
use crate::normal::{of_run, of_step};
use crate::run::{Run, Step, StepKind, StepStatus};
use averment_base::value::json::{write_json, write_text};
use averment_base::value::{Object, ObjectEntry, Value};

/// An explicit unknown status: otherwise a result would imply success.
const UNKNOWN: &str = "unknown";

/// The kinds of step that follow from calls.
pub const FOLLOWING_KINDS: [StepKind; 5] =
    [StepKind::Command, StepKind::Read, StepKind::Write, StepKind::Skill, StepKind::Http];

/// A run as one object of JSON in the normal form, without a line end. What follows from other fields is left out, and so is what is not
/// recorded.
#[must_use]
pub fn normal_form(run: &Run<'_>) -> String {
    let mut out = String::from("{");
    for entry in run.object.entries() {
        let is_list = StepKind::ALL.iter().any(|kind| kind.list_key() == entry.key) || entry.key == of_run::STEPS;
        if !is_list && is_recorded(entry) {
            begin_entry(entry.key, &mut out);
            write_json(&entry.node.value, &mut out);
        }
    }
    if !run.complete && !run.object.entries().iter().any(|entry| entry.key == of_run::COMPLETE) {
        begin_entry(of_run::COMPLETE, &mut out);
        out.push_str("false");
    }
    if !run.object.entries().iter().any(|entry| entry.key == of_run::TURNS && is_recorded(entry)) && counts_turns(run) {
        begin_entry(of_run::TURNS, &mut out);
        out.push_str("null");
    }
    for kind in StepKind::ALL.into_iter().filter(|kind| run.records_kind(*kind)) {
        begin_entry(kind.list_key(), &mut out);
        write_list(&mut out, run.steps.iter().filter(|step| step.kind == kind), write_step);
    }
    // `null` says that a kind is not recorded, although it may follow from calls.
    let (in_order, has_calls) = (has_one_order(run), run.steps.iter().any(|step| step.kind == StepKind::Call));
    let may_follow = |kind: &StepKind| in_order || has_calls && FOLLOWING_KINDS.contains(kind);
    for kind in StepKind::ALL.into_iter().filter(|kind| !run.records_kind(*kind)).filter(may_follow) {
        begin_entry(kind.list_key(), &mut out);
        out.push_str("null");
    }
    if in_order {
        begin_entry(of_run::STEPS, &mut out);
        write_list(&mut out, run.steps.iter(), |step, out| write_text(step.kind.as_str(), out));
    }
    out.push('}');
    out
}

/// True if a reader of the run would count turns that it does not record.
fn counts_turns(run: &Run<'_>) -> bool {
    run.records_kind(StepKind::Message) || run.steps.iter().any(|step| step.turn.is_some())
}

/// True if one order over several kinds must be written, because starts and turns do not imply it.
fn has_one_order(run: &Run<'_>) -> bool {
    let has = |kind: &StepKind| run.steps.iter().any(|step| step.kind == *kind);
    let kinds: Vec<StepKind> = StepKind::ALL.into_iter().filter(has).collect();
    let told = kinds.len() > 1 || !starts_ascend(run);
    told && kinds.iter().all(|a| kinds.iter().all(|b| run.is_ordered(*a, *b)))
}

/// If starts do not ascend, only an explicit list of steps preserves the order.
fn starts_ascend(run: &Run<'_>) -> bool {
    let starts: Vec<f64> = run.steps.iter().filter_map(|step| step.start).collect();
    starts.is_sorted()
}

fn is_recorded(entry: &ObjectEntry<'_>) -> bool {
    !matches!(entry.node.value, Value::Absent | Value::Missing)
}

fn begin_entry(key: &str, out: &mut String) {
    if !out.ends_with(['{', '[']) {
        out.push(',');
    }
    write_text(key, out);
    out.push(':');
}

fn write_list<'a, 'run: 'a>(
    out: &mut String,
    steps: impl Iterator<Item = &'a Step<'run>>,
    write: impl Fn(&'a Step<'run>, &mut String),
) {
    out.push('[');
    for (number, step) in steps.enumerate() {
        if number > 0 {
            out.push(',');
        }
        write(step, out);
    }
    out.push(']');
}

fn write_step(step: &Step<'_>, out: &mut String) {
    out.push('{');
    let tells = matches!(step.kind, StepKind::Call | StepKind::Command);
    for entry in recorded_fields(step.kind, step.object) {
        begin_entry(entry.key, out);
        let recorded = step.object.get(of_step::RECORDED_PATH).filter(|_| entry.key == of_step::PATH);
        write_json(&recorded.map_or(entry.node.value, |node| node.value), out);
    }
    if tells && step.status == StepStatus::Unknown {
        begin_entry(of_step::STATUS, out);
        write_text(UNKNOWN, out);
    }
    out.push('}');
}

/// Fields of a step that are not derived from others.
fn recorded_fields<'run>(kind: StepKind, step: Object<'run>) -> impl Iterator<Item = &'run ObjectEntry<'run>> {
    let is_file = matches!(kind, StepKind::Read | StepKind::Write);
    let derived = move |key: &str| {
        matches!(key, of_step::INDEX | of_step::KIND | of_step::OK)
            || kind == StepKind::Command && LINE_FIELDS.contains(&key)
            || is_file && matches!(key, of_step::RECORDED_PATH | of_step::LOCATION)
    };
    let unsaid = move |entry: &ObjectEntry<'_>| {
        let is_status = entry.key == of_step::STATUS && matches!(kind, StepKind::Call | StepKind::Command);
        is_status && matches!(entry.node.value, Value::Text(word) if !is_known(word.as_str()))
    };
    step.entries().iter().filter(move |entry| is_recorded(entry) && !derived(entry.key) && !unsaid(entry))
}

fn is_known(word: &str) -> bool {
    [StepStatus::Ok, StepStatus::Failed, StepStatus::Denied, StepStatus::Pending]
        .iter()
        .any(|status| status.as_str() == Some(word))
}

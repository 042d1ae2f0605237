//! A run written out in the normal form: what is read from that again is the same run.

use crate::command::LINE_FIELDS;
use crate::normal::{of_run, of_step};
use crate::run::{Kind, Run, Status, Step};
use averment_base::value::json::{write_json, write_text};
use averment_base::value::{Entry, Object, Value};

/// The word for a status that the run does not tell: without it the result of a call would say that the call went well.
const UNKNOWN: &str = "unknown";

/// A run as one object of JSON in the normal form, without a line end. What follows from other fields is left out, and so is what is not
/// recorded.
#[must_use]
pub fn normal_form(run: &Run<'_>) -> String {
    let mut out = String::from("{");
    for entry in run.object.entries() {
        let is_list = Kind::ALL.iter().any(|kind| kind.list_key() == entry.key) || entry.key == of_run::STEPS;
        if !is_list && is_recorded(entry) {
            begin(entry.key, &mut out);
            write_json(&entry.node.value, &mut out);
        }
    }
    if !run.complete && !run.object.entries().iter().any(|entry| entry.key == of_run::COMPLETE) {
        begin(of_run::COMPLETE, &mut out);
        out.push_str("false");
    }
    if !run.object.entries().iter().any(|entry| entry.key == of_run::TURNS && is_recorded(entry)) && counts_turns(run) {
        begin(of_run::TURNS, &mut out);
        out.push_str("null");
    }
    for kind in Kind::ALL.into_iter().filter(|kind| run.records(*kind)) {
        begin(kind.list_key(), &mut out);
        list(&mut out, run.steps.iter().filter(|step| step.kind == kind), write_step);
    }
    if has_one_order(run) {
        // `steps` records every kind; beside it `null` says that one is not recorded.
        for kind in Kind::ALL.into_iter().filter(|kind| !run.records(*kind)) {
            begin(kind.list_key(), &mut out);
            out.push_str("null");
        }
        begin(of_run::STEPS, &mut out);
        list(&mut out, run.steps.iter(), |step, out| write_text(step.kind.as_str(), out));
    }
    out.push('}');
    out
}

/// Whether whoever reads the run would count turns that it does not tell.
fn counts_turns(run: &Run<'_>) -> bool {
    run.records(Kind::Message) || run.steps.iter().any(|step| step.turn.is_some())
}

/// Whether the steps of all kinds have one order that has to be told: of more than one kind their starts or turns alone may not say it, nor of
/// one whose starts are in another order.
fn has_one_order(run: &Run<'_>) -> bool {
    let has = |kind: &Kind| run.steps.iter().any(|step| step.kind == *kind);
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(has).collect();
    let told = kinds.len() > 1 || !starts_ascend(run);
    told && kinds.iter().all(|a| kinds.iter().all(|b| run.ordered(*a, *b)))
}

/// Whether the steps stand in the order of their starts: where they do not, only a list of steps keeps them as they are.
fn starts_ascend(run: &Run<'_>) -> bool {
    let starts: Vec<f64> = run.steps.iter().filter_map(|step| step.start).collect();
    starts.is_sorted()
}

fn is_recorded(entry: &Entry<'_>) -> bool {
    !matches!(entry.node.value, Value::Absent | Value::Missing)
}

fn begin(key: &str, out: &mut String) {
    if !out.ends_with(['{', '[']) {
        out.push(',');
    }
    write_text(key, out);
    out.push(':');
}

fn list<'a, 'run: 'a>(
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
    let tells = matches!(step.kind, Kind::Call | Kind::Command);
    for entry in recorded(step.kind, step.object) {
        begin(entry.key, out);
        write_json(&entry.node.value, out);
    }
    if tells && step.status == Status::Unknown {
        begin(of_step::STATUS, out);
        write_text(UNKNOWN, out);
    }
    out.push('}');
}

/// The fields of a step that do not follow from others.
fn recorded<'run>(kind: Kind, step: Object<'run>) -> impl Iterator<Item = &'run Entry<'run>> {
    let derived = move |key: &str| {
        matches!(key, of_step::INDEX | of_step::KIND | of_step::OK)
            || kind == Kind::Command && LINE_FIELDS.contains(&key)
    };
    let unsaid = move |entry: &Entry<'_>| {
        let is_status = entry.key == of_step::STATUS && matches!(kind, Kind::Call | Kind::Command);
        is_status && matches!(entry.node.value, Value::Text(word) if !is_known(word.as_str()))
    };
    step.entries().iter().filter(move |entry| is_recorded(entry) && !derived(entry.key) && !unsaid(entry))
}

fn is_known(word: &str) -> bool {
    [Status::Ok, Status::Failed, Status::Denied, Status::Pending].iter().any(|status| status.as_str() == Some(word))
}

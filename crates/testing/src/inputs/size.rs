//! Checks the bounds of inputs before they are generated, and computes their maximum size.

use super::value::{LIST, TEXT, length_bounds};
use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, Slug};
use averment_base::source::Span;
use averment_checker::ir::{ValueKind, ValueSpec};

/// Maximum size of an input in bytes, as JSON.
const INPUT: u64 = 16 << 20;

pub(super) fn check_sizes(arguments: &[(String, ValueSpec)], place: Span, said: &mut Diagnostics) {
    arguments.iter().for_each(|(_, spec)| check_bounds(spec, said));
    let all = arguments.iter().fold(2_u64, |all, (name, spec)| {
        let name = u64::try_from(name.len()).unwrap_or(u64::MAX);
        all.saturating_add(name.saturating_mul(6)).saturating_add(4).saturating_add(largest_size(spec))
    });
    if all > INPUT {
        let span = arguments.iter().max_by_key(|(_, spec)| largest_size(spec)).map_or(place, |(_, spec)| spec.span);
        let message = format!("an input of this call can be larger than {} MiB", INPUT >> 20);
        said.push(Diagnostic::new(Slug::TooLarge, span, message).with_help("make the lists or texts in it shorter"));
    }
}

fn check_bounds(spec: &ValueSpec, said: &mut Diagnostics) {
    match &spec.kind {
        ValueKind::Text { least, most } => check_length(spec.span, *least, *most, TEXT, "texts", "characters", said),
        ValueKind::List { least, most, elements } => {
            check_length(spec.span, *least, *most, LIST, "lists", "elements", said);
            elements.iter().for_each(|element| check_bounds(element, said));
        }
        ValueKind::Integer { least, most } => {
            let (first, last) = (least.unwrap_or(-100), most.unwrap_or(100));
            if most.is_some() && first > last {
                report_empty(spec.span, &first.to_string(), least.is_none(), &last.to_string(), said);
            }
        }
        ValueKind::Number { least, most } => {
            let (first, last) = (least.unwrap_or(-100.0), most.unwrap_or(100.0));
            if most.is_some() && first > last {
                report_empty(spec.span, &first.to_string(), least.is_none(), &last.to_string(), said);
            }
            if !(last.max(first) - first).is_finite() {
                let message = "numbers between these ends cannot be told apart";
                said.push(
                    Diagnostic::new(Slug::TooLarge, spec.span, message).with_help("write ends that are nearer to 0"),
                );
            }
        }
        ValueKind::Boolean => {}
    }
}

fn check_length(
    span: Span,
    least: Option<u64>,
    most: Option<u64>,
    limit: u64,
    what: &str,
    of: &str,
    said: &mut Diagnostics,
) {
    if most.is_some_and(|most| most > super::value::length_limit(least, limit)) {
        let message = format!("{what} with more than {limit} {of} are made only where the shortest is longer");
        let help = format!("write a least length above {limit}, or a largest one up to it");
        push_warning(span, Slug::TooLarge, message, help, said);
    }
    if let (Some(least), Some(most)) = (least, most)
        && least > most
    {
        report_empty(span, &least.to_string(), false, &most.to_string(), said);
    }
}

fn report_empty(span: Span, least: &str, is_usual: bool, most: &str, said: &mut Diagnostics) {
    let usual = if is_usual { ", which is the least where none is written," } else { "" };
    let message =
        format!("nothing lies between {least}{usual} and {most}: case 0 is made with {most}, all others with {least}");
    push_warning(span, Slug::Impossible, message, format!("write `{most}..{least}`, or whatever is meant"), said);
}

fn push_warning(span: Span, slug: Slug, message: String, help: String, said: &mut Diagnostics) {
    let diagnostic = Diagnostic::new(slug, span, message).with_help(help);
    said.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
}

/// Returns the size of the largest value in bytes, as JSON.
fn largest_size(spec: &ValueSpec) -> u64 {
    match &spec.kind {
        ValueKind::Text { least, most } => length_bounds(*least, *most, 32, TEXT).1.saturating_add(2),
        ValueKind::Integer { .. } => 20,
        ValueKind::Number { .. } => 25,
        ValueKind::Boolean => 5,
        ValueKind::List { least, most, elements } => {
            let element = elements.as_ref().map_or(4, |element| largest_size(element));
            length_bounds(*least, *most, 8, LIST).1.saturating_mul(element.saturating_add(1)).saturating_add(2)
        }
    }
}

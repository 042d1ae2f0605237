//! Dogwood: policies that permit or forbid a call depending on earlier events, with the Cedar schema beside them.
//!
//! Each call of a run is decided from the events before its request. Conditions on the past become expressions over the events of the run: each call
//! has a request, and a response or an error. Data that a run does not record itself, such as principals and guardrail answers, comes from `meta`.

mod action_schema;
mod cedar_reader;
mod cedar_writer;
mod cursor;
mod event_kinds;
pub(crate) mod export;
mod export_bounds;
mod export_condition;
mod export_modifiers;
mod export_names;
mod export_reasons;
mod lowering;
mod names;
mod past_reader;
mod past_writer;
mod plain_policies;
mod policy_reader;
mod tokens;
mod tree;

use crate::writer::{UniqueLabels, quote_text};
use crate::{Dialect, FileSyntax, Lowering};
use averment_base::diagnostic::Slug;
use averment_base::source::{FileId, SourceFile, Span};
use averment_checker::files::{FileError, display_name};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use lowering::{DEFINITIONS, PolicyLowering};
use std::borrow::Cow;
use tree::PolicyRule;

pub(crate) const DIALECT: Dialect = Dialect {
    files: "`.dw` policies",
    reads: FileSyntax::Policies { ending: "dw", lower: lower_policies },
    verdicts: VERDICTS,
};

/// Dogwood denies a call if the decision is unknown.
const VERDICTS: ForeignVerdicts = ForeignVerdicts {
    system: Cow::Borrowed("Dogwood"),
    pass: ForeignVerdict::new("allow", None),
    fail: ForeignVerdict::new("deny", None),
    vacuous: ForeignVerdict::new("allow", None),
    undecided: ForeignVerdict::new("deny", None),
    error: ForeignVerdict::new("deny", None),
};

/// The calls to decide: all calls that were not denied already.
const DECIDED: &str = "(any | (proposed any where coalesce(status, \"\") != \"denied\"))";
/// The current request, and all events up to it.
const ARGUMENTS: &str = "(request_of({ tool: tool, start: start, index: index, args: args, id: id, meta: meta }), \
     flatten([flatten((events_of(it) of (any | proposed any) started so far)), [request_of({ tool: tool, start: start, index: index, args: args, id: id, meta: meta })]]))";

fn lower_policies(to: &mut Lowering<'_>) {
    let Some(text) = to.sources.get(to.root).map(|file| file.text.to_string()) else { return };
    let kinds = match read_beside("event.dwschema", to) {
        Some((file, text)) => event_kinds::read_event_kinds(&text, file, &mut to.sink),
        None => Some(event_kinds::EventKinds::usual()),
    };
    let schema = match read_beside("schema.cedarschema", to) {
        Some((file, text)) => action_schema::read_action_schema(&text, file, &mut to.sink).map(Some),
        None => Some(None),
    };
    let policies = policy_reader::read_policies(&text, to.root, &mut to.sink);
    let (Some(kinds), Some(schema), Some(policies)) = (kinds, schema, policies) else { return };
    if policies.policies.is_empty() {
        let message = "the file has no policy: every call is denied";
        to.sink.error(Slug::Syntax, Span::new(to.root, 0, 0), message, "write `permit (principal, action, resource);`");
        return;
    }
    let mut lowering =
        PolicyLowering { kinds: &kinds, schema: schema.as_ref(), said: &mut to.sink, made: Vec::new(), fresh: 0 };
    let mut written = Vec::new();
    for policy in &policies.policies {
        if let Some(text) = lowering.policy_truth(policy) {
            written.push((policy, text));
        }
    }
    let made = std::mem::take(&mut lowering.made);
    if written.len() < policies.policies.len() {
        return;
    }
    write_rules(&written, &made, to);
    plain_policies::note_plain(&policies.policies, Span::new(to.root, 0, 0), &mut to.sink);
}

/// Reads a file beside the policies, if it exists.
fn read_beside(name: &str, to: &mut Lowering<'_>) -> Option<(FileId, String)> {
    let root = to.sources.get(to.root)?;
    let (shown, folder) = (display_name(&root.name, name), root.folder.clone().unwrap_or_default());
    match to.files.read(&folder, name, Some(&folder)) {
        Ok(found) => {
            let text = found.text.clone();
            let file = to.sources.add_file(SourceFile::new(shown, Some(&found.folder), found.text));
            Some((file, text))
        }
        Err(FileError::NotFound) => None,
        Err(error) => {
            to.sink.error(
                Slug::Syntax,
                Span::new(to.root, 0, 0),
                error.describe_for(name),
                "make it readable, or take it away",
            );
            None
        }
    }
}

fn write_rules(written: &[(&PolicyRule, String)], made: &[String], to: &mut Lowering<'_>) {
    let at = |policy: &PolicyRule| policy.span;
    let out = &mut to.out;
    out.write_remark("Every call needs a policy that permits it, and none that forbids it.");
    let all: String = written.iter().map(|(_, text)| text.as_str()).chain(made.iter().map(String::as_str)).collect();
    let whole = Span::new(to.root, 0, 0);
    for definition in used_definitions(&all) {
        out.write_line(whole, |out| out.put_text(definition));
    }
    for definition in made {
        out.write_line(whole, |out| out.put_text(definition));
    }
    let mut labels = UniqueLabels::default();
    let mut permits = Vec::new();
    let mut rules = Vec::new();
    for (policy, text) in written {
        let kind = if policy.permits { "permit" } else { "forbid" };
        let label = labels.unique_label(policy.id.as_deref().unwrap_or(kind));
        let name = format!("applies_{}", rules.len().saturating_add(permits.len()).saturating_add(1));
        out.write_line(at(policy), |out| out.put_text(&format!("def {name}(now, events) = {text}")));
        match policy.permits {
            true => permits.push((name, label, at(policy))),
            false => rules.push((name, label, at(policy))),
        }
    }
    let place = permits.first().map_or(whole, |(_, _, place)| *place);
    let any = match permits.as_slice() {
        [] => "false".to_owned(),
        [(name, ..)] => format!("{name}{ARGUMENTS}"),
        several => {
            let any: Vec<String> = several.iter().map(|(name, ..)| format!("{name}(now, events)")).collect();
            out.write_line(place, |out| out.put_text(&format!("def is_permitted(now, events) = {}", any.join(" or "))));
            format!("is_permitted{ARGUMENTS}")
        }
    };
    out.write_gap();
    let label = match permits.as_slice() {
        [(_, label, _)] => label.clone(),
        _ => labels.unique_label("permitted"),
    };
    let names: Vec<&str> = permits.iter().map(|(_, label, _)| label.as_str()).collect();
    let why = match names.as_slice() {
        [] => "no policy permits anything".to_owned(),
        [one] => format!("`{one}` does not permit `${{tool}}` here"),
        _ => "no policy permits `${tool}` here".to_owned(),
    };
    write_rule(&DecisionRule { label: &label, place, condition: &any, why: &why }, out);
    for (name, label, place) in &rules {
        let condition = format!("not {name}{ARGUMENTS}");
        let why = format!("`{label}` forbids `${{tool}}` here");
        write_rule(&DecisionRule { label, place: *place, condition: &condition, why: &why }, out);
    }
}

/// A rule that denies calls.
struct DecisionRule<'a> {
    label: &'a str,
    place: Span,
    condition: &'a str,
    why: &'a str,
}

fn write_rule(rule: &DecisionRule<'_>, out: &mut crate::writer::RuleWriter) {
    out.write_block(
        rule.place,
        |out| out.put_text(&format!("rule {}", rule.label)),
        |out| {
            let why = quote_text(rule.why).replace("\\$", "$");
            out.write_line(rule.place, |out| {
                out.put_text(&format!("each {DECIDED}: {} message {why}", rule.condition))
            });
        },
    );
}

/// Returns the shared definitions that a text uses, directly or through other definitions.
fn used_definitions(text: &str) -> Vec<&'static str> {
    let name = |definition: &str| definition.split(['(', ' ']).nth(1).unwrap_or_default().to_owned();
    let mut used: Vec<&'static str> = Vec::new();
    let mut texts = vec![format!("{text} {ARGUMENTS}")];
    while let Some(text) = texts.pop() {
        for definition in DEFINITIONS {
            if !used.contains(definition) && text.contains(&format!("{}(", name(definition))) {
                used.push(definition);
                texts.push(definition.split_once(" = ").map_or("", |(_, body)| body).to_owned());
            }
        }
    }
    DEFINITIONS.iter().copied().filter(|definition| used.contains(definition)).collect()
}

//! `aver trace schema`: the normal form as a JSON Schema, generated from the tables that the readers use.

use super::super::exit::{CommandError, Exit};
use averment_runs::normal::{EntryType, entry_type, of_run, of_step};
use averment_runs::run::StepKind;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

pub(super) fn run_schema() -> Result<Exit, CommandError> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &trace_schema()).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(Exit::Holds)
}

/// Returns the JSON Schema 2020-12 of one run.
fn trace_schema() -> Value {
    let mut properties = Map::new();
    for entry in of_run::ALL.into_iter().filter(|entry| *entry != of_run::STEPS) {
        properties.insert(entry.to_owned(), entry_schema(entry));
    }
    for kind in StepKind::ALL {
        let mut item = step_schema(kind);
        if let Some(short) = kind.short_field() {
            item = json!({ "anyOf": [item, { "type": "string", "description": format!("the `{short}` alone") }] });
        }
        properties.insert(kind.list_key().to_owned(), json!({ "type": ["array", "null"], "items": item }));
    }
    let kinds = StepKind::ALL.map(StepKind::as_str);
    let step =
        json!({ "type": "object", "required": [of_step::KIND], "properties": { of_step::KIND: { "enum": kinds } } });
    let steps = json!({
        "type": ["array", "null"],
        "description": "the order of all steps, whatever their kind: the steps themselves, or the kind of each",
        "items": { "anyOf": [step, { "enum": kinds }] },
    });
    properties.insert(of_run::STEPS.to_owned(), steps);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A run of an agent in the normal form of Averment",
        "description": "Every key may be absent: what is absent is not recorded. Keys of one's own are kept.",
        "type": "object",
        "properties": properties,
    })
}

fn entry_schema(entry: &str) -> Value {
    let about = match entry {
        of_run::ID => "what the run is called",
        of_run::INPUTS => "what the run was given",
        of_run::PROMPT => "what the user asked",
        of_run::OUTPUT => "the final answer",
        of_run::USAGE => {
            "counts of tokens: input_tokens, output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, total_tokens"
        }
        of_run::COST => "in USD",
        of_run::DURATION => "in milliseconds",
        of_run::TURNS => "how often the assistant had its turn",
        of_run::ERROR => "why the run failed",
        of_run::TOOLS => "the tools that could be called",
        of_run::FILES => "the files that the run left behind",
        of_run::COMPLETE => "false: more may come",
        _ => "",
    };
    let mut schema = match entry_type(entry) {
        EntryType::Any => json!({}),
        EntryType::Number => json!({ "type": ["number", "null"] }),
        EntryType::Object => json!({ "type": ["object", "null"] }),
        EntryType::TextOrNumber => json!({ "type": ["string", "number", "null"] }),
        EntryType::Boolean => json!({ "type": ["boolean", "null"] }),
    };
    if !about.is_empty()
        && let Some(schema) = schema.as_object_mut()
    {
        schema.insert("description".to_owned(), about.into());
    }
    schema
}

fn step_schema(kind: StepKind) -> Value {
    let derived = [
        of_step::INDEX,
        of_step::KIND,
        of_step::PROGRAM,
        of_step::FLAGS,
        of_step::OPTIONS,
        of_step::PARTS,
        of_step::RECORDED_PATH,
        of_step::LOCATION,
    ];
    let fields = kind.field_names().iter().filter(|field| !derived.contains(field));
    let of_line = |field: &str| kind == StepKind::Command && field == of_step::ARGS;
    let properties: Map<String, Value> =
        fields.filter(|field| !of_line(field)).map(|field| ((*field).to_owned(), field_schema(kind, field))).collect();
    let needed =
        kind.field_names().first().copied().filter(|_| !matches!(kind, StepKind::Http)).unwrap_or(of_step::URL);
    json!({ "type": "object", "required": [needed], "properties": properties })
}

fn field_schema(kind: StepKind, field: &str) -> Value {
    match field {
        of_step::START | of_step::END => {
            json!({ "type": ["string", "number", "null"], "description": "RFC 3339, or milliseconds" })
        }
        of_step::DURATION => json!({ "type": ["number", "null"], "description": "in milliseconds" }),
        of_step::TURN | of_step::EXIT_CODE => json!({ "type": ["integer", "null"] }),
        of_step::OK => json!({ "type": ["boolean", "null"] }),
        of_step::STATUS if kind == StepKind::Http => {
            json!({ "type": ["integer", "string", "null"], "description": "the number of the response" })
        }
        of_step::STATUS if kind == StepKind::Span => json!({}),
        of_step::STATUS => {
            json!({ "type": ["string", "null"], "description": "ok, failed, denied, pending, or unknown" })
        }
        of_step::TOOL | of_step::ROLE | of_step::COMMAND | of_step::PATH | of_step::NAME | of_step::URL => {
            json!({ "type": "string" })
        }
        _ => json!({}),
    }
}

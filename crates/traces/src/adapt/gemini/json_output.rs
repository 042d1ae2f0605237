//! What Gemini CLI prints with `--output-format json`: the answer, what it took, and how often each tool was called, but not the calls.

use crate::adapt::calls::TokenUsage;
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{first_of, node_object, object_of, text_of};
use crate::adapt::run_builder::{RunBuilder, absent_node};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_usage};

key_table! {
    JsonOutputKey {
        Session = "session_id",
        Response = "response",
        Stats = "stats",
        Models = "models",
        Tools = "tools",
        Tokens = "tokens",
        Input = "prompt",
        Output = "candidates",
        Cached = "cached",
        Thoughts = "thoughts",
        Total = "total",
        Error = "error",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Gemini CLI answer",
    known_by: "`stats` with `models` and `tools` beside a `response` or an `error`",
    description: "the answer of Gemini CLI with `--output-format json`",
    marks: &[JsonOutputKey::Stats.key()],
    near: &[],
    object: is_answer,
    read: read_run,
    ..IN_FULL
};

fn is_answer(object: Object<'_>) -> bool {
    let stats = object_of(object, JsonOutputKey::Stats);
    stats.is_some_and(|stats| {
        [JsonOutputKey::Models, JsonOutputKey::Tools].iter().all(|key| stats.field(*key).is_some())
    }) && (text_of(object, JsonOutputKey::Response).is_some() || object.field(JsonOutputKey::Error).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(answer) = root.value else { return Ok(()) };
    builder.count_record();
    let of_answer = |key| first_of(answer, &[key]);
    builder.set_some(of_run::ID, of_answer(JsonOutputKey::Session).filter(|id| NodeShapes.is_text(*id)));
    builder.set_some(of_run::OUTPUT, of_answer(JsonOutputKey::Response));
    builder.set_some(of_run::ERROR, of_answer(JsonOutputKey::Error));
    builder.set_entry(of_run::TURNS, absent_node());
    let stats = object_of(answer, JsonOutputKey::Stats);
    let Some(models) = stats.and_then(|stats| object_of(stats, JsonOutputKey::Models)) else { return Ok(()) };
    let mut usage = TokenUsage::default();
    for model in models.entries().iter().filter_map(|entry| node_object(entry.node)) {
        let Some(tokens) = object_of(model, JsonOutputKey::Tokens) else { continue };
        let mut of_model = TokenUsage::default();
        for (name, key) in [
            (of_usage::INPUT, JsonOutputKey::Input),
            (of_usage::OUTPUT, JsonOutputKey::Output),
            (of_usage::CACHE_READ, JsonOutputKey::Cached),
            (of_usage::REASONING, JsonOutputKey::Thoughts),
            (of_usage::TOTAL, JsonOutputKey::Total),
        ] {
            of_model.add_count(name, tokens.field(key));
        }
        usage.merge_usage(&of_model);
    }
    usage.set_usage(builder);
    Ok(())
}

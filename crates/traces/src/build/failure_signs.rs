//! Results that read like those of calls that went wrong: that there is a result does not say then that the call went well.

use super::status;
use crate::adapt::fields::key_table;
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, Value};
use averment_runs::failure_words::{begins_without_failure, reads_like_failure};
use averment_runs::normal::of_step;
use averment_runs::run::StepStatus;
use bumpalo::Bump;

key_table! {
    /// What results say of how the call went.
    ResultSignKey {
        Success = "success",
        Fine = "ok",
        Error = "error",
        IsError = "is_error" | "isError",
        Code = "exit_code" | "exitCode" | "returncode" | "return_code",
        PlainCode = "code",
        HttpStatus = "status_code" | "statusCode" | "status",
        Errors = "errors",
        Content = "content",
        Text = "text",
        BlockType = "type",
    }
}

/// Keys of which one stands in a JSON text that says how the call went.
const TOLD: [&str; 10] = [
    "\"success\"",
    "\"ok\"",
    "\"error",
    "\"status",
    "\"exit",
    "\"return",
    "\"content\"",
    "\"text\"",
    "\"isError",
    "\"code\"",
];

key_table! {
    /// What may stand beside a `code` that says how a call ended; beside other keys it is data: a country, a coupon.
    BesideCodeKey {
        Code = "code",
        Message = "message" | "msg" | "detail" | "details" | "reason",
        Error = "error" | "errors",
        Output = "stdout" | "stderr" | "output" | "data" | "result",
        Ending = "signal" | "killed" | "status" | "success",
    }
}

/// Codes with which programs end, beside 0.
const EXIT_CODES: std::ops::RangeInclusive<f64> = 1.0..=255.0;

/// HTTP statuses from here on are errors.
const HTTP_ERRORS: std::ops::Range<f64> = 400.0..600.0;

/// The blocks of a result that are looked at; the first text says it.
const BLOCKS: usize = 4;

/// True for a key of a result whose value tells how the call went; of all others only the key counts.
pub(crate) fn tells_ending(key: &str) -> bool {
    ResultSignKey::from_key(key).is_some()
}

/// True if a result reads like that of a call that went wrong.
pub(super) fn speaks_of_failure<'run>(result: Node<'run>, arena: &'run Bump) -> bool {
    match result.value {
        Value::Object(object) => object_speaks(&object) || has_failing_text(&object),
        Value::List(blocks) => blocks.iter().take(BLOCKS).any(|block| match block.value {
            Value::Object(object) => has_failing_text(&object),
            _ => false,
        }),
        // Most texts begin with some other word: that is seen without unescaping them.
        Value::Text(text) if begins_without_failure(text.raw_text()) => false,
        Value::Text(text) => {
            let text = text.as_str();
            let start = text.trim_start();
            if !start.starts_with(['{', '[']) {
                return reads_like_failure(text);
            }
            let told = TOLD.iter().any(|key| memchr::memmem::find(start.as_bytes(), key.as_bytes()).is_some());
            let read = told.then(|| result.parse_embedded(arena, &Limits::default())).flatten();
            match read {
                Some(read) if matches!(read.value, Value::Object(_) | Value::List(_)) => speaks_of_failure(read, arena),
                _ => reads_like_failure(text),
            }
        }
        _ => false,
    }
}

fn object_speaks(object: &Object<'_>) -> bool {
    let any = |sign: ResultSignKey, is_sign: fn(&Value<'_>) -> bool| {
        sign.keys().iter().filter_map(|key| object.get(key)).any(|node| is_sign(&node.value))
    };
    any(ResultSignKey::Success, is_false)
        || any(ResultSignKey::Fine, is_false)
        || any(ResultSignKey::Code, status::is_other_than_zero)
        || any(ResultSignKey::PlainCode, is_failing_code) && is_answer_of_code(object)
        || any(ResultSignKey::HttpStatus, is_http_error)
        || object.get(of_step::STATUS).is_some_and(|status| is_failing_word(&status.value))
        || any(ResultSignKey::Errors, is_filled)
        || any(ResultSignKey::Error, status::is_error)
}

fn is_false(value: &Value<'_>) -> bool {
    match value {
        Value::Boolean(answer) => !answer,
        Value::Text(text) => text.as_str().eq_ignore_ascii_case("false"),
        _ => false,
    }
}

/// A negative number, an exit code of a program, or an HTTP status of an error.
fn is_failing_code(value: &Value<'_>) -> bool {
    let is_exit = |code: f64| code < 0.0 || EXIT_CODES.contains(&code);
    is_http_error(value) || matches!(value, Value::Number(code) if is_exit(code.to_f64()))
}

fn is_answer_of_code(object: &Object<'_>) -> bool {
    object.entries().iter().all(|entry| BesideCodeKey::from_key(entry.key).is_some())
}

fn is_http_error(value: &Value<'_>) -> bool {
    matches!(value, Value::Number(code) if HTTP_ERRORS.contains(&code.to_f64()))
}

fn is_filled(value: &Value<'_>) -> bool {
    match value {
        Value::List(errors) => !errors.is_empty(),
        Value::Object(errors) => !errors.entries().is_empty(),
        _ => false,
    }
}

/// An order that is cancelled is what was asked for as often as not.
fn is_failing_word(value: &Value<'_>) -> bool {
    let Value::Text(word) = value else { return false };
    let is_data = ["cancelled", "canceled"].iter().any(|known| known.eq_ignore_ascii_case(word.as_str()));
    !is_data && StepStatus::from_word(word.as_str()) == Some(StepStatus::Failed)
}

/// A block of text (`{ type: "text", text }`), or a result that holds such blocks, as MCP has them.
fn has_failing_text(object: &Object<'_>) -> bool {
    let is_failing = |block: &Object<'_>| {
        value_of(block, ResultSignKey::BlockType).is_some()
            && matches!(value_of(block, ResultSignKey::Text), Some(Value::Text(text)) if reads_like_failure(text.as_str()))
    };
    let inside = match value_of(object, ResultSignKey::Content) {
        Some(Value::List(blocks)) => blocks,
        _ => &[],
    };
    is_failing(object)
        || inside.iter().take(BLOCKS).any(|block| matches!(block.value, Value::Object(block) if is_failing(&block)))
}

fn value_of<'run>(object: &Object<'run>, key: ResultSignKey) -> Option<Value<'run>> {
    key.keys().iter().find_map(|key| object.get(key)).map(|node| node.value)
}

//! Collapsed values beside a step: JSON, shortened, without hidden values.

use super::redact::{self, REDACTED, WithheldTexts, redact};
use super::step_line::{WantedValue, escape_key, is_inside};
use super::value::shorten_text;
use averment_base::value::json::to_json;
use averment_base::value::{Node, Value};
use averment_builtins::detect::{self, redacted_start};

/// Maximum length of a text in such a value, in characters.
pub const TEXT: usize = 600;
/// Maximum number of entries of a list or an object in it.
pub const ENTRIES: usize = 24;
/// Maximum nesting depth.
const LEVELS: usize = 6;
/// Maximum size of such a value, in bytes; the rest is left out.
pub const LONGEST: usize = 3_000;

#[derive(Clone, Copy)]
pub(super) struct HiddenParts<'a> {
    pub(super) hide: &'a WithheldTexts,
    /// Values that evidence refers to, including hidden ones.
    pub(super) paths: &'a [WantedValue<'a>],
}

pub(super) fn visible_words(text: &str, most: usize, hide: &WithheldTexts) -> String {
    let start = redacted_start(text, most.saturating_mul(2));
    let cut = if start.len() < text.len() { "…" } else { "" };
    let clean = hide.remove_from(redact(&start).into_owned() + cut);
    shorten_text(&hide.without_in_json(&clean), most)
}

/// The location of a value while it is written.
#[derive(Clone, Copy)]
struct FoldedPlace<'a> {
    path: &'a str,
    /// Remaining nesting levels.
    levels: usize,
    /// True if a key around it names a credential, or if all of it is hidden.
    secret: bool,
}

impl HiddenParts<'_> {
    pub(super) fn value_json(self, key: &str, node: Node<'_>, path: &str) -> Option<String> {
        if matches!(node.value, Value::Absent | Value::Missing) {
            return None;
        }
        // An assertion may hide a whole step.
        let whole = self.paths.iter().any(|one| one.hidden && is_inside(path, one.path));
        let mut out = String::new();
        self.write_value(key, node, FoldedPlace { path, levels: LEVELS, secret: whole }, &mut out);
        let clean = self.hide.without_in_json(&out);
        Some(redact::remove_ranges(&clean, &redact::find_secrets(&clean)).into_owned())
    }

    fn write_value(self, key: &str, node: Node<'_>, place: FoldedPlace<'_>, out: &mut String) {
        let is_list = matches!(node.value, Value::List(_));
        let secret = place.secret || detect::names_credential(key.as_bytes(), is_list);
        let hidden = self.paths.iter().any(|one| one.hidden && one.path == place.path);
        let place = FoldedPlace { secret, ..place };
        match node.value {
            _ if hidden => write_quoted(REDACTED, out),
            Value::Text(_) if secret => write_quoted(REDACTED, out),
            Value::Text(text) => write_quoted(&visible_words(text.as_str(), TEXT, self.hide), out),
            Value::List(_) | Value::Object(_) if place.levels == 0 => write_quoted("…", out),
            Value::List(items) => {
                let all = items.iter().enumerate().map(|(at, node)| (None, at.to_string(), *node));
                self.write_entries(key, ['[', ']'], items.len(), all, place, out);
            }
            Value::Object(object) => {
                let all = object.entries().iter().map(|entry| (Some(entry.key), escape_key(entry.key), entry.node));
                self.write_entries(key, ['{', '}'], object.entries().len(), all, place, out);
            }
            value => out.push_str(&to_json(&value)),
        }
    }

    fn write_entries<'n>(
        self,
        list: &str,
        [open, close]: [char; 2],
        count: usize,
        all: impl Iterator<Item = (Option<&'n str>, String, Node<'n>)>,
        around: FoldedPlace<'_>,
        out: &mut String,
    ) {
        out.push(open);
        let mut written = 0;
        for (key, place, node) in all.take(ENTRIES) {
            if out.len() > LONGEST {
                break;
            }
            out.push_str(if written > 0 { "," } else { "" });
            if let Some(key) = key {
                write_quoted(&visible_words(key, TEXT, self.hide), out);
                out.push(':');
            }
            let path = [around.path, "/", &place].concat();
            let place = FoldedPlace { path: &path, levels: around.levels - 1, ..around };
            self.write_value(key.unwrap_or(list), node, place, out);
            written += 1;
        }
        if written < count {
            let rest = format!("… {} more", count - written);
            out.push_str(if written > 0 { "," } else { "" });
            out.push_str(if open == '{' { "\"…\":" } else { "" });
            write_quoted(&rest, out);
        }
        out.push(close);
    }
}

fn write_quoted(text: &str, out: &mut String) {
    out.push_str(&to_json(&Value::plain_text(text)));
}

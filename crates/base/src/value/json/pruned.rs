//! A value as JSON text of which long texts, lists and objects are cut: what a report shows of a value that is too long for it.

use super::super::notation::TextShortener;
use super::write::{to_json_within, write_text};
use super::{Node, Value};
use crate::value::compare::with_deep_stack;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters of a text.
pub const TEXT: usize = 400;
/// Entries of a list or an object; behind them stands how many there are more.
pub const ENTRIES: usize = 16;
/// Levels.
pub const LEVELS: usize = 6;

/// The value as JSON text. What is longer than `most` bytes is pruned, and takes no more than about four times as much: of a text stands at
/// most `most` of it as `beginning` shows it, of lists and objects the first entries and levels.
#[must_use]
pub fn pruned_json(value: &Value<'_>, most: usize, beginning: TextShortener) -> String {
    to_json_within(value, most).unwrap_or_else(|| {
        let mut writer = PrunedWriter { out: String::new(), most, beginning };
        writer.write_value(value, LEVELS);
        writer.out
    })
}

struct PrunedWriter {
    out: String,
    most: usize,
    beginning: TextShortener,
}

impl PrunedWriter {
    fn write_value(&mut self, value: &Value<'_>, levels: usize) {
        let full = self.out.len() / 3 > self.most;
        match value {
            Value::Text(_) | Value::List(_) | Value::Object(_) if full => self.out.push_str("\"…\""),
            Value::List(_) | Value::Object(_) if levels == 0 => self.out.push_str("\"…\""),
            Value::Text(text) => self.write_text(text.as_str()),
            Value::List(items) => {
                self.out.push('[');
                for (at, item) in items.iter().take(ENTRIES).enumerate() {
                    self.write_comma(at);
                    self.write_inner(item, levels);
                }
                self.write_rest(items.len(), "\"… ", " more\"");
                self.out.push(']');
            }
            Value::Object(object) => {
                self.out.push('{');
                for (at, entry) in object.entries().iter().take(ENTRIES).enumerate() {
                    self.write_comma(at);
                    self.write_text(entry.key);
                    self.out.push(':');
                    self.write_inner(&entry.node, levels);
                }
                self.write_rest(object.entries().len(), "\"…\":\"", " more\"");
                self.out.push('}');
            }
            other => match to_json_within(other, self.most) {
                Some(text) => self.out.push_str(&text),
                None => self.out.push_str("\"…\""),
            },
        }
    }

    fn write_inner(&mut self, node: &Node<'_>, levels: usize) {
        with_deep_stack(|| self.write_value(&node.value, levels.saturating_sub(1)));
    }

    fn write_comma(&mut self, at: usize) {
        if at > 0 {
            self.out.push(',');
        }
    }

    fn write_rest(&mut self, count: usize, before: &str, behind: &str) {
        let rest = count.saturating_sub(ENTRIES);
        if rest > 0 {
            // Writing to a string never fails.
            let _ = write!(self.out, ",{before}{rest}{behind}");
        }
    }

    fn write_text(&mut self, text: &str) {
        if text.len() <= self.most {
            return write_text(text, &mut self.out);
        }
        // A quarter of it is enough for many bytes of each character.
        let shown: Cow<'_, str> = (self.beginning)(text, self.most / 4);
        write_text(&(shown.into_owned() + "…"), &mut self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::value::json::parse;
    use bumpalo::Bump;

    fn shown(json: &str, most: usize) -> String {
        fn plain(text: &str, most: usize) -> Cow<'_, str> {
            Cow::Borrowed(text.get(..most).unwrap_or(text))
        }
        let arena = Bump::new();
        pruned_json(&parse(json, 0, &arena, &Limits::default()).unwrap().node.value, most, plain)
    }

    #[test]
    fn what_is_short_stands_as_it_is() {
        assert_eq!(shown(r#"{"a":[1,2,{"b":"c"}]}"#, 100), r#"{"a":[1,2,{"b":"c"}]}"#);
    }

    #[test]
    fn what_is_long_is_cut_and_counted() {
        let list = shown(&format!("[{}0]", "1,".repeat(100)), 100);
        assert_eq!(list, format!("[{}\"… 85 more\"]", "1,".repeat(16)));
        let deep = shown(&format!("{}1{}", "[".repeat(100), "]".repeat(100)), 100);
        assert_eq!(deep, r#"[[[[[["…"]]]]]]"#);
        assert_eq!(shown(&format!("\"{}\"", "x".repeat(500)), 100), format!("\"{}…\"", "x".repeat(25)));
    }

    #[test]
    fn what_holds_a_part_many_times_is_not_written_out() {
        let arena = Bump::new();
        let many = |inner| Node::computed(Value::List(arena.alloc([inner; 16])));
        let wide = (0..40).fold(Node::computed(Value::plain_text("four")), |inner, _| many(inner));
        assert!(pruned_json(&wide.value, 1_000, |text, _| Cow::Borrowed(text)).len() < 10_000);
    }
}

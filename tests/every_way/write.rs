//! JSON on one line, written in any way that JSON allows: order of keys, space, escapes.

use crate::source::Source;
use serde_json::{Map, Value};

/// How a value is written.
struct Writer<'a> {
    source: &'a mut Source,
    out: String,
    spaced: bool,
    shuffled: bool,
    escapes: Escapes,
}

/// Where characters are written by their numbers.
#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    Nowhere,
    /// In texts that are no names.
    Texts,
    /// In names, too: who meets one reads the run in full.
    Everywhere,
}

/// A value on one line; choices of 0 write it plainly.
pub fn line(source: &mut Source, value: &Value) -> String {
    let escapes = [Escapes::Nowhere, Escapes::Texts, Escapes::Everywhere][source.weighted(&[50, 38, 12])];
    let (spaced, shuffled) = (source.chance(40), source.chance(50));
    let mut writer = Writer { source, out: String::new(), spaced, shuffled, escapes };
    writer.write(value);
    writer.out
}

impl Writer<'_> {
    fn space(&mut self) {
        if self.spaced && self.source.chance(25) {
            self.out.push_str(self.source.pick(&[" ", "  ", "\t"]));
        }
    }

    fn write(&mut self, value: &Value) {
        match value {
            Value::Object(object) => self.fields(object),
            Value::Array(items) => {
                self.out.push('[');
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        self.out.push(',');
                    }
                    self.space();
                    self.write(item);
                }
                self.space();
                self.out.push(']');
            }
            Value::String(text) => {
                let is_name = text.len() < 9 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                self.string(text, is_name);
            }
            other => self.out.push_str(&other.to_string()),
        }
    }

    fn fields(&mut self, object: &Map<String, Value>) {
        let mut keys: Vec<&String> = object.keys().collect();
        if self.shuffled {
            for last in (1..keys.len()).rev() {
                keys.swap(last, self.source.below(last + 1));
            }
        }
        self.out.push('{');
        for (number, key) in keys.into_iter().enumerate() {
            if number > 0 {
                self.out.push(',');
            }
            self.space();
            self.string(key, true);
            self.space();
            self.out.push(':');
            self.space();
            self.write(&object[key]);
        }
        self.space();
        self.out.push('}');
    }

    fn string(&mut self, text: &str, is_name: bool) {
        let escapes = match self.escapes {
            Escapes::Nowhere => false,
            Escapes::Texts => !is_name && self.source.chance(60),
            Escapes::Everywhere => self.source.chance(20),
        };
        if !escapes {
            return self.out.push_str(&Value::from(text).to_string());
        }
        self.out.push('"');
        for character in text.chars() {
            match character {
                '/' => self.out.push_str("\\/"),
                '"' | '\\' | '\u{0}'..='\u{1f}' => self.number(character),
                other if self.source.chance(12) => self.number(other),
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }

    /// A character by its numbers.
    fn number(&mut self, character: char) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            self.out.push_str(&format!("\\u{unit:04x}"));
        }
    }
}

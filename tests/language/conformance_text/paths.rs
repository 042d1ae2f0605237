//! Paths of the older JSONPath library in the syntax of RFC 9535, and what they select.

use crate::conformance_text::sentences::Unsaid::{self, Different, Nonsense};
use crate::conformance_text::sentences::{float, literal_text};
use averment_base::limits::{Limits, Meter};
use averment_base::value::json::{parse, to_json};
use averment_base::value::{Node, Text, Value};
use averment_builtins::Environment;
use averment_builtins::json::{Cache, check_path};
use averment_builtins::table::lookup;
use bumpalo::Bump;

/// The same path in the syntax of RFC 9535. One that only RFC 9535 knows stays as it is.
pub fn standard_path(path: &str) -> Result<String, Unsaid> {
    let translated = Reader { rest: path, out: "$".to_owned(), dotted: true }.read();
    let usable = |path: &String| check_path(path).is_ok();
    match translated {
        Ok(path) if usable(&path) => Ok(path),
        Err(Different(reason)) => Err(Different(reason)),
        _ if check_path(path).is_ok() => Ok(path.to_owned()),
        _ => Err(Nonsense("the path cannot be read")),
    }
}

struct Reader<'a> {
    rest: &'a str,
    out: String,
    /// Whether a field may stand here: at the start and behind a dot.
    dotted: bool,
}

impl Reader<'_> {
    fn read(mut self) -> Result<String, Unsaid> {
        let unreadable = || Nonsense("the path cannot be read");
        self.rest = self.rest.trim_start();
        let mut any = false;
        if let Some(rest) = self.rest.strip_prefix('$') {
            (self.rest, self.dotted, any) = (rest, false, true);
        } else if self.rest.starts_with('.') {
            return Err(unreadable());
        }
        loop {
            self.rest = self.rest.trim_start();
            let Some(first) = self.rest.chars().next() else { break };
            match first {
                '.' if self.dotted => return Err(unreadable()),
                '.' => {
                    let deep = self.rest.starts_with("..");
                    self.out.push_str(if deep { ".." } else { "" });
                    self.rest = &self.rest[1 + usize::from(deep)..];
                    self.dotted = true;
                    continue;
                }
                '[' => self.bracket()?,
                '`' => match self.rest.strip_prefix("`this`") {
                    Some(rest) => self.rest = rest,
                    None => return Err(Different("operators of the older paths")),
                },
                '|' | '&' | '(' | ')' | ',' => return Err(Different("operators of the older paths")),
                '*' if self.dotted => {
                    self.out.push_str("[*]");
                    self.rest = &self.rest[1..];
                }
                '"' | '\'' if self.dotted => {
                    let end = self.rest[1..].find(first).ok_or_else(unreadable)? + 1;
                    let name = self.rest[1..end].to_owned();
                    self.rest = &self.rest[end + 1..];
                    self.field(&name);
                }
                first if self.dotted && (is_start(first) || first.is_ascii_digit()) => {
                    let of_name = |c: char| if is_start(first) { is_inner(c) } else { c.is_ascii_digit() };
                    let end = self.rest.find(|c| !of_name(c)).unwrap_or(self.rest.len());
                    let name = self.rest[..end].to_owned();
                    self.rest = &self.rest[end..];
                    self.field(&name);
                }
                _ if self.rest.starts_with("where") => return Err(Different("operators of the older paths")),
                _ => return Err(unreadable()),
            }
            (self.dotted, any) = (false, true);
        }
        if any && !self.dotted { Ok(self.out) } else { Err(unreadable()) }
    }

    fn field(&mut self, name: &str) {
        self.out.push_str(&format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'")));
    }

    /// `[0]`, `[1,0]`, `[1:3]`, `[*]`, `['a', 'b']`, `[a]`.
    fn bracket(&mut self) -> Result<(), Unsaid> {
        let unreadable = || Nonsense("the path cannot be read");
        let quoted = self.rest[1..].trim_start().chars().next().filter(|c| matches!(c, '"' | '\''));
        let from = quoted.map_or(0, |quote| self.rest.rfind(quote).unwrap_or(0));
        let end = from + self.rest[from..].find(']').ok_or_else(unreadable)?;
        let inside = self.rest[1..end].to_owned();
        self.rest = &self.rest[end + 1..];
        let number = |text: &str| text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = Vec::new();
        for part in inside.split(',').map(str::trim) {
            let bare = part.trim_matches(['"', '\'']);
            parts.push(match () {
                () if part == "*" => "*".to_owned(),
                () if !part.is_empty() && part.split(':').all(|piece| number(piece.trim())) => part.to_owned(),
                () if part.len() > bare.len()
                    || part.chars().next().is_some_and(is_start) && part.chars().all(is_inner) =>
                {
                    format!("'{}'", bare.replace('\'', "\\'"))
                }
                () => return Err(unreadable()),
            });
        }
        self.out.push_str(&format!("[{}]", parts.join(",")));
        Ok(())
    }
}

fn is_start(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '@' | '\u{4e00}'..='\u{9fa5}' | '\u{1f600}'..='\u{1f64f}')
}

fn is_inner(c: char) -> bool {
    is_start(c) || c.is_ascii_digit() || c == '-'
}

/// A selected value: as `text` writes it here, and as `str` writes it there.
pub struct Selected {
    pub text: String,
    pub python: String,
}

/// What a path of RFC 9535 selects in an output; `None` where the output is no JSON.
pub fn select(output: &str, path: &str) -> Option<Vec<Selected>> {
    let arena = Bump::new();
    let limits = Limits::default();
    let root = parse(arena.alloc_str(output), 0, &arena, &limits).ok()?.node;
    let path = Node::computed(Value::Text(Text::Plain(arena.alloc_str(path))));
    let environment = Environment {
        arena: &arena,
        limits: &limits,
        meter: &mut Meter::new(&limits),
        regex: &|_| None,
        cache: &Cache::default(),
    };
    let found = lookup("jsonpath").unwrap().call(arena.alloc_slice_copy(&[root, path]), environment).unwrap();
    let Value::List(items) = found.value else { return Some(Vec::new()) };
    Some(items.iter().map(|item| selected(&item.value)).collect())
}

fn selected(value: &Value<'_>) -> Selected {
    match value {
        Value::Text(text) => Selected { text: text.as_str().to_owned(), python: text.as_str().to_owned() },
        _ => Selected { text: to_json(value), python: python(value) },
    }
}

/// A value as Python writes it.
fn python(value: &Value<'_>) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Boolean(true) => "True".to_owned(),
        Value::Boolean(false) => "False".to_owned(),
        Value::Text(text) => literal_text(text.as_str()),
        Value::List(items) => {
            format!("[{}]", items.iter().map(|item| python(&item.value)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(object) => {
            let entries = object.entries().iter();
            let entries = entries.map(|entry| format!("{}: {}", literal_text(entry.key), python(&entry.node.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => float(&to_json(other)),
    }
}

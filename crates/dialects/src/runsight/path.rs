//! Translates paths of `jsonpath-ng`, which Runsight uses, to RFC 9535, and writes values as Python does.

use crate::jsonpath::{ForeignPath, steps_text};
use crate::yaml::YamlNode;
use averment_base::limits::Limits;
use averment_base::value::json::parse;
use averment_builtins::json::check_path;
use averment_builtins::python::text_of;
use bumpalo::Bump;

/// Returns `str(value)` as in Python.
pub(super) fn python_text(node: &YamlNode) -> String {
    if let Some(text) = node.as_text() {
        return text.to_owned();
    }
    let (json, arena) = (node.to_json(), Bump::new());
    parse(&json, 0, &arena, &Limits::default()).map(|document| text_of(&document.node.value)).unwrap_or(json)
}

/// Converts a path to RFC 9535. A path that is valid only in RFC 9535 is unchanged.
pub(super) fn standard_path(path: &str) -> Result<String, String> {
    let translated = OldPathReader { rest: path, out: "$".to_owned(), dotted: true }.read_path();
    match translated {
        Ok(path) if check_path(&path).is_ok() => Ok(path),
        Err(PathFault::Operator(sign)) if check_path(path).is_err() => Err(format!(
            "`{sign}` joins paths, which has no counterpart: write both paths, and what is to hold of each"
        )),
        _ => check_path(path).map(|()| path.to_owned()).map_err(|error| error.message),
    }
}

enum PathFault {
    Broken,
    /// An operator that RFC 9535 does not have.
    Operator(char),
}

struct OldPathReader<'a> {
    rest: &'a str,
    out: String,
    /// True at the start and after a dot.
    dotted: bool,
}

impl OldPathReader<'_> {
    fn read_path(mut self) -> Result<String, PathFault> {
        self.rest = self.rest.trim_start();
        let mut any = false;
        if let Some(rest) = self.rest.strip_prefix('$') {
            (self.rest, self.dotted, any) = (rest, false, true);
        } else if self.rest.starts_with('.') {
            return Err(PathFault::Broken);
        }
        loop {
            self.rest = self.rest.trim_start();
            let Some(first) = self.rest.chars().next() else { break };
            if first == '.' {
                self.read_dot()?;
                continue;
            }
            self.read_part(first)?;
            (self.dotted, any) = (false, true);
        }
        if any && !self.dotted { Ok(self.out) } else { Err(PathFault::Broken) }
    }

    fn skip_bytes(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    fn read_dot(&mut self) -> Result<(), PathFault> {
        if self.dotted {
            return Err(PathFault::Broken);
        }
        let deep = self.rest.starts_with("..");
        self.out.push_str(if deep { ".." } else { "" });
        self.skip_bytes(if deep { 2 } else { 1 });
        self.dotted = true;
        Ok(())
    }

    fn read_part(&mut self, first: char) -> Result<(), PathFault> {
        match first {
            '[' => self.read_bracket(),
            '`' => match self.rest.strip_prefix("`this`") {
                Some(rest) => {
                    self.rest = rest;
                    Ok(())
                }
                None => Err(PathFault::Operator('`')),
            },
            '|' | '&' | '(' | ')' | ',' => Err(PathFault::Operator(first)),
            '*' if self.dotted => {
                self.out.push_str("[*]");
                self.skip_bytes(1);
                Ok(())
            }
            '"' | '\'' if self.dotted => {
                let inner = self.rest.get(1..).unwrap_or("");
                let (name, rest) = inner.split_once(first).ok_or(PathFault::Broken)?;
                self.push_field(name);
                self.rest = rest;
                Ok(())
            }
            _ if self.dotted && (is_start(first) || first.is_ascii_digit()) => {
                let of_name = |c: char| if is_start(first) { is_inner(c) } else { c.is_ascii_digit() };
                let end = self.rest.find(|c| !of_name(c)).unwrap_or(self.rest.len());
                let (name, rest) = self.rest.split_at_checked(end).ok_or(PathFault::Broken)?;
                self.push_field(name);
                self.rest = rest;
                Ok(())
            }
            _ if self.rest.starts_with("where") => Err(PathFault::Operator('w')),
            _ => Err(PathFault::Broken),
        }
    }

    fn push_field(&mut self, name: &str) {
        let name = name.replace('\\', "\\\\").replace('\'', "\\'");
        let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        self.out.push_str(&match (plain, self.out.ends_with("..")) {
            (true, true) => name,
            (true, false) => format!(".{name}"),
            (false, _) => format!("['{name}']"),
        });
    }

    /// Reads `[0]`, `[1,0]`, `[1:3]`, `[*]`, `['a', 'b']` or `[a]`.
    fn read_bracket(&mut self) -> Result<(), PathFault> {
        let inner = self.rest.get(1..).unwrap_or("");
        let quoted = inner.trim_start().chars().next().filter(|c| matches!(c, '"' | '\''));
        let from = quoted.map_or(0, |quote| inner.rfind(quote).unwrap_or(0));
        let end = inner.get(from..).and_then(|rest| rest.find(']')).ok_or(PathFault::Broken)?.saturating_add(from);
        let (inside, rest) = inner.split_at_checked(end).ok_or(PathFault::Broken)?;
        let number = |text: &str| text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = Vec::new();
        for part in inside.split(',').map(str::trim) {
            let bare = part.trim_matches(['"', '\'']);
            let named =
                part.len() > bare.len() || part.chars().next().is_some_and(is_start) && part.chars().all(is_inner);
            parts.push(match () {
                () if part == "*" => "*".to_owned(),
                () if !part.is_empty() && part.split(':').all(|piece| number(piece.trim())) => part.to_owned(),
                () if named => format!("'{}'", bare.replace('\'', "\\'")),
                () => return Err(PathFault::Broken),
            });
        }
        self.out.push_str(&format!("[{}]", parts.join(",")));
        self.rest = rest.get(1..).unwrap_or("");
        Ok(())
    }
}

fn is_start(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '@' | '\u{4e00}'..='\u{9fa5}' | '\u{1f600}'..='\u{1f64f}')
}

fn is_inner(c: char) -> bool {
    is_start(c) || c.is_ascii_digit() || c == '-'
}

/// Returns the path if it has only names and numbers, such as `.items[0].name`.
pub(super) fn plain_path(path: &str) -> Option<String> {
    let path = ForeignPath::behind_root(path.strip_prefix('$')?);
    path.rest.is_empty().then(|| steps_text(&path.steps))
}

//! Outlines of the syntax tree and the intermediate form, to show how an input was parsed.
//!
//! Outlines are made from the `Debug` output of the types, so that no variant can be forgotten here. Spans are left out, names become words, and
//! short nodes share a line.

use averment_base::value::compare::with_deep_stack;
use std::fmt::{Debug, Write as _};

/// Returns the outline of a value, with lines of about `width` characters.
#[must_use]
pub fn debug_outline(value: &dyn Debug, width: usize) -> String {
    let printed = format!("{value:?}");
    let mut reader = DebugReader { rest: &printed };
    let mut out = String::new();
    if let Some(node) = reader.read_node() {
        write_node(&node, 0, width, &mut out);
    }
    out
}

#[derive(Debug, Clone, PartialEq)]
struct OutlineNode {
    /// The word or literal of the node; empty for a list.
    head: String,
    parts: Vec<(Option<String>, OutlineNode)>,
}

/// Parser for the `Debug` output of the types.
struct DebugReader<'t> {
    rest: &'t str,
}

impl DebugReader<'_> {
    fn skip_separators(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', ',']);
    }

    fn eat_sign(&mut self, sign: char) -> bool {
        self.skip_separators();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads one value; `None` for a span or an absent value.
    fn read_node(&mut self) -> Option<OutlineNode> {
        with_deep_stack(|| self.read_value())
    }

    fn read_value(&mut self) -> Option<OutlineNode> {
        self.skip_separators();
        if self.rest.starts_with('"') {
            return Some(OutlineNode { head: self.read_quoted(), parts: Vec::new() });
        }
        if self.eat_sign('[') {
            return Some(OutlineNode { head: String::new(), parts: self.read_items(']') });
        }
        if self.eat_sign('(') {
            return Some(OutlineNode { head: String::new(), parts: self.read_items(')') });
        }
        let word = self.read_word();
        let parts = if self.rest.starts_with('(') {
            self.eat_sign('(');
            self.read_items(')')
        } else if self.rest.starts_with(" {") {
            self.eat_sign('{');
            self.read_fields()
        } else {
            Vec::new()
        };
        tidy_node(word, parts)
    }

    fn read_items(&mut self, close: char) -> Vec<(Option<String>, OutlineNode)> {
        let mut items = Vec::new();
        while !self.eat_sign(close) && !self.rest.is_empty() {
            items.extend(self.read_node().map(|node| (None, node)));
        }
        items
    }

    fn read_fields(&mut self) -> Vec<(Option<String>, OutlineNode)> {
        let mut fields = Vec::new();
        while !self.eat_sign('}') && !self.rest.is_empty() {
            let name = self.read_word();
            self.eat_sign(':');
            let node = self.read_node();
            fields.extend(node.filter(|_| name != "span").map(|node| (Some(name.replace('_', " ")), node)));
        }
        fields
    }

    fn read_word(&mut self) -> String {
        self.skip_separators();
        let ends = |c: char| matches!(c, ' ' | ',' | ':' | '(' | ')' | '{' | '}' | '[' | ']');
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        // Skips one unknown character, so that the reader always advances.
        let end = if end == 0 { self.rest.chars().next().map_or(0, char::len_utf8) } else { end };
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        word.to_owned()
    }

    fn read_quoted(&mut self) -> String {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let end = end.map_or(self.rest.len(), |(at, _)| at + 1);
        let (text, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        text.to_owned()
    }
}

/// Removes details that readers do not need: spans, wrappers and absent values.
fn tidy_node(word: String, mut parts: Vec<(Option<String>, OutlineNode)>) -> Option<OutlineNode> {
    match word.as_str() {
        "Span" | "None" => None,
        // Wrapper types are replaced by their content.
        "Some" | "Name" | "Statement" | "Expr" | "Text" | "Number" | "Item" if parts.len() == 1 => {
            parts.pop().map(|(_, node)| node)
        }
        _ => {
            let head = spoken_words(&word);
            match parts.as_slice() {
                // An enum variant and the struct inside it often have the same name, so one of them is removed.
                [(None, only)] if only.head == head => parts.pop().map(|(_, node)| node),
                _ => Some(OutlineNode { head, parts }),
            }
        }
    }
}

fn spoken_words(word: &str) -> String {
    if !word.starts_with(|c: char| c.is_ascii_uppercase()) {
        return word.to_owned();
    }
    let mut out = String::new();
    for character in word.chars() {
        if character.is_ascii_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

fn write_flat(node: &OutlineNode, out: &mut String, most: usize) {
    out.push_str(&node.head);
    if node.parts.is_empty() && node.head.is_empty() {
        out.push_str("[]");
    }
    if node.parts.is_empty() || out.len() > most {
        return;
    }
    let (open, close) = if node.head.is_empty() { ("[", "]") } else { ("(", ")") };
    out.push_str(open);
    for (at, (name, part)) in node.parts.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        if let Some(name) = name {
            let _ = write!(out, "{name}: ");
        }
        with_deep_stack(|| write_flat(part, out, most));
    }
    out.push_str(close);
}

fn write_node(node: &OutlineNode, indent: usize, width: usize, out: &mut String) {
    let mut line = String::new();
    write_flat(node, &mut line, width);
    if indent + line.len() <= width || node.parts.is_empty() {
        out.push_str(&line);
        out.push('\n');
        return;
    }
    out.push_str(if node.head.is_empty() { "list" } else { &node.head });
    out.push('\n');
    for (name, part) in &node.parts {
        out.push_str(&" ".repeat((indent + 2).min(width / 2)));
        let mut lead = indent + 2;
        if let Some(name) = name {
            let _ = write!(out, "{name}: ");
            lead += name.len() + 2;
        }
        let deep = if lead > indent + 2 { indent + 2 } else { lead };
        with_deep_stack(|| write_node(part, deep, width, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    #[allow(dead_code, reason = "only what is printed matters")]
    enum Shape {
        Round { span: Span, name: Name, size: Option<f64> },
        ManySides(Vec<Shape>),
    }
    #[derive(Debug)]
    #[allow(dead_code, reason = "only what is printed matters")]
    struct Span {
        start: u32,
    }
    #[derive(Debug)]
    #[allow(dead_code, reason = "only what is printed matters")]
    struct Name {
        text: String,
        span: Span,
    }

    #[test]
    fn an_outline_leaves_places_out_and_breaks_only_what_is_long() {
        let name = |text: &str| Name { text: text.to_owned(), span: Span { start: 1 } };
        let round = |text: &str| Shape::Round { span: Span { start: 3 }, name: name(text), size: Some(1.5) };
        assert_eq!(debug_outline(&round("a \"b\", c"), 80), "round(name: \"a \\\"b\\\", c\", size: 1.5)\n");
        let many = Shape::ManySides(vec![round("first"), round("second"), Shape::ManySides(Vec::new())]);
        let lines = debug_outline(&many, 40);
        assert_eq!(
            lines,
            "many sides\n  list\n    round(name: \"first\", size: 1.5)\n    round(name: \"second\", size: 1.5)\n    many sides([])\n"
        );
    }
}

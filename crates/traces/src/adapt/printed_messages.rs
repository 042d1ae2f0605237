//! Messages of LangChain as Python prints them: exporters that cannot write one as JSON write `str(message)` in its place, as in
//! `content='2 rooms' name='search' tool_call_id='call_1'`, or `ToolMessage(content='2 rooms', …)`.
//!
//! What is printed is read only where all of it is such fields, the content is the first of them, and the message says which call it
//! answers: a result may hold such words as well.

use super::content;
use super::fields::key_table;
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, Value, ValueText};
use averment_runs::run::StepStatus;
use bumpalo::Bump;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PrintedMessage<'run> {
    pub(crate) result: Node<'run>,
    pub(crate) id: Node<'run>,
    pub(crate) tool: Option<&'run str>,
    pub(crate) status: Option<StepStatus>,
}

/// Prefixes of a printed message: bare, or as its constructor.
const BEGINS: [&str; 2] = ["content=", "ToolMessage(content="];

pub(crate) fn may_be(text: &str) -> bool {
    BEGINS.iter().any(|begin| text.starts_with(begin))
}

pub(crate) fn parse_printed<'run>(
    node: Node<'run>,
    arena: &'run Bump,
    limits: &Limits,
) -> Option<PrintedMessage<'run>> {
    let text = super::nodes::node_text(node).filter(|text| may_be(text))?;
    let (fields, between) = match text.strip_prefix("ToolMessage(") {
        Some(inner) => (inner.strip_suffix(')')?, ","),
        None => (text, ""),
    };
    from_message(parse_fields(fields, between, arena, limits)?, node, arena)
}

/// Fields as `str` separates them (by a blank), or as a constructor does (by a comma and a blank).
pub(super) fn parse_fields<'run>(
    fields: &str,
    between: &str,
    arena: &'run Bump,
    limits: &Limits,
) -> Option<Object<'run>> {
    let json = PythonReader { text: fields, at: 0, json: String::new() }.read_fields(between)?;
    let json = Node::computed(Value::Text(ValueText::Plain(arena.alloc_str(&json))));
    super::nodes::node_object(json.parse_embedded(arena, limits)?)
}

/// A dictionary as Python prints it, where all of the text is one.
pub(super) fn parse_dictionary<'run>(node: Node<'run>, arena: &'run Bump, limits: &Limits) -> Option<Node<'run>> {
    let text = super::nodes::node_text(node)?.trim();
    // Keys of JSON stand in other quotes. What is printed as a call has no value that could be read.
    let inner = text.strip_prefix('{')?.trim_start();
    let is_printed = inner.starts_with('\'') && !text.contains('(');
    let mut reader = PythonReader { text, at: 0, json: String::new() };
    reader.read_value(0).filter(|()| is_printed && reader.at == text.len())?;
    let json = Node::computed(Value::Text(ValueText::Plain(arena.alloc_str(&reader.json))));
    Some(Node::new(json.parse_embedded(arena, limits)?.value, node.origin))
}

fn from_message<'run>(message: Object<'run>, printed: Node<'run>, arena: &'run Bump) -> Option<PrintedMessage<'run>> {
    let of = |field: PrintedKey| super::fields::value_of(message, field);
    let words = |field| of(field).and_then(super::nodes::node_text);
    let given = of(PrintedKey::Content)?;
    let result = content::of_blocks(given, arena).unwrap_or(given);
    let id = of(PrintedKey::Call).filter(|id| super::nodes::node_text(*id).is_some())?;
    Some(PrintedMessage {
        result: Node::new(result.value, printed.origin),
        id: Node::new(id.value, printed.origin),
        tool: words(PrintedKey::Name),
        status: words(PrintedKey::Status).and_then(StepStatus::from_word),
    })
}

key_table! {
    PrintedKey {
        Content = "content",
        Name = "name",
        Call = "tool_call_id",
        Status = "status",
    }
}

const DEEP: usize = 16;

/// Converts Python `repr` output to JSON.
struct PythonReader<'t> {
    text: &'t str,
    at: usize,
    json: String,
}

impl<'t> PythonReader<'t> {
    fn rest_text(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_text(&mut self, wanted: &str) -> Option<()> {
        self.rest_text().starts_with(wanted).then(|| self.at += wanted.len())
    }

    fn pass_blank(&mut self) {
        let rest = self.rest_text();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Fields separated by a sign and a blank.
    fn read_fields(mut self, between: &str) -> Option<String> {
        self.json.push('{');
        loop {
            let name = self.rest_text().split('=').next().filter(|name| is_name(name))?;
            self.json.push_str(&format!("\"{name}\":"));
            self.at += name.len();
            self.skip_text("=")?;
            self.read_value(0)?;
            if self.rest_text().is_empty() {
                self.json.push('}');
                return Some(self.json);
            }
            self.skip_text(between)?;
            self.skip_text(" ")?;
            self.json.push(',');
        }
    }

    fn read_value(&mut self, depth: usize) -> Option<()> {
        let rest = self.rest_text();
        match rest.chars().next().filter(|_| depth < DEEP)? {
            quote @ ('\'' | '"') => self.read_string(quote),
            '[' => self.read_items("[", "]", depth, "[]"),
            '(' => self.read_items("(", ")", depth, "[]"),
            '{' => self.read_items("{", "}", depth, "{}"),
            _ => {
                let length = rest.find([' ', ',', ']', '}', ')', ':']).unwrap_or(rest.len());
                let word = rest.get(..length)?;
                if let Some(length) = end_of_call(rest) {
                    self.json.push_str("null");
                    self.at += length;
                    return Some(());
                }
                let is_number = word.parse::<f64>().is_ok_and(f64::is_finite);
                let json = match word {
                    "None" => "null",
                    "True" => "true",
                    "False" => "false",
                    _ if is_number && word.starts_with(|first: char| first.is_ascii_digit() || first == '-') => word,
                    _ => return None,
                };
                self.json.push_str(json);
                self.at += length;
                Some(())
            }
        }
    }

    fn read_items(&mut self, open: &str, close: &str, depth: usize, brackets: &str) -> Option<()> {
        let (is_object, (begin, end)) = (open == "{", brackets.split_at(1));
        self.skip_text(open)?;
        self.json.push_str(begin);
        self.pass_blank();
        let mut is_first = true;
        while self.skip_text(close).is_none() {
            if !std::mem::take(&mut is_first) {
                self.skip_text(",")?;
                self.pass_blank();
                if open == "(" && self.skip_text(close).is_some() {
                    break;
                }
                self.json.push(',');
            }
            if is_object {
                // A key of JSON is text.
                let quote = self.rest_text().chars().next().filter(|first| matches!(first, '\'' | '"'))?;
                self.read_string(quote)?;
                self.skip_text(":")?;
                self.pass_blank();
                self.json.push(':');
            }
            self.read_value(depth + 1)?;
            self.pass_blank();
        }
        self.json.push_str(end);
        Some(())
    }

    fn read_string(&mut self, quote: char) -> Option<()> {
        self.skip_text(quote.encode_utf8(&mut [0; 4]))?;
        self.json.push('"');
        let mut letters = self.rest_text().char_indices();
        let mut places = || letters.next();
        loop {
            let (at, letter) = places()?;
            match letter {
                found if found == quote => {
                    self.json.push('"');
                    self.at += at + 1;
                    return Some(());
                }
                '\\' => {
                    let (_, escape) = places()?;
                    let digits = match escape {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    let mut code = String::new();
                    for _ in 0..digits {
                        code.push(places()?.1);
                    }
                    push_char(&mut self.json, unescape_char(escape, &code)?);
                }
                letter => push_char(&mut self.json, letter),
            }
        }
    }
}

/// End of a constructor such as `Document(id='1')`, which is skipped.
fn end_of_call(text: &str) -> Option<usize> {
    let name = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '.')?;
    let mut letters = text.char_indices().skip(name);
    let (mut open, mut quote) = (0_usize, None);
    if name == 0 || letters.clone().next()?.1 != '(' {
        return None;
    }
    loop {
        let (at, letter) = letters.next()?;
        match (quote, letter) {
            (Some(_), '\\') => drop(letters.next()?),
            (Some(known), found) => quote = Some(known).filter(|known| *known != found),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => open += 1,
            (None, ')') if open == 1 => return Some(at + 1),
            (None, ')') => open -= 1,
            _ => {}
        }
    }
}

fn unescape_char(escape: char, code: &str) -> Option<char> {
    match escape {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '\\' | '\'' | '"' => Some(escape),
        'x' | 'u' | 'U' => char::from_u32(u32::from_str_radix(code, 16).ok()?),
        _ => None,
    }
}

fn push_char(json: &mut String, letter: char) {
    match letter {
        '"' | '\\' => json.extend(['\\', letter]),
        control if control < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(control))),
        letter => json.push(letter),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

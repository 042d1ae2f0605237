//! Messages of LangChain as Python prints them: exporters that cannot write one as JSON write `str(message)` in its place, as in
//! `content='2 rooms' name='search' tool_call_id='call_1'`, or `ToolMessage(content='2 rooms', …)`.
//!
//! What is printed is read only where all of it is such fields, the content is the first of them, and the message says which call it
//! answers: a result may hold such words as well.

use super::content;
use super::fields::key_table;
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, Text, Value};
use averment_runs::run::Status;
use bumpalo::Bump;

/// What a printed message of a tool says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printed<'run> {
    pub(crate) result: Node<'run>,
    pub(crate) id: Node<'run>,
    pub(crate) tool: Option<&'run str>,
    /// How the call ended, where that is printed.
    pub(crate) status: Option<Status>,
}

/// How a printed message begins: bare, or as it is made.
const BEGINS: [&str; 2] = ["content=", "ToolMessage(content="];

/// Whether a text may be one.
pub(crate) fn may_be(text: &str) -> bool {
    BEGINS.iter().any(|begin| text.starts_with(begin))
}

/// The message of a tool that a value prints.
pub(crate) fn of<'run>(node: Node<'run>, arena: &'run Bump, limits: &Limits) -> Option<Printed<'run>> {
    let Value::Text(text) = node.value else { return None };
    let text = Some(text.as_str()).filter(|text| may_be(text))?;
    let (fields, between) = match text.strip_prefix("ToolMessage(") {
        Some(inner) => (inner.strip_suffix(')')?, ","),
        None => (text, ""),
    };
    let json = Reader { text: fields, at: 0, json: String::new() }.fields(between)?;
    let json = Node::computed(Value::Text(Text::Plain(arena.alloc_str(&json))));
    let Value::Object(message) = json.embedded(arena, limits)?.value else { return None };
    told(message, node, arena)
}

fn told<'run>(message: Object<'run>, printed: Node<'run>, arena: &'run Bump) -> Option<Printed<'run>> {
    let of = |field: OfPrinted| super::fields::value_of(message, field);
    let words = |field| of(field).and_then(super::nodes::text);
    let given = of(OfPrinted::Content)?;
    let result = content::of_blocks(given, arena).unwrap_or(given);
    let id = of(OfPrinted::Call).filter(|id| super::nodes::text(*id).is_some())?;
    Some(Printed {
        result: Node::new(result.value, printed.origin),
        id: Node::new(id.value, printed.origin),
        tool: words(OfPrinted::Name),
        status: words(OfPrinted::Status).and_then(crate::build::word_status),
    })
}

key_table! {
    /// The fields that count.
    OfPrinted {
        Content = "content",
        Name = "name",
        Call = "tool_call_id",
        Status = "status",
    }
}

/// So deep may values stand in each other.
const DEEP: usize = 16;

/// Rewrites what Python prints as JSON.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    json: String,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Passes over a text that has to stand there.
    fn pass(&mut self, wanted: &str) -> Option<()> {
        self.rest().starts_with(wanted).then(|| self.at += wanted.len())
    }

    fn pass_blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// All of the text: fields with a sign and a blank between them.
    fn fields(mut self, between: &str) -> Option<String> {
        self.json.push('{');
        loop {
            let name = self.rest().split('=').next().filter(|name| is_name(name))?;
            self.json.push_str(&format!("\"{name}\":"));
            self.at += name.len();
            self.pass("=")?;
            self.value(0)?;
            if self.rest().is_empty() {
                self.json.push('}');
                return Some(self.json);
            }
            self.pass(between)?;
            self.pass(" ")?;
            self.json.push(',');
        }
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        let rest = self.rest();
        match rest.chars().next().filter(|_| depth < DEEP)? {
            quote @ ('\'' | '"') => self.words(quote),
            '[' => self.items("[", "]", depth, "[]"),
            '(' => self.items("(", ")", depth, "[]"),
            '{' => self.items("{", "}", depth, "{}"),
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

    /// The elements of a list, or the entries of an object.
    fn items(&mut self, open: &str, close: &str, depth: usize, brackets: &str) -> Option<()> {
        let (is_object, (begin, end)) = (open == "{", brackets.split_at(1));
        self.pass(open)?;
        self.json.push_str(begin);
        self.pass_blank();
        let mut is_first = true;
        while self.pass(close).is_none() {
            if !std::mem::take(&mut is_first) {
                self.pass(",")?;
                self.pass_blank();
                if open == "(" && self.pass(close).is_some() {
                    break;
                }
                self.json.push(',');
            }
            if is_object {
                // A key of JSON is text.
                let quote = self.rest().chars().next().filter(|first| matches!(first, '\'' | '"'))?;
                self.words(quote)?;
                self.pass(":")?;
                self.pass_blank();
                self.json.push(':');
            }
            self.value(depth + 1)?;
            self.pass_blank();
        }
        self.json.push_str(end);
        Some(())
    }

    /// A text between quotes.
    fn words(&mut self, quote: char) -> Option<()> {
        self.pass(quote.encode_utf8(&mut [0; 4]))?;
        self.json.push('"');
        let mut letters = self.rest().char_indices();
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
                    push(&mut self.json, escaped(escape, &code)?);
                }
                letter => push(&mut self.json, letter),
            }
        }
    }
}

/// Where an object ends that is printed as it is made, such as `Document(id='1')`: nothing of it is read.
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

/// The letter that an escape of Python stands for.
fn escaped(escape: char, code: &str) -> Option<char> {
    match escape {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '\\' | '\'' | '"' => Some(escape),
        'x' | 'u' | 'U' => char::from_u32(u32::from_str_radix(code, 16).ok()?),
        _ => None,
    }
}

/// Writes a letter into a text of JSON.
fn push(json: &mut String, letter: char) {
    match letter {
        '"' | '\\' => json.extend(['\\', letter]),
        control if control < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(control))),
        letter => json.push(letter),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

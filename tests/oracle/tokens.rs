//! Tokens of the part of the language that `print.rs` writes.

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name, a keyword, a tool with globs.
    Word(String),
    /// `$x`.
    Variable(String),
    /// A number with what touches it: `3`, `2.5`, `250ms`.
    Number(String),
    Text(String),
    Regex(String),
    Sign(&'static str),
    Newline,
}

const SIGNS: [&str; 24] = [
    "->", "..", "==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "|", ".", ";", "*", "+", "?",
    "-", "=",
];

pub fn tokens(text: &str) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\n' | ';' => {
                out.push(Token::Newline);
                1
            }
            ' ' => 1,
            '"' => string(rest, &mut out),
            '/' => regex(rest, &mut out),
            '$' => {
                let name = word_length(&rest[1..], |c| c.is_alphanumeric() || c == '_');
                out.push(Token::Variable(rest[1..1 + name].to_owned()));
                1 + name
            }
            '0'..='9' => number(rest, &mut out),
            '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => 1 + number_negative(rest, &mut out),
            _ if starts_word(c, &out) => {
                let length = word_length(rest, |c| c.is_alphanumeric() || "_*?".contains(c));
                out.push(Token::Word(rest[..length].to_owned()));
                length
            }
            _ => {
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
                let sign = sign.unwrap_or_else(|| panic!("no token at `{rest}`"));
                out.push(Token::Sign(sign));
                sign.len()
            }
        };
        rest = &rest[length..];
    }
    out
}

/// A glob may start a tool's name, but not behind a closing parenthesis: there it repeats.
fn starts_word(c: char, out: &[Token]) -> bool {
    c.is_alphabetic() || c == '_' || ("*?".contains(c) && out.last() != Some(&Token::Sign(")")))
}

fn word_length(text: &str, part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !part(c)).unwrap_or(text.len())
}

fn string(rest: &str, out: &mut Vec<Token>) -> usize {
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let text = stream.next().expect("a string").expect("a string");
    out.push(Token::Text(text));
    stream.byte_offset()
}

fn regex(rest: &str, out: &mut Vec<Token>) -> usize {
    let end = 1 + rest[1..].find('/').expect("a regex ends");
    out.push(Token::Regex(rest[1..end].to_owned()));
    end + 1
}

/// A number, a `.` only when a digit follows it (`1..3` is a range).
fn number(rest: &str, out: &mut Vec<Token>) -> usize {
    let bytes = rest.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let fraction = bytes[end] == b'.' && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if !bytes[end].is_ascii_alphanumeric() && !fraction {
            break;
        }
        end += 1;
    }
    out.push(Token::Number(rest[..end].to_owned()));
    end
}

fn number_negative(rest: &str, out: &mut Vec<Token>) -> usize {
    let length = number(&rest[1..], out);
    if let Some(Token::Number(text)) = out.last_mut() {
        text.insert(0, '-');
    }
    length
}

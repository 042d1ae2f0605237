//! Splits a text into tokens, one at a time. The caller knows whether `/` begins a regular expression.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TsToken<'t> {
    pub(super) kind: TsTokenKind<'t>,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) on_new_line: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TsTokenKind<'t> {
    Name(&'t str),
    Number(&'t str),
    /// A text literal, as written between its quotes.
    Text(&'t str),
    Template,
    Sign(&'static str),
    End,
    Bad,
}

/// Longer signs come first, so that the longest one matches.
const SIGNS: [&str; 58] = [
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=", ">=", "&&",
    "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**", "{", "}", "(", ")",
    "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "?", ":", "=", ".", "@",
];

/// Line ends in ECMAScript.
const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LexerMark {
    at: usize,
    last_end: usize,
}

pub(super) struct TsLexer<'t> {
    text: &'t str,
    at: usize,
    last_end: usize,
}

impl<'t> TsLexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // Skips a shebang line.
        let at = if text.starts_with("#!") { text.find(LINE_ENDS).unwrap_or(text.len()) } else { 0 };
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { at };
        Self { text, at, last_end: at }
    }

    pub(super) fn take_mark(&self) -> LexerMark {
        LexerMark { at: self.at, last_end: self.last_end }
    }

    pub(super) fn reset_to(&mut self, mark: LexerMark) {
        (self.at, self.last_end) = (mark.at, mark.last_end);
    }

    pub(super) fn last_end(&self) -> usize {
        self.last_end
    }

    pub(super) fn slice_text(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn rest_from(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    pub(super) fn peek_token(&self) -> TsToken<'t> {
        let (start, on_new_line) = self.behind_blanks();
        let rest = self.rest_from(start);
        let token = |kind, length: usize| TsToken { kind, start, end: start + length, on_new_line };
        let Some(first) = rest.chars().next() else { return token(TsTokenKind::End, 0) };
        if is_name_start(first) || first == '#' || first == '\\' {
            let length = rest.find(|c: char| !is_name(c) && c != '#' && c != '\\').unwrap_or(rest.len());
            return token(TsTokenKind::Name(self.slice_text(start, start + length)), length);
        }
        if first.is_ascii_digit()
            || first == '.' && rest.get(1..).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
        {
            let length = number_length(rest);
            return token(TsTokenKind::Number(self.slice_text(start, start + length)), length);
        }
        match first {
            '"' | '\'' => match quoted_length(rest, first) {
                Some(length) => token(TsTokenKind::Text(self.slice_text(start + 1, start + length - 1)), length),
                None => token(TsTokenKind::Bad, rest.find(['\n', '\r']).unwrap_or(rest.len())),
            },
            '`' => token(TsTokenKind::Template, 1),
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                // In `a?.5:b`, `?.` is not an optional chain.
                Some(&"?.") if rest.get(2..).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit())) => {
                    token(TsTokenKind::Sign("?"), 1)
                }
                Some(sign) => token(TsTokenKind::Sign(sign), sign.len()),
                None => token(TsTokenKind::Bad, first.len_utf8()),
            },
        }
    }

    pub(super) fn take_token(&mut self, token: &TsToken<'_>) {
        (self.at, self.last_end) = (token.end, token.end);
    }

    pub(super) fn take_rest(&mut self) {
        (self.at, self.last_end) = (self.text.len(), self.text.len());
    }

    /// Takes only part of a token, because in types `>>` closes two brackets.
    pub(super) fn take_part(&mut self, token: &TsToken<'_>, length: usize) {
        (self.at, self.last_end) = (token.start + length, token.start + length);
    }

    /// Takes a regular expression; returns its pattern and flags.
    pub(super) fn take_regex(&mut self, token: &TsToken<'_>) -> Option<(&'t str, &'t str)> {
        let (mut escaped, mut in_class) = (false, false);
        let rest = self.rest_from(token.start + 1);
        for (at, letter) in rest.char_indices() {
            match letter {
                _ if LINE_ENDS.contains(&letter) => return None,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    let behind = rest.get(at + 1..).unwrap_or_default();
                    let flags = behind.find(|c: char| !is_name(c)).unwrap_or(behind.len());
                    let start = token.start + 1;
                    self.at = start + at + 1 + flags;
                    self.last_end = self.at;
                    return Some((self.slice_text(start, start + at), self.slice_text(start + at + 1, self.at)));
                }
                _ => {}
            }
        }
        None
    }

    /// Takes raw template text up to the end or the next value (true), including the sign after it.
    pub(super) fn template_text(&mut self) -> Option<(&'t str, bool)> {
        let (start, mut escaped) = (self.at, false);
        for (at, letter) in self.rest_from(start).char_indices() {
            let goes_on = match letter {
                _ if escaped => {
                    escaped = false;
                    continue;
                }
                '\\' => {
                    escaped = true;
                    continue;
                }
                '`' => false,
                '$' if self.rest_from(start + at + 1).starts_with('{') => true,
                _ => continue,
            };
            self.at = start + at + if goes_on { 2 } else { 1 };
            self.last_end = self.at;
            return Some((self.slice_text(start, start + at), goes_on));
        }
        None
    }

    /// Returns the position after white space and comments, and true if they contained a line end.
    fn behind_blanks(&self) -> (usize, bool) {
        let (mut at, mut new_line) = (self.at, self.at == 0);
        loop {
            let rest = self.rest_from(at);
            let blank = rest.find(|c: char| !c.is_whitespace() && c != '\u{feff}').unwrap_or(rest.len());
            new_line |= rest.get(..blank).is_some_and(|blank| blank.contains(LINE_ENDS));
            at += blank;
            let rest = self.rest_from(at);
            if rest.starts_with("//") {
                at += rest.find(LINE_ENDS).unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
                new_line |= rest.get(..length).is_some_and(|comment| comment.contains(LINE_ENDS));
                at += length;
            } else {
                return (at, new_line);
            }
        }
    }
}

fn is_name_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_' || letter == '$'
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$' || letter == '\u{200c}' || letter == '\u{200d}'
}

/// Returns the length of a number: digits of any base, `_`, fraction, exponent.
fn number_length(text: &str) -> usize {
    let (mut length, mut before) = (0, ' ');
    let decimal = !text.starts_with("0x") && !text.starts_with("0X");
    for letter in text.chars() {
        let sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E') && decimal;
        if !letter.is_ascii_alphanumeric() && letter != '_' && letter != '.' && !sign {
            break;
        }
        length += letter.len_utf8();
        before = letter;
    }
    length
}

/// Returns the length of a text literal; `None` if it is not closed on its line.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            // `\` followed by CR LF is a single line continuation.
            _ if escaped => escaped = letter == '\r' && text.get(at + 1..).is_some_and(|next| next.starts_with('\n')),
            '\\' => escaped = true,
            '\n' | '\r' => return None,
            _ if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

pub(super) fn unescape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut high: Option<u32> = None;
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('0') => out.push('\0'),
            // A line continuation.
            Some('\r') => drop(letters.next_if_eq(&'\n')),
            Some('\n' | '\u{2028}' | '\u{2029}') => {}
            Some(kind @ ('x' | 'u')) => {
                let Some(code) = escaped_code(&mut letters, kind == 'x') else {
                    out.push(kind);
                    continue;
                };
                // A character above U+FFFF may be written as two surrogates.
                match (high.take(), code) {
                    (_, 0xD800..=0xDBFF) => high = Some(code),
                    (Some(high), 0xDC00..=0xDFFF) => {
                        out.extend(char::from_u32(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)));
                    }
                    _ => out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// Reads the code point after `\x` or `\u`.
fn escaped_code(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, short: bool) -> Option<u32> {
    let braced = !short && letters.next_if_eq(&'{').is_some();
    let most = if short {
        2
    } else if braced {
        6
    } else {
        4
    };
    let mut number = None;
    for _ in 0..most {
        let Some(digit) = letters.next_if(char::is_ascii_hexdigit).and_then(|digit| digit.to_digit(16)) else { break };
        number = Some(number.unwrap_or(0) * 16 + digit);
    }
    if braced {
        letters.next_if_eq(&'}')?;
    }
    number
}

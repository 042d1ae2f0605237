//! A total reader of words and signs: it reads any text, in one pass, and never fails.
//!
//! The grammar decides what is right. This reader serves what has to work where the grammar gives up: comments, the limit on nesting, and
//! the pieces of a file with mistakes. A string is one token, whatever is interpolated in it.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, digits and `_`.
    Word,
    /// A number with its unit; an amount of money.
    Number,
    /// `$x`.
    Binding,
    /// A closed string.
    Text,
    /// A string that its line does not close.
    OpenText,
    /// A string with a `${` that is not closed.
    OpenInterpolation,
    /// A closed regular expression with its flags.
    Regex,
    /// A regular expression that its line does not close.
    OpenRegex,
    /// One of the signs of the language, or one that people take for one.
    Sign,
    /// The end of a line.
    LineEnd,
    /// A character that means nothing outside of strings.
    Odd,
}

/// A token with its byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    /// Its text.
    pub(super) fn text(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or("")
    }
}

/// A comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Remark {
    pub start: usize,
    pub end: usize,
}

/// All that was read.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub tokens: Vec<Token>,
    pub remarks: Vec<Remark>,
    /// How deep brackets, prefix operators and quantifiers nest.
    pub depth: usize,
    /// Where nesting first passes the limit, once for each excursion beyond it.
    pub too_deep: Vec<usize>,
}

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Round,
    Square,
    Curly,
    /// `${` of a string that starts at an offset and is quoted by this many characters.
    Value {
        start: usize,
        quote: Quote,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    Line,
    Block,
}

/// A bracket with what nests inside it without brackets: quantifiers, conditions.
#[derive(Debug, Clone, Copy)]
struct Frame {
    open: Open,
    extra: usize,
}

/// Signs of more than one character, longest first.
const LONG_SIGNS: &[&str] =
    &["===", "!==", "...", "->", "=>", "==", "!=", "<=", ">=", "..", "**", "&&", "||", "<-", "??", "++", "//", "/*"];

/// Words behind which `/` begins a regular expression.
const BEFORE_REGEX: &[&str] = &[
    "matches",
    "match",
    "in",
    "contains",
    "icontains",
    "and",
    "or",
    "not",
    "implies",
    "if",
    "then",
    "else",
    "when",
    "where",
    "with",
    "is",
    "all",
    "any",
    "none",
    "command",
    "http",
    "user",
    "assistant",
    "thinking",
    "message",
    "read",
    "write",
    "skill",
    "span",
];

/// Reads all of `text`; nesting is counted against `limit`.
pub(super) fn scan(text: &str, limit: usize) -> Scan {
    let mut scanner = Scanner {
        text,
        at: 0,
        limit,
        frames: Vec::new(),
        outer: 0,
        extras: 0,
        run: 0,
        values: 0,
        curlies: 0,
        fresh: true,
        over: false,
        scan: Scan::default(),
        last: None,
    };
    if text.starts_with('\u{feff}') {
        scanner.at = '\u{feff}'.len_utf8();
    }
    while scanner.step() {}
    scanner.scan
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    limit: usize,
    frames: Vec<Frame>,
    /// How many of the frames are interpolations.
    values: usize,
    /// How many of them a `}` closes.
    curlies: usize,
    /// Extra levels outside of all brackets.
    outer: usize,
    /// All extra levels together.
    extras: usize,
    /// Length of the run of `not` or `-` that is being read.
    run: usize,
    /// A line has ended, and nothing yet says that the statement goes on.
    fresh: bool,
    over: bool,
    scan: Scan,
    /// The last token that is no line end, also inside an interpolation.
    last: Option<Token>,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn word_of(&self, token: Option<Token>) -> &'t str {
        token.and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return self.finish() };
        match first {
            ' ' | '\t' | '\r' => self.at += 1,
            '\n' => self.line_end(),
            '#' => self.remark(rest),
            '"' if rest.starts_with("\"\"\"") => self.open_text(Quote::Block),
            '"' => self.open_text(Quote::Line),
            '\'' => self.raw_text(rest),
            '0'..='9' => self.number(rest, 0),
            '$' if rest.get(1..).is_some_and(|behind| behind.starts_with(|c: char| c.is_ascii_digit())) => {
                self.number(rest, 1)
            }
            '$' if rest.get(1..).is_some_and(|behind| behind.starts_with(is_word_start)) => {
                let length = 1 + word_length(rest.get(1..).unwrap_or(""));
                self.push(Kind::Binding, self.at, self.at + length);
            }
            c if is_word_start(c) => self.word(rest),
            '/' if self.regex_can_begin() && self.regex(rest) => {}
            c if c.is_ascii_punctuation() => self.sign(rest),
            c => self.push(Kind::Odd, self.at, self.at + c.len_utf8()),
        }
        true
    }

    /// At the end, strings whose interpolation is open become tokens.
    fn finish(&mut self) -> bool {
        if let Some((index, start)) = self.outermost_value(|_| true) {
            self.close_to(index);
            self.push(Kind::OpenInterpolation, start, self.text.trim_end().len().max(start + 1));
        }
        false
    }

    fn outermost_value(&self, accept: impl Fn(Quote) -> bool) -> Option<(usize, usize)> {
        if self.values == 0 {
            return None;
        }
        self.frames.iter().enumerate().find_map(|(index, frame)| match frame.open {
            Open::Value { start, quote } if accept(quote) => Some((index, start)),
            _ => None,
        })
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.at = end;
        let token = Token { kind, start, end };
        if self.values == 0 {
            self.scan.tokens.push(token);
        }
        if kind != Kind::LineEnd {
            self.count_levels(token);
            self.last = Some(token);
        }
    }

    fn line_end(&mut self) {
        if let Some((index, start)) = self.outermost_value(|quote| quote == Quote::Line) {
            let end = self.text.get(start..self.at).map_or(self.at, |line| start + line.trim_end().len());
            self.close_to(index);
            let at = self.at;
            self.push(Kind::OpenInterpolation, start, end);
            self.at = at;
        }
        self.push(Kind::LineEnd, self.at, self.at + 1);
        self.fresh = true;
    }

    fn remark(&mut self, rest: &str) {
        let length = rest.find('\n').unwrap_or(rest.len());
        let end = self.at + rest.get(..length).map_or(0, |line| line.trim_end().len());
        self.scan.remarks.push(Remark { start: self.at, end });
        self.at += length;
    }

    fn word(&mut self, rest: &str) {
        self.push(Kind::Word, self.at, self.at + word_length(rest));
    }

    /// A number with everything that touches it: fraction, exponent, unit, percent.
    fn number(&mut self, rest: &str, skip: usize) {
        let bytes = rest.as_bytes();
        let mut length = skip;
        while let Some(&byte) = bytes.get(length) {
            let next = bytes.get(length + 1).copied().unwrap_or(b' ');
            let fraction = byte == b'.' && next.is_ascii_digit();
            let exponent = matches!(byte, b'+' | b'-') && next.is_ascii_digit() && {
                let before = length.checked_sub(1).and_then(|at| bytes.get(at));
                let digits = rest.get(skip..length.saturating_sub(1)).unwrap_or("");
                matches!(before, Some(b'e' | b'E'))
                    && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'_')
            };
            if !(byte.is_ascii_alphanumeric() || byte == b'_' || fraction || exponent) {
                break;
            }
            length += 1;
        }
        if bytes.get(length) == Some(&b'%') {
            let next = bytes.get(length + 1).copied().unwrap_or(b' ');
            length += usize::from(!(next.is_ascii_alphanumeric() || matches!(next, b'_' | b'(' | b'$')));
        }
        self.push(Kind::Number, self.at, self.at + length);
    }

    fn raw_text(&mut self, rest: &str) {
        let line = rest.get(1..).unwrap_or("").find(['\'', '\n']).map(|at| at + 1);
        match line {
            Some(at) if rest.as_bytes().get(at) == Some(&b'\'') => self.push(Kind::Text, self.at, self.at + at + 1),
            _ => self.open_line(rest, Kind::OpenText),
        }
    }

    /// A token from here to the end of the line, without space and a comment's worth of nothing behind it.
    fn open_line(&mut self, rest: &str, kind: Kind) {
        let line = rest.lines().next().unwrap_or(rest);
        self.push(kind, self.at, self.at + line.trim_end().len().max(1));
    }

    fn open_text(&mut self, quote: Quote) {
        let start = self.at;
        self.at += if quote == Quote::Block { 3 } else { 1 };
        self.text_from(start, quote);
    }

    /// Reads the text of a string up to its end or to `${`.
    fn text_from(&mut self, start: usize, quote: Quote) {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            match bytes.get(at) {
                Some(b'\\') if bytes.get(at + 1) != Some(&b'\n') => at += 1 + self.character_length(at + 1),
                Some(b'"') if quote == Quote::Line => return self.push(Kind::Text, start, at + 1),
                Some(b'"') if self.text.get(at..).is_some_and(|rest| rest.starts_with("\"\"\"")) => {
                    return self.push(Kind::Text, start, at + 3);
                }
                Some(b'$') if bytes.get(at + 1) == Some(&b'{') => {
                    self.at = at + 2;
                    self.last = None;
                    return self.open_bracket(Open::Value { start, quote });
                }
                Some(b'\n') if quote == Quote::Line => return self.unclosed_text(start, at),
                None => return self.unclosed_text(start, at),
                Some(_) => at += 1,
            }
        }
    }

    fn character_length(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    }

    fn unclosed_text(&mut self, start: usize, at: usize) {
        let end = self.text.get(start..at).map_or(at, |line| start + line.trim_end().len().max(1));
        match self.outermost_value(|quote| quote == Quote::Line) {
            Some((index, outer)) => {
                self.close_to(index);
                self.push(Kind::OpenInterpolation, outer, end);
            }
            None => self.push(Kind::OpenText, start, end),
        }
    }

    /// True where a value is expected, so that `/` is no division.
    fn regex_can_begin(&self) -> bool {
        let Some(last) = self.last else { return true };
        match last.kind {
            Kind::Word => BEFORE_REGEX.contains(&self.word_of(Some(last))),
            Kind::Sign => !matches!(self.word_of(Some(last)), ")" | "]" | "}" | "*" | "?" | "."),
            _ => false,
        }
    }

    /// A regular expression, closed or not; the comment signs of other languages are none.
    fn regex(&mut self, rest: &str) -> bool {
        if rest.starts_with("/*") || rest.starts_with("//") {
            return false;
        }
        match regex_length(rest) {
            Some(length) => self.push(Kind::Regex, self.at, self.at + length),
            None => self.open_line(rest, Kind::OpenRegex),
        }
        true
    }

    fn sign(&mut self, rest: &str) {
        let length = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(1, |sign| sign.len());
        let (start, end) = (self.at, self.at + length);
        match rest.as_bytes().first() {
            Some(b'(') => self.bracket(Open::Round, start, end),
            Some(b'[') => self.bracket(Open::Square, start, end),
            Some(b'{') => self.bracket(Open::Curly, start, end),
            Some(b')') => self.close(Open::Round, start, end),
            Some(b']') => self.close(Open::Square, start, end),
            Some(b'}') => self.close(Open::Curly, start, end),
            _ => self.push(Kind::Sign, start, end),
        }
    }

    fn bracket(&mut self, open: Open, start: usize, end: usize) {
        self.push(Kind::Sign, start, end);
        self.open_bracket(open);
    }

    fn open_bracket(&mut self, open: Open) {
        self.frames.push(Frame { open, extra: 0 });
        self.values += usize::from(matches!(open, Open::Value { .. }));
        self.curlies += usize::from(matches!(open, Open::Value { .. } | Open::Curly));
        self.measure(self.at.saturating_sub(1));
    }

    fn close(&mut self, open: Open, start: usize, end: usize) {
        let inside = |frame: &Frame| matches!(frame.open, Open::Curly | Open::Value { .. });
        let index = match open {
            Open::Curly if self.curlies == 0 => None,
            Open::Curly => self.frames.iter().rposition(inside),
            _ => self
                .frames
                .len()
                .checked_sub(1)
                .filter(|&top| self.frames.get(top).is_some_and(|frame| frame.open == open)),
        };
        let value = index.and_then(|index| self.frames.get(index)).map(|frame| frame.open);
        if let Some(index) = index {
            self.close_to(index);
        }
        if let Some(Open::Value { start, quote }) = value {
            self.at = end;
            return self.text_from(start, quote);
        }
        self.push(Kind::Sign, start, end);
    }

    fn close_to(&mut self, index: usize) {
        for frame in self.frames.drain(index.min(self.frames.len())..) {
            self.extras = self.extras.saturating_sub(frame.extra);
            self.values -= usize::from(matches!(frame.open, Open::Value { .. }));
            self.curlies -= usize::from(matches!(frame.open, Open::Value { .. } | Open::Curly));
        }
    }

    /// Counts what nests without brackets: runs of `not` and `-`, quantifiers, conditions.
    fn count_levels(&mut self, token: Token) {
        let text = self.text.get(token.start..token.end).unwrap_or("");
        let goes_on = matches!(text, "and" | "or" | "then" | "else" | "->");
        if text == "," || text == ";" || (self.fresh && !goes_on && !self.line_goes_on()) {
            self.reset_extra();
        }
        self.fresh = false;
        self.run = if matches!(text, "not" | "-") { self.run + 1 } else { 0 };
        let before = self.word_of(self.last);
        let opens = match text {
            "in" => token.kind == Kind::Word && self.quantifier_before(),
            "if" => !matches!(before, "->" | "." | "|"),
            _ => false,
        };
        if opens {
            self.extras += 1;
            match self.frames.last_mut() {
                Some(frame) => frame.extra += 1,
                None => self.outer += 1,
            }
        }
        if opens || self.run > 0 {
            self.measure(token.start);
        }
    }

    /// The token before the line end says that the statement goes on.
    fn line_goes_on(&self) -> bool {
        let inside =
            matches!(self.frames.last(), Some(Frame { open: Open::Round | Open::Square | Open::Value { .. }, .. }));
        inside
            || matches!(
                self.word_of(self.last),
                ":" | "->" | "=" | "and" | "or" | "not" | "then" | "else" | "in" | "implies" | "|" | "+" | "-"
            )
    }

    fn reset_extra(&mut self) {
        let extra = match self.frames.last_mut() {
            Some(frame) => std::mem::take(&mut frame.extra),
            None => std::mem::take(&mut self.outer),
        };
        self.extras = self.extras.saturating_sub(extra);
    }

    /// `in` behind `any x`, `all x`, `no x`, `count x`: the two tokens before it stand in the list, or in an interpolation.
    fn quantifier_before(&self) -> bool {
        let before = self.text.get(..self.last.map_or(0, |last| last.start)).unwrap_or("").trim_end();
        ["any", "all", "no", "count"].iter().any(|word| before.ends_with(word))
    }

    fn measure(&mut self, at: usize) {
        let depth = self.frames.len() + self.extras + self.run;
        self.scan.depth = self.scan.depth.max(depth);
        let over = depth > self.limit;
        if over && !self.over {
            self.scan.too_deep.push(at);
        }
        self.over = over;
    }
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// The length of a regular expression with its flags; `None` when its line closes it, or a class in it, not.
fn regex_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\n' => return None,
            b'\\' => at += 1 + usize::from(bytes.get(at + 1) != Some(&b'\n')),
            b'[' => at += class_length(text.get(at..)?)?,
            b'/' => return Some(at + 1 + word_length(text.get(at + 1..)?)),
            _ => at += 1,
        }
    }
}

/// The length of a character class; `None` when it is not closed on its line.
fn class_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1 + usize::from(bytes.get(1) == Some(&b'^'));
    at += usize::from(bytes.get(at) == Some(&b']'));
    loop {
        match bytes.get(at)? {
            b'\n' => return None,
            b'\\' => at += 2,
            b']' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

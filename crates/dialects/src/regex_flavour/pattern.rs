//! What all flavours are read into, and how it is written.

use super::Unusable;
use averment_base::diagnostic::render::steers;

/// More groups inside each other are refused.
pub(super) const DEEPEST: usize = 200;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// Nothing.
    Empty,
    /// One element in the language's syntax, and how many characters it takes.
    Written(String, u32),
    /// What the group of this number has matched.
    Reference(u32),
    /// A place between characters that these lead to or follow.
    Place(Place),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    /// What opens it, and what stands in it.
    Group(Group, String, Box<Node>),
    Repeat {
        inside: Box<Node>,
        sign: String,
        least: u32,
        most: Option<u32>,
        keeps: bool,
    },
}

/// What a group is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Plain,
    Ahead,
    Behind,
    /// One that gives nothing back, or has a condition.
    Other,
}

/// A place for which linear matching has no word of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the end of the text, or a line end that ends it.
    LastLine,
    /// Where a line begins behind any of four line ends.
    LineStart,
    /// Where a line ends before any of them.
    LineEnd,
}

/// The line ends of JavaScript.
const LINE_ENDS: &str = r"[\n\r\u{2028}\u{2029}]";

/// An expression in the language's syntax.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) text: String,
    pub(super) backtracks: bool,
}

impl Writer {
    /// Appends a part. At the `head` of an expression a place may take what stands before it, at its `tail` what stands behind: a search only
    /// asks whether there is a match.
    pub(super) fn node(&mut self, node: &Node, head: bool, tail: bool) {
        match node {
            Node::Empty => {}
            Node::Written(text, _) => self.push(text),
            Node::Reference(group) => {
                self.backtracks = true;
                self.push(&format!("\\{group}"));
            }
            Node::Place(place) => self.place(*place, head, tail),
            Node::Sequence(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    let last = number.saturating_add(1) == parts.len();
                    self.node(part, head && number == 0, tail && last);
                }
            }
            Node::Choice(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    if number > 0 {
                        self.text.push('|');
                    }
                    self.node(part, head, tail);
                }
            }
            Node::Group(group, opening, inside) => {
                self.text.push_str(opening);
                let (head, tail) = match group {
                    Group::Plain => (head, tail),
                    Group::Ahead => (false, true),
                    Group::Behind => (true, false),
                    Group::Other => (false, false),
                };
                self.backtracks |= *group != Group::Plain;
                self.node(inside, head, tail);
                self.text.push(')');
            }
            Node::Repeat { inside, sign, keeps, .. } => {
                self.backtracks |= keeps;
                self.node(inside, false, false);
                self.text.push_str(sign);
            }
        }
    }

    /// A digit behind a reference would be part of its number.
    fn push(&mut self, text: &str) {
        let digits = self.text.trim_end_matches(|last: char| last.is_ascii_digit());
        let behind_reference = digits.len() < self.text.len() && digits.ends_with('\\');
        if behind_reference && text.starts_with(|first: char| first.is_ascii_digit()) {
            self.text.push_str("(?:)");
        }
        self.text.push_str(text);
    }

    fn place(&mut self, place: Place, head: bool, tail: bool) {
        let taken = match place {
            Place::LineStart => head,
            Place::LastLine | Place::LineEnd => tail,
        };
        self.backtracks |= !taken;
        let written = match (place, taken) {
            (Place::LastLine, true) => r"(?:\n?\z)".to_owned(),
            (Place::LastLine, false) => r"(?=\n?\z)".to_owned(),
            (Place::LineStart, true) => format!("(?:^|{LINE_ENDS})"),
            (Place::LineStart, false) => format!("(?:^|(?<={LINE_ENDS}))"),
            (Place::LineEnd, true) => format!(r"(?:\z|{LINE_ENDS})"),
            (Place::LineEnd, false) => format!(r"(?=\z|{LINE_ENDS})"),
        };
        self.text.push_str(&written);
    }
}

impl Node {
    /// The least and the most characters that it takes; `None` for no most. What a group has matched is as long as the group.
    pub(super) fn width(&self, of_group: &dyn Fn(u32) -> (u64, Option<u64>)) -> (u64, Option<u64>) {
        match self {
            Self::Empty | Self::Place(_) | Self::Group(Group::Ahead | Group::Behind, ..) => (0, Some(0)),
            Self::Written(_, width) => (u64::from(*width), Some(u64::from(*width))),
            Self::Reference(group) => of_group(*group),
            Self::Sequence(parts) => parts.iter().map(|part| part.width(of_group)).fold((0, Some(0)), |sum, one| {
                (u64::saturating_add(sum.0, one.0), sum.1.zip(one.1).map(|(sum, one)| u64::saturating_add(sum, one)))
            }),
            Self::Choice(parts) => {
                let all = parts.iter().map(|part| part.width(of_group));
                let both = all.reduce(|a, b| (a.0.min(b.0), a.1.zip(b.1).map(|(a, b)| a.max(b))));
                both.unwrap_or((0, Some(0)))
            }
            Self::Group(_, _, inside) => inside.width(of_group),
            Self::Repeat { inside, least, most, .. } => {
                let (low, high) = inside.width(of_group);
                let most = match (high, most) {
                    (Some(0), _) => Some(0),
                    (high, most) => high.zip(*most).map(|(high, most)| high.saturating_mul(u64::from(most))),
                };
                (low.saturating_mul(u64::from(*least)), most)
            }
        }
    }
}

/// The text of an expression as it is read, character by character.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'p> {
    pub(super) pattern: &'p str,
    pub(super) at: usize,
}

impl<'p> Cursor<'p> {
    pub(super) fn rest(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at = self.at.saturating_add(letter.len_utf8());
        Some(letter)
    }

    /// Takes a text where it stands next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let stands = self.rest().starts_with(text);
        if stands {
            self.at = self.at.saturating_add(text.len());
        }
        stands
    }

    /// Takes at most so many characters of a kind.
    pub(super) fn take_while(&mut self, most: usize, is: impl Fn(char) -> bool) -> &'p str {
        let rest = self.rest();
        let end = rest.char_indices().take(most).find(|(_, letter)| !is(*letter)).map(|(at, _)| at);
        let all = rest.char_indices().nth(most).map_or(rest.len(), |(at, _)| at);
        let taken = rest.get(..end.unwrap_or(all)).unwrap_or("");
        self.at = self.at.saturating_add(taken.len());
        taken
    }

    /// Exactly so many hexadecimal digits, as a number; nothing is taken where there are fewer.
    pub(super) fn hex(&mut self, digits: usize) -> Option<u32> {
        let before = self.at;
        let taken = self.take_while(digits, |letter| letter.is_ascii_hexdigit());
        if taken.len() < digits {
            self.at = before;
            return None;
        }
        u32::from_str_radix(taken, 16).ok()
    }

    pub(super) fn error<T>(&self, why: impl Into<String>) -> Result<T, Unusable> {
        Err(Unusable::new(self.at, why))
    }
}

/// A character that stands for itself.
pub(super) fn literal(letter: char) -> String {
    let hidden = steers(letter) || letter.is_whitespace() && letter != ' ';
    match letter {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        letter if hidden => format!("\\x{{{:X}}}", u32::from(letter)),
        // As the language's engine counts them, inside of sets as well.
        letter if regex_syntax::is_meta_character(letter) => format!("\\{letter}"),
        letter => letter.to_string(),
    }
}

/// The same outside of sets, where some characters mean nothing else.
pub(super) fn outside_sets(letter: char) -> String {
    if matches!(letter, '-' | '&' | '~') { letter.to_string() } else { literal(letter) }
}

/// A set of characters: what stands between its brackets, already in the language's syntax.
pub(super) fn set(negated: bool, inside: &str) -> Node {
    let text = match (negated, inside.is_empty()) {
        (false, true) => r"[^\s\S]".to_owned(),
        (true, true) => "(?s:.)".to_owned(),
        (false, false) => format!("[{inside}]"),
        (true, false) => format!("[^{inside}]"),
    };
    Node::Written(text, 1)
}

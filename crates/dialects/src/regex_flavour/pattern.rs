//! The regex tree that all flavors are parsed into, and its writer.

use super::UnusableRegex;
use averment_base::diagnostic::render::is_steering;

pub(super) const DEEPEST: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RegexNode {
    Empty,
    /// Text in the regex syntax of the rule language, and the number of characters that it matches.
    Written(String, u32),
    Reference(u32),
    Place(LineAnchor),
    Sequence(Vec<RegexNode>),
    Choice(Vec<RegexNode>),
    Group(GroupPurpose, String, Box<RegexNode>),
    Repeat {
        inside: Box<RegexNode>,
        sign: String,
        least: u32,
        most: Option<u32>,
        keeps: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupPurpose {
    Plain,
    Ahead,
    Behind,
    /// An atomic group or a conditional.
    Other,
}

/// A position that linear matching cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineAnchor {
    /// Before the end of the text or before its final line end.
    LastLine,
    /// A line start after any of four line ends.
    LineStart,
    LineEnd,
}

const LINE_ENDS: &str = r"[\n\r\u{2028}\u{2029}]";

#[derive(Debug, Default)]
pub(super) struct RegexWriter {
    pub(super) text: String,
    pub(super) backtracks: bool,
}

impl RegexWriter {
    /// Writes a node. At `head` and `tail` of the whole expression a position may consume text, because a search only asks whether there is a match.
    pub(super) fn write_node(&mut self, node: &RegexNode, head: bool, tail: bool) {
        match node {
            RegexNode::Empty => {}
            RegexNode::Written(text, _) => self.push_text(text),
            RegexNode::Reference(group) => {
                self.backtracks = true;
                self.push_text(&format!("\\{group}"));
            }
            RegexNode::Place(place) => self.write_anchor(*place, head, tail),
            RegexNode::Sequence(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    let last = number.saturating_add(1) == parts.len();
                    self.write_node(part, head && number == 0, tail && last);
                }
            }
            RegexNode::Choice(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    if number > 0 {
                        self.text.push('|');
                    }
                    self.write_node(part, head, tail);
                }
            }
            RegexNode::Group(group, opening, inside) => {
                self.text.push_str(opening);
                let (head, tail) = match group {
                    GroupPurpose::Plain => (head, tail),
                    GroupPurpose::Ahead => (false, true),
                    GroupPurpose::Behind => (true, false),
                    GroupPurpose::Other => (false, false),
                };
                self.backtracks |= *group != GroupPurpose::Plain;
                self.write_node(inside, head, tail);
                self.text.push(')');
            }
            RegexNode::Repeat { inside, sign, keeps, .. } => {
                self.backtracks |= keeps;
                self.write_node(inside, false, false);
                self.text.push_str(sign);
            }
        }
    }

    /// Adds text; separates a back-reference from a digit that follows.
    fn push_text(&mut self, text: &str) {
        let digits = self.text.trim_end_matches(|last: char| last.is_ascii_digit());
        let behind_reference = digits.len() < self.text.len() && digits.ends_with('\\');
        if behind_reference && text.starts_with(|first: char| first.is_ascii_digit()) {
            self.text.push_str("(?:)");
        }
        self.text.push_str(text);
    }

    fn write_anchor(&mut self, place: LineAnchor, head: bool, tail: bool) {
        let taken = match place {
            LineAnchor::LineStart => head,
            LineAnchor::LastLine | LineAnchor::LineEnd => tail,
        };
        self.backtracks |= !taken;
        let written = match (place, taken) {
            (LineAnchor::LastLine, true) => r"(?:\n?\z)".to_owned(),
            (LineAnchor::LastLine, false) => r"(?=\n?\z)".to_owned(),
            (LineAnchor::LineStart, true) => format!("(?:^|{LINE_ENDS})"),
            (LineAnchor::LineStart, false) => format!("(?:^|(?<={LINE_ENDS}))"),
            (LineAnchor::LineEnd, true) => format!(r"(?:\z|{LINE_ENDS})"),
            (LineAnchor::LineEnd, false) => format!(r"(?=\z|{LINE_ENDS})"),
        };
        self.text.push_str(&written);
    }
}

impl RegexNode {
    /// Returns the minimum and maximum length in characters; the maximum is `None` if unbounded. A back-reference is as long as its group.
    pub(super) fn width_range(&self, of_group: &dyn Fn(u32) -> (u64, Option<u64>)) -> (u64, Option<u64>) {
        match self {
            Self::Empty | Self::Place(_) | Self::Group(GroupPurpose::Ahead | GroupPurpose::Behind, ..) => (0, Some(0)),
            Self::Written(_, width) => (u64::from(*width), Some(u64::from(*width))),
            Self::Reference(group) => of_group(*group),
            Self::Sequence(parts) => {
                parts.iter().map(|part| part.width_range(of_group)).fold((0, Some(0)), |sum, one| {
                    (
                        u64::saturating_add(sum.0, one.0),
                        sum.1.zip(one.1).map(|(sum, one)| u64::saturating_add(sum, one)),
                    )
                })
            }
            Self::Choice(parts) => {
                let all = parts.iter().map(|part| part.width_range(of_group));
                let both = all.reduce(|a, b| (a.0.min(b.0), a.1.zip(b.1).map(|(a, b)| a.max(b))));
                both.unwrap_or((0, Some(0)))
            }
            Self::Group(_, _, inside) => inside.width_range(of_group),
            Self::Repeat { inside, least, most, .. } => {
                let (low, high) = inside.width_range(of_group);
                let most = match (high, most) {
                    (Some(0), _) => Some(0),
                    (high, most) => high.zip(*most).map(|(high, most)| high.saturating_mul(u64::from(most))),
                };
                (low.saturating_mul(u64::from(*least)), most)
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RegexCursor<'p> {
    pub(super) pattern: &'p str,
    pub(super) at: usize,
}

impl<'p> RegexCursor<'p> {
    pub(super) fn rest_text(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest_text().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at = self.at.saturating_add(letter.len_utf8());
        Some(letter)
    }

    pub(super) fn take_text(&mut self, text: &str) -> bool {
        let stands = self.rest_text().starts_with(text);
        if stands {
            self.at = self.at.saturating_add(text.len());
        }
        stands
    }

    pub(super) fn take_while(&mut self, most: usize, is: impl Fn(char) -> bool) -> &'p str {
        let rest = self.rest_text();
        let end = rest.char_indices().take(most).find(|(_, letter)| !is(*letter)).map(|(at, _)| at);
        let all = rest.char_indices().nth(most).map_or(rest.len(), |(at, _)| at);
        let taken = rest.get(..end.unwrap_or(all)).unwrap_or("");
        self.at = self.at.saturating_add(taken.len());
        taken
    }

    /// Reads hexadecimal digits; consumes nothing if there are fewer than `digits`.
    pub(super) fn take_hex(&mut self, digits: usize) -> Option<u32> {
        let before = self.at;
        let taken = self.take_while(digits, |letter| letter.is_ascii_hexdigit());
        if taken.len() < digits {
            self.at = before;
            return None;
        }
        u32::from_str_radix(taken, 16).ok()
    }

    pub(super) fn fail_here<T>(&self, why: impl Into<String>) -> Result<T, UnusableRegex> {
        Err(UnusableRegex::new(self.at, why))
    }
}

pub(super) fn escape_letter(letter: char) -> String {
    let hidden = is_steering(letter) || letter.is_whitespace() && letter != ' ';
    match letter {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        letter if hidden => format!("\\x{{{:X}}}", u32::from(letter)),
        // The rule language's engine also needs these escapes inside of sets.
        letter if regex_syntax::is_meta_character(letter) => format!("\\{letter}"),
        letter => letter.to_string(),
    }
}

/// Escapes a character outside of sets, where some characters need no escape.
pub(super) fn outside_sets(letter: char) -> String {
    if matches!(letter, '-' | '&' | '~') { letter.to_string() } else { escape_letter(letter) }
}

pub(super) fn set_node(negated: bool, inside: &str) -> RegexNode {
    let text = match (negated, inside.is_empty()) {
        (false, true) => r"[^\s\S]".to_owned(),
        (true, true) => "(?s:.)".to_owned(),
        (false, false) => format!("[{inside}]"),
        (true, false) => format!("[^{inside}]"),
    };
    RegexNode::Written(text, 1)
}

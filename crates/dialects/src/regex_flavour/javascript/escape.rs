//! Reads escapes and character sets.

use super::super::pattern::{GroupPurpose, RegexNode, escape_letter, set_node};
use super::JsRegexReader;
use crate::regex_flavour::UnusableRegex;

/// JavaScript white space, including non-ASCII characters.
const SPACE: &str = r"\s\u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

enum JsSetMember {
    Character(char),
    Class(String),
}

impl JsSetMember {
    fn member_text(&self) -> String {
        match self {
            Self::Character(letter) => escape_letter(*letter),
            Self::Class(class) => class.clone(),
        }
    }
}

impl JsRegexReader<'_> {
    /// Returns a back-reference. It matches the empty text if the group has not matched or is still open.
    fn group_reference(&self, group: u32) -> RegexNode {
        if self.open.contains(&group) {
            return RegexNode::Group(GroupPurpose::Plain, "(?:".to_owned(), Box::new(RegexNode::Empty));
        }
        RegexNode::Group(GroupPurpose::Other, format!("(?({group})"), Box::new(RegexNode::Reference(group)))
    }

    pub(super) fn read_escape(&mut self, start: usize) -> Result<RegexNode, UnusableRegex> {
        let Some(letter) = self.cursor.next() else {
            return Err(UnusableRegex::new(start, "a backslash ends the expression"));
        };
        match letter {
            'b' | 'B' => Ok(RegexNode::Written(format!("\\{letter}"), 0)),
            'd' | 'D' | 'w' | 'W' => Ok(RegexNode::Written(format!("\\{letter}"), 1)),
            's' | 'S' => Ok(set_node(letter == 'S', SPACE)),
            'p' | 'P' if self.flags.unicode => {
                self.read_property(letter, start).map(|text| RegexNode::Written(text, 1))
            }
            'k' if self.named => self.named_reference(start),
            '1'..='9' => self.read_numbered(letter, start),
            _ => Ok(RegexNode::Written(escape_letter(self.read_escaped(letter, start, false)?), 1)),
        }
    }

    fn named_reference(&mut self, start: usize) -> Result<RegexNode, UnusableRegex> {
        let name =
            self.cursor.rest_text().strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(name, _)| name);
        let group = name.and_then(|name| self.names.iter().find(|(known, _)| known == name));
        let Some((name, group)) = group.cloned() else {
            return Err(UnusableRegex::new(start, "the name of a group must follow `\\k`: `\\k<name>`"));
        };
        self.cursor.at = self.cursor.at.saturating_add(name.len()).saturating_add(2);
        Ok(self.group_reference(group))
    }

    /// Reads `\1`: a back-reference if there are that many groups, otherwise octal unless flag `u` is set.
    fn read_numbered(&mut self, first: char, start: usize) -> Result<RegexNode, UnusableRegex> {
        let mut ahead = self.cursor;
        let more = ahead.take_while(usize::MAX, |letter| letter.is_ascii_digit());
        let group = format!("{first}{more}").parse().unwrap_or(u32::MAX);
        if group <= self.groups {
            self.cursor.at = ahead.at;
            return Ok(self.group_reference(group));
        }
        if self.flags.unicode {
            return Err(UnusableRegex::new(start, format!("there is no group {group}")));
        }
        let letter = if ('0'..='7').contains(&first) { self.read_octal(first) } else { first };
        Ok(RegexNode::Written(escape_letter(letter), 1))
    }

    /// Reads an octal escape of up to three digits, at most 377.
    fn read_octal(&mut self, first: char) -> char {
        let most = if first <= '3' { 2 } else { 1 };
        let more = self.cursor.take_while(most, |letter| ('0'..='7').contains(&letter));
        u32::from_str_radix(&format!("{first}{more}"), 8).ok().and_then(char::from_u32).unwrap_or(first)
    }

    fn read_property(&mut self, letter: char, start: usize) -> Result<String, UnusableRegex> {
        let name =
            self.cursor.rest_text().strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(name, _)| name);
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(UnusableRegex::new(start, format!("behind `\\{letter}` stands a property: `\\{letter}{{L}}`")));
        };
        self.cursor.at = self.cursor.at.saturating_add(name.len()).saturating_add(2);
        let written = format!("\\{letter}{{{name}}}");
        match regex_syntax::parse(&written) {
            Ok(_) => Ok(written),
            Err(_) => Err(UnusableRegex::new(start, format!("there is no property `{name}`"))),
        }
    }

    fn read_escaped(&mut self, letter: char, start: usize, in_set: bool) -> Result<char, UnusableRegex> {
        let strict = self.flags.unicode;
        Ok(match letter {
            't' => '\t',
            'n' => '\n',
            'v' => '\x0b',
            'f' => '\x0c',
            'r' => '\r',
            'b' if in_set => '\x08',
            '-' if in_set => '-',
            'c' => return self.read_control(start, in_set),
            'x' | 'u' => return self.read_char_code(letter, start),
            '0' if !self.cursor.rest_text().starts_with(|next: char| next.is_ascii_digit()) => '\0',
            '0'..='7' if !strict => self.read_octal(letter),
            letter if strict && !"^$\\.*+?()[]{}|/".contains(letter) => {
                return Err(UnusableRegex::new(start, format!("`\\{letter}` is no escape")));
            }
            'k' if self.named => return Err(UnusableRegex::new(start, "`\\k` is no escape here")),
            letter => letter,
        })
    }

    /// Reads a control escape such as `\cJ`; without a letter the backslash is literal.
    fn read_control(&mut self, start: usize, in_set: bool) -> Result<char, UnusableRegex> {
        let wanted = |letter: &char| {
            letter.is_ascii_alphabetic() || in_set && !self.flags.unicode && (letter.is_ascii_digit() || *letter == '_')
        };
        if let Some(letter) = self.cursor.peek().filter(wanted) {
            self.cursor.next();
            return Ok(char::from_u32(u32::from(letter) % 32).unwrap_or(letter));
        }
        if self.flags.unicode {
            return Err(UnusableRegex::new(start, "a letter must follow `\\c`"));
        }
        self.cursor.at = start.saturating_add(1);
        Ok('\\')
    }

    /// Reads `\x41`, `\u0041`, `\u{41}` and surrogate pairs; without digits the letter is literal.
    fn read_char_code(&mut self, letter: char, start: usize) -> Result<char, UnusableRegex> {
        let strict = self.flags.unicode;
        let mut code = None;
        if letter == 'u' && strict && self.cursor.take_text("{") {
            let digits = self.cursor.take_while(usize::MAX, |digit| digit.is_ascii_hexdigit());
            code = u32::from_str_radix(digits, 16).ok().filter(|_| self.cursor.take_text("}"));
        } else if let Some(read) = self.cursor.take_hex(if letter == 'x' { 2 } else { 4 }) {
            code = Some(read);
        } else if !strict {
            return Ok(letter);
        }
        let Some(code) = code else {
            return Err(UnusableRegex::new(start, format!("behind `\\{letter}` stands the number of a character")));
        };
        if let Some(letter) = char::from_u32(code) {
            return Ok(letter);
        }
        let mut ahead = self.cursor;
        let low =
            if ahead.take_text("\\u") { ahead.take_hex(4).filter(|low| (0xdc00..=0xdfff).contains(low)) } else { None };
        if let (0xd800..=0xdbff, Some(low)) = (code, low) {
            self.cursor.at = ahead.at;
            let whole = code.wrapping_sub(0xd800).wrapping_mul(0x400).wrapping_add(low.wrapping_sub(0xdc00));
            return Ok(char::from_u32(whole.wrapping_add(0x1_0000)).unwrap_or(letter));
        }
        let why = if code > 0xdfff {
            "there is no such character"
        } else {
            "half of a character beyond U+FFFF has no counterpart"
        };
        Err(UnusableRegex::new(start, why))
    }

    pub(super) fn read_set(&mut self, start: usize) -> Result<RegexNode, UnusableRegex> {
        let negated = self.cursor.take_text("^");
        let mut inside = String::new();
        loop {
            let at = self.cursor.at;
            let low = match self.cursor.next() {
                None => return Err(UnusableRegex::new(start, "this `[` is not closed")),
                Some(']') => return Ok(set_node(negated, &inside)),
                Some(letter) => self.read_member(letter, at)?,
            };
            let mut ahead = self.cursor;
            if !(ahead.take_text("-") && ahead.peek().is_some_and(|next| next != ']')) {
                inside.push_str(&low.member_text());
                continue;
            }
            self.cursor = ahead;
            let end = self.cursor.at;
            let Some(letter) = self.cursor.next() else { continue };
            match (low, self.read_member(letter, end)?) {
                (JsSetMember::Character(low), JsSetMember::Character(high)) if low <= high => {
                    inside.push_str(&format!("{}-{}", escape_letter(low), escape_letter(high)));
                }
                (JsSetMember::Character(_), JsSetMember::Character(_)) => {
                    return Err(UnusableRegex::new(at, "this range is backwards"));
                }
                _ if self.flags.unicode => {
                    return Err(UnusableRegex::new(at, "a range goes from one character to another"));
                }
                (low, high) => inside.push_str(&format!("{}\\-{}", low.member_text(), high.member_text())),
            }
        }
    }

    fn read_member(&mut self, letter: char, at: usize) -> Result<JsSetMember, UnusableRegex> {
        if letter != '\\' {
            return Ok(JsSetMember::Character(letter));
        }
        let Some(letter) = self.cursor.next() else {
            return Err(UnusableRegex::new(at, "a backslash ends the expression"));
        };
        Ok(match letter {
            'd' | 'D' | 'w' | 'W' => JsSetMember::Class(format!("\\{letter}")),
            's' => JsSetMember::Class(SPACE.to_owned()),
            'S' => JsSetMember::Class(format!("[^{SPACE}]")),
            'p' | 'P' if self.flags.unicode => JsSetMember::Class(self.read_property(letter, at)?),
            '8' | '9' if !self.flags.unicode => JsSetMember::Character(letter),
            letter => JsSetMember::Character(self.read_escaped(letter, at, true)?),
        })
    }
}

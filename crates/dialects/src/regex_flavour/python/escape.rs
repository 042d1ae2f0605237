//! Reads escapes and character sets.

use super::super::pattern::{RegexNode, escape_letter, set_node};
use super::{PyRegexFlags, PyRegexReader};
use crate::regex_flavour::UnusableRegex;

enum PySetMember {
    Character(char),
    Class(String),
}

impl PyRegexReader<'_> {
    pub(super) fn read_escape(&mut self, flags: PyRegexFlags, start: usize) -> Result<RegexNode, UnusableRegex> {
        let Some(letter) = self.cursor.next() else {
            return Err(UnusableRegex::new(start, "a backslash ends the expression"));
        };
        let look = |text: &str| Ok(RegexNode::Written(text.to_owned(), 0));
        match letter {
            'A' => look("\\A"),
            'Z' => look("\\z"),
            'b' | 'B' => Ok(RegexNode::Written(self.word_edge(letter, flags), 0)),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                let (inside, negated) = self.class_members(letter, flags);
                Ok(match inside.as_str() {
                    "\\d" | "\\w" | "\\s" => RegexNode::Written(format!("\\{letter}"), 1),
                    inside => set_node(negated, inside),
                })
            }
            '1'..='9' => self.read_reference(letter, start),
            _ => Ok(RegexNode::Written(escape_letter(self.read_escaped(letter, start, false)?), 1)),
        }
    }

    fn word_edge(&mut self, letter: char, flags: PyRegexFlags) -> String {
        self.unicode |= !flags.ascii;
        match (flags.ascii, self.ascii) {
            (true, false) => format!("(?-u:\\{letter})"),
            (false, true) => format!("(?u:\\{letter})"),
            _ => format!("\\{letter}"),
        }
    }

    fn class_members(&mut self, letter: char, flags: PyRegexFlags) -> (String, bool) {
        let (inside, unicode) = match (letter.to_ascii_lowercase(), flags.ascii, self.ascii) {
            ('d', true, true) => ("\\d", false),
            ('d', true, false) => ("0-9", false),
            ('d', false, true) => (r"\p{Nd}", false),
            ('d', false, false) => ("\\d", true),
            ('s', true, true) => ("\\s", false),
            ('s', true, false) => (r"\t-\r\x20", false),
            ('s', false, true) => (r"\p{White_Space}\x1C-\x1F", false),
            ('s', false, false) => (r"\s\x1C-\x1F", true),
            (_, true, true) => ("\\w", false),
            (_, true, false) => ("0-9A-Za-z_", false),
            (_, false, _) => (r"\p{L}\p{N}_", false),
        };
        self.unicode |= unicode;
        (inside.to_owned(), letter.is_ascii_uppercase())
    }

    /// Reads a back-reference `\1` to `\99`, or three octal digits.
    fn read_reference(&mut self, first: char, start: usize) -> Result<RegexNode, UnusableRegex> {
        let octal = |letter: char| ('0'..='7').contains(&letter);
        let mut digits = String::from(first);
        if let Some(second) = self.cursor.peek().filter(char::is_ascii_digit) {
            self.cursor.next();
            digits.push(second);
            if octal(first) && octal(second) && self.cursor.peek().is_some_and(octal) {
                digits.extend(self.cursor.next());
                return Ok(RegexNode::Written(escape_letter(of_octal(&digits, start)?), 1));
            }
        }
        let group = digits.parse().unwrap_or(u32::MAX);
        self.group_reference(group, start)
    }

    pub(super) fn group_reference(&self, group: u32, start: usize) -> Result<RegexNode, UnusableRegex> {
        match (group as usize).checked_sub(1).and_then(|index| self.groups.get(index)) {
            None => Err(UnusableRegex::new(start, format!("there is no group {group} before this"))),
            Some(None) => Err(UnusableRegex::new(start, "a group cannot refer to itself")),
            Some(Some(_)) => Ok(RegexNode::Reference(group)),
        }
    }

    fn read_escaped(&mut self, letter: char, start: usize, in_set: bool) -> Result<char, UnusableRegex> {
        let bad = |what: &str| Err(UnusableRegex::new(start, what.to_owned()));
        match letter {
            'a' => Ok('\x07'),
            'f' => Ok('\x0c'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\x0b'),
            'b' if in_set => Ok('\x08'),
            'x' | 'u' | 'U' => {
                let digits = match letter {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let Some(code) = self.cursor.take_hex(digits) else {
                    return bad(&format!("`\\{letter}` wants {digits} hexadecimal digits"));
                };
                match char::from_u32(code) {
                    Some(letter) => Ok(letter),
                    None if code <= 0xdfff => bad("half of a surrogate pair is no character"),
                    None => bad("there is no such character"),
                }
            }
            'N' => bad("characters by their names (`\\N{…}`) have to be written themselves"),
            '0' => {
                let more = self.cursor.take_while(2, |letter| ('0'..='7').contains(&letter));
                of_octal(&format!("0{more}"), start)
            }
            '1'..='7' if in_set => {
                let more = self.cursor.take_while(2, |letter| ('0'..='7').contains(&letter));
                of_octal(&format!("{letter}{more}"), start)
            }
            letter if letter.is_ascii_alphanumeric() => bad(&format!("`\\{letter}` is no escape")),
            letter => Ok(letter),
        }
    }

    pub(super) fn read_set(&mut self, flags: PyRegexFlags, start: usize) -> Result<RegexNode, UnusableRegex> {
        let negated = self.cursor.take_text("^");
        let mut inside = String::new();
        let mut first = true;
        loop {
            let at = self.cursor.at;
            match self.cursor.next() {
                None => return Err(UnusableRegex::new(start, "this `[` is not closed")),
                Some(']') if !first => return Ok(set_node(negated, &inside)),
                Some(letter) => self.read_range(letter, at, flags, &mut inside)?,
            }
            first = false;
        }
    }

    fn read_range(
        &mut self,
        letter: char,
        at: usize,
        flags: PyRegexFlags,
        inside: &mut String,
    ) -> Result<(), UnusableRegex> {
        let low = self.read_member(letter, at, flags)?;
        let mut ahead = self.cursor;
        if !(ahead.take_text("-") && ahead.peek().is_some_and(|next| next != ']')) {
            match low {
                PySetMember::Character(letter) => inside.push_str(&escape_letter(letter)),
                PySetMember::Class(class) => inside.push_str(&class),
            }
            return Ok(());
        }
        self.cursor = ahead;
        let end = self.cursor.at;
        let Some(next) = self.cursor.next() else { return Ok(()) };
        match (low, self.read_member(next, end, flags)?) {
            (PySetMember::Character(low), PySetMember::Character(high)) if low <= high => {
                inside.push_str(&format!("{}-{}", escape_letter(low), escape_letter(high)));
                Ok(())
            }
            (PySetMember::Character(_), PySetMember::Character(_)) => {
                Err(UnusableRegex::new(at, "this range is backwards"))
            }
            _ => Err(UnusableRegex::new(at, "a range goes from one character to another")),
        }
    }

    fn read_member(&mut self, letter: char, at: usize, flags: PyRegexFlags) -> Result<PySetMember, UnusableRegex> {
        if letter != '\\' {
            return Ok(PySetMember::Character(letter));
        }
        let Some(letter) = self.cursor.next() else {
            return Err(UnusableRegex::new(at, "a backslash ends the expression"));
        };
        if matches!(letter, 'd' | 'D' | 's' | 'S' | 'w' | 'W') {
            let (inside, negated) = self.class_members(letter, flags);
            return Ok(PySetMember::Class(if negated { format!("[^{inside}]") } else { inside }));
        }
        self.read_escaped(letter, at, true).map(PySetMember::Character)
    }
}

fn of_octal(digits: &str, start: usize) -> Result<char, UnusableRegex> {
    let code = u32::from_str_radix(digits, 8).ok().filter(|code| *code <= 0o377);
    code.and_then(char::from_u32).ok_or_else(|| UnusableRegex::new(start, "the octal number is greater than 377"))
}

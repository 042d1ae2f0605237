//! What stands behind a backslash, and in brackets.

use super::super::pattern::{Node, literal, set};
use super::{Flags, Reader};
use crate::regex_flavour::Unusable;

/// What stands in brackets.
enum Member {
    Character(char),
    Class(String),
}

impl Reader<'_> {
    pub(super) fn escape(&mut self, flags: Flags, start: usize) -> Result<Node, Unusable> {
        let Some(letter) = self.cursor.next() else {
            return Err(Unusable::new(start, "a backslash ends the expression"));
        };
        let look = |text: &str| Ok(Node::Written(text.to_owned(), 0));
        match letter {
            'A' => look("\\A"),
            'Z' => look("\\z"),
            'b' | 'B' => Ok(Node::Written(self.edge(letter, flags), 0)),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                let (inside, negated) = self.class(letter, flags);
                Ok(match inside.as_str() {
                    "\\d" | "\\w" | "\\s" => Node::Written(format!("\\{letter}"), 1),
                    inside => set(negated, inside),
                })
            }
            '1'..='9' => self.reference(letter, start),
            _ => Ok(Node::Written(literal(self.escaped(letter, start, false)?), 1)),
        }
    }

    fn edge(&mut self, letter: char, flags: Flags) -> String {
        self.unicode |= !flags.ascii;
        match (flags.ascii, self.ascii) {
            (true, false) => format!("(?-u:\\{letter})"),
            (false, true) => format!("(?u:\\{letter})"),
            _ => format!("\\{letter}"),
        }
    }

    /// What stands in the brackets of a class, and whether it is negated.
    fn class(&mut self, letter: char, flags: Flags) -> (String, bool) {
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

    /// `\1` to `\99`, or an octal number of three digits.
    fn reference(&mut self, first: char, start: usize) -> Result<Node, Unusable> {
        let octal = |letter: char| ('0'..='7').contains(&letter);
        let mut digits = String::from(first);
        if let Some(second) = self.cursor.peek().filter(char::is_ascii_digit) {
            self.cursor.next();
            digits.push(second);
            if octal(first) && octal(second) && self.cursor.peek().is_some_and(octal) {
                digits.extend(self.cursor.next());
                return Ok(Node::Written(literal(of_octal(&digits, start)?), 1));
            }
        }
        let group = digits.parse().unwrap_or(u32::MAX);
        self.group_reference(group, start)
    }

    pub(super) fn group_reference(&self, group: u32, start: usize) -> Result<Node, Unusable> {
        match (group as usize).checked_sub(1).and_then(|index| self.groups.get(index)) {
            None => Err(Unusable::new(start, format!("there is no group {group} before this"))),
            Some(None) => Err(Unusable::new(start, "a group cannot refer to itself")),
            Some(Some(_)) => Ok(Node::Reference(group)),
        }
    }

    /// A character behind a backslash, which was read.
    fn escaped(&mut self, letter: char, start: usize, in_set: bool) -> Result<char, Unusable> {
        let bad = |what: &str| Err(Unusable::new(start, what.to_owned()));
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
                let Some(code) = self.cursor.hex(digits) else {
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

    pub(super) fn set(&mut self, flags: Flags, start: usize) -> Result<Node, Unusable> {
        let negated = self.cursor.take("^");
        let mut inside = String::new();
        let mut first = true;
        loop {
            let at = self.cursor.at;
            match self.cursor.next() {
                None => return Err(Unusable::new(start, "this `[` is not closed")),
                Some(']') if !first => return Ok(set(negated, &inside)),
                Some(letter) => self.member(letter, at, flags, &mut inside)?,
            }
            first = false;
        }
    }

    /// A character, a range or a class in brackets.
    fn member(&mut self, letter: char, at: usize, flags: Flags, inside: &mut String) -> Result<(), Unusable> {
        let low = self.one(letter, at, flags)?;
        let mut ahead = self.cursor;
        if !(ahead.take("-") && ahead.peek().is_some_and(|next| next != ']')) {
            match low {
                Member::Character(letter) => inside.push_str(&literal(letter)),
                Member::Class(class) => inside.push_str(&class),
            }
            return Ok(());
        }
        self.cursor = ahead;
        let end = self.cursor.at;
        let Some(next) = self.cursor.next() else { return Ok(()) };
        match (low, self.one(next, end, flags)?) {
            (Member::Character(low), Member::Character(high)) if low <= high => {
                inside.push_str(&format!("{}-{}", literal(low), literal(high)));
                Ok(())
            }
            (Member::Character(_), Member::Character(_)) => Err(Unusable::new(at, "this range is backwards")),
            _ => Err(Unusable::new(at, "a range goes from one character to another")),
        }
    }

    fn one(&mut self, letter: char, at: usize, flags: Flags) -> Result<Member, Unusable> {
        if letter != '\\' {
            return Ok(Member::Character(letter));
        }
        let Some(letter) = self.cursor.next() else { return Err(Unusable::new(at, "a backslash ends the expression")) };
        if matches!(letter, 'd' | 'D' | 's' | 'S' | 'w' | 'W') {
            let (inside, negated) = self.class(letter, flags);
            return Ok(Member::Class(if negated { format!("[^{inside}]") } else { inside }));
        }
        self.escaped(letter, at, true).map(Member::Character)
    }
}

fn of_octal(digits: &str, start: usize) -> Result<char, Unusable> {
    let code = u32::from_str_radix(digits, 8).ok().filter(|code| *code <= 0o377);
    code.and_then(char::from_u32).ok_or_else(|| Unusable::new(start, "the octal number is greater than 377"))
}

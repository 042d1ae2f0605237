//! What stands in a pattern beyond the syntax of linear matching, found by its signs.
//!
//! The rest of the syntax is the library's: each sign is covered by something of the same length that the library reads, so that all places
//! in its tree are places in the pattern.

use std::collections::BTreeMap;

/// A pattern that the library reads, and what is covered in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// As long as the pattern.
    pub text: String,
    /// What is covered, by where it begins.
    pub extensions: BTreeMap<usize, Extension>,
}

/// A sign that linear matching does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extension {
    /// `(?=`, `(?!`.
    Ahead {
        /// Whether it may not stand there.
        negated: bool,
    },
    /// `(?<=`, `(?<!`.
    Behind {
        /// Whether it may not stand there.
        negated: bool,
    },
    /// `(?>`.
    Atomic,
    /// `(?(1)`, `(?(name)`, `(?(<name>)`: the group and what stands in its place.
    If(Group),
    /// What covers the group behind `(?`.
    Condition,
    /// `\1`, `\k<name>`, `(?P=name)`.
    Reference(Group),
}

/// A group that something refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Group {
    /// By its number.
    Number(u32),
    /// By its name.
    Name(String),
}

impl Group {
    fn of(text: &str) -> Option<Self> {
        let name = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text);
        if let Ok(number) = name.parse() {
            return Some(Self::Number(number));
        }
        let fits = |letter: char| letter == '_' || letter.is_alphanumeric();
        (!name.is_empty() && name.chars().all(fits)).then(|| Self::Name(name.to_owned()))
    }
}

/// Covers what linear matching does not know; `spaced` is the flag `x`.
#[must_use]
pub fn skeleton(pattern: &str, spaced: bool) -> Skeleton {
    let covered = Skeleton { text: String::with_capacity(pattern.len()), extensions: BTreeMap::new() };
    let mut scanner = Scanner { rest: pattern, covered, spaced, outside: Vec::new() };
    while !scanner.rest.is_empty() {
        scanner.next();
    }
    scanner.covered
}

struct Scanner<'p> {
    rest: &'p str,
    covered: Skeleton,
    spaced: bool,
    /// Flag `x` as it was before each open group.
    outside: Vec<bool>,
}

impl Scanner<'_> {
    fn next(&mut self) {
        match self.rest.as_bytes().first() {
            Some(b'\\') => self.escape(),
            Some(b'[') => self.class(),
            Some(b'(') => self.group(),
            Some(b')') => {
                self.spaced = self.outside.pop().unwrap_or(self.spaced);
                self.copy(1);
            }
            Some(b'#') if self.spaced => self.comment(),
            _ => self.copy(1),
        }
    }

    /// Takes so many characters over.
    fn copy(&mut self, characters: usize) {
        let end = self.rest.char_indices().nth(characters).map_or(self.rest.len(), |(at, _)| at);
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.covered.text.push_str(taken);
        self.rest = rest;
    }

    /// Covers so many bytes.
    fn cover(&mut self, bytes: usize, by: &str, extension: Extension) {
        self.covered.extensions.insert(self.covered.text.len(), extension);
        self.covered.text.push_str(by);
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    /// Covers so many bytes by one element.
    fn cover_whole(&mut self, bytes: usize, extension: Extension) {
        let by = match bytes.checked_sub(2) {
            None | Some(0) => "\\t".to_owned(),
            Some(inside) => format!("[{}]", "a".repeat(inside)),
        };
        self.cover(bytes, &by, extension);
    }

    fn comment(&mut self) {
        let line = self.rest.find('\n').unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(line).unwrap_or((self.rest, ""));
        self.covered.text.push_str(taken);
        self.rest = rest;
    }

    fn escape(&mut self) {
        let behind = self.rest.get(1..).unwrap_or("");
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && !behind.starts_with('0') {
            let number = behind.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX);
            return self.cover_whole(digits.saturating_add(1), Extension::Reference(Group::Number(number)));
        }
        if let Some((name, _)) = behind.strip_prefix("k<").and_then(|behind| behind.split_once('>'))
            && let Some(group) = Group::of(name)
        {
            return self.cover_whole(name.len().saturating_add(4), Extension::Reference(group));
        }
        self.copy(2);
    }

    /// A set in brackets, with sets inside of it.
    fn class(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.rest.as_bytes().first() {
                None => return,
                Some(b'\\') => self.copy(2),
                Some(b'#') if self.spaced => self.comment(),
                Some(b'[') => {
                    depth = depth.saturating_add(1);
                    self.copy(1);
                    self.skip_space();
                    if self.rest.starts_with('^') {
                        self.copy(1);
                        self.skip_space();
                    }
                    // At the start it stands for itself.
                    if self.rest.starts_with(']') {
                        self.copy(1);
                    }
                }
                Some(b']') => {
                    self.copy(1);
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.copy(1),
            }
        }
    }

    fn skip_space(&mut self) {
        while self.spaced && self.rest.starts_with(|letter: char| letter.is_whitespace() || letter == '#') {
            if self.rest.starts_with('#') { self.comment() } else { self.copy(1) }
        }
    }

    fn group(&mut self) {
        let starts = |head: &str| self.rest.starts_with(head);
        let opened = if starts("(?=") || starts("(?!") {
            Some(("(?:", Extension::Ahead { negated: starts("(?!") }))
        } else if starts("(?<=") || starts("(?<!") {
            // The flag counts for nothing: what is covered is asked first.
            Some(("(?s:", Extension::Behind { negated: starts("(?<!") }))
        } else if starts("(?>") {
            Some(("(?:", Extension::Atomic))
        } else {
            None
        };
        if let Some((by, extension)) = opened {
            self.outside.push(self.spaced);
            return self.cover(by.len(), by, extension);
        }
        if let Some((name, _)) = self.rest.strip_prefix("(?P=").and_then(|rest| rest.split_once(')'))
            && let Some(group) = Group::of(name)
        {
            return self.cover_whole(name.len().saturating_add(5), Extension::Reference(group));
        }
        if let Some((name, _)) = self.rest.strip_prefix("(?(").and_then(|rest| rest.split_once(')'))
            && let Some(group) = Group::of(name)
        {
            self.outside.push(self.spaced);
            self.cover(3, "(?:", Extension::If(group));
            return self.cover_whole(name.len().saturating_add(1), Extension::Condition);
        }
        self.flags();
    }

    /// `(`, `(?x)`, `(?x:`.
    fn flags(&mut self) {
        let inside = self.rest.strip_prefix("(?").unwrap_or("");
        let length = inside.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').count();
        let flags = inside.get(..length).unwrap_or("");
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let spaced = (self.spaced || on.contains('x')) && !off.contains('x');
        match inside.as_bytes().get(length) {
            Some(b')') if length > 0 => {
                self.spaced = spaced;
                self.copy(length.saturating_add(3));
            }
            Some(b':') => {
                self.outside.push(self.spaced);
                self.spaced = spaced;
                self.copy(length.saturating_add(3));
            }
            _ => {
                self.outside.push(self.spaced);
                self.copy(1);
            }
        }
    }
}

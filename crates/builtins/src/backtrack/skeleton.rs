//! Finds the parts of a pattern that the syntax of linear matching does not support.
//!
//! The library parses the rest. So each extension is replaced by supported syntax of the same length, so that all offsets in the parsed tree are
//! offsets in the pattern.

use std::collections::BTreeMap;

/// A pattern for the library, with the replaced extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternSkeleton {
    /// The pattern with replacements. It has the same length as the original.
    pub text: String,
    /// The covered extensions, by start offset.
    pub extensions: BTreeMap<usize, PatternExtension>,
}

/// An extension that linear matching does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternExtension {
    /// `(?=`, `(?!`.
    Ahead {
        /// True for the negative form.
        negated: bool,
    },
    /// `(?<=`, `(?<!`.
    Behind {
        /// True for the negative form.
        negated: bool,
    },
    /// `(?>`.
    Atomic,
    /// A conditional `(?(1)`, `(?(name)`, `(?(<name>)`, with its group.
    If(GroupReference),
    /// The placeholder for the group of a conditional.
    Condition,
    /// A backreference: `\1`, `\k<name>`, `(?P=name)`.
    Reference(GroupReference),
}

/// A reference to a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupReference {
    /// By its number.
    Number(u32),
    /// By its name.
    Name(String),
}

impl GroupReference {
    fn parse(text: &str) -> Option<Self> {
        let name = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text);
        if let Ok(number) = name.parse() {
            return Some(Self::Number(number));
        }
        let fits = |letter: char| letter == '_' || letter.is_alphanumeric();
        (!name.is_empty() && name.chars().all(fits)).then(|| Self::Name(name.to_owned()))
    }
}

/// Replaces the parts that linear matching does not support. `spaced` is the flag `x`.
#[must_use]
pub fn build_skeleton(pattern: &str, spaced: bool) -> PatternSkeleton {
    let covered = PatternSkeleton { text: String::with_capacity(pattern.len()), extensions: BTreeMap::new() };
    let mut scanner = SkeletonScanner { rest: pattern, covered, spaced, outside: Vec::new() };
    while !scanner.rest.is_empty() {
        scanner.next();
    }
    scanner.covered
}

struct SkeletonScanner<'p> {
    rest: &'p str,
    covered: PatternSkeleton,
    spaced: bool,
    /// The flag `x` before each open group.
    outside: Vec<bool>,
}

impl SkeletonScanner<'_> {
    fn next(&mut self) {
        match self.rest.as_bytes().first() {
            Some(b'\\') => self.scan_escape(),
            Some(b'[') => self.copy_class(),
            Some(b'(') => self.scan_group(),
            Some(b')') => {
                self.spaced = self.outside.pop().unwrap_or(self.spaced);
                self.copy_chars(1);
            }
            Some(b'#') if self.spaced => self.skip_comment(),
            _ => self.copy_chars(1),
        }
    }

    fn copy_chars(&mut self, characters: usize) {
        let end = self.rest.char_indices().nth(characters).map_or(self.rest.len(), |(at, _)| at);
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.covered.text.push_str(taken);
        self.rest = rest;
    }

    fn cover_bytes(&mut self, bytes: usize, by: &str, extension: PatternExtension) {
        self.covered.extensions.insert(self.covered.text.len(), extension);
        self.covered.text.push_str(by);
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    fn cover_whole(&mut self, bytes: usize, extension: PatternExtension) {
        let by = match bytes.checked_sub(2) {
            None | Some(0) => "\\t".to_owned(),
            Some(inside) => format!("[{}]", "a".repeat(inside)),
        };
        self.cover_bytes(bytes, &by, extension);
    }

    fn skip_comment(&mut self) {
        let line = self.rest.find('\n').unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(line).unwrap_or((self.rest, ""));
        self.covered.text.push_str(taken);
        self.rest = rest;
    }

    fn scan_escape(&mut self) {
        let behind = self.rest.get(1..).unwrap_or("");
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && !behind.starts_with('0') {
            let number = behind.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX);
            return self
                .cover_whole(digits.saturating_add(1), PatternExtension::Reference(GroupReference::Number(number)));
        }
        if let Some((name, _)) = behind.strip_prefix("k<").and_then(|behind| behind.split_once('>'))
            && let Some(group) = GroupReference::parse(name)
        {
            return self.cover_whole(name.len().saturating_add(4), PatternExtension::Reference(group));
        }
        self.copy_chars(2);
    }

    fn copy_class(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.rest.as_bytes().first() {
                None => return,
                Some(b'\\') => self.copy_chars(2),
                Some(b'#') if self.spaced => self.skip_comment(),
                Some(b'[') => {
                    depth = depth.saturating_add(1);
                    self.copy_chars(1);
                    self.skip_space();
                    if self.rest.starts_with('^') {
                        self.copy_chars(1);
                        self.skip_space();
                    }
                    // A `]` at the start of a set is literal.
                    if self.rest.starts_with(']') {
                        self.copy_chars(1);
                    }
                }
                Some(b']') => {
                    self.copy_chars(1);
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.copy_chars(1),
            }
        }
    }

    fn skip_space(&mut self) {
        while self.spaced && self.rest.starts_with(|letter: char| letter.is_whitespace() || letter == '#') {
            if self.rest.starts_with('#') { self.skip_comment() } else { self.copy_chars(1) }
        }
    }

    fn scan_group(&mut self) {
        let starts = |head: &str| self.rest.starts_with(head);
        let opened = if starts("(?=") || starts("(?!") {
            Some(("(?:", PatternExtension::Ahead { negated: starts("(?!") }))
        } else if starts("(?<=") || starts("(?<!") {
            // The flag only fills the space, since extensions are looked up first.
            Some(("(?s:", PatternExtension::Behind { negated: starts("(?<!") }))
        } else if starts("(?>") {
            Some(("(?:", PatternExtension::Atomic))
        } else {
            None
        };
        if let Some((by, extension)) = opened {
            self.outside.push(self.spaced);
            return self.cover_bytes(by.len(), by, extension);
        }
        if let Some((name, _)) = self.rest.strip_prefix("(?P=").and_then(|rest| rest.split_once(')'))
            && let Some(group) = GroupReference::parse(name)
        {
            return self.cover_whole(name.len().saturating_add(5), PatternExtension::Reference(group));
        }
        if let Some((name, _)) = self.rest.strip_prefix("(?(").and_then(|rest| rest.split_once(')'))
            && let Some(group) = GroupReference::parse(name)
        {
            self.outside.push(self.spaced);
            self.cover_bytes(3, "(?:", PatternExtension::If(group));
            return self.cover_whole(name.len().saturating_add(1), PatternExtension::Condition);
        }
        self.scan_flags();
    }

    fn scan_flags(&mut self) {
        let inside = self.rest.strip_prefix("(?").unwrap_or("");
        let length = inside.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').count();
        let flags = inside.get(..length).unwrap_or("");
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let spaced = (self.spaced || on.contains('x')) && !off.contains('x');
        match inside.as_bytes().get(length) {
            Some(b')') if length > 0 => {
                self.spaced = spaced;
                self.copy_chars(length.saturating_add(3));
            }
            Some(b':') => {
                self.outside.push(self.spaced);
                self.spaced = spaced;
                self.copy_chars(length.saturating_add(3));
            }
            _ => {
                self.outside.push(self.spaced);
                self.copy_chars(1);
            }
        }
    }
}

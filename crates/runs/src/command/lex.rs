//! Splitting a command line into the programs it runs: words, quotes, operators, redirections, substitutions, here documents.

mod nested;

use super::expand::{ansi_quoted, expansions, substituted};
use super::word::ShellWord;
use indexmap::IndexMap;
use std::iter::Peekable;
use std::str::Chars;

/// Variables whose values the line itself tells.
pub(super) type Variables = IndexMap<String, String>;

/// Where the standard input of a program comes from, as far as that decides what a shell runs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum SegmentInput {
    /// Wherever that of the line comes from.
    #[default]
    Inherited,
    /// The output of the program in front of `|`.
    Pipe,
    /// The output of several programs in front of `|`: a group or a loop.
    PipeOfGroup,
    /// A file.
    File,
    /// A here document or a here string.
    Text(String),
}

/// The words of one program, its input, and the scripts of the substitutions in them.
#[derive(Debug, Default)]
pub(super) struct CommandSegment {
    pub(super) words: Vec<ShellWord>,
    pub(super) substitutions: Vec<String>,
    /// Scripts whose output stands in place of a file: `<( … )`.
    pub(super) files: Vec<String>,
    pub(super) input: SegmentInput,
}

/// A line that was split.
#[derive(Debug, Default)]
pub(super) struct SegmentList {
    pub(super) done: Vec<CommandSegment>,
    /// A quote or a parenthesis that is never closed: no shell would run the line as it was read.
    pub(super) is_broken: bool,
    /// The line goes on behind what was split.
    pub(super) is_cut: bool,
}

/// Segments and words of a line that are split off: what comes behind is not read, so that a long line takes little memory.
const MOST_SEGMENTS: usize = 4_096;
const MOST_WORDS: usize = 200_000;

/// Splits at `;`, `&`, `|`, `&&`, `||`, line ends and parentheses.
pub(super) fn split_segments(command: &str, variables: &Variables) -> SegmentList {
    let mut lexer = CommandLexer::new(command, variables);
    lexer.lex_command();
    SegmentList { is_cut: lexer.is_full(), done: lexer.done, is_broken: lexer.is_broken }
}

/// What the word that is being read is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordRole {
    Argument,
    /// The target of a redirection.
    Target,
    /// The text of `<<<`.
    HereString,
}

/// A here document that starts behind this line.
struct HereDocument {
    end: String,
    /// Nothing in it is expanded.
    is_quoted: bool,
    /// The number of the segment that reads it.
    segment: usize,
}

struct CommandLexer<'a> {
    rest: Peekable<Chars<'a>>,
    variables: &'a Variables,
    done: Vec<CommandSegment>,
    segment: CommandSegment,
    /// The word that is being read; an empty one in quotes is one, too.
    word: Option<ShellWord>,
    role: WordRole,
    here: Vec<HereDocument>,
    /// A `)` stands just before.
    behind_group: bool,
    is_broken: bool,
    /// Words that were read.
    words: usize,
}

impl<'a> CommandLexer<'a> {
    fn new(command: &'a str, variables: &'a Variables) -> Self {
        Self {
            rest: command.chars().peekable(),
            variables,
            done: Vec::new(),
            segment: CommandSegment::default(),
            word: None,
            role: WordRole::Argument,
            here: Vec::new(),
            behind_group: false,
            is_broken: false,
            words: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.done.len() >= MOST_SEGMENTS || self.words >= MOST_WORDS
    }

    fn lex_command(&mut self) {
        while let (false, Some(character)) = (self.is_full(), self.rest.next()) {
            let behind_group = std::mem::take(&mut self.behind_group);
            match character {
                '\\' => self.lex_escaped(),
                '\'' => self.lex_single_quoted(),
                '"' => self.lex_double_quoted(),
                '`' => self.lex_backquoted(),
                '$' => self.lex_dollar(false),
                '\n' => {
                    self.end_segment();
                    self.read_here_documents();
                }
                '|' => self.lex_pipe(behind_group),
                ')' => {
                    self.end_segment();
                    self.behind_group = true;
                }
                ';' | '(' => self.end_segment(),
                '&' => self.lex_ampersand(),
                '<' | '>' => self.lex_redirection(character),
                '#' if self.word.is_none() => self.skip_comment(),
                blank if blank.is_whitespace() => {
                    self.end_word();
                    self.behind_group = behind_group;
                }
                special @ ('*' | '?' | '[' | '{') => {
                    self.push_char(special);
                    self.word.get_or_insert_default().is_pattern = true;
                }
                other => self.push_char(other),
            }
        }
        self.end_segment();
        self.read_here_documents();
    }

    fn push_char(&mut self, character: char) {
        self.word.get_or_insert_default().text.push(character);
    }

    /// A part of the word that is known only when the line runs.
    fn push_unknown(&mut self, text: &str) {
        self.word.get_or_insert_default().push_unknown(text);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        self.words = self.words.saturating_add(1);
        match std::mem::replace(&mut self.role, WordRole::Argument) {
            WordRole::Argument => self.segment.words.push(word),
            WordRole::HereString => self.segment.input = SegmentInput::Text(word.text),
            WordRole::Target => {}
        }
    }

    fn end_segment(&mut self) {
        self.end_word();
        self.role = WordRole::Argument;
        let segment = std::mem::take(&mut self.segment);
        let awaited = self.here.iter().any(|here| here.segment == self.done.len());
        if awaited || !segment.words.is_empty() || !segment.substitutions.is_empty() || !segment.files.is_empty() {
            self.done.push(segment);
        }
    }

    /// `|` hands the output of a program on, `||` does not.
    fn lex_pipe(&mut self, behind_group: bool) {
        self.end_segment();
        if self.rest.next_if_eq(&'|').is_some() {
            return;
        }
        self.rest.next_if_eq(&'&');
        self.segment.input = if behind_group { SegmentInput::PipeOfGroup } else { SegmentInput::Pipe };
    }

    fn lex_escaped(&mut self) {
        match self.rest.next() {
            // A line that goes on.
            Some('\n') | None => {}
            Some(character) => self.push_char(character),
        }
    }

    /// Takes characters up to a sign, which is left out; a text that ends before is broken.
    fn take_until(&mut self, end: char) -> String {
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some(character) if character == end => return text,
                Some(character) => text.push(character),
                None => {
                    self.is_broken = true;
                    return text;
                }
            }
        }
    }

    fn lex_single_quoted(&mut self) {
        let text = self.take_until('\'');
        self.word.get_or_insert_default().text.push_str(&text);
    }

    fn lex_double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(character) = self.rest.next() {
            match character {
                '"' => return,
                '\\' => match self.rest.next() {
                    Some(next @ ('"' | '\\' | '$' | '`')) => self.push_char(next),
                    Some('\n') | None => {}
                    Some(next) => {
                        self.push_char('\\');
                        self.push_char(next);
                    }
                },
                '`' => self.lex_backquoted(),
                '$' => self.lex_dollar(true),
                other => self.push_char(other),
            }
        }
        self.is_broken = true;
    }

    fn lex_backquoted(&mut self) {
        let script = self.take_until('`');
        self.push_unknown(&format!("`{script}`"));
        self.segment.substitutions.push(script);
    }

    /// What a `$` begins.
    fn lex_dollar(&mut self, is_quoted: bool) {
        match self.rest.peek() {
            Some('(') => self.lex_substitution(),
            Some('{') => {
                self.rest.next();
                let inner = self.lex_braced();
                match self.variables.get(&inner) {
                    Some(value) => self.expand_value(value, is_quoted),
                    None => {
                        self.segment.substitutions.extend(expansions(&inner));
                        self.push_unknown(&format!("${{{inner}}}"));
                    }
                }
            }
            Some('\'') if !is_quoted => {
                self.rest.next();
                let text = ansi_quoted(&mut self.rest);
                self.is_broken |= text.is_none();
                self.word.get_or_insert_default().text.push_str(&text.unwrap_or_default());
            }
            // `$"…"` is a text that is translated.
            Some('"') if !is_quoted => {}
            Some(first) if first.is_alphanumeric() || "_@*#?!-$".contains(*first) => {
                let name = self.variable_name();
                match self.variables.get(&name) {
                    Some(value) => self.expand_value(value, is_quoted),
                    None => self.push_unknown(&format!("${name}")),
                }
            }
            _ => self.push_char('$'),
        }
    }

    fn variable_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(character) = self.rest.next_if(|next| next.is_alphanumeric() || *next == '_') {
            name.push(character);
        }
        if name.is_empty() {
            name.extend(self.rest.next());
        }
        name
    }

    /// The value of a variable; outside of quotes it is several words where it holds space.
    fn expand_value(&mut self, value: &str, is_quoted: bool) {
        self.word.get_or_insert_default();
        for character in value.chars() {
            match character.is_whitespace() && !is_quoted {
                true => self.end_word(),
                false => self.push_char(character),
            }
        }
    }

    /// `$( … )`; `$(( … ))` is a number.
    fn lex_substitution(&mut self) {
        self.rest.next();
        let script = self.lex_parenthesised();
        self.push_unknown(&format!("$({script})"));
        self.segment.substitutions.extend(substituted(&script));
    }

    /// `&&` and `&` end a program; `&>` redirects.
    fn lex_ampersand(&mut self) {
        match self.rest.peek() {
            Some('>') => {
                self.end_word();
                self.rest.next();
                self.lex_redirection('>');
            }
            _ => self.end_segment(),
        }
    }

    /// Neither the target nor a number in front of it is an argument.
    fn lex_redirection(&mut self, character: char) {
        if self.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut arrows = 1;
        while self.rest.next_if_eq(&character).is_some() {
            arrows += 1;
        }
        if character == '<' && arrows == 2 {
            self.lex_here_document();
            return;
        }
        if self.rest.next_if_eq(&'(').is_some() {
            // `<( … )` is a program of its own.
            let script = self.lex_parenthesised();
            self.segment.files.push(script);
            return;
        }
        self.rest.next_if(|next| matches!(next, '&' | '|'));
        while self.rest.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
        // `< <( … )`
        if self.rest.peek() == Some(&'<') {
            return;
        }
        self.role = if arrows == 3 { WordRole::HereString } else { WordRole::Target };
        if character == '<' && arrows == 1 {
            self.segment.input = SegmentInput::File;
        }
    }

    fn lex_here_document(&mut self) {
        let (end, is_quoted) = self.here_end(&mut String::new());
        self.here.push(HereDocument { end, is_quoted, segment: self.done.len() });
    }

    fn read_here_documents(&mut self) {
        for here in std::mem::take(&mut self.here) {
            let text = self.here_text(&here.end, &mut String::new());
            let Some(segment) = self.done.get_mut(here.segment) else { continue };
            if !here.is_quoted {
                segment.substitutions.extend(expansions(&text));
            }
            segment.input = SegmentInput::Text(text);
        }
    }

    fn skip_comment(&mut self) {
        while self.rest.next_if(|next| *next != '\n').is_some() {}
    }
}

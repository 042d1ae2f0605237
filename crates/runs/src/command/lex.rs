//! Splitting a command line into the programs it runs: words, quotes, operators, redirections, substitutions, here documents.

use std::iter::Peekable;
use std::str::Chars;

#[derive(Debug, Default)]
pub(super) struct CommandSegment {
    pub(super) words: Vec<String>,
    pub(super) substitutions: Vec<String>,
}

/// Splits at `;`, `&`, `|`, `&&`, `||`, line ends and parentheses.
pub(super) fn split_segments(command: &str) -> Vec<CommandSegment> {
    let mut lexer = CommandLexer {
        rest: command.chars().peekable(),
        done: Vec::new(),
        segment: CommandSegment::default(),
        word: None,
        redirected: false,
        here: Vec::new(),
    };
    lexer.lex_command();
    lexer.done
}

struct CommandLexer<'a> {
    rest: Peekable<Chars<'a>>,
    done: Vec<CommandSegment>,
    segment: CommandSegment,
    /// `Some("")` for an empty quoted word.
    word: Option<String>,
    /// True if the current word is the target of a redirection.
    redirected: bool,
    /// Delimiters of here documents that start after this line.
    here: Vec<String>,
}

impl CommandLexer<'_> {
    fn lex_command(&mut self) {
        while let Some(character) = self.rest.next() {
            match character {
                '\\' => self.lex_escaped(),
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '`' => self.lex_backquoted(),
                '$' if self.rest.peek() == Some(&'(') => self.lex_substitution(),
                '\n' => {
                    self.end_segment();
                    self.skip_here_documents();
                }
                ';' | '|' | '(' | ')' => self.end_segment(),
                '&' => self.lex_ampersand(),
                '<' | '>' => self.lex_redirection(character),
                '#' if self.word.is_none() => self.skip_comment(),
                blank if blank.is_whitespace() => self.end_word(),
                other => self.push_char(other),
            }
        }
        self.end_segment();
    }

    fn push_char(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.redirected)
        {
            self.segment.words.push(word);
        }
    }

    fn end_segment(&mut self) {
        self.end_word();
        self.redirected = false;
        if !self.segment.words.is_empty() || !self.segment.substitutions.is_empty() {
            self.done.push(std::mem::take(&mut self.segment));
        }
    }

    fn lex_escaped(&mut self) {
        match self.rest.next() {
            // A line that goes on.
            Some('\n') | None => {}
            Some(character) => self.push_char(character),
        }
    }

    fn single_quoted(&mut self) {
        let text: String = self.rest.by_ref().take_while(|character| *character != '\'').collect();
        self.word.get_or_insert_default().push_str(&text);
    }

    fn double_quoted(&mut self) {
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
                '$' if self.rest.peek() == Some(&'(') => self.lex_substitution(),
                other => self.push_char(other),
            }
        }
    }

    fn lex_backquoted(&mut self) {
        let script: String = self.rest.by_ref().take_while(|character| *character != '`').collect();
        self.word.get_or_insert_default().push_str(&format!("`{script}`"));
        self.segment.substitutions.push(script);
    }

    /// `$( … )` up to its own closing parenthesis, skipping quotes inside.
    fn lex_substitution(&mut self) {
        self.rest.next();
        let (mut script, mut depth, mut quote) = (String::new(), 1, None);
        while let Some(character) = self.rest.next() {
            match (character, quote) {
                ('\\', None | Some('"')) => {
                    script.push(character);
                    script.extend(self.rest.next());
                    continue;
                }
                ('\'' | '"', None) => quote = Some(character),
                (_, Some(open)) if open == character => quote = None,
                ('(', None) => depth += 1,
                (')', None) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            script.push(character);
        }
        self.word.get_or_insert_default().push_str(&format!("$({script})"));
        self.segment.substitutions.push(script);
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
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut arrows = 1;
        while self.rest.next_if_eq(&character).is_some() {
            arrows += 1;
        }
        if character == '<' && arrows == 2 {
            self.here_document();
            return;
        }
        if self.rest.peek() == Some(&'(') {
            // `<( … )` is a program of its own.
            return;
        }
        self.rest.next_if(|next| matches!(next, '&' | '|'));
        while self.rest.next_if(|next| *next == ' ').is_some() {}
        self.redirected = true;
    }

    fn here_document(&mut self) {
        while self.rest.next_if(|next| matches!(next, '-' | ' ' | '\'' | '"' | '\\')).is_some() {}
        let mut end = String::new();
        while let Some(character) = self.rest.next_if(|next| next.is_alphanumeric() || *next == '_') {
            end.push(character);
        }
        self.rest.next_if(|next| matches!(next, '\'' | '"'));
        self.here.push(end);
    }

    fn skip_here_documents(&mut self) {
        for end in std::mem::take(&mut self.here) {
            while self.rest.peek().is_some() {
                let line: String = self.rest.by_ref().take_while(|character| *character != '\n').collect();
                if line.trim() == end {
                    break;
                }
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.rest.next_if(|next| *next != '\n').is_some() {}
    }
}

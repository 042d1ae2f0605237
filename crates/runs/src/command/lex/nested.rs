//! Texts inside of a command line whose end has to be found first: `${…}`, `$(…)`, here documents.

use super::CommandLexer;

impl CommandLexer<'_> {
    /// What stands in `${ … }`.
    pub(super) fn lex_braced(&mut self) -> String {
        let (mut text, mut depth) = (String::new(), 1_usize);
        for character in self.rest.by_ref() {
            match character {
                '{' => depth = depth.saturating_add(1),
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return text;
            }
            text.push(character);
        }
        self.is_broken = true;
        text
    }

    /// What stands before the closing parenthesis; quotes, comments and here documents inside are skipped.
    pub(super) fn lex_parenthesised(&mut self) -> String {
        let (mut script, mut depth, mut quote) = (String::new(), 1_usize, None);
        let mut ends: Vec<String> = Vec::new();
        while let Some(character) = self.rest.next() {
            match (character, quote) {
                ('\\', None | Some('"')) => {
                    script.push(character);
                    script.extend(self.rest.next());
                    continue;
                }
                ('\'' | '"', None) => quote = Some(character),
                (_, Some(open)) if open == character => quote = None,
                ('(', None) => depth = depth.saturating_add(1),
                (')', None) => depth = depth.saturating_sub(1),
                ('#', None) if script.ends_with(char::is_whitespace) => {
                    self.skip_comment();
                    continue;
                }
                ('<', None) if script.ends_with('<') && !script.ends_with("<<") && self.rest.peek() != Some(&'<') => {
                    script.push(character);
                    let (end, _) = self.here_end(&mut script);
                    ends.push(end);
                    continue;
                }
                ('\n', None) => {
                    script.push(character);
                    ends.drain(..).for_each(|end| _ = self.here_text(&end, &mut script));
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                return script;
            }
            script.push(character);
        }
        self.is_broken = true;
        script
    }

    /// The word that ends a here document, and whether it is quoted. What is read is added to `raw`.
    pub(super) fn here_end(&mut self, raw: &mut String) -> (String, bool) {
        while let Some(next) = self.rest.next_if(|next| matches!(next, '-' | ' ' | '\t')) {
            raw.push(next);
        }
        let (mut end, mut is_quoted) = (String::new(), false);
        while let Some(next) =
            self.rest.next_if(|next| !next.is_whitespace() && !matches!(next, ';' | '&' | '|' | '<' | '>' | '(' | ')'))
        {
            raw.push(next);
            match next {
                '\'' | '"' => {
                    is_quoted = true;
                    let text = self.take_until(next);
                    end.push_str(&text);
                    raw.push_str(&text);
                    raw.push(next);
                }
                '\\' => is_quoted = true,
                other => end.push(other),
            }
        }
        (end, is_quoted)
    }

    /// The lines of a here document. What is read, the end included, is added to `raw`.
    pub(super) fn here_text(&mut self, end: &str, raw: &mut String) -> String {
        let mut text = String::new();
        while self.rest.peek().is_some() {
            let mut line = String::new();
            while let Some(next) = self.rest.next_if(|next| *next != '\n') {
                line.push(next);
            }
            raw.push_str(&line);
            raw.extend(self.rest.next());
            if line.trim() == end.trim() {
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

//! A token cursor that can also read the arguments of macros.

use super::tokens::{PolicyToken, TokenKind};
use crate::shape::DiagnosticSink;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Maximum number of macro expansions in one file.
const EXPANSIONS: usize = 10_000;
/// Maximum nesting of brackets, operators and macros.
const LEVELS: usize = 96;

/// A macro: `def temporal name(?a, ?b) { … };`
#[derive(Debug)]
pub(super) struct MacroDefinition {
    pub(super) is_temporal: bool,
    pub(super) parameters: Vec<String>,
    pub(super) body: Rc<[PolicyToken]>,
    /// True if the macro is built in, so its tokens have no location in the file.
    pub(super) is_built_in: bool,
}

/// The tokens passed for a parameter, and the macro expansion in which they were written.
#[derive(Debug, Clone)]
struct MacroArgument {
    tokens: Rc<[PolicyToken]>,
    frame: Option<Rc<MacroFrame>>,
}

/// The arguments of a macro while its body is read.
#[derive(Debug)]
pub(super) struct MacroFrame {
    arguments: BTreeMap<String, MacroArgument>,
    /// Number of this expansion, which makes the names that it creates unique.
    number: usize,
}

/// State shared by all cursors.
pub(super) struct ReaderState<'s> {
    pub(super) said: &'s mut DiagnosticSink,
    pub(super) macros: BTreeMap<String, Rc<MacroDefinition>>,
    expansions: usize,
    levels: usize,
}

impl<'s> ReaderState<'s> {
    pub(super) fn new(said: &'s mut DiagnosticSink) -> Self {
        Self { said, macros: BTreeMap::new(), expansions: 0, levels: 0 }
    }

    /// Reports an error and returns `None`.
    pub(super) fn refuse<T>(&mut self, place: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.said.error(Slug::Syntax, place, message, help);
        None
    }

    /// Reads something nested, up to a maximum depth.
    pub(super) fn nested<T>(&mut self, place: Span, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.levels >= LEVELS {
            return self.refuse(place, "this is nested too deep", format!("write at most {LEVELS} levels"));
        }
        self.levels = self.levels.saturating_add(1);
        let read = read(self);
        self.levels = self.levels.saturating_sub(1);
        read
    }
}

/// A position in a list of tokens.
#[derive(Debug, Clone)]
pub(super) struct TokenCursor {
    tokens: Rc<[PolicyToken]>,
    at: usize,
    frame: Option<Rc<MacroFrame>>,
    /// Location of the end of the tokens.
    end: Span,
}

impl TokenCursor {
    pub(super) fn new(tokens: Rc<[PolicyToken]>, frame: Option<Rc<MacroFrame>>, end: Span) -> Self {
        Self { tokens, at: 0, frame, end }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn ahead(&self, by: usize) -> Option<&PolicyToken> {
        self.tokens.get(self.at.saturating_add(by))
    }

    /// Returns the location of the next token, or of the end.
    pub(super) fn span(&self) -> Span {
        self.ahead(0).map_or(self.end, |token| token.span)
    }

    /// Returns the location of the last token that was read.
    pub(super) fn last_span(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.end, |token| token.span)
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.is_sign_ahead(0, sign)
    }

    pub(super) fn is_sign_ahead(&self, by: usize, sign: &str) -> bool {
        self.ahead(by).is_some_and(|token| matches!(token.kind, TokenKind::Sign(found) if found == sign))
    }

    pub(super) fn is_text_ahead(&self, by: usize) -> bool {
        self.ahead(by).is_some_and(|token| matches!(token.kind, TokenKind::Text { .. }))
    }

    pub(super) fn word_ahead(&self, by: usize) -> Option<&str> {
        match &self.ahead(by)?.kind {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.word_ahead(0) == Some(word)
    }

    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    /// Reads the next token if it is one of these signs.
    pub(super) fn take_one_of(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        signs.iter().copied().find(|sign| self.take_sign(sign))
    }

    pub(super) fn take_token(&mut self) -> Option<PolicyToken> {
        let token = self.ahead(0).cloned()?;
        self.at = self.at.saturating_add(1);
        Some(token)
    }

    pub(super) fn take_name(&mut self) -> Option<(Rc<str>, Span)> {
        let token = self.ahead(0)?;
        let TokenKind::Word(word) = &token.kind else { return None };
        let found = (Rc::clone(word), token.span);
        self.at = self.at.saturating_add(1);
        Some(found)
    }

    pub(super) fn take_number(&mut self) -> Option<Rc<str>> {
        let TokenKind::Number(number) = &self.ahead(0)?.kind else { return None };
        let found = Rc::clone(number);
        self.at = self.at.saturating_add(1);
        Some(found)
    }

    /// Reads a text literal; returns its decoded and its raw form.
    pub(super) fn take_text(&mut self) -> Option<(Rc<str>, Rc<str>)> {
        let TokenKind::Text { decoded, raw } = &self.ahead(0)?.kind else { return None };
        let found = (Rc::clone(decoded), Rc::clone(raw));
        self.at = self.at.saturating_add(1);
        Some(found)
    }

    /// Reports what was expected here.
    pub(super) fn expected<T>(&self, what: &str, state: &mut ReaderState<'_>) -> Option<T> {
        let found = self.ahead(0).map_or_else(|| "the end".to_owned(), PolicyToken::describe);
        state.refuse(self.span(), format!("expected {what}, found {found}"), format!("write {what}"))
    }

    pub(super) fn need_sign(&mut self, sign: &str, state: &mut ReaderState<'_>) -> Option<()> {
        if self.take_sign(sign) { Some(()) } else { self.expected(&format!("`{sign}`"), state) }
    }

    pub(super) fn need_word(&mut self, word: &str, state: &mut ReaderState<'_>) -> Option<()> {
        if self.take_word(word) { Some(()) } else { self.expected(&format!("`{word}`"), state) }
    }

    pub(super) fn need_name(&mut self, what: &str, state: &mut ReaderState<'_>) -> Option<(Rc<str>, Span)> {
        match self.take_name() {
            Some(found) => Some(found),
            None => self.expected(what, state),
        }
    }

    /// Reads a group in brackets and returns a cursor over its contents.
    pub(super) fn take_group(&mut self, state: &mut ReaderState<'_>) -> Option<TokenCursor> {
        let Some(length) = self.group_length() else {
            return state.refuse(self.span(), "this bracket is not closed", "close it");
        };
        let from = self.at.saturating_add(1);
        let to = self.at.saturating_add(length).saturating_sub(1);
        let inside: Rc<[PolicyToken]> = self.tokens.get(from..to).unwrap_or_default().into();
        let end = self.tokens.get(to).map_or(self.end, |token| token.span);
        self.at = self.at.saturating_add(length);
        Some(Self::new(inside, self.frame.clone(), end))
    }

    /// Returns the number of tokens of the bracketed group here, including its brackets.
    fn group_length(&self) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().skip(self.at).enumerate() {
            match token.kind {
                TokenKind::Sign("(" | "[" | "{") => depth = depth.saturating_add(1),
                TokenKind::Sign(")" | "]" | "}") => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at.saturating_add(1));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// True if one of these signs follows the bracketed group that starts `before` tokens ahead.
    pub(super) fn has_sign_behind_group(&self, before: usize, signs: &[&str]) -> bool {
        let mut behind = self.clone();
        behind.at = behind.at.saturating_add(before);
        let Some(length) = behind.group_length() else { return false };
        signs.iter().any(|sign| behind.is_sign_ahead(length, sign))
    }

    /// Splits a group at its top-level commas.
    pub(super) fn split_at_commas(self) -> Vec<TokenCursor> {
        let mut parts = Vec::new();
        let (mut depth, mut part) = (0_usize, Vec::new());
        for token in self.tokens.iter() {
            match token.kind {
                TokenKind::Sign("(" | "[" | "{") => depth = depth.saturating_add(1),
                TokenKind::Sign(")" | "]" | "}") => depth = depth.saturating_sub(1),
                TokenKind::Sign(",") if depth == 0 => {
                    let end = token.span;
                    parts.push(Self::new(std::mem::take(&mut part).into(), self.frame.clone(), end));
                    continue;
                }
                _ => {}
            }
            part.push(token.clone());
        }
        if !part.is_empty() {
            parts.push(Self::new(part.into(), self.frame, self.end));
        }
        parts
    }

    /// Reads a parameter `?name` and returns a cursor over its argument.
    pub(super) fn take_parameter(&mut self, state: &mut ReaderState<'_>) -> Option<TokenCursor> {
        let place = self.span();
        self.need_sign("?", state)?;
        let (name, _) = self.need_name("the name of a parameter", state)?;
        let argument = self.frame.as_ref().and_then(|frame| frame.arguments.get(&*name).cloned());
        match argument {
            Some(argument) => Some(Self::new(argument.tokens, argument.frame, place)),
            None => {
                state.refuse(place, format!("`?{name}` is no parameter of a macro here"), "name one that the macro has")
            }
        }
    }

    /// Reads a name `$name`, which is unique to each macro expansion.
    pub(super) fn take_own_name(&mut self, state: &mut ReaderState<'_>) -> Option<(String, Span)> {
        let place = self.span();
        self.need_sign("$", state)?;
        let (name, _) = self.need_name("a name", state)?;
        match &self.frame {
            Some(frame) => Some((format!("{name}${}", frame.number), place)),
            None => state.refuse(place, format!("`${name}` is used outside of a macro"), "write a plain name"),
        }
    }

    /// Reads a macro call `name(…)` and returns a cursor over the body.
    pub(super) fn take_call(&mut self, state: &mut ReaderState<'_>) -> Option<(Rc<MacroDefinition>, TokenCursor)> {
        let (name, place) = self.need_name("the name of a macro", state)?;
        let arguments = self.take_group(state)?.split_at_commas();
        let Some(definition) = state.macros.get(&*name).cloned() else {
            let known = state.macros.keys().map(String::as_str);
            let help = averment_base::diagnostic::suggest::suggest_name(&name, known).map_or_else(
                || "define it: `def temporal name(?a) { … };`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return state.refuse(place, format!("there is no macro `{name}`"), help);
        };
        let (wanted, given) = (definition.parameters.len(), arguments.len());
        if wanted != given {
            let help = format!(
                "write {wanted}: {}",
                definition.parameters.iter().map(|name| format!("`?{name}`")).collect::<Vec<_>>().join(", ")
            );
            return state.refuse(place, format!("`{name}` has {wanted} parameters, and {given} are given"), help);
        }
        if state.expansions >= EXPANSIONS {
            return state.refuse(place, format!("more than {EXPANSIONS} macros are expanded"), "write less of them");
        }
        state.expansions = state.expansions.saturating_add(1);
        let named = definition.parameters.iter().cloned();
        let arguments = named
            .zip(arguments.into_iter().map(|part| MacroArgument { tokens: part.tokens, frame: part.frame }))
            .collect();
        let frame = MacroFrame { arguments, number: state.expansions };
        let body = match definition.is_built_in {
            true => definition.body.iter().map(|token| PolicyToken { span: place, ..token.clone() }).collect(),
            false => Rc::clone(&definition.body),
        };
        Some((definition, Self::new(body, Some(Rc::new(frame)), place)))
    }

    /// Returns all tokens.
    pub(super) fn into_tokens(self) -> Rc<[PolicyToken]> {
        self.tokens
    }

    /// Reports an error unless all tokens were read.
    pub(super) fn need_end(&self, state: &mut ReaderState<'_>) -> Option<()> {
        if self.is_at_end() { Some(()) } else { self.expected("the end of this part", state) }
    }
}

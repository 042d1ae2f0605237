//! Reads a file of policies: macros, annotations, scopes and conditions.

use super::cedar_reader::read_cedar;
use super::cursor::{MacroDefinition, ReaderState, TokenCursor};
use super::names::{entity_list, entity_name, type_name};
use super::tokens::{PolicyToken, read_tokens};
use super::tree::{EntityTest, PolicyCondition, PolicyFile, PolicyRule, ScopeRoot, ScopeTest};
use crate::shape::DiagnosticSink;
use averment_base::source::{FileId, Span};
use std::rc::Rc;

/// Macros that every policy may use.
const BUILT_IN: &str = "
def temporal count_within(?time, ?event) {
    count for ($at: Timepoint). where (formerly within ?time (?event && tp($at)))
};
def temporal sum_within(?amount, ?time, ?event) {
    sum ?amount for (?amount: Long), ($at: Timepoint). where (formerly within ?time (?event && tp($at)))
};
def temporal count_distinct_within(?value, ?time, ?event) {
    count for (?value: String). where (formerly within ?time ?event)
};
def temporal bind(?name, ?value, ?condition) {
    exists (?name: Long). (?value == ?name && ?condition)
};
";

/// Maximum number of policies in one file.
const POLICIES: usize = 2_000;

/// Reads the policies of a file; returns `None` if it is unreadable, which was reported.
pub(super) fn read_policies(text: &str, file: FileId, said: &mut DiagnosticSink) -> Option<PolicyFile> {
    let built_in = read_tokens(BUILT_IN, file, said)?;
    let tokens = read_tokens(text, file, said)?;
    let end = Span::new(file, text.len(), text.len());
    let mut state = ReaderState::new(said);
    read_definitions(TokenCursor::new(built_in.into(), None, end), true, &mut state)?;
    // Macros of the file take precedence over built-in macros.
    let own: Rc<[PolicyToken]> = tokens.into();
    read_definitions(TokenCursor::new(Rc::clone(&own), None, end), false, &mut state)?;
    let mut from = TokenCursor::new(own, None, end);
    let mut policies = PolicyFile::default();
    while !from.is_at_end() {
        if from.is_word("def") {
            skip_definition(&mut from, &mut state)?;
            continue;
        }
        let policy = read_policy(&mut from, &mut state)?;
        if policies.policies.len() >= POLICIES {
            return state.refuse(policy.span, format!("the file has more than {POLICIES} policies"), "split it");
        }
        policies.policies.push(policy);
    }
    Some(policies)
}

/// Reads all macros first, because a macro may be used before its definition.
fn read_definitions(mut from: TokenCursor, is_built_in: bool, state: &mut ReaderState<'_>) -> Option<()> {
    while !from.is_at_end() {
        if !from.is_word("def") {
            if from.is_sign("{") || from.is_sign("(") {
                from.take_group(state)?;
            } else {
                from.take_token();
            }
            continue;
        }
        let definition = skip_definition(&mut from, state)?;
        let (name, place, mut definition) = definition;
        definition.is_built_in = is_built_in;
        let before = state.macros.insert(name.clone(), Rc::new(definition));
        if before.is_some_and(|before| before.is_built_in == is_built_in) {
            return state.refuse(place, format!("the macro `{name}` is defined twice"), "leave one of them out");
        }
    }
    Some(())
}

fn skip_definition(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<(String, Span, MacroDefinition)> {
    from.need_word("def", state)?;
    let is_temporal = match from.word_ahead(0) {
        Some("temporal") => true,
        Some("cedar") => false,
        _ => return from.expected("`temporal` or `cedar`", state),
    };
    from.take_token();
    let (name, place) = from.need_name("the name of a macro", state)?;
    let mut parameters = Vec::new();
    if !from.is_sign("(") {
        return from.expected("`(`, with the parameters of the macro", state);
    }
    for mut part in from.take_group(state)?.split_at_commas() {
        part.need_sign("?", state)?;
        parameters.push(part.need_name("the name of a parameter", state)?.0.to_string());
        part.need_end(state)?;
    }
    if !from.is_sign("{") {
        return from.expected("`{`, with the body of the macro", state);
    }
    let body = from.take_group(state)?.into_tokens();
    from.take_sign(";");
    Some((name.to_string(), place, MacroDefinition { is_temporal, parameters, body, is_built_in: false }))
}

fn read_policy(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<PolicyRule> {
    let start = from.span();
    let mut id = None;
    while from.take_sign("@") {
        let (name, _) = from.need_name("the name of an annotation", state)?;
        if !from.is_sign("(") {
            continue;
        }
        let mut inside = from.take_group(state)?;
        let Some((text, _)) = inside.take_text() else { return inside.expected("a text in quotes", state) };
        inside.need_end(state)?;
        if &*name == "id" {
            id = Some(text.to_string());
        }
    }
    let permits = match from.word_ahead(0) {
        Some("permit") => true,
        Some("forbid") => false,
        _ => return from.expected("`permit`, `forbid` or `def`", state),
    };
    from.take_token();
    if !from.is_sign("(") {
        return from.expected("`(principal, action, resource)`", state);
    }
    let scope = read_scope(from, state)?;
    let mut conditions = Vec::new();
    loop {
        let negated = match from.word_ahead(0) {
            Some("when") => false,
            Some("unless") => true,
            _ => break,
        };
        from.take_token();
        let marked = ["temporal", "guardrail"].into_iter().find(|word| from.is_word(word));
        if marked == Some("guardrail") {
            from.take_token();
        }
        let body = match marked {
            Some("temporal") => read_cedar(from, state)?,
            _ if from.is_sign("{") => {
                let mut inside = from.take_group(state)?;
                let body = read_cedar(&mut inside, state)?;
                inside.need_end(state)?;
                body
            }
            _ => return from.expected("`{`, `temporal {` or `guardrail {`", state),
        };
        conditions.push(PolicyCondition { negated, body });
    }
    let span = start.cover_with(from.last_span());
    from.need_sign(";", state)?;
    Some(PolicyRule { permits, id, scope, conditions, span })
}

fn read_scope(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<Vec<ScopeTest>> {
    let place = from.span();
    let parts = from.take_group(state)?.split_at_commas();
    if parts.len() != ScopeRoot::ALL.len() {
        let help = "write `(principal, action == Namespace::Action::\"Tool\", resource)`";
        return state.refuse(place, format!("the scope has {} parts", parts.len()), help);
    }
    let mut tests = Vec::new();
    for (root, mut part) in ScopeRoot::ALL.into_iter().zip(parts) {
        part.need_word(root.name(), state)?;
        if part.take_word("is") {
            let kind = type_name(&mut part, state)?;
            tests.push(ScopeTest { root, test: EntityTest::Is(kind) });
        }
        if part.take_sign("==") {
            tests.push(ScopeTest { root, test: EntityTest::Equals(entity_name(&mut part, state)?) });
        } else if part.take_word("in") {
            tests.push(ScopeTest { root, test: EntityTest::In(entity_list(&mut part, state)?) });
        }
        part.need_end(state)?;
    }
    Some(tests)
}

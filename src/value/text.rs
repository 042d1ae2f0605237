//! Text: a slice of the run, unescaped when somebody looks.

use std::cell::OnceCell;

/// Text of a run or a computed one.
#[derive(Debug, Clone, Copy)]
pub enum Text<'run> {
    /// Text without escapes.
    Plain(&'run str),
    /// Text of the trace that holds escapes.
    Escaped(&'run Escaped<'run>),
}

/// Escaped text with its unescaped form once somebody has looked.
#[derive(Debug)]
pub struct Escaped<'run> {
    raw: &'run str,
    plain: OnceCell<&'run str>,
    arena: &'run bumpalo::Bump,
}

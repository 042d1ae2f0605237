//! Numbers: the text of the trace until compared, then exact integers or the nearest double.

/// A number.
#[derive(Debug, Clone, Copy)]
pub enum Number<'run> {
    /// As it stands in the trace; valid JSON number syntax.
    Written(&'run str),
    /// A computed integer.
    Integer(i64),
    /// A computed number; finite.
    Real(f64),
}

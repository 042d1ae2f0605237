//! Whether the cost of a run is its own.

/// Where the cost of a run comes from, where somebody gives a table of prices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CostSource {
    /// No table was given.
    #[default]
    NotAsked,
    /// The run records it.
    Recorded,
    /// From the table.
    ByTable,
    /// Unknown, with the reason.
    Unknown(String),
}

//! Wallfacer: its results for assertions, documents, fixtures, `for_each_tool` blocks and sequences.

mod edges;
mod generated;
mod packs;
mod seeds;
mod shapes;
mod vectors;

pub use vectors::word as word_of_verdict;

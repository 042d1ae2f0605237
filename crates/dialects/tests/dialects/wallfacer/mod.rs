//! Wallfacer: what it says of assertions, documents, fixtures, blocks for each tool and sequences.

mod edges;
mod generated;
mod packs;
mod seeds;
mod shapes;
mod vectors;

pub use vectors::word as word_of_verdict;

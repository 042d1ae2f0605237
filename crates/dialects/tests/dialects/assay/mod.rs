//! Files of Assay, held against what its documents print and what its program said.

mod conformance;
mod documented;
mod program;
mod refused;

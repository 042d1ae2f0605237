//! Files of Assay, compared with its documentation and with recorded results of its program.

mod conformance;
mod documented;
mod program;
mod refused;

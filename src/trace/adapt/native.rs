//! The normal form itself.

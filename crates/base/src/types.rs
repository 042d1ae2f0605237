//! The types of values.

use serde::{Deserialize, Serialize};

/// The types of section 3 of the reference and those that the checker tells apart beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum Type {
    Any,
    String,
    Number,
    Integer,
    Boolean,
    Duration,
    Money,
    Size,
    List,
    Object,
    Null,
    Range,
    Regex,
}

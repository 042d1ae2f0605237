//! The one table of instructions.

use serde::{Deserialize, Serialize};

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// Pushes a constant.
    Constant(u32),
}

//! Text assertions against vectors of another tool: every score to the last bit, every verdict, or a documented difference.

mod assertions;
mod details;
mod differences;
mod paths;
mod sentences;

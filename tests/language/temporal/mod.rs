//! Statements about the course of a run, from the text of a rule to its verdict and its words.

mod blocks;
mod calls_match;
mod like;
mod conformance;
mod golden;
mod limits;
mod properties;
mod rows;
mod run;
mod unfinished;
mod unknown;

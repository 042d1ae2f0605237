//! Statements about the course of a run, from the text of a rule to its verdict and its words.

mod blocks;
mod calls_match;
mod conformance;
mod golden;
mod like;
mod limits;
mod properties;
mod rows;
mod run;
mod unfinished;
mod unknown;

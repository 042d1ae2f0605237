//! What an agent did: a run with its steps in the normal form that every trace format is read into, its timeline, and the words of its
//! shell commands.

pub mod command;
pub mod run;
pub mod timeline;

//! Help for writing rules: completion, hover, signatures, readings in words.
//!
//! Everything here works on text, a byte offset and a [`CursorContext`]: the declared names, and the contents of a recorded run. It examines words
//! and signs, not the tree, because text is nearly always invalid while somebody is typing. The language server and the REPL share it.
//!
//! ```
//! use averment_ide::assist::{CursorContext, complete_at};
//! let found = complete_at("require se", 10, &CursorContext::default());
//! assert_eq!(found.range, 8..10);
//! ```

mod chain;
mod complete;
mod context;
mod cursor;
mod entries;
mod hover;
mod member;
mod paint;
mod signature;
mod skeleton;
mod statement_reading;
mod vocabulary;
mod word_role;

pub use complete::{Completion, CompletionKind, Completions, complete_at, strip_placeholders};
pub use context::{CursorContext, DeclaredName, DeclaredTool, RunShape};
pub use cursor::bracket_pairs;
pub use hover::{Hover, hover_at};
pub use paint::{HighlightClass, HighlightToken, highlight_tokens};
pub use signature::{Signature, signature_at};
pub use skeleton::ValueSkeleton;
pub use statement_reading::{misreading_hint, statement_reading, step_reading};
pub use vocabulary::{Word, explained_words, words_with_role};
pub use word_role::Role;

//! What helps a person while writing: completion, what stands under the cursor, signatures, readings in words.
//!
//! Everything here works on text, a byte offset and a [`CursorContext`]: the declared names, and what a recorded run holds. It looks at words
//! and signs, not at the tree, because the text is nearly always broken where somebody is typing. The language server and the interactive
//! session share it.
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

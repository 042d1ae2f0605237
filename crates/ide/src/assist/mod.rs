//! What helps a person while writing: completion, what stands under the cursor, signatures, readings in words.
//!
//! Everything here works on text, a byte offset and [`Facts`]: what is declared and what a recorded run holds. It looks at words and signs, not at
//! the tree, because the text is nearly always broken where somebody is typing. The language server and the interactive session share it.
//!
//! ```
//! use averment_ide::assist::{Facts, complete};
//! let found = complete("require se", 10, &Facts::default());
//! assert_eq!(found.range, 8..10);
//! ```

mod chain;
mod complete;
mod cursor;
mod entries;
mod facts;
mod hover;
mod member;
mod paint;
mod reading;
mod signature;
mod skeleton;
mod vocabulary;

pub use complete::{Completion, CompletionKind, Completions, complete, plain};
pub use cursor::brackets;
pub use facts::{Facts, Named, Recorded, ToolFacts};
pub use hover::{Hover, hover};
pub use paint::{Class, Painted, paint};
pub use reading::{hint, reading, step_reading};
pub use signature::{Signature, signature};
pub use skeleton::Skeleton;
pub use vocabulary::{Role, Word, words};

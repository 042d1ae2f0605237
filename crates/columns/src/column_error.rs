//! Why a file with columns cannot be read.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::{fmt, io};

thread_local! {
    /// True while this thread reads what a file says, where a panic becomes an error and is not printed.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// The hook that prints panics is changed once.
static SILENCED: Once = Once::new();

/// What is wrong with a file with columns, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnError {
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub help: String,
}

impl ColumnError {
    /// An error with advice.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// A file that is cut off or damaged.
    pub(crate) fn damaged_file(reason: impl fmt::Display) -> Self {
        Self::new(format!("the file is damaged: {reason}"), "write the file again")
    }
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, " ({})", self.help) }
    }
}

impl std::error::Error for ColumnError {}

impl From<ColumnError> for io::Error {
    fn from(error: ColumnError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// Libraries for columns trust what a file says of its lengths, and stop the program where it lies: that is an error of the file.
pub(crate) fn catch_panic<T>(read: impl FnOnce() -> Result<T, ColumnError>) -> Result<T, ColumnError> {
    SILENCED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                before(info);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    CATCHING.set(outer);
    result.unwrap_or_else(|panic| Err(ColumnError::damaged_file(panic_text(&*panic))))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it cannot be decoded")
}

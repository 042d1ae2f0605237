//! Buffers that both JavaScript and Rust access.

use std::cell::RefCell;
use std::sync::Once;

/// The shared buffers.
#[derive(Clone, Copy)]
pub enum Slot {
    /// Settings as JSON, or the name of a text.
    Settings,
    /// The bytes of the run or the rules.
    Input,
    /// The answer.
    Answer,
    /// The message of a panic.
    Panic,
}

thread_local! {
    static SETTINGS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PANIC: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Slot {
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Settings, Self::Input, Self::Answer, Self::Panic].into_iter().nth(usize::try_from(number).ok()?)
    }

    fn with<T>(self, work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let slot = match self {
            Self::Settings => &SETTINGS,
            Self::Input => &INPUT,
            Self::Answer => &ANSWER,
            Self::Panic => &PANIC,
        };
        slot.with_borrow_mut(work)
    }

    pub fn open(self, bytes: usize) -> *mut u8 {
        self.with(|buffer| {
            *buffer = Vec::new();
            if buffer.try_reserve_exact(bytes).is_err() {
                return std::ptr::null_mut();
            }
            buffer.resize(bytes, 0);
            buffer.as_mut_ptr()
        })
    }

    pub fn address(self) -> *const u8 {
        self.with(|buffer| buffer.as_ptr())
    }

    pub fn length(self) -> usize {
        self.with(|buffer| buffer.len())
    }

    /// Moves the bytes out, so that a run is not in memory twice.
    pub fn take(self) -> Vec<u8> {
        self.with(std::mem::take)
    }

    pub fn put(self, bytes: Vec<u8>) {
        self.with(|buffer| *buffer = bytes);
    }
}

/// Keeps the message of a panic, so that JavaScript can read it after the trap.
pub fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| Slot::Panic.put(info.to_string().into_bytes())));
    });
}

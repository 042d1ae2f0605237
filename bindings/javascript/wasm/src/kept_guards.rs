//! Guard sessions, which JavaScript refers to by number.

use crate::answer::{Refusal, json_bytes};
use crate::exchange::Slot;
use crate::kept_rules::find_rules;
use averment::guard::{Guard, GuardMode};
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Default)]
struct KeptGuards {
    all: BTreeMap<u32, Guard>,
    last: u32,
}

thread_local! {
    static KEPT: RefCell<KeptGuards> = RefCell::default();
}

/// Begins a session with compiled rules. The settings slot contains its mode.
pub fn begin_guard(rules: u32) -> Result<Vec<u8>, Refusal> {
    let word = String::from_utf8_lossy(&Slot::Settings.take()).into_owned();
    let known = GuardMode::ALL.iter().find(|(known, _)| *known == word);
    let (_, mode) = known.ok_or_else(|| Refusal::Given(format!("`{word}` is no mode: write enforce, warn or log")))?;
    let guard = Guard::new(&find_rules(rules)?, *mode);
    let number = KEPT.with_borrow_mut(|kept| {
        kept.last = kept.last.wrapping_add(1);
        kept.all.insert(kept.last, guard);
        kept.last
    });
    json_bytes(&json!({ "guard": number }))
}

/// Answers a request. The settings slot contains the time in milliseconds since 1970.
pub fn ask_guard(number: u32) -> Result<Vec<u8>, Refusal> {
    let time = String::from_utf8_lossy(&Slot::Settings.take()).parse::<u64>();
    let time = time.map_err(|_| Refusal::Given("the time is a number of milliseconds since 1970".to_owned()))?;
    let request = Slot::Input.take();
    with_guard(number, |guard| guard.answer_request(&request, time).into_bytes())
}

/// Returns the session so far, as the text of an unfinished run.
pub fn guard_trace(number: u32) -> Result<Vec<u8>, Refusal> {
    with_guard(number, |guard| guard.trace().to_owned().into_bytes())
}

pub fn forget_guard(number: u32) {
    KEPT.with_borrow_mut(|kept| kept.all.remove(&number));
}

fn with_guard<T>(number: u32, work: impl FnOnce(&mut Guard) -> T) -> Result<T, Refusal> {
    KEPT.with_borrow_mut(|kept| kept.all.get_mut(&number).map(work)).ok_or(Refusal::Unknown)
}

//! Keeping credentials out of what is shown: where a text is cut, and where only the name of a value says what it is.

use super::{Detector, assigned};
use crate::limits::{Limits, Meter};
use crate::value::compare::deeper;
use crate::value::{Node, Value};
use std::borrow::Cow;

/// What stands in words and reports instead of a secret.
pub const REDACTED: &str = "[redacted]";

/// How many bytes behind a cut are looked at: no credential is longer.
const REACH: usize = 8 << 10;

/// The first `most` characters of a text, to be shown where the rest is cut off. Credentials in front of the cut and one that it would go
/// through are replaced: of half a credential nobody can see later that it is one.
#[must_use]
pub fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    let cut = end_of(text, most);
    if cut == text.len() {
        return Cow::Borrowed(text);
    }
    match without(text.get(..text.floor_char_boundary(cut.saturating_add(REACH))).unwrap_or(text), cut) {
        Cow::Borrowed(_) => Cow::Borrowed(text.get(..cut).unwrap_or_default()),
        Cow::Owned(mut shown) => {
            shown.truncate(end_of(&shown, most));
            Cow::Owned(shown)
        }
    }
}

/// The last `most` characters of a text, as [`beginning`] shows the first.
#[must_use]
pub fn ending(text: &str, most: usize) -> Cow<'_, str> {
    let cut = text.char_indices().rev().take(most).last().map_or(text.len(), |(at, _)| at);
    let near = text.get(text.floor_char_boundary(cut.saturating_sub(REACH))..).unwrap_or(text);
    match without(near, near.len()) {
        Cow::Borrowed(_) => Cow::Borrowed(text.get(cut..).unwrap_or_default()),
        Cow::Owned(shown) => {
            let cut = shown.char_indices().rev().take(most).last().map_or(0, |(at, _)| at);
            Cow::Owned(shown.get(cut..).unwrap_or_default().to_owned())
        }
    }
}

/// The text up to a place without the credentials that begin in front of it; borrowed where there is none.
fn without(text: &str, end: usize) -> Cow<'_, str> {
    let Ok(found) = Detector::Secrets.find(text, &mut Meter::new(&Limits::default())) else {
        return Cow::Owned(REDACTED.to_owned());
    };
    let (mut shown, mut at) = (String::new(), 0);
    for finding in found.iter().filter(|finding| finding.range.start < end) {
        shown.push_str(text.get(at..finding.range.start).unwrap_or_default());
        shown.push_str(REDACTED);
        at = finding.range.end;
    }
    if at == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(text.get(at..end).unwrap_or_default());
    Cow::Owned(shown)
}

/// Where the first `most` characters end.
fn end_of(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    text.char_indices().nth(most).map_or(text.len(), |(at, _)| at)
}

/// Shows every text in a value that its name makes a credential: that of a `password`, each in a list of `tokens`.
pub fn named<'run>(value: &Value<'run>, found: &mut dyn FnMut(&Node<'run>, &'run str)) {
    match value {
        Value::List(items) => deeper(|| items.iter().for_each(|item| named(&item.value, found))),
        Value::Object(object) => deeper(|| {
            for entry in object.entries() {
                under(entry.key, &entry.node, found);
                named(&entry.node.value, found);
            }
        }),
        _ => {}
    }
}

/// A text under a name, or a list of them.
fn under<'run>(name: &str, node: &Node<'run>, found: &mut dyn FnMut(&Node<'run>, &'run str)) {
    match node.value {
        Value::Text(text) if assigned::may_name(name) && assigned::of_name(name, text.as_str()).is_some() => {
            found(node, text.as_str());
        }
        Value::List(items) if assigned::may_name(name) => {
            items.iter().filter(|item| matches!(item.value, Value::Text(_))).for_each(|item| under(name, item, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R";

    #[test]
    fn no_cut_goes_through_a_credential() {
        for before in 0..60 {
            let text = format!("{}{KEY} and more behind it", " é".repeat(before));
            for most in 1..text.chars().count() {
                let shown = beginning(&text, most);
                assert!(!shown.contains("ghp_"), "{most}: {shown}");
                assert!(shown.chars().count() <= most || !shown.contains(REDACTED));
            }
        }
        for behind in 0..60 {
            let text = format!("{} {KEY} {}", "x ".repeat(40), "é ".repeat(behind));
            for most in 1..140 {
                assert!(!ending(&text, most).contains("7q8R"), "{most}: {}", ending(&text, most));
            }
        }
        let assigned = format!("{}\"password\": \"hunter22Xq9vTz7w\"}}", " ".repeat(50));
        assert!(!beginning(&assigned, 70).contains("hunter"));
    }

    #[test]
    fn what_is_not_cut_stays() {
        assert_eq!(beginning(KEY, 200), KEY);
        assert_eq!(beginning("an ordinary sentence", 11), "an ordinary");
        assert_eq!(beginning("ééé", 2), "éé");
        assert_eq!(ending("aéé", 2), "éé");
    }
}

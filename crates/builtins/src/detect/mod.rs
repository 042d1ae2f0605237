//! Finding credentials and personal data in text.
//!
//! Only what can be checked is reported: a provider's prefix with the right alphabet and length, a token whose header decodes, a number
//! whose check digit is right, an assignment whose value looks random. The text is looked at as it stands and as it reads once escapes
//! are resolved: JSON and URL escapes, colours of terminals, zero-width characters, base64. Every pass is linear in the text.

mod assigned;
mod checks;
mod hide;
mod pii;
mod providers;
mod random;
mod secrets;
mod view;

pub use assigned::names_credential;
pub use hide::{REDACTED, beginning, credentials, ending, named};

use averment_base::limits::{Exhausted, Meter};
use averment_base::value::Value;
use averment_base::value::compare::deeper;
use std::ops::{ControlFlow, Range};

/// What was found: its kind and place, never the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// For example `github-token`.
    pub kind: &'static str,
    /// Bytes of the text that was given; for something encoded, the bytes of its encoding.
    pub range: Range<usize>,
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detector {
    /// Keys, tokens, passwords.
    Secrets,
    /// Personal data.
    Pii,
}

/// Receives findings; it may end the search.
type Found<'a> = &'a mut dyn FnMut(Finding) -> ControlFlow<()>;

impl Detector {
    /// All findings in a text, in the order of their places; of findings that overlap the first, and the special before the general.
    ///
    /// # Errors
    /// Only when a limit is reached.
    pub fn find(self, text: &str, meter: &mut Meter) -> Result<Vec<Finding>, Exhausted> {
        let mut findings = Vec::new();
        let _ = self.visit(text, meter, &mut |finding| {
            findings.push(finding);
            ControlFlow::Continue(())
        })?;
        // A GitHub token in an address is a GitHub token first.
        let (general, special) = findings.into_iter().partition::<Vec<_>, _>(|finding| is_general(finding.kind));
        let mut kept = apart(special);
        let of_its_own = |finding: &Finding| {
            let next = kept.partition_point(|other| other.range.end <= finding.range.start);
            kept.get(next).is_none_or(|other| other.range.start >= finding.range.end)
        };
        let more: Vec<Finding> = apart(general).into_iter().filter(of_its_own).collect();
        kept.extend(more);
        kept.sort_by_key(|finding| finding.range.start);
        Ok(kept)
    }

    /// The kinds of what stands in the texts of a value, keys included, each once. `name` is the key under which the value stands, where
    /// that is known.
    ///
    /// # Errors
    /// Only when a limit is reached.
    pub fn kinds(
        self,
        name: Option<&str>,
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Result<Vec<&'static str>, Exhausted> {
        let mut kinds = Vec::new();
        let _ = self.all(name, value, meter, &mut |finding| {
            if !kinds.contains(&finding.kind) {
                kinds.push(finding.kind);
            }
            ControlFlow::Continue(())
        })?;
        Ok(kinds)
    }

    /// Whether anything stands in the texts of a value; `name` as for [`Self::kinds`].
    ///
    /// # Errors
    /// Only when a limit is reached.
    pub fn any(self, name: Option<&str>, value: &Value<'_>, meter: &mut Meter) -> Result<bool, Exhausted> {
        let end = self.all(name, value, meter, &mut |_| ControlFlow::Break(()))?;
        Ok(end.is_break())
    }

    fn all(
        self,
        name: Option<&str>,
        value: &Value<'_>,
        meter: &mut Meter,
        found: Found<'_>,
    ) -> Result<ControlFlow<()>, Exhausted> {
        let key = name.map_or(Ok(ControlFlow::Continue(())), |name| self.visit(name, meter, found))?;
        if key.is_break() || self.named(name, value, found).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.visit_value(name, value, meter, found)
    }

    fn visit_value(
        self,
        name: Option<&str>,
        value: &Value<'_>,
        meter: &mut Meter,
        found: Found<'_>,
    ) -> Result<ControlFlow<()>, Exhausted> {
        match value {
            Value::Text(text) => self.visit(text.as_str(), meter, found),
            Value::Number(number) if self == Self::Pii => self.visit(&number.to_string(), meter, found),
            Value::List(items) => deeper(|| {
                for item in *items {
                    if self.named(name, &item.value, found).is_break()
                        || self.visit_value(name, &item.value, meter, found)?.is_break()
                    {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }),
            Value::Object(object) => deeper(|| {
                for entry in object.entries() {
                    if self.visit(entry.key, meter, found)?.is_break()
                        || self.named(Some(entry.key), &entry.node.value, found).is_break()
                        || self.visit_value(Some(entry.key), &entry.node.value, meter, found)?.is_break()
                    {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }),
            _ => Ok(ControlFlow::Continue(())),
        }
    }

    /// The value of a key, or one in a list of them: `{"api_key": "…"}` is an assignment too.
    fn named(self, key: Option<&str>, value: &Value<'_>, found: Found<'_>) -> ControlFlow<()> {
        match (key, value) {
            (Some(key), Value::Text(text)) if self == Self::Secrets => match assigned::of_name(key, text.as_str()) {
                Some(kind) => found(Finding { kind, range: 0..text.as_str().len() }),
                None => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        }
    }

    fn visit(self, text: &str, meter: &mut Meter, found: Found<'_>) -> Result<ControlFlow<()>, Exhausted> {
        view::each(text, meter, &mut |view, place| {
            let report = &mut |finding: Finding| found(Finding { kind: finding.kind, range: place(finding.range) });
            match self {
                Self::Secrets => secrets::scan(view, report),
                Self::Pii => pii::scan(view, report),
            }
        })
    }
}

/// Kinds that say where a credential stands rather than whose it is.
fn is_general(kind: &str) -> bool {
    kind.starts_with("assigned-") || matches!(kind, "password-in-url" | "bearer-token" | "basic-credentials")
}

/// Findings in order; of those that overlap the first.
fn apart(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.range.start, finding.range.end));
    let mut end = 0;
    findings.retain(|finding| {
        let apart = finding.range.start >= end;
        end = if apart { finding.range.end } else { end };
        apart
    });
    findings
}

/// The byte before a place.
fn before(text: &[u8], at: usize) -> Option<u8> {
    text.get(at.checked_sub(1)?).copied()
}

/// The end of the bytes from a place on that are of a kind; at most `most` of them are looked at.
fn run_end(text: &[u8], from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take(most).take_while(|byte| of(**byte)).count()
}

/// Letters and digits, and the underscore that holds names together. Other scripts write keys without a blank in front.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests;

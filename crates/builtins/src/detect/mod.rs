//! Detects credentials and personal data in text.
//!
//! Only verifiable findings are reported: a provider's prefix with the right alphabet and length, a token whose header decodes, a number with a valid
//! check digit, an assignment whose value looks random. The text is searched unchanged, and again with resolved encodings: JSON and URL escapes,
//! terminal colors, zero-width characters, base64. Every pass takes linear time.

mod assignments;
mod checks;
mod hide;
mod name_ends;
mod pii;
mod providers;
mod random;
mod readings;
mod secrets;

pub use assignments::names_credential;
pub use hide::{REDACTED, find_credentials, redacted_end, redacted_start, visit_named_texts};
pub use name_ends::NameEnds;

use averment_base::limits::{FuelMeter, LimitError};
use averment_base::value::Value;
use averment_base::value::compare::with_deep_stack;
use std::ops::{ControlFlow, Range};

/// A finding: its kind and location, never the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectorFinding {
    /// The kind, such as `github-token`.
    pub kind: &'static str,
    /// The byte range in the given text. For an encoded finding, the range of its encoding.
    pub range: Range<usize>,
}

/// The kinds of data to detect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detector {
    /// Credentials: keys, tokens, passwords.
    Secrets,
    /// Personal data.
    Pii,
}

type FindingSink<'a> = &'a mut dyn FnMut(DetectorFinding) -> ControlFlow<()>;

impl Detector {
    /// Returns the kinds of findings, each once.
    #[must_use]
    pub fn all_kinds(self) -> Vec<&'static str> {
        let mut kinds: Vec<&'static str> = match self {
            Self::Secrets => {
                let anchored = providers::ANCHORS.iter().map(|(_, kind, _)| *kind);
                anchored.chain(assignments::KINDS).collect()
            }
            Self::Pii => pii::KINDS.to_vec(),
        };
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Returns all findings in a text, in order. Of overlapping findings, specific kinds have priority over general ones, and then the first one.
    ///
    /// # Errors
    /// Returns an error only if a limit is reached.
    pub fn find(self, text: &str, meter: &mut FuelMeter) -> Result<Vec<DetectorFinding>, LimitError> {
        let mut findings = Vec::new();
        let _ = self.visit_text(text, meter, &mut |finding| {
            findings.push(finding);
            ControlFlow::Continue(())
        })?;
        // A GitHub token in a URL is reported as a GitHub token.
        let (general, special) = findings.into_iter().partition::<Vec<_>, _>(|finding| is_general(finding.kind));
        let mut kept = drop_overlaps(special);
        let of_its_own = |finding: &DetectorFinding| {
            let next = kept.partition_point(|other| other.range.end <= finding.range.start);
            kept.get(next).is_none_or(|other| other.range.start >= finding.range.end)
        };
        let more: Vec<DetectorFinding> = drop_overlaps(general).into_iter().filter(of_its_own).collect();
        kept.extend(more);
        kept.sort_by_key(|finding| finding.range.start);
        Ok(kept)
    }

    /// Returns the kinds of findings in the texts and keys of a value, each once. `name` is the key of the value, if it is known.
    ///
    /// # Errors
    /// Returns an error only if a limit is reached.
    pub fn find_kinds(
        self,
        name: Option<&str>,
        value: &Value<'_>,
        meter: &mut FuelMeter,
    ) -> Result<Vec<&'static str>, LimitError> {
        let mut kinds = Vec::new();
        let _ = self.visit_findings(name, value, meter, &mut |finding| {
            if !kinds.contains(&finding.kind) {
                kinds.push(finding.kind);
            }
            ControlFlow::Continue(())
        })?;
        Ok(kinds)
    }

    /// True if the texts of a value contain a finding. `name` as in [`Self::find_kinds`].
    ///
    /// # Errors
    /// Returns an error only if a limit is reached.
    pub fn finds_any(self, name: Option<&str>, value: &Value<'_>, meter: &mut FuelMeter) -> Result<bool, LimitError> {
        let end = self.visit_findings(name, value, meter, &mut |_| ControlFlow::Break(()))?;
        Ok(end.is_break())
    }

    fn visit_findings(
        self,
        name: Option<&str>,
        value: &Value<'_>,
        meter: &mut FuelMeter,
        found: FindingSink<'_>,
    ) -> Result<ControlFlow<()>, LimitError> {
        let key = name.map_or(Ok(ControlFlow::Continue(())), |name| self.visit_text(name, meter, found))?;
        if key.is_break() || self.visit_named(name, value, found).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.visit_value(name, value, meter, found)
    }

    fn visit_value(
        self,
        name: Option<&str>,
        value: &Value<'_>,
        meter: &mut FuelMeter,
        found: FindingSink<'_>,
    ) -> Result<ControlFlow<()>, LimitError> {
        match value {
            Value::Text(text) => self.visit_text(text.as_str(), meter, found),
            Value::Number(number) if self == Self::Pii => self.visit_text(&number.to_string(), meter, found),
            Value::List(items) => with_deep_stack(|| {
                for item in *items {
                    if self.visit_named(name, &item.value, found).is_break()
                        || self.visit_value(name, &item.value, meter, found)?.is_break()
                    {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }),
            Value::Object(object) => with_deep_stack(|| {
                for entry in object.entries() {
                    if self.visit_text(entry.key, meter, found)?.is_break()
                        || self.visit_named(Some(entry.key), &entry.node.value, found).is_break()
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

    /// Visits texts with their key, also in lists below a key, since `{"api_key": "…"}` is an assignment too.
    fn visit_named(self, key: Option<&str>, value: &Value<'_>, found: FindingSink<'_>) -> ControlFlow<()> {
        match (key, value) {
            (Some(key), Value::Text(text)) if self == Self::Secrets => {
                match assignments::kind_by_name(key, text.as_str()) {
                    Some(kind) => found(DetectorFinding { kind, range: 0..text.as_str().len() }),
                    None => ControlFlow::Continue(()),
                }
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn visit_text(
        self,
        text: &str,
        meter: &mut FuelMeter,
        found: FindingSink<'_>,
    ) -> Result<ControlFlow<()>, LimitError> {
        readings::each_reading(text, meter, &mut |view, place| {
            let report = &mut |finding: DetectorFinding| {
                found(DetectorFinding { kind: finding.kind, range: place(finding.range) })
            };
            match self {
                Self::Secrets => secrets::scan_secrets(view, report),
                Self::Pii => pii::scan_pii(view, report),
            }
        })
    }
}

/// True for kinds that describe the use of a credential instead of its issuer.
fn is_general(kind: &str) -> bool {
    kind.starts_with("assigned-") || matches!(kind, "password-in-url" | "bearer-token" | "basic-credentials")
}

/// Sorts findings; of overlapping ones the first is kept.
fn drop_overlaps(mut findings: Vec<DetectorFinding>) -> Vec<DetectorFinding> {
    findings.sort_by_key(|finding| (finding.range.start, finding.range.end));
    let mut end = 0;
    findings.retain(|finding| {
        let apart = finding.range.start >= end;
        end = if apart { finding.range.end } else { end };
        apart
    });
    findings
}

fn byte_before(text: &[u8], at: usize) -> Option<u8> {
    text.get(at.checked_sub(1)?).copied()
}

/// Returns the end of a run of matching bytes, at most `most` bytes after `from`.
fn run_end(text: &[u8], from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take(most).take_while(|byte| of(**byte)).count()
}

/// True for letters, digits and `_`. Characters of other scripts may touch a key.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests;

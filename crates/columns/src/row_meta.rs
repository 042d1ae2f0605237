//! What is put into `meta` of a run: names and values of partitions, and columns that somebody names.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Names and values, each written as JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowMeta {
    pub(crate) entries: Vec<(String, String)>,
}

impl RowMeta {
    pub(crate) fn new(partitions: &[(String, String)]) -> Self {
        let written = |value: &String| serde_json::Value::from(value.as_str()).to_string();
        Self { entries: partitions.iter().map(|(name, value)| (name.clone(), written(value))).collect() }
    }

    /// The entries as the inside of an object.
    pub(crate) fn write_entries(&self, out: &mut Vec<u8>) {
        for (number, (name, value)) in self.entries.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            out.extend_from_slice(serde_json::Value::from(name.as_str()).to_string().as_bytes());
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
        }
    }

    /// A run with these entries in its `meta`, where it does not have them itself. What is no object stays as it is.
    pub(crate) fn add_to_run<'a>(&self, run: &'a [u8]) -> Cow<'a, [u8]> {
        if self.entries.is_empty() {
            return Cow::Borrowed(run);
        }
        let Ok(keys) = serde_json::from_slice::<BTreeMap<Cow<'_, str>, &RawValue>>(run) else {
            return Cow::Borrowed(run);
        };
        let Some(start) = run.iter().position(|byte| *byte == b'{') else { return Cow::Borrowed(run) };
        let mut out = Vec::with_capacity(run.len() + 64);
        match keys.get("meta").map(|meta| meta.get()) {
            None => {
                out.extend_from_slice(b"{\"meta\":{");
                self.write_entries(&mut out);
                out.extend_from_slice(if keys.is_empty() { b"}" } else { b"}," });
                out.extend_from_slice(run.get(start + 1..).unwrap_or_default());
            }
            Some(meta) => {
                let Ok(known) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(meta) else {
                    return Cow::Borrowed(run);
                };
                let is_new = |(name, _): &&(String, String)| !known.contains_key(name.as_str());
                let more = Self { entries: self.entries.iter().filter(is_new).cloned().collect() };
                // The text of `meta` is a part of the run: its place is that of its first byte.
                let place = (meta.as_ptr() as usize).saturating_sub(run.as_ptr() as usize);
                let Some((before, behind)) = run.split_at_checked(place + 1).filter(|_| !more.entries.is_empty())
                else {
                    return Cow::Borrowed(run);
                };
                out.extend_from_slice(before);
                more.write_entries(&mut out);
                out.extend_from_slice(if known.is_empty() { b"" } else { b"," });
                out.extend_from_slice(behind);
            }
        }
        Cow::Owned(out)
    }
}

/// The names and values of folders such as `date=2026-11-28` on the way to a file.
#[must_use]
pub fn hive_partitions(path: &str) -> Vec<(String, String)> {
    let folders = path.rsplit_once(['/', '\\']).map_or("", |(folders, _)| folders);
    let named = folders.split(['/', '\\']).filter_map(|folder| folder.split_once('='));
    named
        .filter(|(name, _)| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        .filter(|(_, value)| *value != "__HIVE_DEFAULT_PARTITION__")
        .map(|(name, value)| (name.to_owned(), percent_decoded(value)))
        .collect()
}

fn percent_decoded(value: &str) -> String {
    percent_encoding::percent_decode_str(value).decode_utf8().map_or_else(|_| value.to_owned(), Cow::into_owned)
}

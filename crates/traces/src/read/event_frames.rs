//! The frames in which AWS streams answers (`application/vnd.amazon.eventstream`), as the events of a text stream.

use crate::adapt::fields::key_table;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::borrow::Cow;

/// Lengths of a frame and of its headers, with a checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;
/// The header that says what a frame is.
const EVENT_TYPE: &[u8] = b":event-type";
/// The type of a header whose value is text.
const TEXT: u8 = 7;

key_table! {
    FrameKind {
        /// An event of `InvokeModel`: the event of the model's own API stands in it as base64.
        Chunk = "chunk",
    }
}

/// The frames as `data: …` lines: an object with the kind of an event as its key, or the event of the model itself. `None` for other bytes.
pub(super) fn frames_as_events(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        // A stream that breaks off is read up to there.
        let Some((frame, behind)) = next_frame(rest) else { break };
        let payload = std::str::from_utf8(frame.payload).ok().filter(|payload| payload.starts_with('{'))?;
        let inner = FrameKind::from_key(frame.kind).is_some().then(|| event_of_model(payload)).flatten();
        match inner {
            Some(event) => text.push_str(&format!("data: {event}\n\n")),
            None => text.push_str(&format!("data: {{\"{}\": {payload}}}\n\n", frame.kind)),
        }
        rest = behind;
    }
    (!text.is_empty()).then_some(text)
}

struct EventFrame<'b> {
    kind: &'b str,
    payload: &'b [u8],
}

fn next_frame(bytes: &[u8]) -> Option<(EventFrame<'_>, &[u8])> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let length = usize::try_from(number(0)?).ok()?;
    let headers_end = PRELUDE.checked_add(usize::try_from(number(4)?).ok()?)?;
    let (frame, behind) = bytes.split_at_checked(length)?;
    let kind = event_type(frame.get(PRELUDE..headers_end)?)?;
    let payload = frame.get(headers_end..length.checked_sub(CHECKSUM)?)?;
    let is_name = kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name.then_some((EventFrame { kind, payload }, behind))
}

/// Headers are texts: a name and a value, each behind its length.
fn event_type(mut headers: &[u8]) -> Option<&str> {
    loop {
        let (length, rest) = headers.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let [TEXT, high, low, rest @ ..] = rest else { return None };
        let (value, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))?;
        if name == EVENT_TYPE {
            return std::str::from_utf8(value).ok();
        }
        headers = rest;
    }
}

/// An event of the model in base64, and padding beside it.
#[derive(Deserialize)]
struct ChunkPayload<'p> {
    #[serde(borrow)]
    bytes: Cow<'p, str>,
}

fn event_of_model(payload: &str) -> Option<String> {
    let chunk: ChunkPayload<'_> = serde_json::from_str(payload).ok()?;
    let event = String::from_utf8(STANDARD.decode(chunk.bytes.as_bytes()).ok()?).ok()?;
    event.starts_with('{').then(|| event.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: &str, payload: &str) -> Vec<u8> {
        let mut headers = Vec::new();
        for (name, value) in [(":message-type", "event"), (":event-type", kind)] {
            headers.push(u8::try_from(name.len()).unwrap());
            headers.extend(name.bytes());
            headers.push(TEXT);
            headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
            headers.extend(value.bytes());
        }
        let length = PRELUDE + headers.len() + payload.len() + CHECKSUM;
        let mut bytes = Vec::new();
        for number in [length, headers.len(), 0] {
            bytes.extend(u32::try_from(number).unwrap().to_be_bytes());
        }
        bytes.extend(headers);
        bytes.extend(payload.bytes());
        bytes.extend([0; CHECKSUM]);
        bytes
    }

    #[test]
    fn frames_are_events_of_a_stream() {
        let inner = STANDARD.encode("{\"type\":\n\"ping\"}");
        let mut bytes = frame("messageStart", "{\"role\": \"assistant\"}");
        bytes.extend(frame("chunk", &format!("{{\"bytes\":\"{inner}\",\"p\":\"ab\"}}")));
        bytes.extend(frame("chunk", "{\"bytes\":\"SGk=\"}"));
        // The name of the key stands in a value, too, and digits are escaped.
        let escaped = inner.replace('e', "\\u0065");
        bytes.extend(frame("chunk", &format!("{{\"p\":\"\\\"bytes\\\":\",\"bytes\" : \"{escaped}\"}}")));
        let events = "data: {\"messageStart\": {\"role\": \"assistant\"}}\n\ndata: {\"type\": \"ping\"}\n\ndata: {\"chunk\": {\"bytes\":\"SGk=\"}}\n\ndata: {\"type\": \"ping\"}\n\n";
        assert_eq!(frames_as_events(&bytes).as_deref(), Some(events));
        let whole = bytes.len();
        bytes.truncate(whole - 5);
        assert!(frames_as_events(&bytes).is_some_and(|text| text.matches("data:").count() == 3));
    }

    #[test]
    fn other_bytes_are_no_frames() {
        for bytes in
            [&b"\x00\x00\x00\x10abc"[..], b"\xff\xfe\x00", b"", b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"]
        {
            assert_eq!(frames_as_events(bytes), None);
        }
    }
}

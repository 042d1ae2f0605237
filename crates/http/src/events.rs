//! Splits event streams (`text/event-stream`) into the data of their events.
//!
//! The format: html.spec.whatwg.org/multipage/server-sent-events.html, "Interpreting an event stream".

/// An event, or a notice that one was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamedEvent<'a> {
    /// Data of an event.
    Data(&'a [u8]),
    /// A line or an event exceeds the limit. The rest of it is skipped.
    TooLong,
}

/// A parser of event streams, with the state of the unfinished event.
#[derive(Debug)]
pub struct EventStream {
    most: usize,
    line: Vec<u8>,
    /// Number of bytes of the line, including skipped ones.
    line_bytes: usize,
    data: Vec<u8>,
    has_data: bool,
    /// True if the event exceeds the limit, which was reported.
    is_skipped: bool,
    ended_by_return: bool,
    is_first_line: bool,
}

impl EventStream {
    /// Starts a stream; `most` is the maximum size of an event in bytes.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self {
            most: usize::try_from(most).unwrap_or(usize::MAX),
            line: Vec::new(),
            line_bytes: 0,
            data: Vec::new(),
            has_data: false,
            is_skipped: false,
            ended_by_return: false,
            is_first_line: true,
        }
    }

    /// Reads the next bytes of the stream, and passes events to `take`.
    pub fn push_bytes(&mut self, bytes: &[u8], mut take: impl FnMut(StreamedEvent<'_>)) {
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (part, None),
            };
            let is_second_half = end == Some(b'\n') && text.is_empty() && self.ended_by_return;
            self.ended_by_return = end == Some(b'\r');
            if is_second_half {
                continue;
            }
            self.line_bytes = self.line_bytes.saturating_add(text.len());
            if !self.is_skipped {
                self.line.extend_from_slice(text);
                if self.line.len().saturating_add(self.data.len()) > self.most {
                    self.skip_event(&mut take);
                }
            }
            if end.is_some() {
                let is_blank = std::mem::take(&mut self.line_bytes) == 0;
                if !self.is_skipped {
                    self.end_line(&mut take);
                }
                self.is_skipped &= !is_blank;
            }
        }
    }

    /// Ends the stream. An event counts even if no empty line ended it.
    pub fn finish(&mut self, mut take: impl FnMut(StreamedEvent<'_>)) {
        if !self.line.is_empty() {
            self.end_line(&mut take);
        }
        self.end_event(&mut take);
    }

    fn skip_event(&mut self, take: &mut impl FnMut(StreamedEvent<'_>)) {
        self.is_skipped = true;
        self.has_data = false;
        self.line = Vec::new();
        self.data = Vec::new();
        take(StreamedEvent::TooLong);
    }

    fn end_line(&mut self, take: &mut impl FnMut(StreamedEvent<'_>)) {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_first_line) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if line.is_empty() {
            self.end_event(take);
        } else if let Some(value) = line.strip_prefix(b"data") {
            let value = match value {
                [] => value,
                [b':', b' ', value @ ..] | [b':', value @ ..] => value,
                // Another field whose name starts with the same letters.
                _ => return,
            };
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
        }
    }

    fn end_event(&mut self, take: &mut impl FnMut(StreamedEvent<'_>)) {
        if std::mem::take(&mut self.has_data) && !self.data.is_empty() {
            take(StreamedEvent::Data(&self.data));
        }
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(parts: &[&[u8]], most: u64) -> Vec<String> {
        let (mut stream, mut found) = (EventStream::new(most), Vec::new());
        let mut take = |event: StreamedEvent<'_>| {
            found.push(match event {
                StreamedEvent::Data(data) => String::from_utf8_lossy(data).into_owned(),
                StreamedEvent::TooLong => "too long".to_owned(),
            });
        };
        parts.iter().for_each(|part| stream.push_bytes(part, &mut take));
        stream.finish(&mut take);
        found
    }

    #[test]
    fn events_are_the_same_however_they_are_cut_and_ended() {
        let text = "\u{feff}: hello\nid: 1\nevent: message\ndata: {\"a\":\ndata:1}\n\ndatab: no\ndata\n\ndata: two\n\ndata: last";
        for text in [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
            for size in [1, 2, 3, 7, text.len()] {
                let parts: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                assert_eq!(read_all(&parts, 100), ["{\"a\":\n1}", "two", "last"], "{text:?} in parts of {size}");
            }
        }
    }

    #[test]
    fn an_event_beyond_the_limit_is_told_once_and_the_next_is_read() {
        let long = "x".repeat(30);
        for text in [format!("data: {long}\n\ndata: b\n\n"), format!("data: a\ndata: {long}\ndata: c\n\ndata: b\n\n")] {
            for size in [1, 5, text.len()] {
                let parts: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                assert_eq!(read_all(&parts, 20), ["too long", "b"], "{text:?} in parts of {size}");
            }
        }
    }
}

//! Messages over standard input and output.
//!
//! An invalid message never ends the session: it is answered with an error and skipped. Only a header without a length, or with an excessive one,
//! ends the session, because the start of the next message is then unknown. Sizes are bounded.

use lsp_server::{Connection, Message};
use std::io::{self, BufRead, Read, Write};
use std::thread::JoinHandle;

/// Maximum bytes of one message; the largest rule file is far smaller.
const MOST: usize = 128 << 20;
/// Maximum bytes of one header line.
const HEADER: u64 = 4096;

/// The threads that read and write.
pub struct TransportThreads {
    reader: JoinHandle<()>,
    writer: JoinHandle<io::Result<()>>,
}

impl TransportThreads {
    /// Waits until everything is written. The reader is not joined; it ends with the process or with its input.
    pub fn join(self) {
        let _ = self.writer.join();
        drop(self.reader);
    }
}

/// Opens a connection over standard input and output.
pub fn connect_stdio() -> (Connection, TransportThreads) {
    let (server, client) = Connection::memory();
    let Connection { sender, receiver } = client;
    let reader = std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(read) = read_message(&mut input) {
            match read {
                IncomingMessage::Message(message) => {
                    if sender.send(message).is_err() {
                        return;
                    }
                }
                IncomingMessage::Malformed { id, code, message } => {
                    if refuse_message(id, code, &message).is_err() {
                        return;
                    }
                }
                // The start of the next message is unknown, so the session ends as if the client had disconnected.
                IncomingMessage::Lost { code, message } => {
                    let _ = refuse_message(serde_json::Value::Null, code, &message);
                    return;
                }
            }
        }
    });
    let writer = std::thread::spawn(move || {
        for message in &receiver {
            message.write(&mut io::stdout().lock())?;
        }
        Ok(())
    });
    (server, TransportThreads { reader, writer })
}

#[derive(Debug)]
pub(super) enum IncomingMessage {
    Message(Message),
    /// An invalid message, with its id if there is one.
    Malformed {
        id: serde_json::Value,
        code: i32,
        message: String,
    },
    /// The length is missing or too large.
    Lost {
        code: i32,
        message: String,
    },
}

/// Reads the next message; returns `None` at the end of the input.
pub(super) fn read_message(input: &mut impl BufRead) -> Option<IncomingMessage> {
    let length = match read_header(input)? {
        Ok(length) => length,
        Err(message) => return Some(IncomingMessage::Lost { code: -32700, message }),
    };
    if length > MOST {
        // The message may never arrive.
        return Some(IncomingMessage::Lost {
            code: -32600,
            message: format!("a message of {length} bytes is too large"),
        });
    }
    // No memory is reserved in advance, because a header may announce more than arrives.
    let mut body = Vec::new();
    let wanted = u64::try_from(length).unwrap_or(u64::MAX);
    input.take(wanted).read_to_end(&mut body).ok()?;
    if body.len() < length {
        return None;
    }
    Some(parse_message(&body))
}

fn parse_message(body: &[u8]) -> IncomingMessage {
    let value: serde_json::Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => {
            return malformed_message(serde_json::Value::Null, -32700, format!("the message is not JSON: {error}"));
        }
    };
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default();
    match serde_json::from_value(value) {
        Ok(message) => IncomingMessage::Message(message),
        Err(_) => malformed_message(id, -32600, "this is no request, notification or response".to_owned()),
    }
}

fn malformed_message(id: serde_json::Value, code: i32, message: String) -> IncomingMessage {
    IncomingMessage::Malformed { id, code, message }
}

/// Reads a header and returns its length; `None` at the end of the input.
fn read_header(input: &mut impl BufRead) -> Option<Result<usize, String>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(HEADER).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            match length {
                Some(length) => return Some(length),
                None => continue,
            }
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse().map_err(|_| format!("`{}` is no length", shorten_text(value.trim()))));
        }
    }
}

fn shorten_text(text: &str) -> String {
    text.chars().take(40).collect()
}

fn refuse_message(id: serde_json::Value, code: i32, message: &str) -> io::Result<()> {
    let answer = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
    let body = answer.to_string();
    let mut out = io::stdout().lock();
    write!(out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<String> {
        let mut input = text;
        let mut found = Vec::new();
        while let Some(read) = read_message(&mut input) {
            found.push(match read {
                IncomingMessage::Message(Message::Request(request)) => format!("request {}", request.method),
                IncomingMessage::Message(Message::Notification(one)) => format!("notification {}", one.method),
                IncomingMessage::Message(Message::Response(_)) => "response".to_owned(),
                IncomingMessage::Malformed { id, code, .. } => format!("malformed {id} {code}"),
                IncomingMessage::Lost { code, .. } => {
                    found.push(format!("lost {code}"));
                    break;
                }
            });
        }
        found
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
        let text = [
            framed("{"),
            good.clone(),
            framed(r#"{"id":7}"#),
            "\r\n\r\nX: y\r\n".to_owned() + &good,
            framed("[]"),
            framed(&"[".repeat(100_000)),
            good.clone(),
            "Content-Length: 99999".to_owned(),
        ];
        let found = all(text.concat().as_bytes());
        let wanted = [
            "malformed null -32700",
            "notification initialized",
            "malformed 7 -32600",
            "notification initialized",
            "malformed null -32600",
            "malformed null -32700",
            "notification initialized",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_promise_of_many_bytes_takes_no_memory_and_ends_the_session_as_one_of_none_does() {
        assert_eq!(all(b"Content-Length: 99999999999999\r\n\r\n{}"), ["lost -32600"]);
        for length in ["minus", "-1", "", "1e3", "99999999999999999999999"] {
            assert_eq!(all(format!("Content-Length: {length}\r\n\r\n{{}}").as_bytes()), ["lost -32700"], "{length}");
        }
    }
}

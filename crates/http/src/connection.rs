//! One client connection: reads its requests within limits, and answers them one after the other.

use crate::body_budget::{BodyBudget, HeldBytes};
use crate::hosts::KnownHosts;
use crate::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use ureq_proto::server::state::{ProvideResponse, RecvBody, SendBody};
use ureq_proto::server::{RecvRequestResult, Reply, SendResponseResult};

/// Maximum size of a request head in bytes.
const MAX_HEAD: usize = 64 << 10;
/// Maximum idle time between two requests.
const IDLE: Duration = Duration::from_secs(300);
/// Time limits for a request head, from its first byte, and for a body.
const HEAD_TIME: Duration = Duration::from_secs(10);
const BODY_TIME: Duration = Duration::from_secs(120);
/// Time that one read waits for bytes before the time limits are checked.
pub(crate) const POLL: Duration = Duration::from_millis(200);
/// Time limit for a client to read what was written.
pub(crate) const WRITE_TIME: Duration = Duration::from_secs(60);

/// A complete request.
#[derive(Debug)]
pub struct HttpRequest {
    /// Method, address and headers.
    pub head: Request<()>,
    /// Body of the request.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Returns the value of a header, if it is text and occurs once.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.head.headers().get_all(name).iter();
        let value = found.next()?.to_str().ok()?;
        found.next().is_none().then_some(value)
    }
}

/// A complete response with a short text as its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainAnswer {
    /// Status of the response.
    pub status: StatusCode,
    /// Content type of the text.
    pub kind: &'static str,
    /// Body of the response.
    pub text: String,
}

impl PlainAnswer {
    /// Creates a plain-text response.
    #[must_use]
    pub fn refusal(status: StatusCode, text: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", text: format!("{text}\n") }
    }

    /// Creates a JSON response.
    #[must_use]
    pub fn json(status: StatusCode, text: String) -> Self {
        Self { status, kind: "application/json", text }
    }
}

/// A response of which nothing is written yet.
#[derive(Debug)]
pub struct HttpReply<'a> {
    stream: &'a TcpStream,
    reply: Reply<ProvideResponse>,
    is_last: &'a mut bool,
}

/// A response whose head is written.
#[derive(Debug)]
pub struct ReplyBody<'a> {
    stream: &'a TcpStream,
    /// `None` if the response has no body.
    body: Option<Reply<SendBody>>,
    output: Vec<u8>,
}

fn broken(error: ureq_proto::Error) -> io::Error {
    io::Error::other(error)
}

impl<'a> HttpReply<'a> {
    /// Sends a complete response.
    ///
    /// # Errors
    /// If the client has disconnected.
    pub fn send_plain(self, answer: &PlainAnswer) -> io::Result<()> {
        let mut head = Response::new(());
        *head.status_mut() = answer.status;
        head.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.kind));
        let mut body = self.begin_answer(head, Some(answer.text.len() as u64))?;
        body.write_part(answer.text.as_bytes())?;
        body.end_answer()
    }

    /// Sends the status and headers. `length` is the length of the body, if known.
    ///
    /// # Errors
    /// If the client has disconnected.
    pub fn begin_answer(self, mut head: Response<()>, length: Option<u64>) -> io::Result<ReplyBody<'a>> {
        let has_none = matches!(head.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let headers = head.headers_mut();
        for name in FRAMING {
            headers.remove(name);
        }
        if !has_none {
            match length {
                Some(length) => headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length)),
                None => headers.insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked")),
            };
        }
        if *self.is_last {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let mut output = vec![0_u8; MAX_HEAD];
        let mut reply = self.reply.provide(head).map_err(broken)?;
        while !reply.is_finished() {
            let written = reply.write(&mut output).map_err(broken)?;
            (&*self.stream).write_all(output.get(..written).unwrap_or_default())?;
        }
        let body = match reply.proceed() {
            SendResponseResult::SendBody(body) => Some(body),
            SendResponseResult::Cleanup(_) => None,
        };
        Ok(ReplyBody { stream: self.stream, body, output })
    }
}

/// Headers that describe one connection or the framing of a message. They are not forwarded, because each connection has its own.
pub const FRAMING: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
];

impl ReplyBody<'_> {
    /// Writes a part of the body and sends it to the client before returning.
    ///
    /// # Errors
    /// If the client has disconnected, or the body is longer than announced.
    pub fn write_part(&mut self, mut part: &[u8]) -> io::Result<()> {
        let Some(body) = &mut self.body else { return Ok(()) };
        while !part.is_empty() {
            let (used, written) = body.write(part, &mut self.output).map_err(broken)?;
            (&*self.stream).write_all(self.output.get(..written).unwrap_or_default())?;
            if used == 0 {
                return Err(io::Error::other("the body does not go on"));
            }
            part = part.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    /// Ends the body.
    ///
    /// # Errors
    /// If the client has disconnected, or the body is shorter than announced.
    pub fn end_answer(mut self) -> io::Result<()> {
        let Some(body) = &mut self.body else { return Ok(()) };
        let (_, written) = body.write(&[], &mut self.output).map_err(broken)?;
        self.stream.write_all(self.output.get(..written).unwrap_or_default())?;
        if body.is_finished() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Reads the requests of a connection.
pub(crate) struct RequestReader<'a> {
    pub stream: &'a TcpStream,
    pub hosts: &'a KnownHosts,
    pub max_body: usize,
    pub bodies: &'a BodyBudget,
    /// Bytes that were read but not used yet.
    pub unread: Vec<u8>,
    /// True if nothing is read after this request.
    pub is_last: bool,
}

/// Why a request is not passed to the handler.
enum Unread {
    /// The client has disconnected, so nobody can be answered.
    Gone,
    Refused(StatusCode, &'static str),
}

impl From<io::Error> for Unread {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl<'a> RequestReader<'a> {
    /// Reads a request and answers it. Returns false if the connection ends.
    pub fn answer_next(&mut self, answer: impl FnOnce(HttpRequest, HttpReply<'_>) -> io::Result<()>) -> bool {
        let (stream, mut is_last) = (self.stream, false);
        // Reserved until the request is answered, because its body is in memory until then.
        let mut held = self.bodies.hold_none();
        match self.read_request(&mut held) {
            Ok((request, reply)) => {
                is_last |= self.is_last;
                let answered = answer(request, HttpReply { stream, reply, is_last: &mut is_last });
                answered.is_ok() && !is_last
            }
            Err(Unread::Gone) => false,
            Err(Unread::Refused(status, text)) => {
                // The rest of the request is not read, so the next request could not be found. Therefore the connection closes.
                let text = format!("{text}\n");
                let head = format!(
                    "HTTP/1.1 {} {}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    status.as_str(),
                    status.canonical_reason().unwrap_or_default(),
                    text.len()
                );
                let _ = (&*stream).write_all(head.as_bytes()).and_then(|()| (&*stream).write_all(text.as_bytes()));
                drain_briefly(stream);
                false
            }
        }
    }

    fn read_request(&mut self, held: &mut HeldBytes<'a>) -> Result<(HttpRequest, Reply<ProvideResponse>), Unread> {
        let bad = |text| Unread::Refused(StatusCode::BAD_REQUEST, text);
        self.read_head_bytes()?;
        let mut reply = Reply::new().map_err(|_| Unread::Gone)?;
        let (used, head) = reply.try_request(&self.unread).map_err(|_| bad("the request is no HTTP"))?;
        let head = head.ok_or_else(|| bad("the request is no HTTP"))?;
        self.unread.drain(..used.min(self.unread.len()));
        self.is_last =
            has_word(head.headers(), header::CONNECTION, "close") || head.version() == crate::http::Version::HTTP_10;
        if let Some(reason) = self.hosts.refuse_reason(head.uri(), head.headers()) {
            return Err(Unread::Refused(StatusCode::FORBIDDEN, reason));
        }
        self.check_framing(&head)?;
        let (body, reply) = match reply.proceed().ok_or_else(|| bad("the request is no HTTP"))? {
            RecvRequestResult::ProvideResponse(reply) => (Vec::new(), reply),
            RecvRequestResult::RecvBody(reply) => self.read_body(reply, held)?,
            RecvRequestResult::Send100(reply) => {
                let mut output = [0_u8; 64];
                let (written, reply) = reply.accept(&mut output).map_err(|_| Unread::Gone)?;
                (&*self.stream).write_all(output.get(..written).unwrap_or_default())?;
                self.read_body(reply, held)?
            }
        };
        Ok((HttpRequest { head, body }, reply))
    }

    /// Refuses a body whose length two readers could understand differently, and a body that is too long, before reading it.
    fn check_framing(&self, head: &Request<()>) -> Result<(), Unread> {
        let headers = head.headers();
        let lengths: Vec<&HeaderValue> = headers.get_all(header::CONTENT_LENGTH).iter().collect();
        let encodings: Vec<&HeaderValue> = headers.get_all(header::TRANSFER_ENCODING).iter().collect();
        let refused = |status, text| Err(Unread::Refused(status, text));
        let is_chunked = encodings.first().is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"chunked"));
        let one = lengths.first().and_then(|value| value.to_str().ok());
        let length =
            one.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())).and_then(|text| text.parse().ok());
        let length: Option<u64> = length;
        if lengths.len() + encodings.len() > 1
            || !encodings.is_empty() && !is_chunked
            || !lengths.is_empty() && length.is_none()
        {
            return refused(StatusCode::BAD_REQUEST, "the request does not say in one way how long its body is");
        }
        if !matches!(*head.method(), Method::POST | Method::GET | Method::DELETE) {
            return refused(StatusCode::METHOD_NOT_ALLOWED, "write POST, GET or DELETE");
        }
        if *head.method() == Method::POST && lengths.is_empty() && encodings.is_empty() {
            return refused(StatusCode::LENGTH_REQUIRED, "the request does not say how long its body is");
        }
        if head.method() != Method::POST && (is_chunked || length.is_some_and(|length| length > 0)) {
            return refused(StatusCode::BAD_REQUEST, "only a POST has a body");
        }
        if length.is_some_and(|length| length > self.max_body as u64) {
            return refused(StatusCode::PAYLOAD_TOO_LARGE, "the body of the request is too long");
        }
        Ok(())
    }

    /// Reads until the head is complete.
    fn read_head_bytes(&mut self) -> Result<(), Unread> {
        let (began, mut first) = (Instant::now(), (!self.unread.is_empty()).then(Instant::now));
        let mut looked = 0_usize;
        loop {
            let from = looked.saturating_sub(3);
            let has_end = |part: &[u8]| part.windows(3).any(|three| three == b"\n\r\n" || three.starts_with(b"\n\n"));
            if has_end(self.unread.get(from..).unwrap_or_default()) || self.unread.ends_with(b"\n\n") {
                return Ok(());
            }
            looked = self.unread.len();
            if looked > MAX_HEAD {
                return Err(Unread::Refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "the head is too long"));
            }
            let ends = first.map_or(began + IDLE, |first| first + HEAD_TIME);
            if !self.read_more(ends)? {
                return Err(Unread::Gone);
            }
            first.get_or_insert_with(Instant::now);
        }
    }

    fn read_body(
        &mut self,
        mut reply: Reply<RecvBody>,
        held: &mut HeldBytes<'a>,
    ) -> Result<(Vec<u8>, Reply<ProvideResponse>), Unread> {
        let bad = || Unread::Refused(StatusCode::BAD_REQUEST, "the body of the request is no HTTP");
        let ends = Instant::now() + BODY_TIME;
        let (mut body, mut part) = (Vec::new(), vec![0_u8; 32 << 10]);
        while !reply.is_ended() {
            let (used, made) = reply.read(&self.unread, &mut part).map_err(|_| bad())?;
            self.unread.drain(..used.min(self.unread.len()));
            if !held.take_more(made) {
                let text = "the bodies of all requests are too long together; send it again";
                return Err(Unread::Refused(StatusCode::SERVICE_UNAVAILABLE, text));
            }
            body.extend_from_slice(part.get(..made).unwrap_or_default());
            if body.len() > self.max_body {
                let text = "the body of the request is too long";
                return Err(Unread::Refused(StatusCode::PAYLOAD_TOO_LARGE, text));
            }
            // Bounds the memory for a chunk header that does not end.
            if used == 0 && made == 0 && self.unread.len() > MAX_HEAD {
                return Err(bad());
            }
            if used == 0 && made == 0 && !self.read_more(ends)? {
                return Err(Unread::Gone);
            }
        }
        Ok((body, reply.proceed().map_err(|_| bad())?))
    }

    /// Reads the available bytes. Returns false at the end of the connection or when the time limit is over.
    fn read_more(&mut self, ends: Instant) -> io::Result<bool> {
        let mut part = [0_u8; 16 << 10];
        loop {
            match (&*self.stream).read(&mut part) {
                Ok(count) => {
                    self.unread.extend_from_slice(part.get(..count).unwrap_or_default());
                    return Ok(count > 0);
                }
                Err(error) if is_pause(&error) && Instant::now() < ends => {}
                Err(error) if is_pause(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns true if the error only means that no bytes have arrived yet.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn has_word(headers: &HeaderMap, name: header::HeaderName, word: &str) -> bool {
    let mut values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
}

/// Reads remaining bytes for a moment. If a connection is closed with unread bytes, TCP resets it, and the client may lose the response.
fn drain_briefly(stream: &TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let (ends, mut part) = (Instant::now() + Duration::from_secs(1), [0_u8; 16 << 10]);
    while Instant::now() < ends {
        match (&*stream).read(&mut part) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if is_pause(&error) => {}
            Err(_) => return,
        }
    }
}

//! Streamable HTTP: the client posts each message, and the response is a message or an event stream of messages. (Model Context Protocol, revision
//! 2025-06-18, transports.)

use crate::transport::{BROKEN, SharedWire, UNANSWERED, lock_wire, shorten_text};
use averment_http::client::{ServerUrl, agent_settings};
use averment_http::events::{EventStream, StreamedEvent};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender};

const SESSION: &str = "mcp-session-id";
/// Time limit for ending a session.
const GOODBYE: Duration = Duration::from_secs(1);

pub(crate) struct HttpTransport {
    shared: Arc<HttpPoster>,
    read: Receiver<RxJsonRpcMessage<RoleClient>>,
}

struct HttpPoster {
    agent: ureq::Agent,
    target: ServerUrl,
    most: u64,
    wire: SharedWire,
    sender: Sender<RxJsonRpcMessage<RoleClient>>,
    session: Mutex<Option<String>>,
}

impl HttpTransport {
    /// Creates a transport; `most` is the maximum size of an answer in bytes, and `time` is its time limit.
    pub fn new(target: &ServerUrl, wire: &SharedWire, most: u64, time: Duration) -> Self {
        let agent = agent_settings().timeout_global(Some(time.saturating_mul(5))).build().into();
        let (sender, read) = tokio::sync::mpsc::channel(64);
        let (wire, session) = (Arc::clone(wire), Mutex::default());
        Self { shared: Arc::new(HttpPoster { agent, target: target.clone(), most, wire, sender, session }), read }
    }
}

impl HttpPoster {
    fn session_id(&self) -> Option<String> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn request_headers(&self) -> Vec<(String, String)> {
        let mut headers = self.target.headers.clone();
        headers.extend(self.session_id().map(|session| (SESSION.to_owned(), session)));
        let version = lock_wire(&self.wire).version.clone();
        headers.extend(version.map(|version| ("mcp-protocol-version".to_owned(), version)));
        headers
    }

    /// Posts a message and reads the answers; `request` is the id of the pending request.
    fn post_message(&self, body: &[u8], request: Option<&str>) {
        if let Err(why) = self.exchange_message(body, request) {
            // If the connection breaks after an answer, the answer still counts.
            lock_wire(&self.wire).end_request(request, why);
        }
    }

    /// Posts a message and reads the answers.
    ///
    /// # Errors
    /// Why the exchange ended early.
    fn exchange_message(&self, body: &[u8], asked: Option<&str>) -> Result<(), String> {
        let mut request = self.agent.post(&self.target.url).header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        for (name, value) in self.request_headers() {
            request = request.header(name, value);
        }
        let response = request.send(body).map_err(|error| format!("it cannot be reached: {error}"))?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        if let Some(session) = header(SESSION) {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
        }
        let (status, kind) = (response.status().as_u16(), header("content-type").unwrap_or_default());
        if asked.is_none() && (200..300).contains(&status) {
            return Ok(());
        }
        if status != 200 {
            return Err(format!("it answered with the HTTP status {status}"));
        }
        let body = response.into_body().into_reader();
        match kind.split(';').next().unwrap_or_default().trim() {
            "text/event-stream" => self.read_events(body),
            "application/json" => self.read_message(body),
            _ => {
                lock_wire(&self.wire).note_breach(format!("an answer of the content type `{}`", shorten_text(&kind)));
                self.read_message(body)
            }
        }
    }

    fn read_message(&self, body: impl std::io::Read) -> Result<(), String> {
        let mut bytes = Vec::new();
        body.take(self.most.saturating_add(1)).read_to_end(&mut bytes).map_err(broke_off)?;
        if self.take_message(&bytes) { Err(UNANSWERED.to_owned()) } else { Ok(()) }
    }

    /// Reads an event stream to its end; the data of each event is a message.
    fn read_events(&self, mut body: impl std::io::Read) -> Result<(), String> {
        let (mut stream, mut part) = (EventStream::new(self.most), [0_u8; 4096]);
        let goes_on = std::cell::Cell::new(true);
        let mut take = |event: StreamedEvent<'_>| match event {
            _ if !goes_on.get() => {}
            StreamedEvent::Data(data) => goes_on.set(self.take_message(data)),
            StreamedEvent::TooLong => {
                self.refuse_length();
                goes_on.set(false);
            }
        };
        loop {
            let count = body.read(&mut part).map_err(broke_off)?;
            if count == 0 {
                stream.finish(&mut take);
            } else {
                stream.push_bytes(part.get(..count).unwrap_or_default(), &mut take);
            }
            match (goes_on.get(), count) {
                (false, _) => return Ok(()),
                (true, 0) => return Err(UNANSWERED.to_owned()),
                (true, _) => {}
            }
        }
    }

    fn is_too_long(&self, bytes: usize) -> bool {
        u64::try_from(bytes).unwrap_or(u64::MAX) > self.most
    }

    fn refuse_length(&self) {
        lock_wire(&self.wire).break_protocol(format!("an answer of more than {} bytes", self.most));
    }

    /// Reads a raw message. Returns false if no more messages are accepted.
    fn take_message(&self, bytes: &[u8]) -> bool {
        if self.is_too_long(bytes.len()) {
            self.refuse_length();
            return false;
        }
        let taken = lock_wire(&self.wire).take_line(bytes);
        match taken {
            None => lock_wire(&self.wire).closed = Some(BROKEN.to_owned()),
            Some(None) => return true,
            Some(Some(message)) => return self.sender.blocking_send(message).is_ok(),
        }
        false
    }
}

fn broke_off(error: std::io::Error) -> String {
    format!("its answer broke off: {error}")
}

impl Transport<RoleClient> for HttpTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        let (done, accepted) = tokio::sync::oneshot::channel();
        let posted = serde_json::to_value(&item).map_err(std::io::Error::from).and_then(|value| {
            let method = value.get("method").and_then(Value::as_str);
            let request = value.get("id").zip(method).map(|(id, method)| (id.to_string(), method.to_owned()));
            let is_notice = value.get("id").is_none();
            if let Some((id, method)) = request.clone() {
                lock_wire(&shared.wire).note_request(id, method);
            }
            let body = serde_json::to_vec(&value)?;
            // Each message gets its own thread, because the server may send a request while an answer is read.
            let post = move || {
                shared.post_message(&body, request.as_ref().map(|(id, _)| id.as_str()));
                let _nobody_waits = done.send(());
            };
            std::thread::Builder::new().name("probe posts".to_owned()).spawn(post)?;
            Ok(is_notice)
        });
        // Waits for the response, so that messages after `notifications/initialized` reach a server that has accepted it.
        async {
            if posted? {
                let _it_is_told_of_the_connection = accepted.await;
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Ok(message) = tokio::time::timeout(Duration::from_millis(20), self.read.recv()).await {
                return message;
            }
            // Every posting thread holds a sender, so the channel is never closed by itself.
            if lock_wire(&self.shared.wire).closed.is_some() && self.read.is_empty() {
                return None;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.read.close();
        Ok(())
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        if self.shared.session_id().is_none() {
            return;
        }
        let mut request = self.shared.agent.delete(&self.shared.target.url);
        for (name, value) in self.shared.request_headers() {
            request = request.header(name, value);
        }
        let _it_may_not_know_sessions = request.config().timeout_global(Some(GOODBYE)).build().call();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// An endless body that repeats one text and counts the bytes read.
    struct EndlessBody<'a> {
        text: &'a [u8],
        read: &'a mut usize,
    }

    impl Read for EndlessBody<'_> {
        fn read(&mut self, part: &mut [u8]) -> std::io::Result<usize> {
            for byte in part.iter_mut() {
                *byte = self.text[*self.read % self.text.len()];
                *self.read += 1;
                assert!(*self.read < 1 << 20, "it reads on for ever");
            }
            Ok(part.len())
        }
    }

    #[test]
    fn an_event_without_an_end_is_refused_while_it_is_read() {
        const MOST: u64 = 10_000;
        for text in ["data: aaaaaaaaaaaa\n", "data: a", "data:\ndata: aaaa\r\n", ": a comment", "x"] {
            let (wire, target) = (SharedWire::default(), ServerUrl { url: String::new(), headers: Vec::new() });
            let transport = HttpTransport::new(&target, &wire, MOST, Duration::from_secs(1));
            let mut read = 0;
            let ended = transport.shared.read_events(EndlessBody { text: text.as_bytes(), read: &mut read });
            assert_eq!(ended, Ok(()), "{text}");
            assert!(read < 8 * 10_000, "{text}: {read} bytes were read");
            let breaches = std::mem::take(&mut lock_wire(&wire).breaches);
            assert_eq!(breaches, ["an answer of more than 10000 bytes"], "{text}");
        }
    }
}

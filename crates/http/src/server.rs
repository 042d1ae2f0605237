//! A local server with one thread for each connection and a maximum number of connections.

use crate::body_budget::BodyBudget;
use crate::connection::{HttpReply, HttpRequest, POLL, RequestReader, WRITE_TIME, is_pause};
use crate::hosts::KnownHosts;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Maximum number of simultaneous connections.
const MAX_CONNECTIONS: usize = 64;
/// Time to wait before accepting again if the system cannot accept a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// A handler for the requests of one connection.
pub trait AnswerRequests {
    /// Answers a request. An error ends the connection.
    ///
    /// # Errors
    /// If the response could not be sent in full.
    fn answer_request(&mut self, request: HttpRequest, reply: HttpReply<'_>) -> io::Result<()>;

    /// Returns a function that stops the current request; it is called if the client disconnects.
    fn when_gone(&self) -> Box<dyn FnOnce() + Send>;
}

/// A listening server.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    /// Names by which clients may address the server.
    pub hosts: KnownHosts,
    /// Maximum size of a body in bytes.
    pub max_body: usize,
    /// Maximum bytes of all bodies that are read or answered at one time. Requests beyond it are refused, and clients may retry them.
    pub max_bodies: usize,
}

impl HttpServer {
    /// Listens at an address such as `127.0.0.1:8080`. Unless `lets_others_in` is true, only addresses of this machine are allowed.
    ///
    /// # Errors
    /// If the system refuses, or other machines can reach the address without permission.
    pub fn listen_at(address: &str, lets_others_in: bool, hosts: KnownHosts) -> io::Result<Self> {
        let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
        if !lets_others_in && let Some(open) = addresses.iter().find(|one| !one.ip().is_loopback()) {
            let text = format!("`{}` can be reached from other machines", open.ip());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        let listener = TcpListener::bind(&*addresses)?;
        Ok(Self { listener, hosts, max_body: 64 << 20, max_bodies: 256 << 20 })
    }

    /// Returns the address at which the server listens.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers connections forever.
    pub fn serve_connections<H: AnswerRequests>(&self, begin: impl Fn() -> H + Sync) {
        let (open, bodies) = (AtomicUsize::new(0), BodyBudget::new(self.max_bodies));
        thread::scope(|scope| {
            for stream in self.listener.incoming() {
                let Ok(stream) = stream else {
                    thread::sleep(PAUSE);
                    continue;
                };
                if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                    open.fetch_sub(1, Ordering::Relaxed);
                    let busy = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                    let _ = (&stream).write_all(busy);
                    continue;
                }
                let (open, bodies, begin) = (&open, &bodies, &begin);
                scope.spawn(move || {
                    // A broken connection must not affect the others.
                    let _ = self.answer_connection(&stream, bodies, begin());
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
    }

    fn answer_connection(
        &self,
        stream: &TcpStream,
        bodies: &BodyBudget,
        mut handler: impl AnswerRequests,
    ) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(POLL))?;
        stream.set_write_timeout(Some(WRITE_TIME))?;
        let (watched, gone) = (stream.try_clone()?, handler.when_gone());
        thread::Builder::new().name("watches a client".to_owned()).spawn(move || watch_client(&watched, gone))?;
        let (hosts, max_body) = (&self.hosts, self.max_body);
        let mut reader = RequestReader { stream, hosts, max_body, bodies, unread: Vec::new(), is_last: false };
        while reader.answer_next(|request, reply| handler.answer_request(request, reply)) {}
        Ok(())
    }
}

/// Waits until a client closes its connection, then calls `gone` to stop work on its request.
fn watch_client(stream: &TcpStream, gone: Box<dyn FnOnce() + Send>) {
    loop {
        match stream.peek(&mut [0_u8]) {
            Ok(0) => break,
            Ok(_) => thread::sleep(POLL),
            Err(error) if is_pause(&error) => {}
            Err(_) => break,
        }
    }
    gone();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::PlainAnswer;
    use crate::http::StatusCode;
    use std::io::Read as _;

    struct Echo;

    impl AnswerRequests for Echo {
        fn answer_request(&mut self, request: HttpRequest, reply: HttpReply<'_>) -> io::Result<()> {
            reply.send_plain(&PlainAnswer::refusal(StatusCode::OK, &request.body.len().to_string()))
        }

        fn when_gone(&self) -> Box<dyn FnOnce() + Send> {
            Box::new(|| ())
        }
    }

    fn begin_post(address: SocketAddr, length: usize, sent: usize) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        let head =
            format!("POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'x'; sent]).unwrap();
        stream
    }

    fn read_status(mut stream: TcpStream) -> String {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    #[test]
    fn bodies_of_all_connections_together_are_bounded() {
        let mut server = HttpServer::listen_at("127.0.0.1:0", false, KnownHosts::default()).unwrap();
        (server.max_body, server.max_bodies) = (900, 1000);
        let address = server.local_address().unwrap();
        thread::spawn(move || server.serve_connections(|| Echo));
        let mut first = begin_post(address, 900, 800);
        // The bytes are reserved once the server has read them; until then the second request may fit.
        let tried = (0..50).any(|_| {
            thread::sleep(Duration::from_millis(20));
            read_status(begin_post(address, 400, 400)) == "503"
        });
        assert!(tried, "800 bytes and 400 are more than 1,000");
        assert_eq!(read_status(begin_post(address, 150, 150)), "200", "what fits is answered");
        first.write_all(&[b'x'; 100]).unwrap();
        assert_eq!(read_status(first), "200", "the first one loses nothing");
        assert_eq!(read_status(begin_post(address, 900, 900)), "200", "what was held is given back");
    }
}

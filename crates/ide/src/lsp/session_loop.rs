//! The main loop of a session: handles messages in order, with checks between them.

use super::server::LspServer;
use super::{dispatch, publish};
use lsp_server::{ErrorCode, Message, Request, Response};
use serde_json::Value;
use std::path::Path;

/// Idle time after which documents are checked completely.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);

impl LspServer {
    /// Serves until the client disconnects; returns the exit code.
    pub fn run(mut self) -> i32 {
        self.load_run();
        self.watch_files();
        self.ask_for_settings();
        loop {
            while let Ok(message) = self.connection.receiver.try_recv() {
                self.queue.push_back(message);
            }
            if let Some(message) = self.queue.pop_front() {
                if let Some(code) = self.take_message(message) {
                    return code;
                }
            } else if let Some(key) = self.dirty.pop_first() {
                self.publish_document(&key);
            } else if !self.wait_for_message() {
                // The client disconnected without `exit`.
                return 1;
            }
        }
    }

    /// Waits for the next message. After a pause, incremental checks are completed.
    fn wait_for_message(&mut self) -> bool {
        if self.unsettled.is_empty() {
            let message = self.connection.receiver.recv();
            return message.map(|message| self.queue.push_back(message)).is_ok();
        }
        match self.connection.receiver.recv_timeout(PAUSE) {
            Ok(message) => self.queue.push_back(message),
            Err(error) if error.is_timeout() => {
                if let Some(key) = self.unsettled.pop_first() {
                    self.settle_document(&key);
                    self.publish_document(&key);
                }
            }
            Err(_) => return false,
        }
        true
    }

    /// Handles one message; returns the exit code after `exit`.
    fn take_message(&mut self, message: Message) -> Option<i32> {
        match message {
            Message::Request(request) => {
                let response = self.answer_request(request);
                self.send_message(response.into());
            }
            Message::Notification(one) if one.method == "exit" => return Some(i32::from(!self.shut_down)),
            Message::Notification(one) => dispatch::dispatch_notification(self, one),
            Message::Response(response) => self.take_response(response),
        }
        None
    }

    fn answer_request(&mut self, request: Request) -> Response {
        let refuse =
            |code: ErrorCode, message: &str| Response::new_err(request.id.clone(), code as i32, message.to_owned());
        if self.shut_down {
            return refuse(ErrorCode::InvalidRequest, "the session is shut down");
        }
        if dispatch::is_cancelled(&request, &self.queue) {
            return refuse(ErrorCode::RequestCanceled, "the request was taken back");
        }
        match request.method.as_str() {
            "shutdown" => {
                self.shut_down = true;
                Response::new_ok(request.id, Value::Null)
            }
            "initialize" => refuse(ErrorCode::InvalidRequest, "the session is initialized"),
            _ => dispatch::answer_request(self, request),
        }
    }

    fn publish_document(&mut self, key: &Path) {
        self.ensure_analysis(key);
        publish::publish_diagnostics(self, key);
    }
}

//! Guards an MCP server: tool calls are judged before they are forwarded; everything else is forwarded unchanged. A denied call gets a result with
//! `isError`, which the model can read.
//!
//! The protocol: modelcontextprotocol.io/specification, transports and `tools/call`, up to revision 2026-07-28.

mod call_ends;
mod connection;
mod message;
mod passing;
mod proxy;
mod run_key;
mod tool_check;

pub use connection::{McpGuard, McpStep};
pub use proxy::{McpProxy, ProxySettings};
pub use run_key::RunKeying;
pub use tool_check::{NamedTool, ToolCheck};

//! Decides which requests a local server answers. A browser page may reach the server under a foreign name that resolves to this machine (DNS
//! rebinding); the headers `Host` and `Origin` show that name.

use crate::http::uri::Authority;
use crate::http::{HeaderMap, Uri, header};
use std::net::IpAddr;

/// Names by which clients may address a server.
#[derive(Debug, Clone, Default)]
pub struct KnownHosts {
    /// Additional names beside those of this machine, in lower case and without ports.
    pub names: Vec<String>,
}

impl KnownHosts {
    /// Returns why a request is refused, or `None` if it is allowed.
    #[must_use]
    pub fn refuse_reason(&self, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).and_then(host_name);
        if !host.is_some_and(|host| self.is_known(&host)) || hosts.next().is_some() {
            return Some("the `Host` of the request is not known to this server: `--allow-host NAME` adds one");
        }
        if uri.host().is_some_and(|host| !self.is_known(&host.to_ascii_lowercase())) {
            return Some("the address of the request is not known to this server");
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        if !origins.all(|origin| origin.to_str().ok().and_then(origin_host).is_some_and(|host| self.is_known(&host))) {
            return Some("the `Origin` of the request is not allowed: `--allow-host NAME` adds one");
        }
        None
    }

    fn is_known(&self, host: &str) -> bool {
        let plain = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_here = plain.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        host == "localhost" || is_here || self.names.iter().any(|name| name == host || name == plain)
    }
}

fn host_name(text: &str) -> Option<String> {
    let authority: Authority = text.parse().ok()?;
    (!text.contains('@')).then(|| authority.host().to_ascii_lowercase())
}

/// Returns the host of an origin such as `http://localhost:3000`. An opaque origin (`null`) has no host.
fn origin_host(text: &str) -> Option<String> {
    let behind = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    host_name(behind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::HeaderValue;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let hosts = KnownHosts { names: vec!["tools.example".to_owned()] };
        let refused = |host: &[&str], origin: &[&str]| {
            let mut headers = HeaderMap::new();
            for (name, texts) in [(header::HOST, host), (header::ORIGIN, origin)] {
                for text in texts {
                    headers.append(&name, HeaderValue::from_str(text).unwrap());
                }
            }
            hosts.refuse_reason(&Uri::from_static("/mcp"), &headers).is_some()
        };
        for host in ["localhost:8080", "127.0.0.1", "[::1]:9", "LOCALHOST", "tools.example:80", "127.9.9.9:1"] {
            assert!(!refused(&[host], &[]), "{host}");
        }
        for host in ["evil.example:8080", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1", "a@localhost", ""] {
            assert!(refused(&[host], &[]), "{host}");
        }
        assert!(refused(&[], &[]) && refused(&["localhost", "evil.example"], &[]));
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5", "https://tools.example"] {
            assert!(!refused(&["localhost"], &[origin]), "{origin}");
        }
        for origin in ["null", "http://evil.example", "https://localhost.evil.example", "file://", "localhost"] {
            assert!(refused(&["localhost"], &[origin]), "{origin}");
        }
        assert!(refused(&["localhost"], &["http://localhost", "http://evil.example"]));
    }
}

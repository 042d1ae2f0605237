//! URIs and paths.

use lsp_types::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

/// Characters to escape in a URI's path.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Returns the path of a `file:` URI; `None` for any other URI.
pub fn uri_to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let decoded = percent_decode_str(rest).decode_utf8().ok()?;
    // `/C:/a` is a Windows path.
    let bytes = decoded.as_bytes();
    let drive = bytes.get(1).is_some_and(u8::is_ascii_alphabetic) && bytes.get(2) == Some(&b':');
    let text = if drive && cfg!(windows) { decoded.get(1..)? } else { &decoded };
    Some(averment_checker::files::normalize_path(Path::new(text)))
}

/// Returns the URI of a path.
pub fn path_to_uri(path: &Path) -> Option<Uri> {
    let text = path.to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    let escaped = utf8_percent_encode(&text, ESCAPED).to_string();
    Uri::from_str(&format!("file://{slash}{escaped}")).ok()
}

/// Returns the path that identifies a file: symbolic links are resolved if the file exists.
pub fn path_key(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| averment_checker::files::normalize_path(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_way_through_a_uri() {
        for path in ["/a/b.assert", "/with space/ä#?%.assert", "/a/[b]{c}.assert"] {
            let uri = path_to_uri(Path::new(path)).unwrap();
            assert_eq!(uri_to_path(uri.as_str()).unwrap(), Path::new(path), "{}", uri.as_str());
        }
        assert_eq!(uri_to_path("untitled:Untitled-1"), None);
        assert_eq!(uri_to_path("file://host/a"), None);
        assert_eq!(uri_to_path("file:///a/../b%20c").unwrap(), Path::new("/b c"));
    }
}

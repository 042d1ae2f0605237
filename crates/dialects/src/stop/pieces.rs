//! Texts of a manifest with references to inputs and outputs: `"${inputs.article_path}"`.

/// A piece of such a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePiece<'a> {
    /// Literal text.
    Literal(&'a str),
    /// The value of an input.
    Input(&'a str),
    /// The value of an output.
    Output(&'a str),
}

/// Splits a text into pieces. Names consist of ASCII letters, digits and `_`; any other `${…}` is literal text.
pub(super) fn split_pieces(text: &str) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("${")).map(|found| at.saturating_add(found)) {
        let rest = text.get(start..).unwrap_or("");
        let Some((piece, length)) = read_reference(rest) else {
            at = start.saturating_add(2);
            continue;
        };
        pieces.extend(text.get(from..start).filter(|literal| !literal.is_empty()).map(TemplatePiece::Literal));
        pieces.push(piece);
        at = start.saturating_add(length);
        from = at;
    }
    pieces.extend(text.get(from..).filter(|literal| !literal.is_empty()).map(TemplatePiece::Literal));
    pieces
}

/// Reads a reference at the start of a text; returns it and its length.
fn read_reference(text: &str) -> Option<(TemplatePiece<'_>, usize)> {
    let (inside, _) = text.strip_prefix("${")?.split_once('}')?;
    let (root, name) = inside.split_once('.')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let piece = match root {
        "inputs" if is_name => TemplatePiece::Input(name),
        "outputs" if is_name => TemplatePiece::Output(name),
        _ => return None,
    };
    Some((piece, inside.len().saturating_add(3)))
}

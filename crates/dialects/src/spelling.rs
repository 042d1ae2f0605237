//! Keys with two accepted spellings: `user_content` and `userContent`.

use crate::Lowering;
use crate::yaml::YamlNode;

fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

/// Returns the value of a key in either spelling; `null` counts as missing.
pub(crate) fn field<'a>(node: &'a YamlNode, key: &str) -> Option<&'a YamlNode> {
    node.get(key).or_else(|| node.get(&camel_case(key))).filter(|value| !value.is_null())
}

/// True if a node is a mapping with only these keys, in either spelling.
pub(crate) fn check_keys(node: &YamlNode, what: &str, known: &[&str], lowering: &mut Lowering<'_>) -> bool {
    let all: Vec<String> =
        known.iter().map(|key| (*key).to_owned()).chain(known.iter().map(|key| camel_case(key))).collect();
    lowering.sink.check_keys(node, what, &all.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns the elements of the list at a key, in either spelling.
pub(crate) fn list<'a>(node: &'a YamlNode, key: &str, what: &str, lowering: &mut Lowering<'_>) -> &'a [YamlNode] {
    let Some(value) = field(node, key) else { return &[] };
    if !value.is_list() {
        lowering.sink.wrong_shape(value, &format!("`{key}` of {what}"), "a list");
    }
    value.items()
}

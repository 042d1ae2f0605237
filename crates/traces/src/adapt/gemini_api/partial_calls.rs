//! Calls whose arguments Gemini streams: each piece says the values of some paths (`$.dish.parts[0].name`) and whether more follow.

use super::GeminiPart;
use crate::adapt::adk::AdkPartKey;
use crate::adapt::conversation::Speaker;
use crate::adapt::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use crate::adapt::nodes::{list_of, object_of, objects_of, text_of};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, ObjectEntry, Value};

key_table! {
    PartialKey {
        GoesOn = "willContinue",
        Args = "partialArgs",
        Path = "jsonPath",
        Text = "stringValue",
        Other = "numberValue" | "boolValue",
        Nothing = "nullValue",
    }
}

/// Limit on the places of a list.
const LONGEST: usize = 10_000;
/// Limit on the parts of a path.
const DEEPEST: usize = 100;

/// A call of which pieces arrive.
struct OpenCall<'run> {
    speaker: Speaker,
    node: Node<'run>,
    call: Object<'run>,
    args: ArgsTree<'run>,
}

enum ArgsTree<'run> {
    Nothing,
    Leaf(Node<'run>),
    Text(String),
    Keys(Vec<(&'run str, ArgsTree<'run>)>),
    Items(Vec<ArgsTree<'run>>),
}

/// The parts of an answer with each call in one piece.
pub(super) fn join_calls<'run>(parts: Vec<GeminiPart<'run>>, builder: &RunBuilder<'run, '_>) -> Vec<GeminiPart<'run>> {
    let (mut whole, mut open) = (Vec::new(), None::<OpenCall<'run>>);
    for part in parts {
        let told = match part {
            GeminiPart::Other(speaker, node, told) => {
                object_of(told, AdkPartKey::Call).map(|call| (speaker, node, call))
            }
            _ => None,
        };
        let Some((speaker, node, call)) = told else {
            whole.push(part);
            continue;
        };
        let goes_on = is_true(&call, &NodeShapes, PartialKey::GoesOn);
        let pieces = list_of(call, PartialKey::Args).unwrap_or_default();
        if value_of(call, AdkPartKey::Name).is_some() {
            whole.extend(open.take().map(|open| open.whole_part(builder)));
            if !goes_on && pieces.is_empty() {
                whole.push(part);
                continue;
            }
            open = Some(OpenCall { speaker, node, call, args: ArgsTree::Keys(Vec::new()) });
        }
        let Some(growing) = open.as_mut() else {
            whole.push(part);
            continue;
        };
        for piece in objects_of(pieces) {
            let path = text_of(piece, PartialKey::Path).and_then(|path| path.strip_prefix('$'));
            let path = path.filter(|path| path.matches(['.', '[']).count() <= DEEPEST);
            if path.is_none_or(|path| !growing.args.set_value(path, piece)) {
                builder.note_unknown(node.origin, "a piece of the arguments of a call is of no known form");
            }
        }
        if !goes_on {
            whole.extend(open.take().map(|open| open.whole_part(builder)));
        }
    }
    whole.extend(open.map(|open| open.whole_part(builder)));
    whole
}

impl<'run> OpenCall<'run> {
    fn whole_part(self, builder: &RunBuilder<'run, '_>) -> GeminiPart<'run> {
        let kept = [AdkPartKey::Name, AdkPartKey::Id].into_iter();
        let kept = kept.filter_map(|key| Some(field_entry(key.key(), value_of(self.call, key)?)));
        let args = field_entry(AdkPartKey::Args.key(), self.args.into_node(builder));
        let call = builder.object_node(&kept.chain([args]).collect::<Vec<_>>());
        let part = Object::new(
            builder.arena,
            builder
                .arena
                .alloc_slice_copy(&[field_entry(AdkPartKey::Call.key(), Node::new(call.value, self.node.origin))]),
        );
        GeminiPart::Other(self.speaker, self.node, part)
    }
}

impl<'run> ArgsTree<'run> {
    /// False for a path or a value of no known form.
    fn set_value(&mut self, path: &'run str, piece: Object<'run>) -> bool {
        if !path.is_empty() {
            return self.child(path).is_some_and(|(child, rest)| child.set_value(rest, piece));
        }
        if let Some(text) = text_of(piece, PartialKey::Text) {
            match self {
                Self::Text(known) => known.push_str(text),
                other => *other = Self::Text(text.to_owned()),
            }
            return true;
        }
        *self = match value_of(piece, PartialKey::Other) {
            Some(value) => Self::Leaf(value),
            None if piece.field(PartialKey::Nothing).is_some() => Self::Nothing,
            None => return false,
        };
        true
    }

    /// The value that a path begins with, and the rest of the path.
    fn child(&mut self, path: &'run str) -> Option<(&mut Self, &'run str)> {
        if let Some(behind) = path.strip_prefix('[') {
            let (place, rest) = behind.split_once(']')?;
            let Ok(place) = place.parse::<usize>() else {
                return Some((self.child_of_key(place.trim_matches(['\'', '"']))?, rest));
            };
            if !matches!(self, Self::Items(_)) {
                *self = Self::Items(Vec::new());
            }
            let Self::Items(items) = self else { return None };
            while items.len() <= place && place < LONGEST {
                items.push(Self::Nothing);
            }
            return Some((items.get_mut(place)?, rest));
        }
        let path = path.strip_prefix('.')?;
        let (key, rest) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
        Some((self.child_of_key(key)?, rest))
    }

    fn child_of_key(&mut self, key: &'run str) -> Option<&mut Self> {
        if !matches!(self, Self::Keys(_)) {
            *self = Self::Keys(Vec::new());
        }
        let Self::Keys(entries) = self else { return None };
        let place = entries.iter().position(|(known, _)| *known == key).unwrap_or(entries.len());
        if place == entries.len() {
            entries.push((key, Self::Nothing));
        }
        entries.get_mut(place).map(|(_, child)| child)
    }

    fn into_node(self, builder: &RunBuilder<'run, '_>) -> Node<'run> {
        match self {
            Self::Nothing => Node::computed(Value::Null),
            Self::Leaf(node) => node,
            Self::Text(text) => Node::computed(Value::plain_text(builder.arena.alloc_str(&text))),
            Self::Keys(entries) => {
                let entry = |(key, tree): (&'run str, Self)| ObjectEntry { key, node: tree.into_node(builder) };
                builder.object_node(&entries.into_iter().map(entry).collect::<Vec<_>>())
            }
            Self::Items(items) => {
                builder.list_node(&items.into_iter().map(|item| item.into_node(builder)).collect::<Vec<_>>())
            }
        }
    }
}

//! Objects: the entries between the braces after the first words of a statement.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Run,
    /// A step of the run: an element of the list under this key.
    Step(&'static str),
    Arguments,
    Usage,
    StepValue(&'static str, &'static str),
    Schema,
    Other,
}

pub(super) const USAGE: [&str; 5] =
    ["input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "total_tokens"];

/// The keys of a run in the normal form, with a snippet for their values.
pub(super) const RUN_KEYS: &[(&str, &str)] = &[
    ("calls", "[{ tool: \"${1:tool}\", args: { $0 } }]"),
    ("output", "${1:\"…\"}"),
    ("prompt", "\"${1:…}\""),
    ("inputs", "{ $0 }"),
    ("messages", "[{ role: \"${1:user}\", text: \"${2:…}\" }]"),
    ("commands", "[{ command: \"${1:npm test}\", exit_code: ${2:0} }]"),
    ("reads", "[\"${1:path}\"]"),
    ("writes", "[\"${1:path}\"]"),
    ("skills", "[{ name: \"${1:name}\" }]"),
    ("http", "[{ method: \"${1:GET}\", url: \"${2:https://…}\", status: ${3:200} }]"),
    ("spans", "[$0]"),
    ("handovers", "[{ to: \"${1:billing}\", agent: \"${2:main}\" }]"),
    ("steps", "[$0]"),
    ("usage", "{ total_tokens: ${1:1000} }"),
    ("cost", "${1:0.01}"),
    ("duration", "${1:1000}"),
    ("turns", "${1:1}"),
    ("error", "\"${1:…}\""),
    ("meta", "{ $0 }"),
    ("env", "{ $0 }"),
    ("tools", "[$0]"),
    ("files", "{ $0 }"),
    ("complete", "${1|false,true|}"),
];

const STEP_KEYS: &[(&str, &[&str])] = &[
    (
        "calls",
        &[
            "tool", "args", "result", "response", "error", "ok", "status", "start", "end", "duration", "turn", "id",
            "agent",
        ],
    ),
    ("messages", &["role", "text", "turn", "start"]),
    ("commands", &["command", "exit_code", "output", "start", "end", "duration", "turn"]),
    ("reads", &["path", "start", "turn"]),
    ("writes", &["path", "start", "turn"]),
    ("skills", &["name", "start", "turn"]),
    ("http", &["method", "url", "status", "start", "end", "duration", "turn"]),
    ("spans", &["name", "attributes", "status", "start", "end", "duration", "id", "parent_id"]),
    ("handovers", &["to", "agent", "depth", "start", "turn"]),
    (
        "steps",
        &["kind", "tool", "args", "result", "role", "text", "command", "path", "name", "url", "turn", "start", "end"],
    ),
];

impl ObjectKind {
    /// Returns the kind of the value at a key.
    pub fn object_at_key(self, key: &str) -> Self {
        match self {
            Self::Run if key == "usage" => Self::Usage,
            Self::Run => {
                STEP_KEYS.iter().find(|(list, _)| *list == key).map_or(Self::Other, |(list, _)| Self::Step(list))
            }
            Self::Step(_) if key == "args" => Self::Other,
            _ => Self::Other,
        }
    }

    /// Returns the kind of the value after the colon of a key.
    pub fn value_at_key(self, key: &str) -> Self {
        match self {
            Self::Step(list) => {
                let keys = STEP_KEYS.iter().find(|(name, _)| *name == list).map_or(&[][..], |(_, keys)| keys);
                keys.iter().find(|known| **known == key).map_or(Self::Other, |known| Self::StepValue(list, known))
            }
            _ => Self::Other,
        }
    }

    /// Returns the keys it may have.
    pub fn known_keys(self) -> &'static [&'static str] {
        match self {
            Self::Step(list) => STEP_KEYS.iter().find(|(name, _)| *name == list).map_or(&[], |(_, keys)| keys),
            Self::Usage => &USAGE,
            Self::Schema => &[
                "type",
                "properties",
                "required",
                "items",
                "enum",
                "additionalProperties",
                "minimum",
                "maximum",
                "pattern",
                "description",
                "anyOf",
                "const",
            ],
            _ => &[],
        }
    }
}

pub(super) fn head_object(head: &str) -> ObjectKind {
    match head {
        "test" => ObjectKind::Run,
        "call" => ObjectKind::Arguments,
        "tool" | "schema" => ObjectKind::Schema,
        _ => ObjectKind::Other,
    }
}

//! Which calls a policy is asked about.

use crate::yaml::YamlNode;

/// Which calls a policy is asked about.
pub(super) struct PolicyScope<'n> {
    /// Only these tools.
    pub(super) tools: Option<&'n YamlNode>,
    /// Whether a call of any other tool is a violation.
    pub(super) strict: bool,
}

/// All calls.
pub(super) const ALL: PolicyScope<'static> = PolicyScope { tools: None, strict: false };

//! The calls that a policy applies to.

use crate::yaml::YamlNode;

/// The calls that a policy applies to.
pub(super) struct PolicyScope<'n> {
    /// The policy applies only to these tools; `None` for all tools.
    pub(super) tools: Option<&'n YamlNode>,
    /// True if a call of any other tool is a violation.
    pub(super) strict: bool,
}

/// The policy applies to all calls.
pub(super) const ALL: PolicyScope<'static> = PolicyScope { tools: None, strict: false };

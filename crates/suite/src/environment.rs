//! The environment variables of agents and bootstrap commands: only those that are listed.

use crate::agents::AgentSpec;
use crate::plan::{PlannedSuite, WorkspacePlan};
use std::ffi::OsString;

/// Variables that every program gets.
const USUAL: &[&str] = &[
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "NVM_*",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_*",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Further variables of this process to pass on; a final `*` is a wildcard.
#[derive(Debug, Clone, Default)]
pub struct AllowedVariables(pub Vec<String>);

impl AllowedVariables {
    pub(crate) fn program_variables(
        &self,
        agent: Option<&AgentSpec>,
        further: &[String],
        set: &[(String, String)],
    ) -> Vec<(OsString, OsString)> {
        let listed = |name: &str| {
            let of_agent = agent.map_or(&[][..], |agent| agent.passed);
            let fixed = USUAL.iter().chain(of_agent).any(|pattern| fits_pattern(pattern, name));
            fixed || self.0.iter().chain(further).any(|pattern| fits_pattern(pattern, name))
        };
        let of_this = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(listed));
        let mut all: Vec<(OsString, OsString)> =
            of_this.filter(|(name, _)| !set.iter().any(|(known, _)| name == known.as_str())).collect();
        all.extend(set.iter().map(|(name, value)| (name.into(), value.into())));
        all.sort();
        all
    }
}

/// Minimum length in characters; shorter values occur in reports by chance.
const SHORTEST: usize = 8;

/// Returns the values of variables that only agents get: those set in suites, and those of this process passed on by name. Plain words and paths are
/// excluded, because nobody hides them.
#[must_use]
pub fn private_values(suites: &[PlannedSuite], allowed: &AllowedVariables) -> Vec<String> {
    let runners = || suites.iter().flat_map(|suite| &suite.runners);
    let of_workspaces = suites.iter().flat_map(|suite| match &suite.workspace {
        WorkspacePlan::Created { variables, .. } => variables.as_slice(),
        WorkspacePlan::Existing(_) => &[],
    });
    let set = of_workspaces.chain(runners().flat_map(|runner| &runner.variables)).map(|(_, value)| value.clone());
    let is_passed = |name: &str| {
        let of_agents = runners().filter_map(|runner| runner.agent).flat_map(|agent| agent.passed);
        let named = runners().flat_map(|runner| &runner.passed).chain(&allowed.0).map(String::as_str);
        of_agents.copied().chain(named).any(|pattern| pattern != "*" && fits_pattern(pattern, name))
    };
    let of_this = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed));
    let of_this = of_this.filter_map(|(_, value)| value.into_string().ok());
    let mut values: Vec<String> = set.chain(of_this).filter(|value| is_private(value)).collect();
    values.sort();
    values.dedup();
    values
}

fn is_private(value: &str) -> bool {
    let is_word = value.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '-' | '_' | '.' | ' '));
    let is_path = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    value.chars().count() >= SHORTEST && !is_word && !is_path
}

fn fits_pattern(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_paths_are_no_secrets() {
        assert!(["hunter2-hunter2", "sk-ant-0123", "pa$$word"].into_iter().all(is_private));
        let plain = ["short-1", "production", "my-service", "/home/me/key-1", "./a/b/c1", "en_US.UTF"];
        assert!(!plain.into_iter().any(is_private));
    }

    #[test]
    fn only_listed_variables_are_passed_on() {
        let names = |allowed: &AllowedVariables, agent| -> Vec<String> {
            let set = [("OWN".to_owned(), "1".to_owned())];
            let all = allowed.program_variables(agent, &[], &set);
            all.into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        let plain = names(&AllowedVariables::default(), None);
        assert!(plain.contains(&"PATH".to_owned()) && plain.contains(&"OWN".to_owned()), "{plain:?}");
        assert!(!plain.iter().any(|name| name.starts_with("CARGO")), "{plain:?}");
        let wider = names(&AllowedVariables(vec!["CARGO_*".to_owned()]), None);
        assert!(wider.iter().any(|name| name.starts_with("CARGO_")), "{wider:?}");
    }
}

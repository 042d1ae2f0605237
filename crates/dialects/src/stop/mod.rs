//! STOP: the manifest of a skill, `skill.yaml`, with conditions before and after its execution.
//!
//! `assertions` become `pre` and `post`, `tools_used` and `side_effects` rules of severity `warn`. What a runtime of STOP does with odd values is
//! said openly: in two definitions where the type of an output is not declared, in remarks elsewhere.

mod audit;
mod check;
mod checks;
mod manifest;
mod output;
mod pieces;
mod places;
mod regex;
mod template;

use crate::yaml::{Node, Schema};
use crate::{Dialect, Lowering, OfYaml, Reads};
use averment_base::diagnostic::Slug;
use averment_engine::bytecode::program::{OwnVerdict, OwnVerdicts};
use std::borrow::Cow;

/// The dialect.
pub(crate) const DIALECT: Dialect = Dialect { files: "`skill.yaml`", reads: Reads::Yaml(OF_YAML), verdicts: VERDICTS };

const OF_YAML: OfYaml = OfYaml { marks: &["sop"], schema: Schema::Core, is_one, lower };

/// A result of STOP is `pass` or `fail`: what could not be looked at is no pass.
const VERDICTS: OwnVerdicts = OwnVerdicts {
    system: Cow::Borrowed("STOP"),
    pass: OwnVerdict::new("pass", None),
    fail: OwnVerdict::new("fail", None),
    vacuous: OwnVerdict::new("pass", None),
    undecided: OwnVerdict::new("fail", None),
    error: OwnVerdict::new("fail", None),
};

/// A manifest says its version of the specification, or at least has assertions before or after.
fn is_one(document: &Node) -> bool {
    let phased = |node: &Node| PHASES.iter().any(|phase| node.get(phase.key).is_some());
    document.get("sop").is_some() || document.get("assertions").is_some_and(phased)
}

/// When assertions are looked at.
struct Phase {
    /// Its key, which is the word of the language, too.
    key: &'static str,
    /// What a failure is, unless the assertion says it.
    severity: &'static str,
    /// Whether there is a run to speak of.
    has_run: bool,
}

const PHASES: [Phase; 2] =
    [Phase { key: "pre", severity: "error", has_run: false }, Phase { key: "post", severity: "warn", has_run: true }];

fn lower(document: &Node, to: &mut Lowering<'_>) {
    let Some(manifest) = manifest::read(document, &mut to.said) else { return };
    header(document, to);
    let mut used = output::Used::default();
    if let Some(assertions) = document.get("assertions").filter(|node| !node.is_null()) {
        to.said.keys(assertions, "`assertions`", &PHASES.map(|phase| phase.key));
        for phase in &PHASES {
            phase_of(assertions, phase, &manifest, to, &mut used);
        }
    }
    audit::tools(document, to);
    audit::side_effects(document, &manifest, to);
    used.define(&mut to.out, document.span);
}

/// `pre` or `post`.
fn phase_of(
    assertions: &Node,
    phase: &Phase,
    manifest: &manifest::Manifest<'_>,
    to: &mut Lowering<'_>,
    used: &mut output::Used,
) {
    let Some((key, list)) = assertions.entry(phase.key).filter(|(_, list)| !list.is_null()) else { return };
    if !list.is_list() {
        to.said.shape(list, &format!("`{}`", phase.key), "a list of assertions, each with its `check`");
    }
    if list.items().is_empty() {
        return;
    }
    let Lowering { said, out, .. } = to;
    out.gap();
    out.block(
        key.span,
        |out| out.put(phase.key),
        |out| {
            for assertion in list.items() {
                checks::one(assertion, list.items(), phase, manifest, said, out, used);
            }
        },
    );
}

/// What the skill is, and what of the manifest is no rule.
fn header(document: &Node, to: &mut Lowering<'_>) {
    let text = |key: &str| document.get(key).map(Node::key).unwrap_or_default();
    to.out.remark(&format!("{} {}: {}", text("name"), text("version"), text("description").trim()));
    let kept: Vec<&str> = ["requirements", "observability"]
        .into_iter()
        .filter(|key| document.get(key).is_some_and(|node| !node.is_null()))
        .collect();
    if !kept.is_empty() {
        let are = if kept.len() == 1 { "is" } else { "are" };
        let kept = crate::shape::listed(&kept);
        to.out.remark(&format!("{kept} {are} for who runs the skill, and no rule about a run."));
    }
}

/// A version of the specification that is not the one that is read here.
fn other_version(node: &Node, said: &mut crate::shape::Said) {
    let message = format!("`sop` is `{}`, and version 0.1 of the specification is read here", node.key());
    said.warning(Slug::UnknownType, node.span, message, "write `sop: \"0.1\"`, or look at what has changed since");
}

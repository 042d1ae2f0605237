//! STOP: the manifest of a skill (`skill.yaml`), with assertions before and after its execution.
//!
//! `assertions` become `pre` and `post`. `tools_used` and `side_effects` become rules of severity `warn`. A STOP runtime's treatment of unusual
//! values is written out: in two definitions if the type of an output is not declared, otherwise in comments.

mod audit;
mod check;
mod checks;
mod manifest;
mod output;
mod pieces;
mod places;
mod regex;
mod template;

use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, Lowering, YamlDialect};
use averment_base::diagnostic::Slug;
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;

pub(crate) const DIALECT: Dialect =
    Dialect { files: "`skill.yaml`", reads: FileSyntax::Yaml(OF_YAML), verdicts: VERDICTS };

const OF_YAML: YamlDialect =
    YamlDialect { marks: &["sop"], schema: YamlSchema::Core, is_one: is_manifest, lower: lower_manifest };

/// STOP has only `pass` and `fail`. A check that could not be evaluated does not pass.
const VERDICTS: ForeignVerdicts = ForeignVerdicts {
    system: Cow::Borrowed("STOP"),
    pass: ForeignVerdict::new("pass", None),
    fail: ForeignVerdict::new("fail", None),
    vacuous: ForeignVerdict::new("pass", None),
    undecided: ForeignVerdict::new("fail", None),
    error: ForeignVerdict::new("fail", None),
};

/// True if the document states its specification version, or has assertions before or after.
fn is_manifest(document: &YamlNode) -> bool {
    let phased = |node: &YamlNode| PHASES.iter().any(|phase| node.get(phase.key).is_some());
    document.get("sop").is_some() || document.get("assertions").is_some_and(phased)
}

struct StopPhase {
    /// The key, which is also a keyword of the rule language.
    key: &'static str,
    severity: &'static str,
    has_run: bool,
}

const PHASES: [StopPhase; 2] = [
    StopPhase { key: "pre", severity: "error", has_run: false },
    StopPhase { key: "post", severity: "warn", has_run: true },
];

fn lower_manifest(document: &YamlNode, to: &mut Lowering<'_>) {
    let Some(manifest) = manifest::read_manifest(document, &mut to.sink) else { return };
    write_header(document, to);
    let mut used = output::UsedDefinitions::default();
    if let Some(assertions) = document.get("assertions").filter(|node| !node.is_null()) {
        to.sink.check_keys(assertions, "`assertions`", &PHASES.map(|phase| phase.key));
        for phase in &PHASES {
            phase_of(assertions, phase, &manifest, to, &mut used);
        }
    }
    audit::audit_tools(document, to);
    audit::side_effects(document, &manifest, to);
    used.write_used(&mut to.out, document.span);
}

fn phase_of(
    assertions: &YamlNode,
    phase: &StopPhase,
    manifest: &manifest::SkillManifest<'_>,
    to: &mut Lowering<'_>,
    used: &mut output::UsedDefinitions,
) {
    let Some((key, list)) = assertions.find_entry(phase.key).filter(|(_, list)| !list.is_null()) else { return };
    if !list.is_list() {
        to.sink.wrong_shape(list, &format!("`{}`", phase.key), "a list of assertions, each with its `check`");
    }
    if list.items().is_empty() {
        return;
    }
    let Lowering { sink: said, out, .. } = to;
    out.write_gap();
    out.write_block(
        key.span,
        |out| out.put_text(phase.key),
        |out| {
            for assertion in list.items() {
                checks::write_check(assertion, list.items(), phase, manifest, said, out, used);
            }
        },
    );
}

fn write_header(document: &YamlNode, to: &mut Lowering<'_>) {
    let text = |key: &str| document.get(key).map(YamlNode::key_text).unwrap_or_default();
    to.out.write_remark(&format!("{} {}: {}", text("name"), text("version"), text("description").trim()));
    let kept: Vec<&str> = ["requirements", "observability"]
        .into_iter()
        .filter(|key| document.get(key).is_some_and(|node| !node.is_null()))
        .collect();
    if !kept.is_empty() {
        let configure = if kept.len() == 1 { "configures" } else { "configure" };
        let kept = crate::shape::listed_names(&kept);
        to.out.write_remark(&format!("{kept} {configure} the runtime, and no rule is made of it."));
    }
}

fn other_version(node: &YamlNode, said: &mut crate::shape::DiagnosticSink) {
    let message = format!("`sop` is `{}`, and version 0.1 of the specification is read here", node.key_text());
    said.warning(Slug::UnknownType, node.span, message, "write `sop: \"0.1\"`, or look at what has changed since");
}

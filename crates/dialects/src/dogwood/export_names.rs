//! Names that mean more than one tool: defined steps, and tools with declared facts.

use super::export_reasons::Refusal;
use averment_base::limits::Limits;
use averment_base::source::SourceMap;
use averment_syntax::ast::{ItemKind, SyntaxItem, ToolFact, ToolName};

/// Declarations of all files of a rule file.
#[derive(Debug, Default)]
pub(super) struct DeclaredNames {
    steps: Vec<String>,
    other_names: Vec<ToolName>,
    failures: Vec<ToolName>,
}

impl DeclaredNames {
    pub(super) fn of_sources(sources: &SourceMap) -> Self {
        let mut found = Self::default();
        for (id, _) in sources.iter() {
            let (file, _, _) = averment_syntax::parse(sources, id, &Limits::default());
            found.add_items(&file.items);
        }
        found
    }

    fn add_items(&mut self, items: &[SyntaxItem]) {
        for item in items {
            match &item.kind {
                ItemKind::DefStep { name, .. } => self.steps.push(name.text.clone()),
                ItemKind::ToolFacts { tools, facts } => {
                    for fact in facts {
                        match fact {
                            ToolFact::Also(names) => self.other_names.extend(tools.iter().chain(names).cloned()),
                            ToolFact::Fails(_) => self.failures.extend(tools.iter().cloned()),
                            ToolFact::Tagged(_) => {}
                        }
                    }
                }
                _ => self.add_items(item.kind.body().unwrap_or_default()),
            }
        }
    }

    /// Returns why the name in a pattern does not mean exactly one tool.
    pub(super) fn refusal_of(&self, name: &str, quoted: bool) -> Option<Refusal> {
        if !quoted && self.steps.iter().any(|step| step == name) {
            return Some("it names a step that is defined elsewhere: write the tool itself");
        }
        is_among(&self.other_names, name).then_some("its tool has other names, which have no counterpart there")
    }

    /// True if a rule file declares which calls of a tool failed.
    pub(super) fn decides_failures(&self, name: &str) -> bool {
        is_among(&self.failures, name)
    }
}

/// True if a name is in the list. A glob in the list matches every name, since it may mean any tool.
fn is_among(tools: &[ToolName], name: &str) -> bool {
    tools.iter().any(|tool| {
        tool.name.text == name || !tool.quoted && (tool.name.text.contains(['*', '?']) || tool.name.text == "any")
    })
}

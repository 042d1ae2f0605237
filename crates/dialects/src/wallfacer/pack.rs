//! A pack with the packs that it extends.

use super::template::{self, Covered, Parameter, TOOL_NAME};
use crate::Lowering;
use crate::yaml::Node;
use averment_base::diagnostic::{Slug, suggest};
use averment_base::source::{FileId, SourceFile, Span};
use averment_engine::check::files::display_name;
use std::collections::BTreeSet;

/// Packs above each other.
const DEPTH: usize = 4;
/// What packs are read.
const VERSIONS: [&str; 3] = ["1", "2", "3"];
const KEYS: [&str; 5] = ["version", "metadata", "invariants", "for_each_tool", "sequences"];
const METADATA: [&str; 6] = ["name", "description", "authors", "tags", "parameters", "extends"];

/// What a pack holds, what it extends in front.
#[derive(Debug, Default)]
pub(super) struct Pack {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    pub description: Option<String>,
    /// Invariants of named tools.
    pub invariants: Vec<Node>,
    /// Invariants of all tools that fit.
    pub for_each_tool: Vec<Node>,
    /// Calls that follow each other.
    pub sequences: Vec<Node>,
}

/// Reads the pack of the file that is lowered. What is wrong was said where there is none.
pub(super) fn read(lowering: &mut Lowering<'_>) -> Option<Pack> {
    let mut reading = Reading { declared: BTreeSet::new(), parameters: None };
    let pack = reading.pack(lowering, lowering.root, &mut Vec::new());
    let start = Span::new(lowering.root, 0, 0);
    for (name, _) in lowering.options.given {
        if reading.declared.contains(name) {
            continue;
        }
        let help = match suggest::nearest(name, reading.declared.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "the parameters stand under `metadata`, `parameters`".to_owned(),
        };
        let message = format!("the pack declares no parameter `{name}`");
        lowering.said.error(Slug::UnknownName, reading.parameters.unwrap_or(start), message, help);
    }
    pack
}

struct Reading {
    /// The parameters of all packs.
    declared: BTreeSet<String>,
    /// Where those of the first pack stand.
    parameters: Option<Span>,
}

impl Reading {
    fn pack(&mut self, lowering: &mut Lowering<'_>, file: FileId, trail: &mut Vec<String>) -> Option<Pack> {
        let (source_name, text) = lowering.sources.get(file).map(|file| (file.name.clone(), file.text.to_string()))?;
        let covered = Covered::of(&text);
        let raw = match covered.parse(file) {
            Ok(raw) => raw,
            Err(error) => {
                lowering.said.diagnostics.0.push(*error);
                return None;
            }
        };
        let metadata = raw.get("metadata").map(|metadata| covered.filled(metadata, None));
        if trail.is_empty() {
            self.parameters =
                metadata.as_ref().and_then(|metadata| metadata.entry("parameters")).map(|(key, _)| key.span);
        }
        let mut values = template::parameters(lowering, metadata.as_ref());
        self.declared.extend(values.keys().cloned());
        if raw.get("for_each_tool").is_some_and(|blocks| !blocks.items().is_empty()) {
            let literal = || Parameter { text: format!("{{{{{TOOL_NAME}}}}}"), whole: None };
            values.entry(TOOL_NAME.to_owned()).or_insert_with(literal);
        }
        template::undeclared(lowering, &covered, file, &values);
        let root = covered.filled(&raw, Some(&values));
        let own = own(lowering, &root, &source_name)?;
        trail.push(own.name.clone());
        let parents = root.get("metadata").map(|metadata| lowering.said.list(metadata, "extends", "`metadata`"));
        let parents: Vec<Option<Pack>> =
            parents.unwrap_or_default().iter().map(|parent| self.parent(lowering, parent, file, trail)).collect();
        trail.pop();
        let parents: Vec<Pack> = parents.into_iter().collect::<Option<_>>()?;
        Some(merged(own, parents))
    }

    fn parent(
        &mut self,
        lowering: &mut Lowering<'_>,
        parent: &Node,
        from: FileId,
        trail: &mut Vec<String>,
    ) -> Option<Pack> {
        let name = lowering.said.as_text(parent, "a pack of `extends`")?;
        if trail.iter().any(|known| known == name) {
            let message = format!("the pack `{name}` extends itself: {} → {name}", trail.join(" → "));
            lowering.said.error(Slug::ImportCycle, parent.span, message, "take one of them out of `extends`");
            return None;
        }
        if trail.len() > DEPTH {
            let message = format!("packs are extended more than {DEPTH} deep: {} → {name}", trail.join(" → "));
            lowering.said.error(Slug::TooDeep, parent.span, message, "extend the pack directly");
            return None;
        }
        let file = found(lowering, name, parent.span, from)?;
        self.pack(lowering, file, trail)
    }
}

/// The file of a pack: beside the one that names it, in a folder `packs` or in the same folder.
fn found(lowering: &mut Lowering<'_>, name: &str, place: Span, from: FileId) -> Option<FileId> {
    let (folder, of) = lowering.sources.get(from).map(|file| (file.folder.clone(), file.name.clone()))?;
    let folder = folder.unwrap_or_default();
    let tried =
        ["packs/", ""].iter().flat_map(|folder| ["yaml", "yml"].map(|ending| format!("{folder}{name}.{ending}")));
    let mut found = tried.filter_map(|path| Some((lowering.files.read(&folder, &path, None).ok()?, path)));
    let Some((file, path)) = found.next() else {
        let message = format!("the pack `{name}` stands neither in `packs/{name}.yaml` nor in `{name}.yaml`");
        let help = "put the pack there; packs that are built into other programs are not known here";
        lowering.said.error(Slug::MissingFile, place, message, help);
        return None;
    };
    let shown = display_name(&of, &path);
    Some(lowering.sources.add(SourceFile::new(shown, Some(&file.folder), file.text.as_str())))
}

/// What the file itself says.
fn own(lowering: &mut Lowering<'_>, root: &Node, file: &str) -> Option<Pack> {
    let said = &mut lowering.said;
    said.keys(root, "a pack", &KEYS);
    if !root.is_map() {
        return None;
    }
    version(said, root);
    if root.get("invariants").is_none() {
        said.error(Slug::TypeMismatch, root.span.at_start(), "a pack has no `invariants`", "write `invariants: []`");
    }
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let mut pack = Pack { name: stem.split('.').next().unwrap_or(stem).to_owned(), ..Pack::default() };
    if let Some(metadata) = root.get("metadata")
        && said.keys(metadata, "`metadata`", &METADATA)
    {
        pack.name = said.optional_text(metadata, "name", "`metadata`").map_or(pack.name, str::to_owned);
        pack.description = said.optional_text(metadata, "description", "`metadata`").map(str::to_owned);
        for key in ["authors", "tags"] {
            for text in said.list(metadata, key, "`metadata`") {
                let _ = said.as_text(text, &format!("an element of `{key}`"));
            }
        }
    }
    pack.invariants = said.list(root, "invariants", "a pack").to_vec();
    pack.for_each_tool = said.list(root, "for_each_tool", "a pack").to_vec();
    pack.sequences = said.list(root, "sequences", "a pack").to_vec();
    Some(pack)
}

fn version(said: &mut crate::shape::Said, root: &Node) {
    const HELP: &str = "packs of the versions 1, 2 and 3 are read: write `version: 3`";
    match root.get("version") {
        None => said.error(Slug::TypeMismatch, root.span.at_start(), "a pack has no `version`", HELP),
        Some(version) if version.number().is_none() => said.shape(version, "`version`", "a number: `version: 3`"),
        Some(version) if !version.number().is_some_and(|number| VERSIONS.contains(&number)) => {
            said.error(Slug::TypeMismatch, version.span, format!("there is no version {}", version.key()), HELP);
        }
        Some(_) => {}
    }
}

/// A pack behind those that it extends: of equal names its own counts, then that of the first.
fn merged(own: Pack, parents: Vec<Pack>) -> Pack {
    let mut all = Pack { name: own.name, description: own.description, ..Pack::default() };
    let (mut invariants, mut blocks, mut sequences) = (Vec::new(), Vec::new(), Vec::new());
    for parent in parents {
        invariants.push(parent.invariants);
        blocks.push(parent.for_each_tool);
        sequences.push(parent.sequences);
    }
    all.invariants = joined(invariants, own.invariants);
    all.for_each_tool = joined(blocks, own.for_each_tool);
    all.sequences = joined(sequences, own.sequences);
    all
}

fn joined(parents: Vec<Vec<Node>>, own: Vec<Node>) -> Vec<Node> {
    let name = |node: &Node| node.get("name").and_then(Node::text).map(str::to_owned);
    let mut taken: BTreeSet<String> = own.iter().filter_map(name).collect();
    let mut all: Vec<Node> = Vec::new();
    for parent in parents {
        let kept: Vec<Node> =
            parent.into_iter().filter(|node| !name(node).is_some_and(|name| taken.contains(&name))).collect();
        taken.extend(kept.iter().filter_map(name));
        all.extend(kept);
    }
    all.extend(own);
    all
}

//! Reads a pack and the packs that it extends.

use super::template::{self, CoveredText, KeptParams, PackParameter, TOOL_NAME};
use crate::Lowering;
use crate::writer::to_label;
use crate::yaml::YamlNode;
use averment_base::diagnostic::{Slug, suggest};
use averment_base::source::{FileId, SourceFile, Span};
use averment_checker::files::display_name;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const DEPTH: usize = 4;
const VERSIONS: [&str; 3] = ["1", "2", "3"];
const KEYS: [&str; 5] = ["version", "metadata", "invariants", "for_each_tool", "sequences"];
const METADATA: [&str; 6] = ["name", "description", "authors", "tags", "parameters", "extends"];

#[derive(Debug, Default)]
pub(super) struct InvariantPack {
    /// Its name.
    pub name: String,
    /// Its own description.
    pub description: Option<String>,
    /// Invariants of named tools.
    pub invariants: Vec<PackEntry>,
    /// Invariants of all tools that match a condition.
    pub for_each_tool: Vec<PackEntry>,
    /// Sequences of calls.
    pub sequences: Vec<PackEntry>,
    /// Parameters that stay parameters, from all packs read.
    pub kept: KeptParams,
}

/// An invariant or a sequence.
#[derive(Debug, Clone)]
pub(super) struct PackEntry {
    pub node: YamlNode,
    /// The tags of its pack, as labels.
    pub tags: Rc<[String]>,
}

/// Reads a pack; returns `None` if it is invalid, which was reported.
pub(super) fn read_pack(lowering: &mut Lowering<'_>) -> Option<InvariantPack> {
    let mut reading = PackReader { declared: BTreeSet::new(), parameters: None, kept: KeptParams::default() };
    let mut pack = reading.load_pack(lowering, lowering.root, &mut Vec::new());
    let start = Span::new(lowering.root, 0, 0);
    for (name, _) in lowering.options.given {
        if reading.declared.contains(name) {
            continue;
        }
        let help = match suggest::suggest_name(name, reading.declared.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "put the parameters under `metadata`, `parameters`".to_owned(),
        };
        let message = format!("the pack declares no parameter `{name}`");
        lowering.sink.error(Slug::UnknownName, reading.parameters.unwrap_or(start), message, help);
    }
    if let Some(pack) = &mut pack {
        pack.kept = reading.kept;
    }
    pack
}

struct PackReader {
    kept: KeptParams,
    declared: BTreeSet<String>,
    parameters: Option<Span>,
}

impl PackReader {
    fn load_pack(
        &mut self,
        lowering: &mut Lowering<'_>,
        file: FileId,
        trail: &mut Vec<String>,
    ) -> Option<InvariantPack> {
        let (source_name, text) = lowering.sources.get(file).map(|file| (file.name.clone(), file.text.to_string()))?;
        let covered = CoveredText::cover_placeholders(&text);
        let raw = match covered.parse_covered(file) {
            Ok(raw) => raw,
            Err(error) => {
                lowering.sink.diagnostics.0.push(*error);
                return None;
            }
        };
        let metadata = raw.get("metadata").map(|metadata| covered.fill_node(metadata, None));
        if trail.is_empty() {
            self.parameters =
                metadata.as_ref().and_then(|metadata| metadata.find_entry("parameters")).map(|(key, _)| key.span);
        }
        let mut values = template::read_parameters(lowering, metadata.as_ref());
        self.declared.extend(values.keys().cloned());
        if raw.get("for_each_tool").is_some_and(|blocks| !blocks.items().is_empty()) {
            let literal =
                || PackParameter { text: format!("{{{{{TOOL_NAME}}}}}"), whole: None, is_kept: false, is_text: true };
            values.entry(TOOL_NAME.to_owned()).or_insert_with(literal);
        }
        template::report_undeclared(lowering, &covered, file, &values);
        let root = covered.fill_node(&raw, Some(&values));
        self.keep_params(&covered, &values, metadata.as_ref());
        let own = own_pack(lowering, &root, &source_name)?;
        trail.push(own.name.clone());
        let parents = root.get("metadata").map(|metadata| lowering.sink.list_items(metadata, "extends", "`metadata`"));
        let parents: Vec<Option<InvariantPack>> =
            parents.unwrap_or_default().iter().map(|parent| self.load_parent(lowering, parent, file, trail)).collect();
        trail.pop();
        let parents: Vec<InvariantPack> = parents.into_iter().collect::<Option<_>>()?;
        Some(merge_packs(own, parents))
    }

    /// Records the parameters that stay parameters. If several packs of an extension chain declare one, the first declaration counts.
    fn keep_params(
        &mut self,
        covered: &CoveredText<'_>,
        values: &BTreeMap<String, PackParameter>,
        metadata: Option<&YamlNode>,
    ) {
        self.kept.texts.append(&mut covered.kept.borrow_mut());
        let declared = metadata.and_then(|metadata| metadata.get("parameters")).map(YamlNode::entries);
        for (name, about) in declared.unwrap_or_default() {
            let name = name.key_text();
            let is_new = !self.kept.declared.iter().any(|(known, ..)| *known == name);
            if let Some(default) = about.get("default").filter(|_| is_new)
                && values.get(&name).is_some_and(|value| value.is_kept)
            {
                let says = about.get("description").and_then(YamlNode::as_text).map(str::to_owned);
                self.kept.declared.push((name, default.clone(), says));
            }
        }
    }

    fn load_parent(
        &mut self,
        lowering: &mut Lowering<'_>,
        parent: &YamlNode,
        from: FileId,
        trail: &mut Vec<String>,
    ) -> Option<InvariantPack> {
        let name = lowering.sink.as_text(parent, "a pack of `extends`")?;
        if trail.iter().any(|known| known == name) {
            let message = format!("the pack `{name}` extends itself: {} → {name}", trail.join(" → "));
            lowering.sink.error(Slug::ImportCycle, parent.span, message, "take one of them out of `extends`");
            return None;
        }
        if trail.len() > DEPTH {
            let message = format!("packs are extended more than {DEPTH} deep: {} → {name}", trail.join(" → "));
            lowering.sink.error(Slug::TooDeep, parent.span, message, "extend the pack directly");
            return None;
        }
        let file = find_pack(lowering, name, parent.span, from)?;
        self.load_pack(lowering, file, trail)
    }
}

/// Finds a pack in a folder `packs` beside the file, or in the folder of the file.
fn find_pack(lowering: &mut Lowering<'_>, name: &str, place: Span, from: FileId) -> Option<FileId> {
    let (folder, of) = lowering.sources.get(from).map(|file| (file.folder.clone(), file.name.clone()))?;
    let folder = folder.unwrap_or_default();
    let tried =
        ["packs/", ""].iter().flat_map(|folder| ["yaml", "yml"].map(|ending| format!("{folder}{name}.{ending}")));
    let mut found = tried.filter_map(|path| Some((lowering.files.read(&folder, &path, None).ok()?, path)));
    let Some((file, path)) = found.next() else {
        let message = format!("the pack `{name}` is neither in `packs/{name}.yaml` nor in `{name}.yaml`");
        let help = "put the pack there; packs that are built into other programs are not known here";
        lowering.sink.error(Slug::MissingFile, place, message, help);
        return None;
    };
    let shown = display_name(&of, &path);
    Some(lowering.sources.add_file(SourceFile::new(shown, Some(&file.folder), file.text.as_str())))
}

fn own_pack(lowering: &mut Lowering<'_>, root: &YamlNode, file: &str) -> Option<InvariantPack> {
    let said = &mut lowering.sink;
    said.check_keys(root, "a pack", &KEYS);
    if !root.is_map() {
        return None;
    }
    check_version(said, root);
    if root.get("invariants").is_none() {
        said.error(Slug::TypeMismatch, root.span.at_start(), "a pack has no `invariants`", "write `invariants: []`");
    }
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let mut pack =
        InvariantPack { name: stem.split('.').next().unwrap_or(stem).to_owned(), ..InvariantPack::default() };
    let mut tags: Vec<String> = Vec::new();
    if let Some(metadata) = root.get("metadata")
        && said.check_keys(metadata, "`metadata`", &METADATA)
    {
        pack.name = said.optional_text(metadata, "name", "`metadata`").map_or(pack.name, str::to_owned);
        pack.description = said.optional_text(metadata, "description", "`metadata`").map(str::to_owned);
        for key in ["authors", "tags"] {
            for text in said.list_items(metadata, key, "`metadata`") {
                let text = said.as_text(text, &format!("an element of `{key}`")).map(to_label);
                if let Some(tag) = text.filter(|tag| key == "tags" && !tags.contains(tag)) {
                    tags.push(tag);
                }
            }
        }
    }
    let tags: Rc<[String]> = tags.into();
    let mut entries = |key: &str| -> Vec<PackEntry> {
        let nodes = said.list_items(root, key, "a pack").iter();
        nodes.map(|node| PackEntry { node: node.clone(), tags: Rc::clone(&tags) }).collect()
    };
    pack.invariants = entries("invariants");
    pack.for_each_tool = entries("for_each_tool");
    pack.sequences = entries("sequences");
    Some(pack)
}

fn check_version(said: &mut crate::shape::DiagnosticSink, root: &YamlNode) {
    const HELP: &str = "packs of the versions 1, 2 and 3 are read: write `version: 3`";
    match root.get("version") {
        None => said.error(Slug::TypeMismatch, root.span.at_start(), "a pack has no `version`", HELP),
        Some(version) if version.as_number().is_none() => {
            said.wrong_shape(version, "`version`", "a number: `version: 3`")
        }
        Some(version) if !version.as_number().is_some_and(|number| VERSIONS.contains(&number)) => {
            said.error(Slug::TypeMismatch, version.span, format!("there is no version {}", version.key_text()), HELP);
        }
        Some(_) => {}
    }
}

/// Merges packs. Entries of the pack itself take precedence, then those of its first parent.
fn merge_packs(own: InvariantPack, parents: Vec<InvariantPack>) -> InvariantPack {
    let mut all = InvariantPack { name: own.name, description: own.description, ..InvariantPack::default() };
    let (mut invariants, mut blocks, mut sequences) = (Vec::new(), Vec::new(), Vec::new());
    for parent in parents {
        invariants.push(parent.invariants);
        blocks.push(parent.for_each_tool);
        sequences.push(parent.sequences);
    }
    all.invariants = merge_nodes(invariants, own.invariants);
    all.for_each_tool = merge_nodes(blocks, own.for_each_tool);
    all.sequences = merge_nodes(sequences, own.sequences);
    all
}

fn merge_nodes(parents: Vec<Vec<PackEntry>>, own: Vec<PackEntry>) -> Vec<PackEntry> {
    let name = |entry: &PackEntry| entry.node.get("name").and_then(YamlNode::as_text).map(str::to_owned);
    let mut taken: BTreeSet<String> = own.iter().filter_map(name).collect();
    let mut all: Vec<PackEntry> = Vec::new();
    for parent in parents {
        let kept: Vec<PackEntry> =
            parent.into_iter().filter(|node| !name(node).is_some_and(|name| taken.contains(&name))).collect();
        taken.extend(kept.iter().filter_map(name));
        all.extend(kept);
    }
    all.extend(own);
    all
}

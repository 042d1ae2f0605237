//! Reads the root file and everything that `use` reaches, each file once, and finds import loops.

use super::files::{FileError, Files, display_name};
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug, suggest};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_builtins::stdlib;
use averment_syntax::ast;
use std::path::{Path, PathBuf};

/// A rule file with its syntax tree.
#[derive(Debug)]
pub struct LoadedFile {
    /// Its number in the source map.
    pub id: FileId,
    /// The syntax tree.
    pub ast: ast::RuleFile,
    /// True when something in it could not be read, so that a name may be missing for that reason alone.
    pub broken: bool,
    /// Its `use` items in order, each with the file it leads to; `None` where there is none.
    pub imports: Vec<Option<usize>>,
    /// Where its paths start.
    pub folder: PathBuf,
    /// Whether it is a pack: a module whose rules are judged where it is used.
    pub is_pack: bool,
    key: PathBuf,
}

/// Loads the file `root` of the map and all that it imports, then files of rules that are given for what they declare of tools; the root is the
/// first. `read` is the root's tree, with what was said of it, where
/// it was read already.
pub fn load_files(
    map: &mut SourceMap,
    root: FileId,
    beside: &[FileId],
    read: Option<(ast::RuleFile, Diagnostics)>,
    files: &dyn Files,
    limits: &Limits,
    diagnostics: &mut Diagnostics,
) -> Vec<LoadedFile> {
    let mut loader = FileLoader { map, read, files, limits, diagnostics, loaded: Vec::new(), path: Vec::new() };
    let Some(file) = loader.map.get(root) else { return Vec::new() };
    let folder = file.folder.clone().unwrap_or_default();
    let own_name = Path::new(&file.name).file_name().map(|name| name.to_string_lossy().into_owned());
    // The root is known by where it really is, so that a loop through it is seen; text in no file is known by its name.
    let key = own_name
        .and_then(|name| loader.files.read(&folder, &name, None).ok())
        .map_or_else(|| PathBuf::from(&file.name), |found| found.key);
    loader.add_file(root, folder, key);
    for id in beside {
        let Some(file) = loader.map.get(*id) else { continue };
        let (folder, key) = (file.folder.clone().unwrap_or_default(), PathBuf::from(&file.name));
        // The rules themselves may be the file that is given.
        if *id != root && loader.loaded.iter().all(|known| known.key != key) {
            loader.add_file(*id, folder, key);
        }
    }
    loader.loaded
}

/// What the key of a module begins with; no path does.
const MODULE_KEY: &str = "std:";

struct FileLoader<'l> {
    map: &'l mut SourceMap,
    read: Option<(ast::RuleFile, Diagnostics)>,
    files: &'l dyn Files,
    limits: &'l Limits,
    diagnostics: &'l mut Diagnostics,
    loaded: Vec<LoadedFile>,
    path: Vec<(usize, Span)>,
}

impl FileLoader<'_> {
    fn add_file(&mut self, id: FileId, folder: PathBuf, key: PathBuf) -> usize {
        let (ast, diagnostics) = self.read.take().unwrap_or_else(|| {
            let (ast, _, diagnostics) = averment_syntax::parse(self.map, id, self.limits);
            (ast, diagnostics)
        });
        let broken = diagnostics.has_errors();
        self.diagnostics.extend(diagnostics);
        let index = self.loaded.len();
        let uses: Vec<ast::UseItem> = ast
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                ast::ItemKind::Use(item) => Some(item.clone()),
                _ => None,
            })
            .collect();
        let is_pack = key.to_str().and_then(|key| key.strip_prefix(MODULE_KEY)).is_some_and(stdlib::is_pack);
        self.loaded.push(LoadedFile { id, ast, broken, imports: Vec::new(), folder, is_pack, key });
        for item in &uses {
            self.path.push((index, item.target.span));
            let target = self.follow_use(index, item);
            self.path.pop();
            if let Some(file) = self.loaded.get_mut(index) {
                file.imports.push(target);
            }
        }
        index
    }

    fn follow_use(&mut self, from: usize, item: &ast::UseItem) -> Option<usize> {
        if item.is_path { self.follow_path(from, &item.target) } else { self.follow_module(&item.target) }
    }

    fn follow_module(&mut self, target: &ast::Name) -> Option<usize> {
        let name = target.text.strip_prefix("std.").unwrap_or(&target.text);
        let Some(module) = stdlib::find_module(name).filter(|_| target.text.starts_with("std.")) else {
            self.unknown_module(target, name);
            return None;
        };
        let key = PathBuf::from(format!("{MODULE_KEY}{name}"));
        if let Some(known) = self.loaded.iter().position(|file| file.key == key) {
            return Some(known);
        }
        let id = self.map.add_file(SourceFile::new(module.file, None, module.text));
        Some(self.add_file(id, PathBuf::new(), key))
    }

    fn unknown_module(&mut self, target: &ast::Name, name: &str) {
        let all: Vec<String> = stdlib::module_names().map(|name| format!("std.{name}")).collect();
        let near = suggest::suggest_name(&target.text, all.iter().map(String::as_str))
            .or_else(|| suggest::suggest_name(&format!("std.{name}"), all.iter().map(String::as_str)));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the modules are {}; a file is imported with `use \"./{name}.assert\"`", all.join(", ")),
        };
        self.diagnostics.push(
            Diagnostic::new(Slug::Import, target.span, format!("there is no module `{}`", target.text)).with_help(help),
        );
    }

    fn follow_path(&mut self, from: usize, target: &ast::Name) -> Option<usize> {
        let file = self.loaded.get(from)?;
        let (folder, id) = (file.folder.clone(), file.id);
        let found = match self.files.read(&folder, &target.text, None) {
            Ok(found) => found,
            Err(error) => {
                let diagnostic = cannot_read(self.files, &folder, target, &error);
                self.diagnostics.push(diagnostic);
                return None;
            }
        };
        // What is wrong with a file of rules is shown with its text, and other text is nobody's to show.
        if found.key.extension().is_none_or(|ending| ending != "assert") {
            let message = format!("`{}` is no rule file: its name does not end in `.assert`", target.text);
            let help = "name the file so, or read its data with `tools from`, `schema … from`, `test … from`";
            self.diagnostics.push(Diagnostic::new(Slug::Import, target.span, message).with_help(help));
            return None;
        }
        if let Some(known) = self.loaded.iter().position(|file| file.key == found.key) {
            self.report_loop(known);
            return Some(known);
        }
        if self.loaded.len() >= self.limits.rule_files {
            let message = format!("more than {} files are imported", self.limits.rule_files);
            self.diagnostics.push(Diagnostic::new(Slug::TooLarge, target.span, message));
            return None;
        }
        let from_name = self.map.get(id).map(|file| file.name.clone()).unwrap_or_default();
        let name = display_name(&from_name, &target.text);
        let id = self.map.add_file(SourceFile::new(name, Some(&found.folder), found.text));
        Some(self.add_file(id, found.folder, found.key))
    }

    fn report_loop(&mut self, target: usize) {
        let Some(start) = self.path.iter().position(|&(file, _)| file == target) else { return };
        let Some(ring) = self.path.get(start..) else { return };
        let name = |file: usize| {
            let id = self.loaded.get(file).map(|file| file.id);
            id.and_then(|id| self.map.get(id)).map_or(String::new(), |file| short_name(&file.name))
        };
        let mut names: Vec<String> = ring.iter().map(|&(file, _)| name(file)).collect();
        names.push(name(target));
        let Some(&(_, place)) = ring.first() else { return };
        let mut diagnostic =
            Diagnostic::new(Slug::ImportCycle, place, format!("imports form a loop: {}", names.join(" -> ")))
                .with_help("move what both need into a third file");
        for &(_, place) in ring.iter().skip(1) {
            diagnostic = diagnostic.with_other(place, "which imports this");
        }
        self.diagnostics.push(diagnostic);
    }
}

fn short_name(name: &str) -> String {
    Path::new(name).file_name().map_or_else(|| name.to_owned(), |last| last.to_string_lossy().into_owned())
}

/// The diagnostic for a file that cannot be read, with the nearest file name.
pub fn cannot_read(files: &dyn Files, folder: &Path, path: &ast::Name, error: &FileError) -> Diagnostic {
    let text = &path.text;
    let slug = if *error == FileError::NotFound { Slug::MissingFile } else { Slug::Import };
    let help = match error {
        FileError::NotFound => match near_file(files, folder, text) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "paths are relative to the file that names them".to_owned(),
        },
        FileError::NotRelative => {
            "copy the file next to the rules and write a relative path such as `./lib/name`".to_owned()
        }
        FileError::Outside => "copy the file into the folder of the rules".to_owned(),
        FileError::NotPermitted => {
            "put `averment.toml` into the folder of the project, or name the folder with `--allow-read`".to_owned()
        }
        FileError::NotText => "save the file as UTF-8".to_owned(),
        FileError::TooLarge(_) | FileError::Other(_) => "name a file of text".to_owned(),
    };
    Diagnostic::new(slug, path.span, error.describe_for(text)).with_help(help)
}

fn near_file(files: &dyn Files, folder: &Path, path: &str) -> Option<String> {
    let (front, last) = match path.rfind('/') {
        Some(at) => path.split_at(at.saturating_add(1)),
        None => ("", path),
    };
    let names = files.names(folder, path);
    suggest::suggest_name(last, names.iter().map(String::as_str)).map(|near| format!("{front}{near}"))
}

//! Lints and formats the text of rules.

use crate::answer::{Refusal, json_bytes};
use crate::exchange::Slot;
use crate::settings::RuleSettings;
use averment::stages::load::{self, LoadSettings, LoadedRuleFile};
use averment::{Diagnostics, Memory};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap};
use averment_ide::lint::{LintOptions, report_file};
use averment_syntax::fmt::{FormatOptions, format_file};
use std::path::Path;

/// Returns the list `diagnostics` of `aver lint --format json`.
pub fn lint_rules(settings: &RuleSettings) -> Result<Vec<u8>, Refusal> {
    let options = LintOptions { levels: settings.lint_levels()? };
    let files = Memory::new(settings.files.iter().map(|(path, text)| (path, text.as_str())));
    let how = LoadSettings { tools: &settings.tools, ..LoadSettings::with_limits(&files, settings.limits()) };
    let mut all = Vec::new();
    for (name, text) in &settings.sources {
        let folder = (!settings.files.is_empty()).then(|| Path::new(name).parent()).flatten();
        let mut file = load::load_rules(name, folder, text.clone().into_bytes(), how)
            .map_err(|problem| Refusal::Given(problem.to_string()))?;
        add_lints(&mut file, &options);
        all.push(file);
    }
    json_bytes(&load::join_programs(all).1)
}

fn add_lints(file: &mut LoadedRuleFile, options: &LintOptions) {
    if let Some(checked) = &file.checked {
        file.diagnostics = report_file(&file.sources, FileId(0), checked, options);
    }
}

/// Returns the text as `aver fmt` formats it.
pub fn format_rules() -> Result<Vec<u8>, Refusal> {
    let name = String::from_utf8_lossy(&Slot::Settings.take()).into_owned();
    let text = String::from_utf8_lossy(&Slot::Input.take()).into_owned();
    let options = FormatOptions::default();
    if text.len() > Limits::default().rule_file_bytes {
        return Err(Refusal::Given(format!("the file is larger than {} MiB", options.limits.rule_file_bytes >> 20)));
    }
    if load::may_be_foreign(&name, &text) {
        return Err(Refusal::Given(format!("`{name}` is a file of another system, and only rules are formatted")));
    }
    let mut sources = SourceMap::default();
    let file = sources.add_file(SourceFile::new(name, None, text));
    format_file(&sources, file, &options).map(String::into_bytes).map_err(|mistakes| {
        let mut said = Diagnostics::default();
        said.by_file_mut().push((sources, mistakes));
        Refusal::of_diagnostics(&said)
    })
}

//! Reads the `workspace` of a suite: where its agents work.

use super::{Bootstrap, PlanError, SettingOverrides, WorkspacePlan, WorkspaceSource, word_at};
use crate::paths::normalize_path;
use averment_checker::ir::{SessionSettings, SuitePlan};
use std::path::Path;
use std::time::Duration;

pub(super) fn plan_workspace(
    plan: &SuitePlan,
    base: &Path,
    over: &SettingOverrides,
) -> Result<WorkspacePlan, PlanError> {
    let none = SessionSettings::default();
    let (mode, span, own) = match &plan.workspace {
        Some((mode, span, own)) => (mode.as_str(), *span, own),
        None => ("none", plan.span, &none),
    };
    let wrong = |key: &str, help: &str| match own.get(key) {
        Some(setting) => Err(PlanError::at_span(
            setting.span,
            format!("`{key}` has no meaning in a workspace that is `{mode}`"),
            help,
        )),
        None => Ok(()),
    };
    if mode == "none" {
        for key in ["template", "worktree", "revision", "bootstrap"] {
            wrong(key, "write `workspace isolated { … }`, or `shared`")?;
        }
        let written = own.text_value("cwd").or(plan.settings.text_value("cwd"));
        let cwd = over.cwd.clone().or_else(|| written.map(|cwd| base.join(cwd)));
        let cwd = cwd.unwrap_or_else(|| std::env::current_dir().unwrap_or_else(|_| base.to_owned()));
        if !cwd.is_dir() {
            return Err(PlanError::at_span(
                span,
                format!("there is no folder `{}`", cwd.display()),
                "make it, or name another `cwd`",
            ));
        }
        return Ok(WorkspacePlan::Existing(normalize_path(&cwd)));
    }
    wrong("cwd", "leave it out: the workspace is a folder of its own")?;
    if let Some(setting) = plan.settings.get("cwd") {
        let message = format!("`cwd` has no meaning where the workspace is `{mode}`");
        return Err(PlanError::at_span(setting.span, message, "leave it out: the workspace is a folder of its own"));
    }
    if over.cwd.is_some() {
        let message =
            format!("`--cwd` has no meaning: agents of the suite `{}` work in a folder of their own", plan.name);
        return Err(PlanError::Chosen(message, "leave it out".to_owned()));
    }
    Ok(WorkspacePlan::Created {
        isolated: mode == "isolated",
        of: workspace_source(own, base)?,
        bootstrap: bootstrap_command(own, base),
        variables: own.name_pairs("env").to_vec(),
    })
}

fn workspace_source(own: &SessionSettings, base: &Path) -> Result<WorkspaceSource, PlanError> {
    let folder = |key: &str| match (own.get(key), own.text_value(key)) {
        (Some(setting), Some(path)) => {
            let path = normalize_path(&base.join(path));
            let missing = || {
                PlanError::at_span(
                    setting.span,
                    format!("there is no folder `{}`", path.display()),
                    "paths are relative to the rule file",
                )
            };
            if path.is_dir() { Ok(Some(path)) } else { Err(missing()) }
        }
        _ => Ok(None),
    };
    match (folder("template")?, folder("worktree")?) {
        (Some(_), Some(_)) => {
            let span = own.get("worktree").map(|one| one.span).unwrap_or_default();
            Err(PlanError::at_span(
                span,
                "a workspace is made of a template or of a repository",
                "keep one of `template` and `worktree`",
            ))
        }
        (Some(template), None) => Ok(WorkspaceSource::Template(template)),
        (None, Some(repository)) => {
            Ok(WorkspaceSource::Worktree(repository, own.text_value("revision").unwrap_or("HEAD").to_owned()))
        }
        (None, None) => Ok(WorkspaceSource::Empty),
    }
}

fn bootstrap_command(own: &SessionSettings, base: &Path) -> Option<Bootstrap> {
    let time = own.get("bootstrap")?.timeout.or(own.time_value("timeout")).map(Duration::from_millis);
    Some(Bootstrap { words: own.word_list("bootstrap").iter().map(|word| word_at(word, base)).collect(), time })
}

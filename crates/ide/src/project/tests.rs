use super::*;
use crate::lint::LintLevel;
use averment_base::diagnostic::{Family, Severity};
use serde_json::json;

fn loaded(text: &str) -> Project {
    parse_project(Path::new("up/averment.toml"), text, LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn said(text: &str) -> String {
    match parse_project(Path::new("averment.toml"), text, LoadOptions::default()) {
        Ok(project) => panic!("nothing is said of {project:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_setting_is_read_and_paths_start_at_the_file() {
    let project = loaded(
        "rules = [\"rules/\", \"./a.assert\"]\ntraces = \"runs/*.json\"\nformat = \"short\"\ndeny = [\"vacuous\"]\n\
         [params]\nlimit = 250\nbudget = \"$0.05\"\nlist = [1, \"a\", { b = true }]\n\
         [permissions]\nread = [\"fixtures\"]\nrun = true\n\
         [lint]\nstyle = \"warn\"\nunused-let = \"allow\"\n[test]\ncases = [\"cases\"]\nminimum-coverage = \"90%\"\n",
    );
    assert_eq!(project.rules, [Path::new("up/rules/"), Path::new("up/a.assert")]);
    assert_eq!(project.traces, ["up/runs/*.json"]);
    assert_eq!(project.format.as_deref(), Some("short"));
    assert_eq!(project.deny, ["vacuous"]);
    let params: Vec<(String, Value)> = vec![
        ("budget".to_owned(), json!("$0.05")),
        ("limit".to_owned(), json!(250)),
        ("list".to_owned(), json!([1, "a", { "b": true }])),
    ];
    assert_eq!(project.params, params);
    assert_eq!(project.requested.to_string(), "to run commands and to read `up/fixtures`");
    assert_eq!(project.lint.families, [(Family::Style, LintLevel::Warn)]);
    assert_eq!(project.lint.slugs, [(Slug::UnusedLet, LintLevel::Allow)]);
    assert_eq!(project.test.minimum_coverage, Some(0.9));
}

#[test]
fn mistakes_are_said_at_their_place_with_what_to_write() {
    assert_eq!(
        said("rule = [\"rules/\"]\n"),
        "averment.toml:1:1: error[project]: there is no setting `rule`; help: did you mean `rules`?\n"
    );
    assert_eq!(
        said("[lint]\nunused-lets = \"allow\"\nstyle = \"off\"\nsyntax = \"allow\"\n"),
        "averment.toml:2:1: error[project]: there is no lint or family of lints `unused-lets`; help: did you mean `unused-let`?\n\
         averment.toml:3:9: error[project]: there is no level `off`; help: did you mean `allow`?\n\
         averment.toml:4:1: error[project]: `syntax` is an error of the language and has no level; help: remove the line; \
         `aver lint --list` shows what has a level\n"
    );
    assert!(said("rules = 3\n").contains("1:9: error[project]: this is a number, and a list of texts is expected"));
    assert!(said("[params\n").starts_with("averment.toml:1:"), "{}", said("[params\n"));
    assert!(said("[params]\nstart = 2026-01-01\n").contains("a parameter cannot have this value"));
    assert!(said("deny = [\"vacuos\"]").contains("did you mean `vacuous`?"));
    assert!(said("[test]\nminimum-coverage = 90\n").contains("this is no share"));
}

#[test]
fn paths_leave_the_folder_only_where_the_file_is_trusted() {
    for path in ["../other", "/etc", "a/../../b"] {
        let text = format!("traces = [{path:?}]");
        assert!(said(&text).contains("leads out of the folder of the project"), "{path}");
        assert!(parse_project(Path::new("averment.toml"), &text, LoadOptions { trusted: true }).is_ok());
    }
    assert_eq!(loaded("rules = \"a/../b\"").rules.len(), 1);
}

#[test]
#[cfg(unix)]
fn a_link_out_of_the_folder_is_no_way_out_either() {
    let (outside, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(root.path().join("runs")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("runs/link")).unwrap();
    std::os::unix::fs::symlink("runs", root.path().join("inside")).unwrap();
    let file = root.path().join(NAME);
    let loaded = |traces: &str, trusted: bool| {
        std::fs::write(&file, format!("traces = [{traces:?}]")).unwrap();
        load_project(&file, LoadOptions { trusted }).map_err(|error| error.to_string())
    };
    for traces in ["runs/link", "runs/link/*.json", "inside/link/a.json"] {
        assert!(loaded(traces, false).unwrap_err().contains("leads out of the folder"), "{traces}");
        assert!(loaded(traces, true).is_ok());
    }
    for traces in ["inside", "runs/*.json", "runs/none/*.json"] {
        assert!(loaded(traces, false).is_ok(), "{traces}");
    }
}

#[test]
fn deep_and_large_files_are_refused_and_nothing_panics() {
    let deep = format!("[params]\na = {}1{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(said(&deep).contains("averment.toml:2:"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(NAME);
    std::fs::write(&file, "#".repeat(2 << 20)).unwrap();
    assert!(load_project(&file, LoadOptions::default()).unwrap_err().to_string().contains("larger than 1 MiB"));
    assert!(load_project(folder.path(), LoadOptions::default()).unwrap_err().to_string().contains("it is not a file"));
}

#[test]
fn the_page_about_project_files_shows_a_bad_and_a_good_one() {
    let programs: Vec<&str> =
        Slug::Project.page().split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let [avoid, prefer] = programs.as_slice() else { panic!("{programs:?}") };
    assert_eq!(said(avoid).lines().count(), 3);
    assert_eq!(loaded(prefer).rules.len(), 1);
    assert_eq!(Slug::Project.severity(), Severity::Error);
}

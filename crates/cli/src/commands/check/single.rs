//! The rules of a check, for whoever judges runs one by one before they are reported together.

use super::given::{CheckInputs, compare, load};
use super::options::{asked, baseline, permissions, redacted};
use super::{Arguments, say};
use crate::commands::console::ColorChoice;
use crate::commands::exit::{Exit, Stop};
use crate::commands::outputs::{Drawing, Outputs};
use crate::commands::replace::is_device;
use crate::commands::targets::{self, OutputTarget};
use crate::commands::{inputs, params, rules};
use averment::stages::Settings;
use averment_base::limits::Limits;
use averment_engine::vm::select::Selection;
use averment_report::Command;
use std::path::Path;

/// The rules that `aver check` with these arguments would judge by, as it would.
pub fn rules_of(arguments: &Arguments, color: ColorChoice) -> Result<averment::Rules, Stop> {
    let limits = Limits::default();
    let given = CheckInputs::new(arguments, color)?;
    let project = given.project.as_ref();
    let values = params::Values::new(&arguments.param_file, &arguments.param)?;
    let mut rules = load(&given, limits, arguments.compat.reading(&values.texts))?;
    if rules.broken() {
        say(&rules, &[], color)?;
        return Err(Stop::Said(Exit::Rules));
    }
    if let Some(project) = project {
        params::of_project(&mut rules.programs, project, given.of_project)?;
    }
    values.apply(&mut rules.programs)?;
    writable(arguments, &given, &rules, color)?;
    let prices = inputs::prices(arguments.prices.as_deref().or_else(|| project?.prices.as_deref()))?;
    let settings = Settings {
        selection: Selection { rules: arguments.rule.clone(), ..Selection::default() },
        permissions: permissions(arguments, project)?,
        limits,
        policy: given.policy(),
        strict: arguments.strict,
        names: inputs::names(arguments.map.as_deref())?,
        prices,
        expected: inputs::expected(arguments.expected.as_deref())?,
        redact: redacted(&arguments.redact, project)?,
        withheld: Vec::new().into(),
        as_skillgym: false,
    };
    Ok(averment::Rules::of_programs(rules.programs, rules.said, settings))
}

/// Refuses what could not be written when all is judged: reports, and what is known to fail.
fn writable(
    arguments: &Arguments,
    given: &CheckInputs<'_>,
    rules: &rules::Rules,
    color: ColorChoice,
) -> Result<(), Stop> {
    let project = given.project.as_ref();
    let format = project.and_then(|project| project.format.as_deref());
    // What a project asks for and does not get is said when all is judged.
    let writes = project.filter(|_| arguments.reports.report_dir.is_some() || arguments.project.trust_project);
    let folder = arguments.project.reports(arguments.reports.report_dir.as_deref(), writes, color);
    let targets = arguments.reports.targets(Command::Check, format, folder)?;
    let targets = asked(targets, arguments, format, folder, rules)?;
    let written: Vec<&Path> = targets::files_of(&targets).collect();
    compare(given, &written, &inputs::Named { found: Vec::new(), notes: String::new() })?;
    targets::refuse(written.iter().copied(), rules.files().map(Path::new))?;
    baseline(arguments, project)?;
    // Who reads a pipe would take the end of this for its end.
    let is_file = |target: &OutputTarget| target.file.as_deref().is_some_and(|file| !is_device(file));
    let files: Vec<OutputTarget> = targets.into_iter().filter(is_file).collect();
    Outputs::open(&files, color, given.policy(), Drawing::default(), &serde_json::Value::Null).map(drop)
}

//! The rules of a check, for whoever judges runs one by one before they are reported together.

use super::given::{CheckInputs, load};
use super::options::{permissions, redacted};
use super::{Arguments, say};
use crate::commands::console::ColorChoice;
use crate::commands::exit::{Exit, Stop};
use crate::commands::{inputs, params};
use averment::stages::Settings;
use averment_base::limits::Limits;
use averment_engine::vm::select::Selection;

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
        as_skillgym: false,
    };
    Ok(averment::Rules::of_programs(rules.programs, rules.said, settings))
}

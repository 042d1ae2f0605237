//! `--param NAME=VALUE` and `--param-file FILE`: values for the parameters of the rules.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::exit::CommandError;
use averment::stages::params::{self, ParamValue, ValueSyntax};
use averment_engine::bytecode::program::Program;
use averment_ide::project::Project;
use serde_json::Value;

/// Values for parameters: first those of files, then those of the command line. The last value of a name wins.
#[derive(Debug, Default)]
pub struct ParamValues {
    given: Vec<ParamValue>,
    /// The values as text, for files of other systems.
    pub texts: Vec<(String, String)>,
}

impl ParamValues {
    /// Reads `--param-file` and `--param`.
    pub fn new(files: &[std::path::PathBuf], texts: &[String]) -> Result<Self, CommandError> {
        let mut given = Vec::new();
        for file in files {
            read_param_file(file, &mut given)?;
        }
        for text in texts {
            let Some((name, value)) = text.split_once('=') else {
                let help = format!("write `--param {text}=VALUE`");
                return Err(CommandError::usage(format!("`--param {text}` has no value"), help));
            };
            given.push(ParamValue { name: name.trim().to_owned(), value: ValueSyntax::Text(value.to_owned()) });
        }
        let texts = given.iter().map(|one| (one.name.clone(), one.value_text())).collect();
        Ok(Self { given, texts })
    }

    /// Returns an error if a parameter is declared by no program.
    pub fn check_declared(&self, programs: &[Program]) -> Result<(), CommandError> {
        self.apply_to(&mut programs.to_vec())
    }

    /// Sets the values in the programs.
    pub fn apply_to(&self, programs: &mut [Program]) -> Result<(), CommandError> {
        for one in &self.given {
            params::set_param(programs, one)?;
        }
        match params::missing_param(programs) {
            Some((param, expected)) => Err(CommandError::usage(
                format!("the parameter `{}` has no value", param.name),
                format!("add `--param {}=VALUE` ({expected})", param.name),
            )),
            None => Ok(()),
        }
    }
}

/// Reads the values and sets them in the programs.
pub fn apply_params(
    programs: &mut [Program],
    files: &[std::path::PathBuf],
    texts: &[String],
) -> Result<(), CommandError> {
    ParamValues::new(files, texts)?.apply_to(programs)
}

/// Sets the project's values in the programs. Unless all of the project's rules are used, undeclared names are skipped, since other rules may declare
/// them.
pub fn apply_project(programs: &mut [Program], project: &Project, all_rules: bool) -> Result<(), CommandError> {
    for (name, value) in &project.params {
        if all_rules || params::is_declared(programs, name) {
            let given = ParamValue { name: name.clone(), value: ValueSyntax::Json(value.clone()) };
            params::set_param(programs, &given).map_err(|problem| {
                CommandError::usage(format!("{}: {}", project.file.display(), problem.message), problem.help)
            })?;
        }
    }
    Ok(())
}

/// Maximum size of a parameter file, in bytes.
const SIZE: usize = 64 << 20;

fn read_param_file(file: &std::path::Path, given: &mut Vec<ParamValue>) -> Result<(), CommandError> {
    let shown = file.display();
    let text = averment_base::files::text_of(file, SIZE).map_err(|error| {
        CommandError::usage(format!("`{shown}` cannot be read: {}", super::io_error_text(&error)), String::new())
    })?;
    let object: serde_json::Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
        CommandError::usage(
            format!("`{shown}` is not a JSON object: {error}"),
            "write one object, such as {\"limit\": 250}".to_owned(),
        )
    })?;
    given.extend(object.into_iter().map(|(name, value)| ParamValue { name, value: ValueSyntax::Json(value) }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::source::Span;
    use averment_checker::ir::{DeclaredParam, Type};

    #[test]
    fn a_parameter_without_a_value_says_what_to_add() {
        let param = DeclaredParam { name: "limit".to_owned(), ty: Type::Number, default: None, span: Span::default() };
        let mut programs = vec![Program { params: vec![param], ..Program::default() }];
        let Err(CommandError::Usage { message, .. }) = apply_params(&mut programs, &[], &[]) else { panic!() };
        assert_eq!(message, "the parameter `limit` has no value");
        let Err(CommandError::Usage { help, .. }) = apply_params(&mut programs, &[], &["limit".to_owned()]) else {
            panic!()
        };
        assert_eq!(help, "write `--param limit=VALUE`");
        assert!(apply_params(&mut programs, &[], &["limit=3".to_owned()]).is_ok());
    }
}

//! `--param NAME=VALUE` and `--param-file FILE`: values for the parameters of the rules, checked against their types.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::exit::Stop;
use super::units::{DURATIONS, SIZES, number, sum};
use averment_base::diagnostic::suggest::nearest;
use averment_engine::bytecode::program::Program;
use averment_engine::ir::{Constant, Type};
use averment_ide::project::Project;
use serde_json::Value;

/// A value with the place it was given at.
struct Given {
    name: String,
    value: Source,
}

enum Source {
    /// Text of the command line.
    Text(String),
    /// A value of a JSON file.
    Json(Value),
}

/// Puts the values into the programs. Those of the command line win over those of files, later ones over earlier ones.
pub fn apply(programs: &mut [Program], files: &[std::path::PathBuf], texts: &[String]) -> Result<(), Stop> {
    let mut given = Vec::new();
    for file in files {
        from_file(file, &mut given)?;
    }
    for text in texts {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Stop::usage(format!("`--param {text}` has no value"), format!("write `--param {text}=VALUE`")));
        };
        given.push(Given { name: name.trim().to_owned(), value: Source::Text(value.to_owned()) });
    }
    for one in &given {
        set(programs, one)?;
    }
    match programs.iter().flat_map(|program| &program.params).find(|param| param.default.is_none()) {
        Some(param) => Err(Stop::usage(
            format!("the parameter `{}` has no value", param.name),
            format!("add `--param {}=VALUE` ({})", param.name, expected(param.ty)),
        )),
        None => Ok(()),
    }
}

/// Puts the values of a project into the programs. Where the rules are not all of the project's, a value may be meant for others.
pub fn of_project(programs: &mut [Program], project: &Project, all_rules: bool) -> Result<(), Stop> {
    for (name, value) in &project.params {
        let declared = programs.iter().flat_map(|program| &program.params).any(|param| param.name == *name);
        if declared || all_rules {
            let given = Given { name: name.clone(), value: Source::Json(value.clone()) };
            set(programs, &given).map_err(|stop| match stop {
                Stop::Usage { message, help } => Stop::usage(format!("{}: {message}", project.file.display()), help),
                other => other,
            })?;
        }
    }
    Ok(())
}

fn from_file(file: &std::path::Path, given: &mut Vec<Given>) -> Result<(), Stop> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Stop::usage(format!("`{shown}` cannot be read: {}", super::said(&error)), String::new()))?;
    let object: serde_json::Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
        Stop::usage(
            format!("`{shown}` is not a JSON object: {error}"),
            "write one object, such as {\"limit\": 250}".to_owned(),
        )
    })?;
    given.extend(object.into_iter().map(|(name, value)| Given { name, value: Source::Json(value) }));
    Ok(())
}

fn set(programs: &mut [Program], given: &Given) -> Result<(), Stop> {
    let mut known = false;
    for param in programs.iter_mut().flat_map(|program| &mut program.params) {
        if param.name == given.name {
            known = true;
            param.default = Some(constant(given, param.ty)?);
        }
    }
    if known {
        return Ok(());
    }
    let mut names: Vec<&str> =
        programs.iter().flat_map(|program| &program.params).map(|param| param.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let help = match (nearest(&given.name, names.iter().copied()), names.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "the rules declare no parameter".to_owned(),
        (None, false) => {
            format!("the rules declare {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    };
    Err(Stop::usage(format!("there is no parameter `{}`", given.name), help))
}

fn constant(given: &Given, ty: Type) -> Result<Constant, Stop> {
    let (found, shown) = match &given.value {
        Source::Text(text) => (from_text(text, ty), text.clone()),
        Source::Json(value) => (from_json(value, ty), value.to_string()),
    };
    found.ok_or_else(|| {
        Stop::usage(format!("`{shown}` does not fit the parameter `{}`", given.name), format!("write {}", expected(ty)))
    })
}

/// What a value of a type looks like.
fn expected(ty: Type) -> &'static str {
    match ty {
        Type::String => "a text",
        Type::Number => "a number, such as `2.5`",
        Type::Integer => "a whole number, such as `3`",
        Type::Boolean => "`true` or `false`",
        Type::Duration => "a duration, such as `30s`, `1h30m` or `250ms`",
        Type::Money => "an amount, such as `$0.05`",
        Type::Size => "a size, such as `10KB` or `4MiB`",
        Type::List => "a list in JSON, such as `[\"EUR\", \"USD\"]`",
        Type::Object => "an object in JSON, such as `{\"a\": 1}`",
        _ => "a value in JSON, or text",
    }
}

/// A value from the text of the command line; units are written as in rules.
fn from_text(text: &str, ty: Type) -> Option<Constant> {
    let trimmed = text.trim();
    match ty {
        Type::String => Some(Constant::Text(text.to_owned())),
        Type::Duration => sum(trimmed, DURATIONS).map(Constant::Number),
        Type::Size => sum(trimmed, SIZES).map(Constant::Number),
        Type::Money => number(trimmed.strip_prefix('$').unwrap_or(trimmed)).map(Constant::Number),
        Type::Any => Some(match serde_json::from_str(trimmed) {
            Ok(value) => of_json(&value),
            Err(_) => Constant::Text(text.to_owned()),
        }),
        Type::Number => {
            number(trimmed.strip_suffix('%').unwrap_or(trimmed)).map(|number| match trimmed.ends_with('%') {
                false => Constant::Number(number),
                true => Constant::Number(shifted(&number)),
            })
        }
        Type::Integer => from_json(&serde_json::from_str(&number(trimmed)?).ok()?, ty),
        _ => from_json(&serde_json::from_str(trimmed).ok()?, ty),
    }
}

/// A hundredth of a number: `95` is `0.95`. The exponent is changed, not the digits.
fn shifted(number: &str) -> String {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}", exponent.saturating_sub(2))
}

/// A JSON value of a type.
fn from_json(value: &Value, ty: Type) -> Option<Constant> {
    let fits = match ty {
        Type::Boolean => value.is_boolean(),
        Type::Integer => value.is_i64() || value.is_u64(),
        Type::Number => value.is_number(),
        Type::List => value.is_array(),
        Type::Object => value.is_object(),
        Type::String => value.is_string(),
        // A unit is written as text, or as a number in the base unit.
        Type::Duration | Type::Money | Type::Size => match value {
            Value::String(text) => return from_text(text, ty),
            other => return other.is_number().then(|| of_json(other)),
        },
        _ => true,
    };
    fits.then(|| of_json(value))
}

fn of_json(value: &Value) -> Constant {
    // The depth is bounded by the JSON reader.
    match value {
        Value::Null => Constant::Null,
        Value::Bool(value) => Constant::Boolean(*value),
        Value::Number(number) => Constant::Number(number.to_string()),
        Value::String(text) => Constant::Text(text.clone()),
        Value::Array(list) => Constant::List(list.iter().map(of_json).collect()),
        Value::Object(object) => {
            Constant::Object(object.iter().map(|(key, one)| (key.clone(), of_json(one))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::source::Span;
    use averment_engine::ir::Param;

    fn program(ty: Type) -> Vec<Program> {
        let param = Param { name: "limit".to_owned(), ty, default: None, span: Span::default() };
        vec![Program { params: vec![param], ..Program::default() }]
    }

    fn given(ty: Type, text: &str) -> Option<Constant> {
        let mut programs = program(ty);
        apply(&mut programs, &[], &[format!("limit={text}")]).ok()?;
        programs.remove(0).params.remove(0).default
    }

    fn number(text: &str) -> Option<Constant> {
        Some(Constant::Number(text.to_owned()))
    }

    #[test]
    fn values_are_read_as_their_type_is_written_in_rules() {
        assert_eq!(given(Type::Number, "250"), number("250"));
        assert_eq!(given(Type::Number, "1_000"), number("1000"));
        assert_eq!(given(Type::Number, "95%"), number("95e-2"));
        assert_eq!(given(Type::Duration, "1h30m"), number("5400000"));
        assert_eq!(given(Type::Duration, "2.5s"), number("2500"));
        assert_eq!(given(Type::Duration, "100"), number("100"));
        assert_eq!(given(Type::Size, "4MiB"), number("4194304"));
        assert_eq!(given(Type::Money, "$0.05"), number("0.05"));
        assert_eq!(given(Type::String, "5"), Some(Constant::Text("5".to_owned())));
        assert_eq!(given(Type::Boolean, "true"), Some(Constant::Boolean(true)));
        assert_eq!(given(Type::Any, "plain"), Some(Constant::Text("plain".to_owned())));
        assert_eq!(given(Type::Integer, "1_000"), number("1000"));
        let names = Constant::List(vec![Constant::Text("a_b".to_owned())]);
        assert_eq!(given(Type::List, "[\"a_b\"]"), Some(names));
        assert_eq!(given(Type::List, "[1]"), Some(Constant::List(vec![Constant::Number("1".to_owned())])));
    }

    #[test]
    fn what_does_not_fit_says_what_to_write() {
        for (ty, text) in [
            (Type::Number, "many"),
            (Type::Integer, "1.5"),
            (Type::Duration, "3 apples"),
            (Type::Duration, "s"),
            (Type::Boolean, "yes"),
            (Type::List, "{}"),
        ] {
            let stop = apply(&mut program(ty), &[], &[format!("limit={text}")]).unwrap_err();
            let Stop::Usage { message, help } = stop else { panic!("{stop:?}") };
            assert!(message.contains(text) && help.starts_with("write "), "{message} {help}");
        }
    }

    #[test]
    fn unknown_and_missing_parameters_are_told() {
        let Err(Stop::Usage { help, .. }) = apply(&mut program(Type::Number), &[], &["limt=3".to_owned()]) else {
            panic!()
        };
        assert_eq!(help, "did you mean `limit`?");
        let Err(Stop::Usage { message, .. }) = apply(&mut program(Type::Number), &[], &[]) else { panic!() };
        assert_eq!(message, "the parameter `limit` has no value");
        let Err(Stop::Usage { help, .. }) = apply(&mut program(Type::Number), &[], &["limit".to_owned()]) else {
            panic!()
        };
        assert_eq!(help, "write `--param limit=VALUE`");
    }
}

//! Values of parameters, by their types.

use averment::Problem;
use averment::stages::params::{ParamValue, ValueSyntax, missing_param, set_param};
use averment_base::source::Span;
use averment_checker::ir::{Constant, DeclaredParam, Type};
use averment_engine::bytecode::program::Program;

fn program(ty: Type) -> Vec<Program> {
    let param = DeclaredParam { name: "limit".to_owned(), ty, default: None, span: Span::default() };
    vec![Program { params: vec![param], ..Program::default() }]
}

fn set_text(programs: &mut [Program], name: &str, text: &str) -> Result<(), Problem> {
    set_param(programs, &ParamValue { name: name.to_owned(), value: ValueSyntax::Text(text.to_owned()) })
}

fn given(ty: Type, text: &str) -> Option<Constant> {
    let mut programs = program(ty);
    set_text(&mut programs, "limit", text).ok()?;
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
        let Problem { message, help } = set_text(&mut program(ty), "limit", text).unwrap_err();
        assert!(message.contains(text) && help.starts_with("write "), "{message} {help}");
    }
}

#[test]
fn unknown_and_missing_parameters_are_told() {
    let mut programs = program(Type::Number);
    assert_eq!(set_text(&mut programs, "limt", "3").unwrap_err().help, "did you mean `limit`?");
    assert_eq!(missing_param(&programs).unwrap().0.name, "limit");
    set_text(&mut programs, "limit", "3").unwrap();
    assert!(missing_param(&programs).is_none());
}

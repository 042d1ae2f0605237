use super::*;
use averment_base::diagnostic::render::{render_json, render_short};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::{FileId, SourceFile, Span};

fn sources() -> SourceMap {
    let mut sources = SourceMap::default();
    sources.add_file(SourceFile::new("refunds.assert", None, "# höhe\noutput.lenght == 3\nbefore approve refund\n"));
    sources.add_file(SourceFile::new("shared.assert", None, "rule approval { require refund }\n"));
    sources
}

fn found() -> Diagnostics {
    let span = |start, end| Span::new(FileId(0), start, end);
    Diagnostics(vec![
        Diagnostic::new(Slug::UnknownField, span(15, 21), "there is no field `lenght`")
            .with_label("no such field")
            .with_help("write `output.length`"),
        Diagnostic::new(Slug::Syntax, span(27, 48), "`before` needs `->` between its steps")
            .with_help("write `before approve -> refund`")
            .with_other(Span::new(FileId(1), 5, 13), "a rule of this name stands here"),
        Diagnostic::new(Slug::BareNumber, span(25, 26), "a bare number"),
    ])
}

#[test]
fn a_line_names_file_line_column_severity_and_slug() {
    let text = render_short(&found(), &sources());
    assert_eq!(
        text,
        "refunds.assert:2:8: error[unknown-field]: there is no field `lenght`; help: write `output.length`\n\
         refunds.assert:3:1: error[syntax]: `before` needs `->` between its steps; help: write `before approve -> refund`\n\
         refunds.assert:2:18: warning[bare-number]: a bare number\n"
    );
}

#[test]
fn pictures_show_the_source_in_ascii_without_colour_or_advert() {
    let text = draw_diagnostics(&found(), &sources(), TextStyle::PLAIN);
    println!("{text}");
    assert!(text.replace('ö', "").is_ascii(), "{text}");
    assert!(text.contains("output.lenght == 3") && text.contains("no such field"), "{text}");
    assert!(text.contains("refunds.assert:2:8") && text.contains("shared.assert:1:6"), "{text}");
    assert!(text.ends_with("2 errors, 1 warning\n"), "{text}");
    assert!(!text.contains("http") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn colour_comes_only_when_asked_for() {
    let style = TextStyle { unicode: true, color: true, width: 100 };
    println!("{}", draw_diagnostics(&found(), &sources(), style));
    assert!(draw_diagnostics(&found(), &sources(), style).contains('\u{1b}'));
    assert!(!draw_diagnostics(&found(), &sources(), TextStyle { color: false, ..style }).contains('\u{1b}'));
}

#[test]
fn a_file_cannot_steer_the_terminal() {
    let mut sources = SourceMap::default();
    sources.add_file(SourceFile::new("a\u{1b}[2J.assert", None, "x \u{1b}[31m \u{9b}2J \u{202e} y\n"));
    let found = Diagnostics(vec![Diagnostic::new(Slug::Syntax, Span::new(FileId(0), 0, 1), "odd \u{1b}[0m text\n")]);
    for text in [draw_diagnostics(&found, &sources, TextStyle::PLAIN), render_short(&found, &sources)] {
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{text:?}");
    }
    assert_eq!(render_short(&found, &sources).lines().count(), 1);
}

#[test]
fn data_has_the_same_places_and_the_fix() {
    let mut found = found();
    found.0[0] = found.0[0].clone().with_fix("replace with `length`", Span::new(FileId(0), 15, 21), "length");
    let value = render_json(&found, &sources());
    assert_eq!(value[0]["location"]["column"], 8);
    assert_eq!(value[0]["location"]["end_column"], 14);
    assert_eq!(value[0]["fix"]["edits"][0]["text"], "length");
    assert_eq!(value[1]["others"][0]["location"]["file"], "shared.assert");
}

#[test]
fn thousands_of_diagnostics_are_counted_and_the_first_are_drawn() {
    let one = found().0.remove(0);
    let many = Diagnostics(std::iter::repeat_n(one, 5_000).collect());
    let text = draw_diagnostics(&many, &sources(), TextStyle::PLAIN);
    assert_eq!(text.matches("no such field").count(), DRAWN);
    assert!(text.ends_with("5000 errors (the last 4950 are not shown)\n"));
}

#[test]
fn a_span_outside_of_its_file_is_still_reported() {
    let found = Diagnostics(vec![Diagnostic::new(Slug::Syntax, Span::new(FileId(0), 900, 950), "far away")]);
    assert!(draw_diagnostics(&found, &sources(), TextStyle::PLAIN).contains("far away"));
    let found = Diagnostics(vec![Diagnostic::new(Slug::Syntax, Span::new(FileId(9), 0, 0), "no file")]);
    assert!(draw_diagnostics(&found, &sources(), TextStyle::PLAIN).contains("no file"));
}

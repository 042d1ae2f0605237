//! Tests as JUnit XML, which every CI service shows.

use super::failed;
use crate::outcome::Tested;
use averment_base::diagnostic::render::printable;
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::Writer;
use std::io::{self, Write};

/// Prints one `testsuites` with a suite per file.
///
/// # Errors
/// The stream cannot be written.
pub fn junit(out: &mut dyn Write, suites: &[(String, &[Tested])]) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(&mut *out as &mut (dyn Write + '_), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let tests: usize = suites.iter().map(|(_, tested)| tested.len()).sum();
    let failures: usize = suites.iter().map(|(_, tested)| failed(tested)).sum();
    xml.create_element("testsuites")
        .with_attribute(("name", "aver test"))
        .with_attribute(("tests", tests.to_string().as_str()))
        .with_attribute(("failures", failures.to_string().as_str()))
        .write_inner_content(|xml| suites.iter().try_for_each(|(name, tested)| suite(xml, &text(name), tested)))?;
    writeln!(out)
}

fn suite(xml: &mut Writer<&mut (dyn Write + '_)>, name: &str, tested: &[Tested]) -> io::Result<()> {
    xml.create_element("testsuite")
        .with_attribute(("name", name))
        .with_attribute(("tests", tested.len().to_string().as_str()))
        .with_attribute(("failures", failed(tested).to_string().as_str()))
        .write_inner_content(|xml| tested.iter().try_for_each(|test| case(xml, name, test)))?;
    Ok(())
}

fn case(xml: &mut Writer<&mut (dyn Write + '_)>, suite: &str, test: &Tested) -> io::Result<()> {
    let element = xml
        .create_element("testcase")
        .with_attribute(("classname", suite))
        .with_attribute(("name", text(&test.name).as_str()))
        .with_attribute(("file", text(&test.place.file).as_str()))
        .with_attribute(("line", test.place.line.to_string().as_str()));
    if test.passed {
        element.write_empty()?;
        return Ok(());
    }
    let why = test.why.iter().map(|why| {
        let reason = if why.reason.is_empty() { String::new() } else { format!(": {}", why.reason) };
        format!("\n{} {}{}", text(&why.id), why.status.as_str(), text(&reason))
    });
    let why = why.collect::<String>();
    element.write_inner_content(|xml| {
        xml.create_element("failure")
            .with_attribute(("message", text(&test.reason).as_str()))
            .write_text_content(BytesText::new(&why))?;
        Ok(())
    })?;
    Ok(())
}

/// Text without the signs that XML does not know: these are replaced.
fn text(plain: &str) -> String {
    let known = |letter: char| {
        !matches!(letter, '\u{fffe}' | '\u{ffff}') && (!letter.is_control() || matches!(letter, '\n' | '\t'))
    };
    printable(plain).chars().map(|letter| if known(letter) { letter } else { '\u{fffd}' }).collect()
}

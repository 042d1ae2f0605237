//! Coverage for people: the shares, then what was never seen, by place.

use super::{Coverage, Group, Point, PointKind, written};
use crate::show::counted;
use averment_base::diagnostic::render::{Ink, Style, one_line, paint};
use averment_base::source::{SourceMap, Span};
use averment_base::truth::Verdict;
use std::io::{self, Write};

/// Prints the coverage of one rule file.
///
/// # Errors
/// The stream cannot be written.
pub fn text(out: &mut dyn Write, coverage: &Coverage, sources: &SourceMap, style: Style) -> io::Result<()> {
    let name = sources.iter().next().map_or("", |(_, file)| file.name.as_str());
    let runs = counted(usize::try_from(coverage.runs).unwrap_or(usize::MAX), "run");
    writeln!(out, "{} of {} over {runs}", paint(style, Ink::Bold, "coverage"), one_line(name))?;
    for group in Group::ALL {
        let share = coverage.share(group);
        let what = match group {
            Group::Assertions => "passes and fails seen",
            Group::Patterns => "matched",
            Group::Branches => "ways taken",
        };
        let line = format!("  {:11} {:>7}  {} of {} {what}", group.as_str(), share.percent(), share.seen, share.all);
        let ink = if share.seen == share.all { Ink::Green } else { Ink::Yellow };
        writeln!(out, "{}", paint(style, ink, &line))?;
    }
    let unjudged: Vec<Span> =
        coverage.points.iter().filter(|point| is_unjudged(point)).map(|point| point.span).collect();
    for point in &coverage.points {
        let Some(missing) = missing(point) else { continue };
        // Of an assertion that nobody asked about, one line is enough.
        if point.kind != PointKind::Assertion && unjudged.iter().any(|span| covers(*span, point.span)) {
            continue;
        }
        let at = sources.position(point.span);
        let place = format!("{}:{}:{}", one_line(sources.name(point.span)), at.line, at.column);
        let what = written(sources, point);
        writeln!(out, "  {place}: {} {missing}{}", subject(point, &what), instead(point))?;
    }
    Ok(())
}

fn subject(point: &Point, text: &str) -> String {
    match point.kind {
        // The id of a bare assertion is made of its text.
        PointKind::Assertion if !point.id.contains(':') => format!("{} `{}`", one_line(&point.id), one_line(text)),
        PointKind::Window { .. } => format!("the window of `{}`", one_line(text)),
        PointKind::Assertion | PointKind::Pattern | PointKind::Member | PointKind::Test => {
            format!("`{}`", one_line(text))
        }
    }
}

fn is_unjudged(point: &Point) -> bool {
    point.kind == PointKind::Assertion && point.looked == 0
}

fn covers(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// What an assertion was beside passed and failed: an author may have meant it to pass where it was vacuous.
fn instead(point: &Point) -> String {
    let others = Verdict::ALL.into_iter().zip(point.verdicts).skip(2).filter(|(_, count)| *count > 0);
    let said: Vec<String> = others.map(|(verdict, count)| format!("{} {count}", verdict.as_str())).collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) }
}

/// What was never seen of a point; `None` when everything was.
fn missing(point: &Point) -> Option<&'static str> {
    Some(match (point.kind, point.yes > 0, point.no > 0) {
        (PointKind::Assertion, false, false) if point.looked == 0 => "is never judged",
        (PointKind::Assertion, false, false) => "never passes or fails",
        (PointKind::Assertion | PointKind::Member, false, true) => "never passes",
        (PointKind::Assertion | PointKind::Member, true, false) => "never fails",
        (PointKind::Member, false, false) => "never passes or fails",
        (PointKind::Pattern, false, _) => "never matches",
        (PointKind::Window { .. }, false, _) => "never opens",
        (PointKind::Window { closes: true }, true, false) => "never closes",
        (PointKind::Test, false, false) => "is never evaluated",
        (PointKind::Test, false, true) => "is never true",
        (PointKind::Test, true, false) => "is never false",
        _ => return None,
    })
}

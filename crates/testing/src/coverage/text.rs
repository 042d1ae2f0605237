//! Coverage as text: the shares, then the uncovered points by location.

use super::{Coverage, CoveragePoint, PointGroup, PointKind, point_text};
use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use averment_base::source::{SourceMap, Span};
use averment_base::truth::Verdict;
use averment_base::words::count_noun;
use std::io::{self, Write};

/// Prints the coverage of one rule file.
///
/// # Errors
/// If the stream cannot be written.
pub fn write_coverage(
    out: &mut dyn Write,
    coverage: &Coverage,
    sources: &SourceMap,
    style: TextStyle,
) -> io::Result<()> {
    let name = sources.iter().next().map_or("", |(_, file)| file.name.as_str());
    let runs = count_noun(usize::try_from(coverage.runs).unwrap_or(usize::MAX), "run");
    writeln!(out, "{} of {} over {runs}", paint_text(style, TextColor::Bold, "coverage"), one_line(name))?;
    for group in PointGroup::ALL {
        let share = coverage.group_share(group);
        let what = match group {
            PointGroup::Assertions => "passes and fails seen",
            PointGroup::Patterns => "matched",
            PointGroup::Branches => "ways taken",
        };
        let line =
            format!("  {:11} {:>7}  {} of {} {what}", group.as_str(), share.percent_text(), share.seen, share.all);
        let ink = if share.seen == share.all { TextColor::Green } else { TextColor::Yellow };
        writeln!(out, "{}", paint_text(style, ink, &line))?;
    }
    let unjudged: Vec<Span> =
        coverage.points.iter().filter(|point| is_unjudged(point)).map(|point| point.span).collect();
    for point in &coverage.points {
        let Some(missing) = missing_way(point) else { continue };
        // For an assertion that was never judged, one line is enough.
        if point.kind != PointKind::Assertion && unjudged.iter().any(|span| span_covers(*span, point.span)) {
            continue;
        }
        let at = sources.line_column(point.span);
        let place = format!("{}:{}:{}", one_line(sources.file_name(point.span)), at.line, at.column);
        let what = point_text(sources, point);
        writeln!(out, "  {place}: {} {missing}{}", point_subject(point, &what), other_outcomes(point))?;
    }
    Ok(())
}

fn point_subject(point: &CoveragePoint, text: &str) -> String {
    match point.kind {
        // The id of a bare assertion is derived from its text.
        PointKind::Assertion if !point.id.contains(':') => format!("{} `{}`", one_line(&point.id), one_line(text)),
        PointKind::Window { .. } => format!("the window of `{}`", one_line(text)),
        PointKind::Assertion | PointKind::Pattern | PointKind::Member | PointKind::Test => {
            format!("`{}`", one_line(text))
        }
    }
}

fn is_unjudged(point: &CoveragePoint) -> bool {
    point.kind == PointKind::Assertion && point.looked == 0
}

fn span_covers(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// Returns the verdicts other than pass and fail, because the author may have expected a pass where it was vacuous.
fn other_outcomes(point: &CoveragePoint) -> String {
    let others = Verdict::ALL.into_iter().zip(point.verdicts).skip(2).filter(|(_, count)| *count > 0);
    let said: Vec<String> = others.map(|(verdict, count)| format!("{} {count}", verdict.as_str())).collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) }
}

/// Returns the missing outcome; `None` if everything was covered.
fn missing_way(point: &CoveragePoint) -> Option<&'static str> {
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

//! Coverage as data.

use super::{Coverage, CoveragePoint, CoverageShare, PointGroup, PointKind, point_text};
use averment_base::source::SourceMap;
use averment_base::truth::Verdict;
use serde_json::{Map, Value, json};

/// Returns the coverage of one rule file as an object.
#[must_use]
pub fn coverage_data(coverage: &Coverage, sources: &SourceMap) -> Value {
    let name = sources.iter().next().map_or("", |(_, file)| file.name.as_str());
    let shares: Map<String, Value> = PointGroup::ALL
        .into_iter()
        .map(|group| (group.as_str().to_owned(), share_data(coverage.group_share(group))))
        .collect();
    let points: Vec<Value> = coverage.points.iter().map(|point| point_data(point, sources)).collect();
    json!({"file": name, "runs": coverage.runs, "shares": shares, "total": share_data(coverage.total_share()), "points": points})
}

/// Returns a share as an object.
#[must_use]
pub fn share_data(share: CoverageShare) -> Value {
    let tenths = u32::try_from(share.percent_tenths()).unwrap_or(u32::MAX);
    json!({"seen": share.seen, "all": share.all, "percent": f64::from(tenths) / 10.0})
}

fn point_data(point: &CoveragePoint, sources: &SourceMap) -> Value {
    let at = sources.line_column(point.span);
    let seen: Map<String, Value> =
        point.outcome_counts().map(|(word, count)| (word.to_owned(), json!(count))).collect();
    let mut data = json!({
        "kind": point.kind.as_str(),
        "text": point_text(sources, point),
        "location": {"file": sources.file_name(point.span), "line": at.line, "column": at.column},
        "seen": seen,
    });
    if let Some(object) = data.as_object_mut() {
        if !point.id.is_empty() {
            object.insert("id".to_owned(), json!(point.id));
        }
        if point.kind == PointKind::Assertion {
            let verdicts: Map<String, Value> = Verdict::ALL
                .iter()
                .zip(point.verdicts)
                .map(|(verdict, count)| (verdict.as_str().to_owned(), json!(count)))
                .collect();
            object.insert("verdicts".to_owned(), Value::Object(verdicts));
        }
    }
    data
}

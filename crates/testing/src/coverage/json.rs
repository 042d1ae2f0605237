//! Coverage as data.

use super::{Coverage, Group, Point, PointKind, Share, written};
use averment_base::source::SourceMap;
use averment_base::truth::Verdict;
use serde_json::{Map, Value, json};

/// The coverage of one rule file as an object.
#[must_use]
pub fn data(coverage: &Coverage, sources: &SourceMap) -> Value {
    let name = sources.iter().next().map_or("", |(_, file)| file.name.as_str());
    let shares: Map<String, Value> =
        Group::ALL.into_iter().map(|group| (group.as_str().to_owned(), share(coverage.share(group)))).collect();
    let points: Vec<Value> = coverage.points.iter().map(|point| one(point, sources)).collect();
    json!({"file": name, "runs": coverage.runs, "shares": shares, "total": share(coverage.total()), "points": points})
}

/// A share as an object.
#[must_use]
pub fn share(share: Share) -> Value {
    let tenths = u32::try_from(share.tenths()).unwrap_or(u32::MAX);
    json!({"seen": share.seen, "all": share.all, "percent": f64::from(tenths) / 10.0})
}

fn one(point: &Point, sources: &SourceMap) -> Value {
    let at = sources.position(point.span);
    let seen: Map<String, Value> = point.outcomes().map(|(word, count)| (word.to_owned(), json!(count))).collect();
    let mut data = json!({
        "kind": point.kind.as_str(),
        "text": written(sources, point),
        "location": {"file": sources.name(point.span), "line": at.line, "column": at.column},
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

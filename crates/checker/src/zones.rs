//! Time zones: a name that is known before the run has to be one.

use super::Checker;
use super::expr::CheckedExpr;
use crate::ir::Constant;
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_builtins::time::{is_zone, zone_names};

impl Checker<'_> {
    pub(super) fn check_zone(&mut self, zone: Option<&CheckedExpr>) {
        let Some(zone) = zone else { return };
        let Some(Constant::Text(name)) = self.constant_value(&zone.expr) else { return };
        if is_zone(&name) {
            return;
        }
        let diagnostic = Diagnostic::new(Slug::UnknownZone, zone.expr.span, format!("unknown time zone `{name}`"));
        self.report_diagnostic(match nearest_zone(&name) {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                zone.expr.span,
                format!("\"{near}\""),
            ),
            None => diagnostic.with_help("a time zone has its IANA name: `Europe/Berlin`, `America/New_York`, `UTC`"),
        });
    }
}

fn nearest_zone(name: &str) -> Option<String> {
    let names = zone_names();
    let city = |zone: &str| zone.rsplit('/').next().map(|city| city.trim().replace(' ', "_").to_lowercase());
    let wanted = city(name);
    let same_city = names.iter().find(|zone| zone.contains('/') && city(zone) == wanted);
    let near = same_city.map(String::as_str);
    near.or_else(|| suggest::suggest_name(name, names.iter().map(String::as_str))).map(str::to_owned)
}

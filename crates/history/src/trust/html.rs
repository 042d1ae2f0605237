//! Formats a trust report as one HTML page without scripts.

use super::human::{interval_text, round_score, sparkline};
use super::{TrustGroup, TrustLabel, TrustReport};
use averment_base::diagnostic::render::one_line;
use std::fmt::Write as _;

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1c1c1c;background:#fff}
table{border-collapse:collapse;width:100%}th,td{padding:.35rem .6rem;text-align:right;border-bottom:1px solid #ddd}
th:first-child,td:first-child,td:last-child,th:last-child{text-align:left}
.Trusted{color:#13692b}.Unstable{color:#8a5a00}.Unreliable{color:#b00020}.none{color:#555}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}th,td{border-color:#444}.Trusted{color:#7fd897}.Unstable{color:#f0c060}.Unreliable{color:#ff8a95}.none{color:#aaa}}";

impl TrustReport {
    /// Returns the report as an HTML page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let by = escape_html(self.by.as_deref().unwrap_or("group"));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>Trust</title><style>{STYLE}</style></head><body>\n<h1>Trust</h1>\n<p>Over the last {} runs of each row.</p>\n\
             <table><thead><tr><th>{by}</th><th>runs</th><th>passed</th><th>score</th><th>95% interval</th><th>trend</th><th></th></tr></thead><tbody>\n",
            self.last
        );
        self.groups.iter().chain([&self.all]).for_each(|group| write_row(&mut page, group));
        let _ = writeln!(page, "</tbody></table>\n<p>{}.</p>", escape_html(&self.trend_words(true)));
        if !self.flaky.is_empty() {
            page.push_str("<h2>Flaky</h2>\n<p>The same bytes under the same rules.</p>\n<ul>\n");
        }
        for one in &self.flaky {
            let words: Vec<&str> = one.statuses.iter().map(|status| status.as_str()).collect();
            let _ =
                writeln!(page, "<li>{} in {}: {}</li>", escape_html(&one.id), escape_html(&one.run), words.join(", "));
        }
        page.push_str(if self.flaky.is_empty() { "" } else { "</ul>\n" });
        if !self.regressions.is_empty() {
            page.push_str("<h2>Regressions</h2>\n<ul>\n");
        }
        for one in &self.regressions {
            let runs: Vec<String> = one.runs.iter().map(|run| escape_html(run)).collect();
            let (id, text) = (escape_html(&one.id), escape_html(&one.text));
            let before = one.passed_before;
            let _ = writeln!(
                page,
                "<li>{id} (<code>{text}</code>) passed in the last {before} runs, fails now in {}</li>",
                runs.join(", ")
            );
        }
        page.push_str(if self.regressions.is_empty() { "" } else { "</ul>\n" });
        page.push_str("</body></html>\n");
        page
    }
}

fn write_row(page: &mut String, group: &TrustGroup) {
    let class = if group.label == TrustLabel::NoEvidence { "none" } else { group.label.as_str() };
    let _ = writeln!(
        page,
        "<tr><td>{}</td><td>{}</td><td>{}/{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{}</td></tr>",
        escape_html(&group.name),
        group.runs,
        group.passed,
        group.total,
        group.score.map_or("-".to_owned(), round_score),
        interval_text(group),
        sparkline(&group.trend, true),
        group.label.as_str()
    );
}

fn escape_html(text: &str) -> String {
    let text = one_line(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

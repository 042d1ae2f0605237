//! `--format html`: one page that shows what to fix first. It loads no external resources.
//!
//! The page is written while results arrive: the head, then blocks of runs. Each block is compressed separately, so that memory holds only one block,
//! and a browser decompresses only the blocks that a user opens. The overview comes last, since its numbers are known only at the end. Markup comes
//! from escaping templates. Scripts insert run data only as text of elements.

mod blocks;
mod chart;
mod data;
mod overview;
mod rules;

use super::model::{RunReport, UnreadableTrace};
use super::table::ReportTable;
use super::{Options, Report, ReportEnding};
use averment_base::diagnostic::render::one_line;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blocks::RunBlocks;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use overview::RunOverview;
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};

const STYLE: &str = concat!(include_str!("report.css"), include_str!("run.css"));
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("data.js"),
    include_str!("filter.js"),
    include_str!("list.js"),
    include_str!("run.js"),
    include_str!("main.js"),
);

/// Maximum number of rule files in the title.
const NAMES: usize = 4;

/// The `html` report.
pub struct HtmlReport {
    out: Box<dyn Write>,
    options: Options,
    overview: RunOverview,
    blocks: RunBlocks,
}

impl HtmlReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, overview: RunOverview::default(), blocks: RunBlocks::new(STYLE.len() + SCRIPT.len()) }
    }
}

impl Report for HtmlReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        self.overview.begin_table(table);
        let context = context! {
            title => page_title(table),
            style => minijinja::Value::from_safe_string(STYLE.to_owned()),
            style_hash => hash(STYLE),
            script_hash => hash(SCRIPT),
        };
        self.out.write_all(render_template("head.html", include_str!("head.html"), context)?.as_bytes())?;
        self.out.write_all(b"\n")?;
        blocks::write_part(&mut self.out, "table", &serde_json::to_vec(&data::TableData::new(table))?)?;
        Ok(())
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.overview.add_run(run);
        self.blocks.add_run(&mut self.out, table, run)
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        self.overview.add_unreadable(what);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        self.blocks.finish_block(&mut self.out)?;
        let view = self.overview.overview_page(table, ending, &self.options.diagnostics);
        let context = context! { view => minijinja::Value::from(Serde(&view)), script => minijinja::Value::from_safe_string(SCRIPT.to_owned()) };
        self.out.write_all(render_template("body.html", include_str!("body.html"), context)?.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

fn page_title(table: &ReportTable) -> String {
    let mut names: Vec<&str> = table.items.iter().map(|item| item.location.file.as_str()).collect();
    names.dedup();
    let rest = names.split_off(names.len().min(NAMES)).len();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let all = names.join(", ") + &more;
    if all.is_empty() { "Rules".to_owned() } else { one_line(&all).into_owned() }
}

fn render_template(name: &'static str, text: &'static str, context: minijinja::Value) -> io::Result<String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template(name, text).map_err(io::Error::other)?;
    environment.get_template(name).and_then(|template| template.render(context)).map_err(io::Error::other)
}

/// Returns the hash for the content security policy, which allows only this script or style.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

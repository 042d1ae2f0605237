//! The rows of a profile: names and locations for the numbered parts of a program.

use super::super::table::{Location, ReportItem, ReportTable};
use super::{AssertionRow, CheckCosts, CostRow, ProfileReport, ProgramCosts, RuleRow};
use crate::redact::redact;
use averment_base::diagnostic::render::one_line;
use averment_base::source::Span;
use averment_engine::bytecode::ops::Op;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::profile::{CostCenter, PartCost};

impl ProfileReport {
    /// Creates the profile of a check of these programs. `elapsed` is in nanoseconds.
    #[must_use]
    pub fn new(programs: &[Program], table: &ReportTable, costs: CheckCosts, elapsed: u64) -> Self {
        let mut report = Self { elapsed, costs, rules: Vec::new(), patterns: Vec::new(), functions: Vec::new() };
        for (number, (program, costs)) in programs.iter().zip(&report.costs.programs).enumerate() {
            let rows = ProgramRows { number, program, table, costs };
            rows.rule_rows(&mut report.rules);
            rows.step_rows(&mut report.patterns);
            rows.regex_rows(&mut report.patterns);
            rows.function_rows(&mut report.functions);
            rows.definition_rows(&mut report.functions);
            rows.schema_rows(&mut report.functions);
        }
        report
    }
}

struct ProgramRows<'a> {
    number: usize,
    program: &'a Program,
    table: &'a ReportTable,
    costs: &'a ProgramCosts,
}

impl ProgramRows<'_> {
    fn part_cost(&self, part: CostCenter) -> Option<PartCost> {
        self.costs.profile.part_cost(part).copied()
    }

    fn span_location(&self, span: Span) -> Location {
        let sources = &self.table.sources;
        let span = self.table.source_span(self.number, span);
        let at = sources.line_column(span);
        Location { file: sources.file_name(span).to_owned(), line: at.line, column: at.column }
    }

    fn span_text(&self, span: Span) -> String {
        let source = self.program.sources.get(span.file.0 as usize);
        let text = source.and_then(|source| source.text.get(span.as_range())).unwrap_or_default();
        one_line(&redact(text)).into_owned()
    }

    fn rule_rows(&self, into: &mut Vec<RuleRow>) {
        let mut of_rule: Vec<Option<usize>> = vec![None; self.program.rules.len()];
        for (number, assertion) in (0_u32..).zip(&self.program.assertions) {
            let Some(item) = self.table.item_index(self.number, number).and_then(|item| self.table.items.get(item))
            else {
                continue;
            };
            let slot = assertion.rule.and_then(|rule| of_rule.get_mut(rule as usize));
            let known = slot.as_ref().and_then(|slot| **slot);
            let row = known.unwrap_or(into.len());
            if known.is_none() {
                into.push(self.rule_row(item));
            }
            if let Some(slot) = slot {
                *slot = Some(row);
            }
            if let Some(row) = into.get_mut(row) {
                row.assertions.push(AssertionRow {
                    id: item.id.clone(),
                    text: item.text.clone(),
                    location: item.location.clone(),
                    reading: self.costs.assertions.get(number as usize).cloned().unwrap_or_default(),
                    cost: self.part_cost(CostCenter::Assertion(number)).unwrap_or_default(),
                });
            }
        }
    }

    fn rule_row(&self, item: &ReportItem) -> RuleRow {
        let (id, name, location) = match self.table.rule_of(item) {
            Some(rule) => (&rule.id, rule.id.as_str(), &rule.location),
            None => (&item.id, item.display_name(), &item.location),
        };
        let name = one_line(name).into_owned();
        RuleRow { id: id.clone(), name, location: location.clone(), assertions: Vec::new() }
    }

    /// Adds rows for step patterns. Equal patterns are evaluated once, so they share a row.
    fn step_rows(&self, into: &mut Vec<CostRow>) {
        let prepared = PreparedProgram::new(self.program);
        let plan = prepared.temporal_plan(self.program);
        let mut rows: Vec<Option<CostRow>> = Vec::new();
        for (number, pattern) in (0..).zip(&self.program.patterns) {
            let Some(shape) = plan.number_of(averment_engine::bytecode::program::PatternId(number)) else { continue };
            if rows.len() <= shape as usize {
                rows.resize_with(shape as usize + 1, || None);
            }
            let Some(slot) = rows.get_mut(shape as usize) else { continue };
            let row = slot.get_or_insert_with(|| CostRow {
                kind: "step",
                name: one_line(&pattern.text).into_owned(),
                location: Some(self.span_location(pattern.span)),
                uses: 0,
                cost: self.part_cost(CostCenter::Pattern(shape)).unwrap_or_default(),
            });
            row.uses += 1;
        }
        into.extend(rows.into_iter().flatten().filter(|row| row.cost.calls > 0));
        if let Some(cost) = self.part_cost(CostCenter::Steps) {
            let name = "finding the steps of all patterns".to_owned();
            into.push(CostRow { kind: "steps", name, location: None, uses: 0, cost });
        }
    }

    fn regex_rows(&self, into: &mut Vec<CostRow>) {
        for (number, regex) in (0_u32..).zip(&self.program.regexes) {
            let Some(cost) = self.part_cost(CostCenter::Text(number)) else { continue };
            let places = self.op_places(|op| matches!(op, Op::Regex(pattern) if pattern.0 == number));
            let name = one_line(&regex.text).into_owned();
            into.push(self.cost_row("text", name, &places, cost));
        }
    }

    fn function_rows(&self, into: &mut Vec<CostRow>) {
        for (number, name) in (0_u32..).zip(&self.program.names) {
            let Some(cost) = self.part_cost(CostCenter::Function(number)) else { continue };
            let places = self.op_places(|op| matches!(op, Op::Call(name, _) if name.0 == number));
            into.push(self.cost_row("function", name.clone(), &places, cost));
        }
    }

    fn definition_rows(&self, into: &mut Vec<CostRow>) {
        for (number, def) in (0_u32..).zip(&self.program.defs) {
            let Some(cost) = self.part_cost(CostCenter::Definition(number)) else { continue };
            let uses = self.op_places(|op| matches!(op, Op::CallDef(def, _) if def.0 == number)).len();
            let place = self.program.chunks.get(def.code.0 as usize).map(|chunk| self.span_location(chunk.span));
            into.push(CostRow { kind: "def", name: def.name.clone(), location: place, uses: use_count(uses), cost });
        }
        for (number, code) in (0_u32..).zip(&self.program.lets) {
            let Some(cost) = self.part_cost(CostCenter::Value(number)) else { continue };
            let uses = self.op_places(|op| matches!(op, Op::Let(value) if value.0 == number)).len();
            let Some(chunk) = self.program.chunks.get(code.0 as usize) else { continue };
            let name = self.name_before(chunk.span).unwrap_or_else(|| self.span_text(chunk.span));
            into.push(CostRow {
                kind: "let",
                name,
                location: Some(self.span_location(chunk.span)),
                uses: use_count(uses),
                cost,
            });
        }
    }

    fn schema_rows(&self, into: &mut Vec<CostRow>) {
        for (number, schema) in (0_u32..).zip(&self.program.schemas) {
            let Some(cost) = self.part_cost(CostCenter::Schema(number)) else { continue };
            let location = schema.place.map(|place| self.span_location(place));
            let uses = self.op_places(|op| match op {
                Op::IsSchema(schema, _) | Op::IsJsonSchema(schema, _) | Op::ContainsJsonSchema(schema, _) => {
                    schema.0 == number
                }
                _ => false,
            });
            into.push(CostRow {
                kind: "schema",
                name: schema.name.clone(),
                location,
                uses: use_count(uses.len()),
                cost,
            });
        }
    }

    fn cost_row(&self, kind: &'static str, name: String, places: &[Span], cost: PartCost) -> CostRow {
        let location = places.first().map(|span| self.span_location(*span));
        CostRow { kind, name, location, uses: use_count(places.len()), cost }
    }

    fn op_places(&self, is_one: impl Fn(&Op) -> bool) -> Vec<Span> {
        let all = self.program.code.iter().zip(&self.program.spans);
        let mut found: Vec<Span> = all.filter(|(op, _)| is_one(op)).map(|(_, span)| *span).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn name_before(&self, value: Span) -> Option<String> {
        let text = &self.program.sources.get(value.file.0 as usize)?.text;
        let before = text.get(..value.start as usize)?.trim_end().strip_suffix('=')?.trim_end();
        let letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let word = before.rsplit(|c| !letter(c)).next()?;
        (!word.is_empty()).then(|| word.to_owned())
    }
}

fn use_count(uses: usize) -> u64 {
    u64::try_from(uses).unwrap_or(u64::MAX)
}

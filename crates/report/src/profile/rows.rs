//! The rows of a profile: what the numbers of a program stand for, and where it is written.

use super::super::table::{Item, Location, Table};
use super::{AssertionRow, CostRow, Costs, ProfileReport, ProgramCosts, RuleRow};
use crate::redact::redact;
use averment_base::diagnostic::render::one_line;
use averment_base::source::Span;
use averment_engine::bytecode::ops::Op;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::profile::{Cost, CostCenter};

impl ProfileReport {
    /// The profile of a check of these programs, which took so many nanoseconds.
    #[must_use]
    pub fn new(programs: &[Program], table: &Table, costs: Costs, elapsed: u64) -> Self {
        let mut report = Self { elapsed, costs, rules: Vec::new(), patterns: Vec::new(), functions: Vec::new() };
        for (number, (program, costs)) in programs.iter().zip(&report.costs.programs).enumerate() {
            let rows = Rows { number, program, table, costs };
            rows.rules(&mut report.rules);
            rows.steps(&mut report.patterns);
            rows.texts(&mut report.patterns);
            rows.functions(&mut report.functions);
            rows.definitions(&mut report.functions);
            rows.schemas(&mut report.functions);
        }
        report
    }
}

/// One program with its costs.
struct Rows<'a> {
    number: usize,
    program: &'a Program,
    table: &'a Table,
    costs: &'a ProgramCosts,
}

impl Rows<'_> {
    fn cost(&self, part: CostCenter) -> Option<Cost> {
        self.costs.profile.cost(part).copied()
    }

    fn location(&self, span: Span) -> Location {
        let sources = &self.table.sources;
        let span = self.table.span(self.number, span);
        let at = sources.position(span);
        Location { file: sources.name(span).to_owned(), line: at.line, column: at.column }
    }

    /// The text of a place, on one line.
    fn text(&self, span: Span) -> String {
        let source = self.program.sources.get(span.file.0 as usize);
        let text = source.and_then(|source| source.text.get(span.range())).unwrap_or_default();
        one_line(&redact(text)).into_owned()
    }

    fn rules(&self, into: &mut Vec<RuleRow>) {
        let mut of_rule: Vec<Option<usize>> = vec![None; self.program.rules.len()];
        for (number, assertion) in (0_u32..).zip(&self.program.assertions) {
            let Some(item) = self.table.item(self.number, number).and_then(|item| self.table.items.get(item)) else {
                continue;
            };
            let slot = assertion.rule.and_then(|rule| of_rule.get_mut(rule as usize));
            let known = slot.as_ref().and_then(|slot| **slot);
            let row = known.unwrap_or(into.len());
            if known.is_none() {
                into.push(self.rule(item));
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
                    cost: self.cost(CostCenter::Assertion(number)).unwrap_or_default(),
                });
            }
        }
    }

    fn rule(&self, item: &Item) -> RuleRow {
        let (id, name, location) = match self.table.rule_of(item) {
            Some(rule) => (&rule.id, rule.id.as_str(), &rule.location),
            None => (&item.id, item.name(), &item.location),
        };
        let name = one_line(name).into_owned();
        RuleRow { id: id.clone(), name, location: location.clone(), assertions: Vec::new() }
    }

    /// Step patterns: those of the same content are looked at once.
    fn steps(&self, into: &mut Vec<CostRow>) {
        let prepared = Prepared::new(self.program);
        let plan = prepared.plan(self.program);
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
                location: Some(self.location(pattern.span)),
                uses: 0,
                cost: self.cost(CostCenter::Pattern(shape)).unwrap_or_default(),
            });
            row.uses += 1;
        }
        into.extend(rows.into_iter().flatten().filter(|row| row.cost.calls > 0));
        if let Some(cost) = self.cost(CostCenter::Steps) {
            let name = "finding the steps of all patterns".to_owned();
            into.push(CostRow { kind: "steps", name, location: None, uses: 0, cost });
        }
    }

    /// Regular expressions.
    fn texts(&self, into: &mut Vec<CostRow>) {
        for (number, regex) in (0_u32..).zip(&self.program.regexes) {
            let Some(cost) = self.cost(CostCenter::Text(number)) else { continue };
            let places = self.places(|op| matches!(op, Op::Regex(pattern) if pattern.0 == number));
            let name = one_line(&regex.text).into_owned();
            into.push(self.row("text", name, &places, cost));
        }
    }

    /// Functions of the language.
    fn functions(&self, into: &mut Vec<CostRow>) {
        for (number, name) in (0_u32..).zip(&self.program.names) {
            let Some(cost) = self.cost(CostCenter::Function(number)) else { continue };
            let places = self.places(|op| matches!(op, Op::Call(name, _) if name.0 == number));
            into.push(self.row("function", name.clone(), &places, cost));
        }
    }

    fn definitions(&self, into: &mut Vec<CostRow>) {
        for (number, def) in (0_u32..).zip(&self.program.defs) {
            let Some(cost) = self.cost(CostCenter::Definition(number)) else { continue };
            let uses = self.places(|op| matches!(op, Op::CallDef(def, _) if def.0 == number)).len();
            let place = self.program.chunks.get(def.code.0 as usize).map(|chunk| self.location(chunk.span));
            into.push(CostRow { kind: "def", name: def.name.clone(), location: place, uses: count(uses), cost });
        }
        for (number, code) in (0_u32..).zip(&self.program.lets) {
            let Some(cost) = self.cost(CostCenter::Value(number)) else { continue };
            let uses = self.places(|op| matches!(op, Op::Let(value) if value.0 == number)).len();
            let Some(chunk) = self.program.chunks.get(code.0 as usize) else { continue };
            let name = self.name_before(chunk.span).unwrap_or_else(|| self.text(chunk.span));
            into.push(CostRow {
                kind: "let",
                name,
                location: Some(self.location(chunk.span)),
                uses: count(uses),
                cost,
            });
        }
    }

    fn schemas(&self, into: &mut Vec<CostRow>) {
        for (number, schema) in (0_u32..).zip(&self.program.schemas) {
            let Some(cost) = self.cost(CostCenter::Schema(number)) else { continue };
            let location = schema.place.map(|place| self.location(place));
            let uses = self.places(|op| match op {
                Op::IsSchema(schema, _) | Op::IsJsonSchema(schema, _) | Op::ContainsJsonSchema(schema, _) => {
                    schema.0 == number
                }
                _ => false,
            });
            into.push(CostRow { kind: "schema", name: schema.name.clone(), location, uses: count(uses.len()), cost });
        }
    }

    fn row(&self, kind: &'static str, name: String, places: &[Span], cost: Cost) -> CostRow {
        let location = places.first().map(|span| self.location(*span));
        CostRow { kind, name, location, uses: count(places.len()), cost }
    }

    /// The places of instructions, in file order.
    fn places(&self, is_one: impl Fn(&Op) -> bool) -> Vec<Span> {
        let all = self.program.code.iter().zip(&self.program.spans);
        let mut found: Vec<Span> = all.filter(|(op, _)| is_one(op)).map(|(_, span)| *span).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The word in `let WORD = …`, before its value.
    fn name_before(&self, value: Span) -> Option<String> {
        let text = &self.program.sources.get(value.file.0 as usize)?.text;
        let before = text.get(..value.start as usize)?.trim_end().strip_suffix('=')?.trim_end();
        let letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let word = before.rsplit(|c| !letter(c)).next()?;
        (!word.is_empty()).then(|| word.to_owned())
    }
}

fn count(uses: usize) -> u64 {
    u64::try_from(uses).unwrap_or(u64::MAX)
}

//! The suite: its settings, its cases, and the reporting of unread parts.

use super::body::{BodyContext, class_of};
use super::flow::BodyLine;
use super::groups::open_reason;
use super::operators::duration_literal;
use super::plain::plain_truth;
use super::program::{SuiteProgram, UnreadPart};
use super::settings::{PathBase, SettingLine, setting_entry};
use super::value::{JsValue, LocatedValue, RunExpr, RunExprKind, ScopeId};
use crate::Lowering;
use crate::typescript::tree::{FunctionBody, TsExpr, TsExprKind, TsStatement, TsStatementKind};
use crate::writer::{BindingStrength, MappedSentence, RuleWriter, UniqueLabels, quote_text, to_label};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use averment_syntax::words;
use std::path::Path;

const CASE: &[&str] = &["id", "prompt", "tags", "timeoutMs", "expectedFail", "classifyFailure", "assert"];
/// Maximum number of parent folders that are searched for a configuration.
const UPWARDS: usize = 32;

pub(super) fn lower_suite(lowering: &mut Lowering<'_>) {
    let root = lowering.root;
    let (name, folder) =
        lowering.sources.get(root).map(|file| (file.name.clone(), file.folder.clone())).unwrap_or_default();
    let mut program = SuiteProgram::new(lowering);
    let module = program.load_module(root);
    let start = Span::new(root, 0, 0);
    let Some(suite) = program.find_export(module, "default") else {
        let message = "this file exports no suite: it has no default export";
        program.lowering.sink.error(Slug::Syntax, start, message, "write `export default suite`");
        return program.say_unread();
    };
    let workspace = program.find_export(module, "workspace").map(|value| LocatedValue::new(value, start));
    let mut settings: Vec<SettingLine> = Vec::new();
    if let Some(workspace) = &workspace {
        settings.extend(program.workspace_block(workspace, &PathBase(String::new()), true));
    }
    settings.extend(program.configured_settings(&folder.unwrap_or_default(), workspace.is_some(), start));
    let mut cases = RuleWriter::default();
    program.write_cases(&LocatedValue::new(suite, start), &mut cases);
    let stem = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    program.say_unread();
    let mut out = std::mem::take(&mut program.lowering.out);
    super::text_units::write_definitions(&cases, start, &mut out);
    out.write_block(
        start,
        |out| out.put_text(&format!("suite {}", quote_text(stem.trim_end_matches("-suite")))),
        |out| {
            settings.iter().for_each(|setting| write_setting(setting, out));
            out.append(cases);
        },
    );
    program.lowering.out = out;
}

fn write_setting(setting: &SettingLine, out: &mut RuleWriter) {
    match setting {
        SettingLine::Line(place, text) => out.write_line(*place, |out| out.put_text(text)),
        SettingLine::Block(place, head, inner) if inner.is_empty() => {
            out.write_line(*place, |out| out.put_text(&format!("{head} {{}}")))
        }
        SettingLine::Block(place, head, inner) => {
            out.write_block(
                *place,
                |out| out.put_text(head),
                |out| inner.iter().for_each(|setting| write_setting(setting, out)),
            );
        }
    }
}

impl SuiteProgram<'_, '_> {
    /// Reads the nearest configuration in the suite's folder or above.
    fn configured_settings(&mut self, folder: &Path, own_workspace: bool, start: Span) -> Vec<SettingLine> {
        for up in 0..UPWARDS {
            let above = "../".repeat(up);
            let mut found = Vec::new();
            for ending in ["ts", "mts", "cts", "js", "mjs", "cjs"] {
                let path = format!("{above}skillgym.config.{ending}");
                found.extend(self.module_file(folder, &path).map(|module| (module, path)));
            }
            match found.as_slice() {
                [] => {}
                [(module, path)] => {
                    let Some(config) = self.find_export(*module, "default") else {
                        let message = format!("`{path}` has no default export");
                        self.lowering.sink.error(
                            Slug::Syntax,
                            start,
                            message,
                            "write `export default { runners: { … } }`",
                        );
                        return Vec::new();
                    };
                    return self.config_settings(&LocatedValue::new(config, start), &PathBase(above), own_workspace);
                }
                [(_, one), (_, other), ..] => {
                    let message = format!("there are two configurations: `{one}` and `{other}`");
                    self.lowering.sink.error(Slug::Duplicate, start, message, "keep one of them");
                    return Vec::new();
                }
            }
        }
        if self.lowering.options.partly {
            let message = "there is no `skillgym.config.*` next to this suite or above it: it has no runners";
            let help = "`aver check` needs none; for `aver run`, write a `runner` into the suite";
            self.lowering.sink.info(Slug::MissingFile, start, message, help);
        }
        Vec::new()
    }

    /// Writes the cases: the elements of a list, or the values of an object.
    fn write_cases(&mut self, suite: &LocatedValue, out: &mut RuleWriter) {
        let cases: Vec<LocatedValue> = match &suite.value {
            JsValue::List(items) => items.clone(),
            JsValue::Object(entries) => entries.iter().map(|(_, item)| item.clone()).collect(),
            other => {
                let message = format!("the cases of this suite do not show: {}", open_reason(other));
                let help = "export a list of cases by default, or an object of them";
                return self.lowering.sink.error(Slug::Syntax, suite.span, message, help);
            }
        };
        if cases.is_empty() {
            self.lowering.sink.error(
                Slug::Syntax,
                suite.span,
                "this suite has no cases",
                "write `{ id, prompt, assert }`",
            );
        }
        let mut labels = UniqueLabels::default();
        for case in &cases {
            self.write_case(case, &mut labels, out);
        }
        if !cases.is_empty() && !out.contains_text("case ") {
            let message = "no case of this suite can be read";
            self.lowering.sink.error(Slug::Syntax, suite.span, message, "write its `id` and `prompt` as texts");
        }
    }

    fn write_case(&mut self, case: &LocatedValue, labels: &mut UniqueLabels, out: &mut RuleWriter) {
        let before = self.unread.len();
        self.case_start = before;
        let Some(entries) = self.known_keys(case, "a case", CASE) else { return self.write_remarks(before, out) };
        let Some((id, _)) = self.text_of(&entries, "id", "a case") else {
            if setting_entry(&entries, "id").is_none() {
                self.lowering.sink.error(Slug::TypeMismatch, case.span, "a case has no `id`", "write `id: \"…\"`");
            }
            return self.write_remarks(before, out);
        };
        let name = labels.unique_label(&id);
        self.in_case = false;
        let expects_failure = match setting_entry(&entries, "expectedFail") {
            Some(item) => match plain_truth(item) {
                Some(truth) => truth,
                None => {
                    self.in_case = true;
                    self.record_unread(item.span, "whether a failure is expected, which only a running program shows");
                    self.in_case = false;
                    false
                }
            },
            None => false,
        };
        let mut head = Vec::new();
        if let Some((prompt, span)) = self.text_of(&entries, "prompt", "a case") {
            head.push((span, format!("prompt {}", quote_text(&prompt))));
        } else if setting_entry(&entries, "prompt").is_none() {
            self.lowering.sink.error(
                Slug::TypeMismatch,
                case.span,
                format!("the case `{id}` has no `prompt`"),
                "write `prompt: \"…\"`",
            );
        }
        if let Some((tags, span)) = self.texts_of(&entries, "tags", "a case") {
            let mut known: Vec<String> = Vec::new();
            for tag in tags.iter().map(|tag| to_label(tag)) {
                if !known.contains(&tag) {
                    known.push(tag);
                }
            }
            if !known.is_empty() {
                head.push((span, format!("tags {}", known.join(", "))));
            }
        }
        if let Some((time, span)) = self.number_of(&entries, "timeoutMs", "a case", 1.0) {
            head.push((span, format!("timeout {}", duration_literal(time))));
        }
        if let Some(classify) = setting_entry(&entries, "classifyFailure").cloned() {
            head.extend(self.read_classifications(&classify));
        }
        let mut lines = self.lines_of(&entries, case, &id);
        lines.extend(self.remarks_since(before));
        out.write_gap();
        if name != id {
            out.write_remark(&format!("`{id}` there"));
        }
        out.write_block(
            case.span,
            |out| out.put_text(&format!("case {name}")),
            |out| {
                for (place, text) in &head {
                    out.write_line(*place, |out| out.put_text(text));
                }
                if expects_failure {
                    write_expected_failure(&lines, case.span, out);
                } else {
                    lines.iter().for_each(|line| write_body_line(line, out));
                }
            },
        );
    }

    fn lines_of(&mut self, entries: &[(String, LocatedValue)], case: &LocatedValue, id: &str) -> Vec<BodyLine> {
        let Some(assert) = setting_entry(entries, "assert") else {
            let message = format!("the case `{id}` asserts nothing");
            self.lowering.sink.error(Slug::TypeMismatch, case.span, message, "write `assert(report) { … }`");
            return Vec::new();
        };
        let (assert, span) = (assert.value.clone(), assert.span);
        let JsValue::Function(function, scope) = &assert else {
            self.in_case = true;
            self.record_unread(span, &format!("what the case `{id}` asserts: {}", open_reason(&assert)));
            self.in_case = false;
            return Vec::new();
        };
        let report = LocatedValue::new(JsValue::RunExpr(RunExpr::new("", RunExprKind::Report)), span);
        let context = LocatedValue::new(JsValue::RunExpr(RunExpr::new("", RunExprKind::Context)), span);
        let before = self.unread.len();
        self.in_case = true;
        let lines = self.lower_body(function, &[report, context], *scope, &BodyContext::default());
        self.in_case = false;
        if lines.is_empty() && self.unread.len() == before {
            let message = format!("the case `{id}` asserts nothing: it passes whatever happens");
            self.lowering.sink.warning(Slug::AlwaysTrue, span, message, "write an assertion into it");
        }
        lines
    }

    /// Returns lines that make a case undecided because it lacks an assertion.
    fn remarks_since(&self, before: usize) -> Vec<BodyLine> {
        let parts = self.unread.get(before..).unwrap_or_default().iter();
        let lines = parts.map(|part| {
            let said = format!("not read: {}: {}", part.what, self.source_of(part.place));
            match part.in_case {
                true => BodyLine::undecided_line(&said, part.place),
                false => BodyLine::Remark(said),
            }
        });
        lines.collect()
    }

    fn write_remarks(&mut self, before: usize, out: &mut RuleWriter) {
        out.write_gap();
        self.remarks_since(before).iter().for_each(|line| write_body_line(line, out));
    }

    fn source_of(&self, place: Span) -> String {
        let text = self.lowering.sources.get(place.file).and_then(|file| file.text.get(place.as_range()));
        let line = text.unwrap_or_default().lines().next().unwrap_or_default().trim();
        line.chars().take(80).collect()
    }

    /// Reads `classifyFailure`: its classes, and the message tests of each.
    fn read_classifications(&mut self, classify: &LocatedValue) -> Vec<(Span, String)> {
        let JsValue::Function(function, scope) = &classify.value else {
            self.record_unread(classify.span, "how failures are classified");
            return Vec::new();
        };
        let result = LocatedValue::new(JsValue::RunExpr(RunExpr::new("", RunExprKind::Result)), classify.span);
        let scope = self.enter_function(function, &[result], *scope);
        let mut found = Vec::new();
        let read = match &function.body {
            FunctionBody::Value(value) => self.class_by(value, scope, &mut found),
            FunctionBody::Block(statements) => self.classes_of(statements, scope, &mut found),
        };
        if !read {
            self.record_unread(classify.span, "how failures are classified: by something else than their message");
        }
        found
    }

    /// Collects the classes; returns false if some part was not read.
    fn classes_of(&mut self, statements: &[TsStatement], scope: ScopeId, found: &mut Vec<(Span, String)>) -> bool {
        for statement in statements {
            match &statement.kind {
                TsStatementKind::Nothing | TsStatementKind::Return(None) => {}
                TsStatementKind::Bind(bound, _) => self.bind_all(bound, scope),
                TsStatementKind::Return(Some(value)) => return self.class_by(value, scope, found),
                TsStatementKind::If { condition, then, other } if other.is_empty() => {
                    let [TsStatement { kind: TsStatementKind::Return(Some(value)), .. }] = then.as_slice() else {
                        return false;
                    };
                    let tests = self.tests_on_messages(condition, scope);
                    let class = self.eval_expr(value, scope);
                    match (tests, class_of(&class)) {
                        (Some(tests), Some(class)) => {
                            found.extend(class_lines(&tests, &class.0, class.1.as_deref(), condition.span))
                        }
                        _ => return false,
                    }
                }
                _ => return false,
            }
        }
        true
    }

    fn class_by(&mut self, value: &TsExpr, scope: ScopeId, found: &mut Vec<(Span, String)>) -> bool {
        match &value.kind {
            TsExprKind::If { condition, then, other } => {
                let tests = self.tests_on_messages(condition, scope);
                let class = self.eval_expr(then, scope);
                match (tests, class_of(&class)) {
                    (Some(tests), Some(class)) => {
                        found.extend(class_lines(&tests, &class.0, class.1.as_deref(), condition.span));
                        self.class_by(other, scope, found)
                    }
                    _ => false,
                }
            }
            _ => self.eval_expr(value, scope).is_nullish(),
        }
    }

    /// Returns tests on messages of which any must hold.
    fn tests_on_messages(&mut self, condition: &TsExpr, scope: ScopeId) -> Option<Vec<String>> {
        if let TsExprKind::Binary { operator: "||", left, right } = &condition.kind {
            let mut tests = self.tests_on_messages(left, scope)?;
            tests.extend(self.tests_on_messages(right, scope)?);
            return Some(tests);
        }
        let item = self.eval_expr(condition, scope);
        let truth = self.truth_condition(&item)?;
        let is_test = ["message contains ", "message matches "].iter().any(|words| truth.text.starts_with(words));
        (is_test && truth.binds == BindingStrength::Test).then(|| vec![truth.text])
    }

    /// Reports unread parts: as errors, unless partial reading was requested.
    fn say_unread(&mut self) {
        let options = self.lowering.options;
        let mut told: Vec<Span> = Vec::new();
        for UnreadPart { place, what, in_case } in std::mem::take(&mut self.unread) {
            if told.contains(&place) {
                continue;
            }
            told.push(place);
            let message = format!("not read: {what}");
            if options.partly || options.undecided && in_case {
                let help = "a program decides it; write it as a sentence";
                self.lowering.sink.warning(Slug::Syntax, place, message, help);
            } else {
                let help =
                    "a program decides it, and no rule does; `aver import` writes all that is read, and lists the rest";
                self.lowering.sink.error(Slug::Syntax, place, message, help);
            }
        }
    }
}

fn class_lines(tests: &[String], id: &str, label: Option<&str>, place: Span) -> Vec<(Span, String)> {
    let label = label.map(|label| format!(" {}", quote_text(label))).unwrap_or_default();
    tests.iter().map(|test| (place, format!("classify {}{label} when {test}", quote_text(id)))).collect()
}

fn write_body_line(line: &BodyLine, out: &mut RuleWriter) {
    match line {
        BodyLine::Remark(text) => out.write_remark(text),
        BodyLine::When(condition, place, lines) => {
            out.write_block(
                *place,
                |out| out.put_text(&format!("when {}", condition.nested_text(BindingStrength::Or))),
                |out| lines.iter().for_each(|line| write_body_line(line, out)),
            );
        }
        BodyLine::Assertion { text, place, message, class, backtracks, .. } => {
            let mut sentence = MappedSentence::default().add_mapped(*place, parenthesize_start(text));
            if *backtracks {
                sentence = sentence.add_remark("allow: backtracking");
            }
            let mut modifiers =
                message.as_ref().map(|message| format!("  message {}", quote_text(message))).unwrap_or_default();
            if let Some((id, label)) = class {
                modifiers.push_str(&format!("  class {}", quote_text(id)));
                modifiers.extend(label.as_ref().map(|label| format!(" {}", quote_text(label))));
            }
            out.write_assertion(*place, &sentence, &modifiers);
        }
    }
}

/// Parenthesizes a condition that starts with a statement keyword.
fn parenthesize_start(text: &str) -> String {
    let first = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_statement = ["any", "require", "never", "count", "sequence", "each", "all", "no"].contains(&first);
    let is_and_or = text.contains(" and ") || text.contains(" or ");
    let is_statement = is_statement || first == "not" && !is_and_or;
    if !is_statement && words::STATEMENTS.contains(&first) { format!("({text})") } else { text.to_owned() }
}

fn write_expected_failure(lines: &[BodyLine], place: Span, out: &mut RuleWriter) {
    let failing = "  expect fail \"expected in the suite\"";
    let assertions = lines.iter().filter(|line| !matches!(line, BodyLine::Remark(_))).count();
    if let ([BodyLine::Assertion { text, place, .. }], 1) = (lines, assertions) {
        return out.write_assertion(
            *place,
            &MappedSentence::default().add_mapped(*place, parenthesize_start(text)),
            failing,
        );
    }
    if assertions == 0 {
        return lines.iter().for_each(|line| write_body_line(line, out));
    }
    out.write_line(place, |out| out.put_text("all of {"));
    lines.iter().for_each(|line| write_body_line(line, out));
    out.write_line(place, |out| out.put_text(&format!("}}{failing}")));
}

//! The suite: its settings, its cases, and what is said of what was not read.

use super::body::{Around, Line, class_of};
use super::eval::plain_truth;
use super::groups::why;
use super::operators::milliseconds;
use super::program::Program;
use super::settings::{Base, Setting, find};
use super::value::{Item, Kind, Scope, Told, Value};
use crate::Lowering;
use crate::typescript::tree::{Body, Expr, ExprKind, Stmt, StmtKind};
use crate::writer::{Binds, Labels, Sentence, Writer, label, quoted};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use averment_syntax::words;
use std::path::Path;

const CASE: &[&str] = &["id", "prompt", "tags", "timeoutMs", "expectedFail", "classifyFailure", "assert"];
/// So many folders above the suite are looked into for a configuration.
const UPWARDS: usize = 32;

/// Writes a suite as one of the language.
pub(super) fn lower(lowering: &mut Lowering<'_>) {
    let root = lowering.root;
    let (name, folder) =
        lowering.sources.get(root).map(|file| (file.name.clone(), file.folder.clone())).unwrap_or_default();
    let mut program = Program::new(lowering);
    let module = program.module(root);
    let start = Span::new(root, 0, 0);
    let Some(suite) = program.export(module, "default") else {
        let message = "this file exports no suite: it has no default export";
        program.lowering.said.error(Slug::Syntax, start, message, "write `export default suite`");
        return program.say_unread();
    };
    let workspace = program.export(module, "workspace").map(|value| Item::new(value, start));
    let mut settings: Vec<Setting> = Vec::new();
    if let Some(workspace) = &workspace {
        settings.extend(program.workspace(workspace, &Base(String::new())));
    }
    settings.extend(program.configured(&folder.unwrap_or_default(), workspace.is_some(), start));
    let mut cases = Writer::default();
    program.cases(&Item::new(suite, start), &mut cases);
    let stem = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    program.say_unread();
    let mut out = std::mem::take(&mut program.lowering.out);
    out.block(
        start,
        |out| out.put(&format!("suite {}", quoted(stem.trim_end_matches("-suite")))),
        |out| {
            settings.iter().for_each(|setting| write(setting, out));
            out.append(cases);
        },
    );
    program.lowering.out = out;
}

/// Writes a setting.
fn write(setting: &Setting, out: &mut Writer) {
    match setting {
        Setting::Line(place, text) => out.line(*place, |out| out.put(text)),
        Setting::Block(place, head, inner) if inner.is_empty() => {
            out.line(*place, |out| out.put(&format!("{head} {{}}")))
        }
        Setting::Block(place, head, inner) => {
            out.block(*place, |out| out.put(head), |out| inner.iter().for_each(|setting| write(setting, out)));
        }
    }
}

impl Program<'_, '_> {
    /// The settings of the configuration that the suite belongs to: the next one in its folder or above.
    fn configured(&mut self, folder: &Path, own_workspace: bool, start: Span) -> Vec<Setting> {
        for up in 0..UPWARDS {
            let above = "../".repeat(up);
            let mut found = Vec::new();
            for ending in ["ts", "mts", "cts", "js", "mjs", "cjs"] {
                let path = format!("{above}skillgym.config.{ending}");
                found.extend(self.file(folder, &path).map(|module| (module, path)));
            }
            match found.as_slice() {
                [] => {}
                [(module, path)] => {
                    let Some(config) = self.export(*module, "default") else {
                        let message = format!("`{path}` has no default export");
                        self.lowering.said.error(
                            Slug::Syntax,
                            start,
                            message,
                            "write `export default { runners: { … } }`",
                        );
                        return Vec::new();
                    };
                    return self.config(&Item::new(config, start), &Base(above), own_workspace);
                }
                [(_, one), (_, other), ..] => {
                    let message = format!("there are two configurations: `{one}` and `{other}`");
                    self.lowering.said.error(Slug::Duplicate, start, message, "keep one of them");
                    return Vec::new();
                }
            }
        }
        if self.lowering.options.partly {
            let message = "no `skillgym.config.*` stands beside this suite or above it: it has no runners";
            let help = "`aver check` needs none; for `aver run`, write a `runner` into the suite";
            self.lowering.said.info(Slug::MissingFile, start, message, help);
        }
        Vec::new()
    }

    /// The cases: elements of a list, or the values of an object.
    fn cases(&mut self, suite: &Item, out: &mut Writer) {
        let cases: Vec<Item> = match &suite.value {
            Value::List(items) => items.clone(),
            Value::Object(entries) => entries.iter().map(|(_, item)| item.clone()).collect(),
            other => {
                let message = format!("the cases of this suite do not show: {}", why(other));
                let help = "export a list of cases by default, or an object of them";
                return self.lowering.said.error(Slug::Syntax, suite.span, message, help);
            }
        };
        if cases.is_empty() {
            self.lowering.said.error(
                Slug::Syntax,
                suite.span,
                "this suite has no cases",
                "write `{ id, prompt, assert }`",
            );
        }
        let mut labels = Labels::default();
        for case in &cases {
            self.case(case, &mut labels, out);
        }
        if !cases.is_empty() && !out.holds("case ") {
            let message = "no case of this suite can be read";
            self.lowering.said.error(Slug::Syntax, suite.span, message, "write its `id` and `prompt` as texts");
        }
    }

    fn case(&mut self, case: &Item, labels: &mut Labels, out: &mut Writer) {
        let before = self.unread.len();
        let Some(entries) = self.known_keys(case, "a case", CASE) else { return self.remarked(before, out) };
        let Some((id, _)) = self.text_of(&entries, "id", "a case") else {
            if find(&entries, "id").is_none() {
                self.lowering.said.error(Slug::TypeMismatch, case.span, "a case has no `id`", "write `id: \"…\"`");
            }
            return self.remarked(before, out);
        };
        let name = labels.of(&id);
        let expects_failure = match find(&entries, "expectedFail") {
            Some(item) => match plain_truth(item) {
                Some(truth) => truth,
                None => {
                    self.not_read(item.span, "whether a failure is expected, which only a running program shows");
                    false
                }
            },
            None => false,
        };
        let mut head = Vec::new();
        if let Some((prompt, span)) = self.text_of(&entries, "prompt", "a case") {
            head.push((span, format!("prompt {}", quoted(&prompt))));
        } else if find(&entries, "prompt").is_none() {
            self.lowering.said.error(
                Slug::TypeMismatch,
                case.span,
                format!("the case `{id}` has no `prompt`"),
                "write `prompt: \"…\"`",
            );
        }
        if let Some((tags, span)) = self.texts_of(&entries, "tags", "a case") {
            let mut known: Vec<String> = Vec::new();
            for tag in tags.iter().map(|tag| label(tag)) {
                if !known.contains(&tag) {
                    known.push(tag);
                }
            }
            if !known.is_empty() {
                head.push((span, format!("tags {}", known.join(", "))));
            }
        }
        if let Some((time, span)) = self.number_of(&entries, "timeoutMs", "a case", 1.0) {
            head.push((span, format!("timeout {}", milliseconds(time))));
        }
        if let Some(classify) = find(&entries, "classifyFailure").cloned() {
            head.extend(self.classifications(&classify));
        }
        let mut lines = self.lines_of(&entries, case, &id);
        lines.extend(self.remarks_since(before));
        out.gap();
        if name != id {
            out.remark(&format!("`{id}` there"));
        }
        out.block(
            case.span,
            |out| out.put(&format!("case {name}")),
            |out| {
                for (place, text) in &head {
                    out.line(*place, |out| out.put(text));
                }
                if expects_failure {
                    expected(&lines, case.span, out);
                } else {
                    lines.iter().for_each(|line| written(line, out));
                }
            },
        );
    }

    /// The lines of the assertions of a case.
    fn lines_of(&mut self, entries: &[(String, Item)], case: &Item, id: &str) -> Vec<Line> {
        let Some(assert) = find(entries, "assert") else {
            let message = format!("the case `{id}` asserts nothing");
            self.lowering.said.error(Slug::TypeMismatch, case.span, message, "write `assert(report) { … }`");
            return Vec::new();
        };
        let (assert, span) = (assert.value.clone(), assert.span);
        let Value::Function(function, scope) = &assert else {
            self.not_read(span, &format!("what the case `{id}` asserts: {}", why(&assert)));
            return Vec::new();
        };
        let report = Item::new(Value::Told(Told::new("", Kind::Report)), span);
        let context = Item::new(Value::Told(Told::new("", Kind::Context)), span);
        let before = self.unread.len();
        let lines = self.body(function, &[report, context], *scope, &Around::default());
        if lines.is_empty() && self.unread.len() == before {
            let message = format!("the case `{id}` asserts nothing: it passes whatever happens");
            self.lowering.said.warning(Slug::AlwaysTrue, span, message, "write an assertion into it");
        }
        lines
    }

    /// What was not read since then, as remarks.
    fn remarks_since(&self, before: usize) -> Vec<Line> {
        let unread = self.unread.get(before..).unwrap_or_default().iter();
        unread.map(|(place, what)| Line::Remark(format!("not read: {what}: {}", self.source_of(*place)))).collect()
    }

    /// Remarks in the place of a case that cannot be read.
    fn remarked(&mut self, before: usize, out: &mut Writer) {
        out.gap();
        self.remarks_since(before).iter().for_each(|line| written(line, out));
    }

    /// The first line of what stands at a place.
    fn source_of(&self, place: Span) -> String {
        let text = self.lowering.sources.get(place.file).and_then(|file| file.text.get(place.range()));
        let line = text.unwrap_or_default().lines().next().unwrap_or_default().trim();
        line.chars().take(80).collect()
    }

    /// `classifyFailure`: the classes that it gives, each with what a message has to hold.
    fn classifications(&mut self, classify: &Item) -> Vec<(Span, String)> {
        let Value::Function(function, scope) = &classify.value else {
            self.not_read(classify.span, "how failures are classified");
            return Vec::new();
        };
        let result = Item::new(Value::Told(Told::new("", Kind::Result)), classify.span);
        let scope = self.entered(function, &[result], *scope);
        let mut found = Vec::new();
        let read = match &function.body {
            Body::Value(value) => self.class_by(value, scope, &mut found),
            Body::Block(statements) => self.classes_of(statements, scope, &mut found),
        };
        if !read {
            self.not_read(classify.span, "how failures are classified: by something else than their message");
        }
        found
    }

    /// Statements that give classes back; whether all of it was read.
    fn classes_of(&mut self, statements: &[Stmt], scope: Scope, found: &mut Vec<(Span, String)>) -> bool {
        for statement in statements {
            match &statement.kind {
                StmtKind::Nothing | StmtKind::Return(None) => {}
                StmtKind::Bind(bound, _) => self.bind_all(bound, scope),
                StmtKind::Return(Some(value)) => return self.class_by(value, scope, found),
                StmtKind::If { condition, then, other } if other.is_empty() => {
                    let [Stmt { kind: StmtKind::Return(Some(value)), .. }] = then.as_slice() else { return false };
                    let tests = self.tests_on_messages(condition, scope);
                    let class = self.eval(value, scope);
                    match (tests, class_of(&class)) {
                        (Some(tests), Some(class)) => {
                            found.extend(lines(&tests, &class.0, class.1.as_deref(), condition.span))
                        }
                        _ => return false,
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// `condition ? class : …`, or nothing.
    fn class_by(&mut self, value: &Expr, scope: Scope, found: &mut Vec<(Span, String)>) -> bool {
        match &value.kind {
            ExprKind::If { condition, then, other } => {
                let tests = self.tests_on_messages(condition, scope);
                let class = self.eval(then, scope);
                match (tests, class_of(&class)) {
                    (Some(tests), Some(class)) => {
                        found.extend(lines(&tests, &class.0, class.1.as_deref(), condition.span));
                        self.class_by(other, scope, found)
                    }
                    _ => false,
                }
            }
            _ => self.eval(value, scope).is_nothing(),
        }
    }

    /// What a condition asks of a message: any of these tests.
    fn tests_on_messages(&mut self, condition: &Expr, scope: Scope) -> Option<Vec<String>> {
        if let ExprKind::Binary { operator: "||", left, right } = &condition.kind {
            let mut tests = self.tests_on_messages(left, scope)?;
            tests.extend(self.tests_on_messages(right, scope)?);
            return Some(tests);
        }
        let item = self.eval(condition, scope);
        let truth = self.truth(&item)?;
        let is_test = ["message contains ", "message matches "].iter().any(|words| truth.text.starts_with(words));
        (is_test && truth.binds == Binds::Test).then(|| vec![truth.text])
    }

    /// Says what was not read: an error, but where somebody asked for what was.
    fn say_unread(&mut self) {
        let partly = self.lowering.options.partly;
        for (place, what) in std::mem::take(&mut self.unread) {
            let message = format!("not read: {what}");
            if partly {
                self.lowering.said.warning(
                    Slug::Syntax,
                    place,
                    message,
                    "a program decides it; write it as a sentence",
                );
            } else {
                let help =
                    "a program decides it, and no rule does; `aver import` writes all that is read, and lists the rest";
                self.lowering.said.error(Slug::Syntax, place, message, help);
            }
        }
    }
}

/// Lines that give a class by what a message holds.
fn lines(tests: &[String], id: &str, label: Option<&str>, place: Span) -> Vec<(Span, String)> {
    let label = label.map(|label| format!(" {}", quoted(label))).unwrap_or_default();
    tests.iter().map(|test| (place, format!("classify {}{label} when {test}", quoted(id)))).collect()
}

/// A line of a case.
fn written(line: &Line, out: &mut Writer) {
    match line {
        Line::Remark(text) => out.remark(text),
        Line::When(condition, place, lines) => {
            out.block(
                *place,
                |out| out.put(&format!("when {}", condition.inside(Binds::Or))),
                |out| lines.iter().for_each(|line| written(line, out)),
            );
        }
        Line::Assertion { text, place, message, class, backtracks } => {
            let mut sentence = Sentence::default().put_of(*place, begun(text));
            if *backtracks {
                sentence = sentence.remarked("allow: backtracking");
            }
            let mut modifiers =
                message.as_ref().map(|message| format!("  message {}", quoted(message))).unwrap_or_default();
            if let Some((id, label)) = class {
                modifiers.push_str(&format!("  class {}", quoted(id)));
                modifiers.extend(label.as_ref().map(|label| format!(" {}", quoted(label))));
            }
            out.assertion(*place, &sentence, &modifiers);
        }
    }
}

/// A condition that begins with a word of a statement stands in parentheses.
fn begun(text: &str) -> String {
    let first = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_statement = ["any", "require", "never", "count", "sequence", "each", "all", "no"].contains(&first);
    let is_and_or = text.contains(" and ") || text.contains(" or ");
    let is_statement = is_statement || first == "not" && !is_and_or;
    if !is_statement && words::STATEMENTS.contains(&first) { format!("({text})") } else { text.to_owned() }
}

/// Assertions of which one is expected to fail.
fn expected(lines: &[Line], place: Span, out: &mut Writer) {
    let failing = "  expect fail \"expected in the suite\"";
    let assertions = lines.iter().filter(|line| !matches!(line, Line::Remark(_))).count();
    if let ([Line::Assertion { text, place, .. }], 1) = (lines, assertions) {
        return out.assertion(*place, &Sentence::default().put_of(*place, begun(text)), failing);
    }
    if assertions == 0 {
        return lines.iter().for_each(|line| written(line, out));
    }
    out.line(place, |out| out.put("all of {"));
    lines.iter().for_each(|line| written(line, out));
    out.line(place, |out| out.put(&format!("}}{failing}")));
}

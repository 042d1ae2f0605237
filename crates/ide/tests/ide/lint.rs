//! Tests of the linter: every page shows its lint and a correct version, good rules have no findings, and every fix has the announced effect.

use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap};
use averment_checker::files::{Disk, Files, Memory};
use averment_checker::{CheckOptions, CheckResult, check_rules};
use averment_fixtures as fixtures;
use averment_ide::lint::{LintLevel, LintLevels, LintOptions, fix, registry, report_file};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BESIDE: &[(&str, &str)] = &[
    (
        "tools.json",
        r#"{ "refund": { "type": "object", "properties": { "id": {}, "amount": { "type": "number" } } }, "approve": {} }"#,
    ),
    ("shared.assert", "def is_bigger(a) = a > 3\ndef is_smaller(a) = a < 3\n"),
];

struct Linted {
    map: SourceMap,
    checked: CheckResult,
    found: Diagnostics,
}

fn linted_in(name: &str, folder: &Path, text: &str, files: &dyn Files, options: &LintOptions) -> Linted {
    let mut map = SourceMap::default();
    let root = map.add_file(SourceFile::new(name, Some(folder), text));
    let checked = check_rules(&mut map, root, &CheckOptions { limits: Limits::default(), files });
    let found = report_file(&map, root, &checked, options);
    Linted { map, checked, found }
}

fn linted(text: &str, options: &LintOptions) -> Linted {
    linted_in("rules.assert", Path::new(""), text, &Memory::new(BESIDE.iter().copied()), options)
}

fn lines(linted: &Linted) -> Vec<String> {
    let line = |one: &Diagnostic| {
        format!(
            "{}:{}: {}: {}",
            linted.map.file_name(one.span),
            linted.map.line_column(one.span).line,
            one.slug.as_str(),
            one.message
        )
    };
    linted.found.0.iter().map(line).collect()
}

fn slugs(linted: &Linted) -> Vec<&'static str> {
    linted.found.0.iter().map(|one| one.slug.as_str()).collect()
}

/// Returns options that set one lint to the level warning.
fn warning_of(slug: Slug) -> LintOptions {
    LintOptions { levels: LintLevels { slugs: vec![(slug, LintLevel::Warn)], ..LintLevels::default() } }
}

fn lints() -> impl Iterator<Item = Slug> {
    Slug::ALL.iter().copied().filter(|slug| slug.is_lint())
}

/// Returns the two programs of a lint page.
fn programs(slug: Slug) -> (String, String) {
    let blocks: Vec<&str> =
        slug.page().split("```assert\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    let [avoid, prefer] = blocks.as_slice() else { panic!("{}: {} programs", slug.as_str(), blocks.len()) };
    (format!("{avoid}\n"), format!("{prefer}\n"))
}

#[test]
fn every_page_shows_its_lint_and_a_way_without_it() {
    let mut wrong = Vec::new();
    for slug in lints().filter(|slug| *slug != Slug::Impossible) {
        let (avoid, prefer) = programs(slug);
        let options = warning_of(slug);
        let bad = linted(&avoid, &options);
        if bad.checked.diagnostics.has_errors() || !bad.found.0.iter().any(|one| one.slug == slug) {
            wrong.push(format!("{}: the bad program says {:?}\n{avoid}", slug.as_str(), lines(&bad)));
        }
        let good = linted(&prefer, &options);
        if !good.found.0.is_empty() {
            wrong.push(format!("{}: the good program says {:?}\n{prefer}", slug.as_str(), lines(&good)));
        }
        for part in ["## Avoid", "## Prefer", "## Why", "## Configuration"] {
            assert!(slug.page().contains(part), "{} has no {part}", slug.as_str());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns all rule files that are good by definition.
fn good_files() -> Vec<PathBuf> {
    let ours = ["examples", "crates/builtins/stdlib"].map(fixtures::project);
    let corpus = averment_fixtures::shared("conformance/language/good");
    ours.into_iter().chain(corpus).flat_map(|folder| fixtures::rule_files_below(&folder)).collect()
}

#[test]
fn no_false_alarm_on_any_good_file() {
    let mut alarms = Vec::new();
    for path in good_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.to_string_lossy();
        let files = Disk::anywhere(1 << 20);
        let linted = linted_in(&name, path.parent().unwrap(), &text, &files, &LintOptions::default());
        assert!(!linted.checked.diagnostics.has_errors(), "{}", lines(&linted).join("\n"));
        // The language requires a warning for a tool that the catalog does not list (section 3).
        let alarm = |one: &Diagnostic| one.severity > Severity::Info && one.slug != Slug::UnlistedTool;
        // The corpus combines statements that nobody would write together, so infos are expected there.
        let remark = |one: &Diagnostic| one.severity == Severity::Info && !name.contains("conformance/language");
        let wrong = linted.found.0.iter().zip(lines(&linted)).filter(|(one, _)| alarm(one) || remark(one));
        alarms.extend(wrong.map(|(_, line)| line));
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

/// Applies fixes until there are none left.
fn fixed(text: &str, options: &LintOptions) -> (String, usize) {
    let (mut text, mut count) = (text.to_owned(), 0);
    for _ in 0..10 {
        let change = fix::apply_fixes(&text, FileId(0), &linted(&text, options).found);
        if change.applied == 0 {
            return (text, count);
        }
        count += change.applied;
        text = change.text;
    }
    panic!("fixing does not end:\n{text}");
}

#[test]
fn every_fix_of_a_page_takes_its_lint_away_and_the_rules_still_compile() {
    let mut fixes = 0;
    for slug in lints().filter(|slug| *slug != Slug::Impossible) {
        let (avoid, _) = programs(slug);
        let options = warning_of(slug);
        let before = linted(&avoid, &options);
        if !before.found.0.iter().any(|one| one.slug == slug && one.fix.is_some()) {
            continue;
        }
        let (after, count) = fixed(&avoid, &options);
        fixes += count;
        let again = linted(&after, &options);
        assert!(!again.checked.diagnostics.has_errors(), "{}:\n{after}{:?}", slug.as_str(), lines(&again));
        assert!(!slugs(&again).contains(&slug.as_str()), "{}:\n{after}{:?}", slug.as_str(), lines(&again));
    }
    assert!(fixes >= 6, "only {fixes} fixes were tried");
}

#[test]
fn every_lint_has_a_pass_and_every_pass_only_lints() {
    let passes: BTreeSet<Slug> = registry::PASSES.iter().flat_map(|pass| pass.slugs).copied().collect();
    let all: BTreeSet<Slug> = lints().collect();
    let differing: Vec<&Slug> = passes.symmetric_difference(&all).collect();
    assert!(differing.is_empty(), "{differing:?}: a lint has a row in `PASSES` (crates/ide/src/lint/registry.rs)");
}

#[test]
fn a_comment_silences_a_lint_and_is_reported_when_it_silences_none() {
    let text = "# allow: double-negation\nnot (output.a != 1)\n";
    assert_eq!(slugs(&linted(text, &LintOptions::default())), [""; 0]);
    // After a statement, the number of lines it spans does not matter.
    let text = "not (\n  output.a != 1\n)\n  weight 2  # allow: double-negation\n";
    assert_eq!(slugs(&linted(text, &LintOptions::default())), [""; 0]);
    let text = "not (\n  output.a != 1\n)\noutput.b == 1\n  weight 2  # allow: double-negation\n";
    assert_eq!(slugs(&linted(text, &LintOptions::default())), ["double-negation", "unused-allow"]);
    let text = "# allow: double-negation\noutput.a == 1\n";
    assert_eq!(slugs(&linted(text, &LintOptions::default())), ["unused-allow"]);
    // If a lint is off, its findings cannot be known, so the comment is not reported as unused.
    let levels = LintLevels { slugs: vec![(Slug::DoubleNegation, LintLevel::Allow)], ..LintLevels::default() };
    assert_eq!(slugs(&linted(text, &LintOptions { levels })), [""; 0]);
    assert_eq!(fixed(text, &LintOptions::default()).0, "output.a == 1\n");
    assert_eq!(fixed("output.a == 1 # allow: double-negation\n", &LintOptions::default()).0, "output.a == 1\n");
}

#[test]
fn levels_of_slugs_win_over_those_of_families() {
    use averment_base::diagnostic::Family;
    let text = "not (output.a != 1)\n3 <= length(calls)\nlet a = 1\n";
    let levels = LintLevels {
        slugs: vec![(Slug::YodaCondition, LintLevel::Error)],
        families: vec![(Family::Style, LintLevel::Allow), (Family::Names, LintLevel::Info)],
        least: None,
    };
    let linted = linted(text, &LintOptions { levels });
    let said: Vec<_> = linted.found.0.iter().map(|one| (one.slug.as_str(), one.severity)).collect();
    assert_eq!(said, [("yoda-condition", Severity::Error), ("unused-let", Severity::Info)]);
    assert!(!linted.checked.diagnostics.has_errors());
}

/// Returns the verdict of the statement at a span on a run.
fn verdict_at(linted: &Linted, run: &str, span: averment_base::source::Span) -> Option<&'static str> {
    use averment_base::truth::Verdict;
    let program = averment_engine::compile::compile(&linted.checked.module, &linted.map);
    let rules = averment_fixtures::Rules::from_program(program);
    let outcome = rules.check_json(run).unwrap_or_else(|error| panic!("{run}: {error}"));
    let inside = |one: &averment_base::source::Span| one.start <= span.start && span.end <= one.end;
    let number = linted.checked.module.assertions.iter().position(|one| inside(&one.span))?;
    let result = outcome.results.iter().find(|result| result.assertion as usize == number)?;
    Some(match result.verdict {
        Verdict::Pass => "passes",
        Verdict::Fail => "fails",
        Verdict::Vacuous => "is vacuous",
        Verdict::Undecided => "is undecided",
        _ => "is an error",
    })
}

#[test]
fn every_witness_of_a_page_is_what_the_evaluator_says() {
    let (mut witnesses, mut wrong) = (BTreeSet::new(), Vec::new());
    for slug in lints().filter(|slug| *slug != Slug::Impossible) {
        let (avoid, _) = programs(slug);
        let linted = linted(&avoid, &warning_of(slug));
        for one in linted.found.0.iter().filter(|one| one.slug == slug) {
            let Some(witness) = &one.witness else { continue };
            witnesses.insert(slug.as_str());
            if verdict_at(&linted, &witness.run, one.span) != Some(witness.verdict) {
                let real = verdict_at(&linted, &witness.run, one.span);
                wrong.push(format!("{}: {} {} and not {real:?}", slug.as_str(), witness.run, witness.verdict));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(witnesses.len() >= 7, "only {witnesses:?} show a run");
}

/// Returns the table of the reference, generated from the catalog of lints.
fn table() -> String {
    use averment_base::diagnostic::Family;
    let with_fix: BTreeSet<Slug> = lints()
        .filter(|slug| *slug != Slug::Impossible)
        .filter(|slug| {
            let found = linted(&programs(*slug).0, &warning_of(*slug)).found;
            found.0.iter().any(|one| one.slug == *slug && one.fix.is_some())
        })
        .collect();
    let mut text = String::new();
    for family in Family::ALL {
        text +=
            &format!("\n### {}: {}\n\n| lint | level | fix | |\n|---|---|---|---|\n", family.as_str(), family.title());
        for slug in Slug::ALL.iter().filter(|slug| slug.family() == Some(*family)) {
            let fix = if with_fix.contains(slug) { "yes" } else { "" };
            let level = slug.lint_level().as_str();
            let level = if slug.is_certain() { format!("{level}, also in `check`") } else { level.to_owned() };
            text += &format!("| `{}` | {level} | {fix} | {} |\n", slug.as_str(), slug.title());
        }
    }
    text + "\n"
}

#[test]
fn the_reference_lists_every_lint() {
    let path = averment_fixtures::root().join("docs/reference/lint.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- lints -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of lints -->\n").unwrap();
    let made = format!("{before}<!-- lints -->\n{}<!-- end of lints -->\n{after}", table());
    averment_fixtures::compare_generated(&path, &made);
    // The lints named in the comparison exist.
    let comparison = averment_fixtures::root().join("docs/comparison.md");
    let comparison = std::fs::read_to_string(comparison).unwrap();
    for lint in lints().filter(|lint| lint.family() != Some(averment_base::diagnostic::Family::Style)) {
        let family = lint.as_str().starts_with("unused-") && comparison.contains("`unused-*`");
        let shown = comparison.contains(&format!("`{}`", lint.as_str())) || family;
        assert!(shown || UNCOMPARED.contains(&lint), "docs/comparison.md says nothing of `{}`", lint.as_str());
    }
}

/// Lints without a counterpart in other tools.
const UNCOMPARED: &[Slug] = &[Slug::OrderWithoutExistence, Slug::EmptyRule, Slug::SameSteps];

/// The facts about every pattern (here `only` with eleven tools, compared with each tool) are examined only as far as two rules concern them.
#[test]
fn a_contradiction_is_found_among_many_rules_about_the_same_tools() {
    let tool = |number: usize| format!("t{}", number % 12);
    let rule = |number: usize| match number % 4 {
        0 => format!("only {}, {}, {}", tool(number), tool(number + 1), tool(number + 5)),
        1 => format!("if {} then {}", tool(number), tool(number * 7 + 2)),
        2 => format!("either {} or {}", tool(number), tool(number * 5 + 3)),
        _ => format!("before {} -> {}", tool(number), tool(number * 5 + 1)),
    };
    let mut text: String = (0..120).map(|number| format!("rule r{number} {{ {} }}\n", rule(number))).collect();
    text.push_str("rule first { require t3 }\nrule second { only t4, t5 }\n");
    let said = lines(&linted(&text, &LintOptions::default()));
    let wanted = "rules.assert:122: contradictory: this and line 121 can never both hold";
    assert!(said.iter().any(|line| line == wanted), "{}", said.join("\n"));
}

/// A text with a longer id contains a shorter one, so matching the whole token is suggested, but only if a bound value is searched in text.
#[test]
fn what_a_text_says_of_an_id_is_proposed_as_a_mention() {
    let rule = |test: &str| format!("before list(result {test}) -> delete(id: $id)\n");
    for (avoid, prefer) in [("contains $id", "mentions $id"), ("not contains $id", "not mentions $id")] {
        let options = LintOptions::default();
        assert_eq!(slugs(&linted(&rule(avoid), &options)), ["unanchored-id"], "{avoid}");
        assert_eq!(fixed(&rule(avoid), &options).0, rule(prefer));
        assert!(lines(&linted(&rule(prefer), &options)).is_empty(), "{prefer}");
    }
    assert_eq!(slugs(&linted("output mentions \"\"\n", &LintOptions::default())), ["empty-needle"]);
    let of_a_list = "before list(result.ids contains $id) -> delete(id: $id)\n";
    assert!(lines(&linted(of_a_list, &LintOptions::default())).is_empty());
}

#[test]
fn empty_texts_and_lists_and_counts_from_zero_are_found_wherever_they_stand() {
    for (rule, slug) in [
        ("\"\" in output.text", "empty-needle"),
        ("never command \"\"", "empty-needle"),
        ("never user \"\"", "empty-needle"),
        ("before user \"\" -> refund", "empty-needle"),
        ("output.text contains all []", "empty-needle"),
        ("length(output.items) >= 0", "zero-bound"),
        ("0 <= length(calls)", "zero-bound"),
        ("turns >= 0", "zero-bound"),
        ("cost >= $0", "zero-bound"),
        ("0s <= duration", "zero-bound"),
        ("rouge_l(output, prompt) >= 0", "zero-bound"),
        ("rule mild threshold 0 { output.total == 3 }", "zero-bound"),
        ("word_count(output.text) >= 0", "zero-bound"),
        ("(count x in calls: x.tool == \"a\") >= 0", "zero-bound"),
    ] {
        let said = slugs(&linted(&format!("{rule}\n"), &LintOptions::default()));
        assert!(said.contains(&slug), "{rule}: {said:?}");
    }
    for rule in ["\"\" in [\"\", output.text]", "length(calls) >= 1", "length(calls) <= 0", "read \"**\" "] {
        let said = slugs(&linted(&format!("never refund\n{rule}\n"), &LintOptions::default()));
        assert!(!said.iter().any(|slug| *slug == "empty-needle" || *slug == "zero-bound"), "{rule}: {said:?}");
    }
}

#[test]
fn quoted_globs_of_tools_and_endings_in_parentheses_are_found() {
    for (slug, found, silent) in [
        (
            Slug::GlobAsText,
            &[
                "never \"issue_*\"",
                "never \"*\"",
                "count 'ref*' <= 1",
                "before a -> \"b_*\"",
                "no c in calls: c.tool == \"issue_*\"",
            ][..],
            &["never issue_*", "never \"issue refund\"", "never \"issue_refund\""][..],
        ),
        (
            Slug::TwoScopes,
            &[
                "never fetch(error exists)",
                "never any(error is not empty)",
                "never any(ok == false)",
                "never any(failed: true)",
            ],
            &[
                "never log(error: \"boom\")",
                "never (fetch where error exists)",
                "tool fetch { type: \"object\", properties: { error: {} } }\nnever fetch(error exists)",
            ],
        ),
    ] {
        let count =
            |text: &str| slugs(&linted(text, &warning_of(slug))).iter().filter(|one| **one == slug.as_str()).count();
        for text in found {
            assert_eq!(count(text), 1, "{text}");
        }
        for text in silent {
            assert_eq!(count(text), 0, "{text}");
        }
    }
}

#[test]
fn lists_are_looked_at_in_their_case() {
    for (text, slug) in [
        ("lower(output.c) in [\"a\", \"B\"]\n", true),
        ("each refund: weekday(start) not in [\"saturday\", \"sunday\"]\n", false),
        ("lower(output.c) in [\"a\", \"b\"]\n", false),
    ] {
        let found = linted(text, &LintOptions::default());
        assert_eq!(slugs(&found).contains(&"letter-case"), slug, "{text}: {:?}", lines(&found));
    }
}

/// Returns the time to parse, check and lint a text of this form.
fn work_time(form: &dyn Fn(usize) -> String, count: usize) -> std::time::Duration {
    let text = form(count);
    let start = std::time::Instant::now();
    linted(&text, &LintOptions::default());
    start.elapsed()
}

#[test]
fn work_grows_with_the_length_of_a_file_and_not_faster() {
    let listed = |count: usize, join: &str, one: &dyn Fn(usize) -> String| {
        format!("never {}\n", (0..count).map(one).collect::<Vec<_>>().join(join))
    };
    let forms: [(&str, &dyn Fn(usize) -> String); 8] = [
        ("open rules", &|count| "rule a {\n".repeat(count)),
        ("open rules on a line", &|count| "rule a {".repeat(count)),
        ("a chain of definitions", &|count| {
            let chain: String = (1..=count).map(|at| format!("def step s{at} = s{}\n", at - 1)).collect();
            format!("def step s0 = t\n{chain}never s{count}\n")
        }),
        ("definitions of later ones", &|count| {
            let chain: String = (0..count).map(|at| format!("def step s{at} = s{}\n", at + 1)).collect();
            format!("{chain}def step s{count} = t\nnever s0\n")
        }),
        ("globs in a list", &|count| listed(count, ", ", &|at| format!("g{at}_*"))),
        ("globs with the same end", &|count| listed(count, " | ", &|at| format!("g{at}*_x"))),
        ("globs that begin with a star", &|count| listed(count, ", ", &|at| format!("*_g{at}"))),
        ("steps with conditions", &|count| listed(count, ", ", &|at| format!("g(a: {at})"))),
    ];
    for (name, form) in forms {
        // With quadratic work, it would take nine times as long at every attempt; a busy machine causes that only once.
        let mut tried = Vec::new();
        let is_linear = (0..3).any(|_| {
            let (short, long) = (work_time(form, 700), work_time(form, 2_100));
            tried.push((short, long));
            long < (short * 6).max(std::time::Duration::from_millis(800))
        });
        assert!(is_linear, "{name}: a third and the whole take {tried:?}");
    }
}

#[test]
fn what_is_covered_is_found_among_many() {
    let many = (0..2_000).map(|at| format!("g{at}_*")).collect::<Vec<_>>().join(", ");
    for (small, large) in
        [("g7_x", "g7_*"), ("g7_a*", "g7_*"), ("x_y", "*_y"), ("y(a: 1)", "y"), ("y", "any"), ("y", "*")]
    {
        let text = format!("never {small}, {many}, {large}\n");
        let found = lines(&linted(&text, &warning_of(Slug::UnreachableAlternative)));
        let message = format!("`{large}` takes every `{small}` already");
        let expected = if large == "g7_*" { "`g7_*` takes every" } else { message.as_str() };
        assert!(found.iter().any(|line| line.contains(expected)), "{small} in {large}: {found:?}");
    }
}

//! Rules as users write them: statements and expressions of the reference generators, searches, and settings around them.

use crate::by_names;
use crate::generate_expression;
use crate::generate_rule;
use crate::model;
use crate::print;
use crate::print_expression;
use crate::searches;
use crate::source::Source;
use averment_base::diagnostic::render;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_engine::bytecode::program::Program;
use averment_engine::compile;

/// A rule whose names are still open: `@` stands for its number in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What kind of assertion it is, for tables.
    pub kind: String,
    /// Definitions that stand before it.
    pub definitions: String,
    /// The assertion, with its settings.
    pub assertion: String,
    /// Whether it has a name of its own, `r@`.
    pub named: bool,
}

/// A rule.
pub fn rule(source: &mut Source) -> Rule {
    let bare = match source.weighted(&[42, 10, 22, 26]) {
        0 => {
            let statement = generate_rule::rule(source);
            Rule::bare(statement.kind(), String::new(), print::statement(&statement))
        }
        1 => {
            let condition = generate_expression::condition(source, 3, &[]);
            Rule::bare("Expression".to_owned(), String::new(), print_expression::print(&condition))
        }
        2 => {
            let (kind, definitions, assertion) = searches::search(source);
            Rule::bare(kind.to_owned(), definitions, assertion)
        }
        _ => {
            let (kind, assertion) = by_names::statement(source);
            Rule::bare(format!("by name: {kind}"), String::new(), assertion)
        }
    };
    with_settings(source, bare)
}

impl Rule {
    fn bare(kind: String, definitions: String, assertion: String) -> Rule {
        Rule { kind, definitions, assertion, named: false }
    }
}

/// A rule file with these rules, each with its number.
pub fn file(rules: &[(usize, &Rule)]) -> String {
    let mut text = String::new();
    if rules.iter().any(|(_, rule)| rule.assertion.contains("no secrets in")) {
        text.push_str("use std.secrets\n");
    }
    let assertions: Vec<&str> = rules.iter().map(|(_, rule)| rule.assertion.as_str()).collect();
    text.push_str(&model::definitions(&assertions.join("\n")));
    for (number, rule) in rules {
        let whole = format!("{}{}\n", rule.definitions, rule.assertion);
        text.push_str(&whole.replace('@', &number.to_string()));
    }
    text
}

/// The program of a rule file; what the checker says where it is none.
pub fn compile(name: &str, text: &str) -> Result<Program, String> {
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new(name, None, text));
    let checked =
        check_rules(&mut sources, root, &CheckOptions { limits: Limits::default(), files: &Memory::default() });
    match checked.diagnostics.has_errors() {
        true => Err(format!("{text}\n{}", render::render_short(&checked.diagnostics, &sources))),
        false => Ok(compile::compile(&checked.module, &sources)),
    }
}

/// Sometimes modifiers behind the assertion, sometimes a rule around it.
fn with_settings(source: &mut Source, mut rule: Rule) -> Rule {
    // A block or group has its settings inside.
    if !rule.assertion.contains('\n') && source.chance(22) {
        let modifiers: Vec<&str> = (0..=source.below(2)).map(|_| source.pick(MODIFIERS)).collect();
        let conditional = rule.assertion.contains(" when ");
        let mut used: Vec<&str> = Vec::new();
        for modifier in modifiers {
            let word = modifier.split(' ').next().unwrap();
            if used.contains(&word) || (word == "when" && conditional) {
                continue;
            }
            used.push(word);
            rule.assertion.push_str(&format!(" {modifier}"));
        }
    }
    if source.chance(22) {
        let header = source.pick(&[
            "",
            " \"it holds\"",
            " threshold 0.5",
            " severity warn",
            " deny undecided",
            " tags smoke",
            " weight 3 tags slow, smoke",
            " message \"of the rule\"",
        ]);
        rule.assertion = format!("rule r@{header} {{\n{}\n}}", rule.assertion);
        rule.named = true;
    } else if source.chance(3) {
        rule.assertion = format!("case r@ {{\nprompt \"yes\"\n{}\n}}", rule.assertion);
        rule.named = true;
    }
    rule
}

const MODIFIERS: &[&str] = &[
    "weight 2",
    "weight 0",
    "severity warn",
    "severity info",
    "message \"it says ${output.text}\"",
    "message \"plain words\"",
    "as score_@",
    "class \"f1\" \"Label\"",
    "tags smoke",
    "expect fail \"known\"",
    "threshold 0.5",
    "deny vacuous",
    "deny unjudged",
    "allow undecided",
    "when inputs.vip == true",
    "when output.text contains \"a\"",
    "when duration <= 2s",
];

#[test]
fn generated_rules_compile() {
    let wrong: Vec<String> = (0..1500)
        .filter_map(|number| {
            let rule = rule(&mut Source::seeded(11, number));
            compile("rules.assert", &file(&[(0, &rule)])).err()
        })
        .collect();
    assert!(wrong.is_empty(), "{} rules do not compile\n{}", wrong.len(), wrong.join("\n"));
}

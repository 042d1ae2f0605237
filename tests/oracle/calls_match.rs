//! `calls match [{tool: "a", args: {id: 1}}]`: its form.

use crate::generate_run;
use crate::model::Statement;
use crate::source::Source;
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Exactly,
    Subset,
    Superset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    Exact,
    Named,
    Optional,
    Ignored,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub tool: String,
    pub args: Option<Map<String, Value>>,
}

/// The statement with its clauses.
#[derive(Clone, Debug, PartialEq)]
pub struct CallsMatch {
    pub extent: Extent,
    pub expected: Vec<Expected>,
    /// Said only where it is not what the extent means by itself.
    pub in_order: bool,
    pub arguments: Arguments,
    pub folded: bool,
    pub ignored: Vec<String>,
    pub repeats_ignored: bool,
    /// In hundredths.
    pub score: Option<i64>,
}

pub fn print(it: &CallsMatch) -> String {
    let extent = ["", "subset of ", "superset of "][it.extent as usize];
    let expected: Vec<String> = it.expected.iter().map(print_expected).collect();
    let mut text = format!("calls match {extent}[{}]", expected.join(", "));
    match (it.in_order, it.extent == Extent::Exactly) {
        _ if it.repeats_ignored => text.push_str(" repeats ignored"),
        (true, false) => text.push_str(" in order"),
        (false, true) => text.push_str(" in any order"),
        _ => {}
    }
    text.push_str(["", " arguments named", " arguments optional", " arguments ignored"][it.arguments as usize]);
    if it.folded {
        text.push_str(" folded");
    }
    if !it.ignored.is_empty() {
        text.push_str(&format!(" ignoring [{}]", it.ignored.join(", ")));
    }
    if let Some(score) = it.score {
        text.push_str(&format!(" score >= 0.{score:02}"));
    }
    text
}

fn print_expected(call: &Expected) -> String {
    let Some(args) = &call.args else { return format!("{{tool: {:?}}}", call.tool) };
    let args: Vec<String> = args.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{tool: {:?}, args: {{{}}}}}", call.tool, args.join(", "))
}

pub fn generate(source: &mut Source) -> Statement {
    let extent = source.pick(&[Extent::Exactly, Extent::Subset, Extent::Superset]);
    let call = |source: &mut Source| {
        let tool = source.pick(&["a", "b", "c"]).to_owned();
        let args = source.chance(50).then(|| {
            let mut args = Map::new();
            if source.chance(80) {
                args.insert("id".to_owned(), generate_run::id(source));
            }
            if source.chance(30) {
                args.insert("note".to_owned(), source.pick(&["x", "X", " Xy", "yz"]).into());
            }
            args
        });
        Expected { tool, args }
    };
    let expected = (0..=source.below(3)).map(|_| call(source)).collect();
    let repeats_ignored = source.chance(25);
    let in_order = !repeats_ignored && source.chance(40);
    let arguments = source.pick(&[Arguments::Named, Arguments::Optional, Arguments::Exact, Arguments::Ignored]);
    let compares = arguments != Arguments::Ignored;
    let folded = compares && source.chance(30);
    let ignores = compares && source.chance(30);
    let ignored = if ignores { vec![source.pick(&["n", "id"]).to_owned()] } else { Vec::new() };
    let score = (!in_order && source.chance(40)).then(|| source.pick(&[25, 50, 67]));
    Statement::CallsMatch(CallsMatch { extent, expected, in_order, arguments, folded, ignored, repeats_ignored, score })
}

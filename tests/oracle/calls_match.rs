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
    pub ignored: Vec<String>,
    /// In hundredths.
    pub score: Option<i64>,
}

pub fn print(it: &CallsMatch) -> String {
    let extent = ["", "subset of ", "superset of "][it.extent as usize];
    let expected: Vec<String> = it.expected.iter().map(print_expected).collect();
    let mut text = format!("calls match {extent}[{}]", expected.join(", "));
    match (it.in_order, it.extent == Extent::Exactly) {
        (true, false) => text.push_str(" in order"),
        (false, true) => text.push_str(" in any order"),
        _ => {}
    }
    text.push_str(["", " arguments named", " arguments ignored"][it.arguments as usize]);
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
        let args = source.chance(40).then(|| Map::from_iter([("id".to_owned(), generate_run::id(source))]));
        Expected { tool, args }
    };
    let expected = (0..=source.below(3)).map(|_| call(source)).collect();
    let in_order = source.chance(40);
    let arguments = source.pick(&[Arguments::Named, Arguments::Exact, Arguments::Ignored]);
    let ignores = arguments != Arguments::Ignored && source.chance(30);
    let ignored = if ignores { vec![source.pick(&["n", "id"]).to_owned()] } else { Vec::new() };
    let score = (!in_order && source.chance(40)).then(|| source.pick(&[25, 50, 67]));
    Statement::CallsMatch(CallsMatch { extent, expected, in_order, arguments, ignored, score })
}

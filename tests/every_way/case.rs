//! A case: some rules, some runs and the settings of a check, all from lists of choices, so that it can be made smaller.

use crate::forms::{Written, written};
use crate::recorded;
use crate::rules::{Rule, rule};
use crate::source::Source;
use averment_engine::vm::select::RuleSelection;
use averment_report::gate::GatePolicy;

/// Rules of a case.
pub const RULES: usize = 6;
/// Runs of a case.
pub const RUNS: usize = 16;
/// Pairs of a rule and a run in a case.
pub const PAIRS: usize = RULES * RUNS;

/// The choices of everything in a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its number, which says of the seldom ways which it goes.
    pub number: u64,
    pub rules: Vec<Vec<u32>>,
    pub runs: Vec<Vec<u32>>,
    pub settings: Vec<u32>,
}

/// What the choices stand for.
#[derive(Debug)]
pub struct Built {
    pub number: u64,
    pub rules: Vec<Rule>,
    pub runs: Vec<Written>,
    pub settings: Settings,
}

/// How a case is checked, and how its lines are set apart.
#[derive(Debug, Default)]
pub struct Settings {
    pub policy: GatePolicy,
    mark: bool,
    blank: bool,
    returns: bool,
    open_end: bool,
    selected: usize,
}

impl Case {
    /// The case of a number.
    pub fn seeded(seed: u64, number: u64) -> Case {
        let streams = (RULES + RUNS + 1) as u64;
        let mut stream = number * streams;
        let mut choices = |draw: &mut dyn FnMut(&mut Source)| {
            let mut source = Source::seeded(seed ^ 0xA11, stream);
            stream += 1;
            draw(&mut source);
            source.choices
        };
        Case {
            number,
            rules: (0..RULES).map(|_| choices(&mut |source| drop(rule(source)))).collect(),
            runs: (0..RUNS).map(|_| choices(&mut |source| drop(run(source)))).collect(),
            settings: choices(&mut |source| {
                Settings::draw(source);
            }),
        }
    }

    /// The rules, the runs and the settings.
    pub fn build(&self) -> Built {
        Built {
            number: self.number,
            rules: self.rules.iter().map(|choices| rule(&mut Source::replay(choices))).collect(),
            runs: self.runs.iter().map(|choices| run(&mut Source::replay(choices))).collect(),
            settings: Settings::draw(&mut Source::replay(&self.settings)),
        }
    }
}

/// A run as it stands in a file.
pub fn run(source: &mut Source) -> Written {
    let run = recorded::run(source);
    written(source, &run)
}

impl Settings {
    fn draw(source: &mut Source) -> Settings {
        Settings {
            policy: GatePolicy {
                deny_vacuous: source.chance(20),
                deny_unjudged: source.chance(20),
                deny_unexercised: false,
                deny_near_names: false,
                deny_undecided: source.chance(10),
                allow_undecided: source.chance(20),
            },
            mark: source.chance(15),
            blank: source.chance(20),
            returns: source.chance(20),
            open_end: source.chance(25),
            selected: source.below(RULES),
        }
    }

    /// Lines as a file.
    pub fn lines(&self, lines: &[&str]) -> String {
        let end = if self.returns { "\r\n" } else { "\n" };
        let between = if self.blank { format!("{end}  {end}") } else { end.to_owned() };
        let mark = if self.mark { "\u{feff}" } else { "" };
        format!("{mark}{}{}", lines.join(&between), if self.open_end { "" } else { end })
    }

    /// One of the rules that have a name, if there are any.
    pub fn selection(&self, rules: &[Rule]) -> Option<RuleSelection> {
        let named: Vec<usize> = (0..rules.len()).filter(|number| rules[*number].named).collect();
        let number = named.get(self.selected % named.len().max(1))?;
        Some(RuleSelection { rules: vec![format!("r{number}")], ..RuleSelection::default() })
    }
}

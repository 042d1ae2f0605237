//! Counts and scores of many runs: what is kept up from run to run is what every run gives on its own, to the last bit of a score.

use averment_bulk::incremental_totals::IncrementalTotals;
use averment_bulk::prefilter::PrefilterAnswer;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::{combine_outcomes, known_outcome};
use averment_report::chunk_totals::{ChunkTotals, RunEffect};
use averment_report::gate::GatePolicy;
use averment_report::table::ReportTable;
use proptest::prelude::*;

/// Rules with everything that changes how a verdict counts.
const WEIGHED: &str = r#"
never a weight 0.1
never b weight 0.7 severity warn
never c expect fail
never d weight 0
never e severity info
never q deny vacuous
never r allow undecided, vacuous
never s deny undecided
rule one { never f weight 3 }
rule two "several" {
  weight 1.3
  never g weight 0.3
  never h weight 2
  require i severity warn
  never j expect fail "not yet"
}
rule three {
  threshold 0.6
  allow undecided
  never k deny vacuous
  never l weight 2 must deny undecided
  never m
}
rule four {
  threshold 0.5
  severity warn
  never n
  never o
}
rule five {
  severity warn
  weight 0
  never p
}
"#;

/// Rules of whole weights, whose sums are kept.
const WHOLE: &str = r#"
never a
never b weight 7 severity warn
rule one { weight 3; never c weight 0.1 }
rule two { never d weight 0 }
rule three { never e expect fail }
never f weight 0
"#;

fn program(name: &str, text: &str) -> Program {
    averment_fixtures::Rules::from_text(name, text).unwrap_or_else(|error| panic!("{error:?}")).program().clone()
}

fn answer() -> impl Strategy<Value = PrefilterAnswer> {
    prop::sample::select(vec![
        PrefilterAnswer::Pass,
        PrefilterAnswer::Pass,
        PrefilterAnswer::Pass,
        PrefilterAnswer::Fail,
        PrefilterAnswer::Idle,
        PrefilterAnswer::Vacuous,
        PrefilterAnswer::Undecided,
        PrefilterAnswer::Skipped,
    ])
}

fn bits(totals: &ChunkTotals) -> (u64, u64, Option<averment_report::gate::Gate>, Vec<u64>) {
    (totals.runs, totals.failed, totals.gate, totals.scores.iter().map(|score| score.to_bits()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn incremental_totals_are_those_of_each_run(
        runs in prop::collection::vec(prop::collection::vec(answer(), 25), 1..20),
        same in prop::collection::vec(any::<bool>(), 20),
        deny_vacuous: bool,
        allow_undecided: bool,
        which in 0..3_usize,
        cut in 0..20_usize,
    ) {
        let programs = match which {
            0 => vec![program("weighed.assert", WEIGHED)],
            1 => vec![program("whole.assert", WHOLE)],
            _ => vec![program("weighed.assert", WEIGHED), program("whole.assert", WHOLE)],
        };
        let policy = GatePolicy { deny_vacuous, allow_undecided, ..GatePolicy::default() };
        let table = ReportTable::new(&programs, |_, _| true);
        let all = |program: &Program| (0..program.assertions.len() as u32).collect::<Vec<u32>>();
        let mut incremental = IncrementalTotals::new(programs.iter().map(|program| (program, all(program))), &table, policy);
        let (mut fast, mut plain) = (ChunkTotals::default(), ChunkTotals::default());
        let mut last: Vec<PrefilterAnswer> = Vec::new();
        for (number, (run, same)) in runs.iter().zip(same).enumerate() {
            let answers: Vec<PrefilterAnswer> = if same && !last.is_empty() {
                // Most of it is as it was.
                last.iter().zip(run).enumerate().map(|(at, (old, new))| if at % 5 == 0 { *new } else { *old }).collect()
            } else {
                run.iter().copied().chain([PrefilterAnswer::Pass; 25]).take(table.items.len()).collect()
            };
            prop_assert_eq!(answers.len(), table.items.len());
            prop_assert!(incremental.compare_answers(&answers));
            incremental.add_run(&answers, &mut fast);
            if number == cut {
                incremental.flush_counts(&mut fast);
            }
            let mut rest = answers.iter();
            let outcomes: Vec<_> = programs
                .iter()
                .map(|program| {
                    let results = (0..).zip(rest.by_ref().take(program.assertions.len()));
                    combine_outcomes(program, results.map(|(number, answer)| known_outcome(program, number, answer.as_verdict().unwrap()).unwrap()).collect())
                })
                .collect();
            plain.add_run(&RunEffect::from_outcomes(&table, &outcomes, policy, Vec::new()));
            last = answers;
        }
        incremental.flush_counts(&mut fast);
        prop_assert_eq!(bits(&fast), bits(&plain));
        prop_assert_eq!(fast.counts, plain.counts);
    }
}

#[test]
fn an_open_answer_is_never_counted() {
    let programs = [program("whole.assert", WHOLE)];
    let table = ReportTable::new(&programs, |_, _| true);
    let count = table.items.len();
    let numbers = (0..count as u32).collect();
    let mut incremental = IncrementalTotals::new([(&programs[0], numbers)], &table, GatePolicy::default());
    let (mut open, pass) = (vec![PrefilterAnswer::Pass; count], vec![PrefilterAnswer::Pass; count]);
    open[count - 1] = PrefilterAnswer::Open;
    assert!(!incremental.compare_answers(&vec![PrefilterAnswer::Open; count]) && !incremental.compare_answers(&open));
    let mut totals = ChunkTotals::default();
    assert!(incremental.compare_answers(&pass));
    incremental.add_run(&pass, &mut totals);
    assert!(!incremental.compare_answers(&open));
    assert!(incremental.compare_answers(&pass));
    incremental.add_run(&pass, &mut totals);
    incremental.flush_counts(&mut totals);
    assert_eq!((totals.runs, totals.counts[0][0]), (2, 2));
}

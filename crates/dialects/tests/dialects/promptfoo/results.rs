//! Results are judged by the assertions that they bring.

use super::{Imported, import_file};
use averment::Verdict;

const RESULTS: &str = r#"{"evalId":"e","results":{"version":3,"results":[
 {"promptIdx":0,"testIdx":0,"success":true,"vars":{"name":"Bob"},"response":{"output":"Hello Bob"},
  "testCase":{"vars":{"name":"Bob"},"assert":[{"type":"contains","value":"{{name}}"},{"type":"llm-rubric","value":"polite"},{"type":"is-json"}]},
  "gradingResult":{"pass":true,"score":1,"componentResults":[
   {"pass":true,"score":1,"assertion":{"type":"contains","value":"{{name}}"}},
   {"pass":true,"score":0.8,"assertion":{"type":"llm-rubric","value":"polite"}},
   {"pass":true,"score":1,"assertion":{"type":"is-json"}}]}},
 {"promptIdx":1,"testIdx":0,"success":true,"traceId":"t","vars":{"name":"Al"},"response":{"output":"x"},
  "testCase":{"vars":{"name":"Al"},"assert":[{"type":"trace-span-count","value":{"pattern":"none*","max":2}},{"type":"odd"}]}}
]},"traces":[{"traceId":"t","spans":[{"spanId":"0000000000000001","name":"db","startTime":1700000000000,"endTime":1700000000005}]}]}"#;

#[test]
fn results_are_judged_by_their_own_assertions() {
    let Imported::Rules { rules, .. } = import_file("results.json", RESULTS, &[], false) else { panic!("refused") };
    let outcomes: Vec<Vec<(Verdict, bool)>> = rules
        .check(RESULTS)
        .map(|outcome| {
            let outcome = outcome.unwrap();
            outcome
                .results()
                .filter(|one| one.verdict() != Verdict::Skipped)
                .filter(|one| one.verdict() != Verdict::Pass || !one.text().starts_with("(if"))
                .map(|one| (one.verdict(), one.text().starts_with("(if")))
                .collect()
        })
        .collect();
    // The second verdict of `is-json` is the line that compares with what was recorded.
    let first = [(Verdict::Pass, false), (Verdict::Pass, false), (Verdict::Fail, false), (Verdict::Fail, true)];
    assert_eq!(outcomes[0], first);
    assert_eq!(outcomes[1], [(Verdict::Vacuous, false), (Verdict::Undecided, false)]);
}

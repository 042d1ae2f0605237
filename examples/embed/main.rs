//! Checks a file of runs against a file of rules: `cargo run --example embed -- RULES TRACE`.

#![allow(clippy::disallowed_methods, reason = "a program reads its command line")]

use averment::Rules;
use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(rules), Some(trace)) = (arguments.next(), arguments.next()) else {
        return Err("name a rule file and a trace".into());
    };
    let rules = Rules::builder().file(rules).build()?;
    let mut outcomes = rules.batch().outcomes([trace]);
    for outcome in &mut outcomes {
        let outcome = outcome?;
        for finding in outcome.findings() {
            let place = finding.assertion().place();
            println!(
                "{}: {} {} ({place}): {}",
                outcome.run(),
                finding.status().as_str(),
                finding.id(),
                finding.reason()
            );
        }
    }
    let summary = outcomes.summary();
    println!("{} of {} runs failed", summary.runs_failed(), summary.runs());
    Ok(if summary.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

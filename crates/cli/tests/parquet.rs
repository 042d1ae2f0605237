//! Parquet and Arrow files as traces, and reports in Parquet. A separate test program, because only builds with the feature `parquet` have it:
//! `cargo test -p averment-cli --features parquet --test parquet`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that meets something unexpected has failed, and may look at files"
)]

#[path = "commands/folder.rs"]
mod folder;
#[path = "commands/mutated_inputs.rs"]
mod mutated_inputs;

use folder::Folder;

const RULES: &str = "before approve(id: $id) -> refund(id: $id)\ncount refund <= 1\n";

fn file(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/columns");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

fn verdicts(folder: &Folder, file: &str) -> Vec<(String, String)> {
    let ran = folder.aver(&format!("check rules.assert {file} --format csv"));
    let rows = ran.out.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    rows.map(|cells| (cells[4].to_owned(), cells[8].to_owned())).collect()
}

#[test]
fn runs_as_text_as_columns_and_as_spans_are_judged_alike() {
    let call = |tool: &str, one: usize| format!(r#"{{"tool":"{tool}","args":{{"id":"o-{one}"}},"ok":true}}"#);
    let runs: String = (0..6)
        .map(|one| {
            let calls: Vec<String> = ["approve", "refund"][one % 2..].iter().map(|tool| call(tool, one)).collect();
            format!("{{\"id\":\"r{one}\",\"calls\":[{}]}}\n", calls.join(","))
        })
        .collect();
    let folder = Folder::new(&[("rules.assert", RULES), ("runs.jsonl", &runs)]);
    let wanted = verdicts(&folder, "runs.jsonl");
    assert_eq!(wanted.iter().filter(|(_, verdict)| verdict == "fail").count(), 3);
    for name in ["text.parquet", "columns.parquet", "columns.arrow", "observations.parquet"] {
        folder.write(name, &file(name));
        assert_eq!(verdicts(&folder, name), wanted, "{name}");
    }
}

#[test]
fn a_folder_of_partitions_is_read_and_its_names_are_meta() {
    let folder = Folder::new(&[("rules.assert", "run.meta.day == \"1\"\n")]);
    folder.write("runs/day=1/part.parquet", &file("text.parquet"));
    folder.write("runs/day=2/part.parquet", &file("columns.parquet"));
    let ran = folder.aver("check rules.assert runs --format csv");
    let of = |day: &str, verdict: &str| {
        ran.out.lines().filter(|line| line.contains(day) && line.contains(&format!(",{verdict},"))).count()
    };
    assert_eq!((of("day=1", "pass"), of("day=2", "fail")), (6, 6), "{}{}", ran.out, ran.err);
}

#[test]
fn the_example_passes_and_its_days_are_told_apart() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/parquet");
    let folder = Folder::new(&[]);
    let ran = folder.aver(&format!("check {example}/refunds.assert {example}/runs"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("over all 12 runs"), "{}", ran.out);
}

#[test]
fn a_report_is_a_whole_file_and_is_not_printed() {
    let runs = "{\"calls\":[{\"tool\":\"refund\",\"args\":{\"id\":1}}]}\n{broken\n";
    let folder = Folder::new(&[("rules.assert", RULES), ("runs.jsonl", runs)]);
    folder.aver("check rules.assert runs.jsonl --format parquet").refused(&["cannot be printed", "--report parquet="]);
    folder.write("broken.assert", b"nver x\n");
    let commands = [
        ("lint rules.assert", 0),
        ("test rules.assert --allow empty", 0),
        ("check broken.assert runs.jsonl", 3),
        ("check rules.assert runs.jsonl", 4),
    ];
    for (command, code) in commands {
        folder.write("verdicts.parquet", b"older");
        let ran = folder.aver(&format!("{command} --report parquet=verdicts.parquet"));
        assert_eq!(ran.code, code, "{command}: {ran:?}");
        let bytes = std::fs::read(folder.path().join("verdicts.parquet")).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{command}");
    }
    // Reading the report as a trace reaches the first row. Its column `run` has names, which are not JSON.
    let ran = folder.aver("check rules.assert verdicts.parquet");
    assert!(format!("{}{}", ran.out, ran.err).contains("found `runs.jsonl`"), "{ran:?}");
}

#[test]
fn a_damaged_file_fails_the_check() {
    let mut bytes = file("columns.parquet");
    let folder = Folder::new(&[("rules.assert", RULES)]);
    folder.write("cut.parquet", &bytes[..bytes.len() / 2]);
    // Inside the first pages, after the magic bytes.
    bytes[40..80].fill(0xFF);
    folder.write("flipped.parquet", &bytes);
    for name in ["cut.parquet", "flipped.parquet"] {
        let ran = folder.aver(&format!("check rules.assert {name}"));
        assert_eq!(ran.code, 4, "{name}: {}{}", ran.out, ran.err);
        assert!(format!("{}{}", ran.out, ran.err).contains("the file is damaged"), "{}{}", ran.out, ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
}

#[test]
fn mutated_files_are_read_or_refused() {
    mutated_inputs::each(400, "columns");
}

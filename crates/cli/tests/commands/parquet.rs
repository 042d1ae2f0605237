//! Parquet and Arrow files without the feature `parquet`: they are refused with a hint. `tests/parquet.rs` tests builds with the feature.

use crate::folder::Folder;

const RULES: &str = "before approve(id: $id) -> refund(id: $id)\ncount refund <= 1\n";

fn file(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/columns");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

#[test]
fn files_with_columns_are_told_where_they_are_not_read() {
    let folder = Folder::new(&[("rules.assert", RULES)]);
    folder.write("runs.parquet", &file("text.parquet"));
    let ran = folder.aver("check rules.assert runs.parquet");
    assert_eq!(ran.code, 4, "{}", ran.out);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("this build does not read") && said.contains("--features parquet"), "{said}");
    // Columnar files in a folder are noted; the other traces are read.
    folder.write("day/runs.parquet", &file("text.parquet"));
    folder.write("day/run.json", b"{\"calls\":[]}");
    let ran = folder.aver("check rules.assert day");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("`day` are not read: 1 (") && ran.err.contains("--features parquet"), "{}", ran.err);
}

#[test]
fn a_report_with_columns_is_refused_where_it_is_not_written() {
    let folder = Folder::new(&[("rules.assert", RULES), ("run.json", "{\"calls\":[]}")]);
    let ran = folder.aver("check rules.assert run.json --report parquet=verdicts.parquet");
    ran.refused(&["this build does not write Parquet", "--features parquet"]);
    assert!(!folder.path().join("verdicts.parquet").exists());
}

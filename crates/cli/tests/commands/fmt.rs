//! `aver fmt` as a user meets it.

use crate::folder::Folder;

const UGLY: &str = "never  admin_*;never drop_table # both\n";
const NEAT: &str = "never admin_*\nnever drop_table  # both\n";

#[test]
fn files_are_written_and_named_and_the_rest_is_counted() {
    let folder = Folder::new(&[("rules/ugly.assert", UGLY), ("rules/neat.assert", NEAT), ("rules/notes.txt", UGLY)]);
    let ran = folder.aver("fmt");
    assert_eq!((ran.code, ran.out.as_str()), (0, "formatted rules/ugly.assert\n"), "{ran:?}");
    assert_eq!(ran.err, "1 file formatted, 1 unchanged\n");
    assert_eq!((folder.read("rules/ugly.assert").as_str(), folder.read("rules/notes.txt").as_str()), (NEAT, UGLY));
    let again = folder.aver("fmt rules");
    assert_eq!((again.code, again.out.as_str(), again.err.as_str()), (0, "", "2 files unchanged\n"));
}

#[test]
fn check_and_diff_write_nothing_and_fail_where_something_would_change() {
    let folder = Folder::new(&[("ugly.assert", UGLY), ("neat.assert", NEAT)]);
    let check = folder.aver("fmt --check .");
    assert_eq!((check.code, check.out.as_str()), (1, "ugly.assert\n"), "{check:?}");
    assert_eq!(check.err, "1 file would change, 1 unchanged\n");
    let diff = folder.aver("fmt --diff ugly.assert neat.assert");
    assert_eq!(diff.code, 1);
    let unified = "--- ugly.assert\n+++ ugly.assert\n@@ -1 +1,2 @@\n-never  admin_*;never drop_table # both\n+never admin_*\n+never drop_table  # both\n";
    assert_eq!(diff.out, unified);
    assert_eq!(folder.read("ugly.assert"), UGLY);
    assert_eq!(folder.aver("fmt --check neat.assert").code, 0);
}

#[test]
fn a_file_with_mistakes_is_reported_and_left_alone_and_the_others_go_on() {
    let broken = "never  admin_*\nrequire (\n";
    let folder = Folder::new(&[("a.assert", broken), ("b.assert", UGLY)]);
    let ran = folder.aver("fmt");
    assert_eq!((ran.code, ran.out.as_str()), (3, "formatted b.assert\n"), "{ran:?}");
    assert!(ran.err.contains("unclosed") && ran.err.contains("a.assert:2"), "{}", ran.err);
    assert!(ran.err.ends_with("1 file formatted, 1 with mistakes left alone\n"), "{}", ran.err);
    assert_eq!((folder.read("a.assert").as_str(), folder.read("b.assert").as_str()), (broken, NEAT));
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = Folder::new(&[("ugly.assert", UGLY)]);
    let piped = folder.aver_with("fmt -", UGLY);
    assert_eq!((piped.code, piped.out.as_str(), piped.err.as_str()), (0, NEAT, ""));
    assert_eq!(folder.aver_with("fmt - --check", UGLY).code, 1);
    assert_eq!(folder.aver_with("fmt - --check", NEAT).code, 0);
    let shown = folder.aver("fmt --stdout ugly.assert");
    assert_eq!((shown.code, shown.out.as_str()), (0, NEAT));
    assert_eq!(folder.read("ugly.assert"), UGLY);
    let broken = folder.aver_with("fmt -", "require (");
    assert_eq!((broken.code, broken.out.as_str()), (3, ""), "half a file is never printed");
}

#[test]
fn what_cannot_be_formatted_is_said() {
    let folder = Folder::new(&[("a.assert", UGLY), ("b.assert", UGLY)]);
    folder.aver("fmt nothing.assert").refused(&["nothing.assert"]);
    folder.aver("fmt - a.assert").refused(&["standard input is formatted alone"]);
    folder.aver("fmt --stdout a.assert b.assert").refused(&["`--stdout` prints one file"]);
    let empty = Folder::new(&[("readme.md", "")]);
    empty.aver("fmt").refused(&["there is no `.assert` file"]);
    folder.write("latin.assert", b"never caf\xe9\n");
    let latin = folder.aver("fmt latin.assert");
    assert_eq!(latin.code, 3);
    assert!(latin.err.contains("UTF-8"), "{}", latin.err);
    folder.write("empty.assert", b"");
    assert_eq!(folder.aver("fmt --check empty.assert").code, 0);
}

#[test]
fn line_ends_stay_those_of_the_first_line_and_a_byte_order_mark_goes() {
    let folder = Folder::new(&[]);
    folder.write("a.assert", b"\xef\xbb\xbfnever  a # c\r\noutput == \"\"\"\r\n      x\r\n    y\"\"\"\r\nnever b");
    assert_eq!(folder.aver("fmt").code, 0);
    let expected = "never a  # c\r\noutput == \"\"\"\r\n    x\r\n  y\"\"\"\r\nnever b\r\n";
    assert_eq!(folder.read("a.assert"), expected);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay_and_no_draft_is_left() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new(&[("real/rules.assert", UGLY)]);
    let real = folder.path().join("real/rules.assert");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real/rules.assert", folder.path().join("link.assert")).unwrap();
    assert_eq!(folder.aver("fmt link.assert").code, 0);
    assert_eq!(folder.read("real/rules.assert"), NEAT);
    assert!(folder.path().join("link.assert").symlink_metadata().unwrap().file_type().is_symlink());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(folder.path().join("real")).unwrap().count(), 1);
}

#[test]
fn a_file_of_another_system_is_named_and_left_alone() {
    let manifest = "sop: \"1.0\"\nname: x\nassertions:\n  post:\n    - check: file_exists\n      path: a.md\n      message: there\n";
    let suite = "suite: s\ntests:\n  - id: a\n    metric: tool_blocklist\n    blocklist: [drop]\n";
    let folder = Folder::new(&[
        ("skill.yaml", manifest),
        ("eval.yml", suite),
        ("a.yaml", "a: 1\n"),
        ("r.assert", "never   a\n"),
    ]);
    folder
        .aver("fmt r.assert eval.yml")
        .refused(&["`eval.yml` is a file of Assay", "`aver import eval.yml > rules.assert`"]);
    assert_eq!(folder.read("r.assert"), "never   a\n");
    folder.aver("fmt --check skill.yaml").refused(&["`skill.yaml` is a file of STOP", "aver import skill.yaml"]);
    folder.aver("fmt a.yaml").refused(&["`a.yaml` is YAML without rules", "name a `.assert` file"]);
    assert_eq!(folder.read("eval.yml"), suite);
}

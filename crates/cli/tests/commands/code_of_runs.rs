//! Values from a run are never executed as code by the commands of rules.

use crate::folder::Folder;

#[test]
fn a_value_of_a_run_becomes_no_code() {
    for command in [
        "make --eval=${output.a}",
        "make --eval ${output.a}",
        "make -E ${output.a}",
        "make SHELL=${output.a}",
        "git -c ${output.a} status",
        "git -c core.pager=${output.a} log",
        "git --config-env=${output.a} log",
        "/lib64/ld-linux-x86-64.so.2 ${output.a}",
        "ld.so --preload x.so ${output.a}",
        "deno eval ${output.a}",
        "node -e ${output.a}",
        "node -p ${output.a}",
        "bun -e ${output.a}",
        "php -r ${output.a}",
        "lua -e ${output.a}",
        "osascript -e ${output.a}",
        "R -e ${output.a}",
        "julia -e ${output.a}",
        "ghc -e ${output.a}",
        "scala -e ${output.a}",
        "clojure -e ${output.a}",
        "erl -noshell -eval ${output.a}",
        "elixir -e ${output.a}",
        "sqlite3 -cmd ${output.a} x.db",
        "psql base -Atc ${output.a}",
        "mysql -e ${output.a}",
    ] {
        let folder = Folder::new(&[
            ("r.assert", &format!("run \"{command}\" exits 0\n")),
            ("t.json", r#"{"output":{"a":"x"}}"#),
        ]);
        let ran = folder.aver("check r.assert t.json --allow-run");
        assert_eq!(ran.code, 3, "{command}: {}{}", ran.out, ran.err);
    }
}

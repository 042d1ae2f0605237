//! A binding has a value inside of its statement alone: what stands beside the statement sees the bindings of blocks around it.

use averment::Rules;

/// Statements that bind `$i`.
const STATEMENTS: &[&str] = &[
    "never a(id: $i)",
    "never a(result.id: $i)",
    "never a(id == $i), b",
    "require a(id: $i)",
    "count a(id: $i) <= 3",
    "before a(id: $i) -> b(id: $i)",
    "after a(id: $i) -> b(id: $i)",
    "never b(id: $i) after a(id: $i)",
    "sequence a(id: $i) -> b(id: $i)",
    "together a(id: $i), b(id: $i)",
    "not both a(id: $i), b(id: $i)",
    "if a(id: $i) then b(id: $i)",
    "flow a(id: $i) -> b(id: $i)",
    "each a(id: $i): args.n > 0",
    "not never a(id: $i)",
    "never any by $i",
    "never (a where args.id == $i)",
    "sum(args.n of a(id: $i)) <= 3",
    "any of { never a(id: $i) }",
];

/// Places beside the statement `@` that look at `$i`.
const BESIDE: &[&str] = &[
    "@ when $i == \"T-1\"",
    "@ when $i != \"T-1\"",
    "@ when output.id == $i",
    "@ when length(calls where args.id == $i) > 0",
    "@\n  when $i == \"T-1\"",
    "@ message \"of ${$i}\"",
    "any of {\n  @ when $i == \"T-1\"\n  require c\n}",
    "all of {\n  @\n  never c(id != $i)\n}",
    "any of {\n  never c(id != $i)\n  @\n}",
    "when $i == \"T-1\" { @ }",
    "any of {\n  when $i == \"T-1\" { @ }\n}",
    "rule r {\n  when $i == \"T-1\"\n  @\n}",
    "rule r {\n  @ when $i == \"T-1\"\n}",
    "@\nnever c(id != $i)",
    "in at least 50% of runs: @ when $i == \"T-1\"",
];

fn compile(rules: &str) -> Result<(), String> {
    Rules::from_text("rules.assert", rules).map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_binding_beside_its_statement_is_an_error() {
    let mut wrong = Vec::new();
    for statement in STATEMENTS {
        compile(statement).unwrap_or_else(|said| panic!("{statement}\n{said}"));
        for beside in BESIDE {
            let rules = beside.replace('@', statement);
            match compile(&rules) {
                Ok(()) => wrong.push(format!("compiles: {rules}")),
                Err(said) if !said.contains("`$i`") => wrong.push(format!("{rules}\n{said}")),
                Err(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
}

#[test]
fn bindings_of_blocks_are_seen_beside_the_statements_in_them() {
    for rules in [
        "each a(id: $i) {\n  never b(id: $i) when $i == \"T-1\"\n}",
        "after a(id: $i) {\n  any of {\n    never b(id: $i) when $i == \"T-1\"\n    require c(id: $i)\n  }\n}",
        "each a(id: $i) {\n  when $i == \"T-1\" { never b(id: $i) }\n}",
        "all of {\n  never a(id: $i) after b(id: $i)\n  never c(id: $i) after d(id: $i)\n}",
        "each a(id: $i) {\n  require b(id: $i) message \"of ${$i}\"\n}",
    ] {
        compile(rules).unwrap_or_else(|said| panic!("{rules}\n{said}"));
    }
}

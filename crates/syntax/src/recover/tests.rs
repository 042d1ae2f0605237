//! Both ways of parsing agree: for a file without mistakes, parsing statement by statement returns the tree of the grammar.

use super::recover_file;
use crate::{grammar, parse, token};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap};

fn agree(name: &str, text: &str) {
    let limits = Limits::default();
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new(name, None, text));
    let (mut whole, _, diagnostics) = parse(&map, file, &limits);
    assert!(diagnostics.0.is_empty(), "{name}: {diagnostics:?}");
    let scan = token::scan_tokens(text, limits.rule_depth, limits.rule_tokens);
    let segments = grammar::with_stack(scan.depth, || recover_file(FileId(0), text, scan, &limits));
    assert!(segments.diagnostics.0.is_empty(), "{name}: {:?}", segments.diagnostics);
    for item in &mut whole.items {
        forget_docs(item);
    }
    assert_eq!(segments.items.len(), whole.items.len(), "{name}");
    for (segment, item) in segments.items.iter().zip(&whole.items) {
        assert!(segment == item, "{name}:\n{segment:#?}\n{item:#?}");
    }
}

/// Removes docs, which are attached only to the finished tree.
fn forget_docs(item: &mut crate::ast::SyntaxItem) {
    item.doc = None;
    if let Some(body) = item.kind.body_mut() {
        body.iter_mut().for_each(forget_docs);
    }
}

#[test]
fn statements_read_alone_give_the_tree_of_the_whole_file() {
    let folder = averment_fixtures::project("tests/conformance/language/good");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "assert") {
            agree(&path.to_string_lossy(), &std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_way_to_go_on_in_the_next_line_is_read_alike() {
    agree(
        "lines",
        "rule r when a == { b: 1 } {\n  require x ;never y\n}\nrequire search |\n  fetch\nnever a,\n  b weight 2\n  must\n\n  tags a,\n    b-c\n\
         x == if a\n  then b\n  else c\ntest \"t\" expect fail r,\n  s { calls: []\n output: { a: 1,\n b: 2 } }\nnever admin_*\noutput.a in 50..\n\
         any of { require a; when b { never c } }\nweight 2\nwhen c { require d }\nmust\nsuite \"s\" {\n  runner x {\n    timeout 5s\n    env { A: \"b\" }\n  }\n}\n\
         each a { id exists\n  id starts with \"x\"\n  tags contains \"y\" }\nid x\nbefore (a where b == { c: 1 }) -> d\n\
         \"\"\"\n  text { ( [ # no comment\n\"\"\" == x\na / b == c / d\nx matches /[/\"{]/\ny == \"${ { a: \"}\" }[\"a\"] } {\"\nz == 'it is {'\n\
         env A is set\nmust\ntool b is available\nweight 2\nmodel starts with \"x\"\nmust\nrule s \"t\"\nweight 2 {\nrequire x\n}\nmust\n",
    );
}

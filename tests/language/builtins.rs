//! The functions as users meet them: their reference page, their examples, the modules of the standard set.

mod examples;
mod labelled;
mod packs;
mod templates;

use averment_builtins::table::{BUILTINS, BuiltinFamily};
use averment_builtins::{reference, stdlib};

/// Compares a page with what it is made from.
fn page_is(name: &str, page: &str) {
    averment_fixtures::compare_generated(&averment_fixtures::project("docs/reference").join(name), page);
}

#[test]
fn the_reference_page_is_made_from_the_table() {
    page_is("functions.md", &reference::reference_page());
}

#[test]
fn the_page_of_the_language_lists_the_functions_of_the_table() {
    const HEAD: &str = "| family | functions |\n|---|---|\n";
    let path = averment_fixtures::root().join("docs/reference/language.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (before, rest) = page.split_once(HEAD).expect("a table of functions");
    let (_, after) = rest.split_once("\n\n").map_or(("", rest), |(table, after)| (table, after));
    let mut rows: Vec<(BuiltinFamily, Vec<String>)> = Vec::new();
    for builtin in BUILTINS {
        if rows.last().is_none_or(|(family, _)| *family != builtin.family) {
            rows.push((builtin.family, Vec::new()));
        }
        rows.last_mut().expect("a row").1.push(format!("`{}`", builtin.name));
    }
    let row = |(family, names): &(BuiltinFamily, Vec<String>)| {
        format!("| {} | {} |\n", format!("{family:?}").to_lowercase(), names.join(", "))
    };
    page_is("language.md", &format!("{before}{HEAD}{}\n{after}", rows.iter().map(row).collect::<String>()));
}

#[test]
fn the_page_of_the_standard_set_is_made_from_its_modules() {
    let page = stdlib::modules_page();
    page_is("stdlib.md", &page);
    for module in stdlib::MODULES {
        for definition in module.text.lines().filter_map(|line| line.strip_prefix("def ")) {
            let name = definition.trim_start_matches("step ").split(['(', ' ']).next().unwrap();
            assert!(page.contains(&name.to_string()), "`{name}` of std.{} has no doc comment", module.name);
            assert!(
                module
                    .reference_page()
                    .contains(&format!("### `{}", definition.split(['(', '=']).next().unwrap().trim()))
            );
        }
    }
}

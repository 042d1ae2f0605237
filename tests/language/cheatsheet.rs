//! The page that fits in a head: everything on it compiles, and it is short enough.

use averment_fixtures::{Rules, project};

fn page() -> String {
    std::fs::read_to_string(project("docs/cheatsheet.md")).unwrap()
}

/// What is wrong with some rules; nothing where they compile.
fn complaint(text: &str) -> Option<String> {
    Rules::from_text("page.assert", text).err().map(|error| format!("`{text}`: {error}"))
}

/// The code blocks with a word behind their fence.
fn blocks<'p>(page: &'p str, word: &str) -> Vec<&'p str> {
    let fence = format!("```{word}\n");
    page.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

/// A section by its heading.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let start = page.find(heading).unwrap_or_else(|| panic!("no {heading}"));
    let rest = &page[start + heading.len()..];
    rest.split("\n## ").next().unwrap()
}

fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn it_fits_in_a_head() {
    let page = page();
    // Code has fewer letters in a token than prose has.
    let tokens = page.chars().count() as f64 / 3.3;
    assert!(tokens <= 1500.0, "{tokens} tokens");
}

#[test]
fn every_recipe_compiles_and_there_are_fifteen() {
    let page = page();
    let section = section(&page, "## Recipes");
    let recipes: Vec<&str> = blocks(section, "assert").into_iter().flat_map(str::lines).collect();
    let wrong: Vec<String> = recipes.iter().filter_map(|line| complaint(line)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(recipes.len() >= 15, "{} recipes", recipes.len());
}

/// A form with something in the place of its placeholders.
fn filled(form: &str) -> String {
    let form = form.split('#').next().unwrap().trim();
    let form = form.replace("COND", "args.x == 1").replace('…', "never z");
    if form.starts_with("when") { form.replace("args.x", "output.x") } else { form }
}

#[test]
fn every_form_of_a_statement_compiles() {
    let page = page();
    let lines = blocks(&page, "assert-forms").into_iter().flat_map(str::lines);
    let forms: Vec<String> =
        lines.flat_map(|line| line.split("  ")).map(filled).filter(|form| !form.is_empty()).collect();
    assert!(forms.len() > 30, "{forms:?}");
    let catalogue = "tool A { type: \"object\" }\ntool B { type: \"object\" }\ntool C { type: \"object\" }\ntool z { type: \"object\" }\n";
    let wrong: Vec<String> = forms.iter().filter_map(|form| complaint(&format!("{catalogue}{form}"))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_step_and_condition_compiles() {
    let page = page();
    let mut wrong = Vec::new();
    for step in spans(section(&page, "## Steps")) {
        let placeholder = step.contains("VALUE") || step.starts_with('$') || step.starts_with("path:");
        if !placeholder {
            // A list of steps is forbidden; one step is required.
            let statement = if step.contains("\", \"") { "never" } else { "require" };
            wrong.extend(complaint(&format!("{statement} {step}")));
        }
    }
    let conditions = section(&page, "## Conditions");
    for code in spans(conditions).filter(|code| code.contains(" == ") || code.starts_with("sum(")) {
        if !code.starts_with("==") {
            wrong.extend(complaint(code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_stands_on_the_right_compiles_and_what_stands_on_the_left_does_not() {
    let page = page();
    let rows = section(&page, "## Not this").lines().filter(|line| line.starts_with("| `"));
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [not, but] = cells.as_slice() else { panic!("{row}") };
        count += spans(not).count();
        for code in spans(but) {
            // Values stand in a condition.
            let declared = "let x = output.x\nlet a = output.a == 1\nlet b = output.b == 1\n";
            let text = match code {
                "length(x)" => "length(output.x) > 1".to_owned(),
                "null" | "30s" | "50000" | "1_000" => format!("output.x == {code}"),
                _ if code.starts_with(['a', 'x']) => format!("{declared}{code}"),
                _ => code.to_owned(),
            };
            wrong.extend(complaint(&text));
        }
        // `before refund, approve` and the like are refused; a number with a unit of its own is one.
        let refused = spans(not).filter(|code| complaint(&format!("{code}\n")).is_some()).count();
        if refused == 0 {
            wrong.push(format!("{row}: nothing on the left is refused"));
        }
    }
    assert!(count >= 18, "{count} mistakes");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_link_of_the_page_for_models_leads_somewhere() {
    let page = std::fs::read_to_string(project("llms.txt")).unwrap();
    let links: Vec<&str> = page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let lost: Vec<&&str> = links.iter().filter(|link| !project(link).exists()).collect();
    assert!(links.len() >= 10 && lost.is_empty(), "{lost:?}");
}

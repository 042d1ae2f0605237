//! Names of rule files, and names that are probably misspelled ones.

use averment_base::diagnostic::render::one_line;
use averment_base::diagnostic::suggest::suggest_name;
use std::path::Path;

/// True if a file has this extension, given without the dot.
pub fn has_ending(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|own| own == ending)
}

/// Extensions that are close to `.assert` but have their own meaning: compiled rules, and asset files of game engines.
const NO_SLIPS: [&str; 3] = ["assertc", "asset", "assets"];

/// True for names such as `refund.asert`, `refund.ASSERT` and `refund.assert.txt`, whose rules would silently not be checked.
pub fn is_misnamed_rule_file(file: &Path) -> bool {
    let ending = file.extension().unwrap_or_default().to_string_lossy();
    let lower = ending.to_lowercase();
    let is_near = lower.len() > 4 && suggest_name(&lower, ["assert"]).is_some() && !NO_SLIPS.contains(&lower.as_str());
    ending != "assert" && is_near
        || ending == "txt" && file.file_stem().is_some_and(|stem| has_ending(stem.as_ref(), "assert"))
}

/// Returns the warning about a misnamed rule file.
pub fn misnamed_warning(file: &Path) -> String {
    let file = file.display().to_string();
    format!("warning: `{}` is skipped: rules in a folder are files that end in `.assert`\n", one_line(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_nearly_named_like_one_of_rules_is_told() {
        let is_misnamed = |name: &&str| is_misnamed_rule_file(Path::new(name));
        let slips = ["a.asert", "a.assrt", "b/a.asserts", "a.ASSERT", "a.Assert", "a.assert.txt", "a.assertion"];
        assert_eq!(slips.iter().copied().filter(is_misnamed).collect::<Vec<_>>(), slips);
        let others =
            ["a.assert", "a.assertc", "a.asset", "a.assets", "a.ass", "a.md", "assert", "a.txt", "a.assert.bak"];
        assert_eq!(others.iter().copied().find(is_misnamed), None);
    }
}

# The daily commands: `just` lists them. Each is one line that works without just, too.

_list:
    @just --list --unsorted

# Build the command, and run it: just aver check rules/ runs/
aver *arguments:
    cargo run -q -p averment-cli -- {{ arguments }}

# Test one crate, or one file of tests: just test averment-ide --test ide
test crate *arguments:
    cargo test -p {{ crate }} {{ arguments }}

# Format, and lint one crate
tidy crate:
    cargo fmt
    cargo clippy -p {{ crate }} --all-targets -- -D warnings

# Write generated pages and tables again
generate:
    UPDATE_GENERATED=1 cargo test

# Look at changed snapshots, one by one
review:
    cargo insta review

# Everything that has to pass before a change lands
ci:
    .ci/run

# Try what installs the command: archives, install.sh, the action, npm
packages:
    cargo build -p averment-cli
    tests/packages/run

# Make the archives of a release that this machine can build, in target/dist
dist:
    tools/dist

# Pack the extension of VS Code, without a binary, or with those of a folder of archives: just vsix target/dist
vsix *release:
    editors/vscode/pack target/vsix {{ release }}

# Compare the tree-sitter grammar with that of the language
tree-sitter:
    editors/tree-sitter-assert/test

# Build the site of the pages, in target/site, and look for dead links (needs mdbook)
site:
    tools/site

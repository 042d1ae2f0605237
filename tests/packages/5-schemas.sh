# The schema of averment.toml knows the settings and words that the command knows, and every schema is listed for the schema store.
if command -v node >/dev/null; then
  mkdir "$work/settings"
  cd "$work/settings"
  echo 'never refund' >a.assert
  # The names in backticks of the help for a setting or word that is unknown.
  known() {
    printf '%b\n' "$1" >averment.toml
    output=$("$aver" lint a.assert 2>&1 || true)
    sed -n '/known are/,/^$/p' <<<"$output" | grep -o '`[^`]*`' | tr -d '`' | LC_ALL=C sort
  }
  schema() { node -e 'const s = JSON.parse(require("fs").readFileSync(process.argv[1])); for (const k of eval(process.argv[2])) console.log(k)' "$root/docs/schema/project.schema.json" "$1" | LC_ALL=C sort; }
  while IFS='|' read -r text path; do
    [ -n "$(known "$text")" ] && [ "$(known "$text")" = "$(schema "$path")" ] || fail "the schema of averment.toml differs for: $text"$'\n'"$(known "$text")"
    tried=$((tried + 1))
  done <<'TABLE'
qqqqqqq = 1|Object.keys(s.properties)
[permissions]\nqqqqqqq = 1|Object.keys(s.properties.permissions.properties)
[test]\nqqqqqqq = 1|Object.keys(s.properties.test.properties)
[report]\nqqqqqqq = 1|Object.keys(s.properties.report.properties)
deny = "qqqqqqq"|s.$defs.deniedWord.enum
allow = "qqqqqqq"|s.$defs.allowedWord.enum
TABLE
  cd "$root"
  listed=$(node -p 'require(process.argv[1]).map((one) => one.url.split("/").pop()).sort().join(" ")' "$root/packages/schemastore.json")
  [ "$listed" = "$(cd docs/schema && LC_ALL=C ls ./*.json | sed 's|^./||' | LC_ALL=C sort | paste -sd ' ')" ] || fail "packages/schemastore.json lists other schemas: $listed"
  tried=$((tried + 1))
else skip node "the schema of averment.toml is"; fi

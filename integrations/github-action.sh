#!/usr/bin/env bash
# What the action of GitHub runs: `aver check` with annotations on standard output, and reports in a folder. The arguments come as lines of
# environment variables, and each line is one argument, whatever stands in it.
set -euo pipefail

# The lines of a text as arguments, without empty ones.
lines() {
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    line="${line%$'\r'}"
    if [ -n "${line//[[:space:]]/}" ]; then printf '%s\0' "$line"; fi
  done <<<"$1"
}

rules=() traces=() more=()
while IFS= read -r -d '' one; do rules+=("-r" "$one"); done < <(lines "${AVERMENT_RULES:-}")
while IFS= read -r -d '' one; do traces+=("$one"); done < <(lines "${AVERMENT_TRACES:-}")
while IFS= read -r -d '' one; do more+=("$one"); done < <(lines "${AVERMENT_ARGUMENTS:-}")

# The first rule file stands in front of the traces, the others behind `-r`.
first=()
if [ "${#rules[@]}" -gt 0 ]; then first=("${rules[1]}"); rules=("${rules[@]:2}"); fi
if [ "${#first[@]}" -eq 0 ] && [ "${#traces[@]}" -gt 1 ]; then
  echo "::error::several traces need rules: give the input \`rules\`"
  exit 2
fi

folder="${AVERMENT_REPORTS:-averment-reports}"
mkdir -p "$folder"
# What an earlier run left here, or what somebody linked here, is no summary of this one.
rm -f -- "$folder/averment.md"
code=0
aver check --format github \
  --report "html=$folder/averment.html" --report "junit=$folder/averment.junit.xml" \
  --report "sarif=$folder/averment.sarif" --report "markdown=$folder/averment.md" \
  "${rules[@]}" "${more[@]}" -- "${first[@]}" "${traces[@]}" || code=$?

if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$folder/averment.md" ] && [ ! -L "$folder/averment.md" ]; then cat "$folder/averment.md" >>"$GITHUB_STEP_SUMMARY"; fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "exit-code=$code" >>"$GITHUB_OUTPUT"; fi
exit "$code"

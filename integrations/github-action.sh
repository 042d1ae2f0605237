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

# True if the path is a link, or leads through one below the working directory: then a file that the check wrote would be another's.
linked() {
  local path="${1%/}"
  while [ -n "$path" ] && [ "$path" != . ] && [ "$path" != / ] && [ "$path" != "$PWD" ]; do
    if [ -L "$path" ]; then return 0; fi
    case "$path" in "$PWD"/* | [!/]*) path="$(dirname -- "$path")" ;; *) return 1 ;; esac
  done
  return 1
}

folder="${AVERMENT_REPORTS:-averment-reports}"
if linked "$folder"; then
  echo "::error::the folder of the reports is a link: give the input \`reports\` another one"
  exit 2
fi
files=(averment.html averment.junit.xml averment.sarif averment.md)
mkdir -p -- "$folder" || exit 2
# What an earlier run, or the repository, left there is not of this run.
(cd -- "$folder" && rm -rf -- "${files[@]}") || exit 2

# Nobody else knows this folder, so what stands in it was written by this run.
own="$(mktemp -d)"
trap 'rm -rf -- "$own"' EXIT
code=0
aver check --format github \
  --report "html=$own/averment.html" --report "junit=$own/averment.junit.xml" \
  --report "sarif=$own/averment.sarif" --report "markdown=$own/averment.md" \
  "${rules[@]}" "${more[@]}" -- "${first[@]}" "${traces[@]}" || code=$?

if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$own/averment.md" ]; then cat "$own/averment.md" >>"$GITHUB_STEP_SUMMARY"; fi
if linked "$folder"; then
  echo "::error::the folder of the reports became a link during the check: the reports are not kept"
else
  for file in "${files[@]}"; do
    rm -rf -- "${folder:?}/$file"
    if [ -f "$own/$file" ]; then mv -- "$own/$file" "$folder/$file"; fi
  done
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "exit-code=$code" >>"$GITHUB_OUTPUT"; fi
exit "$code"

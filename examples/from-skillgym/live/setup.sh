#!/bin/sh
# Makes a workspace ready: the first argument goes into a file.
set -e
printf '%s for %s\n' "$1" "$AVERMENT_CASE" >made.txt

# skip NAME REASON [PACKAGE]: says that a test is left out, and why, and ends the script. `left_out` goes on.
# What is said is also kept for the line at the end of `make check` (tests/skipped).
left_out() {
  echo "skipped: $1: $2${3:+, install $3}"
  [ -z "${TESTS_SKIPPED-}" ] || printf '%s\t%s\t%s\n' "$1" "$2" "${3-}" >>"$TESTS_SKIPPED"
}

skip() {
  left_out "$@"
  exit 0
}

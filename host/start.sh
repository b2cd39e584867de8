#!/bin/sh
# Starts the host with less memory than Node takes by itself; the flags are those of host/launch.js. Each variable was
# measured (docs/decisions/0063-memory-that-is-given-back.md). A C library other than glibc ignores them.

# One pool of memory for all threads, and freed blocks from 128 KiB on go back to the system.
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072

here=$(dirname "$0")
cache=$here/../node_modules/.cache/mantel
snapshot=$cache/host.snapshot
if [ -z "${NODE_OPTIONS-}" ] && [ -w "$cache" ]; then
  # Where this is and which file Node is: the snapshot of another folder or of another version cannot be used.
  MANTEL_SNAPSHOT_FOR=$(. "$here/snapshot-for.sh")
  export MANTEL_SNAPSHOT_FOR
fi

# A start with the snapshot leaves a file until the host runs. If its process has ended before, Node could not use it.
for left in "$snapshot".by-*; do
  [ -e "$left" ] || continue
  [ "${left##*-}" = $$ ] || ! kill -0 "${left##*-}" 2>/dev/null || continue
  rm -f "$snapshot" "$left"
done

made_for=
[ -f "$snapshot" ] && IFS= read -r made_for 2>/dev/null <"$snapshot.for"
if [ -n "$made_for" ] && [ "$made_for" = "${MANTEL_SNAPSHOT_FOR-}" ] &&
  printf '' 2>/dev/null >"$snapshot.by-$$"; then
  exec node --snapshot-blob "$snapshot" "$here/launch.js" "$@"
fi
# Without flags of V8: with any of them Node compiles its own modules again at each start.
exec node "$here/launch.js" "$@"

#!/bin/sh
# Starts the host with less memory than Node takes by itself; the flags are those of host/launch.js. Each variable was
# measured (docs/decisions/0063-memory-that-is-given-back.md). A C library other than glibc ignores them.

# One pool of memory for all threads, and freed blocks from 128 KiB on go back to the system.
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
# Without flags of V8: with any of them Node compiles its own modules again at each start.
exec node "$(dirname "$0")/launch.js" "$@"

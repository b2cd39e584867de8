#!/bin/sh
# Starts the host with less memory than Node takes by itself; the flags are those of host/launch.js. Each line below was
# measured (docs/decisions/0063-memory-that-is-given-back.md). A C library other than glibc ignores the variables.

# One pool of memory for all threads, and freed blocks from 128 KiB on go back to the system.
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
# The place for new objects, which V8 keeps at 16 MiB twice after a busy start.
exec node --max-semi-space-size=4 "$(dirname "$0")/launch.js" "$@"

# Prints one line that names the file of Node and this folder, or nothing. The first word is the number of the file.
node=$(command -v node) && file=$(LC_ALL=C TZ=UTC0 ls -Lil "$node" 2>/dev/null) && cd "$(dirname "$0")" || exit 0
set -f
set -- $file
printf '%s %s\n' "$*" "$(pwd -P)"

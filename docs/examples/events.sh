#!/bin/sh
# MANTEL_URL=http://127.0.0.1:8470 MANTEL_TOKEN=… sh docs/examples/events.sh device.state
# Prints the data of each event as a line of JSON. Ends if the host refuses, for example the token.
set -eu
last=$(mktemp)
trap 'rm -f "$last"' EXIT
trap 'exit 1' INT TERM
while :; do
  # The host sends a ping every 15 s; a silent connection is dead. After a gap that the host does not remember, it
  # sends `resync`: read again what you show.
  curl --silent --no-buffer --fail --speed-limit 1 --speed-time 35 --write-out 'status: %{http_code}\n' \
    --header "Authorization: Bearer $MANTEL_TOKEN" --header "Last-Event-ID: $(cat "$last")" \
    "$MANTEL_URL/api/v1/events?topics=$1" |
    while IFS= read -r line; do
      case $line in
        "id: "*) id=${line#id: } ;;
        "data: "*) echo "${line#data: }" ;;
        "") echo "${id-}" >"$last" ;;
        "status: 408" | "status: 429") ;;
        "status: 4"*) echo "refused: ${line#status: }" >&2 && exit 1 ;;
      esac
    done
  sleep 2
done

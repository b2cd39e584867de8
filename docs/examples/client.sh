#!/bin/sh
# MANTEL_URL=http://127.0.0.1:8470 MANTEL_TOKEN=… sh docs/examples/client.sh demo:light:1
set -eu
curl --silent --show-error --fail-with-body --retry 3 \
  --header "Authorization: Bearer $MANTEL_TOKEN" --json '{"on":true}' \
  "$MANTEL_URL/api/v1/smart-home/devices/$1/command"

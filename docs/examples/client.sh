#!/bin/sh
# MANTEL_URL=http://127.0.0.1:8470 MANTEL_TOKEN=… sh docs/examples/client.sh demo:light:1
set -eu
send() {
  curl --silent --show-error --write-out '\n%{http_code} %header{retry-after}' \
    --header "Authorization: Bearer $MANTEL_TOKEN" --json '{"on":true}' \
    "$MANTEL_URL/api/v1/smart-home/devices/$1/command"
}
for attempt in 1 2 3 4; do
  answer=$(send "$1")
  result=${answer##*
}
  # 409 and 429 mean that nothing was done yet, because the bridge or the host is busy.
  case $attempt,$result in
    4,*) break ;;
    *,409" "[0-9]* | *,429" "[0-9]*) sleep "${result#* }" ;;
    *) break ;;
  esac
done
echo "${answer%
*}"
case $result in 2*) ;; *) exit 1 ;; esac

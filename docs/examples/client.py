# MANTEL_URL=http://127.0.0.1:8470 MANTEL_TOKEN=… python3 docs/examples/client.py
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("MANTEL_URL", "http://127.0.0.1:8470") + "/api/v1"
TOKEN = os.environ["MANTEL_TOKEN"]


def call(method, path, body=None, retries=3):
    request = urllib.request.Request(
        URL + path,
        method=method,
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        data=None if body is None else json.dumps(body).encode(),
    )
    try:
        with urllib.request.urlopen(request, timeout=15) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        # 409 and 429 mean that nothing was done yet, because the bridge or the host is busy.
        wait = error.headers.get("Retry-After")
        if retries == 0 or wait is None or error.code not in (409, 429):
            raise
    time.sleep(int(wait))
    return call(method, path, body, retries - 1)


devices = call("GET", "/smart-home/devices")["devices"]
lamp = next(device for device in devices if device["kind"] == "light")
path = f"/smart-home/devices/{urllib.parse.quote(lamp['id'])}/command"
print(lamp["id"], call("POST", path, {"on": True})["status"])

# MANTEL_URL=http://127.0.0.1:8470 MANTEL_TOKEN=… python3 docs/examples/client.py
import json
import os
import urllib.parse
import urllib.request

URL = os.environ.get("MANTEL_URL", "http://127.0.0.1:8470") + "/api/v1"
TOKEN = os.environ["MANTEL_TOKEN"]


def call(method, path, body=None):
    request = urllib.request.Request(
        URL + path,
        method=method,
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        data=None if body is None else json.dumps(body).encode(),
    )
    with urllib.request.urlopen(request, timeout=15) as response:
        return json.load(response)


devices = call("GET", "/smart-home/devices")["devices"]
lamp = next(device for device in devices if device["kind"] == "light")
path = f"/smart-home/devices/{urllib.parse.quote(lamp['id'])}/command"
print(lamp["id"], call("POST", path, {"on": True})["status"])

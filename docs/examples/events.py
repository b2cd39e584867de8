# MANTEL_URL=http://127.0.0.1:8470 MANTEL_TOKEN=… python3 docs/examples/events.py
import http.client
import json
import os
import time
import urllib.error
import urllib.request

URL = os.environ.get("MANTEL_URL", "http://127.0.0.1:8470") + "/api/v1"
HEADERS = {"Authorization": f"Bearer {os.environ['MANTEL_TOKEN']}"}
BUSY = (408, 429)


def events(*topics):
    """Yields (topic, data), at first resync. Reconnects, and continues from the last event.

    Raises HTTPError if the host refuses.
    """
    last = None
    while True:
        resumed = {} if last is None else {"Last-Event-ID": last}
        address = f"{URL}/events?topics={','.join(topics)}"
        try:
            request = urllib.request.Request(address, headers={**HEADERS, **resumed})
            # The host sends a ping every 15 s; a silent connection is dead.
            with urllib.request.urlopen(request, timeout=35) as stream:
                if last is None:
                    yield "resync", None
                event = {}
                for line in stream:
                    name, _, value = line.decode().rstrip("\r\n").partition(": ")
                    if name:
                        event[name] = value
                    elif not value:  # An empty line ends an event; a comment has a value.
                        last = event.get("id", last)
                        if "event" in event:
                            yield event["event"], json.loads(event.get("data", "null"))
                        event = {}
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code not in BUSY:
                raise
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(2)


def read_again():
    request = urllib.request.Request(f"{URL}/smart-home/devices", headers=HEADERS)
    with urllib.request.urlopen(request, timeout=15) as answer:
        for device in json.load(answer)["devices"]:
            show(device)


def show(device):
    print(device["name"], json.dumps(device["state"]), flush=True)


for topic, data in events("device.state"):
    if topic == "resync":
        read_again()
    else:
        show(data["device"])

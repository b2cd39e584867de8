import assert from "node:assert/strict";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { Discovery } from "../../../host/discovery/discovery.ts";
import type { Asked } from "../../../host/discovery/mdns.ts";
import { signalled } from "./responder.ts";

/** Searches that last until they are aborted. */
function openDiscovery() {
  const asked: Asked[] = [];
  const until = async (search: Asked) => {
    asked.push(search);
    await new Promise((done) => search.signal.addEventListener("abort", done));
    return [];
  };
  const discovery = new Discovery({ mdns: until, ssdp: until });
  const exited = signalled();
  const search = (what: unknown, forMs?: unknown, plugin = "lamp") => ({
    plugin,
    what,
    forMs,
    exited: exited.promise,
  });
  return { discovery, asked, search, exit: exited.resolve };
}

const refused = (code: string, message: RegExp) => (error: MantelError) => {
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

test("a search lasts three seconds unless the plugin says otherwise", async () => {
  const { discovery, asked, search } = openDiscovery();

  const searches = [
    discovery.mdns(search("_HUE._tcp.local")),
    discovery.ssdp(search("ssdp:all", 100)),
  ];
  discovery.close();
  await Promise.all(searches);

  assert.deepEqual(
    asked.map(({ what, forMs }) => [what, forMs]),
    [
      ["_hue._tcp", 3_000],
      ["ssdp:all", 100],
    ],
  );
});

for (const [what, forMs, message] of [
  ["hue", 1_000, /^"hue" cannot be searched for; write a service such as _lamps\._tcp$/],
  [{}, 1_000, /^"\[object Object\]" cannot be searched for/],
  ["_hue._tcp", 10_001, /^forMs is 10001; it must be 100 to 10000 ms$/],
  ["_hue._tcp", "long", /^forMs is long;/],
  ["_hue._tcp", NaN, /^forMs is NaN;/],
] as const) {
  test(`a search for ${JSON.stringify(what)} during ${forMs} is refused`, async () => {
    const { discovery, asked, search } = openDiscovery();

    await assert.rejects(
      async () => discovery.mdns(search(what, forMs)),
      refused("invalid", message),
    );
    assert.deepEqual(asked, []);
  });
}

test("a fifth search of one plugin at a time is refused, and another plugin may search", async () => {
  const { discovery, search, exit } = openDiscovery();
  const running = [1, 2, 3, 4].map(() => discovery.ssdp(search("ssdp:all")));

  await assert.rejects(
    async () => discovery.mdns(search("_hue._tcp")),
    refused("module_busy", /^lamp already runs 4 searches/),
  );
  running.push(discovery.ssdp(search("ssdp:all", 100, "other")));
  exit(); // the searches of a process end with it
  await Promise.all(running);

  const again = discovery.ssdp(search("ssdp:all"));
  await again;
});

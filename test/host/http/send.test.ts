import assert from "node:assert/strict";
import { test } from "node:test";
import { json, serveApp } from "./serve-app.ts";

for (const count of [1, 100]) {
  test(`a list of ${count} devices with names beyond ASCII is complete and has its length in bytes`, async (t) => {
    const { devices, api } = await serveApp(t);
    const name = "Küche 🛋️";
    const lamp = { kind: "light" as const, name, capabilities: {}, state: {} };
    const lamps = Array.from({ length: count }, (_, at) => ({
      ...lamp,
      nativeId: `lamp${at || ""}`,
    }));
    await devices.publish("demo", lamps);

    const answers = [
      await api("read", "/smart-home/devices"),
      await api("read", "/smart-home/devices/demo:light:1"),
    ];

    for (const answer of answers) {
      const bytes = Buffer.from(await answer.arrayBuffer());
      assert.ok(JSON.stringify(JSON.parse(String(bytes))).includes(name), String(bytes));
      assert.equal(answer.headers.get("content-length"), String(bytes.length));
    }
  });
}

test("answers have the default headers once each, however they are sent", async (t) => {
  const { api } = await serveApp(t);
  const etag = (await api("read", "/smart-home/scenes")).headers.get("etag") ?? "";
  const answers = {
    json: await api("read", "/system"),
    head: await api("read", "/smart-home/devices", { method: "HEAD" }),
    "no change": await api("read", "/smart-home/scenes", { headers: { "if-none-match": etag } }),
    problem: await api(null, "/config"),
    created: await api("control", "/smart-home/scenes", json("POST", { name: "A", targets: {} })),
  };

  for (const [kind, { headers }] of Object.entries(answers)) {
    const once = ["x-content-type-options", "x-frame-options", "referrer-policy"];
    assert.deepEqual(
      once.map((name) => headers.get(name)),
      ["nosniff", "DENY", "no-referrer"],
      kind,
    );
    assert.match(headers.get("cache-control") ?? "", /^(no-store|private, no-cache)$/, kind);
    assert.match(headers.get("x-request-id") ?? "", /^[\da-f-]{36}$/, kind);
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin", kind);
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'[^,]*$/, kind);
  }
});

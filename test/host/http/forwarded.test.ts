import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { rawStatus, serveApp } from "./serve-app.ts";

const CLIENT = "203.0.113.9";

test("the last address that is not a proxy is the client, regardless of those before it", async (t) => {
  const { count } = await behindProxy(t);
  const spoofed = [1, 2, 3, 4].map((n) => `10.0.0.${n}, ${CLIENT}`);

  const statuses = await count([...spoofed, `${CLIENT}, 127.0.0.1`, `::ffff:${CLIENT}`]);

  assert.deepEqual(statuses, [200, 200, 429, 429, 429, 429]);
});

test("clients behind a proxy are counted separately", async (t) => {
  const { count } = await behindProxy(t);

  const statuses = await count(["10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8:0:1::1"]);

  assert.deepEqual(statuses, [200, 200, 200, 200]);
});

test("an invalid address from a proxy is ignored", async (t) => {
  const { count } = await behindProxy(t);

  const statuses = await count(["unknown", "", "127.0.0.1", "a, b", `${CLIENT}:1234`]);

  assert.deepEqual(statuses, [200, 200, 200, 200, 200], "the proxy itself is on this machine");
});

test("a host from a proxy's header is checked like any other", async (t) => {
  const { url } = await behindProxy(t);
  const ask = (host: string) =>
    rawStatus(url, "/api", { "x-forwarded-host": host, "x-forwarded-for": "10.0.0.1" });

  assert.equal(await ask("localhost"), 200);
  assert.equal(await ask("evil.example"), 421);
  assert.equal(await ask("localhost, evil.example"), 421);
});

test("the config refuses proxies that are not addresses", async (t) => {
  const { config } = await serveApp(t);

  for (const proxy of ["nginx.local", "10.0.0.0/33", "::1/129", "10.0.0.1/", "10.0.0.0/8/8", ""]) {
    const patched = config.patch({ server: { proxies: [proxy] } }, { admin: true });
    await assert.rejects(patched, { code: "invalid" }, proxy);
  }
});

async function behindProxy(t: TestContext) {
  const { url, config } = await serveApp(t);
  const rateLimit = { perSecond: 0.01, burst: 2 };
  await config.patch({ server: { proxies: ["127.0.0.0/8"], rateLimit } }, { admin: true });
  const count = async (forwardedFor: readonly string[]) => {
    const statuses: number[] = [];
    for (const each of forwardedFor) {
      statuses.push(await rawStatus(url, "/api", { "x-forwarded-for": each }));
    }
    return statuses;
  };
  return { url, count };
}

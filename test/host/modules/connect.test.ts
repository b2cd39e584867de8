import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";

const LISTENER = `
import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, Type } from "@mantel/plugin-sdk";

const CONNECT_MS = 0;
let tries = 0;

export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  async connect({ handedOver }) {
    await delay(CONNECT_MS);
    return "connected " + ++tries + (handedOver === undefined ? "" : " too late");
  },
  start({ handedOver }, connected) {
    let count = handedOver?.count ?? 0;
    return {
      services: { "broker.address": async () => ({ url: connected + " " + ++count }) },
      handOver: () => ({ count }),
    };
  },
});
`;
const listener = {
  "package.json": packageJson("listener", { provides: ["broker.address"] }),
  "index.ts": LISTENER,
};

const ask = async (services: { call(name: string, input: unknown): Promise<unknown> }) =>
  ((await services.call("broker.address", {})) as { url: string }).url;

test("new code connects while the old code answers, and starts with what it opened", async (t) => {
  const { services, edit, once } = await startModules(t, { listener });
  assert.equal(await ask(services), "connected 1 1");

  await edit("listener/index.ts", (source) => source.replace("CONNECT_MS = 0", "CONNECT_MS = 800"));
  const view = await once(
    "listener",
    ({ generation, lastReload }) => generation === 2 && lastReload !== null,
  );

  assert.equal(await ask(services), "connected 1 2");
  assert.ok((view.lastReload?.downtimeMs ?? Infinity) < 800, `${view.lastReload?.downtimeMs}`);
});

test("code that cannot connect ahead connects at its start", async (t) => {
  const { services, edit, once } = await startModules(t, { listener });
  await ask(services);

  await edit("listener/index.ts", (source) =>
    source.replace(
      'return "connected',
      'if (++tries === 1) throw new Error("busy");\nreturn "connected',
    ),
  );
  await once("listener", ({ generation }) => generation === 2);

  assert.equal(await ask(services), "connected 3 2");
});

test("code that connects and does not start leaves the old code at work", async (t) => {
  const { services, edit, once } = await startModules(t, { listener });
  await ask(services);

  await edit("listener/index.ts", (source) =>
    source.replace("let count", 'throw new Error("boom"); let count'),
  );
  await once("listener", ({ lastReload }) => lastReload?.result === "rolled_back");

  assert.equal(await ask(services), "connected 2 2");
});

test("code that is still connecting when it is to start goes on with that, and does not connect twice", async (t) => {
  const { services, edit, once } = await startModules(t, { listener });
  await ask(services);

  await edit("listener/index.ts", (source) =>
    source.replace("CONNECT_MS = 0", "CONNECT_MS = 5_500"),
  );
  await once("listener", ({ generation }) => generation === 2, 10_000);

  assert.equal(await ask(services), "connected 1 2");
});

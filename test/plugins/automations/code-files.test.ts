import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startHost } from "../../helpers/host.ts";
import { until } from "../../helpers/until.ts";

interface View {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly enabled: boolean;
  readonly error: string | null;
}

const GOOD = `import { home, type Run, when, webhook } from "mantel";

when(webhook("ring")).then(async (run: Run) => {
  await run.notify("It rang");
});
void home;
`;

test("a file in the data folder is an automation as soon as it is saved, and its errors have file and line", async (t) => {
  const host = await startHost(t, { plugins: ["plugins/automations", "plugins/demo-home"] });
  const folder = join(host.data, "automations");
  const write = (text: string) => writeFile(join(folder, "door-bell.ts"), text);
  const list = async () => {
    const { automations } = (await (await host.api("/automations")).json()) as {
      automations: View[];
    };
    return automations;
  };
  const found = (fits: (view: View) => boolean) => until(async () => (await list()).find(fits));

  await until(() => readFile(join(folder, "home.d.ts"), "utf8"), { withinMs: 20_000 });
  await write(GOOD);
  const { error: _error, ...view } = await found(({ error }) => error === null);
  assert.deepEqual(view, {
    id: "door-bell.ts",
    name: "Door bell",
    kind: "code",
    enabled: true,
    state: "idle",
    lastRun: null,
  });
  await write(GOOD.replace('"It rang"', '"It rang'));
  const broken = await found(({ error }) => error !== null);
  assert.equal(broken.state, "idle");
  assert.equal(broken.error, "door-bell.ts:4: syntax error: the string or template is not closed");
  assert.match(host.log(), /an automation cannot be loaded; its last good code continues/);

  const ran = await host.api("/automations/door-bell.ts/run", { method: "POST" });
  assert.equal(ran.status, 202);
  await until(async () => {
    const answer = await host.api("/automations/door-bell.ts/traces");
    const { traces } = (await answer.json()) as { traces: { result: string }[] };
    return traces[0]?.result === "completed";
  });
  for (const [verb, enabled] of [
    ["disable", false],
    ["enable", true],
  ] as const) {
    const answer = await host.api(`/automations/door-bell.ts/${verb}`, { method: "POST" });
    assert.equal(answer.status, 200);
    assert.equal((await list())[0]?.enabled, enabled);
  }
  const simulated = await host.api("/automations/simulate", {
    method: "POST",
    json: { id: "door-bell.ts", source: "demo" },
  });
  assert.equal(simulated.status, 200, await simulated.text());
  await write('throw new Error("at the top");');
  await found(({ error }) => error === "door-bell.ts: line 1: at the top");
  const declared = await readFile(join(folder, "home.d.ts"), "utf8");
  assert.match(declared, /"light": \{/);
  assert.match(await readFile(join(folder, "mantel.d.ts"), "utf8"), /export function when/);
  assert.match(await readFile(join(folder, "tsconfig.json"), "utf8"), /"strict": true/);
});

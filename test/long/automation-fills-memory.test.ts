import assert from "node:assert/strict";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { removeFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { until } from "../helpers/until.ts";

const filling = (body: string) => `import { webhook, when } from "mantel";
const kept: unknown[] = [];
when(webhook("fill")).then(() => {
  for (;;) kept.push(${body});
});
`;
const SET_ASIDE = /set aside until it is saved again: .* needs more than 64 MiB/;
const ENDED = /^fill\.ts: its code ended the whole process.*until it is saved again$/;
const CASES = [
  // They count for the memory of the process, and not for that of the thread.
  { what: "buffers", body: "new Uint8Array(1_000_000).fill(1)", crashes: [2], error: ENDED },
  // From Node 24 on V8 often ends the process instead of the thread (nodejs/node#47224).
  {
    what: "objects",
    body: "new Array(1000).fill(String(kept.length))",
    crashes: [0, 2],
    error: new RegExp(`${SET_ASIDE.source}|${ENDED.source}`),
  },
] as const;
const WAITING = {
  name: "Waits",
  triggers: [{ type: "webhook", name: "wait" }],
  actions: [{ type: "wait", ms: 600_000 }],
};

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly error: string | null;
}

for (const { what, body, crashes, error } of CASES) {
  test(`code that fills the memory with ${what} is set aside, and other automations go on`, (t) =>
    setsAside(t, { body, crashes, error }));
}

async function setsAside(
  t: TestContext,
  { body, crashes, error }: Pick<(typeof CASES)[number], "body" | "crashes" | "error">,
): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), "mantel-memory-"));
  onTestEnd(t, () => removeFolder(data));
  await mkdir(join(data, "automations"));
  await writeFile(join(data, "automations", "fill.ts"), filling(body));
  const host = await startHost(t, { plugins: ["plugins/automations"], data });
  const read = async <Answer>(path: string): Promise<Answer> =>
    (await (await host.api(path)).json()) as Answer;
  const list = async () => (await read<{ automations: Listed[] }>("/automations")).automations;
  const call = async (id: string) => {
    const answer = await host.api(`/automations/${id}/run`, { method: "POST" });
    assert.equal(answer.status, 202);
  };
  assert.equal((await host.api("/automations", { method: "POST", json: WAITING })).status, 201);
  await until(async () => (await list()).length === 2);
  await call("waits");

  await call("fill.ts");

  const found = await until(
    async () => {
      const automations = await list().catch(() => []); // 503 while the plugin starts again
      return automations.some((each) => each.error !== null) ? automations : undefined;
    },
    { withinMs: 60_000 },
  );
  const [filled, waits] = found.toSorted((one, other) => one.id.localeCompare(other.id));
  assert.equal(filled?.state, "failed");
  assert.match(filled?.error ?? "", error);
  assert.equal(waits?.state, "running");
  const { state } = await read<{ state: string }>("/modules/automations");
  assert.equal(state, "active");
  const crashed = host.log().match(/"msg":"the module crashed; restarting"/g)?.length ?? 0;
  assert.ok(
    crashes.some((count) => count === crashed),
    host.log(),
  );
}

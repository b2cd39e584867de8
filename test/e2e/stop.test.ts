import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");

const STUBBORN = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({
  async start(ctx: any) {
    ctx.onDispose(() => new Promise(() => undefined));
    return {};
  },
});
`;
const ENDLESS_START = STUBBORN.replace("return {};", "await new Promise(() => undefined);");

test("a stop meets its deadline despite a reload, a hanging plugin and a slow client", async (t) => {
  const plugins = await emptyFolder(t);
  for (const id of ["stubborn", "slow"]) {
    await mkdir(join(plugins, id));
    await writeFile(join(plugins, id, "index.ts"), STUBBORN);
    const mantel = { id, kinds: ["service"], server: "index.ts" };
    await writeFile(join(plugins, id, "package.json"), JSON.stringify({ mantel }));
  }
  const folders = ["stubborn", "slow"].map((id) => relative(REPOSITORY, join(plugins, id)));
  const host = await startHost(t, { plugins: folders });
  const stream = await host.api("/events");
  await writeFile(join(host.plugins, "slow/index.ts"), ENDLESS_START);
  const stateOfSlow = async () =>
    ((await (await host.api("/modules/slow")).json()) as { state: string }).state;
  await until(async () => (await stateOfSlow()) === "reloading", { withinMs: 20_000 });
  const upload = request(`${host.url}/api/v1/layout`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${await host.token("admin")}`,
      "content-type": "application/json",
      "content-length": 1_000,
    },
  });
  upload.write("{");
  const cutOff = once(upload, "error");
  await once(upload, "socket").then(([socket]) => once(socket, "connect"));

  const code = await host.stop(); // fails after ten seconds, and when a process is left

  assert.equal(code, 0);
  await stream.text(); // it ends
  await cutOff;
});

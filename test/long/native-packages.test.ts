import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ModuleView } from "../../host/api/module.ts";
import { Kernel } from "../../host/modules/process/sandbox/kernel.ts";
import { startHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

/** Its own package has the binaries of all systems, and finds its own when the code runs. */
const PACKAGE = { serialport: "13.0.0" };
const INSTALLED_WITHIN_MS = 60_000;

/** Compiled code tries to open a serial port, and gives the system's reason. */
const PLUGIN = `
import { definePlugin } from "@mantel/plugin-sdk";
import { SerialPort } from "serialport";

export default definePlugin({
  async start({ log }) {
    const error = await new Promise<Error | null>((ended) => {
      new SerialPort({ path: "/dev/no-such-port", baudRate: 9600 }, ended);
    });
    log.info("tried the port", { reason: error?.message ?? "opened" });
  },
});
`;

const manifestWith = (permissions: object) =>
  JSON.stringify({
    name: "mantel-plugin-meter",
    version: "1.0.0",
    type: "module",
    dependencies: PACKAGE,
    mantel: { id: "meter", kinds: ["service"], server: "index.ts", permissions },
  });

async function expectedLevel(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-kernel-"));
  const { reason } = await Kernel.open(folder);
  await rm(folder, { recursive: true });
  return reason === null ? "kernel" : "permission-model";
}

test("an npm package with a binary runs in a plugin's sandbox with nativeAddons, and else the error names the line", async (t) => {
  const host = await startHost(t, { plugins: [], args: ["--consent-on-save"] });
  const folder = join(host.plugins, "meter");
  const draft = join(host.data, "meter");
  await mkdir(draft);
  await writeFile(join(draft, "package.json"), manifestWith({}));
  await writeFile(join(draft, "index.ts"), PLUGIN);
  await rename(draft, folder);
  const view = async () => (await (await host.api("/modules/meter")).json()) as ModuleView;
  const settled = (holds: (module: ModuleView) => boolean) =>
    until(
      async () => {
        const module = await view();
        return holds(module) && module;
      },
      { withinMs: INSTALLED_WITHIN_MS },
    ).catch(async () => assert.fail(`${JSON.stringify(await view())}\n${host.log()}`));

  const refused = await settled(({ error }) => error?.message !== undefined);
  assert.match(
    refused.error?.message ?? "",
    /native addon .*add "nativeAddons": true to "mantel\.permissions"/,
  );

  await writeFile(join(folder, "package.json"), manifestWith({ nativeAddons: true }));
  const { confinement } = await settled(({ state }) => state === "active");
  const log = await (await host.api("/modules/meter/logs")).text();
  assert.match(log, /No such file or directory, cannot open \/dev\/no-such-port/);
  assert.equal(confinement.level, await expectedLevel());
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";
import { livingProcesses } from "../helpers/processes.ts";
import { emptyRepository } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";
import { copyWarmCache } from "../helpers/warm-cache.ts";

/** A plugin whose files have one error each, and which finds what the host gives it. */
const FAR_LAMP = {
  "package.json": JSON.stringify({
    name: "far-lamp",
    version: "1.0.0",
    mantel: {
      id: "far-lamp",
      kinds: ["bridge", "widget"],
      server: "main.ts",
      widget: "tile.ts",
      bridge: { kind: "far", commandsPerSecond: 1 },
    },
  }),
  "main.ts":
    'import { definePlugin } from "@mantel/plugin-sdk";\nimport { HOST } from "./host.ts";\nexport default definePlugin({ start: ({ log }) => log.info(process.pid, { HOST }) });\n',
  "host.ts": 'export const HOST: number = "far";\n',
  "tile.ts":
    'import { defineWidget } from "@mantel/plugin-sdk/widget";\nimport { html, render } from "lit";\nexport default defineWidget({ name: "Far", size: { default: [2, 2] }, mount(root) {\n  render(html`x`, root.parent);\n} });\n',
};

const HALL_TEST =
  'import { test } from "mantel/testing";\ntest("hall is tested", () => undefined);\n';

test("type errors, tests of automations and consent by save are shown beside a host that runs, and a signal ends all", async (t) => {
  const { folder } = await emptyRepository(t);
  await checkPluginsOnly(join(folder, "tsconfig.json"));
  await mkdir(join(folder, "data"), { mode: 0o700 });
  await copyWarmCache(join(folder, "data"), { hasPackages: true });
  const elsewhere = await emptyFolder(t);
  const args = ["--import", "tsx", "scripts/dev.ts", "--port", "0", "--data", "data"];
  args.push("--plugins", `plugins:${elsewhere}`);
  const dev = spawn(process.execPath, args, { cwd: folder, detached: true });
  t.after(() => dev.kill("SIGKILL"));
  let output = "";
  dev.stdout.on("data", (text: Buffer) => (output += text.toString()));
  dev.stderr.on("data", (text: Buffer) => (output += text.toString()));
  await until(() => output.includes("mantel ready"), { withinMs: 25_000 });

  await mkdir(join(elsewhere, "far-lamp"));
  for (const [file, text] of Object.entries(FAR_LAMP)) {
    await writeFile(join(elsewhere, "far-lamp", file), text);
  }
  await mkdir(join(folder, "plugins/lamp"));
  await writeFile(join(folder, "plugins/lamp/index.ts"), 'export const on: boolean = "yes";\n');
  await until(() => /plugins\/lamp\/index\.ts\(1,14\): error TS2322/.test(output), {
    withinMs: 60_000,
  });
  const far = /far-lamp\/(\w+\.ts)\((\d+),\d+\): error/g;
  const errors = () =>
    new Set([...output.matchAll(far)].map(([, file, line]) => `${file}:${line}`));
  await until(() => errors().size >= 3, { withinMs: 20_000 });
  assert.deepEqual([...errors()].toSorted(), ["host.ts:1", "main.ts:3", "tile.ts:4"]);
  const { mantel, ...rest } = JSON.parse(FAR_LAMP["package.json"]) as { mantel: object };
  const more = { ...rest, mantel: { ...mantel, permissions: { hosts: ["lamp.far.test"] } } };
  await writeFile(join(elsewhere, "far-lamp/package.json"), JSON.stringify(more));
  await until(() => /connect to lamp\.far\.test.*permissions granted on save/.test(output), {
    withinMs: 30_000,
  });
  const automations = join(folder, "data/automations");
  await mkdir(automations, { recursive: true });
  await writeFile(join(automations, "hall.test.ts"), HALL_TEST);
  await until(() => /hall is tested/.test(output), { withinMs: 60_000 });
  const tested = output.length;
  await writeFile(join(automations, "hall.ts"), "export {};\n");
  await until(() => output.slice(tested).includes("hall is tested"), { withinMs: 60_000 });
  dev.kill("SIGINT");
  const [code] = (await once(dev, "exit")) as [number | null];

  assert.equal(code, 0, output);
  await until(() => livingProcesses(dev.pid ?? 0).length === 0);
});

/** Leaves out the sources that the test does not change: to check them takes most of the time of a check. */
async function checkPluginsOnly(file: string): Promise<void> {
  const settings = JSON.parse(await readFile(file, "utf8")) as { include: string[] };
  assert.ok(settings.include.includes("plugins"));
  await writeFile(file, JSON.stringify({ ...settings, include: ["plugin-sdk", "plugins"] }));
}

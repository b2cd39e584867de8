import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { livingProcesses } from "../helpers/processes.ts";
import { emptyRepository } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";

test("type errors are shown beside a host that runs, and a signal ends both", async (t) => {
  const { folder } = await emptyRepository(t);
  const args = ["--import", "tsx", "scripts/dev.ts", "--port", "0", "--data", "data"];
  const dev = spawn(process.execPath, args, { cwd: folder, detached: true });
  t.after(() => dev.kill("SIGKILL"));
  let output = "";
  dev.stdout.on("data", (text: Buffer) => (output += text.toString()));
  dev.stderr.on("data", (text: Buffer) => (output += text.toString()));
  await until(() => output.includes("mantel ready"), { withinMs: 25_000 });

  await mkdir(join(folder, "plugins/lamp"));
  await writeFile(join(folder, "plugins/lamp/index.ts"), 'export const on: boolean = "yes";\n');
  await until(() => /plugins\/lamp\/index\.ts\(1,14\): error TS2322/.test(output), {
    withinMs: 25_000,
  });
  dev.kill("SIGINT");
  const [code] = (await once(dev, "exit")) as [number | null];

  assert.equal(code, 0, output);
  await until(async () => (await livingProcesses(dev.pid ?? 0)).length === 0);
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sweepTemporaryFiles } from "@mantel/plugin-sdk/durable-file";
import { emptyFolder } from "../helpers/folder.ts";

test("a process killed during a write leaves a complete file", async (t) => {
  const folder = await emptyFolder(t);
  const path = join(folder, "file");
  const endless = `
    import { writeDurably } from "@mantel/plugin-sdk/durable-file";
    for (let round = 0; ; round++) {
      await writeDurably(${JSON.stringify(path)}, String(round % 10).repeat(200_000));
      if (round === 0) console.log("writing");
    }`;

  for (let kill = 0; kill < 5; kill++) {
    const args = ["--import", "tsx", "--input-type=module", "--eval", endless];
    const writer = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    await once(writer.stdout, "data");
    writer.kill("SIGKILL");
    await once(writer, "exit");

    assert.match(await readFile(path, "utf8"), /^(\d)\1{199999}$/);
  }
  await sweepTemporaryFiles(folder);
  assert.deepEqual(await readdir(folder), ["file"]);
});

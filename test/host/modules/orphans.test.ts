import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { endOrphans } from "../../../host/modules/process/orphans.ts";
import { atEnd } from "../../helpers/at-end.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";

const skip = process.platform === "linux" ? false : "there is no /proc to find processes in";
/** As a plugin that loops and does not notice that its host has gone. */
const LOOP = 'process.title = "mantel lamp"; for (;;);';

test(
  "a plugin that an earlier host left in a loop is ended, and nobody else",
  { skip },
  async (t) => {
    const data = await realpath(await emptyFolder(t));
    const own = await folder(data, "plugins/lamp");
    const [lost, elsewhere, shell] = [
      start(t, own, [process.execPath, "--eval", LOOP]),
      start(t, await folder(data, "other/plugins/lamp"), [process.execPath, "--eval", LOOP]),
      start(t, own, ["sleep", "60"]),
    ];
    await until(async () => (await titleOf(lost)).startsWith("mantel "));
    await until(async () => (await titleOf(elsewhere)).startsWith("mantel "));
    const ended = once(lost, "exit");

    const count = endOrphans(data);

    assert.deepEqual([count, await ended], [1, [null, "SIGKILL"]]);
    assert.deepEqual([elsewhere.signalCode, shell.signalCode], [null, null]);
    assert.equal(endOrphans(data), 0);
  },
);

async function folder(...parts: string[]): Promise<string> {
  const path = join(...parts);
  await mkdir(path, { recursive: true });
  return path;
}

/** Starts a process that leads a group, as the host starts plugins. */
function start(t: TestContext, cwd: string, command: readonly string[]): ChildProcess {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd, detached: true, stdio: "ignore" });
  atEnd(t, async () => {
    child.kill("SIGKILL");
  });
  return child;
}

function titleOf({ pid }: ChildProcess): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, "utf8");
}

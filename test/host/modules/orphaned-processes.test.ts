import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { killProcessesOfEarlierHosts } from "../../../host/modules/process/leftover-processes.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

const skip = process.platform === "linux" ? false : "there is no /proc to find processes in";
/** As a plugin that loops and does not notice that its host has gone. */
const LOOP = 'process.title = "mantel lamp"; for (;;);';

test(
  "a plugin that a previous host left in a loop is ended, and no other process",
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

    const count = killProcessesOfEarlierHosts(data);

    assert.deepEqual([count, await ended], [1, [null, "SIGKILL"]]);
    assert.deepEqual([elsewhere.signalCode, shell.signalCode], [null, null]);
    assert.equal(killProcessesOfEarlierHosts(data), 0);
  },
);

test(
  "an orphan is found by its environment, in any session and with any title",
  { skip },
  async (t) => {
    const data = await realpath(await emptyFolder(t));
    const disguise = 'process.chdir("/"); process.title = "bash"; for (;;);';
    const lost = start(t, "/", [process.execPath, "--eval", disguise], environmentOf(data));
    const ofAnother = start(t, "/", ["sleep", "60"], environmentOf(`${data}-2`));
    const unmarked = start(t, "/", ["sleep", "60"], { TMPDIR: `${data}/plugins/lamp` });
    await until(async () => (await titleOf(lost)).startsWith("bash"));
    const ended = once(lost, "exit");

    const count = killProcessesOfEarlierHosts(data);

    assert.deepEqual([count, await ended], [1, [null, "SIGKILL"]]);
    assert.deepEqual([ofAnother.signalCode, unmarked.signalCode], [null, null]);
  },
);

/** As the host sets it. */
function environmentOf(data: string): NodeJS.ProcessEnv {
  return { MANTEL_GENERATION: "1", TMPDIR: `${data}/plugins/lamp` };
}

async function folder(...parts: string[]): Promise<string> {
  const path = join(...parts);
  await mkdir(path, { recursive: true });
  return path;
}

/** Starts a process that leads a group, as the host starts plugins. */
function start(
  t: TestContext,
  cwd: string,
  command: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): ChildProcess {
  const [program = "", ...args] = command;
  const env = { ...process.env, ...variables };
  const child = spawn(program, args, { cwd, env, detached: true, stdio: "ignore" });
  onTestEnd(t, async () => {
    child.kill("SIGKILL");
  });
  return child;
}

function titleOf({ pid }: ChildProcess): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, "utf8");
}

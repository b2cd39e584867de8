import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { emptyFolder } from "../../helpers/folder.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

const skip = process.platform === "linux" ? false : "there is no /proc to find processes in";

const STARTS_A_PROGRAM = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({
  start() {
    const { pid } = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    writeFileSync("pid.txt", String(pid));
  },
});
`;

test(
  "a program outside the plugin's process group ends with the plugin, and unrelated ones do not",
  { skip },
  async (t) => {
    const other = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    onTestEnd(t, async () => {
      other.kill("SIGKILL");
    });
    const path = process.env["PATH"];
    const programs = await emptyFolder(t); // without bubblewrap: a sandbox ends with all that is in it
    await symlink("/usr/bin/sleep", join(programs, "sleep"));
    process.env["PATH"] = programs;
    onTestEnd(t, async () => void (process.env["PATH"] = path));
    const permissions = { childProcesses: true };
    const { registry, dataFolder } = await startModules(t, {
      one: { "package.json": packageJson("one", { permissions }), "index.ts": STARTS_A_PROGRAM },
    });
    assert.equal(registry.get("one").state, "active");
    const pid = Number(await readFile(join(dataFolder, "plugins/one/pid.txt"), "utf8"));
    assert.equal(await groupOf(pid), pid);

    await registry.disable("one");

    await until(async () => (await groupOf(pid)) === undefined);
    assert.equal(other.exitCode ?? other.signalCode, null);
  },
);

/** proc(5), `stat`: the fifth field; `undefined` when the process has ended. */
async function groupOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return stat === "" || state === "Z" ? undefined : Number(group);
}

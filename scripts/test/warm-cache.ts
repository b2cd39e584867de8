// The build cache that hosts of tests begin with: without it each compiles the dashboard and the runtime of plugins.

import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Tokens } from "../../host/auth/tokens.ts";
import { BuildCache } from "../../host/build-cache.ts";
import { openLog } from "../../host/log.ts";

const FOLDER = resolve("node_modules/.cache/mantel-tests");
const DEADLINE_MS = 60_000;
/** Parts of the cache that each home can have. */
const KEPT = /^(runtime-|vendor$|compiled$|built$)/;
/** Code of a plugin and what it declares; the other files of a module tell which versions ran before. */
const KEPT_OF_MODULE = /(\.cjs|\.mjs|\.map|\.sources\.json|^declaration\.json)$/;
const SHARED_BUILDS = ["shell.json", "runtime.json"];

/**
 * The folder of a warm cache; a host of these sources fills it. `compiled` is the path of the compiled host. Without
 * `hasPlugins` it may lack plugins that have changed since.
 */
export async function warmCache(
  compiled: string,
  { hasPlugins }: { readonly hasPlugins: boolean },
): Promise<string> {
  const folder = join(FOLDER, `warm-${basename(compiled, ".mjs")}`);
  if (!(await isUpToDate(folder, hasPlugins))) await fill(folder);
  return folder;
}

/** Runs a host with a cache that becomes the folder. */
async function fill(folder: string): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "mantel-cache-"));
  try {
    const data = join(home, "data"); // as deep as that of a test: source maps have relative paths
    await runOnce(data);
    await keep(join(data, "cache"), folder);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** True if hosts would not build again what is in the cache. */
async function isUpToDate(folder: string, hasPlugins: boolean): Promise<boolean> {
  const all = await readdir(join(folder, "built")).catch(() => []);
  const found = await Promise.all(
    (hasPlugins && all.length > 0 ? all : SHARED_BUILDS).map(async (file) => {
      const text = await readFile(join(folder, "built", file), "utf8").catch(() => "{}");
      const { entry = "" } = JSON.parse(text) as { entry?: string };
      return new BuildCache(folder).find(basename(file, ".json"), entry);
    }),
  );
  return found.every((value) => value !== undefined);
}

/** Runs a host until all its modules have started and the dashboard is built. */
async function runOnce(data: string): Promise<void> {
  const host = spawn(process.execPath, ["host/launch.js", "--port", "0", "--data", data], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env["PATH"] },
  });
  const ended = new Promise((done) => host.once("exit", done));
  try {
    const url = await new Promise<string>((found, reject) => {
      let output = "";
      host.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const [, address] = /^mantel ready (https?:\S+)$/m.exec(output) ?? [];
        if (address !== undefined) found(address);
      });
      void ended.then(() => reject(new Error("the host that fills the cache of the tests ended")));
    });
    const headers = { authorization: `Bearer ${await issueToken(data)}` };
    for (const endsAt = Date.now() + DEADLINE_MS; Date.now() < endsAt; await delay(100)) {
      const { status } = await fetch(`${url}/api/v1/health/ready`, { headers });
      if (status === 200) {
        await (await fetch(url)).text();
        return;
      }
      if (status !== 503) throw new Error(`the host that fills the cache answers with ${status}`);
    }
    throw new Error("the host that fills the cache of the tests is not ready after a minute");
  } finally {
    host.kill();
    await ended;
  }
}

async function issueToken(dataFolder: string): Promise<string> {
  const tokens = await Tokens.open({ dataFolder, log: openLog("warn", false) });
  return tokens.issue({ scope: ["read"], name: "warm cache", ttlSeconds: 600 });
}

async function keep(cache: string, folder: string): Promise<void> {
  const temporary = `${folder}.${process.pid}.tmp`;
  const names = (await readdir(cache)).filter((name) => KEPT.test(name));
  const modules = await readdir(join(cache, "modules"), { recursive: true });
  const built = modules.filter((path) => KEPT_OF_MODULE.test(basename(path)));
  for (const name of [...names, ...built.map((path) => join("modules", path))]) {
    await cp(join(cache, name), join(temporary, name), { recursive: true });
  }
  for (const stale of await readdir(FOLDER)) {
    if (stale.startsWith("warm-") && !temporary.endsWith(stale)) {
      await rm(join(FOLDER, stale), { recursive: true, force: true });
    }
  }
  await rm(folder, { recursive: true, force: true }); // one whose sources have changed since
  await rename(temporary, folder);
}

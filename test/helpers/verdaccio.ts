import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { emptyFolder } from "./folder.ts";
import { until } from "./until.ts";

const CACHE = resolve("node_modules/.cache/mantel-verdaccio");
const PACKAGE = {
  private: true,
  dependencies: { verdaccio: "6.0.5" },
  // 6.0 is the last line for Node 20. One of its dependencies names a tag of this package, which not every mirror has.
  overrides: { "node-fetch": "2.7.0" },
};

/** A registry of one's own. */
export interface Registry {
  readonly url: string;
  /** The environment in which npm uses it, with a cache of its own. */
  readonly env: Readonly<Record<string, string>>;
  /** Publishes the package in a folder. */
  readonly publish: (folder: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Verdaccio on a free port of this machine, empty and without an uplink. It is installed at the first use. */
export async function startVerdaccio(t: TestContext): Promise<Registry> {
  await installOnce();
  const folder = await emptyFolder(t);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const everybody = { access: "$all", publish: "$all", unpublish: "$all" };
  const config = join(folder, "config.yaml"); // JSON is YAML
  await writeFile(
    config,
    JSON.stringify({
      storage: join(folder, "storage"),
      auth: { htpasswd: { file: join(folder, "htpasswd") } },
      packages: { "@*/*": everybody, "**": everybody },
      log: { type: "stdout", format: "json", level: "warn" },
    }),
  );
  const program = join(CACHE, "node_modules/.bin/verdaccio");
  const server = spawn(program, ["--config", config, "--listen", `127.0.0.1:${port}`], {
    stdio: "ignore",
  });
  const exited = once(server, "exit");
  const stop = async (): Promise<void> => {
    server.kill("SIGTERM");
    await exited;
  };
  t.after(stop);
  await until(async () => (await fetch(`${url}-/ping`).catch(() => undefined))?.ok === true, {
    withinMs: 30_000,
  });
  const npmrc = join(folder, "npmrc");
  await writeFile(npmrc, `//127.0.0.1:${port}/:_authToken=everybody\n`);
  const env = {
    npm_config_registry: url,
    npm_config_userconfig: npmrc,
    npm_config_cache: join(folder, "npm-cache"),
  };
  return {
    url,
    env,
    stop,
    publish: async (each) => {
      const options = { cwd: each, env: { ...process.env, ...env } };
      await promisify(execFile)("npm", ["publish", "--ignore-scripts"], options);
    },
  };
}

async function installOnce(): Promise<void> {
  if (existsSync(join(CACHE, "node_modules/verdaccio/package.json"))) return;
  await mkdir(CACHE, { recursive: true });
  await writeFile(join(CACHE, "package.json"), JSON.stringify(PACKAGE));
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", args, { cwd: CACHE });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { emptyFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { installedPackage } from "./installed-package.ts";
import { until } from "./until.ts";

const { folder: INSTALLED, missing } = await installedPackage({
  name: "verdaccio",
  version: "6.0.5", // 6.0 is the last line for Node 20
  overrides: { "node-fetch": "2.7.0" }, // one of its dependencies names a tag of this package that not every mirror has
});
/** For `test(name, { skip: withoutVerdaccio }, …)`: false, or why tests with a registry are skipped. */
export const withoutVerdaccio = missing;

/** A registry of one's own. */
export interface Registry {
  readonly url: string;
  /** The environment in which npm uses it, with a cache of its own. */
  readonly env: Readonly<Record<string, string>>;
  /** Publishes the package in a folder. */
  readonly publish: (folder: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Verdaccio on a free port of this machine, empty and without an uplink. */
export async function startVerdaccio(t: TestContext): Promise<Registry> {
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
  const program = join(INSTALLED, "node_modules/.bin/verdaccio");
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

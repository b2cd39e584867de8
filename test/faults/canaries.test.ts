import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startHost, type TestHost } from "../helpers/host.ts";
import { livingProcesses } from "../helpers/processes.ts";
import { until } from "../helpers/until.ts";

const CONFIG_CANARY = "canary-config-5c1f";
const ENVIRONMENT_CANARY = "canary-environment-88d2";
/** Where secrets belong. */
const SECRET_FILES = /^secrets\.json/;

test("secrets of config and environment are found in no answer, log, file, plugin or process list", async (t) => {
  const url = `mqtt://somebody:${CONFIG_CANARY}@127.0.0.1:9`;
  const host = await startHost(t, {
    plugins: ["plugins/mqtt"],
    config: { mqtt: { url }, log: { level: "debug" } },
    env: { SECRET_OF_THE_HOUSE: ENVIRONMENT_CANARY },
  });
  await writeTelltale(host);
  const told = await until(async () => {
    const { error } = (await (await host.api("/modules/telltale")).json()) as { error?: string };
    return error && JSON.stringify(error);
  });
  await host.api("/config", { method: "PATCH", json: { mqtt: { password: 5 } } });

  const places: Record<string, string> = {
    ...(await readAnswers(host)),
    ...(await readFiles(host.data)),
    ...(await readProcesses(host.pid)),
    log: host.log(),
  };

  const found = Object.entries(places)
    .filter(([, text]) => text.includes(CONFIG_CANARY) || text.includes(ENVIRONMENT_CANARY))
    .map(([place]) => place);
  assert.deepEqual(found, []);
  assert.match(told, /PATH|NODE/, "the plugin has told what it could see");
  assert.ok(Object.keys(places).length > 40);
  const secrets = await readFile(join(host.data, "secrets.json"), "utf8");
  assert.ok(secrets.includes(CONFIG_CANARY), "it was there to be found");
});

/** A plugin that fails with all it can see of its surroundings. */
async function writeTelltale({ plugins }: TestHost): Promise<void> {
  const folder = join(plugins, "telltale");
  await mkdir(folder);
  await writeFile(
    join(folder, "index.ts"),
    `import { definePlugin } from "@mantel/plugin-sdk";
    export default definePlugin({
      start() {
        throw new Error(JSON.stringify([process.env, process.argv, process.execArgv]));
      },
    });`,
  );
  const mantel = { id: "telltale", kinds: ["service"], server: "index.ts" };
  const manifest = { name: "telltale", version: "1.0.0", type: "module", mantel };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
}

/** What every GET operation answers to an admin. */
async function readAnswers(host: TestHost): Promise<Record<string, string>> {
  const { paths } = (await (await host.api("/openapi.json")).json()) as {
    paths: Record<string, object>;
  };
  const readable = Object.entries(paths)
    .filter(([path, methods]) => "get" in methods && path.startsWith("/api/v1/"))
    .map(([path]) => path.slice("/api/v1".length))
    .filter((path) => path !== "/events");
  const ids = ["mqtt", "telltale"];
  const targets = readable.flatMap((path) => ids.map((id) => path.replace(/\{\w+\}/, id)));
  const answers = await Promise.all(
    [...new Set(targets)].map(async (path) => [`GET ${path}`, await (await host.api(path)).text()]),
  );
  return Object.fromEntries(answers) as Record<string, string>;
}

async function readFiles(folder: string): Promise<Record<string, string>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile() && !SECRET_FILES.test(each.name));
  const texts = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path, await readFile(path, "latin1").catch(() => "")] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** What `ps` shows of the host and its children, and what the plugins' processes were started with. */
async function readProcesses(host: number): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const line of await livingProcesses(host)) {
    const pid = Number.parseInt(line, 10);
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    texts[`command of ${line}`] = command;
    if (pid === host || command.includes("esbuild")) continue; // the host's own hands
    texts[`environment of ${line}`] = await readFile(`/proc/${pid}/environ`, "utf8");
  }
  return texts;
}

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
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

const PATH_CANARY = "canary-path-7e1b";
const LOGIN_CANARY = "canary-login-41aa";
const BROKER_CANARY = "canary-broker-9d30";

test("secrets in addresses, of the environment and in tokens are told to nobody", async (t) => {
  const host = await startHost(t, {
    plugins: ["plugins/calendar", "plugins/mqtt", "plugins/clock-widget"],
    config: { log: { level: "debug" } },
    env: { MANTEL_MQTT_URL: `mqtt://house:${BROKER_CANARY}@127.0.0.1:9` },
  });
  const token = await host.token("admin");
  const events = await followEvents(t, host, token);
  const url = `http://house:${LOGIN_CANARY}@127.0.0.1:9/${PATH_CANARY}/calendar.ics`;
  const sources = { home: { url, allowPrivate: true }, away: { url, password: LOGIN_CANARY } };
  const patched = await host.api("/modules/calendar/config", {
    method: "PATCH",
    json: { sources },
  });
  const failed = await until(async () => {
    const answer = (await (await host.api("/calendar/events")).json()) as {
      sources?: { id: string; status: string }[];
    };
    return answer.sources?.filter(({ status }) => status === "error").length === 2;
  });
  await writeTelltale(host);
  await until(async () => (await host.api("/modules/telltale")).status === 200);
  const refusals = await Promise.all([
    host.api("/modules/calendar/config", {
      method: "PATCH",
      json: { sources: { home: { refreshSeconds: "soon" } } },
    }),
    host.api("/modules/telltale/reload", { method: "POST" }),
    host.api("/mqtt/publish", { method: "POST", json: { topic: "a", payload: "b" } }),
    fetch(`${host.url}/api/v1/config?token=${token}`),
  ]);

  const places: Record<string, string> = {
    ...(await readAnswers(host, ["calendar", "mqtt", "telltale"])),
    ...(await readBundles(host)),
    ...(await readFiles(host.data)),
    ...(await readProcesses(host.pid)),
    ...Object.fromEntries(
      await Promise.all(refusals.map(async (each, at) => [`refusal ${at}`, await each.text()])),
    ),
    "the answer to the patch": await patched.text(),
    "event stream": events(),
    log: withoutFirstVisit(host.log()),
  };

  const planted = [PATH_CANARY, LOGIN_CANARY, BROKER_CANARY, token, ...token.split(".").slice(2)];
  const found = Object.entries(places)
    .filter(([, text]) => planted.some((each) => text.includes(each)))
    .map(([place]) => place);
  assert.deepEqual(found, []);
  assert.ok(failed && patched.ok);
  assert.deepEqual(
    refusals.map(({ status }) => status),
    [422, 422, 503, 401],
  );
  assert.match(places["event stream"] ?? "", /config\.changed/);
  assert.ok(Object.keys(places).some((place) => place.startsWith("bundle ")));
});

/** All that a stream with every topic has sent until it is asked. */
async function followEvents(t: TestContext, { url }: TestHost, token: string) {
  const ending = new AbortController();
  t.after(() => ending.abort());
  const headers = { authorization: `Bearer ${token}` };
  const topics = "device.state,module.state,config.changed,calendar.updated,module.log";
  const answer = await fetch(`${url}/api/v1/events?topics=${topics}`, {
    headers,
    signal: ending.signal,
  });
  let text = "";
  const read = async () => {
    for await (const chunk of answer.body ?? [])
      text += Buffer.from(chunk as Uint8Array).toString();
  };
  read().catch(() => undefined); // the test has ended
  return () => text;
}

/** The shell, and the code of every widget, as browsers get them. */
async function readBundles(host: TestHost): Promise<Record<string, string>> {
  const { modules } = (await (await host.api("/modules")).json()) as {
    modules: { id: string; widget?: { url: string } | null }[];
  };
  const paths = ["/", ...modules.flatMap(({ widget }) => (widget ? [widget.url] : []))];
  const texts = paths.map(async (path) => {
    return [`bundle ${path}`, await (await fetch(host.url + path)).text()] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** The one secret that the log is for: the link of the first visit. */
function withoutFirstVisit(log: string): string {
  return log.replaceAll(/#token=[\w.-]+/g, "");
}

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
async function readAnswers(
  host: TestHost,
  ids: readonly string[] = ["mqtt", "telltale"],
): Promise<Record<string, string>> {
  const { paths } = (await (await host.api("/openapi.json")).json()) as {
    paths: Record<string, object>;
  };
  const readable = Object.entries(paths)
    .filter(([path, methods]) => "get" in methods && path.startsWith("/api/v1/"))
    .map(([path]) => path.slice("/api/v1".length))
    .filter((path) => path !== "/events");
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

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";
import {
  readAnswers,
  readBackup,
  readBundles,
  readFiles,
  readProcesses,
} from "./texts-by-place.ts";

const CONFIG_CANARY = "canary-config-5c1f";
const ENVIRONMENT_CANARY = "canary-environment-88d2";

test("secrets of config and environment are found in no answer, log, file, backup, program or process list", async (t) => {
  const url = `mqtt://somebody:${CONFIG_CANARY}@127.0.0.1:9`;
  const npm = await fakeNpm(t);
  const host = await startHost(t, {
    plugins: ["plugins/mqtt"],
    config: { mqtt: { url }, log: { level: "debug" } },
    env: {
      SECRET_OF_THE_HOME: ENVIRONMENT_CANARY,
      MANTEL_MQTT_PASSWORD: ENVIRONMENT_CANARY,
      PATH: `${npm.folder}:${process.env["PATH"]}`,
    },
  });
  await writePlugin(host, { id: "telltale", start: `throw new Error(${ALL_IT_SEES});` });
  await writePlugin(host, {
    id: "crasher",
    start: `setTimeout(() => { throw new Error(${ALL_IT_SEES}); });`,
  });
  await writePlugin(host, {
    id: "asking",
    start: "",
    dependencies: { "no-such-package": "1.0.0" },
  });
  const errors = await Promise.all(
    ["telltale", "crasher", "asking"].map(async (id) => [id, await untilFailed(host, id)]),
  );
  await host.api("/config", { method: "PATCH", json: { mqtt: { password: 5 } } });

  const places: Record<string, string> = {
    ...Object.fromEntries(errors),
    ...(await readAnswers(host, ["mqtt", "telltale", "crasher", "asking"])),
    ...(await readFiles(host.data)),
    ...(await readProcesses(host.pid)),
    ...(await readBackup(host)),
    "environment of npm": await npm.environment(),
    log: host.log(),
  };

  const found = Object.entries(places)
    .filter(([, text]) => text.includes(CONFIG_CANARY) || text.includes(ENVIRONMENT_CANARY))
    .map(([place]) => place);
  assert.deepEqual(found, []);
  for (const id of ["telltale", "crasher"]) {
    assert.match(places[id] ?? "", /PATH/, "the plugin has told what it could see");
  }
  for (const seen of [/^environment of \d+ .*esbuild/, /^environment of \d+ mantel/, /^backup /]) {
    assert.ok(
      Object.keys(places).some((place) => seen.test(place)),
      `${seen} was looked at`,
    );
  }
  assert.match(places["environment of npm"] ?? "", /^PATH=/m);
  assert.ok(Object.keys(places).length > 60);
  const secrets = await readFile(join(host.data, "secrets.json"), "utf8");
  assert.ok(secrets.includes(CONFIG_CANARY), "it was there to be found");
});

const PATH_CANARY = "canary-path-7e1b";
const LOGIN_CANARY = "canary-login-41aa";
const BROKER_CANARY = "canary-broker-9d30";

test("secrets in addresses, the environment and tokens are never disclosed", async (t) => {
  const host = await startHost(t, {
    plugins: ["plugins/calendar", "plugins/mqtt", "plugins/clock-widget"],
    config: { log: { level: "debug" } },
    env: { MANTEL_MQTT_URL: `mqtt://home:${BROKER_CANARY}@127.0.0.1:9` },
  });
  const token = await host.token("admin");
  const events = await followEvents(t, host, token);
  const url = `http://home:${LOGIN_CANARY}@127.0.0.1:9/${PATH_CANARY}/calendar.ics`;
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
  }, PATIENCE);
  await writePlugin(host, { id: "telltale", start: `throw new Error(${ALL_IT_SEES});` });
  await until(async () => (await host.api("/modules/telltale")).status === 200, PATIENCE);
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

/** The one secret that the log is for: the link of the first visit. */
function withoutFirstVisit(log: string): string {
  return log.replaceAll(/#token=[\w.-]+/g, "");
}

const PATIENCE = { withinMs: 30_000 };
const ALL_IT_SEES = "JSON.stringify([process.env, process.argv, process.execArgv])";

async function writePlugin(
  { plugins }: TestHost,
  { id, start, dependencies = {} }: { id: string; start: string; dependencies?: object },
): Promise<void> {
  const folder = join(plugins, id);
  await mkdir(folder);
  await writeFile(
    join(folder, "index.ts"),
    `import { definePlugin } from "@mantel/plugin-sdk";
    export default definePlugin({ start() { ${start} } });`,
  );
  const mantel = { id, kinds: ["service"], server: "index.ts" };
  const manifest = { name: id, version: "1.0.0", type: "module", dependencies, mantel };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
}

/** The reason why a module does not work, in JSON. */
async function untilFailed(host: TestHost, id: string): Promise<string> {
  return until(async () => {
    const { error } = (await (await host.api(`/modules/${id}`)).json()) as { error?: string };
    return error && JSON.stringify(error);
  }, PATIENCE);
}

/** An npm that notes what it was started with, and fails. */
async function fakeNpm(t: TestContext) {
  const folder = await emptyFolder(t);
  const script = `#!/bin/sh\nenv > ${folder}/environment\nexit 1\n`;
  await writeFile(join(folder, "npm"), script, { mode: 0o755 });
  return { folder, environment: () => readFile(join(folder, "environment"), "utf8") };
}

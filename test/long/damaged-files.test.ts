import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost, type TestHost } from "../helpers/host.ts";

const PLUGINS = ["plugins/demo-home", "plugins/mqtt"];
/** Every document of the host. What plugins store goes the same way. */
const DOCUMENTS = [
  "config.json",
  "secrets.json",
  "layout.json",
  "devices.json",
  "scene-numbers.json",
  "scenes.json",
  "calendar-feeds.json",
  "consents.json",
  "token-use.json",
  "keys.json",
  "tokens.jsonl",
];

type Damage = (path: string, text: string) => Promise<void>;

const DAMAGES: Readonly<Record<string, Damage>> = {
  truncated: (path, text) => writeFile(path, text.slice(0, text.length / 2)),
  "zero-filled": (path, text) => writeFile(path, "\0".repeat(text.length)),
  garbled: (path, text) => writeFile(path, text.replaceAll(/[":{]/g, "\u00fe")),
  empty: (path) => writeFile(path, ""),
  "of the wrong type": (path) => writeFile(path, "[17]\n"),
  "replaced by folders": async (path) => {
    await rm(path);
    await mkdir(path);
  },
};

/** Each way of damage, and each document, comes up; the tests of the store have all of both. */
const ROUNDS = [0, 3];

test("a host whose files are all damaged starts with the last good ones and logs it", async (t) => {
  const { data, token } = await furnishedHome(t);
  const before = await readAll(data);

  for (const round of ROUNDS) {
    const copy = await emptyFolder(t);
    await cp(data, copy, { recursive: true });
    for (const [at, name] of DOCUMENTS.entries()) {
      await damageOf(at + round)[1](join(copy, name), before[name] ?? "");
    }

    const host = await startHost(t, { plugins: PLUGINS, data: copy });

    const response = await fetch(`${host.url}/api/v1/layout`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(response.status, 200, "the old token is valid");
    await host.stop();
    const aside = await readdir(copy);
    const after = await readAll(copy);
    for (const [at, name] of DOCUMENTS.entries()) {
      const [what] = damageOf(at + round);
      if (name !== "token-use.json") assert.deepEqual(after[name], before[name], `${name} ${what}`);
      assert.ok(
        aside.some((each) => each.startsWith(`${name}.damaged-`)),
        `${name} ${what} was set aside`,
      );
      assert.ok(host.log().includes(`${name}.damaged-`), `${name} ${what} is in the log`);
    }
  }
  t.diagnostic(`${ROUNDS.length * DOCUMENTS.length} damaged documents restored`);
});

test("files in place of folders, and a folder in place of the audit log, are set aside", async (t) => {
  const data = await emptyFolder(t);
  for (const name of ["layout-history", "cache", "plugins"]) await writeFile(join(data, name), "x");
  await mkdir(join(data, "audit.log"));

  const host = await startHost(t, { plugins: PLUGINS, data });
  await host.api("/config", { method: "PATCH", json: { ui: { theme: "dark" } } });
  const { records } = (await (await host.api("/audit")).json()) as { records: unknown[] };
  const modules = await (await host.api("/modules")).text();

  const aside = (await readdir(data)).filter((name) => name.includes(".damaged-")).toSorted();
  assert.deepEqual(
    aside.map((name) => name.replace(/\.damaged-.*/, "")),
    ["audit.log", "cache", "layout-history", "plugins"],
  );
  for (const name of aside) assert.ok(host.log().includes(name), `${name} is in the log`);
  assert.ok(records.length > 0);
  assert.ok(!modules.includes('"failed"'));
});

function damageOf(at: number): [what: string, damage: Damage] {
  const all = Object.entries(DAMAGES);
  const damage = all[at % all.length];
  assert.ok(damage);
  return damage;
}

/** A home in which every document has something to lose. */
async function furnishedHome(t: TestContext) {
  const url = "mqtt://somebody:a-secret@127.0.0.1:9";
  const host = await startHost(t, {
    plugins: PLUGINS,
    config: { mqtt: { url }, ui: { theme: "dark" } },
  });
  const devices = (await (await host.api("/smart-home/devices")).json()) as {
    devices: { id: string; kind: string }[];
  };
  const light = devices.devices.find(({ kind }) => kind === "light");
  const scene = { name: "Evening", targets: { [light?.id ?? ""]: { on: true } } };
  const changes = [
    await host.api("/smart-home/scenes/host:scene:evening", { method: "PUT", json: scene }),
    await host.api("/calendar/feeds", { method: "POST", json: { name: "phone" } }),
  ];
  for (const { ok, status } of changes) assert.ok(ok, String(status));
  await signIn(host); // else each start would issue a link
  const token = await host.token("admin");
  await host.stop();
  return { data: host.data, token };
}

async function signIn(host: TestHost): Promise<void> {
  const [, token] = (await host.link("admin")).split("#token=");
  const headers = { origin: host.url };
  const asked = { method: "POST", scope: null, headers, json: { token } } as const;
  const { status } = await host.api("/session", asked);
  assert.equal(status, 201);
}

async function readAll(data: string): Promise<Record<string, string>> {
  const texts = DOCUMENTS.map(async (name) => {
    const text = await readFile(join(data, name), "utf8");
    return [name, name.endsWith(".jsonl") ? text.replaceAll(/\n+/g, "\n").trim() : text] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { PermissionUse } from "../../../host/modules/consent/permission-use.ts";
import { emptyFolder } from "../../helpers/folder.ts";

/** The use of a plugin's permissions, and what is reported as unused. */
async function openUse(t: TestContext, declared: Partial<Manifest>, code = "") {
  const bundle = join(await emptyFolder(t), "index.cjs");
  await writeFile(bundle, code);
  const reports: string[][] = [];
  const use = new PermissionUse((unused) =>
    reports.push(
      unused.map(({ name, value }) => (value === undefined ? name : `${name} ${value}`)),
    ),
  );
  const manifest: Manifest = { id: "lamp", kinds: ["service"], server: "index.ts", ...declared };
  const plugin = { id: "lamp", folder: "/lamp", version: "1.0.0", manifest };
  const follow = (change: Partial<Manifest> = {}) =>
    use.follow({
      plugin: { ...plugin, manifest: { ...manifest, ...change } },
      bundle,
      vendor: undefined,
    });
  await follow();
  return { use, follow, unused: () => reports.at(-1) };
}

test("hosts are used by connections and look-ups, each by the entry that allows it", async (t) => {
  const hosts = ["api.test", "*.lamps.test", "network:local", "config:url", "10.0.0.1"];
  const { use, unused } = await openUse(t, { permissions: { hosts } });
  const before = unused();

  use.reached("hall.lamps.test", undefined);
  use.reached("nas", "config:url");
  use.reached("192.168.1.9", undefined);
  use.reached("elsewhere.test", undefined);

  assert.deepEqual(
    before,
    hosts.map((host) => `hosts ${host}`),
  );
  assert.deepEqual(unused(), ["hosts api.test", "hosts 10.0.0.1"]);
});

test("services, channels, searches and the home are used by calls", async (t) => {
  const { use, unused } = await openUse(t, {
    uses: ["acme.news.items@1", "acme.mail", "news/headlines", "weather/now"],
    permissions: {
      hosts: ["network:local"],
      home: { read: ["light:*"], control: ["light:*", "scene:*"] },
    },
  });
  const answered: unknown[] = [];
  const answer = (input: unknown) => void answered.push(input);
  const api = use.watching({
    callService: answer,
    followChannel: answer,
    discoverMdns: answer,
    followHome: answer,
    log: answer,
  } as never) as unknown as Record<string, (input: unknown) => void>;

  api["callService"]?.({ name: "acme.news.items" });
  api["followChannel"]?.({ channel: "news/headlines" });
  api["discoverMdns"]?.({ what: "_lamp._tcp" });
  api["followHome"]?.({});
  api["callService"]?.(null);
  api["log"]?.({ name: "acme.mail" });

  assert.equal(answered.length, 6);
  assert.deepEqual(unused(), [
    "homeControls light:*",
    "homeControls scene:*",
    "uses acme.mail",
    "uses weather/now",
  ]);
});

test("flags that no word of the code uses are not needed", async (t) => {
  const permissions = { childProcesses: true, workerThreads: true, sqlite: true, listen: true };
  const code = 'const { spawn } = require("node:child_process"); spawn("ls");';

  const { unused } = await openUse(t, { permissions }, code);

  assert.deepEqual(unused(), ["workerThreads", "sqlite", "listen"]);
});

test("permissions whose use the host cannot see are not reported as unused", async (t) => {
  const native = await openUse(t, { permissions: { nativeAddons: true, childProcesses: true } });
  const open = await openUse(
    t,
    { permissions: { hosts: ["a.test"], listen: true } },
    "x.listen(1)",
  );

  assert.deepEqual([native.unused(), open.unused()], [[], []]);
});

test("a used permission stays used until the manifest asks for other permissions", async (t) => {
  const { use, follow, unused } = await openUse(t, { uses: ["acme.news"] });
  use.use("uses", "acme.news");

  await follow();
  const afterReload = unused();
  await follow({ uses: ["acme.news", "acme.mail"] });

  assert.deepEqual([afterReload, unused()], [[], ["uses acme.news", "uses acme.mail"]]);
});

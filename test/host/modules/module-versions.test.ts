import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ConfigStore } from "../../../host/config/store.ts";
import type { Compiler } from "../../../host/modules/build/compile.ts";
import type { PluginPackage } from "../../../host/modules/manifest/manifest.ts";
import type { ModuleLog } from "../../../host/modules/state/logs.ts";
import type { ModuleStatus } from "../../../host/modules/state/status.ts";
import { ModuleVersions } from "../../../host/modules/versions/module-versions.ts";
import type { VersionStore } from "../../../host/modules/versions/version-store.ts";
import type { Build, History, Version } from "../../../host/modules/versions/version.ts";

const plugin = (version = "1.0.0", kind?: string): PluginPackage => ({
  id: "lamp",
  folder: "/lamp",
  version,
  manifest: {
    id: "lamp",
    kinds: ["service"],
    server: "index.ts",
    ...(kind === undefined ? {} : { bridge: { kind, commandsPerSecond: 1 } }),
  },
});
const build = (hash: string, of = plugin()) => ({ hash, plugin: of, bundle: hash }) as Build;
const version = (hash: string, of = plugin()): Version => ({
  plugin: of,
  server: build(hash, of),
  widget: undefined,
});
const WIDGET = { hash: "w", code: "", map: "", inputs: [] };
const NOW = "2026-01-01T00:00:00.000Z";

/** The versions of a module with a store in memory. */
function openVersions(t: TestContext, history: History = {}) {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse(NOW) });
  const parts = { history, section: { address: "a.test" }, vendorsAreUnused: false };
  const stored: unknown[] = [];
  const kept: string[][] = [];
  const shown: unknown[] = [];
  const store = {
    version: async (id: string) => ({ last: id }),
    server: async (id: string) => ({ lastServer: id }),
    storeServer: async ({ hash }: Build, section: unknown) => void stored.push([hash, section]),
    storeHistory: async (id: string, change: History) => void stored.push([id, change]),
    history: async () => parts.history,
    vendors: async () => ["vendor.cjs"],
  };
  const compiler = {
    prune: async (_id: string, builds: readonly Build[]) => {
      kept.push(builds.map(({ hash }) => hash));
      return parts.vendorsAreUnused;
    },
    pruneVendors: async (vendors: string[]) => void kept.push(vendors),
  };
  const first = plugin();
  const versions = new ModuleVersions(first, {
    id: "lamp",
    compiler: compiler as unknown as Compiler,
    store: store as unknown as VersionStore,
    config: { sectionOf: () => parts.section } as unknown as ConfigStore,
    status: { historyChanged: (each: unknown) => shown.push(each) } as unknown as ModuleStatus,
    log: {} as ModuleLog,
  });
  return { versions, parts, stored, kept, shown, first };
}

test("at first the plugin on disk is the one that runs, and nothing else is known", (t) => {
  const { versions, first } = openVersions(t);

  assert.deepEqual([versions.onDisk, versions.plugin], [first, first]);
  assert.deepEqual(versions.running(undefined), {
    plugin: first,
    server: undefined,
    widget: undefined,
  });
  assert.equal(versions.hasPendingVersion, false);
  assert.equal(versions.previous, undefined);
  assert.equal(versions.isRolledBack, false);
  assert.equal(versions.failureOf(build("a")), undefined);
});

test("the last good versions come from the store", async (t) => {
  const { versions } = openVersions(t);

  assert.deepEqual(await versions.lastGood(), { last: "lamp" });
  assert.deepEqual(await versions.lastGoodServer(), { lastServer: "lamp" });
});

test("the running version has the config with which it was stored", async (t) => {
  const { versions, parts, stored } = openVersions(t);
  versions.serverRuns(build("a"));
  const before = versions.running(WIDGET);

  await versions.storeServer();
  parts.section = { address: "b.test" };
  const { server } = versions.running(WIDGET);

  assert.deepEqual(before, { plugin: versions.plugin, server: build("a"), widget: WIDGET });
  assert.deepEqual(server, { ...build("a"), section: { address: "a.test" } });
  assert.deepEqual(stored, [["a", { address: "a.test" }]]);
});

test("a module without a running build stores none", async (t) => {
  const { versions, stored } = openVersions(t);

  await versions.storeServer();

  assert.deepEqual(stored, []);
});

test("the last build that did not start is known with its error, until another one runs", (t) => {
  const { versions } = openVersions(t);
  const error = new Error("wrong code");

  versions.serverFailed(build("a"), error);

  assert.equal(versions.failureOf(build("a"))?.error, error);
  assert.equal(versions.failureOf(build("b")), undefined);
  versions.serverRuns(build("b"));
  assert.equal(versions.failureOf(build("a")), undefined);
});

test("after a change the running build and the one before it are kept", async (t) => {
  const { versions, kept } = openVersions(t, { previous: { ...version("old"), until: NOW } });
  await versions.readHistory();
  versions.serverRuns(build("a"));
  versions.serverRuns(build("b"));

  await versions.deleteUnused(build("good"));

  assert.deepEqual(kept, [["b", "a"]]);
});

test("without a change the previous version and the last good one are kept", async (t) => {
  const { versions, kept } = openVersions(t, { previous: { ...version("old"), until: NOW } });
  await versions.readHistory();
  const running = build("a");
  versions.serverRuns(running);
  versions.serverRuns(running);

  await versions.deleteUnused(build("good"));
  versions.serverRuns(build("a"));
  await versions.deleteUnused();

  assert.deepEqual(kept, [
    ["a", "good", "old"],
    ["a", "a", "old"],
  ]);
});

test("after a return to the last good build the failed one is not kept", async (t) => {
  const { versions, kept } = openVersions(t);
  versions.serverRuns(build("a"));
  versions.serverRuns(build("broken"));

  versions.serverRestored(build("good"));
  await versions.deleteUnused();

  assert.equal(versions.server?.hash, "good");
  assert.deepEqual(kept, [["good"]]);
});

test("unused packages are deleted, except those that stored versions need", async (t) => {
  const { versions, parts, kept } = openVersions(t);
  parts.vendorsAreUnused = true;

  await versions.deleteUnused();

  assert.deepEqual(kept, [[], ["vendor.cjs"]]);
});

test("a replaced version becomes the one for a rollback, is stored and is shown", async (t) => {
  const { versions, stored, shown } = openVersions(t);

  versions.replaced(version("a", plugin("1.0.0")), version("b", plugin("2.0.0")));
  await versions.stored();

  const previous = { ...version("a"), until: NOW };
  assert.deepEqual(versions.previous, previous);
  assert.deepEqual(stored, [["lamp", { previous }]]);
  assert.deepEqual(shown, [{ earlier: { version: "1.0.0", until: NOW }, heldSince: null }]);
});

test("an equal version does not replace the one for a rollback", async (t) => {
  const { versions, stored } = openVersions(t);
  versions.replaced(version("a"), version("b"));

  versions.replaced(version("b"), version("b"));
  await versions.stored();

  assert.equal(versions.previous?.server?.hash, "a");
  assert.equal(stored.length, 1);
});

test("a start of new code without a known version before it keeps the one for a rollback", async (t) => {
  const { versions } = openVersions(t);
  versions.replaced(version("a"), version("b"));

  versions.replaced(undefined, version("c"));

  assert.equal(versions.previous?.server?.hash, "a");
});

test("a previous version of another kind of plugin cannot be rolled back to", (t) => {
  const { versions } = openVersions(t);
  versions.replaced(version("a", plugin("1.0.0", "hue")), version("b"));

  const asService = versions.previous;
  versions.plugin = plugin("2.0.0", "hue");
  const asBridge = versions.previous;

  assert.deepEqual([asService, asBridge?.server?.hash], [undefined, "a"]);
});

test("a version that was rolled back is recognized until the rollback ends", async (t) => {
  const { versions, shown, stored } = openVersions(t);
  versions.replaced(version("a"), version("b"));

  versions.rolledBack(version("b"));
  assert.equal(versions.isRolledBack, true);
  assert.equal(versions.wasRolledBack(version("b")), true);
  assert.equal(versions.wasRolledBack(version("c")), false);
  assert.deepEqual(shown.at(-1), { earlier: null, heldSince: NOW });
  versions.endRollback();
  await versions.stored();

  assert.equal(versions.isRolledBack, false);
  assert.equal(versions.wasRolledBack(version("b")), false);
  assert.deepEqual(shown.at(-1), { earlier: null, heldSince: null });
  const rolledBack = { plugin: plugin(), server: "b", widget: undefined, at: NOW };
  assert.deepEqual(stored.slice(1), [
    ["lamp", { rolledBack }],
    ["lamp", { previous: undefined }],
  ]);
});

test("ending a rollback when there is none stores nothing", async (t) => {
  const { versions, stored } = openVersions(t);

  versions.endRollback();
  await versions.stored();

  assert.deepEqual(stored, []);
});

test("the history from before the host's start is read once and shown", async (t) => {
  const previous = { ...version("a"), until: NOW };
  const rolledBack = { plugin: plugin(), server: "b", at: NOW };
  const { versions, parts, shown } = openVersions(t, { previous, rolledBack });

  await versions.readHistory();
  parts.history = {};
  await versions.readHistory();

  assert.deepEqual(versions.previous, previous);
  assert.equal(versions.wasRolledBack(version("b")), true);
  assert.deepEqual(shown, [{ earlier: { version: "1.0.0", until: NOW }, heldSince: NOW }]);
});

test("a forgotten previous version cannot be rolled back to, and no rollback is left", async (t) => {
  const { versions, stored } = openVersions(t);
  versions.replaced(version("a"), version("b"));

  versions.forgetPrevious();
  await versions.stored();

  assert.equal(versions.previous, undefined);
  assert.deepEqual(stored.at(-1), ["lamp", {}]);
});

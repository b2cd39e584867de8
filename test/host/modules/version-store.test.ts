import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { PluginPackage } from "../../../host/modules/manifest/manifest.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import { VersionStore } from "../../../host/modules/versions/version-store.ts";
import {
  type Build,
  isReplaceableBy,
  isSameBuild,
  isSameVersion,
  versionIdOf,
} from "../../../host/modules/versions/version.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const SIDES = { server: { server: "index.ts" }, widget: { widget: "widget.ts" } };

function plugin(sides: Partial<Manifest> = SIDES.server, version = "1.0.0"): PluginPackage {
  const { id = "lamp" } = sides;
  return {
    id,
    folder: `/plugins/${id}`,
    version,
    manifest: { kinds: sides.widget ? ["widget"] : ["service"], ...sides, id },
  };
}
const WIDGET = { hash: "w1", code: "code", map: "map", inputs: ["/plugins/lamp/widget.ts"] };
/** A widget as it is read: where its sources were is not stored. */
const STORED_WIDGET = { ...WIDGET, inputs: [] };

async function openStore(t: TestContext) {
  const cache = await emptyFolder(t);
  const host = collectedLog();
  const store = new VersionStore(cache);
  const log = new ModuleLog(host);
  /** A build whose files are there. */
  const build = async (of: PluginPackage = plugin(), withVendor = false): Promise<Build> => {
    const folder = join(cache, "modules", of.id);
    await mkdir(folder, { recursive: true });
    const [bundle, vendor] = [join(folder, "h1.cjs"), join(cache, "vendor.cjs")];
    await writeFile(bundle, "");
    if (withVendor) await writeFile(vendor, "");
    const inputs = new Set([join(of.folder, "index.ts")]);
    return { plugin: of, hash: "h1", bundle, vendor: withVendor ? vendor : undefined, inputs };
  };
  return { cache, store, log, host, build };
}

/** A build as it is read. */
const stored = (build: Build, section: object = {}) => ({ ...build, section, inputs: new Set() });

test("the last good server side is read with its config, its packages and without sources", async (t) => {
  const { store, log, build } = await openStore(t);
  const good = await build(plugin(), true);

  await store.storeServer(good, { address: "a.test" }, log);

  assert.deepEqual(await store.server("lamp"), stored(good, { address: "a.test" }));
  assert.deepEqual(await store.version("lamp"), {
    plugin: good.plugin,
    server: stored(good, { address: "a.test" }),
    widget: undefined,
  });
});

test("a copy of the cache folder has no last good server side, because its record names the first folder", async (t) => {
  const { cache, store, log, build } = await openStore(t);
  await store.storeServer(await build(), {}, log);
  const copy = await emptyFolder(t);

  await cp(join(cache, "modules"), join(copy, "modules"), { recursive: true });

  const copied = new VersionStore(copy);
  assert.deepEqual(
    [await copied.server("lamp"), await copied.version("lamp")],
    [undefined, undefined],
  );
});

test("a plugin that was never stored has no version", async (t) => {
  const { store } = await openStore(t);

  assert.equal(await store.server("lamp"), undefined);
  assert.equal(await store.widget("lamp"), undefined);
  assert.equal(await store.version("lamp"), undefined);
  assert.deepEqual(await store.history("lamp"), { previous: undefined, rolledBack: undefined });
  assert.deepEqual(await store.vendors(), []);
  assert.equal(await store.pluginIn("/plugins/lamp"), undefined);
});

for (const file of ["bundle", "vendor"] as const) {
  test(`a server side whose ${file} was deleted is not a version`, async (t) => {
    const { store, log, build } = await openStore(t);
    const good = await build(plugin(), true);
    await store.storeServer(good, {}, log);

    await rm(good[file] ?? "");

    assert.equal(await store.server("lamp"), undefined);
    assert.equal(await store.version("lamp"), undefined);
  });
}

const DAMAGED: readonly (readonly [what: string, text: string])[] = [
  ["torn", '{"plugin":'],
  ["empty", ""],
  ["of another shape", '{"hash":"h1"}'],
];

for (const [what, text] of DAMAGED) {
  test(`a record that is ${what} counts as missing`, async (t) => {
    const { cache, store, log, build } = await openStore(t);
    await store.storeServer(await build(), {}, log);

    await writeFile(join(cache, "modules/lamp/last-good.json"), text);

    assert.equal(await store.server("lamp"), undefined);
  });
}

const UNTIL = "2026-01-01T00:00:00.000Z";
const ODD: readonly (readonly [what: string, file: string, record: object])[] = [
  ["a server side without a plugin", "last-good.json", { section: {}, hash: "h", bundle: "b" }],
  [
    "a server side of a plugin without a manifest",
    "last-good.json",
    { plugin: { id: "lamp", folder: "/lamp", version: "1" }, section: {}, hash: "h", bundle: "b" },
  ],
  ["a widget without code", "last-good-widget.json", { plugin: plugin(SIDES.widget), hash: "w" }],
  ["a previous version without its time", "earlier.json", { version: {} }],
  [
    "a previous version of an odd time",
    "earlier.json",
    { version: { until: "yesterday", widget: { plugin: plugin(SIDES.widget), ...WIDGET } } },
  ],
  ["a rolled back version without a plugin", "earlier.json", { left: { at: UNTIL } }],
  ["a rolled back version of an odd time", "earlier.json", { left: { plugin: plugin(), at: "?" } }],
];

for (const [what, file, record] of ODD) {
  test(`a record of ${what} counts as missing`, async (t) => {
    const { cache, store } = await openStore(t);
    await mkdir(join(cache, "modules/lamp"), { recursive: true });

    await writeFile(join(cache, "modules/lamp", file), JSON.stringify(record));

    assert.equal(await store.version("lamp"), undefined);
    assert.equal(await store.widget("lamp"), undefined);
    assert.deepEqual(await store.history("lamp"), { previous: undefined, rolledBack: undefined });
    assert.equal(await store.pluginIn("/lamp"), undefined);
  });
}

test("the last good widget is read without its sources", async (t) => {
  const { store, log } = await openStore(t);
  const clock = plugin(SIDES.widget);

  await store.storeWidget(clock, WIDGET, log);

  assert.deepEqual(await store.widget("lamp"), STORED_WIDGET);
  const version = { plugin: clock, server: undefined, widget: STORED_WIDGET };
  assert.deepEqual(await store.version("lamp"), version);
});

test("of several writes at once the last one stays", async (t) => {
  const { store, log } = await openStore(t);
  const of = plugin(SIDES.widget);
  const codes = ["a".repeat(4_000_000), "b".repeat(400_000), "c"];

  await Promise.all(codes.map((code) => store.storeWidget(of, { ...WIDGET, code }, log)));

  assert.equal((await store.widget("lamp"))?.code, "c");
});

test("a stored version that lacks a side of its manifest counts as missing", async (t) => {
  const { store, log, build } = await openStore(t);
  const both = plugin({ ...SIDES.server, ...SIDES.widget });
  const good = await build(both);

  await store.storeServer(good, {}, log);
  assert.equal(await store.version("lamp"), undefined);
  await store.storeWidget(both, WIDGET, log);

  assert.deepEqual(await store.version("lamp"), {
    plugin: both,
    server: stored(good),
    widget: STORED_WIDGET,
  });
});

test("a stored side that the newer manifest does not have is left out", async (t) => {
  const { store, log, build } = await openStore(t);
  await store.storeWidget(plugin(SIDES.widget), WIDGET, log);
  const good = await build();
  await store.storeServer(good, {}, log);

  const version = await store.version("lamp");

  assert.deepEqual([version?.server, version?.widget], [stored(good), undefined]);
});

test("the history keeps the previous version, until when it ran, and the one rolled back", async (t) => {
  const { store, log, build } = await openStore(t);
  const both = plugin({ ...SIDES.server, ...SIDES.widget });
  const server = { ...(await build(both, true)), section: { address: "a.test" } };
  const until = "2026-01-01T00:00:00.000Z";
  const rolledBack = { plugin: plugin(SIDES.server, "2.0.0"), server: "h2", at: until };

  await store.storeHistory(
    "lamp",
    { previous: { plugin: both, server, widget: WIDGET, until }, rolledBack },
    log,
  );

  assert.deepEqual(await store.history("lamp"), {
    previous: {
      plugin: both,
      server: stored(server, { address: "a.test" }),
      widget: STORED_WIDGET,
      until,
    },
    rolledBack,
  });
});

test("a previous version with one side is stored without the other", async (t) => {
  const { store, log, build } = await openStore(t);
  const until = "2026-01-01T00:00:00.000Z";
  const server = await build();

  await store.storeHistory(
    "lamp",
    { previous: { plugin: plugin(), server, widget: undefined, until } },
    log,
  );
  const one = await store.history("lamp");
  const clock = plugin(SIDES.widget);
  await store.storeHistory(
    "lamp",
    { previous: { plugin: clock, server: undefined, widget: WIDGET, until } },
    log,
  );
  const other = await store.history("lamp");

  assert.deepEqual([one.previous?.server, one.previous?.widget], [stored(server), undefined]);
  assert.deepEqual([other.previous?.server, other.previous?.widget], [undefined, STORED_WIDGET]);
});

test("a previous version whose code was deleted cannot be rolled back to", async (t) => {
  const { store, log, build } = await openStore(t);
  const server = await build();
  const previous = { plugin: plugin(), server, widget: undefined, until: "2026-01-01T00:00:00Z" };
  await store.storeHistory("lamp", { previous }, log);

  await rm(server.bundle);

  assert.equal((await store.history("lamp")).previous, undefined);
});

test("the bundles of packages are those of last good and previous versions of all plugins", async (t) => {
  const { store, log, build } = await openStore(t);
  const [lamp, clock] = [
    await build(plugin(), true),
    await build(plugin({ ...SIDES.server, id: "clock" }), true),
  ];
  const plain = await build(plugin({ ...SIDES.server, id: "plain" }));
  await store.storeServer(lamp, {}, log);
  await store.storeServer(plain, {}, log);
  const previous = { ...clock, plugin: clock.plugin };
  await store.storeHistory(
    "clock",
    {
      previous: {
        plugin: clock.plugin,
        server: previous,
        widget: undefined,
        until: "2026-01-01T00:00:00Z",
      },
    },
    log,
  );

  assert.deepEqual(await store.vendors(), [lamp.vendor, clock.vendor]);
});

test("the last good plugin of a folder is found, with a server or only a widget", async (t) => {
  const { store, log, build } = await openStore(t);
  const [lamp, clock] = [plugin(), plugin({ ...SIDES.widget, id: "clock" })];
  await store.storeServer(await build(lamp), {}, log);
  await store.storeWidget(clock, WIDGET, log);

  assert.deepEqual(await store.pluginIn("/plugins/lamp"), lamp);
  assert.deepEqual(await store.pluginIn("/plugins/clock"), clock);
  assert.equal(await store.pluginIn("/plugins/other"), undefined);
});

test("a version that cannot be stored does not stop the module, and its log says why", async (t) => {
  const { cache, store, log, host, build } = await openStore(t);
  const good = await build();
  await rm(join(cache, "modules"), { recursive: true });
  await writeFile(join(cache, "modules"), "not a folder");

  await store.storeServer(good, {}, log);

  const [{ level, sentence, fields } = assert.fail()] = host.records;
  assert.deepEqual([level, sentence], ["warn", "could not store the code for a rollback"]);
  assert.match(String(fields["reason"]), /ENOTDIR|EEXIST/);
});

test("the stored config is the one without secrets", async (t) => {
  const { cache, store, log, build } = await openStore(t);

  await store.storeServer({ ...(await build()), section: { token: "s3cret" } }, { a: 1 }, log);

  const text = await readFile(join(cache, "modules/lamp/last-good.json"), "utf8");
  assert.deepEqual((JSON.parse(text) as { section: unknown }).section, { a: 1 });
});

test("a build is the same with the same code under an equal manifest", () => {
  const one = { plugin: plugin(), hash: "h1" } as Build;

  assert.equal(isSameBuild(one, { ...one, plugin: plugin() }), true);
  assert.equal(isSameBuild(one, { ...one, hash: "h2" }), false);
  assert.equal(isSameBuild(one, { ...one, plugin: plugin(SIDES.server, "2.0.0") }), false);
  assert.equal(isSameBuild(one, undefined), false);
});

test("versions are equal with the same plugin and code, also when one comes from a file", () => {
  const version = { plugin: plugin(), server: { hash: "h1" } as Build, widget: undefined };
  const id = versionIdOf(version);

  assert.deepEqual(id, { plugin: plugin(), server: "h1", widget: undefined });
  assert.equal(isSameVersion(id, { plugin: plugin(), server: "h1" }), true);
  assert.equal(isSameVersion(id, { plugin: plugin(), server: "h2" }), false);
  assert.equal(isSameVersion(id, { plugin: plugin(), server: "h1", widget: "w1" }), false);
  const clock = { plugin: plugin(SIDES.widget), server: undefined, widget: WIDGET };
  assert.deepEqual(versionIdOf(clock), { plugin: clock.plugin, server: undefined, widget: "w1" });
});

const bridge = (kind: string) =>
  plugin({ ...SIDES.server, bridge: { kind, commandsPerSecond: 1 } });
const KINDS: readonly (readonly [
  what: string,
  from: PluginPackage,
  to: PluginPackage,
  can: boolean,
])[] = [
  ["another version", plugin(), plugin(SIDES.server, "2.0.0"), true],
  ["a bridge of the same kind", bridge("hue"), bridge("hue"), true],
  ["a bridge with another kind of devices", bridge("hue"), bridge("zigbee"), true],
  ["a bridge instead of a service", plugin(), bridge("hue"), false],
  ["a widget instead of a server", plugin(), plugin(SIDES.widget), false],
  ["a server instead of a widget", plugin(SIDES.widget), plugin(), false],
  ["a widget beside the server", plugin(), plugin({ ...SIDES.server, ...SIDES.widget }), true],
];

for (const [what, from, to, can] of KINDS) {
  test(`${what} ${can ? "takes over without a stop" : "needs a stop first"}`, () =>
    assert.equal(isReplaceableBy(from, to), can));
}

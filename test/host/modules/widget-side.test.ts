import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ConfigStore } from "../../../host/config/store.ts";
import { Widget, type WidgetSource } from "../../../host/modules/lifecycle/widget.ts";
import type { PluginPackage } from "../../../host/modules/manifest/manifest.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import { VersionStore } from "../../../host/modules/versions/version-store.ts";
import { ApiPaths } from "../../../host/routes/api-paths.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const clock = (version = "1.0.0", entry: string | undefined = "widget.ts"): PluginPackage => ({
  id: "clock",
  folder: "/clock",
  version,
  manifest: {
    id: "clock",
    kinds: ["widget"],
    ...(entry === undefined ? { server: "index.ts" } : { widget: entry }),
    needs: { channels: ["weather/forecast"] },
  },
});
const withoutWidget = (): PluginPackage => {
  const { widget: _, needs: __, ...manifest } = clock().manifest;
  return { ...clock(), manifest: { ...manifest, kinds: ["service"], server: "index.ts" } };
};
const bundle = (hash: string) => ({
  hash,
  code: `/* ${hash} */`,
  map: "",
  inputs: [`/${hash}.ts`],
});

/** A widget of a module; the assets tell what is built and served. */
async function openWidget(t: TestContext) {
  const versionStore = new VersionStore(await emptyFolder(t));
  const built: WidgetSource[] = [];
  const served: string[] = [];
  const parts = { next: bundle("one"), failure: undefined as Error | undefined };
  const config = { current: { modules: {} as Record<string, object> } };
  const shipped = new Set<PluginPackage>();
  const apiPaths = new ApiPaths();
  const widget = new Widget("clock", {
    assets: {
      buildWidget: async (source) => {
        built.push(source);
        if (parts.failure) throw parts.failure;
        return parts.next;
      },
      setWidget: (id, { hash }) => {
        served.push(`${id} ${hash}`);
        return `/widgets/${id}/${hash}.js`;
      },
      removeWidget: (id) => served.push(`no ${id}`),
    },
    versionStore,
    apiPaths,
    config: config as unknown as ConfigStore,
    log: new ModuleLog(collectedLog()),
    onServed: () => undefined,
    isShipped: (plugin) => shipped.has(plugin),
  });
  return { widget, parts, built, served, config, shipped, versionStore, apiPaths };
}

test("a widget that starts is built, served and stored as last good", async (t) => {
  const { widget, built, served, versionStore } = await openWidget(t);

  const failure = await widget.start(clock());

  assert.equal(failure, undefined);
  const source = { id: "clock", folder: "/clock", entry: "widget.ts", allowsLinks: false };
  assert.deepEqual(built, [source]);
  assert.deepEqual(served, ["clock one"]);
  assert.deepEqual([...widget.inputs], ["/one.ts"]);
  assert.equal(widget.bundle?.hash, "one");
  assert.equal((await versionStore.widget("clock"))?.hash, "one");
  assert.deepEqual(widget.view, {
    hash: "one",
    url: "/widgets/clock/one.js",
    runsIn: "frame",
    shipped: false,
    needs: { channels: ["weather/forecast"] },
  });
});

test("a widget reads the routes of its plugin at paths that the plugin has, and not those of others", async (t) => {
  const { widget, apiPaths } = await openWidget(t);
  const paths = {
    "/tides": { routes: true },
    "/moon": { routes: true },
    "/sun": { channel: "sun" },
  } as const;
  const { manifest, ...plugin } = clock();
  apiPaths.claim("sea", { "/tides": { routes: true } });
  apiPaths.claim("clock", paths);

  await widget.start({ ...plugin, manifest: { ...manifest, paths, needs: { reads: ["/news"] } } });

  assert.deepEqual(widget.view?.needs, { reads: ["/news", "/moon"] });
});

test("a widget that was not served yet has no view and no sources", async (t) => {
  const { widget, served } = await openWidget(t);

  widget.remove();

  assert.deepEqual([widget.view, widget.bundle, widget.inputs.length], [null, undefined, 0]);
  assert.deepEqual(served, []);
});

test("a widget runs in the page if it ships with Mantel or the config trusts it", async (t) => {
  const { widget, config, shipped } = await openWidget(t);
  const plugin = clock();
  await widget.start(plugin);
  const runsIn = () => [widget.view?.runsIn, widget.view?.shipped];

  assert.deepEqual(runsIn(), ["frame", false]);
  config.current.modules["clock"] = { trusted: true };
  assert.deepEqual(runsIn(), ["page", false]);
  config.current.modules["clock"] = { trusted: false };
  shipped.add(plugin);
  assert.deepEqual(runsIn(), ["page", true]);
});

test("the sources of a widget may be links if the config allows it", async (t) => {
  const { widget, config, built } = await openWidget(t);
  config.current.modules["clock"] = { links: true };

  await widget.start(clock());

  assert.equal(built[0]?.allowsLinks, true);
});

test("a widget that does not build is reported, and the last good one is served", async (t) => {
  const { widget, parts, served, versionStore } = await openWidget(t);
  await versionStore.storeWidget(clock(), bundle("good"), new ModuleLog(collectedLog()));
  parts.failure = new Error("wrong code");

  const failure = await widget.start(clock());

  assert.equal(failure, parts.failure);
  assert.deepEqual(served, ["clock good"]);
});

test("a widget that does not build without a last good one is a failure", async (t) => {
  const { widget, parts, served } = await openWidget(t);
  parts.failure = new Error("wrong code");

  await assert.rejects(widget.start(clock()), parts.failure);

  assert.deepEqual(served, []);
});

test("after a rollback the last good widget is served without a build", async (t) => {
  const { widget, built, served, versionStore } = await openWidget(t);
  await versionStore.storeWidget(clock(), bundle("good"), new ModuleLog(collectedLog()));

  assert.equal(await widget.start(clock(), true), undefined);

  assert.deepEqual([built, served], [[], ["clock good"]]);
});

test("after a rollback without a last good widget the one on disk is built", async (t) => {
  const { widget, served } = await openWidget(t);

  await widget.start(clock(), true);

  assert.deepEqual(served, ["clock one"]);
});

test("a plugin without a widget serves none, also after a rollback", async (t) => {
  const { widget, built, served, versionStore } = await openWidget(t);
  await versionStore.storeWidget(clock(), bundle("good"), new ModuleLog(collectedLog()));

  await widget.start(withoutWidget(), true);

  assert.deepEqual([built, served, widget.view], [[], [], null]);
});

test("other code gets another URL, and the same code keeps its own", async (t) => {
  const { widget, served } = await openWidget(t);
  const plugin = clock();

  const changes = ["one", "one", "two"].map((hash) => widget.serve(plugin, bundle(hash)));

  assert.deepEqual(changes, [true, false, true]);
  assert.deepEqual(served, ["clock one", "clock two"]);
  assert.equal(widget.view?.url, "/widgets/clock/two.js");
});

test("a manifest that no longer has a widget removes it, once", async (t) => {
  const { widget, served } = await openWidget(t);
  widget.serve(clock(), bundle("one"));

  const changes = [1, 2].map(() => widget.serve(withoutWidget(), undefined));

  assert.deepEqual(changes, [true, false]);
  assert.deepEqual(served, ["clock one", "no clock"]);
  assert.equal(widget.view, null);
});

test("the same code under another manifest is stored with that one", async (t) => {
  const { widget, versionStore } = await openWidget(t);
  widget.serve(clock("1.0.0"), bundle("one"));
  await widget.stored();

  widget.serve(clock("2.0.0"), bundle("one"));
  await widget.stored();

  assert.equal((await versionStore.version("clock"))?.plugin.version, "2.0.0");
});

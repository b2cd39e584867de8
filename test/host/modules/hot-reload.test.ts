import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { SDK_FOLDER } from "../../../host/modules/build/esbuild-plugin.ts";
import { HotReload } from "../../../host/modules/hot-reload.ts";
import type { Module } from "../../../host/modules/lifecycle/module.ts";
import type { WatcherDependencies } from "../../../host/modules/watch/watch.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

interface FakeModule {
  plugin: { folder: string };
  inputs: Set<string>;
  mayUseAnyFile: boolean;
  isWorking: boolean;
}

/** Modules that note their reloads, and a watcher that reports what a test gives it. */
async function openHotReload(t: TestContext) {
  const home = await emptyFolder(t);
  const root = join(home, "plugins");
  const steps: string[] = [];
  const modules: (FakeModule & { reload: (trigger: string) => Promise<void> })[] = [];
  const add = (id: string, given: Partial<FakeModule> = {}) => {
    const module = {
      plugin: { folder: join(root, id) },
      inputs: new Set([join(root, id, "index.ts"), join(root, id, "lib/part.ts")]),
      mayUseAnyFile: false,
      isWorking: true,
      reload: async (trigger: string) => {
        steps.push(`${id} reloads by ${trigger}`);
        throw new Error("shown by the module itself");
      },
      ...given,
    };
    modules.push(module);
    return module;
  };
  const broken = new Set<string>();
  const log = collectedLog();
  const watched: { roots: readonly string[]; parts: WatcherDependencies; folders: string[] }[] = [];
  const parts = {
    log,
    modules: () => modules as unknown as Module[],
    isBroken: (folder: string) => broken.has(folder),
    rediscover: async () => void steps.push("searches for plugins"),
    renewRuntime: () => void steps.push("renews the runtime"),
  };
  const hotReload = new HotReload([root], parts, (roots, watching) => {
    const watch = { roots, parts: watching, folders: [] as string[] };
    watched.push(watch);
    return {
      isSettling: (folder) => folder === join(root, "copy"),
      follow: (folders) => (watch.folders = [...folders]),
      close: () => steps.push("stops watching"),
    };
  });
  const [watch = assert.fail()] = watched;
  /** Reports changes below `folder`, and gives what has happened since. */
  const change = async (folder: string, ...files: string[]): Promise<string[]> => {
    watch.parts.onChange({ folder, files: files.map((file) => join(folder, file)) });
    await new Promise((done) => setImmediate(done));
    return steps.splice(0);
  };
  return { home, root, hotReload, steps, modules, add, broken, log, parts, watch, change };
}

test("the plugin folders and the SDK are watched", async (t) => {
  const { watch, root, hotReload, steps } = await openHotReload(t);

  hotReload.close();

  assert.deepEqual([watch.roots, steps], [[root, SDK_FOLDER], ["stops watching"]]);
});

test("a folder that is neither a module nor a broken one is new", async (t) => {
  const { root, add, broken, watch, hotReload } = await openHotReload(t);
  add("lamp");
  broken.add(join(root, "clock"));

  const folders = [join(root, "lamp"), join(root, "clock"), join(root, "copy"), SDK_FOLDER];

  assert.deepEqual(
    folders.map((folder) => watch.parts.isNew?.(folder)),
    [false, false, true, false],
  );
  assert.deepEqual(
    folders.map((folder) => hotReload.isSettling(folder)),
    [false, false, true, false],
  );
});

test("a saved file reloads the module that uses it, and no other", async (t) => {
  const { root, add, change } = await openHotReload(t);
  add("lamp");
  add("clock");

  assert.deepEqual(await change(join(root, "lamp"), "notes.md", "lib/part.ts"), [
    "lamp reloads by file",
  ]);
  assert.deepEqual(await change(join(root, "lamp"), "lib"), ["lamp reloads by file"]);
  assert.deepEqual(await change(join(root, "lamp"), "notes.md", "li", "index.tsx"), []);
});

test("any file may matter to a module that does not run or is being compiled", async (t) => {
  const { root, add, change } = await openHotReload(t);
  add("lamp", { mayUseAnyFile: true });

  assert.deepEqual(await change(join(root, "lamp"), "new.ts"), ["lamp reloads by file"]);
});

for (const [what, file] of [
  ["a changed manifest", "package.json"],
  ["a folder that was added or removed", "."],
] as const) {
  test(`${what} is read before the module reloads`, async (t) => {
    const { root, add, change } = await openHotReload(t);
    add("lamp");

    assert.deepEqual(await change(join(root, "lamp"), file), [
      "searches for plugins",
      "lamp reloads by file",
    ]);
  });
}

test("a file beside the plugins, and a new folder, cause a search only", async (t) => {
  const { root, change } = await openHotReload(t);

  assert.deepEqual(await change(join(root, "new"), "index.ts"), ["searches for plugins"]);
});

test("a module that was replaced or removed by the search is not reloaded", async (t) => {
  const { root, add, change, modules, parts, steps } = await openHotReload(t);
  add("lamp");
  parts.rediscover = async () => {
    steps.push("searches for plugins");
    modules.pop();
  };

  assert.deepEqual(await change(join(root, "lamp"), "package.json"), ["searches for plugins"]);
});

test("a folder that is not a valid plugin now is not reloaded", async (t) => {
  const { root, add, change, broken } = await openHotReload(t);
  add("lamp");
  broken.add(join(root, "lamp"));

  assert.deepEqual(await change(join(root, "lamp"), "index.ts"), []);
});

test("a change of the SDK renews the runtime, and reloads the modules that bundle the file", async (t) => {
  const { add, change } = await openHotReload(t);
  const inputs = new Set([join(SDK_FOLDER, "mqtt/client.ts")]);
  add("mqtt", { inputs });
  add("stopped", { inputs, isWorking: false });
  add("lamp");

  const folder = join(SDK_FOLDER, "mqtt");
  assert.deepEqual(await change(folder, "client.ts"), [
    "renews the runtime",
    "mqtt reloads by file",
  ]);
  assert.deepEqual(await change(folder, "pings.ts"), ["renews the runtime"]);
});

test("linked packages are watched, and reload the modules that use them", async (t) => {
  const { home, root, hotReload, add, change, watch } = await openHotReload(t);
  const wordy = join(home, "wordy");
  await mkdir(wordy);
  await writeFile(join(wordy, "package.json"), "{}");
  const inputs = new Set([join(root, "lamp/index.ts"), join(wordy, "index.ts")]);
  add("lamp", { inputs });
  add("clock");

  hotReload.followLinks();

  assert.deepEqual(watch.folders, [wordy]);
  assert.deepEqual(await change(wordy, "index.ts"), ["lamp reloads by file"]);
  assert.deepEqual(await change(wordy, "notes.md"), []);
});

test("a file that a module uses gets time to return when it disappears", async (t) => {
  const { root, add, watch } = await openHotReload(t);
  add("clock");
  add("lamp");

  const concerns = (file: string) => watch.parts.concerns(join(root, file));

  assert.deepEqual(["lamp/index.ts", "lamp/lib", "lamp/notes.md", "other/index.ts"].map(concerns), [
    true,
    true,
    false,
    false,
  ]);
});

test("a folder that cannot be watched is logged", async (t) => {
  const { watch, log } = await openHotReload(t);
  const error = new Error("ENOSPC");

  watch.parts.onFailure("/plugins", error);

  const sentence = "cannot watch a folder; its changes are not applied";
  const fields = { folder: "/plugins", error };
  assert.deepEqual(log.records, [{ level: "error", sentence, fields }]);
});

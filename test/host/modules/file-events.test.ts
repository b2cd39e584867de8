import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, open, readdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { LastReload } from "../../../host/api/module.ts";
import type { Bus } from "../../../host/events/bus.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const SPEAKER = `
import { definePlugin } from "@mantel/plugin-sdk";
import { word } from "./lib/word.ts";
export default definePlugin({ start: ({ log }) => log.info(word) });
`;
const word = (text: string) => `export const word: string = ${JSON.stringify(text)};\n`;
const speaker = (id: string) => ({
  "package.json": packageJson(id),
  "index.ts": SPEAKER,
  "lib/word.ts": word("first"),
});

/** The reloads that a module has told of, and how often it was started. */
function countReloads(bus: Bus, id: string) {
  const reloads = new Set<LastReload>();
  let starts = 0;
  let before = "";
  bus.on(({ topic, data }) => {
    if (topic !== "module.state" || data.module.id !== id) return;
    const { lastReload } = data.module;
    if (lastReload && lastReload.trigger !== "request") reloads.add(lastReload);
    if (data.module.state === "loading" && before !== "loading") starts++;
    before = data.module.state;
  });
  return { results: () => [...reloads].map(({ result }) => result), starts: () => starts };
}

/** Two speakers that run, and what is told of them from now on. */
async function startSpeakers(t: Parameters<typeof startModules>[0]) {
  const modules = await startModules(t, { one: speaker("one"), two: speaker("two") });
  const { bus, registry, root } = modules;
  const counts = { one: countReloads(bus, "one"), two: countReloads(bus, "two") };
  let marks = 0;
  return {
    ...modules,
    counts,
    file: join(root, "one/lib/word.ts"),
    /** Waits until a module has said a word. */
    said: (id: string, text: string) =>
      until(() => registry.logs(id).some(({ sentence }) => sentence === text), {
        withinMs: 10_000,
      }),
    /** A save after all that came before: when it has arrived, so has everything else. */
    mark: async (id: "one" | "two"): Promise<readonly string[]> => {
      const text = `mark ${++marks}`;
      await writeFile(join(root, id, "lib/word.ts"), word(text));
      await until(() => registry.logs(id).some(({ sentence }) => sentence === text));
      await registry.reload(id); // whatever is under way has ended after it
      return counts[id].results();
    },
  };
}

/** The ways in which editors write a file, step by step as strace shows them. */
const EDITORS: Record<string, (file: string, text: string) => Promise<void>> = {
  async "writes over it"(file, text) {
    await writeFile(file, text);
  },
  async "truncates it and writes later (VS Code)"(file, text) {
    const handle = await open(file, "w");
    await delay(10);
    await handle.write(text);
    await handle.close();
  },
  async "moves a backup away and writes a new file (vim)"(file, text) {
    await writeFile(join(file, "../4913"), "");
    await rm(join(file, "../4913"));
    await rename(file, `${file}~`);
    await delay(10);
    await writeFile(file, text);
    await rm(`${file}~`);
  },
  async "renames a finished copy over it (Kate, gedit)"(file, text) {
    await writeFile(`${file}.AB12CD`, text);
    await rename(`${file}.AB12CD`, file);
  },
  async "swaps old and new (JetBrains)"(file, text) {
    await writeFile(`${file}___jb_tmp___`, text);
    await rename(file, `${file}___jb_old___`);
    await rename(`${file}___jb_tmp___`, file);
    await rm(`${file}___jb_old___`);
  },
  async "leaves a lock and an autosave beside it (Emacs)"(file, text) {
    const lock = join(file, "../.#word.ts");
    await symlink("author@machine.1:1", lock);
    await writeFile(join(file, "../#word.ts#"), text);
    await writeFile(file, text);
    await rm(lock);
    await rm(join(file, "../#word.ts#"));
  },
};

test("a save causes one reload, for every way in which editors save", async (t) => {
  const { counts, file, said, mark } = await startSpeakers(t);

  for (const [editor, save] of Object.entries(EDITORS)) {
    for (const text of [editor, `${editor} again`]) {
      await save(file, word(text));
      await said("one", text);
    }
    const results = await mark("one");
    assert.deepEqual(results, Array(results.length).fill("reloaded"), editor);
  }

  assert.equal(counts.one.results().length, 3 * Object.keys(EDITORS).length);
  assert.deepEqual(counts.two.results(), []);
});

test("an import saved before its target works when the target is saved", async (t) => {
  const { write, said, root, registry } = await startSpeakers(t);

  for (let round = 0; round < 10; round++) {
    const imported = SPEAKER.replace("./lib/word.ts", `./lib/word${round}.ts`);
    await writeFile(join(root, "one/index.ts"), imported);
    await delay(round * 4); // before, while and after the import is found to be broken
    await write(`one/lib/word${round}.ts`, word(`round ${round}`));
    await said("one", `round ${round}`);
  }

  await registry.reload("one");
  assert.equal(registry.get("one").state, "active");
});

test("a git checkout of many files causes one reload per changed plugin", async (t) => {
  const { counts, root, write, said, mark } = await startSpeakers(t);
  const git = (...args: string[]) =>
    promisify(execFile)("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: root,
    });
  const fill = async (text: string) => {
    for (let at = 0; at < 300; at++)
      await write(`one/lib/part${at}.ts`, `export default "${text}";\n`);
    await write("one/lib/word.ts", word(text));
    await write(
      "one/index.ts",
      Array.from({ length: 300 }, (_, at) => `import "./lib/part${at}.ts";`).join("\n") + SPEAKER,
    );
  };
  await git("init", "--quiet", "--initial-branch", "main");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "main");
  await git("checkout", "--quiet", "-b", "other");
  await fill("other");
  await said("one", "other");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "other");
  await mark("one");
  const before = counts.one.results().length;

  await git("checkout", "--quiet", "--force", "main");
  await until(() => counts.one.results().length === before + 1);
  await git("checkout", "--quiet", "other");
  await until(() => counts.one.results().length === before + 2);
  const results = await mark("one");

  assert.deepEqual(results.slice(before), ["reloaded", "reloaded", "reloaded"]);
  assert.deepEqual(counts.two.results(), []);
});

test("a folder deleted and restored quickly keeps running and is still watched", async (t) => {
  const { counts, root, mark } = await startSpeakers(t);
  await cp(join(root, "one"), join(root, "../copy"), { recursive: true });

  await rm(join(root, "one"), { recursive: true });
  await rename(join(root, "../copy"), join(root, "one"));
  const results = await mark("one");

  assert.deepEqual(
    results.filter((result) => result !== "unchanged"),
    ["reloaded"],
  );
  assert.equal(counts.one.starts(), 0);
});

test("a folder deleted and restored later stops, starts once and is watched", async (t) => {
  const { counts, registry, root, mark } = await startSpeakers(t);

  await rename(join(root, "one"), join(root, "../away"));
  await until(() => registry.list().every(({ id }) => id !== "one"));
  await rename(join(root, "../away"), join(root, "one"));
  await until(() => registry.get("one").state === "active");
  const results = await mark("one");

  assert.equal(counts.one.starts(), 1);
  assert.deepEqual(results, ["reloaded"]);
});

test("the folder of all plugins may be replaced while the host runs", async (t) => {
  const { counts, root, mark, registry } = await startSpeakers(t);
  await cp(root, `${root}-copy`, { recursive: true });

  await rename(root, `${root}-old`);
  await rename(`${root}-copy`, root);
  await mark("one");
  await mark("two");

  assert.deepEqual(
    registry.list().map(({ state }) => state),
    ["active", "active"],
  );
  assert.equal(counts.one.starts() + counts.two.starts(), 0);
});

test("a folder copied file by file becomes a module once, when it is complete", async (t) => {
  const { bus, registry, write, root } = await startModules(t, {});
  const { results } = countReloads(bus, "slow");

  for (const [file, text] of Object.entries(speaker("slow")).toReversed()) {
    await write(`slow/${file}`, text);
    await delay(150);
  }
  await until(() => registry.get("slow").state === "active");
  const { generation } = registry.get("slow");

  assert.equal(generation, 1);
  assert.deepEqual(results(), []);
  assert.deepEqual(
    registry.list().map(({ id }) => id),
    ["slow"],
    (await readdir(root)).join(),
  );
});

test("moving a file to another plugin reloads both", async (t) => {
  const { counts, root, registry, said, mark } = await startSpeakers(t);
  await writeFile(join(root, "one/lib/word.ts"), word("moved"));
  await said("one", "moved");

  await rename(join(root, "one/lib/word.ts"), join(root, "two/lib/word.ts"));
  await said("two", "moved");
  await until(() => counts.one.results().includes("rolled_back"));

  assert.equal(registry.get("one").state, "active");
  assert.match(
    registry.get("one").error?.message ?? registry.get("one").lastReload?.error?.message ?? "",
    /lib\/word\.ts/,
  );
  assert.deepEqual(await mark("two"), ["reloaded", "reloaded"]);
  assert.deepEqual(await mark("one"), ["reloaded", "rolled_back", "reloaded"]);
});

test("a folder of sources that is renamed and renamed back leaves the code as it was", async (t) => {
  const { counts, root, mark, registry } = await startSpeakers(t);

  await rename(join(root, "one/lib"), join(root, "one/lib2"));
  await until(() => counts.one.results().includes("rolled_back"));
  await rename(join(root, "one/lib2"), join(root, "one/lib"));
  await until(() => counts.one.results().includes("unchanged"));

  assert.equal(registry.get("one").generation, 1);
  assert.deepEqual(await mark("one"), ["rolled_back", "unchanged", "reloaded"]);
});

test("touched files, and files outside the code, reload nothing", async (t) => {
  const { counts, root, write, mark } = await startSpeakers(t);

  for (const file of ["package.json", "index.ts", "lib/word.ts"]) {
    await utimes(join(root, "one", file), new Date(), new Date());
  }
  await write("one/README.md", "read me");
  await write("one/test/one.test.ts", "export {};");
  await mkdir(join(root, "one/node_modules/.cache"), { recursive: true });
  for (let at = 0; at < 100; at++)
    await write(`one/node_modules/p${at}/index.js`, `exports.at = ${at};`);
  await rm(join(root, "one/node_modules"), { recursive: true });
  const results = await mark("one");

  assert.deepEqual(
    results.filter((result) => result !== "unchanged"),
    ["reloaded"],
  );
  assert.equal(counts.one.starts(), 0);
});

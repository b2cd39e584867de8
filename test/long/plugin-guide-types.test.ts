import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { blocksIn } from "../docs/guide-blocks.ts";
import { linkParts, readGuide, REPOSITORY, save } from "../docs/guide-home.ts";
import { emptyFolder } from "../helpers/folder.ts";

const TSC = join(REPOSITORY, "node_modules/.bin/tsc");
/** The compiler settings of the repository, and which of the reader's files they are for. */
const SETTINGS = {
  "tsconfig.json": (path: string) => !isOfWidget(path),
  "test/host/dashboard/tsconfig.json": (path: string) => isOfWidget(path),
};
/** Tests of widgets are in the language of Node and of browsers, like the widgets that they import. */
const isOfWidget = (path: string): boolean => /widget(\.test)?\.ts$/.test(path);

test("the code of each step of the plugin guide has no type errors", async (t) => {
  const home = await emptyFolder(t);
  await linkParts(home, ["node_modules", "package.json"]);

  const written = new Set<string>();
  const files: string[] = [];
  for (const [number, page] of (await readGuide()).entries()) {
    const plugins = new Set<string>();
    for (const block of blocksIn(page)) {
      if (block.kind === "commands" || !block.path.endsWith(".ts")) continue;
      await save(home, block);
      written.add(block.path);
      plugins.add(pluginOf(block.path));
    }
    const step = `step-${number}`;
    await mkdir(join(home, step));
    await linkParts(join(home, step), []);
    for (const path of written) {
      if (!plugins.has(pluginOf(path))) continue;
      await cp(join(home, path), join(home, step, path));
      files.push(join(step, path));
    }
  }
  await checkTypes(home, files);
  assert.ok(written.size >= 15);
});

const PLUGIN = `
import { defineChannels, definePlugin, defineService, provide, Type } from "@mantel/plugin-sdk";
const State = Type.Object({ on: Type.Boolean() });
const add = defineService("garden.add", { input: State, output: Type.Number() });
const Room = Type.Optional(Type.String());
const rename = defineService("garden.rename", { input: Type.Object({ room: Room }), output: Room });
export default definePlugin({
  options: Type.Object({ name: Type.String() }),
  state: State,
  channels: defineChannels({ figures: { schema: State } }),
  async start({ config, handedOver, channels, channel, devices, call }) {
    await channels.figures.publish({ on: config.name === "lamp" });
    const { value } = channel("news/headlines", State);
    const sum: number = await call(add, handedOver ?? value ?? { on: false });
    devices.update({ nativeId: "lamp", state: { on: sum > 0 } });
    await call(rename, {});
    const room: string = await call(rename, { room: "attic" });
    // @ts-expect-error a room is a text
    await call(rename, { room: sum });
    // @ts-expect-error a name is a text
    const wrong: number = config.name;
    // @ts-expect-error nothing is read of a value that may be missing
    value.on;
    return { services: [provide(add, ({ on }) => Number(on))], handOver: () => ({ on: true }) };
  },
  async setup({ ask }) {
    const { name } = await ask({ title: "Name", form: Type.Object({ name: Type.String() }) });
    return { name };
  },
});
`;
/** It took 1,200,000 when the SDK's types made the compiler compare those of the schemas' library. */
const MOST_INSTANTIATIONS = 100_000;

test("the types of a plugin are those of its schemas, and the compiler has little to do for them", async (t) => {
  const home = await emptyFolder(t);
  await linkParts(home, ["node_modules", "package.json"]);
  await writeFile(join(home, "garden.ts"), PLUGIN);
  const settings = {
    extends: join(REPOSITORY, "tsconfig.json"),
    files: ["garden.ts"],
    include: [],
  };
  await writeFile(join(home, "tsconfig.json"), JSON.stringify(settings));

  const { stdout } = await promisify(execFile)(TSC, [
    ...["-p", join(home, "tsconfig.json")],
    ...["--checkers", "1", "--extendedDiagnostics"],
  ]);

  const [, count] = /^Instantiations: +(\d+)$/m.exec(stdout) ?? [];
  t.diagnostic(`${count} instantiations`);
  assert.ok(Number(count) > 0 && Number(count) < MOST_INSTANTIATIONS, stdout);
});

const pluginOf = (path: string): string => /garden-\w+/.exec(path)?.[0] ?? "";

async function checkTypes(home: string, written: readonly string[]): Promise<void> {
  const project = join(home, "tsconfig.json");
  for (const [base, isFor] of Object.entries(SETTINGS)) {
    const files = written.filter(isFor);
    if (files.length === 0) continue;
    const settings = { extends: join(REPOSITORY, base), files, include: [] };
    await writeFile(project, JSON.stringify(settings));
    const { stdout } = await promisify(execFile)(TSC, ["-p", project, "--checkers", "1"]).catch(
      (failure: { stdout: string }) => failure,
    );
    assert.equal(stdout, "");
  }
}

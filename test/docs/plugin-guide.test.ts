import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { freePort } from "../helpers/mosquitto.ts";
import { until } from "../helpers/until.ts";
import { type Block, guideSteps, shows } from "./guide-blocks.ts";
import { Terminal } from "./terminal.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const GUIDE = join(REPOSITORY, "docs/plugin-guide.md");
const TSC = join(REPOSITORY, "node_modules/.bin/tsc");
const PLUGIN = "plugins/garden-bridge";
/** The compiler settings of the repository, and which of the reader's files they are for. */
const SETTINGS = {
  "tsconfig.json": [`${PLUGIN}/index.ts`, `test/${PLUGIN}/index.test.ts`],
  "host/dashboard/tsconfig.json": [`${PLUGIN}/widget.ts`],
};
/** A saved file is live, and a device asked again, within this; a busy machine takes its time. */
const SETTLED_MS = 20_000;

test("each step of the plugin guide does what the guide says", async (t) => {
  const reader = await startReader(t);

  for (const block of guideSteps(reader.guide).flat()) await reader.follow(block);
});

test("the code of each step of the plugin guide has no type errors", async (t) => {
  const home = await emptyFolder(t);
  await linkParts(home, ["node_modules", "package.json"]);

  for (const step of guideSteps(await readFile(GUIDE, "utf8"))) {
    for (const block of step) if (block.kind !== "commands") await save(home, block);
    await checkTypes(home);
  }
});

/** Somebody with the guide, a host that runs, and a folder that looks like the repository. */
async function startReader(t: TestContext) {
  const host = await startHost(t, { plugins: [] });
  const home = dirname(host.plugins);
  await linkParts(home, ["host", "package.json", "plugin-sdk", "scripts"]);
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const terminal = Terminal.open(t, home, { ...environment, MANTEL_DATA: host.data });

  const ask = async (commands: string, shown: unknown): Promise<true> => {
    const { code, output } = await terminal.run(commands);
    assert.equal(code, 0, output);
    const answer = shown === null || (JSON.parse(lastLine(output)) as unknown);
    assert.ok(shown === null || shows(shown, answer), `${commands}\nanswers ${lastLine(output)}`);
    return true;
  };
  return {
    guide: (await readFile(GUIDE, "utf8"))
      .replaceAll("http://127.0.0.1:8470", host.url)
      .replaceAll("8480", String(await freePort()))
      .replaceAll(/^npm test/gm, "node --import tsx scripts/test.ts"), // which installs nothing first
    async follow(block: Block): Promise<void> {
      if (block.kind !== "commands") await save(home, block);
      else if (!mayRepeat(block.text)) await ask(block.text, block.answer);
      else {
        const shown = until(() => ask(block.text, block.answer), { withinMs: SETTLED_MS });
        await shown.catch(({ cause }: Error) => assert.fail(`${String(cause)}\n${host.log()}`));
      }
    },
  };
}

/** A reading, or a scene, which does no harm twice, is repeated until it shows what was saved before. */
function mayRepeat(commands: string): boolean {
  return /^api \S+(\/activate -X POST)?$/.test(commands);
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

async function save(home: string, block: Exclude<Block, { kind: "commands" }>): Promise<void> {
  const file = join(home, block.path);
  await mkdir(dirname(file), { recursive: true });
  if (block.kind === "file") return writeFile(file, block.content);
  const [start = "", end, ...more] = (await readFile(file, "utf8")).split(block.before);
  assert(
    end !== undefined && more.length === 0,
    `not exactly once in ${block.path}:\n${block.before}`,
  );
  return writeFile(file, start + block.after + end);
}

/** Makes a folder look like the repository, as far as a reader needs it. */
async function linkParts(home: string, parts: readonly string[]): Promise<void> {
  for (const part of parts) await symlink(join(REPOSITORY, part), join(home, part));
  const helper = "test/helpers/until.ts";
  await cp(join(REPOSITORY, helper), join(home, helper));
}

async function checkTypes(home: string): Promise<void> {
  const project = join(home, "tsconfig.json");
  for (const [base, all] of Object.entries(SETTINGS)) {
    const files = all.filter((file) => existsSync(join(home, file)));
    if (files.length === 0) continue;
    const settings = { extends: join(REPOSITORY, base), files, include: [] };
    await writeFile(project, JSON.stringify(settings));
    const { stdout } = await promisify(execFile)(TSC, ["-p", project]).catch(
      (failure: { stdout: string }) => failure,
    );
    assert.equal(stdout, "");
  }
}

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve as resolvePath } from "node:path";
import { after, test, type TestContext } from "node:test";
import { stop, transform } from "esbuild";
import { homeDeclaration, TSCONFIG } from "../../plugins/automations/code/home-types.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { stageCode } from "../plugins/automations/staged-code.ts";

after(() => stop());

const GUIDE = readFileSync("docs/automations-as-code.md", "utf8");
const BLOCKS = [...GUIDE.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
const EXAMPLES = BLOCKS.filter((code) => !code.includes('"mantel/testing"'));

const toggle = { type: "boolean" } as const;
const percent = { type: "number", min: 0, max: 100, unit: "%" } as const;
const gestures = { type: "choice", values: ["single", "double"], readOnly: true } as const;
const DEVICES = [
  { kind: "binary-sensor", name: "Front door", capabilities: { contact: toggle } },
  { kind: "light", name: "Hall lamp", capabilities: { on: toggle, brightness: percent } },
  { kind: "sensor", name: "Bath climate", capabilities: { humidity: percent } },
  { kind: "button", name: "Bed button", capabilities: { lastAction: gestures } },
  {
    kind: "fan",
    name: "Shed fan",
    capabilities: { on: toggle },
    parts: [{ id: "light", capabilities: { on: toggle } }],
    extra: { capabilities: { childLock: toggle } },
  },
].map((device, at) => ({ ...device, id: `demo:${device.kind}:${at + 1}` }) as never);
const SCENE = { id: "host:scene:night", kind: "scene", name: "Good night" };
const THINGS = [...(DEVICES as { id: string; kind: string; name: string }[]), SCENE];

/** The errors that an editor shows in these files, which lie beside the written declarations. */
async function errorsIn(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = await emptyFolder(t);
  const all: Readonly<Record<string, string>> = {
    ...files,
    "mantel.d.ts": readFileSync("plugins/automations/code/mantel.d.ts", "utf8"),
    "tsconfig.json": TSCONFIG,
    "home.d.ts": homeDeclaration(DEVICES, [SCENE]),
  };
  for (const [name, text] of Object.entries(all)) await writeFile(join(folder, name), text);
  const { output } = await new Promise<{ output: string }>((resolve) => {
    const tsc = [resolvePath("node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"];
    execFile(process.execPath, tsc, { cwd: folder }, (_, printed) => resolve({ output: printed }));
  });
  return [...output.matchAll(/^(\S+?)\((\d+),\d+\): error TS\d+: (.*)$/gm)].map(
    ([, file, line, sentence]) => `${file}:${line} ${sentence}`,
  );
}

test("the examples of the guide have no type errors, and wrong names are type errors", async (t) => {
  const wrong = `import { home, when } from "mantel";
const lamp = home.light("Hal lamp");
const door = home.light("Front door");
home.light("Hall lamp").becomes("colour", 1);
home.light("Hall lamp").set({ brightness: "full" });
home.scene("Good nite");
home.button("Bed button").gesture("triple");
when(lamp.isOn).then(() => undefined);
home.scene("Good night").activate();
home.light("Hall lamp").on({ brightness: 40, for: 1000 });
void door;
`;
  const named = Object.fromEntries(BLOCKS.map((text, at) => [`example-${at + 1}.ts`, text]));
  const errors = await errorsIn(t, { ...named, "wrong.ts": wrong });
  assert.deepEqual(
    errors.map((error) => error.split(" ")[0]),
    [2, 3, 4, 5, 6, 7, 8].map((line) => `wrong.ts:${line}`),
    errors.join("\n"),
  );
  assert.match(errors[0] ?? "", /"Hal lamp"' is not assignable to parameter of type '"Hall lamp"'/);
});

test("the examples of the guide are loaded and run", async (t) => {
  for (const [at, text] of EXAMPLES.entries()) {
    const { code } = await transform(text, { loader: "ts", format: "cjs" });
    const staged = await stageCode({ "example.ts": code }, { things: THINGS });
    t.after(() => staged.code.stop());
    assert.deepEqual(staged.code.broken(), [], `example ${at + 1}`);
    assert.equal(staged.code.problemOf("example.ts"), undefined, `example ${at + 1}`);
    assert.ok(staged.engine.run("example.ts"));
    for (let minute = 0; minute < 31; minute++) {
      await staged.turn();
      await staged.staged.advance(60_000);
    }
    const [trace] = staged.engine.tracesOf("example.ts");
    assert.ok(trace?.result === "completed" || trace?.result === "failed", `example ${at + 1}`);
    assert.equal(trace.error, undefined);
  }
});

test("the example of a test passes with the first example of the guide, and fails with another one", async (t) => {
  const data = await emptyFolder(t);
  const [automation = ""] = EXAMPLES;
  const example = BLOCKS.find((code) => !EXAMPLES.includes(code)) ?? "";
  await mkdir(join(data, "automations"));
  const write = (name: string, text: string) => writeFile(join(data, "automations", name), text);
  await write("hall-light.ts", automation);
  await write("hall-light.test.ts", example);
  await write("shorter.ts", automation.replace("minutes(5)", "minutes(4)"));
  await write("shorter.test.ts", example.replace('"hall-light.ts"', '"shorter.ts"'));
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const run = (file: string) =>
    new Promise<{ code: number; output: string }>((resolve) => {
      const script = ["--import", "tsx", "scripts/test-automations.ts", "--data", data, file];
      execFile(process.execPath, script, { env }, (error, output) =>
        resolve({ code: error ? 1 : 0, output }),
      );
    });
  const [passed, failed] = await Promise.all([run("hall-light.test.ts"), run("shorter.test.ts")]);
  assert.equal(passed.code, 0, passed.output);
  assert.match(passed.output, /pass 1\b/);
  assert.equal(failed.code, 1, failed.output);
  assert.match(failed.output, /shorter\.test\.ts:\d+/);
});

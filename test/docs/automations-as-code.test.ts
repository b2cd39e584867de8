import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve as resolvePath } from "node:path";
import { after, test, type TestContext } from "node:test";
import { stop, transform } from "esbuild";
import { homeDeclaration, TSCONFIG } from "../../plugins/automations/code/home-types.ts";
import { stageCode } from "../plugins/automations/staged-code.ts";

after(() => stop());

const GUIDE = readFileSync("docs/automations-as-code.md", "utf8");
const EXAMPLES = [...GUIDE.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);

const toggle = { type: "boolean" } as const;
const percent = { type: "number", min: 0, max: 100, unit: "%" } as const;
const gestures = { type: "choice", values: ["single", "double"], readOnly: true } as const;
const DEVICES = [
  { kind: "binary-sensor", name: "Front door", capabilities: { contact: toggle } },
  { kind: "light", name: "Hall lamp", capabilities: { on: toggle, brightness: percent } },
  { kind: "sensor", name: "Bath climate", capabilities: { humidity: percent } },
  { kind: "button", name: "Bed button", capabilities: { lastAction: gestures } },
].map((device, at) => ({ ...device, id: `demo:${device.kind}:${at + 1}` }) as never);
const THINGS = DEVICES as { id: string; kind: string; name: string }[];

/** The errors that an editor shows in these files, which lie beside the written declarations. */
async function errorsIn(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "mantel-editor-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const all: Readonly<Record<string, string>> = {
    ...files,
    "mantel.d.ts": readFileSync("plugins/automations/code/mantel.d.ts", "utf8"),
    "tsconfig.json": TSCONFIG,
    "home.d.ts": homeDeclaration(DEVICES, [{ id: "host:scene:night", name: "Good night" }]),
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
  const named = Object.fromEntries(EXAMPLES.map((text, at) => [`example-${at + 1}.ts`, text]));
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

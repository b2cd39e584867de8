import assert from "node:assert/strict";
import { availableParallelism, loadavg } from "node:os";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { ModuleView } from "../../../host/api/module.ts";
import { packageJson, startModules } from "../../helpers/module.ts";

/** Counts its calls, and hands the count over. */
const COUNTER = `
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";
import { step } from "./step.ts";

export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  start({ handedOver }) {
    let count = handedOver?.count ?? 0;
    return {
      services: [provide(brokerAddress, async () => ({ url: String((count += step)) }))],
      handOver: () => ({ count }),
    };
  },
});
`;
const counter = {
  "package.json": packageJson("counter", { provides: ["broker.address"] }),
  "index.ts": COUNTER,
  "step.ts": "export const step: number = 1;\n",
};
const inStart = (statement: string) => COUNTER.replace("let count", `${statement}\n    let count`);

const inAsyncStart = (statement: string) =>
  inStart(statement).replace("start({ handedOver })", "async start({ call, devices, handedOver })");

interface Fault {
  /** The saved texts by file; a text alone is the entry. */
  readonly saved: string | Readonly<Record<string, string>>;
  readonly says: RegExp;
  /** File and line in the author's source, where the fault has one. */
  readonly at?: string | undefined;
  /** True if the start uses up its 1.5 s of CPU time; beside others that takes longer than the 2 s that calls wait. */
  readonly usesItsTime?: boolean;
}

/** Calls wait so long for a module to come back. */
const CALLS_WAIT_MS = 2_000;

const FAULTS: Readonly<Record<string, Fault>> = {
  "a syntax error": {
    saved: { "step.ts": "export const step: number = ;\n" },
    says: /syntax error: unexpected ";"/,
    at: "step.ts:1",
  },
  "an export of another type": {
    saved: COUNTER.replace(/export default definePlugin\(\{[^]*/, "export default { start: 1 };\n"),
    says: /the default export is not a plugin/,
    at: "index.ts:5",
  },
  "a misspelled import of the SDK": {
    saved: COUNTER.replaceAll("definePlugin", "definePlugn"),
    says: /"@mantel\/plugin-sdk" does not export definePlugn; did you mean definePlugin\?/,
    at: "index.ts:5",
  },
  "no export": {
    saved: "export const plugin = 1;\n",
    says: /the default export is missing/,
    at: "index.ts:1",
  },
  "a throw at the top level": {
    saved: `${COUNTER}throw new Error("boom");\n`,
    says: /boom/,
    at: "index.ts:15",
  },
  "a throw in start": {
    saved: inStart('throw new Error("boom");'),
    says: /boom/,
    at: "index.ts:8",
  },
  "a hang in start": {
    saved: COUNTER.replace(
      "start({ handedOver }) {",
      "async start({ handedOver }) { await new Promise(() => {});",
    ),
    says: /start timed out after 1500 ms/,
  },
  "an exit in start": { saved: inStart("process.exit(3);"), says: /exited with code 3/ },
  "an exit at the top level": { saved: `${COUNTER}process.exit(3);\n`, says: /code 3/ },
  "an endless loop in start": {
    usesItsTime: true,
    saved: inStart("for (;;);"),
    says: /start timed out after 15000? ms/, // ten times as long for a process that hardly gets a CPU
  },
  "a missing dependency": {
    saved: `import "no-such-package";\n${COUNTER}`,
    says: /no-such-package is not installed/,
    at: "index.ts:1",
  },
  "a missing file": {
    saved: { "index.ts": COUNTER.replace("./step.ts", "./stride.ts") },
    says: /stride\.ts/,
    at: "index.ts:3",
  },
  "a state that the new code refuses": {
    saved: inStart("if (handedOver) throw new Error(`${handedOver.count} is too many`);"),
    says: /\d is too many/,
    at: "index.ts:8",
  },
  "a call that the host refuses": {
    saved: inAsyncStart("await devices.publish([]);"),
    says: /counter may not publish devices or scenes: its manifest does not declare it/,
    at: "index.ts:8",
  },
  "a call that the host refuses and nothing catches": {
    saved: inAsyncStart("void devices.publish([]);"),
    says: /an unhandled rejection: MantelError: counter may not publish/,
    at: "index.ts:8",
  },
  "an undeclared call": {
    saved: inAsyncStart('await call({ ...brokerAddress, name: "acme.news" }, {});'),
    says: /add "acme\.news" to "mantel\.uses"/,
    at: "index.ts:8",
  },
  "a manifest that is not JSON": {
    saved: { "package.json": '{\n  "mantel": { "id": "counter",, }\n}' },
    says: /is not JSON/,
    at: "package.json:2",
  },
  "a manifest that breaks a rule": {
    saved: { "package.json": packageJson("counter", { provides: ["weather"] }) },
    says: /\/mantel\/provides\/0/,
  },
  "a crash within ten seconds": {
    saved: inStart('setTimeout(() => { throw new Error("late"); }, 100);'),
    says: /late/,
    at: "index.ts:8",
  },
};

/** True if there were more processes to run than cores during the last minute. */
const isBusy = () => (loadavg()[0] ?? 0) > availableParallelism();

for (const [what, { saved, says, at, usesItsTime }] of Object.entries(FAULTS)) {
  test(`${what} keeps the previous code running, with its state and without losing a call`, async (t) => {
    const { services, write, once } = await startModules(t, { counter });
    const answers: Promise<number[]>[] = [];
    const answeredAt: number[] = [];
    const refused: unknown[] = [];
    const refuse = (error: unknown) => {
      refused.push(error);
      return [];
    };
    const ask = () =>
      void answers.push(
        services.call("broker.address", {}).then((it) => {
          answeredAt.push(performance.now());
          return [Number((it as { url: string }).url)];
        }, refuse),
      );
    for (let call = 0; call < 3; call++) ask();
    await Promise.all(answers);

    const load = setInterval(ask, 50); // so that the hundred calls that may wait are those of five seconds
    t.after(() => clearInterval(load));
    const files = typeof saved === "string" ? { "index.ts": saved } : saved;
    for (const [file, content] of Object.entries(files)) await write(`counter/${file}`, content);
    const view = await once("counter", rolledBack, 15_000);
    await delay(100);
    clearInterval(load);

    assert.equal(view.state, "active");
    assertReason(view, { says, at });
    const counts = (await Promise.all(answers)).flat().toSorted((a, b) => a - b);
    const different = [...new Set(counts)];
    assert.deepEqual(
      different,
      different.map((_, index) => index + 1),
    );
    const gapMs = Math.max(
      ...answeredAt.slice(1).map((each, index) => each - (answeredAt[index] ?? 0)),
    );
    const mayRefuse = usesItsTime && isBusy() && gapMs >= CALLS_WAIT_MS;
    if (!mayRefuse) assert.deepEqual(refused, []);
    // What the crashed process counted went with it, so the previous code counts that again.
    if (what !== "a crash within ten seconds") assert.equal(counts.length, different.length);
  });
}

test("code that crashes soon after it started gives way to the previous code with the state it was given", async (t) => {
  const { services, write, once } = await startModules(t, { counter });
  const ask = async () => ((await services.call("broker.address", {})) as { url: string }).url;
  for (const count of ["1", "2", "3"]) assert.equal(await ask(), count);

  const crashing = inStart('setTimeout(() => { throw new Error("late"); }, 100);');
  await write("counter/index.ts", crashing);
  await once("counter", rolledBack, 15_000);

  assert.equal(await ask(), "4");
});

test("previous code that cannot start again in its process gets its state in a new one", async (t) => {
  const onceOnly = `if ("started" in globalThis) process.exit(4);
    Object.assign(globalThis, { started: true });`;
  const { services, write, once } = await startModules(t, {
    counter: { ...counter, "index.ts": inStart(onceOnly) },
  });
  const ask = async () => ((await services.call("broker.address", {})) as { url: string }).url;
  for (const count of ["1", "2", "3"]) assert.equal(await ask(), count);

  await write("counter/index.ts", inStart('throw new Error("boom");'));
  await once("counter", rolledBack, 15_000);

  assert.equal(await ask(), "4");
});

const rolledBack = ({ state, lastReload }: ModuleView): boolean =>
  lastReload?.result === "rolled_back" && state !== "reloading";

function assertReason({ lastReload }: ModuleView, { says, at }: Pick<Fault, "says" | "at">): void {
  const { message = "", file, line, frame } = lastReload?.error ?? {};
  assert.match(message, says);
  assert.equal(file === undefined ? undefined : `${file}:${line}`, at);
  if (at !== undefined) assert.match(frame ?? "", new RegExp(`^> *${at.split(":")[1]} \\|`, "m"));
}

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Numbers of a command lie in fields of their own, so that commands which the host merges lose none. */
const FIELDS = 8;
/** Every tenth change starts an automation: a plugin sends at most 100 commands a second. */
const COUNTED = 10;
const READY_MS = 60_000;
const SAVED_MS = 30_000;

const SERVICES = `
import { defineService, Type } from "@mantel/plugin-sdk";
const Counts = Type.Object({ sent: Type.Integer(), missed: Type.Integer(), doubled: Type.Integer() });
export const begin = defineService("bench.begin", {
  input: Type.Object({ perSecond: Type.Integer() }), output: Type.Object({}), deadlineMs: 10_000, open: "read",
});
export const end = defineService("bench.end", {
  input: Type.Object({}), output: Counts, deadlineMs: 60_000, open: "read",
});
`;

const bridge = (files: number) => `
import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, provide } from "@mantel/plugin-sdk";
import { begin, end } from "./services.ts";
const extra = Object.fromEntries(
  Array.from({ length: ${FIELDS} }, (_, at) => ["field" + at, { type: "number", min: 0, max: 1e9, group: "main" }]),
);
export default definePlugin({
  async start({ devices, onDispose }) {
    const numbers = Array.from({ length: ${files} }, (_, at) => at + 1);
    await devices.publish([
      ...numbers.map((at) => ({ nativeId: "s" + at, kind: "sensor", name: "Meter " + at, capabilities: { power: { type: "number", unit: "W", readOnly: true }, temperature: { type: "number", unit: "°C", readOnly: true } }, state: { power: 0, temperature: 20 } })),
      ...numbers.map((at) => ({ nativeId: "l" + at, kind: "light", name: "Lamp " + at, capabilities: { on: { type: "boolean" } }, state: { on: false }, extra: { capabilities: extra, state: {} } })),
    ] as never);
    /** The number of times that each counted change was handled, by its number. */
    const handled: number[] = [];
    let first = 0;
    let timer: NodeJS.Timeout | undefined;
    const stop = () => clearInterval(timer);
    onDispose(stop);
    return {
      async command(nativeId: string, state: object, _id: string, { extra }: { extra: object }) {
        for (const count of Object.values(extra)) handled[count]++;
        devices.update({ nativeId, state, extra } as never);
      },
      services: [
        provide(begin, async ({ perSecond }) => {
          stop();
          first = handled.length;
          const startedAt = performance.now();
          let changes = 0;
          timer = setInterval(() => {
            const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
            for (; changes < due; changes++) {
              if (changes % ${COUNTED} === 0) {
                const count = handled.push(0) - 1;
                devices.update({ nativeId: "s" + ((count % ${files}) + 1), state: { power: count + 1 } });
              } else devices.update({ nativeId: "s" + ((changes % ${files}) + 1), state: { temperature: 15 + 10 * Math.random() } });
            }
          }, 2);
          return {};
        }),
        provide(end, async () => {
          stop();
          for (let quiet = 0, before = -1; quiet < 20; quiet++) {
            const sum = handled.reduce((all, each) => all + each, 0);
            if (sum !== before) quiet = 0;
            before = sum;
            await delay(100);
          }
          const counted = handled.slice(first);
          return {
            sent: counted.length,
            missed: counted.filter((times) => times === 0).length,
            doubled: counted.filter((times) => times > 1).length,
          };
        }),
      ],
    };
  },
});
`;

/** A file with two automations: one that answers each change of its meter, and one that waits. */
const fileOf = (number: number, version: number, { files, waitMs }: SavedAutomationsOptions) => `
import { home, type Run, webhook, when } from "mantel";
const meter = home.sensor("Meter ${number}");
const lamp = home.light("Lamp ${number}");
when(meter.changes("power"))
  .named("Count ${number}, version ${version}")
  .mode("parallel")
  .then(async (run: Run) => {
    const count = Number(run.trigger.to) - 1;
    await lamp.set({ [\`extra/field\${Math.floor(count / ${files}) % ${FIELDS}}\`]: count });
  });
when(webhook("wait-${number}"))
  .named("Wait ${number}")
  .then(async (run: Run) => {
    await run.wait(${waitMs});
    await lamp.on();
  });
`;

/** Counts of changes: those that were sent, not handled, and handled more than once. */
export interface Counts {
  readonly sent: number;
  readonly missed: number;
  readonly doubled: number;
}

export interface SavedAutomationsOptions {
  readonly files: number;
  /** The length of the wait of each file. */
  readonly waitMs: number;
  /** The folder `automations` of the host's data. */
  readonly folder: string;
  /** Sends a request below `/api/v1` and returns its JSON. @throws if the answer is an error */
  readonly request: (method: string, path: string, body?: object) => Promise<unknown>;
}

/** Writes the bridge of the bench, with a meter and a lamp for each file of automations. */
export async function writeCountingBridge(
  write: (file: string, text: string) => Promise<void>,
  files: number,
): Promise<void> {
  const mantel = {
    id: "bench-home",
    kinds: ["bridge"],
    server: "index.ts",
    bridge: { kind: "bench", commandsPerSecond: 1_000, burst: 1_000 },
    provides: ["bench.begin", "bench.end"],
  };
  const manifest = { name: "bench-home", type: "module", mantel };
  await write("bench-home/package.json", JSON.stringify(manifest));
  await write("bench-home/services.ts", SERVICES);
  await write("bench-home/index.ts", bridge(files));
}

/** Automations in files that are saved while a bridge reports changes. */
export class SavedAutomations {
  readonly #options: SavedAutomationsOptions;
  #versions = 0;

  constructor(options: SavedAutomationsOptions) {
    this.#options = options;
  }

  /** Writes all files, and resolves when each is in force. */
  async open(): Promise<void> {
    const { files, request } = this.#options;
    await untilDone(READY_MS, () => request("POST", "/services/bench.begin", { perSecond: 0 }));
    await untilDone(READY_MS, () => this.#write(1, 0));
    for (let number = 2; number <= files; number++) await this.#write(number, 0);
    await untilDone(READY_MS, async () => {
      const { automations } = (await request("GET", "/automations")) as {
        automations: { error: string | null }[];
      };
      const [error] = automations.flatMap((each) => each.error ?? []);
      if (error !== undefined) throw new Error(error);
      if (automations.length < 2 * files) throw new Error(`${automations.length} are loaded`);
    });
  }

  async begin(perSecond: number): Promise<void> {
    await this.#options.request("POST", "/services/bench.begin", { perSecond });
  }

  /** Ends the changes, and counts them when nothing happens any more. */
  async end(): Promise<Counts> {
    return (await this.#options.request("POST", "/services/bench.end", {})) as Counts;
  }

  /** Saves a file with a new version, and returns the milliseconds until the API shows it. */
  async save(): Promise<number> {
    const { files, request } = this.#options;
    const version = ++this.#versions;
    const number = (version % files) + 1;
    await this.#write(number, version);
    const savedAt = performance.now();
    for (;;) {
      const { name } = (await request("GET", `/automations/meter-${number}.ts`)) as {
        name: string;
      };
      const ms = performance.now() - savedAt;
      if (name.endsWith(`version ${version}`)) return ms;
      if (ms > SAVED_MS) throw new Error(`version ${version} is not in force: ${name}`);
      await delay(2);
    }
  }

  /** Begins the wait of each file. */
  async beginWaits(): Promise<void> {
    const { files, request } = this.#options;
    for (let number = 1; number <= files; number++)
      await request("POST", `/automations/${waitOf(number)}/run`);
  }

  /** The lengths of the waits (ms) that ended. One that was disturbed is missing or has another length. */
  async waits(): Promise<number[]> {
    const { files, request } = this.#options;
    const lengths: number[] = [];
    for (let number = 1; number <= files; number++) {
      const { traces } = (await request("GET", `/automations/${waitOf(number)}/traces`)) as {
        traces: Traced[];
      };
      const [run, ...others] = traces;
      const [wait] = run?.actions ?? [];
      if (run?.result !== "completed" || others.length > 0 || !wait) continue;
      lengths.push(Date.parse(wait.endedAt) - Date.parse(wait.startedAt));
    }
    return lengths;
  }

  async #write(number: number, version: number): Promise<void> {
    const path = join(this.#options.folder, `meter-${number}.ts`);
    await writeFile(path, fileOf(number, version, this.#options));
  }
}

interface Traced {
  readonly result: string;
  readonly actions: readonly { readonly startedAt: string; readonly endedAt: string }[];
}

const waitOf = (number: number): string => encodeURIComponent(`meter-${number}.ts:2`);

/** Repeats work until it succeeds. @throws what it throws at the end */
async function untilDone(withinMs: number, work: () => Promise<unknown>): Promise<void> {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await delay(100);
    }
  }
}

import type { StateValue } from "@mantel/plugin-sdk";
import type { Condition, Mode, Trigger } from "../engine/document.ts";
import { CodeDevice } from "./code-device.ts";
import { type CallingRun, isOk, isTrue, part, wholeOf } from "./steps.ts";

/** The dependencies of the module `mantel` of one file. */
export interface ApiDependencies {
  /** The name of an automation without one. */
  readonly name: string;
  /** Finds a device or scene by its name; the id of none for an unknown name, with a warning. */
  readonly find: (kind: string, name: string) => string;
  /** Declares a variable, which begins with a value. */
  readonly declare: (name: string, initial: unknown) => void;
  readonly define: (definition: {
    readonly name?: string;
    readonly mode: Mode;
    readonly enabled: boolean;
    readonly triggers: readonly Trigger[];
    readonly conditions: readonly Condition[];
    readonly actions: (run: object) => unknown;
  }) => void;
  /** @throws Error outside of a run */
  readonly run: () => CallingRun;
}

type Options = Readonly<Record<string, unknown>>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The module `mantel` for one file. */
export function createApi(parts: ApiDependencies): Record<string, unknown> {
  return {
    ...DURATIONS,
    ...TRIGGERS,
    ...CONDITIONS,
    when: (...triggers: Trigger[]) => new AutomationBuilder(parts, triggers),
    variable: (name: string, initial: unknown) => variableOf(parts, String(name), initial),
    home: homeOf(parts),
  };
}

/** Lengths of time in milliseconds. */
export const DURATIONS = {
  seconds: (count: number) => Math.round(count * SECOND_MS),
  minutes: (count: number) => Math.round(count * MINUTE_MS),
  hours: (count: number) => Math.round(count * HOUR_MS),
  days: (count: number) => Math.round(count * 24 * HOUR_MS),
};

const sunTrigger =
  (event: "sunrise" | "sunset") =>
  ({ offset, missed }: Options = {}): Trigger =>
    part({ type: "sun", event, offsetMs: offset, missed });

const TRIGGERS = {
  at: (time: string, { days, missed }: Options = {}): Trigger =>
    part({ type: "time", at: time, days, missed }),
  cron: (expression: string, { missed }: Options = {}): Trigger =>
    part({ type: "cron", expression, missed }),
  sun: {
    rises: sunTrigger("sunrise"),
    sets: sunTrigger("sunset"),
    isUp: { type: "sun", is: "up" } satisfies Condition,
    isDown: { type: "sun", is: "down" } satisfies Condition,
  },
  calendar: (id: string) => ({
    starts: ({ match, offset, missed }: Options = {}): Trigger =>
      part({ type: "calendar", calendar: id, match, edge: "start", offsetMs: offset, missed }),
    ends: ({ match, offset, missed }: Options = {}): Trigger =>
      part({ type: "calendar", calendar: id, match, edge: "end", offsetMs: offset, missed }),
    reminds: ({ match, offset, missed }: Options = {}): Trigger =>
      part({ type: "calendar", calendar: id, match, edge: "reminder", offsetMs: offset, missed }),
    isBusy: ({ match }: Options = {}): Condition => part({ type: "calendar", calendar: id, match }),
  }),
  presence: {
    arrives: (): Trigger => ({ type: "presence", anyone: true }),
    leaves: (): Trigger => ({ type: "presence", anyone: false }),
  },
  mqtt: (topic: string, payload?: string): Trigger => part({ type: "mqtt", topic, payload }),
  webhook: (name: string): Trigger => ({ type: "webhook", name }),
  start: (): Trigger => ({ type: "start" }),
};

const CONDITIONS = {
  somebodyHome: { type: "presence", anyone: true } satisfies Condition,
  nobodyHome: { type: "presence", anyone: false } satisfies Condition,
  between: (after: string, before: string, days?: readonly string[]): Condition =>
    part({ type: "time", after, before, days }),
  all: (...of: Condition[]): Condition => ({ type: "all", of }),
  any: (...of: Condition[]): Condition => ({ type: "any", of }),
  none: (...of: Condition[]): Condition => ({ type: "none", of }),
};

class AutomationBuilder {
  readonly #parts: ApiDependencies;
  readonly #triggers: readonly Trigger[];
  readonly #conditions: Condition[] = [];
  #name: string | undefined;
  #mode: Mode = "single";
  #enabled = true;

  constructor(parts: ApiDependencies, triggers: readonly Trigger[]) {
    this.#parts = parts;
    this.#triggers = triggers;
  }

  if(...conditions: Condition[]): this {
    this.#conditions.push(...conditions);
    return this;
  }

  named(name: string): this {
    this.#name = name;
    return this;
  }

  mode(mode: Mode): this {
    this.#mode = mode;
    return this;
  }

  disabled(): this {
    this.#enabled = false;
    return this;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- the word of automations; nobody awaits one
  then(actions: unknown): void {
    if (typeof actions !== "function") throw new TypeError(".then needs a function");
    const { run } = this.#parts;
    this.#parts.define({
      ...(this.#name !== undefined && { name: this.#name }),
      mode: this.#mode,
      enabled: this.#enabled,
      triggers: this.#triggers,
      conditions: this.#conditions,
      actions: () => (actions as (given: object) => unknown)(runOf(run())),
    });
  }
}

/** The object that the actions of an automation get. */
function runOf(run: CallingRun): object {
  const { id, startedAt, trigger } = run;
  return Object.freeze({
    id,
    startedAt,
    trigger,
    body: (...path: readonly (string | number)[]) => valueAt(trigger.body, path),
    wait: async (ms: number, maxMs?: number) => {
      const most = maxMs === undefined ? {} : { maxMs: wholeOf(maxMs) };
      await run.step({ type: "wait", ms: wholeOf(ms), ...most });
    },
    waitFor: async (waited: Trigger, timeout: number) =>
      isTrue(await run.step({ type: "waitFor", trigger: waited, timeoutMs: wholeOf(timeout) })),
    check: async (...conditions: Condition[]) =>
      isTrue(await run.step({ type: "check", conditions })),
    value: async (compute: () => unknown) => {
      const { value } = await run.step({ type: "value", value: await compute() });
      return value;
    },
    notify: async (message: string, { to }: Options = {}) =>
      isOk(await run.step(part({ type: "notify", message: String(message), to }))),
  });
}

function valueAt(given: unknown, path: readonly (string | number)[]): unknown {
  let value = given;
  for (const name of path) {
    const isOwn = typeof value === "object" && value !== null && Object.hasOwn(value, name);
    value = isOwn ? (value as Readonly<Record<string | number, unknown>>)[name] : undefined;
  }
  return value;
}

/** A value that lasts from one run to the next. */
function variableOf({ declare, run }: ApiDependencies, name: string, initial: unknown): object {
  declare(name, initial);
  const condition = (fields: object): Condition => part({ type: "variable", name, ...fields });
  const get = async () => (await run().step({ type: "variable", name })).value ?? null;
  const change = async (fields: object): Promise<unknown> => {
    const { result, value, error } = await run().step({ type: "variable", name, ...fields });
    if (result === "failed") throw new Error(error);
    return value;
  };
  return Object.freeze({
    name,
    get,
    set: async (value: unknown) => void (await change({ set: value ?? null })),
    async update(compute: (value: unknown) => unknown) {
      for (;;) {
        const expected = await get();
        const value = (await compute(expected)) ?? null;
        // Another run may have changed it meanwhile.
        if ((await change({ expected, set: value })) === true) return value;
      }
    },
    is: (equals: StateValue) => condition({ equals }),
    isAbove: (above: number) => condition({ above }),
    isBelow: (below: number) => condition({ below }),
    isKnown: () => condition({}),
  });
}

/** Kinds of devices by the words of `home`: `binarySensor` finds those of the kind `binary-sensor`. */
function homeOf({ find, run }: ApiDependencies): object {
  const device = (id: string, name: string) => new CodeDevice(id, name, run);
  const byId = { device: (id: string) => device(id, id) };
  const scene = (name: string) => {
    const id = find("scene", name);
    return { id, activate: async () => isOk(await run().step({ type: "scene", scene: id })) };
  };
  return new Proxy(
    { ...byId, scene },
    {
      get(fixed, word) {
        if (typeof word !== "string") return undefined;
        if (Object.hasOwn(fixed, word)) return fixed[word as keyof typeof fixed];
        const kind = word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        return (name: string) => device(find(kind, String(name)), String(name));
      },
    },
  );
}

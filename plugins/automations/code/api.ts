import type { StateValue } from "@mantel/plugin-sdk";
import type { Run, StepRequest, StepResult } from "../engine/automation.ts";
import type { Condition, Mode, Trigger } from "../engine/document.ts";

/** The steps of the run whose code calls. */
export interface CallingRun extends Pick<Run, "id" | "startedAt" | "trigger"> {
  step(request: StepRequest): Promise<StepResult>;
}

/** What the module `mantel` of one file needs. */
export interface ApiDependencies {
  /** The name of an automation without one. */
  readonly name: string;
  /** Finds a device or scene by its name; the id of none for an unknown name, with a warning. */
  readonly find: (kind: string, name: string) => string;
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

/** Leaves out what is undefined, so that the data is a valid document. */
function part<T extends object>(fields: T): never {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as never;
}

/** The module `mantel` for one file. */
export function createApi(parts: ApiDependencies): Record<string, unknown> {
  return {
    ...DURATIONS,
    ...TRIGGERS,
    ...CONDITIONS,
    when: (...triggers: Trigger[]) => new AutomationBuilder(parts, triggers),
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
    starts: ({ match, offset }: Options = {}): Trigger =>
      part({ type: "calendar", calendar: id, match, edge: "start", offsetMs: offset }),
    ends: ({ match, offset }: Options = {}): Trigger =>
      part({ type: "calendar", calendar: id, match, edge: "end", offsetMs: offset }),
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
    wait: async (ms: number) => void (await run.step({ type: "wait", ms: wholeOf(ms) })),
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

const wholeOf = (ms: number): number => {
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  throw new TypeError(`${ms} is not a time in milliseconds; write minutes(5), for example`);
};
const isOk = ({ result }: StepResult) => result === "ok";
const isTrue = ({ value }: StepResult) => value === true;

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

/** The body of a command: `parts/light/on` becomes a field of its part. */
function nested(fields: object): object {
  const body: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    const path = field.split("/");
    const last = path.pop() ?? "";
    let section = body;
    for (const word of path) section = (section[word] ??= {}) as Record<string, unknown>;
    section[last] = value;
  }
  return body;
}

interface Crossing {
  readonly for?: number;
  readonly hysteresis?: number;
}

/** A device as code uses it. Its declaration shows each kind only what it can do. */
class CodeDevice {
  readonly id: string;
  readonly name: string;
  readonly #run: () => CallingRun;

  constructor(id: string, name: string, run: () => CallingRun) {
    this.id = id;
    this.name = name;
    this.#run = run;
  }

  changes(field: string, { from, to, for: forMs }: Options = {}): Trigger {
    return part({ type: "state", device: this.id, field, from, to, forMs });
  }

  becomes(field: string, to: StateValue, { for: forMs }: Crossing = {}): Trigger {
    return part({ type: "state", device: this.id, field, to, forMs });
  }

  risesAbove(field: string, above: number, { hysteresis, for: forMs }: Crossing = {}): Trigger {
    return part({ type: "state", device: this.id, field, above, hysteresis, forMs });
  }

  fallsBelow(field: string, below: number, { hysteresis, for: forMs }: Crossing = {}): Trigger {
    return part({ type: "state", device: this.id, field, below, hysteresis, forMs });
  }

  crosses(field: string, { above, below, hysteresis, for: forMs }: Options): Trigger {
    return part({ type: "state", device: this.id, field, above, below, hysteresis, forMs });
  }

  emits(event: string): Trigger {
    return { type: "event", device: this.id, event };
  }

  gesture(name: string): Trigger {
    return this.emits(name);
  }

  becomesUnavailable(options?: Crossing): Trigger {
    return this.becomes("available", false, options);
  }

  becomesAvailable(options?: Crossing): Trigger {
    return this.becomes("available", true, options);
  }

  turnsOn(options?: Crossing): Trigger {
    return this.becomes("on", true, options);
  }

  turnsOff(options?: Crossing): Trigger {
    return this.becomes("on", false, options);
  }

  opens(options?: Crossing): Trigger {
    return this.becomes("contact", false, options);
  }

  closes(options?: Crossing): Trigger {
    return this.becomes("contact", true, options);
  }

  detectsMotion(options?: Crossing): Trigger {
    return this.becomes("motion", true, options);
  }

  motionEnds(options?: Crossing): Trigger {
    return this.becomes("motion", false, options);
  }

  is(field: string, equals: StateValue): Condition {
    return { type: "state", device: this.id, field, equals };
  }

  isAbove(field: string, above: number): Condition {
    return { type: "state", device: this.id, field, above };
  }

  isBelow(field: string, below: number): Condition {
    return { type: "state", device: this.id, field, below };
  }

  isKnown(field: string): Condition {
    return { type: "state", device: this.id, field };
  }

  get isOn(): Condition {
    return this.is("on", true);
  }

  get isOff(): Condition {
    return this.is("on", false);
  }

  get isOpen(): Condition {
    return this.is("contact", false);
  }

  get isClosed(): Condition {
    return this.is("contact", true);
  }

  get seesMotion(): Condition {
    return this.is("motion", true);
  }

  async read(field: string): Promise<unknown> {
    const { value } = await this.#run().step({ type: "read", device: this.id, field });
    return value;
  }

  async set(command: object, { for: forMs }: Crossing = {}): Promise<boolean> {
    const step = part({ type: "command", device: this.id, command: nested(command), forMs });
    return isOk(await this.#run().step(step));
  }

  on({ for: forMs, ...values }: Crossing & Options = {}): Promise<boolean> {
    return this.set({ on: true, ...values }, part({ for: forMs }));
  }

  off(options?: Crossing): Promise<boolean> {
    return this.set({ on: false }, options);
  }

  open(): Promise<boolean> {
    return this.set({ open: true });
  }

  close(): Promise<boolean> {
    return this.set({ close: true });
  }

  stop(): Promise<boolean> {
    return this.set({ stop: true });
  }

  moveTo(position: number): Promise<boolean> {
    return this.set({ position });
  }

  heatTo(targetTemperature: number, options?: Crossing): Promise<boolean> {
    return this.set({ targetTemperature }, options);
  }

  lock(): Promise<boolean> {
    return this.set({ locked: true });
  }

  unlock(): Promise<boolean> {
    return this.set({ locked: false });
  }
}

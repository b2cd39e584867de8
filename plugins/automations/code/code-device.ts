import type { StateValue } from "@mantel/plugin-sdk";
import type { Condition, Trigger } from "../engine/document.ts";
import { type CallingRun, isOk, part, wholeOf } from "./steps.ts";

type Options = Readonly<Record<string, unknown>>;

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
export class CodeDevice {
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

  arrives(): Trigger {
    return this.becomes("home", true);
  }

  leaves(): Trigger {
    return this.becomes("home", false);
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

  get isHome(): Condition {
    return this.is("home", true);
  }

  get isAway(): Condition {
    return this.is("home", false);
  }

  async read(field: string): Promise<unknown> {
    const { value } = await this.#run().step({ type: "read", device: this.id, field });
    return value;
  }

  async set(command: object, { for: forMs }: Crossing = {}): Promise<boolean> {
    const step = part({ type: "command", device: this.id, command: nested(command), forMs });
    return isOk(await this.#run().step(step));
  }

  async ramp(field: string, to: number, time: number): Promise<boolean> {
    const ms = Math.max(1_000, wholeOf(time));
    return isOk(await this.#run().step({ type: "ramp", device: this.id, field, to, ms }));
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

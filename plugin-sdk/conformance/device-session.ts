import { setTimeout as delay } from "node:timers/promises";
import type { Capabilities, DeviceCommand, DeviceDescription, DeviceState } from "../device.ts";
import { MantelError } from "../errors.ts";
import type { BridgeUnderTest, ConformanceFault, TestedCapability } from "./bridge-under-test.ts";
import { type DeviceFunction, functionsOf, type WholeCommand } from "./device-function.ts";
import type { Explanations } from "./explanations.ts";
import { type Setting, settingsOf } from "./values.ts";

/** A command has to be confirmed, or refused, within this. */
const COMMAND_MS = 30_000;
/** Time for a report to arrive after a command was confirmed, or after a device has become unreachable. */
const REPORT_MS = 2_000;
const POLL_MS = 5;
/** One mistake may concern every level, so few of each capability are told in each check. */
const MOST_FAULTS = 3;

/** From most to least. */
const RANKS: readonly TestedCapability["tested"][] = ["set", "sent", "read"];

/** One device of a bridge under test: sends commands, reads states, and collects faults. */
export class DeviceSession {
  readonly bridge: BridgeUnderTest;
  readonly nativeId: string;
  readonly faults: ConformanceFault[] = [];
  /** The result of each capability, by its path. */
  readonly #tested = new Map<string, TestedCapability>();
  readonly #explanations: Explanations;
  /** The number of faults by capability, since the present check began. */
  readonly #counts = new Map<string, number>();

  constructor(bridge: BridgeUnderTest, nativeId: string, explanations: Explanations) {
    this.bridge = bridge;
    this.nativeId = nativeId;
    this.#explanations = explanations;
  }

  get device(): DeviceDescription {
    const device = this.bridge.plugin.devices.get(this.nativeId);
    if (device) return device;
    throw new MantelError(
      "device_unknown",
      `the bridge does not publish ${this.nativeId} any more`,
    );
  }

  get functions(): DeviceFunction[] {
    return functionsOf(this.device);
  }

  /** The present state of a function. */
  state(path: string): DeviceState {
    return this.functions.find((each) => each.path === path)?.state ?? {};
  }

  get tested(): TestedCapability[] {
    return [...this.#tested.values()];
  }

  /** True if the capability is not commanded, or the device cannot do something, for a stated reason. */
  isExplained(of: "except" | "untold" | "cannot", what: string): boolean {
    return this.#explanations.has(of, this.nativeId, what);
  }

  /** Reports that the device cannot be stalled or made unreachable, unless there is a reason. */
  cannot(what: "stall" | "setReachable"): void {
    if (this.isExplained("cannot", what)) return;
    this.fault("", `"${what}", or a reason in "cannot"`, "there is neither");
  }

  /** The settings of a function that are commanded, each with values that it has to accept. */
  settingsOf(of: DeviceFunction): Setting[] {
    return settingsOf(of, (path) => this.#explanations.textsOf(this.nativeId, path)).filter(
      ({ name }) => !this.isExplained("except", `${of.path}${name}`),
    );
  }

  /** Notes what was done with a capability. More than before replaces less. */
  note({ path, kind }: DeviceFunction, name: string, tested: TestedCapability["tested"]): void {
    const capability = `${path}${name}`;
    const known = this.#tested.get(capability)?.tested;
    if (known && RANKS.indexOf(known) <= RANKS.indexOf(tested)) return;
    this.#tested.set(capability, { nativeId: this.nativeId, kind, capability, tested });
  }

  /** Runs one check. */
  async run(check: (session: DeviceSession) => Promise<void>): Promise<void> {
    this.#counts.clear();
    await check(this);
  }

  /** Returns false if the capability has enough faults in this check. */
  fault(capability: string, expected: string, actual: string): boolean {
    const count = (this.#counts.get(capability) ?? 0) + 1;
    this.#counts.set(capability, count);
    if (count <= MOST_FAULTS) {
      this.faults.push({ nativeId: this.nativeId, capability, expected, actual });
    }
    return count < MOST_FAULTS;
  }

  /**
   * Sends values as the host does: a brightness of 0 turns off, one above 0 turns on. Waits while the bridge limits the
   * rate.
   * @throws the error of the bridge; MantelError `deadline_passed`
   */
  async send({ capabilities, toCommand }: DeviceFunction, values: DeviceCommand): Promise<void> {
    const code = this.bridge.codes?.[this.nativeId];
    const hasCode = code !== undefined && "code" in capabilities;
    await this.sendWhole(
      toCommand({ ...withSwitch(capabilities, values), ...(hasCode && { code }) }),
    );
  }

  async sendWhole({ command, beyond }: WholeCommand): Promise<void> {
    const { plugin } = this.bridge;
    const endsAt = performance.now() + COMMAND_MS;
    for (;;) {
      try {
        return await within(plugin.command(this.nativeId, command, beyond), COMMAND_MS);
      } catch (error) {
        if (!(error instanceof MantelError) || error.code !== "bridge_rate_limited") throw error;
        if (performance.now() > endsAt) throw error;
        await delay(error.extras.retryAfterMs ?? POLL_MS);
      }
    }
  }

  /** Sends values and reports a fault if the bridge refuses them. Returns true if it confirms them. */
  async confirms(of: DeviceFunction, capability: string, values: DeviceCommand): Promise<boolean> {
    try {
      await this.send(of, values);
      return true;
    } catch (error) {
      this.fault(
        `${of.path}${capability}`,
        `that the bridge confirms ${JSON.stringify(values)}`,
        `it fails: ${wordsOf(error)}`,
      );
      return false;
    }
  }

  /** Lets the device finish, and resolves with true as soon as the check holds, or false at the deadline. */
  async eventually(check: () => boolean): Promise<boolean> {
    await this.bridge.settle?.(this.nativeId);
    const endsAt = performance.now() + (this.bridge.reportMs ?? REPORT_MS);
    while (!check()) {
      if (performance.now() > endsAt) return false;
      await delay(POLL_MS);
    }
    return true;
  }
}

/** True if the function is switched by `on`. */
export const canTurnOn = (capabilities: Capabilities): boolean =>
  capabilities["on"]?.type === "boolean" && capabilities["on"].readOnly !== true;

function withSwitch(capabilities: Capabilities, values: DeviceCommand): DeviceCommand {
  const { brightness, ...rest } = values;
  if (brightness === undefined || !canTurnOn(capabilities)) return values;
  return brightness === 0 ? { ...rest, on: false } : { on: true, ...values };
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const ended = new AbortController();
  const late = delay(ms, undefined, { signal: ended.signal }).then(() => {
    throw new MantelError("deadline_passed", `no answer within ${ms} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([work, late]).finally(() => ended.abort());
}

export function wordsOf(error: unknown): string {
  if (error instanceof MantelError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

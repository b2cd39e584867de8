import {
  Confirmations,
  type DeviceCommand,
  type DeviceState,
  type DeviceUpdate,
  MantelError,
} from "@mantel/plugin-sdk";
import type { MqttClient } from "@mantel/plugin-sdk/mqtt";
import { isExactly } from "./coerce.ts";
import type { ComponentGroup } from "./component-groups.ts";
import { confirmsAll } from "./confirmation.ts";
import type { DeviceStore } from "./device-store.ts";
import type { Message } from "./payload.ts";
import { type Share, sharesOf, split } from "./shares.ts";

/** Shorter than the host's deadline, so that the caller learns which value is missing. */
const CONFIRM_MS = 4_500;
const RETRY_MS = 3_000;

/** Takes commands to devices, and waits until they tell that they have obeyed. */
export class Commands {
  readonly #home: DeviceStore;
  readonly #mqtt: MqttClient;
  readonly #update: (update: DeviceUpdate) => void;
  readonly #confirmations = new Confirmations<DeviceState>();

  constructor(home: DeviceStore, mqtt: MqttClient, update: (update: DeviceUpdate) => void) {
    this.#home = home;
    this.#mqtt = mqtt;
    this.#update = update;
  }

  /** Passes a reported state to waiting commands. */
  told(nativeId: string, state: DeviceState): void {
    this.#confirmations.report(nativeId, state);
  }

  /**
   * Resolves when the device tells all that is not so already; what nothing tells counts as done when the
   * broker has it. @throws MantelError `bridge_down`, `broker_refused`, `deadline_passed`, `invalid`
   */
  async carryOut(nativeId: string, own: DeviceCommand, extra: DeviceCommand = {}): Promise<void> {
    const device = this.#home.find(nativeId);
    if (!device) {
      throw new MantelError("device_unknown", `no device has announced itself as ${nativeId}`);
    }
    const command = { ...own, ...extra };
    const shares = sharesOf(device, command).map((share) => ({ ...share, ...split(share) }));
    if (shares.every(({ messages }) => messages.length === 0)) {
      throw incomplete(device.name, command);
    }
    const now = this.#home.stateOf(device);
    const asked: DeviceState = Object.assign({}, ...shares.map(({ told }) => told));
    const missing = new Map(Object.entries(open(device, asked, now)));
    if (missing.size === 0) return this.#sendAll(shares);
    let sent: Promise<void> | undefined;
    await this.#confirmations.confirm(nativeId, {
      send: () => (sent = this.#sendAll(shares)),
      isConfirmed: confirmsAll(device, missing, { before: now, requested: command }),
      deadlineMs: CONFIRM_MS,
      overdue: () => `${device.name} has not confirmed ${[...missing.keys()].join(", ")}`,
    });
    await sent; // what nothing reports is assumed before the answer
  }

  /** Sends all messages, and takes over the fields that nothing reports. */
  async #sendAll(shares: readonly SplitShare[]): Promise<void> {
    for (const { messages } of shares) for (const message of messages) await this.send(message);
    for (const { component, assumed } of shares) {
      const assumption = this.#home.assume(component, assumed);
      if (assumption) this.#update(assumption);
    }
  }

  /** @throws MantelError `bridge_down`, `broker_refused` */
  async send(message: Message): Promise<void> {
    try {
      await this.#mqtt.publish(message);
    } catch (error) {
      if (!(error instanceof MantelError) || error.code !== "broker_down") throw error;
      const { message: reason } = error;
      throw new MantelError("bridge_down", reason, { cause: error, retryAfterMs: RETRY_MS });
    }
  }
}

type SplitShare = Share & ReturnType<typeof split>;

function incomplete(name: string, command: DeviceCommand): MantelError {
  const fields = Object.keys(command).join(" and ");
  const sentence = `${name}: ${fields} cannot be set alone`;
  return new MantelError("invalid", sentence);
}

/** The requested values that are not already set: a device may not report those again. */
function open({ capabilities }: ComponentGroup, asked: DeviceState, now: DeviceState): DeviceState {
  const entries = Object.entries(asked).filter(([field, value]) => {
    const capability = capabilities[field];
    return capability && !isExactly(capability, value, now[field]);
  });
  return Object.fromEntries(entries);
}

import {
  type DeviceCommand,
  type DeviceState,
  type DeviceUpdate,
  MantelError,
} from "@mantel/plugin-sdk";
import type { MqttClient } from "@mantel/plugin-sdk/mqtt";
import type { Arranged } from "./arrange.ts";
import { isConfirmed } from "./coerce.ts";
import { Waiting } from "./confirmation.ts";
import type { DeviceStore } from "./device-store.ts";
import type { Message } from "./payload.ts";
import { sharesOf, split } from "./shares.ts";

const RETRY_MS = 3_000;

interface Parts {
  readonly home: DeviceStore;
  readonly mqtt: MqttClient;
  readonly update: (update: DeviceUpdate) => void;
}

/** Takes commands to devices, and waits until they tell that they have obeyed. */
export class Commands {
  readonly #parts: Parts;
  readonly #waiting = new Waiting();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Passes a reported state to waiting commands. */
  told(nativeId: string, state: DeviceState): void {
    this.#waiting.told(nativeId, state);
  }

  /**
   * Resolves when the device tells all that is not so already; what nothing tells counts as done when the
   * broker has it. @throws MantelError `bridge_down`, `broker_refused`, `deadline_passed`, `invalid`
   */
  async carryOut(nativeId: string, command: DeviceCommand): Promise<void> {
    const { home, update } = this.#parts;
    const device = home.find(nativeId);
    if (!device) {
      throw new MantelError("device_unknown", `no device has announced itself as ${nativeId}`);
    }
    const shares = sharesOf(device, command).map((share) => ({ ...share, ...split(share) }));
    if (shares.every(({ messages }) => messages.length === 0)) {
      throw new MantelError("invalid", `nothing can be sent to ${device.name} for that`);
    }
    const now = home.stateOf(device);
    const asked: DeviceState = Object.assign({}, ...shares.map(({ told }) => told));
    const { confirmed, end } = this.#waiting.confirmation(device, open(device, asked, now), now);
    try {
      for (const { messages } of shares) for (const message of messages) await this.send(message);
      for (const { part, assumed } of shares) {
        const assumption = home.assume(part, assumed);
        if (assumption) update(assumption);
      }
      await confirmed;
    } finally {
      end();
    }
  }

  /** @throws MantelError `bridge_down`, `broker_refused` */
  async send(message: Message): Promise<void> {
    try {
      await this.#parts.mqtt.publish(message);
    } catch (error) {
      if (!(error instanceof MantelError) || error.code !== "broker_down") throw error;
      const { message: reason } = error;
      throw new MantelError("bridge_down", reason, { cause: error, retryAfterMs: RETRY_MS });
    }
  }
}

/** The requested values that are not already set: a device may not report those again. */
function open({ capabilities }: Arranged, asked: DeviceState, now: DeviceState): DeviceState {
  const entries = Object.entries(asked).filter(([field, value]) => {
    const capability = capabilities[field];
    return capability && !isConfirmed(capability, value, now[field]);
  });
  return Object.fromEntries(entries);
}

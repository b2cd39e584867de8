import type { CommandBody, Device, DeviceCommand, StateValue } from "@mantel/plugin-sdk/device";
import { heldPress } from "./press.ts";

const LEVELS = ["brightness", "speed"];
/** Commands that follow each other within this time are one drag, also if no press is known, such as one in a frame. */
const DRAG_MS = 1_500;

interface Drag {
  /** The level before it. */
  readonly from: StateValue | undefined;
  readonly press: number | undefined;
  at: number;
}

/** A device or a part of one. */
type Section = Pick<Device, "capabilities" | "state" | "pending">;

/**
 * Remembers the level from before a drag that ends at off. A lamp itself keeps the last level on the way down, so a tap
 * would turn it on nearly dark.
 */
export class LevelMemory {
  readonly #press: () => number | undefined;
  readonly #drags = new Map<string, Drag>();
  readonly #kept = new Map<string, DeviceCommand>();

  /** @param press the number of the press that lasts, which holds a drag together however long it pauses */
  constructor(press: () => number | undefined = heldPress) {
    this.#press = press;
  }

  /** The command to send: with the remembered level if it turns the device, or a part of it, on without one. */
  complete(device: Device | undefined, command: CommandBody): CommandBody {
    if (!device) return command;
    const { parts, extra: _, ...own } = command;
    const completed = { ...command, ...this.#section(device.id, device, own as DeviceCommand) };
    if (!parts) return completed;
    const ofParts = Object.entries(parts).map(([id, asked]) => {
      const part = device.parts?.find((each) => each.id === id);
      return [id, part ? this.#section(`${device.id} ${id}`, part, asked) : asked] as const;
    });
    return { ...completed, parts: Object.fromEntries(ofParts) };
  }

  #section(key: string, section: Section, command: DeviceCommand): DeviceCommand {
    const field = LEVELS.find((each) => section.capabilities[each] !== undefined);
    if (field === undefined || Object.keys(command).length === 0) return command;
    const level = command[field];
    const kept = this.#kept.get(key) ?? {};
    const drag = this.#dragOf(key, section, level === undefined ? undefined : field);
    this.#kept.delete(key);
    if (command["on"] === false || level === 0) {
      if (typeof drag?.from === "number") this.#kept.set(key, { [field]: drag.from });
      return command;
    }
    return command["on"] === true && level === undefined ? { ...command, ...kept } : command;
  }

  /** The drag that lasts; one begins with the first command that sets the level, the field `starting`. */
  #dragOf(
    key: string,
    { state, pending }: Section,
    starting: string | undefined,
  ): Drag | undefined {
    const now = performance.now();
    const press = this.#press();
    const known = this.#drags.get(key);
    const isSamePress = press !== undefined && press === known?.press;
    if (known && (isSamePress || now - known.at < DRAG_MS)) {
      known.at = now;
      return known;
    }
    this.#drags.delete(key);
    if (starting === undefined) return undefined;
    const drag = { from: pending[starting] ?? state[starting], press, at: now };
    this.#drags.set(key, drag);
    return drag;
  }
}

/** The levels of this page. */
export const levelMemory = new LevelMemory();

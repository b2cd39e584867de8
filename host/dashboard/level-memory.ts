import type { CommandBody, Device, StateValue } from "@mantel/plugin-sdk/device";

const LEVELS = ["brightness", "speed"];
/** Commands that follow each other within this time are one drag. */
const DRAG_MS = 1_500;

interface Drag {
  /** The level before it. */
  readonly from: StateValue | undefined;
  at: number;
}

/**
 * Remembers the level from before a drag that ends at off. A lamp itself keeps the last level on the way down, so a tap
 * would turn it on nearly dark.
 */
export class LevelMemory {
  readonly #drags = new Map<string, Drag>();
  readonly #kept = new Map<string, CommandBody>();

  /** The command to send: with the remembered level if it turns the device on without one. */
  complete(device: Device | undefined, command: CommandBody): CommandBody {
    const field = LEVELS.find((each) => device?.capabilities[each] !== undefined);
    if (!device || field === undefined) return command;
    const { id } = device;
    const level = command[field];
    const kept = this.#kept.get(id) ?? {};
    const drag = this.#dragOf(device, field, level !== undefined);
    this.#kept.delete(id);
    if (command["on"] === false || level === 0) {
      if (typeof drag?.from === "number") this.#kept.set(id, { [field]: drag.from });
      return command;
    }
    return command["on"] === true && level === undefined ? { ...command, ...kept } : command;
  }

  /** The drag under way; one begins with the first command that sets the level. */
  #dragOf({ id, state, pending }: Device, field: string, isLevel: boolean): Drag | undefined {
    const now = performance.now();
    const known = this.#drags.get(id);
    if (known && now - known.at < DRAG_MS) {
      known.at = now;
      return known;
    }
    this.#drags.delete(id);
    if (!isLevel) return undefined;
    const drag = { from: pending[field] ?? state[field], at: now };
    this.#drags.set(id, drag);
    return drag;
  }
}

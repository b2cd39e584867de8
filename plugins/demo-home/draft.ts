import type { DeviceState } from "@mantel/plugin-sdk";
import type { World } from "./world.ts";

/** A mutable copy of a world. The original stays unchanged. */
export class WorldDraft {
  blindsAim: number;
  #random: number;
  readonly #devices: Record<string, DeviceState>;

  constructor({ random, devices, blindsAim }: World) {
    this.#random = random;
    this.#devices = { ...devices };
    this.blindsAim = blindsAim;
  }

  state(id: string): DeviceState {
    return this.#devices[id] ?? {};
  }

  /** A numeric field; 0 if unknown. */
  number(id: string, field: string): number {
    return Number(this.state(id)[field] ?? 0);
  }

  isOn(id: string): boolean {
    return this.state(id)["on"] === true;
  }

  set(id: string, fields: DeviceState): void {
    this.#devices[id] = { ...this.state(id), ...fields };
  }

  /** Moves a field towards a value, half of the way in `halfLife` seconds, plus noise. */
  drift(id: string, field: string, { toward, halfLife, noise = 0, seconds }: Drift): void {
    const value = this.number(id, field);
    const moved = (toward - value) * (1 - 2 ** (-seconds / halfLife));
    const shaken = noise * Math.sqrt(seconds) * (2 * this.#draw() - 1);
    this.set(id, { [field]: value + moved + shaken });
  }

  /** True at random, with a probability of one half after `halfLife` seconds. */
  happens(seconds: number, halfLife: number): boolean {
    return this.#draw() < 1 - 2 ** (-seconds / halfLife);
  }

  finish(): World {
    return {
      version: 1,
      random: this.#random,
      devices: this.#devices,
      blindsAim: this.blindsAim,
    };
  }

  /** The next random number from 0 to 1 (mulberry32). */
  #draw(): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

interface Drift {
  readonly toward: number;
  /** Seconds. */
  readonly halfLife: number;
  readonly noise?: number;
  /** Elapsed seconds. */
  readonly seconds: number;
}

import type { Log } from "../context.ts";
import type { HomeSettings, Stop } from "../home.ts";

type Setting = keyof HomeSettings;
type Listener = (value: never) => void | Promise<void>;

/** The home's settings as one generation of a plugin reads and follows them. */
export class LiveSettings {
  readonly #log: Log;
  readonly #used = new Set<Setting>();
  readonly #listeners = new Map<Setting, Set<Listener>>();
  #now: HomeSettings;

  constructor(now: HomeSettings, log: Log) {
    this.#now = now;
    this.#log = log;
  }

  /** The current value. From now on the generation counts as using the setting. */
  read<S extends Setting>(setting: S): HomeSettings[S] {
    this.#used.add(setting);
    return this.#now[setting];
  }

  /** Calls a listener with each new value of a setting. */
  on<S extends Setting>(
    setting: S,
    listener: (value: HomeSettings[S]) => void | Promise<void>,
  ): Stop {
    const listeners = this.#listeners.get(setting) ?? new Set();
    this.#listeners.set(setting, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Takes new settings. False if one that the generation uses has changed and it has no listener for it. */
  change(next: HomeSettings): boolean {
    const before = this.#now;
    this.#now = next;
    const settings = Object.keys(next) as Setting[];
    const changed = settings.filter((setting) => next[setting] !== before[setting]);
    for (const setting of changed) {
      for (const listener of this.#listeners.get(setting) ?? []) {
        void this.#tell(listener, next[setting]);
      }
    }
    return changed.every(
      (setting) => !this.#used.has(setting) || (this.#listeners.get(setting)?.size ?? 0) > 0,
    );
  }

  async #tell(listener: Listener, value: unknown): Promise<void> {
    try {
      await listener(value as never);
    } catch (error) {
      this.#log.error("a listener of ctx.home failed", { error });
    }
  }
}

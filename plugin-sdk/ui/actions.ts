import { signal } from "@preact/signals-core";
import type { CommandResult, Device, DeviceCommand, WidgetContext } from "../widget.ts";
import type { Look } from "./look.ts";

/** Display time of an error on a tile, and waiting time for the confirming second tap. */
const WORD_MS = 4_000;

type Context = Pick<
  WidgetContext<Record<string, never>, unknown>,
  "command" | "announce" | "online" | "fmt" | "t"
>;

/** Handles taps and commands on the tiles of one widget, and the temporary texts on these tiles. */
export class Actions {
  readonly #ctx: Context;
  readonly #words = signal<ReadonlyMap<string, string>>(new Map());
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  get fmt(): Context["fmt"] {
    return this.#ctx.fmt;
  }

  get t(): Context["t"] {
    return this.#ctx.t;
  }

  /** The CSS classes for states besides on and off, such as `pending`. */
  statesOf(device: Device): string {
    return [
      Object.keys(device.pending).length > 0 ? "pending" : "",
      this.wordOf(device) === undefined ? "" : "word",
      device.available ? "" : "away",
      this.#ctx.online.value ? "" : "stale",
    ].join(" ");
  }

  /** The age of a value, if it may be outdated because the connection is down. */
  ageOf({ lastSeenAt }: Device): string | undefined {
    if (this.#ctx.online.value || lastSeenAt === null) return undefined;
    return this.fmt.relative(Date.parse(lastSeenAt));
  }

  /** The temporary text that replaces the value on a device's tile. */
  wordOf({ id, available }: Device): string | undefined {
    const word = this.#words.value.get(id) ?? (available ? undefined : "No answer");
    return word === undefined ? undefined : this.t(word);
  }

  /** Sends a command and shows a failure on the tile. */
  async send({ id, name }: Device, command: DeviceCommand): Promise<void> {
    const { ok, error } = await this.#ctx.command(id, command);
    if (ok) return;
    const word = failureWord(error);
    this.#say(id, word);
    this.#ctx.announce(`${name}: ${this.t(word)}`);
  }

  /** Handles a tap on a tile. An action that needs confirmation runs at the second tap. */
  tap(device: Device, { tap, ask }: Look): void {
    if (tap === undefined) return;
    if (ask !== undefined && this.#words.value.get(device.id) !== ask) {
      this.#say(device.id, ask);
      this.#ctx.announce(`${device.name}: ${this.t(ask)}`);
    } else {
      this.#unsay(device.id);
      void this.send(device, tap);
    }
  }

  #say(id: string, word: string): void {
    clearTimeout(this.#timers.get(id));
    this.#words.value = new Map(this.#words.value).set(id, word);
    this.#timers.set(
      id,
      setTimeout(() => this.#unsay(id), WORD_MS),
    );
  }

  #unsay(id: string): void {
    clearTimeout(this.#timers.get(id));
    const words = new Map(this.#words.value);
    if (words.delete(id)) this.#words.value = words;
  }
}

function failureWord(error: CommandResult["error"]): string {
  switch (error?.code) {
    case "bridge_rate_limited":
    case "rate_limited":
      return "Busy";
    case "insufficient_scope":
      return "Not allowed";
    case "invalid":
      return "Refused";
    default:
      return "No answer";
  }
}

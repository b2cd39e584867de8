import { signal } from "@preact/signals-core";
import type { CommandResult, Device, DeviceCommand, WidgetContext } from "../widget.ts";
import type { Look } from "./look.ts";

/** How long a tile says what went wrong, and how long a question waits for its second tap. */
const WORD_MS = 4_000;

type Context = Pick<
  WidgetContext<Record<string, never>, unknown>,
  "command" | "announce" | "online" | "fmt" | "t"
>;

/** What people do to the tiles of one widget, and the words tiles show for a while because of it. */
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

  /** States that any tile may be in beside on and off, as class names. */
  statesOf(device: Device): string {
    return [
      Object.keys(device.pending).length > 0 ? "pending" : "",
      this.wordOf(device) === undefined ? "" : "word",
      device.available ? "" : "away",
      this.#ctx.online.value ? "" : "stale",
    ].join(" ");
  }

  /** How old a value is, when there is no connection that would have brought a newer one. */
  ageOf({ lastSeenAt }: Device): string | undefined {
    if (this.#ctx.online.value || lastSeenAt === null) return undefined;
    return this.fmt.relative(Date.parse(lastSeenAt));
  }

  /** What the tile of a device says in place of its value just now. */
  wordOf({ id, available }: Device): string | undefined {
    const word = this.#words.value.get(id) ?? (available ? undefined : "No answer");
    return word === undefined ? undefined : this.t(word);
  }

  /** Sends a command; a failure shows on the tile. */
  async send({ id, name }: Device, command: DeviceCommand): Promise<void> {
    const { ok, error } = await this.#ctx.command(id, command);
    if (ok) return;
    const word = failureWord(error);
    this.#say(id, word);
    this.#ctx.announce(`${name}: ${this.t(word)}`);
  }

  /** A tap on a tile. What needs asking is done by the second tap. */
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

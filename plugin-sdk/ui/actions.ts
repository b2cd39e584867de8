import { signal } from "@preact/signals-core";
import type {
  CameraPicture,
  CommandBody,
  CommandResult,
  Device,
  WidgetContext,
} from "../widget.ts";
import type { Look } from "./appearance.ts";
import { commandTo, type DeviceFunction } from "./functions.ts";

/** Display time of an error on a tile, and waiting time for the confirming second tap. */
const WORD_MS = 4_000;

type Context = Pick<
  WidgetContext<Record<string, never>, unknown>,
  "command" | "announce" | "online" | "visible" | "picture" | "now" | "fmt" | "t"
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

  get now(): Context["now"] {
    return this.#ctx.now;
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
  wordOf(device: DeviceFunction): string | undefined {
    const word =
      this.#words.value.get(keyOf(device)) ?? (device.available ? undefined : "No answer");
    return word === undefined ? undefined : this.t(word);
  }

  /** True while the device waits for the second tap that confirms an action. */
  asks(device: DeviceFunction, ask: string): boolean {
    return this.#words.value.get(keyOf(device)) === ask;
  }

  /** False while the widget cannot be seen. */
  get isVisible(): boolean {
    return this.#ctx.visible.value;
  }

  /** The picture of a camera. A hidden tile keeps the last one. */
  pictureOf({ id }: Device): CameraPicture {
    const picture = this.#ctx.picture(id);
    return this.#ctx.visible.value ? picture.value : picture.peek();
  }

  /** Sends a command and shows a failure on the tile. */
  async send(device: DeviceFunction, command: CommandBody): Promise<void> {
    const { ok, error } = await this.#ctx.command(device.id, commandTo(device, command));
    if (ok) return;
    const word = failureWord(error);
    this.#say(keyOf(device), word);
    this.#ctx.announce(`${device.name}: ${this.t(word)}`);
  }

  /** Handles a tap on a tile. An action that needs confirmation runs at the second tap. */
  tap(device: DeviceFunction, { tap, ask, opens }: Pick<Look, "tap" | "ask" | "opens">): void {
    if (tap === undefined || opens) return;
    const key = keyOf(device);
    if (ask !== undefined && this.#words.value.get(key) !== ask) {
      this.#say(key, ask);
      this.#ctx.announce(`${device.name}: ${this.t(ask)}`);
    } else {
      this.#unsay(key);
      void this.send(device, tap);
    }
  }

  #say(key: string, word: string): void {
    clearTimeout(this.#timers.get(key));
    this.#words.value = new Map(this.#words.value).set(key, word);
    this.#timers.set(
      key,
      setTimeout(() => this.#unsay(key), WORD_MS),
    );
  }

  #unsay(key: string): void {
    clearTimeout(this.#timers.get(key));
    const words = new Map(this.#words.value);
    if (words.delete(key)) this.#words.value = words;
  }
}

const keyOf = ({ id, path }: DeviceFunction): string => [id, ...(path ?? [])].join(" ");

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

import { nameOf } from "./content-line.ts";

/**
 * The text of an iCalendar object as logical lines, each with its folds and line end, so that what is not changed stays
 * byte for byte. Every character stands for one byte.
 */
export type Lines = readonly string[];

const LINE_OCTETS = 75;

function splitLines(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return text.split(/(?<=\n)(?![ \t])/).filter((line) => line !== "");
}

function joinLines(lines: Lines): Buffer {
  return Buffer.from(lines.join(""), "latin1");
}

/** A logical line without folds and line end, as text. */
function plain(line: string): string {
  const unfolded = line.replaceAll(/\r?\n[ \t]/g, "").replace(/\r?\n$/, "");
  return Buffer.from(unfolded, "latin1").toString("utf8");
}

/** A logical line of a text, folded at 75 octets and never inside a character (RFC 5545, 3.1). */
export function folded(text: string, end = "\r\n"): string {
  let line = "";
  let room = LINE_OCTETS;
  for (const character of text) {
    const bytes = Buffer.from(character).toString("latin1");
    if (bytes.length > room) {
      line += `${end} `;
      room = LINE_OCTETS - 1;
    }
    line += bytes;
    room -= bytes.length;
  }
  return line + end;
}

/** RFC 5545, 3.3.11. */
export function escapeText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(CONTROLS, "")
    .replaceAll(/[\\;,]/g, "\\$&")
    .replaceAll("\n", "\\n");
}

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** One component of an object, such as a VEVENT, with its BEGIN and END. */
export class Component {
  readonly kind: string;
  #lines: string[];

  constructor(lines: Lines) {
    this.#lines = [...lines];
    this.kind = valueOf(this.#lines[0] ?? "").toUpperCase();
  }

  get lines(): Lines {
    return this.#lines;
  }

  /** All lines of its own, unfolded. */
  get properties(): string[] {
    return this.#own().map(({ line }) => plain(line));
  }

  /** The lines of its own with a name, without those of alarms and other parts. */
  all(name: string): string[] {
    return this.#own()
      .filter(({ line }) => nameOf(plain(line)) === name)
      .map(({ line }) => plain(line));
  }

  find(name: string): string | undefined {
    return this.all(name)[0];
  }

  /** Replaces all lines of its own with a name by these, in the place of the first; no lines remove it. */
  set(name: string, ...texts: readonly string[]): this {
    const own = this.#own();
    const places = own.filter(({ line }) => nameOf(plain(line)) === name).map(({ at }) => at);
    const end = /\r?\n$/.exec(this.#lines[0] ?? "")?.[0];
    const added = texts.map((text) => folded(text, end));
    const place = places[0] ?? (own.at(-1)?.at ?? 0) + 1;
    const kept = this.#lines.map((line, at) => (places.includes(at) ? "" : line));
    kept.splice(place, 0, ...added);
    this.#lines = kept.filter((line) => line !== "");
    return this;
  }

  copy(): Component {
    return new Component(this.#lines);
  }

  /** Its own properties: not BEGIN and END, and nothing of the components inside. */
  #own(): { readonly line: string; readonly at: number }[] {
    let depth = 0;
    return this.#lines.flatMap((line, at) => {
      const name = nameOf(line);
      if (name === "BEGIN") depth++;
      const isOwn = depth === 1 && name !== "BEGIN" && name !== "END";
      if (name === "END") depth--;
      return isOwn ? [{ line, at }] : [];
    });
  }
}

/** The value of a property, after its name and parameters. */
export function valueOf(line: string): string {
  const text = plain(line);
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] === ":" && !quoted) return text.slice(at + 1).trim();
  }
  return "";
}

/** The parameters of a property as written, with their semicolons. */
export function parametersOf(line: string): string {
  const text = plain(line);
  const value = valueOf(text);
  const head = text.slice(0, text.length - value.length).replace(/:\s*$/, "");
  const from = head.indexOf(";");
  return from < 0 ? "" : head.slice(from);
}

/** An object: the lines of the calendar itself, and its components in their order. */
export class CalendarObject {
  readonly components: Component[] = [];
  readonly #head: string[] = [];
  readonly #tail: string[] = [];

  constructor(lines: Lines) {
    let open: string[] | undefined;
    let depth = 0;
    for (const line of lines) {
      const name = nameOf(line);
      if (name === "BEGIN" && ++depth === 2) open = [];
      const target = open ?? (this.components.length === 0 ? this.#head : this.#tail);
      if (name === "END" && depth === 1) this.#tail.push(line);
      else target.push(line);
      if (name === "END" && --depth === 1 && open) {
        this.components.push(new Component(open));
        open = undefined;
      }
    }
  }

  static read(bytes: Uint8Array): CalendarObject {
    return new CalendarObject(splitLines(bytes));
  }

  get bytes(): Buffer {
    const inner = this.components.flatMap(({ lines }) => lines);
    return joinLines([...this.#head, ...inner, ...this.#tail]);
  }

  /** Another object with the same calendar properties. */
  with(components: readonly Component[]): CalendarObject {
    const inner = components.flatMap(({ lines }) => lines);
    return new CalendarObject([...this.#head, ...inner, ...this.#tail]);
  }

  of(kind: string): Component[] {
    return this.components.filter((each) => each.kind === kind);
  }
}

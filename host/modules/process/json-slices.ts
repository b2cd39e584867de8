import type { Buffer } from "node:buffer";
import { endOfText, JsonShape } from "../../json-shape.ts";
import { mayContainLoneSurrogates, replaceLoneSurrogates } from "../../lone-surrogates.ts";

/**
 * The deepest nesting of arrays and objects. A request may have 32; a schema of options needs two for each of
 * its levels, and a message has three around its payload.
 */
const DEEPEST = 64;
/**
 * 5,000 devices with seven capabilities each have 320,000. A million take 100 MiB of the host's memory for a
 * moment.
 */
const MOST_VALUES = 1_000_000;
/** The size in bytes that is parsed at once. The worst JSON of this size takes a few milliseconds. */
const SLICE = 32_768;

/** The user-facing reason why a message cannot be parsed. */
export class UnparsableMessage extends Error {
  override readonly name = "Unparsable";
}

const TOO_DEEP = `it sent a message nested more than ${DEEPEST} levels deep, which was not read; send lists with ids`;
const TOO_MANY = `it sent a message with more than ${MOST_VALUES} values, which was not read; send less at once`;

/** A parsed message. */
export interface Parsed {
  readonly value: unknown;
  /** The number of values, including lists and objects; keys are not counted. */
  readonly values: number;
}
type Parsing<T = unknown> = Generator<undefined, T>;

/**
 * Parses a message, one slice in each step, so that the rest of the host can run in between.
 * Unpaired surrogates become U+FFFD.
 *
 * @throws UnparsableMessage; SyntaxError for invalid JSON
 */
export function* parseInSlices(json: Buffer): Parsing<Parsed> {
  if (json.length > SLICE) {
    const slices = new Slices(json);
    const value = yield* slices.parse();
    return { value, values: slices.values };
  }
  const shape = new JsonShape().add(json);
  requireBounds(shape);
  const value: unknown = JSON.parse(json.toString());
  return {
    value: mayContainLoneSurrogates(json) ? replaceLoneSurrogates(value) : value,
    values: shape.values,
  };
}

function requireBounds({ depth, values }: { depth: number; values: number }): void {
  if (depth > DEEPEST) throw new UnparsableMessage(TOO_DEEP);
  if (values > MOST_VALUES) throw new UnparsableMessage(TOO_MANY);
}

/** An array or object whose end was not reached yet. */
interface Open {
  readonly start: number;
  readonly isArray: boolean;
  /** The position of its last comma, or of its opening bracket. */
  comma: number;
  /** Its content so far, once it is known to be large; the fields below apply from then on. */
  value: unknown[] | Record<string, unknown> | undefined;
  /** The first byte that is not parsed yet. */
  from: number;
  /** True after a large value in it: a comma or its end must follow. */
  isFilled: boolean;
  /** True after a comma: a value must follow. */
  isWanting: boolean;
}

/**
 * Parses JSON of any length in slices: small values are parsed whole, and large ones are assembled
 * from the slices between their commas.
 */
class Slices {
  readonly #json: Buffer;
  readonly #mayHoldHalves: boolean;
  readonly #open: Open[] = [];
  #values = 1;
  /** The end of the last slice. */
  #cutAt = 0;

  constructor(json: Buffer) {
    this.#json = json;
    this.#mayHoldHalves = mayContainLoneSurrogates(json);
  }

  get values(): number {
    return this.#values;
  }

  *parse(): Parsing {
    const json = this.#json;
    for (let at = 0; at < json.length; at++) {
      const byte = json[at];
      if (byte === 0x22) at = endOfText(json, at + 1);
      else if (byte === 0x5b || byte === 0x7b) this.#begin(at);
      else if (byte === 0x2c) {
        if (this.#comma(at)) yield;
      } else if (byte === 0x5d || byte === 0x7d) {
        const completed = this.#end(at);
        if (completed) return this.#valueOf(completed, at);
      }
    }
    if (this.#open.length > 0) throw new SyntaxError("no end");
    return this.#parsed(this.#text(0, json.length)); // a large text or number
  }

  /** The value of the whole message, which ends at `at`; only whitespace may follow. */
  #valueOf({ value }: Open, at: number): unknown {
    if (value === undefined) return this.#parsed(this.#text(0, this.#json.length));
    this.#requireBlank(at + 1, this.#json.length);
    return value;
  }

  #begin(start: number): void {
    const isArray = this.#json[start] === 0x5b;
    const state = { value: undefined, from: start + 1, isFilled: false, isWanting: false };
    this.#open.push({ start, isArray, comma: start, ...state });
    requireBounds({ depth: this.#open.length, values: ++this.#values });
  }

  /** Handles a comma. True if a slice was parsed. */
  #comma(at: number): boolean {
    const inner = this.#open.at(-1);
    if (!inner) throw new SyntaxError("a comma outside of an array or object");
    requireBounds({ depth: 0, values: ++this.#values });
    const isSlice = at - this.#cutAt >= SLICE;
    if (isSlice) for (const [index, each] of this.#open.entries()) this.#enlarge(each, index);
    if (isSlice || inner.isFilled) this.#take(inner, at);
    inner.comma = at;
    if (isSlice) this.#cutAt = at;
    return isSlice;
  }

  /** Assembles this value from slices from now on, as its parent already is. */
  #enlarge(inner: Open, index: number): void {
    if (inner.value) return;
    inner.value = inner.isArray ? [] : {};
    const outer = this.#open[index - 1];
    if (!outer) return this.#requireBlank(0, inner.start);
    if (outer.comma >= outer.from) this.#take(outer, outer.comma);
    if (outer.isFilled) throw new SyntaxError("no comma");
    const label = this.#text(outer.from, inner.start);
    if (!outer.isArray)
      put(outer, Object.keys(this.#parsed(`{${label}[]}`) as object)[0], inner.value);
    else {
      this.#requireBlank(outer.from, inner.start);
      put(outer, undefined, inner.value);
    }
  }

  /** Parses the rest of a large value up to its comma at `to`. */
  #take(open: Open, to: number): void {
    if (open.isFilled) this.#requireBlank(open.from, to);
    else this.#parseInto(open, this.#text(open.from, to));
    Object.assign(open, { from: to + 1, isFilled: false, isWanting: true });
  }

  /** Handles an end bracket; returns the outermost value if it ended. */
  #end(at: number): Open | undefined {
    const ended = this.#open.pop();
    if (!ended) throw new SyntaxError("an unmatched closing bracket");
    const outer = this.#open.at(-1);
    if (ended.value) {
      this.#finish(ended, at);
      if (outer) Object.assign(outer, { from: at + 1, isFilled: true });
    }
    return outer ? undefined : ended;
  }

  #finish(ended: Open, at: number): void {
    const text = this.#text(ended.from, at);
    if ((this.#json[at] === 0x5d) !== ended.isArray)
      throw new SyntaxError("a closing bracket of the wrong kind");
    if (ended.isFilled || (isBlank(text) && !ended.isWanting)) this.#requireBlank(ended.from, at);
    else this.#parseInto(ended, text);
  }

  #parseInto(open: Open, text: string): void {
    if (isBlank(text)) throw new SyntaxError("no value between commas");
    const parsed = this.#parsed(open.isArray ? `[${text}]` : `{${text}}`);
    if (Array.isArray(parsed)) for (const each of parsed) put(open, undefined, each);
    else for (const [key, each] of Object.entries(parsed as object)) put(open, key, each);
  }

  #requireBlank(from: number, to: number): void {
    if (!isBlank(this.#text(from, to))) throw new SyntaxError("unexpected text between values");
  }

  #parsed(text: string): unknown {
    const value: unknown = JSON.parse(text);
    return this.#mayHoldHalves ? replaceLoneSurrogates(value) : value;
  }

  #text(from: number, to: number): string {
    return this.#json.toString("utf8", from, to);
  }
}

function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text);
}

function put({ value }: Open, key: string | undefined, item: unknown): void {
  if (Array.isArray(value)) value.push(item);
  else if (value && key === "__proto__")
    Object.defineProperty(value, key, {
      value: item,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else if (value && key !== undefined) value[key] = item;
}

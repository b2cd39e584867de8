/** The values of a field over time. `NaN` means that the value is unknown from then on. */
export interface Curve {
  /** Epoch milliseconds, ascending. */
  readonly at: readonly number[];
  readonly value: readonly number[];
}

/** Values of several fields in the order in which they were recorded. */
export interface Points {
  /** Ids of series. */
  readonly series: readonly number[];
  readonly at: readonly number[];
  readonly value: readonly number[];
}

/** Values are stored in thousandths where that is exact: most sensors report few decimals. */
const SCALE = 1_000;
const LARGEST_SCALED = 2 ** 44;
/** The lowest two bits of a value's first number. */
const TAG = { scaled: 0, exact: 1, unknown: 2 } as const;

/** Bytes that grow. */
class Writer {
  #bytes = new Uint8Array(64);
  #view = new DataView(this.#bytes.buffer);
  length = 0;

  /** A whole number from 0 to 2^53 with seven bits a byte, the lowest first. */
  varint(given: number): void {
    this.#reserve(8);
    let rest = given;
    while (rest >= 128) {
      this.#bytes[this.length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.length++] = rest;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A value as thousandths more than `from`, or exactly. Returns the thousandths for the next value. */
  value(value: number, from: number): number {
    if (Number.isNaN(value)) {
      this.varint(TAG.unknown);
      return from;
    }
    const scaled = Math.round(value * SCALE);
    if (Math.abs(scaled) < LARGEST_SCALED && scaled / SCALE === value && !Object.is(value, -0)) {
      this.varint(zigzag(scaled - from) * 4 + TAG.scaled);
      return scaled;
    }
    this.varint(TAG.exact);
    this.double(value);
    return from;
  }

  taken(): Uint8Array {
    return this.#bytes.slice(0, this.length);
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(this.#bytes.length * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** @throws RangeError for bytes that end too early */
class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #place = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get hasMore(): boolean {
    return this.#place < this.#bytes.length;
  }

  varint(): number {
    let [sum, factor] = [0, 1];
    for (;;) {
      const byte = this.#bytes[this.#place++];
      if (byte === undefined) throw new RangeError("the points end in the middle of one");
      sum += (byte % 128) * factor;
      if (byte < 128) return sum;
      factor *= 128;
    }
  }

  value(from: number): { value: number; scaled: number } {
    const first = this.varint();
    const tag = first % 4;
    if (tag === TAG.unknown) return { value: NaN, scaled: from };
    if (tag === TAG.scaled) {
      const scaled = from + unzigzag(Math.floor(first / 4));
      return { value: scaled / SCALE, scaled };
    }
    const value = this.#view.getFloat64(this.#place, true);
    this.#place += 8;
    return { value, scaled: from };
  }
}

/** Even for numbers from 0, odd for those below. */
const zigzag = (n: number): number => (n >= 0 ? 2 * n : -2 * n - 1);
const unzigzag = (n: number): number => (n % 2 === 0 ? n / 2 : -(n + 1) / 2);

/** The values of one field within an hour, packed: about four bytes each. */
export class PackedCurve {
  readonly #base: number;
  readonly #writer = new Writer();
  #last = { at: 0, scaled: 0 };
  #count = 0;

  /** `base` is the begin of the hour. */
  constructor(base: number) {
    this.#base = base;
    this.#last = { at: base, scaled: 0 };
  }

  static of(base: number, { at, value }: Curve): PackedCurve {
    const packed = new PackedCurve(base);
    at.forEach((instant, index) => packed.add(instant, value[index] ?? NaN));
    return packed;
  }

  get count(): number {
    return this.#count;
  }

  /** The time of the last added value. */
  get last(): number {
    return this.#last.at;
  }

  get byteLength(): number {
    return this.#writer.length;
  }

  add(at: number, value: number): void {
    this.#writer.varint(zigzag(at - this.#last.at));
    this.#last = { at, scaled: this.#writer.value(value, this.#last.scaled) };
    this.#count++;
  }

  bytes(): Uint8Array {
    return this.#writer.taken();
  }

  curve(): Curve {
    return unpackCurve(this.#base, this.bytes());
  }
}

/** The values in packed bytes, sorted by time. @throws RangeError for damaged bytes */
export function unpackCurve(base: number, bytes: Uint8Array): Curve {
  const reader = new Reader(bytes);
  const [at, value]: [number[], number[]] = [[], []];
  let last = { at: base, scaled: 0 };
  let isSorted = true;
  while (reader.hasMore) {
    const instant = last.at + unzigzag(reader.varint());
    const read = reader.value(last.scaled);
    isSorted &&= instant >= last.at;
    at.push(instant);
    value.push(read.value);
    last = { at: instant, scaled: read.scaled };
  }
  return isSorted ? { at, value } : sorted({ at, value });
}

/** Several curves of one field as one. What is in two of them counts once. */
export function mergedCurve(curves: readonly Curve[]): Curve {
  const { at, value } = sorted({
    at: curves.flatMap((curve) => [...curve.at]),
    value: curves.flatMap((curve) => [...curve.value]),
  });
  const isNew = (index: number): boolean =>
    index === 0 || at[index] !== at[index - 1] || !Object.is(value[index], value[index - 1]);
  return {
    at: at.filter((_, index) => isNew(index)),
    value: value.filter((_, index) => isNew(index)),
  };
}

/** The curve in the order of time, as after a clock that was set back. */
function sorted({ at, value }: Curve): Curve {
  const order = at.map((_, index) => index).toSorted((a, b) => (at[a] ?? 0) - (at[b] ?? 0));
  return {
    at: order.map((index) => at[index] ?? 0),
    value: order.map((index) => value[index] ?? NaN),
  };
}

/** Packs values of several fields: about six bytes each. */
export function packPoints(base: number, { series, at, value }: Points): Uint8Array {
  const writer = new Writer();
  let last = base;
  for (const [index, id] of series.entries()) {
    const instant = at[index] ?? base;
    writer.varint(id);
    writer.varint(zigzag(instant - last));
    writer.value(value[index] ?? NaN, 0);
    last = instant;
  }
  return writer.taken();
}

/** @throws RangeError for damaged bytes */
export function unpackPoints(base: number, bytes: Uint8Array): Points {
  const reader = new Reader(bytes);
  const points = { series: [] as number[], at: [] as number[], value: [] as number[] };
  let last = base;
  while (reader.hasMore) {
    points.series.push(reader.varint());
    last += unzigzag(reader.varint());
    points.at.push(last);
    points.value.push(reader.value(0).value);
  }
  return points;
}

/** The characters that RFC 9110 (5.5) leaves out of values. */
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers that many answers have, joined once. */
export class ConstantHeaders {
  /** Names and values in turns. */
  readonly pairs: readonly string[];
  /** The lines of a head, each with its end. */
  readonly lines: string;

  /** @throws Error for a value that would break the head */
  constructor(pairs: readonly string[]) {
    const fault = pairs.find((each) => NOT_IN_VALUES.test(each));
    if (fault !== undefined) throw new Error(`${JSON.stringify(fault)} cannot be in a header`);
    this.pairs = pairs;
    this.lines = pairs.map((each, at) => each + (at % 2 === 0 ? ": " : "\r\n")).join("");
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** An entry of a device with 300 exposes has 100 kB. */
const LONGEST_ELEMENT = 2 ** 20;
/** Bytes that are scanned between two pauses. */
const BETWEEN_PAUSES = 2 ** 18;

/**
 * Parses a JSON list element by element, so that other work can run at each `yield`. An element of more than 1 MiB
 * is passed as `undefined`. Returns false if the text is not a JSON list; some elements may have been passed by then.
 */
export function* forEachElement(
  json: Buffer,
  take: (element: unknown) => void,
): Generator<undefined, boolean> {
  const [start, end] = [skipSpace(json, 0), lastOf(json)];
  if (json[start] !== OPEN_LIST || end <= start || json[end] !== CLOSE_LIST) return false;
  if (skipSpace(json, start + 1) === end) return true;
  let from = start + 1;
  while (from <= end) {
    const to = yield* endOfElement(json, from, end);
    const isTooLong = to - from > LONGEST_ELEMENT;
    const element = isTooLong ? { value: undefined } : parsed(json.toString("utf8", from, to));
    if (!element) return false;
    take(element.value);
    yield;
    from = to + 1;
  }
  return true;
}

/** The index of the comma after the element that begins at `from`; `end` if it is the last one. */
function* endOfElement(json: Buffer, from: number, end: number): Generator<undefined, number> {
  let depth = 0;
  let pauseAt = from + BETWEEN_PAUSES;
  for (let at = from; at < end; at++) {
    if (at > pauseAt) {
      pauseAt = at + BETWEEN_PAUSES;
      yield;
    }
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COMMA && depth === 0) return at;
  }
  return end;
}

/** The index of the quote that ends the string; the end of the text if there is none. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; ; at++) {
    at = json.indexOf(QUOTE, at);
    if (at === -1) return json.length;
    let backslashes = 0;
    while (json[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function skipSpace(json: Buffer, from: number): number {
  let at = from;
  while (isSpace(json[at])) at += 1;
  return at;
}

function lastOf(json: Buffer): number {
  let at = json.length - 1;
  while (isSpace(json[at])) at -= 1;
  return at;
}

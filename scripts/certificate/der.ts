/** Encodes one value with the distinguished encoding rules of ASN.1 (X.690, 10): tag, length, content. */
export function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

export const sequence = (...parts: readonly Buffer[]): Buffer => encode(0x30, ...parts);
export const set = (...parts: readonly Buffer[]): Buffer => encode(0x31, ...parts);
export const octets = (content: Buffer): Buffer => encode(0x04, content);
export const text = (content: string): Buffer => encode(0x0c, Buffer.from(content));
export const booleanTrue: Buffer = encode(0x01, Buffer.from([0xff]));

/** A context-specific tag around a value. Use `encode` for an implicit tag. */
export const tagged = (number: number, ...parts: readonly Buffer[]): Buffer =>
  encode(0xa0 + number, ...parts);

/** A whole number from its big-endian bytes. A number whose first bit is set would be negative. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes[0] ?? 0;
  return encode(0x02, first >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes);
}

/** A bit string of whole bytes without the last `unused` bits. */
export function bits(content: Buffer, unused = 0): Buffer {
  return encode(0x03, Buffer.from([unused]), content);
}

/** An object identifier such as `2.5.29.17`. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return encode(0x06, Buffer.from(bytes));
}

/** An instant, with two digits for the years before 2050, as certificates need (RFC 5280, 4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().slice(0, 19).replaceAll(/\D/g, "")}Z`;
  return at.getUTCFullYear() < 2050
    ? encode(0x17, Buffer.from(digits.slice(2)))
    : encode(0x18, Buffer.from(digits));
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

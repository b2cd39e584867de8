/** The head of one part. Cameras send about 100 bytes. */
const MOST_HEAD_BYTES = 4_096;
const HEAD_END = Uint8Array.of(13, 10, 13, 10);

/** The error for a stream that is not motion JPEG, with the reason. */
export class NotMotionJpeg extends Error {
  override readonly name = "NotMotionJpeg";
}

/**
 * The pictures of a motion JPEG stream: bodies of `multipart/x-mixed-replace`, or any other multipart type (RFC 2046,
 * 5.1). `contentType` is that of the stream, with its boundary. A picture ends after its `Content-Length`, or where the
 * next boundary begins. The bytes of a picture are not checked. Ends with the stream; works in browsers too.
 *
 * @throws NotMotionJpeg without a boundary, or for a head or picture with more bytes than `maxBytes`
 */
export async function* readMotionJpeg(
  stream: AsyncIterable<Uint8Array>,
  { contentType, maxBytes }: { contentType: string; maxBytes: number },
): AsyncGenerator<Uint8Array> {
  const reader = new PartReader(boundaryIn(contentType), maxBytes);
  for await (const chunk of stream) {
    reader.add(chunk);
    for (let part = reader.take(); part; part = reader.take()) if (part.length > 0) yield part;
  }
}

/** The delimiter between the parts. Some cameras write its dashes into the parameter. */
function boundaryIn(contentType: string): Uint8Array {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const name = quoted ?? plain;
  if (!/^\s*multipart\//i.test(contentType) || name === undefined || name.length > 200)
    throw new NotMotionJpeg(`${contentType.slice(0, 100) || "no content type"} is not motion JPEG`);
  return new TextEncoder().encode(name.startsWith("--") ? name : `--${name}`);
}

class PartReader {
  readonly #boundary: Uint8Array;
  readonly #maxBytes: number;
  /** The first `#size` bytes of it were received, and belong to no part yet. */
  #buffer = new Uint8Array(64 * 1_024);
  #size = 0;
  /** The search in `#bytes` begins here, because what is before it has been searched. */
  #searched = 0;
  /** The length of the part whose head was read; `null` if it ends with the next boundary. */
  #length: number | null | undefined;

  constructor(boundary: Uint8Array, maxBytes: number) {
    this.#boundary = boundary;
    this.#maxBytes = maxBytes;
  }

  add(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (size > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#buffer.length));
      larger.set(this.#bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#size);
    this.#size = size;
  }

  /** The next whole part; `undefined` until more bytes are there. */
  take(): Uint8Array | undefined {
    if (this.#length === undefined && !this.#readHead()) return undefined;
    const end = this.#length ?? this.#find(this.#boundary, this.#maxBytes, "picture");
    if (end === undefined || this.#bytes.length < end) return undefined;
    const bytes = this.#bytes;
    const part = bytes.slice(0, this.#length === null ? withoutLineEnd(bytes, end) : end);
    this.#drop(end);
    this.#length = undefined;
    return part;
  }

  get #bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  /** Reads to the end of a head, which follows a boundary. False until it is there. */
  #readHead(): boolean {
    const end = this.#find(HEAD_END, MOST_HEAD_BYTES, "head");
    if (end === undefined) return false;
    const head = new TextDecoder("latin1").decode(this.#bytes.subarray(0, end));
    this.#drop(end + HEAD_END.length);
    const [, length] = /^content-length:\s*(\d{1,10})\s*$/im.exec(head) ?? [];
    this.#length = length === undefined ? null : Number(length);
    if ((this.#length ?? 0) > this.#maxBytes) throw this.#tooLong("picture", this.#maxBytes);
    return true;
  }

  #find(wanted: Uint8Array, most: number, what: string): number | undefined {
    const at = indexOf(this.#bytes, wanted, this.#searched);
    if (at === undefined) this.#searched = Math.max(0, this.#bytes.length - wanted.length + 1);
    if ((at ?? this.#searched) > most) throw this.#tooLong(what, most);
    return at;
  }

  #drop(count: number): void {
    this.#buffer.copyWithin(0, count, this.#size);
    this.#size -= count;
    this.#searched = 0;
  }

  #tooLong(what: string, most: number): NotMotionJpeg {
    return new NotMotionJpeg(`a ${what} has more than ${most} bytes`);
  }
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number | undefined {
  const [first = 0] = wanted;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (at + wanted.length > bytes.length) return undefined;
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return undefined;
}

/** The line end before a boundary belongs to the boundary. */
function withoutLineEnd(bytes: Uint8Array, end: number): number {
  if (bytes[end - 1] !== 10) return end;
  return bytes[end - 2] === 13 ? end - 2 : end - 1;
}

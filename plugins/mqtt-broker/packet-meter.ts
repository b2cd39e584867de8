/**
 * Tracks packet boundaries in the bytes of one connection. The fixed header of a packet contains
 * its length (MQTT 3.1.1, 2.2.3), so a packet that is too long is refused before any of it is
 * stored.
 */
export class PacketMeter {
  readonly #firstBytes: number;
  readonly #mostBytes: number;
  #isFirst = true;
  #step: "type" | "length" | "rest" = "type";
  #length = 0;
  #lengthBytes = 0;
  #bytesLeft = 0;
  #heldBytes = 0;

  /** `firstBytes` limits the first packet, which arrives before authentication. */
  constructor({ firstBytes, mostBytes }: { firstBytes: number; mostBytes: number }) {
    this.#firstBytes = firstBytes;
    this.#mostBytes = mostBytes;
  }

  /** The bytes of the incomplete packet. */
  get held(): number {
    return this.#heldBytes;
  }

  /** Processes the next bytes. Returns the reason for closing the connection, if there is one. */
  take(chunk: Buffer): string | undefined {
    for (let at = 0; at < chunk.length;) {
      if (this.#step === "rest") {
        const bytes = Math.min(this.#bytesLeft, chunk.length - at);
        at += bytes;
        this.#bytesLeft -= bytes;
        this.#heldBytes += bytes;
        if (this.#bytesLeft === 0) this.#end();
        continue;
      }
      const byte = chunk[at++] ?? 0;
      this.#heldBytes += 1;
      if (this.#step === "type") this.#step = "length";
      else {
        const fault = this.#takeLength(byte);
        if (fault !== undefined) return fault;
      }
    }
    return undefined;
  }

  #takeLength(byte: number): string | undefined {
    this.#length += (byte & 0x7f) * 2 ** (7 * this.#lengthBytes);
    this.#lengthBytes += 1;
    const most = this.#isFirst ? this.#firstBytes : this.#mostBytes;
    if (this.#length > most) return `a packet may have ${most} bytes`;
    if ((byte & 0x80) !== 0) {
      return this.#lengthBytes < 4 ? undefined : "the length of a packet has four bytes at most";
    }
    this.#bytesLeft = this.#length;
    if (this.#bytesLeft === 0) this.#end();
    else this.#step = "rest";
    return undefined;
  }

  #end(): void {
    this.#isFirst = false;
    this.#step = "type";
    this.#length = 0;
    this.#lengthBytes = 0;
    this.#heldBytes = 0;
  }
}

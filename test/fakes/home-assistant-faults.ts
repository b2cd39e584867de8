import type { Socket } from "node:net";

/** Faults of a Home Assistant. */
export interface Faults {
  /** Takes connections and says nothing. */
  silent?: boolean;
  /** Answers anyone who connects with this status, as a proxy does. */
  status?: number;
  /** Answers service calls with success and does nothing, as for an entity that does not exist. */
  idle?: boolean;
  /** Takes messages and never answers service calls, although they are carried out. */
  mute?: boolean;
  /** Tells the old state once more before the new one. */
  stale?: boolean;
  /** The list of registries is refused, as to a user without the right. */
  closedRegistries?: boolean;
  /** Answers after so long. */
  slowMs?: number;
  /** Never answers messages of this type. */
  unanswered?: string;
  /** Takes the subscription to the entities, and tells of none. */
  noEntities?: boolean;
  /** Answers messages of these types with this. */
  wrong?: Record<string, unknown>;
  /** Breaks answers to messages of this type off. */
  broken?: { type: string; how: "truncated" | "cut" | "stalled" };
}

/** Writes the first half of a frame (RFC 6455, 5.2: of text, unmasked, of less than 64 KiB), and ends there, or stays silent. */
export function writeHalf(below: Socket, text: string, how: "cut" | "stalled"): void {
  const payload = Buffer.from(text);
  const head = Buffer.of(0x81, 126, payload.length >> 8, payload.length & 255);
  below.write(Buffer.concat([head, payload.subarray(0, payload.length / 2)]));
  if (how === "cut") below.end();
}

import { createHash } from "node:crypto";
import { Type } from "typebox";

const MOST_BYTES = 8 * 2 ** 20;
const MOST_MESSAGES = 50_000;
/** Length of the sequence by which two connections recognize the same messages. */
const MARKS = 16;
/** Maximum delay between two connections for the same message; a later equal message is a new one. */
const TOGETHER_MS = 1_000;

/** One message from a broker. */
export interface BufferedMessage {
  readonly topic: string;
  readonly payload: Buffer;
  readonly retained: boolean;
  /** The time of arrival, in milliseconds of a clock that all processes share. */
  readonly at: number;
}

/** A fingerprint of a received message: time of arrival, topic, and hash of the payload. */
export type Mark = [at: number, topic: string, hash: string];

/** The schema of a list of marks, for a plugin's `state`. */
export const Marks = Type.Array(Type.Tuple([Type.Number(), Type.String(), Type.String()]));

/**
 * A buffer for the messages that a new generation receives before its start. Two connections to a broker receive the
 * same messages in the same order. The last messages of the previous generation therefore tell the new one where to
 * continue: no message is lost, and no button press counts twice. Retained messages arrive at the beginning of each
 * connection and are not compared.
 */
export class HandoverBuffer<M extends BufferedMessage = BufferedMessage> {
  #buffered: { readonly message: M; readonly isWanted: boolean }[] = [];
  #bytes = 0;
  #last: M[] = [];
  /** Marks of messages that the previous generation received and this connection has not received yet, in order. */
  #ahead: readonly Mark[] = [];

  /** Buffers a message. An unwanted message is kept only for the comparison of sequences. */
  add(message: M, isWanted: boolean): void {
    this.#bytes += isWanted ? message.payload.length : 0;
    if (this.#bytes > MOST_BYTES || this.#buffered.length >= MOST_MESSAGES) {
      this.#buffered = [];
      this.#bytes = 0;
    }
    this.#buffered.push({ message, isWanted });
  }

  /** Records a message after the start. Returns false if the previous generation has already received it. */
  accept(message: M): boolean {
    if (message.retained) return true;
    this.#last.push(message);
    if (this.#last.length > 2 * MARKS) this.#last = this.#last.slice(-MARKS);
    return this.#ahead.length === 0 || !this.#wasReceived(message);
  }

  /** The marks of the last received messages, oldest first. Hand them over to the next generation. */
  lastReceived(): Mark[] {
    return this.#last.slice(-MARKS).map(markOf);
  }

  /**
   * Empties the buffer. Returns the retained messages and all others that came after `received`. A retained message is
   * omitted if the previous generation has received a newer one of its topic.
   */
  takeAfter(received: readonly Mark[]): M[] {
    const kept = this.#buffered;
    this.#buffered = [];
    this.#bytes = 0;
    const live = kept.filter(({ message }) => !message.retained);
    const marks = live.map(({ message }) => markOf(message));
    const { place, ahead } = overlap(marks, received);
    for (const { message } of live.slice(0, place)) this.accept(message);
    this.#ahead = ahead;
    const replaced = new Set([...marks.slice(0, place), ...ahead].map(([, topic]) => topic));
    const retained = kept.filter(({ message }) => message.retained && !replaced.has(message.topic));
    const wanted = [...retained, ...live.slice(place)].filter(({ isWanted }) => isWanted);
    return wanted.map(({ message }) => message);
  }

  /** Both connections have the same order, so a message that is not the next expected one ends the comparison. */
  #wasReceived(message: M): boolean {
    const [next, ...rest] = this.#ahead;
    const isNext = isSame(markOf(message), next);
    this.#ahead = isNext ? rest : [];
    return isNext;
  }
}

/** The position at which two lists of messages overlap. */
interface Overlap {
  /** The number of buffered messages that were received before. */
  readonly place: number;
  /** Messages that were received before and are not in the buffer yet. */
  readonly ahead: readonly Mark[];
}

/** Finds the position in `marks` after `heard`. Of several matches it takes the one closest in time. */
function overlap(marks: readonly Mark[], heard: readonly Mark[]): Overlap {
  let nearest: Overlap = { place: 0, ahead: [] };
  let nearestMs = Number.POSITIVE_INFINITY;
  const consider = (place: number, until: number): void => {
    const apartMs = apart(marks.slice(Math.max(0, place - MARKS), place), heard.slice(0, until));
    if (apartMs >= nearestMs) return;
    nearestMs = apartMs;
    nearest = { place, ahead: heard.slice(until) };
  };
  for (let place = marks.length; place > 0; place--) consider(place, heard.length);
  for (let until = heard.length - 1; until > 0; until--) consider(marks.length, until);
  return nearest;
}

/** Milliseconds between the last messages of two lists if one list ends with the other; otherwise infinity. */
function apart(marks: readonly Mark[], heard: readonly Mark[]): number {
  const length = Math.min(marks.length, heard.length);
  const [end, other] = [marks.slice(marks.length - length), heard.slice(heard.length - length)];
  const [last, otherLast] = [end.at(-1), other.at(-1)];
  if (!last || !otherLast) return Number.POSITIVE_INFINITY;
  return other.every((mark, at) => isSame(mark, end[at]))
    ? Math.abs(last[0] - otherLast[0])
    : Number.POSITIVE_INFINITY;
}

function isSame([at, topic, hash]: Mark, other: Mark | undefined): boolean {
  if (!other) return false;
  const [otherAt, otherTopic, otherHash] = other;
  return topic === otherTopic && hash === otherHash && Math.abs(at - otherAt) < TOGETHER_MS;
}

function markOf({ at, topic, payload }: BufferedMessage): Mark {
  return [at, topic, createHash("sha256").update(payload).digest("base64url")];
}

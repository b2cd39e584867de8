import { createHash } from "node:crypto";
import { Type } from "typebox";

const MOST_BYTES = 8 * 2 ** 20;
const MOST_MESSAGES = 50_000;
/** So many messages in a row are the same in two places only if they are the same ones. */
const MARKS = 16;
/** One message comes to two connections within this; what comes later is another one that says the same. */
const TOGETHER_MS = 1_000;

/** One message of a broker. */
export interface HeldMessage {
  readonly topic: string;
  readonly payload: Buffer;
  readonly retained: boolean;
  /** When it came, in milliseconds of the clock that all processes share. */
  readonly at: number;
}

/** A message that was heard: when it came, its topic, and a hash of what it said. */
export type Mark = [at: number, topic: string, hash: string];

/** The schema of marks, for a plugin's `state`. */
export const Marks = Type.Array(Type.Tuple([Type.Number(), Type.String(), Type.String()]));

/**
 * What came while nobody listened, in its order. Two connections to a broker are told the same in the same
 * order, so by what one heard last the other finds where to go on: nothing is missed and no press comes twice.
 * Retained messages come to each connection at its beginning, and are not part of that.
 */
export class Held<M extends HeldMessage = HeldMessage> {
  #kept: { readonly message: M; readonly isWanted: boolean }[] = [];
  #bytes = 0;
  #last: M[] = [];
  /** Marks of messages that the listener before has heard and that have not come yet, in their order. */
  #ahead: readonly Mark[] = [];

  /** Keeps a message; one that is not wanted only for its place. */
  keep(message: M, isWanted: boolean): void {
    this.#bytes += isWanted ? message.payload.length : 0;
    if (this.#bytes > MOST_BYTES || this.#kept.length >= MOST_MESSAGES) {
      this.#kept = [];
      this.#bytes = 0;
    }
    this.#kept.push({ message, isWanted });
  }

  /** Notes a message that comes while somebody listens; false for one that the listener before has heard. */
  note(message: M): boolean {
    if (message.retained) return true;
    this.#last.push(message);
    if (this.#last.length > 2 * MARKS) this.#last = this.#last.slice(-MARKS);
    return this.#ahead.length === 0 || !this.#isHeard(message);
  }

  /** Marks of what was heard last, oldest first. */
  heard(): Mark[] {
    return this.#last.slice(-MARKS).map(markOf);
  }

  /**
   * Gives away what was kept: the retained, and of the rest what came after `heard`. What was retained and
   * has been replaced since is left out when the listener before has heard the later one.
   */
  after(heard: readonly Mark[]): M[] {
    const kept = this.#kept;
    this.#kept = [];
    this.#bytes = 0;
    const live = kept.filter(({ message }) => !message.retained);
    const marks = live.map(({ message }) => markOf(message));
    const { place, ahead } = meeting(marks, heard);
    for (const { message } of live.slice(0, place)) this.note(message);
    this.#ahead = ahead;
    const replaced = new Set([...marks.slice(0, place), ...ahead].map(([, topic]) => topic));
    const retained = kept.filter(({ message }) => message.retained && !replaced.has(message.topic));
    const wanted = [...retained, ...live.slice(place)].filter(({ isWanted }) => isWanted);
    return wanted.map(({ message }) => message);
  }

  /** Messages come to both in one order: one that is not the next of those ahead ends the comparison. */
  #isHeard(message: M): boolean {
    const [next, ...rest] = this.#ahead;
    const isNext = isSame(markOf(message), next);
    this.#ahead = isNext ? rest : [];
    return isNext;
  }
}

/** Where two lists of messages meet. */
interface Meeting {
  /** So many of the one list were heard before. */
  readonly place: number;
  /** What was heard before and is not in the list yet. */
  readonly ahead: readonly Mark[];
}

/** Where `marks` goes on after `heard`; of several places the one where the same came at nearly the same time. */
function meeting(marks: readonly Mark[], heard: readonly Mark[]): Meeting {
  let nearest: Meeting = { place: 0, ahead: [] };
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

/** Milliseconds between the ends of two lists of messages, if the shorter is the end of the other. */
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

function markOf({ at, topic, payload }: HeldMessage): Mark {
  return [at, topic, createHash("sha256").update(payload).digest("base64url")];
}

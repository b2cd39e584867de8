import { createHash } from "node:crypto";

const MOST_BYTES = 8 * 2 ** 20;
/** So many messages in a row are the same in two places only if they are the same ones. */
const MARKS = 16;
/** One message comes to two connections within this; what comes later is another one that says the same. */
const TOGETHER_MS = 1_000;

/** One message of a broker. */
export interface Message {
  readonly topic: string;
  readonly payload: Buffer;
  readonly retained: boolean;
  /** When it came, in milliseconds of the clock that all processes share. */
  readonly at: number;
}

/** A message that was heard: when it came, and a hash of it. */
export type Mark = [at: number, hash: string];

/**
 * What came while nobody listened, in its order. Two connections to a broker are told the same in the same
 * order, so by what one heard last the other finds where to go on: nothing is missed and no press comes twice.
 * Retained messages come to each connection at its beginning, and are not part of that.
 */
export class Held {
  #kept: { readonly message: Message; readonly isWanted: boolean }[] = [];
  #bytes = 0;
  #last: Message[] = [];

  /** Keeps a message; one that is not wanted only for its place. */
  keep(message: Message, isWanted: boolean): void {
    this.#bytes += isWanted ? message.payload.length : 0;
    if (this.#bytes > MOST_BYTES) {
      this.#kept = [];
      this.#bytes = 0;
    }
    this.#kept.push({ message, isWanted });
  }

  /** Notes a message that is heard at once. */
  note(message: Message): void {
    if (message.retained) return;
    this.#last.push(message);
    if (this.#last.length > 2 * MARKS) this.#last = this.#last.slice(-MARKS);
  }

  /** Marks of what was heard last, oldest first. */
  heard(): Mark[] {
    return this.#last.slice(-MARKS).map(markOf);
  }

  /** Gives away what was kept: the retained, and of the rest what came after `heard`. */
  after(heard: readonly Mark[]): Message[] {
    const kept = this.#kept;
    this.#kept = [];
    const live = kept.filter(({ message }) => !message.retained);
    const from =
      heard.length === 0
        ? 0
        : placeAfter(
            live.map(({ message }) => markOf(message)),
            heard,
          );
    const wanted = [...kept.filter(({ message }) => message.retained), ...live.slice(from)];
    return wanted.filter(({ isWanted }) => isWanted).map(({ message }) => message);
  }
}

/** The latest place in `marks` before which all is as at the end of `heard`; 0 when there is none. */
function placeAfter(marks: readonly Mark[], heard: readonly Mark[]): number {
  for (let place = marks.length; place > 0; place--) {
    const length = Math.min(place, heard.length);
    const before = marks.slice(place - length, place);
    if (before.every((mark, at) => isSame(mark, heard[heard.length - length + at]))) return place;
  }
  return 0;
}

function isSame([at, hash]: Mark, [heardAt, heardHash]: Mark = [0, ""]): boolean {
  return hash === heardHash && Math.abs(at - heardAt) < TOGETHER_MS;
}

function markOf({ at, topic, payload }: Message): Mark {
  return [at, createHash("sha256").update(topic).update("\n").update(payload).digest("base64url")];
}

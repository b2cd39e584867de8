import { MantelError, type Sentence, sentence } from "@mantel/plugin-sdk";

const UNREADABLE = sentence("unreadable", "it cannot be read");

/** The reason of a failure, in words that are safe to show. */
export function reasonOf(error: unknown): Sentence {
  if (!(error instanceof MantelError)) return UNREADABLE;
  return error.extras.sentence ?? { ...UNREADABLE, text: error.message };
}

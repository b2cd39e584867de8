import { MantelError } from "@mantel/plugin-sdk";
import { YieldingPace } from "./ics/pace.ts";
import { parseFeed } from "./ics/parse.ts";
import { isVcard } from "./ics/vcard.ts";
import type { SkippedFile } from "./skipped-files.ts";

/** One of the files that a calendar is kept in. */
export interface CalendarFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The content of a calendar, and the files that are not in it. */
export interface JoinedFiles {
  /** Each is a calendar, or contacts. */
  readonly texts: readonly Uint8Array[];
  readonly leftOut: readonly SkippedFile[];
}

const LINE_END = Buffer.from("\r\n");
const MARK = Buffer.from("\ufeff");

/** All files as one calendar. One that is broken takes nothing from the others; contacts tell of their own faults. */
export async function joinFiles(files: Iterable<CalendarFile>): Promise<JoinedFiles> {
  const calendars: Uint8Array[] = [];
  const contacts: Uint8Array[] = [];
  const leftOut: SkippedFile[] = [];
  for (const { name, bytes } of files) {
    const isContacts = isVcard(bytes);
    const reason = isContacts ? undefined : await faultOf(bytes);
    const kind = isContacts ? contacts : calendars;
    if (reason === undefined) kind.push(withoutMark(bytes), LINE_END);
    else leftOut.push({ name, reason });
  }
  const texts = [calendars, contacts].filter(({ length }) => length > 0);
  return { texts: texts.map((parts) => Buffer.concat(parts)), leftOut };
}

/** The reason why a calendar cannot be joined with others, which it would make unreadable. */
async function faultOf(bytes: Uint8Array): Promise<string | undefined> {
  try {
    await parseFeed(bytes, new YieldingPace());
    return undefined;
  } catch (error) {
    if (error instanceof MantelError) return error.message;
    throw error;
  }
}

/** A byte-order mark means something only where a text begins. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return MARK.equals(bytes.subarray(0, MARK.length)) ? bytes.subarray(MARK.length) : bytes;
}

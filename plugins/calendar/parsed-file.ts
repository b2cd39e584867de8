import { parseFeed, type RawCalendar } from "./ics/parse.ts";
import { TimeSlice } from "./ics/time-slice.ts";
import { type Contacts, isVcard, parseContacts } from "./ics/vcard.ts";
import { reasonOf } from "./reason.ts";
import type { SkippedFile } from "./skipped-files.ts";

/** One of the files that a calendar is kept in. */
export interface CalendarFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A file that is split into its parts, so that its bytes are not needed any more. */
export interface ParsedFile {
  readonly size: number;
  readonly calendars: readonly RawCalendar[];
  readonly contacts?: Contacts;
}

/** @throws MantelError `invalid` for content that is neither a calendar nor contacts, or is too large */
export async function parseFile(bytes: Uint8Array, slice = new TimeSlice()): Promise<ParsedFile> {
  const size = bytes.length;
  if (isVcard(bytes)) return { size, calendars: [], contacts: parseContacts(bytes) };
  return { size, calendars: await parseFeed(bytes, slice) };
}

/** The files of a calendar, and those that are not in it. */
export interface ParsedFiles {
  readonly files: readonly ParsedFile[];
  readonly leftOut: readonly SkippedFile[];
}

/** All files of a calendar. One that is broken takes nothing from the others. */
export async function parseFiles(all: Iterable<CalendarFile>): Promise<ParsedFiles> {
  const files: ParsedFile[] = [];
  const leftOut: SkippedFile[] = [];
  const slice = new TimeSlice();
  for (const { name, bytes } of all) {
    const parsed = await parseFile(bytes, slice).catch((error: unknown) => reasonOf(error));
    if ("size" in parsed) files.push(parsed);
    else leftOut.push({ name, reason: parsed });
  }
  return { files, leftOut };
}

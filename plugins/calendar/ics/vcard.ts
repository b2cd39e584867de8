import { MantelError, sentence } from "@mantel/plugin-sdk";
import { decoderFor } from "../web/charset.ts";
import { decode, nameOf } from "./content-line.ts";

/** The properties of a contact that are needed for its birthday. */
export interface Contact {
  /** Absent in many contacts of version 2.1. */
  readonly uid: string | undefined;
  readonly name: string;
  readonly birthday: string | undefined;
  /** A year that stands for an unknown one, as Apple writes it. */
  readonly omittedYear: string | undefined;
}

const NAMES = new Set(["UID", "FN", "N", "NICKNAME", "ORG", "EMAIL", "BDAY"]);

export function isVcard(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  return /^[\xef\xbb\xbf\s]*BEGIN:VCARD/i.test(start);
}

/**
 * Maximum lines of all contacts together: a quarter of a second, and enough for 10 MB with
 * pictures.
 */
const MAX_LINES = 300_000;
/** Maximum length of a relevant line: names are shorter. */
const MAX_LINE = 2_000;

export interface Contacts {
  readonly contacts: readonly Contact[];
  /** Number of contacts without an end, for example in a truncated file. */
  readonly cut: number;
}

/**
 * The contacts of vCards of version 2.1, 3.0 (RFC 2426) and 4.0 (RFC 6350), one after the other.
 *
 * @throws MantelError `invalid` for more than can be read at once
 */
export function parseContacts(bytes: Uint8Array): Contacts {
  refuseTooMany(bytes);
  const contacts: Contact[] = [];
  let begun = 0;
  let lines: Line[] = [];
  for (const text of decode(withoutSoftBreaks(bytes)).trimStart().split("\n")) {
    const name = nameOf(text).replace(/^[^.]*\./, ""); // `item1.BDAY`: a group, which means nothing here
    if (name === "BEGIN") {
      begun++;
      lines = [];
    } else if (name === "END") contacts.push(contactOf(lines));
    else if (NAMES.has(name)) lines.push(parseLine(name, text.slice(0, MAX_LINE)));
  }
  return { contacts, cut: Math.max(begun - contacts.length, 0) };
}

function refuseTooMany(bytes: Uint8Array): void {
  let [returns, feeds] = [0, 0];
  for (const byte of bytes) {
    if (byte === 0x0d) returns++;
    else if (byte === 0x0a) feeds++;
  }
  if (Math.max(returns, feeds) <= MAX_LINES) return;
  const values = { most: MAX_LINES };
  throw new MantelError(
    "invalid",
    sentence("too_many_lines", "the contacts have over {most} lines: split them", values),
  );
}

interface Line {
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
}

/**
 * Quoted-printable values of version 2.1 continue after a line that ends in `=`. These are joined
 * before folded lines, because a space at the start of the next line may be part of the value.
 */
function withoutSoftBreaks(bytes: Uint8Array): Uint8Array {
  const parts: string[] = [];
  let goesOn = false;
  for (const line of Buffer.from(bytes)
    .toString("latin1")
    .split(/\r\n?|\n/)) {
    goesOn = line.endsWith("=") && (goesOn || QUOTED.test(line));
    parts.push(goesOn ? line.slice(0, -1) : `${line}\n`);
  }
  return Buffer.from(parts.join(""), "latin1");
}

const QUOTED = /^[^:]*;(?:ENCODING=)?QUOTED-PRINTABLE[;:]/i;

function parseLine(name: string, text: string): Line {
  const at = valueStart(text);
  const parameters = text.slice(0, at - 1);
  const value = text.slice(at);
  return { name, parameters, value: QUOTED.test(text) ? unquote(value, parameters) : value };
}

/** The start of the value: after the first colon outside quotation marks. */
function valueStart(text: string): number {
  const [head = text] = /^(?:"[^"]*"|[^":])*:/.exec(text) ?? [];
  return head.length;
}

function unquote(value: string, parameters: string): string {
  const bytes = value.replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const [, charset = "utf-8"] = /;CHARSET="?([\w-]+)/i.exec(parameters) ?? [];
  return decoderFor(charset).decode(Buffer.from(bytes, "latin1"));
}

function contactOf(lines: readonly Line[]): Contact {
  const find = (name: string) => lines.find((line) => line.name === name && line.value.trim());
  const birthday = find("BDAY");
  const [, omittedYear] = /;X-APPLE-OMIT-YEAR=(\d{4})/i.exec(birthday?.parameters ?? "") ?? [];
  return {
    uid: find("UID")?.value,
    name: nameFrom((name) => find(name)?.value ?? ""),
    birthday: birthday?.value.trim(),
    omittedYear,
  };
}

/** The name a contact gives itself, or else what comes nearest to one. */
function nameFrom(text: (name: string) => string): string {
  const [family = "", given = ""] = fields(text("N"));
  const names = [fields(text("FN")).join(";"), `${given} ${family}`.trim()];
  for (const name of ["NICKNAME", "ORG", "EMAIL"]) names.push(fields(text(name))[0] ?? "");
  return names.find((name) => name !== "") ?? "";
}

/** The parts of a value between semicolons, without their escapes (RFC 6350, 3.4). */
function fields(value: string): string[] {
  return value
    .split(/(?<!\\);/)
    .map((field) =>
      field.replace(/\\([nN\\,;:])/g, (_, c: string) => (/n/i.test(c) ? " " : c)).trim(),
    );
}

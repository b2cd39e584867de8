import { isProperty, parseProperty } from "./content-line.ts";

const MAX_ADDRESS = 2_000;
/** Characters of a text that are looked at; descriptions of programs have the link in the first few thousand. */
const MAX_TEXT = 50_000;

/** Properties of programs, each with the address of a meeting. */
const OWN_PROPERTIES = ["X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL"] as const;

/** Names of the properties with addresses of meetings. */
export const CONFERENCE_PROPERTIES: readonly string[] = ["CONFERENCE", ...OWN_PROPERTIES];

/** Addresses of meetings, so that other links to the same services are not taken for one. */
const SERVICES: readonly { readonly host: RegExp; readonly path: RegExp }[] = [
  { host: /^(.+\.)?(zoom\.us|zoomgov\.com)$/, path: /^\/(j|my|s|w|wc)\/./ },
  { host: /^teams\.microsoft\.(com|us)$/, path: /^\/(l\/meetup-join|meet)\/./ },
  { host: /^teams\.live\.com$/, path: /^\/meet\/./ },
  { host: /^meet\.google\.com$/, path: /^\/([a-z]{3,4}-[a-z]{3,4}-[a-z]{3,4}|lookup\/.+)$/ },
  { host: /^(meet\.jit\.si|8x8\.vc|(.+\.)?jitsi\..+)$/, path: /^\/./ },
];

/** Only web addresses: a feed may contain `javascript:` or worse. */
export function webAddress(text: string | undefined): string | null {
  if (text === undefined || !URL.canParse(text)) return null;
  const { protocol, href } = new URL(text);
  return protocol === "https:" || protocol === "http:" ? href : null;
}

/**
 * The web address of the meeting of an event: of CONFERENCE (RFC 7986, 5.11), first of one with video, then of a
 * program's own property, then the first known one in its texts.
 * @param lines with `CONFERENCE_PROPERTIES`; one that cannot be read is left out
 */
export function conferenceIn(lines: readonly string[], texts: readonly string[]): string | null {
  const named = lines.length === 0 ? undefined : namedIn(lines);
  if (named !== undefined) return named;
  for (const text of texts) {
    const found = meetingIn(text);
    if (found !== undefined) return found;
  }
  return null;
}

function namedIn(lines: readonly string[]): string | undefined {
  const all = lines
    .filter(isProperty)
    .map(parseProperty)
    .flatMap(({ name, parameters, values }) => {
      const address = webAddress(String(values[0] ?? "").trim());
      if (address === null || address.length > MAX_ADDRESS) return [];
      const hasVideo = /\bvideo\b/i.test(parameters["feature"] ?? "");
      const rank = hasVideo ? 0 : name.toUpperCase() === "CONFERENCE" ? 1 : 2;
      return [{ address, rank }];
    });
  return all.toSorted((a, b) => a.rank - b.rank)[0]?.address;
}

/** The first address of a known service in a text. */
function meetingIn(text: string): string | undefined {
  if (!text.includes("://")) return undefined; // quicker than to search it for addresses
  const addresses = text.slice(0, MAX_TEXT).matchAll(/https?:\/\/[^\s<>"'()[\]\\]+/gi);
  for (const [address] of addresses) {
    const trimmed = withoutPunctuation(address.replaceAll("&amp;", "&"));
    if (trimmed.length <= MAX_ADDRESS && isMeeting(trimmed)) return new URL(trimmed).href;
  }
  return undefined;
}

/** An address without the punctuation of its sentence. A regular expression takes long for a row of dots. */
function withoutPunctuation(text: string): string {
  let end = text.length;
  while (end > 0 && ".,;:!?".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function isMeeting(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname, pathname } = new URL(address);
  return SERVICES.some(({ host, path }) => host.test(hostname) && path.test(pathname));
}

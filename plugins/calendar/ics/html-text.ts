import { isProperty, parseProperty } from "./content-line.ts";

/** Properties with a description in HTML: of RFC 9073, 6.5, and the one before it that Outlook writes. */
export const STYLED_PROPERTIES: readonly string[] = ["STYLED-DESCRIPTION", "X-ALT-DESC"];

/** Characters of HTML that are read; what follows is left out. */
const MAX_HTML = 100_000;

/** Tags by which text is taken for HTML; a text such as `a < b` or `<ann@example.org>` is none. */
const HTML_TAG =
  /<\/?(?:a|b|body|br|div|em|font|h[1-6]|hr|html|html-blob|i|li|ol|p|pre|span|strong|table|td|tr|u|ul)(?:\s[^<>]*)?\/?>/i;
/** Without any of these, the line ends of the text itself are kept, as Google writes them. */
const LINE_TAG = /<(?:br|div|h[1-6]|li|p|table|tr)\b/i;

/** The least number of line ends before and after a block. */
const BLOCKS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    ["blockquote", "div", "hr", "li", "ol", "pre", "table", "tr", "ul"].map((name) => [name, 1]),
  ),
  ...Object.fromEntries(["p", "h1", "h2", "h3", "h4", "h5", "h6"].map((name) => [name, 2])),
};
/** Tags whose content is not text. */
const HIDDEN = new Set(["script", "style", "title"]);

export function isHtml(text: string): boolean {
  return HTML_TAG.test(text.slice(0, MAX_HTML));
}

/** The HTML of the first of these lines that has some; `undefined` without any. */
export function styledIn(lines: readonly string[]): string | undefined {
  return lines
    .filter(isProperty)
    .map(parseProperty)
    .filter(({ parameters }) => /^text\/html$/i.test(parameters["fmttype"] ?? "text/html"))
    .map(({ name, values }) => withoutEscapes(name, String(values[0] ?? "")))
    .find((text) => text.trim() !== "");
}

/** The type of a property with X- is not known, so its text has the escapes of RFC 5545, 3.3.11. */
function withoutEscapes(name: string, text: string): string {
  if (!/^x-/i.test(name)) return text;
  return text.replaceAll(/\\([\\;,n])/gi, (_, letter: string) =>
    /n/i.test(letter) ? "\n" : letter,
  );
}

/**
 * The text of HTML, with line breaks, and with the addresses of links after their texts. Takes time in proportion to
 * the length, also for broken HTML.
 */
export function htmlText(given: string): string {
  const html = given.slice(0, MAX_HTML);
  const writer = new TextWriter(!LINE_TAG.test(html));
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    writer.add(html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    at = readTag(html, open, writer);
  }
  return writer.finish();
}

/** Reads what begins with `<`, and returns where it ends. */
function readTag(html: string, open: number, writer: TextWriter): number {
  if (html.startsWith("<!--", open)) return after(html, "-->", open);
  if (!/[a-z/!?]/i.test(html.charAt(open + 1))) {
    writer.add("<");
    return open + 1;
  }
  const end = after(html, ">", open);
  const tag = html.slice(open, end);
  const name = /^<\/?([a-z][a-z\d]*)/i.exec(tag)?.[1]?.toLowerCase() ?? "";
  const isEnd = tag.startsWith("</");
  if (HIDDEN.has(name) && !isEnd) return afterEndOf(name, html, end);
  if (name === "a") writer.link(isEnd ? undefined : hrefIn(tag));
  else writer.mark(name, isEnd);
  return end;
}

/** The index behind the next `text`; the end if there is none. */
function after(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from);
  return at < 0 ? html.length : at + text.length;
}

/** The index behind the end tag with a name, in any case. */
function afterEndOf(name: string, html: string, from: number): number {
  const tag = new RegExp(`</${name}`, "gi");
  tag.lastIndex = from;
  const found = tag.exec(html);
  return found ? after(html, ">", found.index) : html.length;
}

/** The web address of a link; `undefined` for other links. */
function hrefIn(tag: string): string | undefined {
  const [, double, single, bare] =
    /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag) ?? [];
  const href = withoutEntities(double ?? single ?? bare ?? "").trim();
  return /^https?:\/\//i.test(href) ? href : undefined;
}

class TextWriter {
  readonly #keepsLines: boolean;
  #text = "";
  /** Line ends to write before the next text, and what begins its line. */
  #lineEnds = 0;
  #lineStart = "";
  /** The link that is open. Its label is apart, because to look it up in the text takes longer with each link. */
  #link: { readonly href: string; label: string } | undefined;

  constructor(keepsLines: boolean) {
    this.#keepsLines = keepsLines;
  }

  /** Adds text as it is between tags. */
  add(raw: string): void {
    const text = withoutEntities(raw);
    this.#write(this.#keepsLines ? text : text.replaceAll(/\s+/g, " "));
  }

  /** Adds the line ends or space of a tag. */
  mark(name: string, isEnd: boolean): void {
    const lineEnds = BLOCKS[name] ?? 0;
    if (name === "br") this.#lineEnds++;
    else if (name === "td" || name === "th") this.#write(" ");
    this.#lineEnds = Math.max(this.#lineEnds, lineEnds);
    if (lineEnds > 0) this.#lineStart = name === "li" && !isEnd ? "- " : "";
  }

  #write(text: string): void {
    if (text === "" || (this.#lineEnds > 0 && text.trim() === "")) return;
    this.#beginLine();
    this.#text += text;
    if (this.#link) this.#link.label += text;
  }

  #beginLine(): void {
    if (this.#lineEnds === 0) return;
    this.#text += "\n".repeat(Math.min(this.#lineEnds, 2)) + this.#lineStart;
    this.#lineEnds = 0;
    this.#lineStart = "";
  }

  /** Begins a link to an address, or ends the one that is open. */
  link(href: string | undefined): void {
    const before = this.#link;
    this.#link = undefined;
    if (before) this.#write(addressAfter(before.label.trim(), before.href));
    if (href !== undefined) this.#link = { href, label: "" };
  }

  finish(): string {
    this.link(undefined);
    const lines = this.#text.split("\n").map((line) => line.replaceAll(/[ \t]+/g, " ").trim());
    return lines
      .join("\n")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim();
  }
}

/** The address of a link, unless its text is the address already. */
function addressAfter(label: string, href: string): string {
  const bare = (text: string) => text.replace(/^https?:\/\//i, "").replace(/\/$/, "");
  if (label === "") return href;
  return bare(label) === bare(href) ? "" : ` (${href})`;
}

/** Names of the characters from U+00A0 to U+00FF, in order (HTML, 13.5). */
const LATIN_1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute " +
  "micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig " +
  "Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash " +
  "Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute " +
  "ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc " +
  "uuml yacute thorn yuml";

const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ...LATIN_1.split(" ").map((name, at) => [name, String.fromCodePoint(0xa0 + at)] as const),
  ["nbsp", " "],
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["ndash", "–"],
  ["mdash", "—"],
  ["lsquo", "‘"],
  ["rsquo", "’"],
  ["ldquo", "“"],
  ["rdquo", "”"],
  ["bull", "•"],
  ["hellip", "…"],
  ["euro", "€"],
]);

/** The text with the usual character references replaced; unknown ones stay as they are. */
function withoutEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z\d]{2,8}));/gi,
    (all: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return CHARACTERS.get(name) ?? all;
      return characterOf(decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal));
    },
  );
}

/** Control characters, surrogates and numbers beyond Unicode become nothing, and a no-break space a space. */
function characterOf(code: number): string {
  if (code === 0xa0 || code === 0x0a || code === 0x09) return " ";
  const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isText ? String.fromCodePoint(code) : "";
}

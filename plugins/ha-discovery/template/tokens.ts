import { TemplateError } from "./values.ts";

export interface Token {
  readonly kind: "name" | "number" | "text" | "operator" | "end";
  readonly text: string;
}

/** A stretch of a template: what is printed as it is, an expression, or a statement. */
export interface Part {
  readonly kind: "data" | "expression" | "statement";
  /** The text of `data`. */
  readonly text: string;
  readonly tokens: readonly Token[];
}

/** Longer templates are refused; the longest that devices announce have some hundred characters. */
const LONGEST_SOURCE = 8_192;

const TOKEN =
  /(?<space>\s+)|(?<name>[A-Za-z_]\w*)|(?<number>\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|(?<operator>\*\*|\/\/|==|!=|<=|>=|[-<>=+~*/%|.,:()[\]{}])/sy;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** Takes a template apart. @throws TemplateError */
export function split(source: string): Part[] {
  if (source.length > LONGEST_SOURCE) {
    throw new TemplateError(
      `the template has ${source.length} characters; it may have ${LONGEST_SOURCE}`,
    );
  }
  const parts: Part[] = [];
  let trimNext = false;
  for (let at = 0; at < source.length;) {
    const open = nextTag(source, at);
    const data = trimmed(source.slice(at, open), trimNext, source[open + 2] === "-");
    if (data !== "") parts.push({ kind: "data", text: data, tokens: [] });
    if (open === source.length) break;
    const tag = source[open + 1] === "#" ? comment(source, open) : block(source, open);
    if (tag.part) parts.push(tag.part);
    trimNext = source[tag.end - 3] === "-";
    at = tag.end;
  }
  return parts;
}

function nextTag(source: string, from: number): number {
  for (let at = source.indexOf("{", from); at >= 0; at = source.indexOf("{", at + 1)) {
    if ("{%#".includes(source[at + 1] ?? "x")) return at;
  }
  return source.length;
}

function trimmed(text: string, start: boolean, end: boolean): string {
  const half = start ? text.trimStart() : text;
  return end ? half.trimEnd() : half;
}

interface Tag {
  readonly part?: Part;
  /** The start of the text after the tag. */
  readonly end: number;
}

function comment(source: string, open: number): Tag {
  const close = source.indexOf("#}", open + 2);
  if (close < 0) throw new TemplateError("a comment does not end");
  return { end: close + 2 };
}

function block(source: string, open: number): Tag {
  const kind = source[open + 1] === "{" ? "expression" : "statement";
  const closing = kind === "expression" ? /[-+]?\}\}/y : /[-+]?%\}/y;
  const tokens: Token[] = [];
  let braces = 0;
  let at = "-+".includes(source[open + 2] ?? " ") ? open + 3 : open + 2;
  for (;;) {
    closing.lastIndex = at;
    if (braces === 0 && closing.test(source)) {
      return { part: { kind, text: "", tokens }, end: closing.lastIndex };
    }
    const { token, end } = nextToken(source, at);
    if (token) tokens.push(token);
    braces += braceStep(token);
    at = end;
  }
}

/** `}}` ends a tag only outside of a dict. */
function braceStep(token: Token | undefined): number {
  if (token?.kind !== "operator") return 0;
  return Number(token.text === "{") - Number(token.text === "}");
}

function nextToken(source: string, at: number): { token?: Token; end: number } {
  TOKEN.lastIndex = at;
  const groups = TOKEN.exec(source)?.groups;
  const end = TOKEN.lastIndex;
  if (!groups) {
    const found =
      at < source.length
        ? `${source.slice(at, at + 10)} is not an expression`
        : "a tag does not end";
    throw new TemplateError(found);
  }
  if (groups["space"] !== undefined) return { end };
  for (const kind of ["name", "number", "operator"] as const) {
    const text = groups[kind];
    if (text !== undefined) return { token: { kind, text }, end };
  }
  const text = (groups["text"] ?? "").slice(1, -1);
  return { token: { kind: "text", text: unescaped(text) }, end };
}

function unescaped(text: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/gs, (whole, escape: string) => {
    if (escape.length > 1) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    if (Object.hasOwn(ESCAPES, escape)) return ESCAPES[escape] ?? whole;
    return "\\'\"".includes(escape) ? escape : whole;
  });
}

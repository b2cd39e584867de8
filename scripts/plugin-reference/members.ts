// Reads declarations and their docstrings from TypeScript sources, as far as the SDK's own style needs it.

/** A member of an interface, or a key of a schema. */
export interface Member {
  /** Its declaration on one line, such as `get(key: string): Promise<unknown>`. */
  readonly signature: string;
  /** Its docstring on one line; empty without one. */
  readonly doc: string;
}

const OPENING = "{([<";
const CLOSING = "})]>";

/** The members of an interface, in order. @throws Error if the source does not have it */
export function membersOf(source: string, name: string): Member[] {
  const body = bodyOf(source, name);
  const members: Member[] = [];
  let at = 0;
  while (at < body.length) {
    const [, comment = ""] = /^\s*((?:\/\*\*[^]*?\*\/\s*)?)/.exec(body.slice(at)) ?? [];
    at += /^\s*/.exec(body.slice(at))?.[0].length ?? 0;
    at += comment.length;
    const end = endOfMember(body, at);
    const signature = signatureOf(body.slice(at, end)).replace(/^readonly /, "");
    if (signature !== "") members.push({ signature, doc: docOf(comment) });
    at = end + 1;
  }
  return members;
}

/** The types that an interface extends, on one line; empty without one. */
export function baseOf(source: string, name: string): string {
  const [, base = ""] =
    new RegExp(`export interface ${name}(?:<[^{]*?>)? extends ([^{]+) \\{`).exec(source) ?? [];
  return signatureOf(base);
}

/** A method or getter of a class with a docstring, from the docstring to the opening brace. */
const METHOD =
  /^ {2}(\/\*\*(?:(?!\*\/)[^])*\*\/)\s+(?:async )?((?:get )?[a-z]\w*\((?:(?!\n {2}\})[^])*?\): [^{;\n]+) \{$/gm;

/** The methods of a class that have a docstring, in order. @throws Error if the source does not have the class */
export function methodsOf(source: string, name: string): Member[] {
  const [, rest] = source.split(new RegExp(`^export class ${name}\\b`, "m"));
  if (rest === undefined) throw new Error(`the source has no class ${name}`);
  const body = rest.split("\n}\n", 1)[0] ?? "";
  return Array.from(body.matchAll(METHOD), ([, comment = "", signature = ""]) => ({
    signature: signatureOf(signature),
    doc: docOf(comment),
  }));
}

/** The docstrings of the keys of schemas, such as `{ key: Type.String() }`; of equal keys the first. */
export function docsOfKeys(source: string): ReadonlyMap<string, string> {
  const docs = new Map<string, string>();
  for (const [, comment = "", key = ""] of source.matchAll(
    /(\/\*\*(?:(?!\*\/)[^])*\*\/)\s*(\w+):/g,
  )) {
    if (!docs.has(key)) docs.set(key, docOf(comment));
  }
  return docs;
}

/** The source of an exported schema. @throws Error if the source does not have it */
export function schemaSource(source: string, name: string): string {
  const [, rest] = source.split(`export const ${name} = `);
  if (rest === undefined) throw new Error(`the source has no schema ${name}`);
  return rest.split("\n);\n", 1)[0] ?? "";
}

function bodyOf(source: string, name: string): string {
  const declared = new RegExp(`export interface ${name}\\b`).exec(source);
  if (!declared) throw new Error(`the source has no interface ${name}`);
  let depth = 0;
  let start = -1;
  for (let at = declared.index; at < source.length; at++) {
    const char = source[at] ?? "";
    if (isArrow(source, at)) continue;
    if (char === "{" && depth === 0) start = at + 1;
    if (OPENING.includes(char)) depth++;
    if (CLOSING.includes(char)) depth--;
    if (char === "}" && depth === 0) return source.slice(start, at);
  }
  throw new Error(`the interface ${name} does not end`);
}

function endOfMember(body: string, from: number): number {
  let depth = 0;
  for (let at = from; at < body.length; at++) {
    const char = body[at] ?? "";
    if (isArrow(body, at)) continue;
    if (OPENING.includes(char)) depth++;
    if (CLOSING.includes(char)) depth--;
    if (char === ";" && depth === 0) return at;
  }
  return body.length;
}

/** The `>` of `=>` closes nothing. */
const isArrow = (source: string, at: number): boolean => source.slice(at - 1, at + 1) === "=>";

function docOf(comment: string): string {
  const text = comment.trim().replace(/^\/\*\*|\*\/$/g, "");
  return onOneLine(text.replaceAll(/^\s*\*/gm, ""));
}

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

const signatureOf = (text: string): string =>
  onOneLine(text)
    .replaceAll(/([([{<]) | ([)\]}>])/g, "$1$2")
    .replaceAll(/,([)\]>])/g, "$1")
    .replaceAll(/\{(?=\S)/g, "{ ")
    .replaceAll(/(?<=\S)\}/g, (brace, at: number, whole: string) =>
      whole[at - 1] === "{" ? brace : " }",
    )
    .replaceAll(/\$\{ ([^{}]*) \}/g, "${$1}")
    .trim();

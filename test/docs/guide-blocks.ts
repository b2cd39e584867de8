/** A step of a reader at one place of a guide, or its result. */
export type Block =
  | { readonly kind: "file"; readonly path: string; readonly content: string }
  | {
      readonly kind: "edit";
      readonly path: string;
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: "commands"; readonly text: string; readonly answer: unknown };

const FENCE = /^(?:`(?<path>[^`\n]+)`:\n\n)?```(?<language>\w*)\n(?<content>.*?)^```$/gms;

/**
 * The code blocks of a text. A line above with a path, such as "`a/b.ts`:", makes a block that file,
 * or a change of it; further changes of the same file need no line. A `json` block after commands is
 * what the last of them answers.
 */
export function blocksIn(text: string): Block[] {
  const blocks: Block[] = [];
  let edited = "";
  for (const { groups } of text.matchAll(FENCE)) {
    const { path, language, content = "" } = groups ?? {};
    edited = path ?? edited;
    if (language === "diff") blocks.push({ kind: "edit", path: edited, ...changeIn(content) });
    else if (path !== undefined) blocks.push({ kind: "file", path, content });
    else if (language === "sh")
      blocks.push({ kind: "commands", text: content.trim(), answer: null });
    else
      blocks.push({ ...commandsIn(blocks.pop(), content), answer: JSON.parse(content) as unknown });
  }
  return blocks;
}

function commandsIn(
  block: Block | undefined,
  answer: string,
): Extract<Block, { kind: "commands" }> {
  if (block?.kind === "commands") return block;
  throw new Error(`no command has this answer:\n${answer}`);
}

function changeIn(diff: string): { before: string; after: string } {
  const lines = diff.trimEnd().split("\n");
  const marked = (mark: string) =>
    lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(1));
  return { before: marked("-").join("\n"), after: marked("+").join("\n") };
}

/** True if `actual` has all that is shown. It may have further fields, and further items of a list. */
export function shows(shown: unknown, actual: unknown): boolean {
  if (Array.isArray(shown)) {
    return Array.isArray(actual) && shown.every((item) => actual.some((each) => shows(item, each)));
  }
  if (typeof shown !== "object" || shown === null) return shown === actual;
  if (typeof actual !== "object" || actual === null) return false;
  const fields = new Map<string, unknown>(Object.entries(actual));
  return Object.entries(shown).every(([name, value]) => shows(value, fields.get(name)));
}

import { setImmediate } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk";
import {
  Composer,
  type Document,
  isMap,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  Scalar,
  visit,
} from "yaml";

/** Limits of one file. */
export const YAML_LIMITS = {
  bytes: 1_048_576,
  /** Levels of lists and maps inside each other. */
  depth: 100,
  /** Values that aliases may repeat. */
  aliases: 1_000,
} as const;

const STANDARD_TAG = "tag:yaml.org,2002:";
/** Tokens after which other work of the process gets its turn. */
const TOKENS_PER_TURN = 2_000;

/** A value with a tag of Home Assistant, such as `!secret`, which only Home Assistant can resolve. */
export class Tagged {
  readonly tag: string;

  constructor(tag: string) {
    this.tag = tag;
  }
}

/**
 * Reads YAML as plain data, with a `Tagged` in place of each value with a tag of its own. Of two equal keys, the last
 * one counts, as in Home Assistant.
 * @throws MantelError `invalid` with line and column; also for a text beyond the limits
 */
export async function readYaml(text: string): Promise<unknown> {
  if (Buffer.byteLength(text) > YAML_LIMITS.bytes) {
    throw new MantelError("invalid", `the file has more than ${YAML_LIMITS.bytes} bytes`);
  }
  const document = await compose(text);
  if (!document) return null;
  // The tags of Home Assistant are not faults; the parser only warns of them.
  visit(document, {
    Node(_key, node) {
      const { tag } = node as { readonly tag?: string };
      if (tag === undefined || tag.startsWith(STANDARD_TAG)) return undefined;
      if (isMap(node) || isSeq(node) || node instanceof Scalar) {
        const replaced = new Scalar(new Tagged(tag));
        if (node.anchor !== undefined) replaced.anchor = node.anchor;
        return replaced;
      }
      return undefined;
    },
  });
  const value = valueOf(document);
  requireDepth(value);
  return value;
}

function valueOf(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: YAML_LIMITS.aliases });
  } catch (error) {
    throw new MantelError("invalid", `the file is not usable YAML: ${(error as Error).message}`);
  }
}

/** Refuses values that aliases make deeper than the limit, or part of themselves. */
function requireDepth(value: unknown): void {
  const heights = new Map<object, number>();
  const heightAt = (part: unknown, depth: number): number => {
    if (typeof part !== "object" || part === null) return 0;
    const known = heights.get(part) ?? 0;
    if (depth + known > YAML_LIMITS.depth) {
      throw new MantelError("invalid", `the file has more than ${YAML_LIMITS.depth} levels`);
    }
    if (known > 0) return known;
    let height = 1;
    for (const each of Object.values(part))
      height = Math.max(height, 1 + heightAt(each, depth + 1));
    heights.set(part, height);
    return height;
  };
  heightAt(value, 0);
}

/** The first document of a text. Its depth is bounded before anything that calls itself reads it. */
async function compose(text: string): Promise<Document.Parsed | undefined> {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens = [];
  let count = 0;
  for (const source of new Lexer().lex(text.replace(/^\uFEFF/, ""))) {
    for (const token of parser.next(source)) tokens.push(token);
    if (parser.stack.length > YAML_LIMITS.depth) {
      throw new MantelError("invalid", `the file has more than ${YAML_LIMITS.depth} levels`);
    }
    if (++count % TOKENS_PER_TURN === 0) await setImmediate();
  }
  for (const token of parser.end()) tokens.push(token);
  const [document] = new Composer({ merge: true, uniqueKeys: false }).compose(tokens);
  const [error] = document?.errors ?? [];
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    const sentence = `the file is not YAML: line ${line}, column ${col}: ${error.message}`;
    throw new MantelError("invalid", sentence);
  }
  return document;
}

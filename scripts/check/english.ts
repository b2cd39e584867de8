interface Rule {
  readonly pattern: RegExp;
  readonly files: RegExp;
  readonly advice: string;
}

const CODE = /\.[jt]s$/;
const TEXT = /\.(?:[jt]s|md)$/;
/** The space between two words: also a line break, with the mark of a comment on the next line. */
const GAP = String.raw`\s+(?:(?:\*|\/\/)\s+)?`;

const RULES: readonly Rule[] = [
  {
    pattern: /\/\*\*\s+(?:\*\s+)?(?:What|Whether|How|That|When|Which|Why|Who)\b/g,
    files: CODE,
    advice: "begin a docstring with a noun phrase or a verb",
  },
  {
    pattern: new RegExp(
      String.raw`(?<!\bthere${GAP})\b(?:is|are|was|were)${GAP}no\b(?!${GAP}longer\b)`,
      "gi",
    ),
    files: TEXT,
    advice: 'write "is not a" or "are not"',
  },
  { pattern: /\banew\b/gi, files: TEXT, advice: 'write "again"' },
  { pattern: new RegExp(`\\bgoes${GAP}on\\b`, "gi"), files: TEXT, advice: 'write "continues"' },
  { pattern: /\bwhoever\b/gi, files: TEXT, advice: 'write "anyone who"' },
  {
    pattern: /\b(?:describe|it|suite|test)(?:\.\w+)?\(\s*["'`](?:that|what)\b/gi,
    files: /\.test\.ts$/,
    advice: "the title of a test says what happens: begin it with a subject",
  },
];

/** Files that quote these words, or that are not written by hand. */
const LEFT_OUT = /(?:^|\/)fixtures\/|api-types\.d\.ts$|check\/english(?:\.test)?\.ts$/;

/** The places in a file that break the rules for plain English, as `file:line: "text"; advice`. */
export function findUnplainEnglish(file: string, text: string): string[] {
  if (LEFT_OUT.test(file)) return [];
  return RULES.filter(({ files }) => files.test(file)).flatMap(({ pattern, advice }) =>
    Array.from(text.matchAll(pattern), ({ 0: found, index }) => {
      const line = text.slice(0, index).split("\n").length;
      return `${file}:${line}: "${found.replaceAll(/\s+/g, " ")}"; ${advice}`;
    }),
  );
}

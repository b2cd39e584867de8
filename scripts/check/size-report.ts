const SHOWN = 10;
/** The limit of lines in a file, which oxlint does not name (.ci/oxlint.json). */
const FILE_LINES = 400;

/** The number of warnings in oxlint's output of one line each, and those furthest above their limit. */
export function sizeReport(output: string): string {
  const warnings = output.split("\n").filter((line) => line.includes("[Warning/"));
  const largest = warnings.toSorted((a, b) => excessOf(b) - excessOf(a)).slice(0, SHOWN);
  const shown = largest.map((line) => `  ${line.replace(/ \[Warning\/.*$/, "")}`);
  return [`${warnings.length} warnings about size; the furthest above a limit:`, ...shown].join(
    "\n",
  );
}

function excessOf(line: string): number {
  const [, inBrackets, complexity] = /\((\d+)\)|complexity of (\d+)/.exec(line) ?? [];
  const [, limit = FILE_LINES] = /allowed is (\d+)/.exec(line) ?? [];
  return Number(inBrackets ?? complexity ?? 0) / Number(limit);
}

import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import type { TestEnded, TestRecord } from "./records.ts";

const REPORTER = "scripts/test/events.ts";
const TOGETHER = "scripts/test/together.ts";
/** The code that a test process runs besides the test files. */
export const PROGRAMS = [REPORTER, TOGETHER];
const END_DEADLINE_MS = 5_000;

/** The tests of one process. */
export interface Outcome {
  readonly files: readonly string[];
  readonly ms: number;
  readonly tests: readonly TestEnded[];
  /** All else that the tests printed. */
  readonly output: string;
  /** Set when the process failed beside its tests. */
  readonly fault?: string;
}

interface Limits {
  /** The process is ended when none of its tests starts or ends for so long. */
  readonly silenceMs: number;
  readonly env: NodeJS.ProcessEnv;
  readonly nodeOptions: readonly string[];
  /** The path of the JavaScript or TypeScript that is run for a file. */
  readonly pathOf: (file: string) => string;
}

/** Runs test files in one process. With several each test's path begins with its file. */
export async function runFiles(files: readonly string[], limits: Limits): Promise<Outcome> {
  const startedAt = performance.now();
  const tests: TestEnded[] = [];
  let output = "";
  let last = "";
  let silence: string | undefined;
  const { pathOf, nodeOptions, env } = limits;
  const [first = ""] = files;
  const named = files.flatMap((file) => [file, pathOf(file)]);
  const program = files.length > 1 ? [pathOf(TOGETHER), ...named] : [pathOf(first)];
  const reporter = [`--test-reporter=${pathOf(REPORTER)}`, "--test-reporter-destination=stdout"];
  const child = spawn(process.execPath, [...nodeOptions, ...reporter, ...program], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  const end = () => {
    silence = `no test started or ended for ${limits.silenceMs / 1_000} s; the last one was "${last}"`;
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), END_DEADLINE_MS).unref();
  };
  const timer = setTimeout(end, limits.silenceMs);
  const take = (record: TestRecord): void => {
    timer.refresh();
    if (record.kind === "started") last = record.name;
    else if (record.kind === "said") output += `${record.message}\n`;
    else tests.push(record);
  };
  onLines(child.stdout, (line) => (output += takeRecord(line, take)));
  onLines(child.stderr, (line) => (output += `${line}\n`));
  const stop = () => child.kill("SIGTERM");
  process.once("exit", stop);
  const code = await new Promise<number | string>((resolve, reject) => {
    child.on("error", reject).on("close", (status, signal) => resolve(status ?? signal ?? 1));
  });
  process.off("exit", stop);
  clearTimeout(timer);
  const fault = silence ?? faultOf(code, tests);
  const ms = performance.now() - startedAt;
  return { files, ms, tests, output, ...(fault !== undefined && { fault }) };
}

export function hasFailed({ tests, fault }: Outcome): boolean {
  return fault !== undefined || tests.some(({ error }) => error !== undefined);
}

function faultOf(code: number | string, tests: readonly TestEnded[]): string | undefined {
  if (code === 0 || (code === 1 && tests.some(({ error }) => error !== undefined)))
    return undefined;
  return `the process ended with ${code}`;
}

/** Hands on the record of a line, and gives what else is in it. */
function takeRecord(line: string, take: (record: TestRecord) => void): string {
  const at = line.indexOf("\u001e");
  if (at === -1) return `${line}\n`;
  try {
    take(JSON.parse(line.slice(at + 1)) as TestRecord);
    return line.slice(0, at);
  } catch {
    return `${line}\n`; // a program of a test wrote into it
  }
}

function onLines(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  });
  stream.on("end", () => rest && take(rest));
}

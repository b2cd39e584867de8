import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import type { TestEnded, TestRecord } from "./records.ts";

const REPORTER = "scripts/test/events.ts";
const TOGETHER = "scripts/test/together.ts";
const UNTRACED = "scripts/test/untraced.ts";
/** The code that a test process runs besides the test files. */
export const PROGRAMS = [REPORTER, TOGETHER, UNTRACED];
const END_DEADLINE_MS = 5_000;

export interface FileResult {
  readonly file: string;
  readonly ms: number;
  readonly tests: readonly TestEnded[];
  /** All else that its tests printed. */
  readonly output: string;
  /** Set when its process failed beside its tests. */
  readonly fault?: string;
}

export interface ProcessResult {
  /** Of the files that ran, in their order. */
  readonly results: readonly FileResult[];
  /** Files that did not run to their end, because one before them ended the process. */
  readonly unfinished: readonly string[];
}

interface Limits {
  /** The process is ended when none of its tests starts or ends for so long. */
  readonly silenceMs: number;
  readonly env: NodeJS.ProcessEnv;
  readonly nodeOptions: readonly string[];
  /** The path of the JavaScript that is run for a file. */
  readonly pathOf: (file: string) => string;
}

/** Runs test files one after another in one process. */
export async function runFiles(files: readonly string[], limits: Limits): Promise<ProcessResult> {
  const startedAt = performance.now();
  const run = new Run(files);
  let silence: string | undefined;
  const { pathOf, nodeOptions, env } = limits;
  const reporter = [`--test-reporter=${pathOf(REPORTER)}`, "--test-reporter-destination=stdout"];
  const untraced = ["--import", pathToFileURL(pathOf(UNTRACED)).href];
  const program = [pathOf(TOGETHER), ...files.flatMap((file) => [file, pathOf(file)])];
  const child = spawn(process.execPath, [...nodeOptions, ...untraced, ...reporter, ...program], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  const end = () => {
    silence = `no test started or ended for ${limits.silenceMs / 1_000} s; the last one was "${run.last}"`;
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), END_DEADLINE_MS).unref();
  };
  const timer = setTimeout(end, limits.silenceMs);
  const take = (record: TestRecord): void => {
    timer.refresh();
    run.take(record);
  };
  onLines(child.stdout, (line) => run.print(takeRecord(line, take)));
  onLines(child.stderr, (line) => run.print(`${line}\n`));
  const stop = () => child.kill("SIGTERM");
  process.once("exit", stop);
  const code = await new Promise<number | string>((resolve, reject) => {
    child.on("error", reject).on("close", (status, signal) => resolve(status ?? signal ?? 1));
  });
  process.off("exit", stop);
  clearTimeout(timer);
  return run.end({ ms: performance.now() - startedAt, code, silence });
}

/** True if the file must not count as passed. */
export function hasFailed({ tests, fault }: FileResult): boolean {
  return fault !== undefined || tests.some(({ error }) => error !== undefined);
}

interface End {
  readonly ms: number;
  /** Exit code or signal. */
  readonly code: number | string;
  readonly silence: string | undefined;
}

/** The events of one process, by file. */
class Run {
  readonly #files: readonly string[];
  readonly #tests = new Map<string, TestEnded[]>();
  readonly #output = new Map<string, string>();
  /** The file whose tests run. */
  #current: string;
  last = "";

  constructor(files: readonly string[]) {
    this.#files = files;
    this.#current = files[0] ?? "";
  }

  take(record: TestRecord): void {
    if (record.kind === "said") this.print(`${record.message}\n`);
    else if (record.kind === "file") this.#current = record.name;
    else if (record.kind === "started") this.last = record.name;
    else {
      const [file = ""] = record.path;
      this.#tests.set(file, [...this.#testsOf(file), record]);
    }
  }

  print(text: string): void {
    this.#output.set(this.#current, (this.#output.get(this.#current) ?? "") + text);
  }

  end({ ms, code, silence }: End): ProcessResult {
    const all = this.#files;
    const hasErrors = all.some((file) => this.#testsOf(file).some(({ error }) => error));
    const isGood = code === 0 || (code === 1 && hasErrors);
    const fault = silence ?? (isGood ? undefined : `the process ended with ${code}`);
    const stoppedAt = this.#stoppedAt(fault);
    const ran = all.filter((file) => file === stoppedAt || this.#hasEnded(file));
    return {
      results: ran.map((file) => ({
        file,
        ms: this.#wholeOf(file)?.ms ?? ms,
        tests: this.#testsOf(file),
        output: this.#output.get(file) ?? "",
        ...(file === stoppedAt && fault !== undefined && { fault }),
      })),
      unfinished: all.filter((file) => !ran.includes(file)),
    };
  }

  /**
   * The file that a process blames when it fails: the one whose tests ran, although reports of those before it may be
   * lost, or behind its last test the last one.
   */
  #stoppedAt(fault: string | undefined): string | undefined {
    if (fault !== undefined && !this.#hasEnded(this.#current)) return this.#current;
    return this.#files.find((file) => !this.#hasEnded(file)) ?? this.#files.at(-1);
  }

  #testsOf(file: string): TestEnded[] {
    return this.#tests.get(file) ?? [];
  }

  #hasEnded(file: string): boolean {
    return this.#wholeOf(file) !== undefined;
  }

  /** The suite that is the file. */
  #wholeOf(file: string): TestEnded | undefined {
    return this.#testsOf(file).find(({ path }) => path.length === 1);
  }
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

import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";

const START_DEADLINE_MS = 120_000;
const POLL_MS = 200;
const LAST_WORDS = 4_000;

/** A program of an npm package that is not installed here. */
export interface Tool {
  /** Resolves with the last it has printed, once it has ended. */
  readonly ended: Promise<string>;
  /** Resolves when something answers at `url`. @throws Error when nothing does, or the tool has ended */
  readonly answersAt: (url: string) => Promise<void>;
  readonly stop: () => void;
}

/** Has npx fetch a package, without install scripts, and run its program in `folder`. */
export function startTool(
  name: string,
  args: readonly string[],
  { folder, variables = {} }: { folder: string; variables?: Readonly<Record<string, string>> },
): Tool {
  const child = spawn("npx", ["--yes", "--ignore-scripts", name, ...args], {
    cwd: folder,
    env: { ...process.env, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // npx starts others, which end with it as a group
  });
  let lastWords = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      lastWords = (lastWords + text).slice(-LAST_WORDS);
    });
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const ended = new Promise<string>((done) => {
    child.once("error", (error) => done(error.message));
    child.once("close", () => done(lastWords));
  });
  return {
    ended,
    async answersAt(url) {
      const until = performance.now() + START_DEADLINE_MS;
      while (isRunning() && performance.now() < until) {
        if (await fetch(url).catch(() => undefined)) return;
        await delay(POLL_MS);
      }
      throw new Error(`${name} does not run: ${lastWords}`);
    },
    stop() {
      if (isRunning() && child.pid !== undefined) process.kill(-child.pid);
    },
  };
}

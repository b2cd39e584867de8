import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { withDeadline } from "@mantel/plugin-sdk/deadline";
import { loadNow } from "../helpers/until.ts";

const COMMAND_DEADLINE_MS = 30_000;

/** A command that has ended. */
export interface Answer {
  readonly code: number;
  /** Standard output and standard error. */
  readonly output: string;
}

/** One shell for the whole of a guide, so that variables, functions and jobs last as they do for a reader. */
export class Terminal {
  readonly #shell: ChildProcess;
  #output = "";
  #heard: () => void = () => undefined;

  private constructor(folder: string, environment: NodeJS.ProcessEnv) {
    // A process group of its own, so that jobs in the background end with it.
    this.#shell = spawn("bash", { cwd: folder, env: environment, detached: true });
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        this.#heard();
      });
    }
  }

  /** A shell in `folder`, which ends with the test. */
  static open(t: TestContext, folder: string, environment: NodeJS.ProcessEnv): Terminal {
    const terminal = new Terminal(folder, environment);
    t.after(() => terminal.#close());
    return terminal;
  }

  /** Runs commands and waits for the last of them. */
  run(commands: string): Promise<Answer> {
    const mark = `--${randomUUID()}--`;
    this.#output = "";
    this.#shell.stdin?.write(`${commands}\nprintf '%s%s\\n' "${mark}" "$?"\n`);
    return withDeadline(this.#ended(mark), COMMAND_DEADLINE_MS * loadNow(), commands);
  }

  #ended(mark: string): Promise<Answer> {
    return new Promise((resolve) => {
      this.#heard = () => {
        const [output = "", rest] = this.#output.split(mark);
        const [, code] = /^(\d+)\n/.exec(rest ?? "") ?? [];
        if (code !== undefined) resolve({ code: Number(code), output });
      };
    });
  }

  #close(): void {
    const { pid } = this.#shell;
    if (pid !== undefined && this.#shell.exitCode === null) process.kill(-pid, "SIGKILL");
  }
}

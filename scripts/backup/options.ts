import { resolve } from "node:path";
import { parseArgs } from "node:util";

export interface Options {
  readonly file: string;
  readonly data: string;
  readonly withSecrets: boolean;
}

/** Parses the options. Prints the usage and ends the process for invalid options or --help. */
export function readOptions(command: string, usage: string): Options {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = { data: text, secrets: flag, help: flag } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const { data = process.env["MANTEL_DATA"] || "./data", secrets, help } = values;
    const [file, ...others] = positionals;
    if (help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    if (file && others.length === 0) {
      return { file: resolve(file), data: resolve(data), withSecrets: secrets };
    }
    process.stderr.write(`${command}: pass exactly one file\n\n${usage}`);
  } catch (error) {
    process.stderr.write(`${command}: ${(error as Error).message}\n\n${usage}`);
  }
  process.exit(2);
}

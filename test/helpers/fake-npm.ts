import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import { emptyFolder } from "./folder.ts";
import { onTestEnd } from "./on-test-end.ts";

/** The shell scripts that stand for commands of npm. They run in the folder where npm runs. */
export interface NpmScripts {
  readonly install?: string;
  readonly audit?: string;
  readonly pack?: string;
  readonly view?: string;
  readonly search?: string;
  readonly rebuild?: string;
}

/** Puts a program in the place of npm until the test ends. Gives the command lines that it was started with. */
export async function fakeNpm(t: TestContext, scripts: NpmScripts) {
  const folder = await emptyFolder(t);
  const calls = join(folder, "calls");
  await writeFile(calls, "");
  const script = [
    "#!/bin/sh",
    `echo "$*" >> '${calls}'`,
    'case "$1" in',
    ...Object.entries(scripts).map(([command, text]) => `${command}) ${text}\n;;`),
    "esac",
  ];
  await writeFile(join(folder, "npm"), `${script.join("\n")}\n`, { mode: 0o755 });
  const before = process.env["PATH"];
  process.env["PATH"] = `${folder}${delimiter}${before}`;
  onTestEnd(t, async () => {
    process.env["PATH"] = before;
  });
  return {
    calls: async () => (await readFile(calls, "utf8")).split("\n").slice(0, -1),
  };
}

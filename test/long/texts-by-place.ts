import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { unpack } from "../../host/backup/archive.ts";
import type { TestHost } from "../helpers/host.ts";
import { processTreeOf } from "../helpers/processes.ts";
import { runScript } from "../helpers/script.ts";

/** Texts by where they were found. */
export type TextsByPlace = Readonly<Record<string, string>>;

/** Where secrets belong. */
const SECRET_FILES = /^secrets\.json/;

/** The answers of all GET operations to an admin. */
export async function readAnswers(
  host: TestHost,
  ids: readonly string[] = ["mqtt", "telltale"],
): Promise<TextsByPlace> {
  const { paths } = (await (await host.api("/openapi.json")).json()) as {
    paths: Record<string, object>;
  };
  const readable = Object.entries(paths)
    .filter(([path, methods]) => "get" in methods && path.startsWith("/api/v1/"))
    .map(([path]) => path.slice("/api/v1".length))
    .filter((path) => path !== "/events");
  const targets = readable.flatMap((path) => ids.map((id) => path.replace(/\{\w+\}/, id)));
  const answers = await Promise.all(
    [...new Set(targets)].map(async (path) => [`GET ${path}`, await (await host.api(path)).text()]),
  );
  return Object.fromEntries(answers) as Record<string, string>;
}

export async function readFiles(folder: string): Promise<TextsByPlace> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile() && !SECRET_FILES.test(each.name));
  const texts = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path, await readFile(path, "latin1").catch(() => "")] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** The shell, and the code of every widget, as browsers get them. */
export async function readBundles(host: TestHost): Promise<TextsByPlace> {
  const { modules } = (await (await host.api("/modules")).json()) as {
    modules: { id: string; widget?: { url: string } | null }[];
  };
  const paths = ["/", ...modules.flatMap(({ widget }) => (widget ? [widget.url] : []))];
  const texts = paths.map(async (path) => {
    return [`bundle ${path}`, await (await fetch(host.url + path)).text()] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** The content of a backup without secrets. */
export async function readBackup({ data }: TestHost): Promise<TextsByPlace> {
  const file = `${data}.backup`;
  const { code, output } = await runScript("backup", [file, "--data", data]);
  assert.equal(code, 0, output);
  const { files, secrets } = await unpack(await readFile(file), undefined, file);
  const texts = [...files, ...secrets].map(([path, bytes]) => [`backup ${path}`, bytes.toString()]);
  return {
    "the backup": await readFile(file, "latin1"),
    ...Object.fromEntries(texts),
  } as TextsByPlace;
}

/** The output of `ps` for a host and its descendants, and their environments. */
export async function readProcesses(host: number): Promise<TextsByPlace> {
  const texts: Record<string, string> = {};
  for (const { pid } of processTreeOf(host)) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const name = `${pid} ${command.replaceAll("\0", " ").slice(0, 100)}`;
    texts[`command of ${name}`] = command;
    if (pid === host) continue; // it is told the secrets in its environment
    texts[`environment of ${name}`] = await readFile(`/proc/${pid}/environ`, "utf8");
  }
  return texts;
}

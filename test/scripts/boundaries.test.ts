import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");

const REFUSED = [
  ["host/a.ts", "../plugins/lamp/index.ts"],
  ["host/http/routes/a.ts", "../../../plugins/lamp/index.ts"],
  ["host/a.ts", "@mantel/lamp"],
  ["host/a.ts", "../plugin-sdk/index.ts"],
  ["host/a.ts", "../test/helpers/until.ts"],
  ["plugin-sdk/a.ts", "../host/log.ts"],
  ["plugin-sdk/rpc/a.ts", "../../host/log.ts"],
  ["plugin-sdk/a.ts", "@mantel/lamp"],
  ["plugins/lamp/a.ts", "../../host/log.ts"],
  ["plugins/lamp/a.ts", "../other/index.ts"],
  ["plugins/lamp/parts/a.ts", "../../other/index.ts"],
  ["plugins/lamp/a.ts", "@mantel/other"],
  ["plugins/lamp/a.ts", "../../plugin-sdk/index.ts"],
  ["plugins/lamp/widget.ts", "node:fs"],
  ["plugins/lamp/widget.ts", "../../host/log.ts"],
  ["plugins/lamp/widget/a.ts", "node:fs"],
  ["plugin-sdk/widget.ts", "node:fs"],
  ["host/dashboard/a.ts", "node:fs"],
  ["host/dashboard/a.ts", "../../plugins/lamp/widget.ts"],
  ["host/dashboard/a.ts", "../modules/manager.ts"],
  ["host/dashboard/settings/a.ts", "../../log.ts"],
  ["host/api/a.ts", "../log.ts"],
  ["host/modules/process/a.ts", "../lifecycle/module.ts"],
  ["host/modules/process/a.ts", "../manager.ts"],
  ["host/modules/process/sandbox/a.ts", "../../lifecycle/module.ts"],
] as const;

const ALLOWED = [
  ["host/b.ts", "@mantel/plugin-sdk"],
  ["host/b.ts", "@mantel/plugin-sdk/errors"],
  ["host/http/b.ts", "../events/bus.ts"],
  ["host/dashboard/b.ts", "../api/module.ts"],
  ["host/dashboard/settings/b.ts", "../api.ts"],
  ["host/dashboard/settings/b.ts", "../../api/module.ts"],
  ["host/modules/lifecycle/b.ts", "../process/procfs.ts"],
  ["plugin-sdk/rpc/b.ts", "../errors.ts"],
  ["plugins/lamp/b.ts", "./client.ts"],
  ["plugins/lamp/b.ts", "node:fs"],
  ["plugins/lamp/b.ts", "@mantel/plugin-sdk"],
  ["plugins/lamp/parts/b.ts", "../client.ts"],
  ["plugins/lamp/parts/b.ts", "@mantel/plugin-sdk/testing"],
  ["scripts/b.ts", "../host/log.ts"],
  ["test/plugins/lamp/b.ts", "../../../plugins/lamp/index.ts"],
] as const;

test("every import across a boundary is refused, and no other", async (t) => {
  const folder = await emptyFolder(t);
  await cp(join(REPOSITORY, ".ci"), join(folder, ".ci"), { recursive: true });
  await symlink(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
  const sources = new Map<string, string>();
  for (const [path, imported] of [...REFUSED, ...ALLOWED]) {
    sources.set(path, `${sources.get(path) ?? ""}export * from "${imported}";\n`);
  }
  for (const [path, source] of sources) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), source);
  }

  const found = (await lint(folder)).filter(({ code }) => /restricted|nodejs/.test(code));

  const refused = found.map(({ filename, labels: [label] }) => {
    const line = sources.get(filename)?.split("\n")[(label?.span.line ?? 0) - 1];
    return `${filename} ${line?.split('"')[1]}`;
  });
  assert.deepEqual(refused.toSorted(), REFUSED.map((each) => each.join(" ")).toSorted());
});

interface Finding {
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

async function lint(folder: string): Promise<readonly Finding[]> {
  const output = await new Promise<string>((resolveOutput) => {
    execFile(
      join(REPOSITORY, "node_modules/.bin/oxlint"),
      [
        "-c",
        ".ci/oxlint.json",
        "--format",
        "json",
        "host",
        "plugin-sdk",
        "plugins",
        "scripts",
        "test",
      ],
      { cwd: folder },
      (_failure, stdout) => resolveOutput(stdout),
    );
  });
  return (JSON.parse(output) as { diagnostics: Finding[] }).diagnostics;
}

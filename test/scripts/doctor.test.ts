import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { examine } from "../../scripts/doctor/examine.ts";
import type { Finding } from "../../scripts/doctor/finding.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { freePort } from "../helpers/free-port.ts";
import { startHost } from "../helpers/host.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const AS_NODE_18 =
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.0" } })';

interface Visit {
  readonly code: number;
  readonly output: string;
  readonly findings: readonly Finding[];
}

/** The findings about this machine, by the checks of the command. */
async function examined(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<readonly Finding[]> {
  return examine(args, env, REPOSITORY);
}

/** The command as a person gives it, with `--json`. */
async function visit(
  args: readonly string[],
  { repository = REPOSITORY, env = {}, node = [] as readonly string[] } = {},
): Promise<Visit> {
  const program = join(repository, "scripts/doctor.js");
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [...node, program, "--json", ...args],
      { env: { ...process.env, ...env } },
      (_, stdout, stderr) => {
        const findings = stdout === "" ? [] : (JSON.parse(stdout) as Visit).findings;
        done({ code: child.exitCode ?? -1, output: stdout + stderr, findings });
      },
    );
  });
}

function statusOf(findings: readonly Finding[], check: string): string[] {
  return findings.filter((each) => each.check === check).map(({ status }) => status);
}

test("a healthy machine passes every check, and the checks change nothing", async (t) => {
  const data = await emptyFolder(t);
  const args = ["--data", data, "--port", String(await freePort())];

  const seen = await visit(args);

  assert.equal(seen.code, 0, seen.output);
  assert.deepEqual(
    seen.findings.filter(({ status }) => status === "fail"),
    [],
  );
  for (const check of ["node", "packages", "data", "config", "plugins", "port", "broker"]) {
    assert.deepEqual(statusOf(seen.findings, check), ["ok"], check);
  }
  assert.deepEqual(await readdir(data), []);
});

test("an old Node and missing packages are reported before they are needed", async (t) => {
  const repository = await withoutPackages(t);
  const preload = `data:text/javascript,${encodeURIComponent(AS_NODE_18)}`;

  const seen = await visit([], { repository, node: ["--import", preload] });

  assert.equal(seen.code, 1);
  assert.match(seen.output, /needs Node 20\.19 or newer, but this is Node 18\.20\.0/);
  assert.match(seen.output, /missing or differ from package-lock\.json: node_modules/);
  assert.match(seen.output, /npm ci/);
});

test("the health of a running host is requested, also with a failed module", async (t) => {
  const plugins = await emptyFolder(t);
  const broken = join(plugins, "broken");
  await mkdir(broken);
  await writeFile(join(broken, "index.ts"), 'throw new Error("boom");');
  const manifest = { id: "broken", kinds: ["service"], server: "index.ts" };
  await writeFile(join(broken, "package.json"), JSON.stringify({ mantel: manifest }));
  const host = await startHost(t, {
    plugins: ["plugins/clock-widget", relative(REPOSITORY, broken)],
  });
  const { port } = new URL(host.url);

  const its = await examined(["--port", port, "--data", host.data, "--plugins", host.plugins]);
  const another = await examined(["--port", port, "--data", await emptyFolder(t)]);
  const elsewhere = await examined(["--port", String(await freePort()), "--data", host.data]);

  const said = (seen: readonly Finding[]) => seen.find(({ check }) => check === "host")?.says ?? "";
  assert.match(said(its), /1 modules work, 1 failed/);
  assert.deepEqual(statusOf(its, "port"), []);
  assert.match(said(another), /with another data folder/);
  assert.match(said(elsewhere), new RegExp(`process ${host.pid}\\) but does not answer`));
});

test("an unknown time zone and an unknown flag are reported", async (t) => {
  const data = await emptyFolder(t);
  const lost = await visit(["--data", data], { env: { TZ: "Nowhere/Land" } });
  const mistyped = await visit(["--prot", "1"]);

  assert.ok(statusOf(lost.findings, "clock").includes("fail"), lost.output);
  assert.equal(lost.code, 1);
  assert.equal(mistyped.code, 2);
  assert.match(mistyped.output, /--prot/);
});

test("--help prints the usage and checks nothing", async () => {
  const args = [join(REPOSITORY, "scripts/doctor.js"), "--help"];

  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);

  assert.match(stdout, /^Finds problems .* npm run doctor -- \[--json\]/s);
  assert.doesNotMatch(stdout + stderr, /^(ok|WARN|FAIL) /m);
});

async function withoutPackages(t: TestContext): Promise<string> {
  const folder = await emptyFolder(t);
  for (const name of ["scripts", "package.json", "package-lock.json"]) {
    await cp(join(REPOSITORY, name), join(folder, name), { recursive: true });
  }
  return folder;
}

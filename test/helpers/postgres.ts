import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { emptyFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { onTestEnd } from "./on-test-end.ts";

const run = promisify(execFile);
const VERSIONS = "/usr/lib/postgresql";

/** The folder with PostgreSQL's programs, as Debian installs them; `undefined` without one, or as an ordinary user. */
export async function findPostgres(): Promise<string | undefined> {
  const [version] = existsSync(VERSIONS) ? await readdir(VERSIONS) : [];
  const isRoot = process.getuid?.() === 0;
  return version !== undefined && isRoot ? join(VERSIONS, version, "bin") : undefined;
}

/**
 * An empty PostgreSQL server on loopback, as the user `postgres`, which the server wants, with settings such as
 * `fsync=off`. Gives its address.
 */
export async function startPostgres(
  t: TestContext,
  programs: string,
  settings: readonly string[] = [],
): Promise<string> {
  const folder = await emptyFolder(t);
  const [uid, gid] = (
    await Promise.all(["-u", "-g"].map((flag) => run("id", [flag, "postgres"])))
  ).map(({ stdout }) => Number(stdout));
  await chown(folder, uid ?? 0, gid ?? 0);
  const as = { uid: uid ?? 0, gid: gid ?? 0, cwd: folder };
  const data = join(folder, "data");
  await run(join(programs, "initdb"), ["-D", data, "-A", "trust", "-E", "UTF8", "--no-sync"], as);
  const port = String(await freePort());
  const flags = ["-D", data, "-p", port, "-k", folder].concat(
    ["listen_addresses=127.0.0.1", "fsync=off", ...settings].flatMap((each) => ["-c", each]),
  );
  const server = spawn(join(programs, "postgres"), flags, {
    ...as,
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestEnd(t, async () => {
    if (server.exitCode === null) {
      server.kill("SIGINT"); // a fast shutdown
      await once(server, "exit");
    }
  });
  for await (const line of server.stderr) {
    if (String(line).includes("ready to accept connections")) break;
  }
  server.stderr.resume();
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** The rows of a query as text, by the client that comes with the server. */
export async function queryPostgres(address: string, sql: string): Promise<string> {
  return (await run("psql", ["-At", "-d", address, "-c", sql])).stdout;
}

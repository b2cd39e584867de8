import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { onTestEnd } from "./on-test-end.ts";
import { until } from "./until.ts";

const PROGRAM = "/usr/bin/radicale";

/** For `test(name, { skip: withoutRadicale }, …)`: false, or why tests with a real server are skipped. */
export const withoutRadicale = existsSync(PROGRAM) ? false : `${PROGRAM} is not installed`;

const USER = { username: "ann", password: "right horse" } as const;
const BASIC = `Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString("base64")}`;

/** A real CalDAV and CardDAV server on loopback, with the one user `ann`. */
export interface Radicale {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Makes a calendar, or an address book, in the account. */
  readonly make: (path: string, properties: CollectionProperties) => Promise<void>;
  readonly rename: (path: string, name: string) => Promise<void>;
  /** Writes an object, such as `work/a.ics`, or with `null` removes it or a collection. */
  readonly put: (path: string, content: string | null) => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface CollectionProperties {
  readonly name: string;
  readonly color?: string;
  readonly contacts?: boolean;
  /** True for a calendar that can only have tasks. */
  readonly onlyTasks?: boolean;
}

/** Starts a server on a free port; it ends, and its files go, with the test. */
export async function startRadicale(t: TestContext): Promise<Radicale> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-radicale-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await writeFile(join(folder, "users"), `${USER.username}:${USER.password}\n`);
  await writeFile(join(folder, "config"), configFor(folder, port));
  let child: ReturnType<typeof spawn> | undefined;

  const send = async (method: string, path: string, body: string | null = null) => {
    const headers = { authorization: BASIC };
    const response = await fetch(`${url}/ann/${path}`, { method, headers, body });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  };
  const stop = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  const start = async () => {
    child = spawn(PROGRAM, ["--config", join(folder, "config")], { stdio: "ignore" });
    await until(async () => (await fetch(`${url}/.web/`)).status < 500, { withinMs: 20_000 });
  };
  onTestEnd(t, async () => {
    await stop();
    await removeFolder(folder);
  });
  await start();
  return {
    ...USER,
    url,
    start,
    stop,
    make: (path, properties) => send("MKCOL", `${path}/`, collectionXml(properties)),
    rename: (path, name) => send("PROPPATCH", `${path}/`, renameXml(name)),
    put: (path, content) => (content === null ? send("DELETE", path) : send("PUT", path, content)),
  };
}

function configFor(folder: string, port: number): string {
  return `
[server]
hosts = 127.0.0.1:${port}
[auth]
type = htpasswd
htpasswd_filename = ${join(folder, "users")}
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = ${join(folder, "data")}
[rights]
type = owner_only
`;
}

function collectionXml(properties: CollectionProperties): string {
  const { name, color, contacts = false, onlyTasks = false } = properties;
  const set = "c:supported-calendar-component-set";
  return `<?xml version="1.0"?>
<d:mkcol xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"
  xmlns:card="urn:ietf:params:xml:ns:carddav" xmlns:ca="http://apple.com/ns/ical/">
  <d:set><d:prop>
    <d:resourcetype><d:collection/><${contacts ? "card:addressbook" : "c:calendar"}/></d:resourcetype>
    <d:displayname>${name}</d:displayname>
    ${color === undefined ? "" : `<ca:calendar-color>${color}</ca:calendar-color>`}
    ${onlyTasks ? `<${set}><c:comp name="VTODO"/></${set}>` : ""}
  </d:prop></d:set>
</d:mkcol>`;
}

function renameXml(name: string): string {
  return `<?xml version="1.0"?><d:propertyupdate xmlns:d="DAV:">
  <d:set><d:prop><d:displayname>${name}</d:displayname></d:prop></d:set></d:propertyupdate>`;
}

import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { Audit } from "../host/auth/audit.ts";
import { LastUse } from "../host/auth/last-use.ts";
import { isScope, type Scope, SCOPES } from "../host/auth/scopes.ts";
import { statusOf } from "../host/auth/token-register.ts";
import { DEFAULT_TTL_SECONDS, TokenName, TokenRequest } from "../host/auth/token-request.ts";
import { Tokens } from "../host/auth/tokens.ts";
import { ConfigStore } from "../host/config/store.ts";
import { openDataFolder } from "../host/folders.ts";
import { type HostLog, openLog } from "../host/log.ts";
import { faultsOf } from "../host/validate.ts";

const USAGE = `Issues, lists and revokes tokens for the HTTP API.

  npm run --silent token -- --scope SCOPE [--name NAME] [--ttl SECONDS] [--data DIR]
  npm run --silent token -- --link [--scope SCOPE] [--name NAME] [--port N] [--data DIR]
  npm run --silent token -- --list [--data DIR]
  npm run --silent token -- --revoke NAME [--id ID] [--data DIR]
  npm run --silent token -- --rotate [--drop] [--data DIR]

  --scope   ${SCOPES.join(", ")}; each includes the permissions of the ones before it
  --link    print a link that signs one browser in, within a week; --scope is admin unless given
  --port    with --link: the port of the host; default: MANTEL_PORT, or 8470
  --name    the name for --list and --revoke; default: cli- and six random characters
  --id      with --revoke: revoke only the token with this id (last column of --list)
  --ttl     seconds until the token expires, at most ten years; default: one year
  --rotate  sign new tokens with a new key; existing tokens stay valid
  --drop    with --rotate: invalidate all existing tokens; every browser and script needs a new one
  --data    the data folder; default: MANTEL_DATA, or ./data
`;

const LINK_SECONDS = 7 * 24 * 3600;

/** Prints only the token or the link to standard output, so that scripts can use it. */
async function main(): Promise<void> {
  const options = readOptions();
  const work = chooseWork(options);
  const data = await openDataFolder(options.data ?? (process.env.MANTEL_DATA || "./data"));
  const log = openLog("warn", Boolean(process.stderr.isTTY));
  const tokens = await Tokens.open({ dataFolder: data, log });
  const lastUse = await LastUse.open(data, log);
  await work({ tokens, audit: new Audit(data), lastUse, data, log });
}

interface Registers {
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly lastUse: LastUse;
  readonly data: string;
  readonly log: HostLog;
}
const OPERATOR = { sub: "token command", jti: "" };

/** Selects the action. All options are validated before anything is changed. */
function chooseWork(
  options: ReturnType<typeof readOptions>,
): (on: Registers) => Promise<void> | void {
  const { list: isList, rotate: isRotate, link: isLink, revoke: revoked } = options;
  if ([isList, isRotate, isLink, revoked !== undefined].filter(Boolean).length > 1) {
    return usageError("--link, --list, --revoke and --rotate cannot be combined");
  }
  if (options.data === "") return usageError("--data is empty; pass a folder or omit it");
  if (options.id !== undefined && revoked === undefined)
    return usageError("--id works only with --revoke");
  if (isList) return list;
  if (options.drop && !isRotate) return usageError("--drop works only with --rotate");
  if (isRotate) return (registers) => rotate(registers, options.drop);
  if (revoked !== undefined) return (registers) => revoke(registers, revoked, options.id);
  const name = readName(options.name);
  if (options.link) return linkWork(options, name);
  if (options.port !== undefined) return usageError("--port works only with --link");
  const request = { scope: readScope(options.scope), name, ttlSeconds: readTtl(options.ttl) };
  return (registers) => issue(registers, request);
}

/** The link is valid for a week, and the session that it opens for `--ttl`. */
function linkWork(
  { scope = ["admin"], ttl, port: typed }: ReturnType<typeof readOptions>,
  name: string,
): (on: Registers) => Promise<void> {
  const port = readPort(typed ?? (process.env.MANTEL_PORT || "8470"));
  const sessionSeconds = readTtl(ttl);
  const request = { scope: readScope(scope), name, ttlSeconds: LINK_SECONDS, sessionSeconds };
  return async ({ tokens, audit, data, log }) => {
    const config = await ConfigStore.open({ dataFolder: data, environment: process.env, log });
    const protocol = config.current.server.tls === undefined ? "http" : "https";
    await config.close();
    const token = await tokens.issue(request);
    await audit.record(OPERATOR, { action: "token.issue", ...request });
    process.stdout.write(`${protocol}://127.0.0.1:${port}/#token=${token}\n`);
    process.stderr.write(
      "it works once; on a phone, put the address of this machine in place of 127.0.0.1, and start Mantel with --host 0.0.0.0\n",
    );
  };
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  return usageError(`invalid --port ${text}: use a number from 1 to 65535`);
}

async function issue({ tokens, audit }: Registers, request: TokenRequest): Promise<void> {
  const token = await tokens.issue(request);
  await audit.record(OPERATOR, { action: "token.issue", ...request });
  process.stdout.write(`${token}\n`);
}

async function revoke({ tokens, audit }: Registers, name: string, id?: string): Promise<void> {
  const revoked = await tokens.revoke(name, id);
  const which = id === undefined ? "" : ` and the id ${id}`;
  if (revoked === 0) fail(`no valid token has the name ${name}${which}; see --list`);
  await audit.record(OPERATOR, { action: "token.revoke", name, id, revoked });
  process.stdout.write(`revoked ${revoked}\n`);
}

async function rotate({ tokens, audit }: Registers, drop: boolean): Promise<void> {
  const droppedKeys = await tokens.rotateKey({ drop });
  await audit.record(OPERATOR, { action: "key.rotate", drop, droppedKeys });
  const rest = drop ? "; all existing tokens are now invalid" : "";
  process.stdout.write(`new tokens are signed with a new key${rest}\n`);
}

/** Lists the tokens. A running host saves their last use once an hour. */
function list({ tokens, lastUse }: Registers): void {
  for (const record of tokens.list()) {
    const fields = [
      record.name,
      record.scope.join(","),
      statusOf(record),
      `issued ${record.issuedAt}`,
      `expires ${record.expiresAt}`,
      `used ${lastUse.at(record.jti) ?? "never"}`,
      record.jti,
    ];
    process.stdout.write(`${fields.join("\t")}\n`);
  }
}

function readOptions() {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = {
    scope: { ...text, multiple: true },
    name: text,
    ttl: text,
    data: text,
    revoke: text,
    id: text,
    port: text,
    link: flag,
    list: flag,
    rotate: flag,
    drop: flag,
    help: flag,
  } as const;
  try {
    const { values } = parseArgs({ options, allowPositionals: false });
    if (!values.help) return values;
  } catch (error) {
    return usageError((error as Error).message);
  }
  process.stdout.write(USAGE);
  process.exit(0);
}

function readScope(texts: readonly string[] = []): Scope[] {
  const names = texts.flatMap((text) => text.split(","));
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined)
    return usageError(`unknown scope ${unknown}; use one of ${SCOPES.join(", ")}`);
  if (names.length === 0) return usageError(`--scope is required: ${SCOPES.join(", ")}`);
  return [...new Set(names.filter(isScope))];
}

function readName(name = `cli-${randomBytes(3).toString("hex")}`): string {
  if (faultsOf(TokenName, name).length === 0) return name;
  return usageError(`invalid name ${name}: use at most 64 printable characters`);
}

function readTtl(text = String(DEFAULT_TTL_SECONDS)): number {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (faultsOf(TokenRequest.properties.ttlSeconds, seconds).length === 0) return seconds;
  return usageError(`invalid --ttl ${text}: use a whole number of seconds, at most ten years`);
}

/** Ends the process after an invalid command line. */
function usageError(message: string): never {
  process.stderr.write(`token: ${message}\n\n${USAGE}`);
  process.exit(2);
}

/** Ends the process after a failed action. */
function fail(message: string): never {
  process.stderr.write(`token: ${message}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  fail((error as Error).message);
}

import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { Audit } from "../host/auth/audit.ts";
import { isScope, type Scope, SCOPES } from "../host/auth/scopes.ts";
import { type TokenRequest, Tokens } from "../host/auth/tokens.ts";
import { openDataFolder } from "../host/folders.ts";
import { openLog } from "../host/log.ts";

const YEAR_SECONDS = 365 * 24 * 60 * 60;
const MAX_TTL_SECONDS = 10 * YEAR_SECONDS;
const NAME = /^[\p{L}\p{N}._@ -]{1,64}$/u;

const USAGE = `Makes, lists and revokes the tokens that the HTTP API asks for.

  npm run --silent token -- --scope SCOPE [--name NAME] [--ttl SECONDS] [--data DIR]
  npm run --silent token -- --list [--data DIR]
  npm run --silent token -- --revoke NAME [--data DIR]
  npm run --silent token -- --rotate [--data DIR]

  --scope   ${SCOPES.join(", ")}: each permits all that the ones before it do
  --name    what lists show and --revoke takes; default: cli- and six random characters
  --ttl     seconds until the token expires, at most ten years; default: one year
  --rotate  sign with a new key from now on; tokens made before stay valid
  --data    the data folder; default: MANTEL_DATA, or ./data
`;

/** The token alone goes to standard output, so that a script can take it from there. */
async function main(): Promise<void> {
  const options = readOptions();
  const work = chooseWork(options);
  const data = await openDataFolder(options.data ?? (process.env.MANTEL_DATA || "./data"));
  const log = openLog("warn", Boolean(process.stderr.isTTY));
  const tokens = await Tokens.open({ dataFolder: data, log });
  await work({ tokens, audit: new Audit(data) });
}

interface Registers {
  readonly tokens: Tokens;
  readonly audit: Audit;
}
const OPERATOR = { sub: "token command", jti: "" };

/** What the options ask for. Nothing is touched before all of them are known to be right. */
function chooseWork(
  options: ReturnType<typeof readOptions>,
): (on: Registers) => Promise<void> | void {
  const { list: isList, rotate: isRotate, revoke: name } = options;
  if ([isList, isRotate, name !== undefined].filter(Boolean).length > 1) {
    return usageError("--list, --revoke and --rotate go one at a time");
  }
  if (options.data === "") return usageError("--data is empty; give it a value or leave it out");
  if (isList) return list;
  if (isRotate) return rotate;
  if (name !== undefined) return (registers) => revoke(registers, name);
  const request = {
    scope: readScope(options.scope),
    name: readName(options.name),
    ttlSeconds: readTtl(options.ttl),
  };
  return (registers) => issue(registers, request);
}

async function issue({ tokens, audit }: Registers, request: TokenRequest): Promise<void> {
  const token = await tokens.issue(request);
  await audit.record(OPERATOR, { action: "token.issue", ...request });
  process.stdout.write(`${token}\n`);
}

async function revoke({ tokens, audit }: Registers, name: string): Promise<void> {
  const revoked = await tokens.revoke(name);
  if (revoked === 0) fail(`no valid token has the name ${name}; --list shows them`);
  await audit.record(OPERATOR, { action: "token.revoke", name, revoked });
  process.stdout.write(`revoked ${revoked}\n`);
}

async function rotate({ tokens, audit }: Registers): Promise<void> {
  await tokens.rotateKey();
  await audit.record(OPERATOR, { action: "key.rotate" });
  process.stdout.write("new tokens are signed with a new key\n");
}

function list({ tokens }: Registers): void {
  for (const { name, scope, issuedAt, expiresAt, revokedAt } of tokens.list()) {
    const expired = Date.parse(expiresAt) < Date.now();
    const status = revokedAt ? "revoked" : expired ? "expired" : "valid";
    const fields = [name, scope.join(","), status, `issued ${issuedAt}`, `expires ${expiresAt}`];
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
    list: flag,
    rotate: flag,
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
  if (unknown !== undefined) return usageError(`${unknown} is no scope: take ${SCOPES.join(", ")}`);
  if (names.length === 0) return usageError(`--scope is needed: ${SCOPES.join(", ")}`);
  return [...new Set(names.filter(isScope))];
}

function readName(name = `cli-${randomBytes(3).toString("hex")}`): string {
  if (NAME.test(name)) return name;
  return usageError(`the name has at most 64 letters, digits, spaces or . _ @ -, and is ${name}`);
}

function readTtl(text = String(YEAR_SECONDS)): number {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MAX_TTL_SECONDS) return seconds;
  return usageError(`--ttl is a whole number from 1 to ${MAX_TTL_SECONDS}, and is ${text}`);
}

/** The command was given wrongly. */
function usageError(message: string): never {
  process.stderr.write(`token: ${message}\n\n${USAGE}`);
  process.exit(2);
}

/** The command was right and could not be done. */
function fail(message: string): never {
  process.stderr.write(`token: ${message}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  fail((error as Error).message);
}

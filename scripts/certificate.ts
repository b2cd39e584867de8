import { X509Certificate } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readText } from "@mantel/plugin-sdk/document-file";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { renderSVG, renderUnicodeCompact } from "uqr";
import { Audit } from "../host/auth/audit.ts";
import { ConfigStore } from "../host/config/store.ts";
import { openDataFolder } from "../host/folders.ts";
import { openLog } from "../host/log.ts";
import {
  type Authority,
  makeAuthority,
  makeServerPair,
  namesBeyond,
  readAuthority,
} from "./certificate/authority.ts";
import { isPrivate } from "./certificate/names.ts";

const FOLDER = "tls";
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

const USAGE = `Makes a certificate for HTTPS, and the authority of this home that has signed it.

  npm run certificate [-- NAME...] [--data DIR] [--port N] [--new-authority]

  NAME             a host name or private address that the home is reached by, beside localhost,
                   the name of this machine and its addresses
  --data           the data folder; default: MANTEL_DATA, or ./data
  --port           the port of the link in the QR code; default: MANTEL_PORT, or 8470
  --new-authority  make another authority, which every device has to be told to trust again
`;

/** The certificate is written, config and Host names follow, and what is left to do is printed. */
async function main(): Promise<void> {
  const { data: folder, port, names: given, newAuthority } = readOptions();
  const data = await openDataFolder(folder);
  const names = [...new Set([...given, ...ownNames()])];
  await mkdir(join(data, FOLDER), { recursive: true, mode: 0o700 });
  const authority = await openAuthority(data, names, newAuthority);
  const beyond = namesBeyond(authority, names);
  if (beyond.length > 0) {
    fail(`the authority was made without ${beyond.join(", ")}; --new-authority makes another`);
  }
  const { cert, key } = makeServerPair(authority, names, new Date());
  await writeDurably(join(data, FOLDER, "server-key.pem"), key);
  await writeDurably(join(data, FOLDER, "server.pem"), cert);
  await useIt(data, names);
  await new Audit(data).record(
    { sub: "certificate command", jti: "" },
    { action: "certificate.make", names },
  );
  await explain({ data, port, names, cert });
}

/** The home's authority: the one it has, unless there is none or another is asked for. */
async function openAuthority(
  data: string,
  names: readonly string[],
  isNew: boolean,
): Promise<Authority> {
  const paths = { cert: join(data, FOLDER, "ca.pem"), key: join(data, FOLDER, "ca-key.pem") };
  const cert = await readText(paths.cert);
  const key = await readText(paths.key);
  if (cert !== undefined && key !== undefined && !isNew) {
    try {
      return readAuthority({ cert, key });
    } catch {
      return fail(`the authority in ${paths.cert} is damaged; --new-authority makes another`);
    }
  }
  const made = makeAuthority(names, new Date());
  await writeDurably(paths.key, made.key);
  await writeDurably(paths.cert, made.cert);
  return readAuthority(made);
}

/** Makes the config name the files, unless it names others, and the names that the Host may have. */
async function useIt(data: string, names: readonly string[]): Promise<void> {
  const log = openLog("warn", Boolean(process.stderr.isTTY));
  const config = await ConfigStore.open({ dataFolder: data, environment: {}, log });
  try {
    const { hosts, tls } = config.current.server;
    const hostNames = names.filter((name) => isIP(name) === 0 && name !== "localhost");
    const server = {
      hosts: [...new Set([...hosts, ...hostNames])],
      tls: tls ?? { cert: `${FOLDER}/server.pem`, key: `${FOLDER}/server-key.pem` },
    };
    await config.patch({ server }, { admin: true });
    if (tls && !tls.cert.endsWith(`${FOLDER}/server.pem`)) {
      process.stderr.write(`certificate: the config names ${tls.cert}, which stays in use\n`);
    }
  } finally {
    await config.close();
  }
}

interface Made {
  readonly data: string;
  readonly port: string;
  readonly names: readonly string[];
  readonly cert: string;
}

async function explain({ data, port, names, cert }: Made): Promise<void> {
  const { validTo } = new X509Certificate(cert);
  const { fingerprint256 } = new X509Certificate(
    (await readText(join(data, FOLDER, "ca.pem"))) ?? "",
  );
  const [address = "127.0.0.1"] = names.filter((name) => isIP(name) === 4 && name !== "127.0.0.1");
  const link = `http://${address}:${port}/ca.crt`;
  const picture = join(data, FOLDER, "trust.svg");
  await writeDurably(picture, renderSVG(link));
  process.stdout.write(`The certificate is good until ${validTo}, for
  ${names.join("\n  ")}

Start Mantel again if it did not speak HTTPS before; otherwise it uses the certificate at once.

Each device has to be told once to trust the authority of this home: open this link there,
compare the fingerprint, and install what it loads (docs/https.md says where).
  ${link}
  SHA-256 ${fingerprint256}

${renderUnicodeCompact(link)}
The same as a picture: ${picture}
`);
}

function ownNames(): string[] {
  const name = hostname().toLowerCase();
  const found = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  const addresses = found
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address)
    .filter(isPrivate);
  const names = HOST_NAME.test(name)
    ? [name, ...(name.includes(".") ? [] : [`${name}.local`])]
    : [];
  return [...names, "localhost", "127.0.0.1", "::1", ...addresses];
}

function readOptions() {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = { data: text, port: text, "new-authority": flag, help: flag } as const;
  const { values, positionals } = parse(() => parseArgs({ options, allowPositionals: true }));
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const port = values.port ?? (process.env.MANTEL_PORT || "8470");
  if (!/^\d{1,5}$/.test(port)) usageError(`the port is a number, and is ${port}`);
  return {
    data: values.data ?? (process.env.MANTEL_DATA || "./data"),
    port,
    names: positionals.map(readName),
    newAuthority: values["new-authority"],
  };
}

function parse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return usageError((error as Error).message);
  }
}

function readName(text: string): string {
  const name = text.toLowerCase();
  if (isIP(name) === 0 ? HOST_NAME.test(name) : isPrivate(name)) return name;
  const needed = isIP(name) === 0 ? "a host name" : "an address of a home network";
  return usageError(`${text} is not ${needed}`);
}

/** The command was given wrongly. */
function usageError(message: string): never {
  process.stderr.write(`certificate: ${message}\n\n${USAGE}`);
  process.exit(2);
}

/** The command was right and could not be done. */
function fail(message: string): never {
  process.stderr.write(`certificate: ${message}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  fail((error as Error).message);
}

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
  forbiddenNames,
  readAuthority,
} from "./certificate/authority.ts";
import { isPrivate } from "./certificate/names.ts";

const FOLDER = "tls";
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

const USAGE = `Creates a certificate for HTTPS, signed by this home's own authority.

  npm run certificate [-- NAME...] [--data DIR] [--port N] [--new-authority]

  NAME             a host name or private address of the home, besides localhost, this machine's
                   name and its addresses
  --data           the data folder; default: MANTEL_DATA, or ./data
  --port           the port of the link in the QR code; default: MANTEL_PORT, or 8470
  --new-authority  create a new authority; every device has to trust it again
`;

/** Writes the certificate, updates the config and its host names, and prints the remaining steps. */
async function main(): Promise<void> {
  const { data: folder, port, names: given, newAuthority } = readOptions();
  const data = await openDataFolder(folder);
  const names = [...new Set([...given, ...ownNames()])];
  await mkdir(join(data, FOLDER), { recursive: true, mode: 0o700 });
  const authority = await openAuthority(data, names, newAuthority);
  const beyond = forbiddenNames(authority, names);
  if (beyond.length > 0) {
    fail(
      `the authority does not permit ${beyond.join(", ")}; create a new one with --new-authority`,
    );
  }
  const { cert, key } = makeServerPair(authority, names, new Date());
  await writeDurably(join(data, FOLDER, "server-key.pem"), key);
  await writeDurably(join(data, FOLDER, "server.pem"), cert);
  await configureCertificate(data, names);
  await new Audit(data).record(
    { sub: "certificate command", jti: "" },
    { action: "certificate.make", names },
  );
  await explain({ data, port, names, cert });
}

/** The home's existing authority, or a new one if none exists or --new-authority is set. */
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
      return fail(
        `the authority in ${paths.cert} is damaged; create a new one with --new-authority`,
      );
    }
  }
  const made = makeAuthority(names, new Date());
  await writeDurably(paths.key, made.key);
  await writeDurably(paths.cert, made.cert);
  return readAuthority(made);
}

/** Adds the files to the config, unless it names others, and the names to the allowed host names. */
async function configureCertificate(data: string, names: readonly string[]): Promise<void> {
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
      process.stderr.write(`certificate: the config names ${tls.cert}, which is still used\n`);
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
  process.stdout.write(`The certificate is valid until ${validTo}, for
  ${names.join("\n  ")}

Restart Mantel if it did not use HTTPS before; otherwise it uses the certificate immediately.

Each device must trust the authority of this home once. Open this link on the device, compare
the fingerprint and install the downloaded certificate (see docs/https.md).
  ${link}
  SHA-256 ${fingerprint256}

${renderUnicodeCompact(link)}
The QR code as a picture: ${picture}
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
  if (!/^\d{1,5}$/.test(port)) usageError(`invalid port ${port}: use a number`);
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

/** Ends the process after an invalid command line. */
function usageError(message: string): never {
  process.stderr.write(`certificate: ${message}\n\n${USAGE}`);
  process.exit(2);
}

/** Ends the process after a failed action. */
function fail(message: string): never {
  process.stderr.write(`certificate: ${message}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  fail((error as Error).message);
}

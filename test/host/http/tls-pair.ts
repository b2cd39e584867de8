import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { TlsFiles } from "../../../host/http/certificate.ts";
import {
  makeAuthority,
  makeServerPair,
  readAuthority,
} from "../../../scripts/certificate/authority.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A certificate for localhost and 127.0.0.1 in files, as `npm run certificate` makes it. */
export interface WrittenPair extends TlsFiles {
  /** The authority, PEM. */
  readonly ca: string;
  /** Makes another pair of the same authority, so many days ago, and writes it over the first. */
  readonly rewrite: (daysAgo?: number) => Promise<void>;
}

export async function writtenPair(
  t: TestContext,
  names: readonly string[] = [],
): Promise<WrittenPair> {
  const folder = join(await emptyFolder(t), "tls");
  await mkdir(folder);
  const made = makeAuthority(names, new Date());
  const authority = readAuthority(made);
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const rewrite = async (daysAgo = 0) => {
    const at = new Date(Date.now() - daysAgo * DAY_MS);
    const pair = makeServerPair(authority, ["localhost", "127.0.0.1", ...names], at);
    await writeFile(files.key, pair.key, { mode: 0o600 });
    await writeFile(files.cert, pair.cert);
  };
  await rewrite();
  return { ...files, ca: made.cert, rewrite };
}

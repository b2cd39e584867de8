import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bomb, forgedBackup } from "../../test/helpers/forged-backup.ts";
import { forgeries, readSigningKey } from "../../test/helpers/forgeries.ts";
import { type ForgeryCount, openSession, tryForgeries } from "./forged-tokens.ts";
import { LONGEST_STALL_MS, type Proof } from "./proof.ts";
import { holdSlowly } from "./slow-clients.ts";
import type { Target } from "./target.ts";

const MAX_GROWN_MIB = 64;
/** `npm run attack -- slow` holds them for longer, and looks at how fast others are answered. */
const SLOW_SECONDS = 10;
const MEBIBYTES_OF_BOMB = 2_000;

/** Tries every kind of forged token on every operation, in a header and as a cookie. */
export async function tryAllForgeries({ url, token, data }: Target): Promise<ForgeryCount> {
  const signing = await readSigningKey(data);
  const session = await openSession(url, token);
  return tryForgeries(url, token, {
    header: forgeries(signing, token),
    cookie: forgeries(signing, session),
  });
}

/** Has a backup put in place that an attacker has made, and gives the status. */
async function restore({ url, token }: Target, backup: Buffer): Promise<number> {
  const answer = await fetch(`${url}/api/v1/restore`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ backup: backup.toString("base64") }),
  });
  await answer.text();
  return answer.status;
}

/** Attacks over HTTP. */
export const HTTP_PROOFS: readonly Proof[] = [
  {
    name: "write files by names in a backup",
    heldFrom: "permission-model",
    look: async ({ target, facts, registerBefore }) => {
      const names = [
        "x\n/../../target/pwned",
        "../target/pwned",
        "x\n/../tokens.jsonl",
        "tokens.jsonl",
      ];
      const statuses: number[] = [];
      for (const name of names)
        statuses.push(await restore(target, forgedBackup([[name, "pwned"]])));
      const written = await readdir(facts.target);
      if (written.length > 0) return `wrote ${written.join(", ")}, answered ${statuses.join(", ")}`;
      const register = await readFile(join(facts.data, "tokens.jsonl"), "utf8");
      return register.startsWith(registerBefore) ? undefined : "the token register was overwritten";
    },
  },
  {
    name: "stall the host by a backup that unpacks to gigabytes",
    heldFrom: "permission-model",
    isSlow: true,
    look: async (stage) => {
      const status = await restore(stage.target, await bomb(MEBIBYTES_OF_BOMB, "A"));
      if (status < 400) return `it was taken with ${status}`;
      const { stalledMs } = stage;
      return stalledMs > LONGEST_STALL_MS ? `the host stalled for ${stalledMs} ms` : undefined;
    },
  },
  {
    name: "be let in with a forged token",
    heldFrom: "permission-model",
    isSlow: true,
    look: async ({ target }) => {
      const { accepted } = await tryAllForgeries(target);
      return accepted.length > 0 ? `${accepted.length} were accepted: ${accepted[0]}` : undefined;
    },
  },
  {
    name: "keep others out by slow clients and streams that nobody reads",
    heldFrom: "permission-model",
    isSlow: true,
    look: async ({ target }) => {
      const attack = { streams: 1_000, senders: 500, seconds: SLOW_SECONDS };
      const { failed, grownMiB } = await holdSlowly(target, attack);
      if (failed > 0) return `${failed} requests of others failed`;
      return grownMiB > MAX_GROWN_MIB ? `the host has grown by ${grownMiB} MiB` : undefined;
    },
  },
];

import type { Proof, AttackResult } from "../proof.ts";
import { EVENT_TIMEOUT_MS, type Stage } from "../stage.ts";

const MIB = 2 ** 20;
const LIMIT_MIB = 16;
const limits = { storageMiB: LIMIT_MIB };

/** Fills the storage to its limit, and then carries out `step` every 50 ms until it fails, for 5 s. */
const untilRefused = (step: string): string => `
  fs.writeFileSync("large", Buffer.alloc(${LIMIT_MIB * MIB}));
  const more = Buffer.alloc(1024);
  for (let at = 0; at < 100; at++) {
    ${step}
    await new Promise((done) => setTimeout(done, 50));
  }
  return "nothing was refused";`;

/** Attacks on the room that a disk has, by plugins that may store little. */
export const STORAGE: readonly Proof[] = [
  {
    name: "fill 85 % of its storage without a warning",
    heldFrom: "permission-model",
    limits,
    attack: `fs.writeFileSync("large", Buffer.alloc(${0.85 * LIMIT_MIB * MIB})); return "written";`,
    look: async (stage) => {
      const isWarned = async (): Promise<boolean> => {
        const module = await stage.hostileState();
        return module?.state === "degraded" && messageOf(module).includes("nearly full");
      };
      return (await stage.waitUntil(isWarned, EVENT_TIMEOUT_MS)) ? undefined : "nobody is warned";
    },
  },
  {
    name: "store values beyond the storage limit",
    heldFrom: "permission-model",
    limits,
    attack: untilRefused(`await ctx.storage.set("key-" + at, "x".repeat(1024));`),
    look: lookForRefusal,
  },
  {
    name: "write and append to files beyond the storage limit",
    heldFrom: "kernel", // by prlimit, which other systems than Linux do not have
    limits,
    attack: untilRefused(`
    let refused = "";
    for (const write of [
      () => fs.appendFileSync("large", more),
      () => fs.writeFileSync("part-" + at, more),
    ]) try { write() } catch (error) { refused += error.message + " | " }
    if (refused.split("EFBIG").length > 2) throw new Error(refused);`),
    look: lookForRefusal,
  },
  {
    name: "fill the disk faster than the host looks",
    heldFrom: "permission-model",
    limits,
    attack: `
  const chunk = Buffer.alloc(${MIB});
  for (let at = 0; at < ${4 * LIMIT_MIB}; at++) {
    fs.writeFileSync("part-" + at, chunk);
    await new Promise(setImmediate);
  }
  return "written";`,
    look: lookForEnd,
  },
  {
    name: "fill the disk with thousands of empty files",
    heldFrom: "permission-model",
    limits,
    attack: `
  for (let at = 0; at < 5_000; at++) {
    fs.writeFileSync("empty-" + at, "");
    if (at % 100 === 0) await new Promise((done) => setTimeout(done, 10)); // a process that blocks is ended for that
  }
  return "written";`,
    look: lookForEnd,
  },
];

const messageOf = ({ error }: { error: { readonly message: string } | null }): string =>
  error?.message ?? "";

/** A process that is full is refused, and not ended: it may delete. */
async function lookForRefusal(stage: Stage, told: AttackResult): Promise<string | undefined> {
  const { restarts = 0 } = (await stage.hostileState()) ?? {};
  if (restarts > 0) return "it was ended before it was refused";
  const { got, failed = "it did not come to an end" } = told;
  return got ?? (/full|EFBIG/.test(failed) ? undefined : failed);
}

async function lookForEnd(
  stage: Stage,
  { failed = "" }: AttackResult,
): Promise<string | undefined> {
  const isCause = (message: string): boolean => message.startsWith("storage limit exceeded");
  const hasEnded = async (): Promise<boolean> => {
    const module = await stage.hostileState();
    return isCause(failed) || (module !== undefined && isCause(messageOf(module)));
  };
  return (await stage.waitUntil(hasEnded)) ? undefined : "it was not ended for its storage";
}

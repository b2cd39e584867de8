import { BROKER } from "./broker.ts";
import { hostilePlugin, ATTACK_OVER } from "./hostile-plugin.ts";
import { CHANNEL } from "./plugins/channel.ts";
import { FILES } from "./plugins/files.ts";
import { NETWORK } from "./plugins/network.ts";
import { PROCESSES } from "./plugins/processes.ts";
import { STORAGE } from "./plugins/storage.ts";
import { WRITES } from "./plugins/writes.ts";
import type { Level, Proof, AttackResult } from "./proof.ts";
import { HTTP_PROOFS } from "./requests.ts";
import { SIGN_IN } from "./sign-in.ts";
import { Stage, type StageOptions } from "./stage.ts";
import { WIDGETS } from "./widgets.ts";

/** All attacks, by what they aim at. A new one is a row in one of these lists. */
export const PROOFS = {
  "files to read": FILES,
  "files to write": WRITES,
  "the network": NETWORK,
  "the channel": CHANNEL,
  "other processes": PROCESSES,
  "the storage limit": STORAGE,
  "the API": HTTP_PROOFS,
  "the sign-in": SIGN_IN,
  "the viewer of a widget": WIDGETS,
  "the broker": BROKER,
} as const;

const ATTACK_MS = 15_000;

/** The outcome of one attack. */
export interface Outcome {
  readonly attack: string;
  /** `any` for an attack from outside, in which no plugin's process takes part. */
  readonly level: Level | "any";
  readonly isHeld: boolean;
  /** True if the level promises to hold it. */
  readonly isPromised: boolean;
  /** True if this machine lacks something for the attack; `detail` says what. */
  readonly isSkipped: boolean;
  /** The harm, or why the attack failed as its plugin saw it. */
  readonly detail: string;
}

interface ModuleAnswer {
  readonly state: string;
  readonly restarts: number;
  readonly error: { readonly message: string } | null;
  readonly confinement?: { readonly level: Level };
}
interface LogsAnswer {
  readonly entries: readonly { readonly sentence: string; readonly fields?: AttackResult }[];
}

/** Runs attacks against a host of its own, one after the other, and tells each outcome as it comes. */
export async function* runProofs(
  proofs: readonly Proof[],
  options: StageOptions,
): AsyncGenerator<Outcome> {
  const stage = await Stage.open(options);
  try {
    for (const [at, proof] of proofs.entries()) yield await runProof(stage, `hostile-${at}`, proof);
  } finally {
    await stage.close();
  }
}

async function runProof(stage: Stage, id: string, proof: Proof): Promise<Outcome> {
  const missing = await proof.missing?.();
  if (missing !== undefined) {
    const skipped = { isHeld: true, isPromised: false, isSkipped: true, detail: missing };
    return { attack: proof.name, level: "any", ...skipped };
  }
  await stage.begin();
  const { told: result, level } = await attack(stage, id, proof);
  const harm = stage.isHostRunning ? await look(stage, proof, result) : "the host has ended";
  if (!stage.isHostRunning) await stage.restart();
  else if (level !== "any") await stage.uninstall();
  const isPromised = level !== "permission-model" || level === proof.heldFrom;
  const detail =
    harm ?? result.failed ?? (result.got === undefined ? "" : `it says: ${result.got}`);
  const isHeld = harm === undefined;
  return { attack: proof.name, level, isHeld, isPromised, isSkipped: false, detail };
}

/** The harm that was done. A look that fails has proved nothing, and counts as harm. */
async function look(stage: Stage, proof: Proof, told: AttackResult): Promise<string | undefined> {
  try {
    return await proof.look(stage, told);
  } catch (error) {
    return `could not look for harm: ${(error as Error).message}`;
  }
}

/** Installs the hostile plugin, if there is one, and waits for its end. */
async function attack(
  stage: Stage,
  id: string,
  proof: Proof,
): Promise<{ told: AttackResult; level: Outcome["level"] }> {
  if (proof.attack === undefined) return { told: {}, level: "any" };
  await stage.install(id, hostilePlugin(id, proof, stage.facts));
  return waitForEnd(stage, id);
}

/** Until the hostile plugin says that it is done, ends, or takes too long. */
async function waitForEnd(stage: Stage, id: string): Promise<{ told: AttackResult; level: Level }> {
  let level: Level = "permission-model"; // of a host that does not say
  let told: AttackResult = {};
  await stage.waitUntil(async () => {
    const module = (await stage.get(`/modules/${id}`)) as ModuleAnswer | undefined;
    if (!module) return !stage.isHostRunning;
    level = module.confinement?.level ?? level;
    const answer = (await stage.get(`/modules/${id}/logs`)) as LogsAnswer | undefined;
    const record = answer?.entries.find(({ sentence }) => sentence === ATTACK_OVER);
    if (record) told = record.fields ?? {};
    else if (module.error) told = { failed: module.error.message };
    return record !== undefined || module.restarts > 0 || module.state === "failed";
  }, ATTACK_MS);
  return { told, level };
}

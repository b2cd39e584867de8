import { MantelError } from "@mantel/plugin-sdk/errors";
import {
  type LoadResult,
  QUIESCE_FAULT_LENGTH,
  QUIESCE_STEPS,
  type QuiesceFault,
  type QuiesceResult,
  type StartRequest,
} from "@mantel/plugin-sdk/protocol";
import { NotBegun, RemoteFault } from "@mantel/plugin-sdk/rpc";
import { Type } from "typebox";
import { check } from "../../validate.ts";
import type { Build } from "../code/build.ts";
import { causeOf } from "../process/cause.ts";
import type { Generation } from "../process/generation.ts";
import type { Gate } from "./gate.ts";

/** A start that a debugger has paused takes as long as a person needs. */
const DEBUGGED_START_MS = 3_600_000;

/** What a plugin that listens for something needs for it on a busy machine; its old code works meanwhile. */
const CONNECT_MS = 5_000;

/** It comes from another process, and part of it goes into the answer of a reload. */
const Quiesced = Type.Object({
  state: Type.Optional(Type.Unknown()),
  drained: Type.Integer({ minimum: 0 }),
  faults: Type.Array(
    Type.Object({
      step: Type.Enum([...QUIESCE_STEPS]),
      error: Type.String({ maxLength: QUIESCE_FAULT_LENGTH }),
    }),
  ),
});

const UNREST: Record<QuiesceFault["step"], string> = {
  calls: "calls under way did not end in time, and are cut off",
  handOver: "the old code gave no state, and the new code starts fresh",
  release: "a release failed",
};

/** Code that is loaded into a process and has not started. */
export interface Candidate {
  readonly generation: Generation;
  readonly build: Build;
  readonly loaded: LoadResult;
  readonly request: StartRequest;
}

/** A candidate that has started, with the request it was started with. */
export type Started = Candidate;

/** What a handover needs to know, and how it makes a generation speak for its module. */
export interface HandoverParts {
  readonly gate: Gate;
  readonly startMs: number;
  readonly quiesceMs: number;
  /** From now on the host hears this generation. */
  readonly letSpeak: (generation: Generation) => void;
  /** Whether a state fits what the code declares; says so in the log when it does not. */
  readonly fits: (state: unknown, candidate: Candidate) => boolean;
  /** Loads an earlier candidate's build into a fresh process. */
  readonly reloadOf: (candidate: Candidate) => Promise<Candidate>;
  /** Says in the log what went wrong besides. */
  readonly warn: (sentence: string, error: unknown) => void;
}

export interface Handover {
  readonly live: Started;
  readonly downtimeMs: number;
  readonly drained: number;
  readonly stateHandedOver: boolean;
}

/** The way back was taken: `live` works again, and `cause` is why the next one does not. */
export class RolledBack extends Error {
  override readonly name = "RolledBack";
  readonly live: Started;

  constructor(live: Started, cause: unknown) {
    super("the old code goes on", { cause });
    this.live = live;
  }
}

/**
 * Moves the work from `old` to `next`, or back to `old` when `next` does not start. Calls that come
 * meanwhile wait at the gate.
 *
 * @throws RolledBack when the old code works again
 */
export async function handOver(
  old: Started,
  next: Candidate,
  parts: HandoverParts,
): Promise<Handover> {
  await connect(next, parts);
  const closedAt = performance.now();
  parts.gate.close();
  try {
    const quiesced = await quiesce(old, parts);
    try {
      const live = await begin(next, quiesced.state, parts);
      return {
        live,
        downtimeMs: performance.now() - closedAt,
        drained: quiesced.drained,
        stateHandedOver: live.request.handedOver !== undefined,
      };
    } catch (error) {
      throw new RolledBack(await resume(old, quiesced.state, parts), error);
    }
  } finally {
    parts.gate.open();
  }
}

/** Lets the next one listen while the old one still works. What fails here is tried again at its start. */
async function connect({ generation, request }: Candidate, { warn }: HandoverParts): Promise<void> {
  if (generation.inspectPort !== undefined) return; // a debugger attaches at the start
  try {
    await generation.peer.call("connect", request, CONNECT_MS);
  } catch (error) {
    warn("the new code did not connect ahead of its start", error);
  }
}

/** Starts a candidate, from a state when it has a use for it. */
export async function begin(
  candidate: Candidate,
  state: unknown,
  parts: Pick<HandoverParts, "startMs" | "letSpeak" | "fits">,
): Promise<Started> {
  const handsOver = state !== undefined && parts.fits(state, candidate);
  const request = { ...candidate.request, ...(handsOver ? { handedOver: state } : {}) };
  parts.letSpeak(candidate.generation);
  const isDebugged = candidate.generation.inspectPort !== undefined;
  const startMs = isDebugged ? DEBUGGED_START_MS : parts.startMs;
  await candidate.generation.peer.call("start", request, startMs);
  return { ...candidate, request };
}

/** An old generation that hangs or dies now has no state to give; the next one starts fresh. */
async function quiesce(old: Started, { quiesceMs, warn }: HandoverParts): Promise<QuiesceResult> {
  try {
    const answer = await old.generation.peer.call(
      "quiesce",
      { deadlineMs: quiesceMs },
      quiesceMs + 500,
    );
    const result = check(Quiesced, answer, "what the old generation handed over");
    for (const { step, error } of result.faults) warn(UNREST[step], error);
    return result;
  } catch (error) {
    const cause = await causeOfUnrest(error, old.generation);
    warn("the old generation did not quiesce; its state is lost", cause);
    await old.generation.terminate();
    return { drained: 0, faults: [] };
  }
}

/** Why a generation did not quiesce: the stack of what its code threw, or why its process ended. */
export async function causeOfUnrest(error: unknown, { exited }: Generation): Promise<unknown> {
  if (error instanceof RemoteFault) return error.remoteStack;
  const isUnknown = error instanceof MantelError && error.code === "outcome_unknown";
  return error instanceof NotBegun || isUnknown ? causeOf(await exited) : error;
}

/** Undoes a quiesce: in the same process when it lives, or else in a fresh one. */
async function resume(old: Started, state: unknown, parts: HandoverParts): Promise<Started> {
  try {
    return await begin(old, state, parts);
  } catch (error) {
    parts.warn("the old generation's process is gone; its code starts in a new one", error);
    await old.generation.terminate();
    return begin(await parts.reloadOf(old), state, parts);
  }
}

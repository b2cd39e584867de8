import { MantelError } from "@mantel/plugin-sdk/errors";
import {
  type DeclaredChannel,
  type LoadResult,
  QUIESCE_FAULT_LENGTH,
  QUIESCE_STEPS,
  type QuiesceFault,
  type QuiesceResult,
  type StartRequest,
} from "@mantel/plugin-sdk/protocol";
import type { RouteDefinition } from "@mantel/plugin-sdk/route";
import { NotBegun, RemoteFault } from "@mantel/plugin-sdk/rpc";
import { Type } from "typebox";
import { parseRoutes } from "../../routes/definitions.ts";
import { parseDefinitions, type ServiceDefinitions } from "../../services/definitions.ts";
import { check } from "../../validate.ts";
import { exitReason } from "../process/exit-reason.ts";
import { ownDeadline, withinOwnTime } from "../process/own-time.ts";
import type { PluginProcess } from "../process/plugin-process.ts";
import type { Build } from "../versions/version.ts";
import type { PauseGate } from "./pause-gate.ts";

/** The deadline of a start under a debugger, which may pause it as long as the developer needs. */
const DEBUGGED_START_MS = 3_600_000;

/** The time a plugin needs to open its connections on a busy machine; its old code works meanwhile. */
const CONNECT_MS = 5_000;

/** Checked because it comes from another process, and part of it is in the reload's result. */
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
  calls: "running calls did not end in time; aborting them",
  handOver: "the old code handed over no state; the new code starts without it",
  release: "a release failed",
};

/** Code that is loaded into a process, and the request that starts or has started it. */
export interface Candidate {
  readonly generation: PluginProcess;
  readonly build: Build;
  readonly loaded: LoadResult;
  /** The channels that the code declares. */
  readonly channels: readonly DeclaredChannel[];
  readonly request: StartRequest;
}

/** A candidate that has started, with the services that its code provides. */
export interface Live extends Candidate {
  readonly services: ServiceDefinitions;
  readonly routes: readonly RouteDefinition[];
}

/** The dependencies of a handover. */
export interface HandoverDependencies {
  readonly gate: PauseGate;
  readonly startMs: number;
  readonly quiesceMs: number;
  /** Lets the process of this code, and no other, make calls to the host from now on. */
  readonly allowCallsFrom: (candidate: Candidate) => void;
  /** Sends all later calls to this process; called before the gate opens. */
  readonly goLive: (live: Live) => void;
  /** True if a state fits the schema that the code declares; logs a warning if it does not. */
  readonly fits: (state: unknown, candidate: Candidate) => boolean;
  /** Loads the build of a previous candidate into a new process. */
  readonly reloadOf: (candidate: Candidate) => Promise<Candidate>;
  /** Logs a secondary failure. */
  readonly warn: (sentence: string, error: unknown) => void;
}

/** The code that runs after a handover: the next, or the old one if `failure` kept the next from starting. */
export type Handover =
  | {
      readonly live: Live;
      readonly downtimeMs: number;
      readonly drained: number;
      readonly failure?: undefined;
    }
  | { readonly live: Live; readonly failure: { readonly cause: unknown } };

/**
 * Moves the work from `old` to `next`, or back to `old` if `next` does not start. Calls that arrive
 * meanwhile wait at the gate.
 * @throws the error of `old` if that does not start again either
 */
export async function handOver(
  old: Candidate,
  next: Candidate,
  parts: HandoverDependencies,
): Promise<Handover> {
  await connect(next, parts);
  const closedAt = performance.now();
  parts.gate.close();
  try {
    const { state, drained } = await quiesce(old, parts);
    try {
      const live = await startCandidate(next, state, parts);
      parts.goLive(live);
      return { live, downtimeMs: performance.now() - closedAt, drained };
    } catch (cause) {
      const live = await resume(old, state, parts);
      parts.goLive(live);
      return { live, failure: { cause } };
    }
  } finally {
    parts.gate.open();
  }
}

/** Lets the next generation connect while the old one still works. What fails here is tried again at its start. */
async function connect(
  { generation, request }: Candidate,
  { warn }: HandoverDependencies,
): Promise<void> {
  if (generation.inspectPort !== undefined) return; // a debugger attaches at the start
  try {
    await generation.peer.call("connect", request, CONNECT_MS);
  } catch (error) {
    warn("the new code could not connect before its start", error);
  }
}

/** Starts a candidate, with the state if it accepts one. */
export async function startCandidate(
  candidate: Candidate,
  state: unknown,
  parts: Pick<HandoverDependencies, "startMs" | "allowCallsFrom" | "fits" | "warn">,
): Promise<Live> {
  const handsOver = state !== undefined && parts.fits(state, candidate);
  const request = { ...candidate.request, ...(handsOver ? { handedOver: state } : {}) };
  parts.allowCallsFrom(candidate);
  const { generation } = candidate;
  const isDebugged = generation.inspectPort !== undefined;
  const startMs = isDebugged ? DEBUGGED_START_MS : parts.startMs;
  const started = await withinOwnTime(ownDeadline("start", generation, startMs), (longestMs) =>
    generation.peer.call("start", request, longestMs),
  );
  const { manifest } = candidate.build.plugin;
  const services: ServiceDefinitions = started?.services
    ? parseDefinitions(started.services, manifest, parts.warn)
    : new Map();
  const routes = parseRoutes(started?.routes ?? [], manifest);
  return { ...candidate, request, services, routes };
}

/**
 * Asks the old generation for its state. If it hangs or dies, the next one starts without a state.
 */
export async function quiesce(
  old: Candidate,
  { quiesceMs, warn }: Pick<HandoverDependencies, "quiesceMs" | "warn">,
): Promise<QuiesceResult> {
  try {
    const answer = await old.generation.peer.call(
      "quiesce",
      { deadlineMs: quiesceMs },
      quiesceMs + 500,
    );
    const result = check(Quiesced, answer, "the state that the old generation handed over");
    for (const { step, error } of result.faults) warn(UNREST[step], error);
    return result;
  } catch (error) {
    const cause = await quiesceFailure(error, old.generation);
    warn("the old generation did not quiesce; its state is lost", cause);
    await old.generation.terminate();
    return { drained: 0, faults: [] };
  }
}

/** The reason why a generation did not quiesce: the stack of the error its code threw, or why its process ended. */
export async function quiesceFailure(error: unknown, { exited }: PluginProcess): Promise<unknown> {
  if (error instanceof RemoteFault) return error.remoteStack;
  const isUnknown = error instanceof MantelError && error.code === "outcome_unknown";
  return error instanceof NotBegun || isUnknown ? exitReason(await exited) : error;
}

/** Undoes a quiesce: in the same process if it is alive, else in a new one. */
async function resume(old: Candidate, state: unknown, parts: HandoverDependencies): Promise<Live> {
  try {
    return await startCandidate(old, state, parts);
  } catch (error) {
    parts.warn("the process of the old generation ended; starting its code in a new one", error);
    await old.generation.terminate();
    return startCandidate(await parts.reloadOf(old), state, parts);
  }
}

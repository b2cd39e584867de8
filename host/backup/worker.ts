// The process in which the host creates and checks backups: it ends after its one task, or with the host.
import { isUtf8 } from "node:buffer";
import { buffer } from "node:stream/consumers";
import { type ErrorCode, type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import type { Static } from "typebox";
import { stageReplacement } from "../documents/restore-transaction.ts";
import { JsonShape } from "../json-shape.ts";
import { check } from "../validate.ts";
import { pack } from "./archive.ts";
import { readContents } from "./contents.ts";
import { requireWithinLimits } from "./limits.ts";
import { RestoreRequest } from "./requests.ts";
import { openRestore, type RestoreSummary } from "./restore.ts";

export interface MakeTask {
  readonly kind: "make";
  readonly dataFolder: string;
  readonly version: string;
  readonly passphrase?: string | undefined;
}

/** Standard input has the body of the request. */
export interface RestoreTask {
  readonly kind: "restore";
  readonly dataFolder: string;
  readonly staging: string;
}

/** The last message of the process. Standard output has the backup. */
export type Outcome =
  | { readonly kind: "made"; readonly leftOut: readonly string[] }
  | { readonly kind: "staged"; readonly summary: RestoreSummary }
  | {
      readonly kind: "refused";
      readonly code: ErrorCode;
      readonly message: string;
      readonly errors?: readonly Fault[] | undefined;
    };

const NAME = "the backup";
const BODY_LIMITS = { maxDepth: 32, maxParts: 1_000 };

process.once("disconnect", () => process.exit(1)); // the host has ended
process.once("message", (task: MakeTask | RestoreTask) => {
  void carryOut(task)
    .catch(refusal)
    .then((outcome) => process.send?.(outcome, () => process.exit(0)));
});

function carryOut(task: MakeTask | RestoreTask): Promise<Outcome> {
  return task.kind === "make" ? make(task) : restore(task);
}

async function make({ dataFolder, version, passphrase }: MakeTask): Promise<Outcome> {
  const { leftOut, ...home } = await readContents(dataFolder, passphrase !== undefined);
  const madeAt = new Date().toISOString();
  const packed = await pack({ madeAt, mantel: version, ...home }, passphrase);
  await new Promise<void>((done) => process.stdout.end(packed, done));
  return { kind: "made", leftOut };
}

async function restore({ dataFolder, staging }: RestoreTask): Promise<Outcome> {
  const request = parseRequest(await buffer(process.stdin));
  const { backup, passphrase, credentials = false } = request;
  const packed = Buffer.from(backup, "base64");
  const restoring = await openRestore({ packed, name: NAME, passphrase, credentials });
  await stageReplacement(dataFolder, staging, await restoring.replacementIn(dataFolder));
  return { kind: "staged", summary: restoring.summary };
}

/** @throws MantelError `bad_request`, `invalid` */
function parseRequest(body: Buffer): Static<typeof RestoreRequest> {
  if (!isUtf8(body)) throw new MantelError("bad_request", "the body is not UTF-8");
  const request = body.length === 0 ? undefined : parseBody(body);
  return check(RestoreRequest, request, "the request");
}

function parseBody(body: Buffer): unknown {
  try {
    requireWithinLimits(new JsonShape().add(body), BODY_LIMITS, "the body");
    return JSON.parse(body.toString());
  } catch (cause) {
    const detail = cause instanceof MantelError ? cause.message : "the body is not JSON";
    throw new MantelError("bad_request", detail, { cause });
  }
}

/** The outcome of an expected failure; any other failure ends the process, whose exit reports it. */
function refusal(error: unknown): Outcome {
  if (!(error instanceof MantelError)) throw error;
  const { code, message, extras } = error;
  return { kind: "refused", code, message, errors: extras.errors };
}

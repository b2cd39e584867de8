import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { BackupRequest, RestoreRequest } from "../../backup/requests.ts";
import { check } from "../../validate.ts";
import { readBytes } from "../body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { type Context, jsonAnswer, type Route, route } from "../route.ts";

/** The largest body. A home has some hundred KiB; the largest files are pairings of plugins. */
const MAX_BYTES = 16 * 2 ** 20;
const TYPE = "application/octet-stream";

const Planned = Type.Object({
  files: Type.Integer(),
  madeAt: Type.String({ format: "date-time" }),
  credentials: Type.Boolean({
    description: "true if keys and tokens of the backup are restored too",
  }),
  leftOut: Type.Array(Type.String(), {
    description:
      "files of the backup that are not restored, because this home keeps its own; `secrets` for a sealed part that was not opened",
  }),
});

const shared = { method: "POST", scope: "admin", tag: "Backups" } as const;

/** `/backup` and `/restore`: the home as one file. */
export function backupRoutes(parts: HttpDependencies): Route[] {
  const { backups, log } = parts;
  return [
    route({
      ...shared,
      path: "/backup",
      operationId: "createBackup",
      summary: "Make a backup; with a passphrase it contains the secrets, encrypted",
      body: { schema: BackupRequest, optional: true },
      answers: { 200: { description: "The file", type: TYPE } },
      errors: ["invalid", "service_unavailable", "deadline_passed"],
      async handle(ctx, { body = {}, principal }) {
        const { passphrase } = check(BackupRequest, body, "the request");
        const { packed, leftOut } = await backups.make(passphrase, leaving(ctx));
        if (leftOut.length > 0) {
          log.warn("files are not in the backup because of their names; rename them", { leftOut });
        }
        const secrets = passphrase !== undefined;
        await recordCompleted(parts, principal, { action: "backup.make", secrets });
        ctx.set("Cache-Control", "no-store");
        ctx.type = TYPE;
        ctx.body = packed;
      },
    }),
    route({
      ...shared,
      path: "/restore",
      operationId: "restoreBackup",
      summary:
        "Check a backup and restore it at the next start; keys and tokens stay unless requested",
      body: { schema: RestoreRequest, maxBytes: MAX_BYTES, unparsed: true },
      answers: jsonAnswer("The restore waits for the next start", Planned),
      errors: ["invalid", "disk_full", "disk_read_only", "service_unavailable", "deadline_passed"],
      async handle(ctx, { principal }) {
        const planned = await backups.planRestore(() => readBytes(ctx, MAX_BYTES), leaving(ctx));
        const { madeAt, credentials } = planned;
        await recordCompleted(parts, principal, { action: "backup.restore", madeAt, credentials });
        return planned;
      },
    }),
  ];
}

/** Aborts when the client disconnects, also after its answer. */
function leaving({ res }: Context): AbortSignal {
  const disconnected = new AbortController();
  res.once("close", () => disconnected.abort());
  return disconnected.signal;
}

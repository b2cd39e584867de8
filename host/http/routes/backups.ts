import { Type } from "typebox";
import { recordDone } from "../../auth/audit.ts";
import { check } from "../../validate.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";

/** A home is some hundred KiB; the largest are pictures and pairings of plugins. */
const MAX_BYTES = 16 * 2 ** 20;
const TYPE = "application/octet-stream";

const Strict = { additionalProperties: false } as const;
const Passphrase = Type.Optional(
  Type.String({
    minLength: 12,
    maxLength: 1_000,
    description: "opens the secrets, which it seals",
  }),
);
const Request = Type.Object({ passphrase: Passphrase }, Strict);
const Restore = Type.Object(
  {
    backup: Type.String({
      minLength: 1,
      pattern: "^[A-Za-z0-9+/]*={0,2}$",
      description: "the file, base64",
    }),
    passphrase: Passphrase,
  },
  Strict,
);
const Planned = Type.Object({
  files: Type.Integer(),
  madeAt: Type.String({ format: "date-time" }),
});

const shared = { method: "POST", scope: "admin", tag: "Backups" } as const;

/** `/backup` and `/restore`: the home as one file. */
export function backupRoutes(parts: Pick<Parts, "backups" | "audit" | "log">): Route[] {
  const { backups } = parts;
  return [
    route({
      ...shared,
      path: "/backup",
      summary: "Make a backup; with a passphrase, secrets are in it, sealed",
      body: { schema: Request, optional: true },
      answers: { 200: { description: "The file", type: TYPE } },
      errors: ["invalid"],
      async handle(ctx, { body, principal }) {
        const { passphrase } = check(Request, body ?? {}, "the request");
        const packed = await backups.make(passphrase);
        const secrets = passphrase !== undefined;
        await recordDone(parts, principal, { action: "backup.make", secrets });
        ctx.set("Cache-Control", "no-store");
        ctx.type = TYPE;
        ctx.body = packed;
      },
    }),
    route({
      ...shared,
      path: "/restore",
      summary: "Check a backup, and put it in place at the next start; keys and tokens stay",
      body: { schema: Restore, maxBytes: MAX_BYTES },
      answers: ok("It waits for the next start", Planned),
      errors: ["invalid", "disk_full"],
      async handle(_, { body, principal }) {
        const { backup, passphrase } = check(Restore, body, "the request");
        const planned = await backups.planRestore(Buffer.from(backup, "base64"), passphrase);
        await recordDone(parts, principal, { action: "backup.restore", madeAt: planned.madeAt });
        return planned;
      },
    }),
  ];
}

import { Type } from "typebox";

const Strict = { additionalProperties: false } as const;
const Passphrase = Type.Optional(
  Type.String({
    minLength: 12,
    maxLength: 1_000,
    description: "the passphrase of the sealed part, which contains the secrets",
  }),
);

/** The body of `POST /backup`. */
export const BackupRequest = Type.Object({ passphrase: Passphrase }, Strict);

/** The body of `POST /restore`. */
export const RestoreRequest = Type.Object(
  {
    backup: Type.String({
      minLength: 1,
      pattern: "^[A-Za-z0-9+/]*={0,2}$",
      description: "the file, base64",
    }),
    passphrase: Passphrase,
    credentials: Type.Optional(
      Type.Boolean({
        description:
          "true restores keys, tokens, feed addresses and consents of the backup too, with its passphrase; otherwise those of this home stay",
      }),
    ),
  },
  Strict,
);

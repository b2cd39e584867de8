import { type Static, Type } from "@mantel/plugin-sdk";

const Strict = { additionalProperties: false } as const;
const Refresh = { minimum: 60, maximum: 86_400 } as const;
const Words = (title: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50, title }));

const Color = { pattern: "^#[0-9a-fA-F]{6}$", title: "Colour" } as const;

/** Maximum time of one transfer, as long as bytes come. */
const TRANSFER_SECONDS = 300;

/** Options common to all calendars. */
const shared = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, title: "Name" })),
  color: Type.Optional(Type.String(Color)),
  /** By words. If several apply to an event, the first counts. */
  colors: Type.Optional(
    Type.Record(Type.String({ pattern: "^.{1,100}$" }), Type.String(Color), {
      ...Strict,
      maxProperties: 50,
      title: "Colours of events whose title or category has a word",
    }),
  ),
  include: Words("Only events whose title has one of these words"),
  exclude: Words("No events whose title has one of these words"),
  mailAddresses: Type.Optional(
    Type.Array(Type.String({ minLength: 3, maxLength: 320 }), {
      maxItems: 20,
      title: "Mail addresses of its person, whose declined events are struck through",
    }),
  ),
  hideDeclined: Type.Optional(Type.Boolean({ title: "Hide declined events" })),
  private: Type.Optional(
    Type.Boolean({ title: "Show only that and when there is something, and not what" }),
  ),
};

/** A sign-in at a provider (RFC 6749), in place of a password. The assistant fills it in. */
export const OAuthOptions = Type.Object(
  {
    tokenUrl: Type.String({
      pattern: "^https?://",
      maxLength: 500,
      title: "Address that gives access tokens",
    }),
    clientId: Type.String({ minLength: 1, maxLength: 500, title: "Client id" }),
    clientSecret: Type.Optional(
      Type.String({ maxLength: 500, title: "Client secret", writeOnly: true }),
    ),
    refreshToken: Type.String({
      minLength: 1,
      maxLength: 10_000,
      title: "Refresh token",
      writeOnly: true,
    }),
  },
  { ...Strict, title: "Sign-in" },
);
export type OAuthOptions = Static<typeof OAuthOptions>;

/** One calendar, account or file. */
export const SourceOptions = Type.Object(
  {
    /** A feed is a calendar or contacts at an address; the others are accounts. */
    kind: Type.Optional(
      Type.Enum(["feed", "caldav", "carddav", "google", "microsoft"], { title: "Kind" }),
    ),
    /**
     * At most providers it grants access like a password, so it is never shown. Absent for a file.
     */
    url: Type.Optional(
      Type.String({
        writeOnly: true,
        pattern: "^(https?|webcals?)://",
        maxLength: 2000,
        title: "Address",
      }),
    ),
    username: Type.Optional(Type.String({ maxLength: 200, title: "User name" })),
    password: Type.Optional(Type.String({ maxLength: 500, title: "Password", writeOnly: true })),
    oauth: Type.Optional(OAuthOptions),
    /** Needed for a server in the home's own network. */
    allowPrivate: Type.Optional(Type.Boolean({ title: "It is in the local network" })),
    refreshSeconds: Type.Optional(Type.Integer({ ...Refresh, title: "Seconds between two looks" })),
    leaveOut: Words("Calendars of the account that are not shown, by name"),
    fingerprint: Type.Optional(
      Type.String({
        pattern: "^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$",
        title: "SHA-256 fingerprint of the only certificate to accept",
      }),
    ),
    caFile: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$",
        title: "Certificate of its authority (a PEM file in the calendars folder)",
      }),
    ),
    transferSeconds: Type.Optional(
      Type.Integer({
        minimum: 15,
        maximum: 3_600,
        title: `Longest transfer in seconds (${TRANSFER_SECONDS} if empty)`,
      }),
    ),
    ...shared,
  },
  Strict,
);
export type SourceOptions = Static<typeof SourceOptions>;

/** User settings for a calendar, apart from its location. */
export type Settings = Pick<SourceOptions, keyof typeof shared>;

/** Access tokens for requests. */
export interface TokenSource {
  /** A valid one. @throws MantelError `invalid` if the user has to sign in again */
  readonly get: () => Promise<string>;
  /** Forgets a token that a server has refused. */
  readonly drop: (refused: string) => void;
}

/** A calendar or account on the web. */
export type WebOptions = SourceOptions & {
  readonly id: string;
  readonly url: string;
  /** The path of `caFile`. */
  readonly authorityFile?: string | undefined;
  /** The access tokens of `oauth`. */
  readonly tokens?: TokenSource | undefined;
};

/** The mail addresses that a user name tells: most providers use one as the name. */
export function addressesOf({ username = "" }: Pick<SourceOptions, "username">): string[] {
  return username.includes("@") ? [username] : [];
}

/** The maximum time of one transfer. */
export function transferMs({
  transferSeconds,
}: {
  readonly transferSeconds?: number | undefined;
}): number {
  return (transferSeconds ?? TRANSFER_SECONDS) * 1000;
}

const SOURCE_ID = "^(?=.{1,60}$)[a-z0-9]+(-[a-z0-9]+)*$";

export const Options = Type.Object(
  {
    refreshSeconds: Type.Integer({
      ...Refresh,
      default: 900,
      title: "Seconds between two looks at a calendar on the web",
    }),
    defaultDays: Type.Integer({ default: 14, minimum: 1, maximum: 366, title: "Days shown" }),
    /** By id, so that one of them can be changed alone. */
    sources: Type.Record(Type.String({ pattern: SOURCE_ID }), SourceOptions, {
      ...Strict,
      default: {},
      maxProperties: 50,
      title: "Calendars",
    }),
  },
  Strict,
);

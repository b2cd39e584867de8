import dns from "node:dns/promises";
import {
  MantelError,
  type OptionsPatch,
  type SetupContext,
  type Static,
  Type,
} from "@mantel/plugin-sdk";
import { slugOf } from "../files/folder.ts";
import { UTC } from "../ics/zones.ts";
import type { OAuthOptions, Options } from "../options.ts";
import { UntrustedCertificate } from "../web/certificate.ts";
import { type DavCollection, DavServer, nameOf } from "../web/dav.ts";
import { download } from "../web/download.ts";
import { GoogleCalendars } from "../web/google.ts";
import { GraphServer } from "../web/graph.ts";
import { AccessTokens } from "../web/oauth.ts";
import { type Dns, findServers, type FoundServer } from "./find-servers.ts";
import { ENDPOINTS, type Provider, signInAtGoogle, signInAtMicrosoft } from "./sign-in.ts";

type Config = Static<typeof Options>;
type Context = Pick<SetupContext<Config>, "config" | "log" | "signal" | "show" | "ask">;

/** The answer to the first question. */
interface Given {
  readonly address: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** An address with all that is needed to read it. */
interface Place {
  readonly kind: "feed" | "caldav" | "google" | "microsoft";
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly oauth?: OAuthOptions;
  readonly allowPrivate?: boolean;
  readonly fingerprint?: string;
}

/** The consents of a user for one server. */
type Consents = { -readonly [Key in "allowPrivate" | "fingerprint"]?: Place[Key] };

interface Found {
  readonly place: Place;
  readonly calendars: readonly DavCollection[];
}

/** Servers lock accounts after repeated wrong passwords. */
const MOST_TRIES = 8;

const Consent = Type.Object({ agreed: Type.Boolean({ title: "Yes", default: false }) });

/**
 * Finds the calendars of a mail address, or of a server or calendar by its address; asks which of them to show, and
 * returns the options with them. What goes wrong is shown with the question, which is then asked again.
 * @throws MantelError `invalid` with the last reason, after several attempts
 */
export async function addCalendars(
  ctx: Context,
  names: Dns = dns,
  endpoints = ENDPOINTS,
): Promise<OptionsPatch<Config>> {
  let given: Given = { address: "" };
  let problem: MantelError | undefined;
  for (let tries = 1; ; tries++) {
    given = await ctx.ask({
      title: "Which calendars?",
      text:
        problem?.message ??
        "Mantel looks up where the calendars of a mail address are. Many providers want an app password, which you make in the settings of your account.",
      form: formOf(given),
    });
    try {
      return await sourcesOf(ctx, given, await find(ctx, given, { names, endpoints }));
    } catch (error) {
      if (!(error instanceof MantelError) || tries === MOST_TRIES) throw error;
      problem = error;
    }
  }
}

/** The form of the first question, filled in with the previous answer except for the password. */
function formOf({ address, username }: Given) {
  const before = (value: string | undefined) => (value ? { default: value } : {});
  return Type.Object({
    address: Type.String({
      title: "Mail address, or address of a server or calendar",
      minLength: 3,
      maxLength: 2_000,
      ...before(address),
    }),
    username: Type.Optional(
      Type.String({
        title: "User name, if it is not the mail address",
        maxLength: 200,
        ...before(username),
      }),
    ),
    password: Type.Optional(Type.String({ title: "Password", maxLength: 500, writeOnly: true })),
  });
}

/** The calendars at the first server that has some. @throws MantelError the most telling reason of all servers */
async function find(
  ctx: Context,
  given: Given,
  { names, endpoints }: { readonly names: Dns; readonly endpoints: typeof ENDPOINTS },
): Promise<Found> {
  ctx.show({ title: "Looking for calendars" });
  if (isFeed(given.address)) return readFeed(ctx, given);
  let reason: MantelError | undefined;
  for (const server of await findServers(given.address, names)) {
    try {
      if ("signInAt" in server) return await enter(ctx, server.signInAt, { given, endpoints });
      return await signIn(ctx, server, given);
    } catch (error) {
      if (!(error instanceof MantelError)) throw error;
      if (isRefusal(error)) throw error; // the password is not tried elsewhere
      reason ??= error;
    }
  }
  throw reason ?? new MantelError("not_found", "no server was found");
}

/** A calendar by itself, such as the secret address of one at Google. */
function isFeed(address: string): boolean {
  return /^webcals?:/i.test(address.trim()) || /\.(ics|vcf)(\?.*)?$/i.test(address.trim());
}

/** Signs in at a provider that takes no passwords, and lists the calendars there. */
async function enter(
  ctx: Context,
  provider: Provider,
  { given, endpoints }: { readonly given: Given; readonly endpoints: typeof ENDPOINTS },
): Promise<Found> {
  const mail = given.address.trim();
  const known = Object.values(ctx.config.sources ?? {}).flatMap(({ oauth }) => oauth ?? []);
  const { first, ...found } =
    provider === "google"
      ? await signInAtGoogle(ctx, mail, { endpoints, known })
      : await signInAtMicrosoft(ctx, { endpoints, known });
  ctx.show({ title: "Looking for calendars" });
  const { allowPrivate } = endpoints;
  const place = { ...found, username: mail, ...(allowPrivate ? { allowPrivate } : {}) };
  const nowhere = { get: none, set: none };
  const tokens = new AccessTokens({ ...ctx, ...place, first, storage: nowhere });
  const account = { ...place, id: "new", tokens };
  const server =
    place.kind === "microsoft"
      ? new GraphServer(account, ctx.signal)
      : new GoogleCalendars(account, UTC, ctx.signal);
  return { place, calendars: await server.collections(await server.discover()) };
}

/** A setup has no storage, and needs none: its first token is valid for long enough. */
const none = async () => undefined;

async function readFeed(ctx: Context, { address, username, password }: Given): Promise<Found> {
  const feed = { kind: "feed", url: address.trim(), ...credentials(username, password) } as const;
  return withConsent(ctx, feed, {}, async (place) => {
    await download({ ...place, signal: ctx.signal });
    return { place, calendars: [] };
  });
}

/** The part before the @ is tried as well where the whole address is refused (RFC 6764, 6). */
async function signIn(
  ctx: Context,
  { url, isElsewhere }: FoundServer,
  given: Given,
): Promise<Found> {
  const { host } = new URL(url);
  if (isElsewhere) {
    const title = "Send the password to this server?";
    const { agreed } = await ctx.ask({ title, text: host, form: Consent });
    if (!agreed) throw new MantelError("invalid", `nothing was sent to ${host}`);
  }
  const [whole, other] = userNames(given);
  const consents: Consents = {};
  const as = (username: string | undefined) => {
    const place = { kind: "caldav", url, ...credentials(username, given.password) } as const;
    return listCalendars(ctx, place, consents);
  };
  try {
    return await as(whole);
  } catch (error) {
    if (other === undefined || !isRefusal(error)) throw error;
    return as(other);
  }
}

/** The fields that were filled in. */
function credentials(username: string | undefined, password: string | undefined) {
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
}

function userNames({ address, username }: Given): (string | undefined)[] {
  const mail = address.trim();
  if (username) return [username];
  if (!mail.includes("@") || mail.includes("/")) return [undefined];
  return [mail, mail.slice(0, mail.lastIndexOf("@"))];
}

function listCalendars(ctx: Context, account: Place, consents: Consents): Promise<Found> {
  return withConsent(ctx, account, consents, async (place) => {
    const server = new DavServer({ ...place, id: "new" }, "caldav", ctx.signal);
    const calendars = await server.collections(await server.discover());
    return { place, calendars };
  });
}

/**
 * Asks whether a server may be in the home's network, and whether to trust its own certificate. What the user agrees to
 * is added to `consents`.
 */
async function withConsent(
  ctx: Context,
  place: Place,
  consents: Consents,
  read: (place: Place) => Promise<Found>,
): Promise<Found> {
  try {
    return await read({ ...place, ...consents });
  } catch (error) {
    const consent = await consentTo(ctx, { ...place, ...consents }, error);
    if (consent === undefined) throw error;
    Object.assign(consents, consent);
    ctx.show({ title: "Looking for calendars" });
    return withConsent(ctx, place, consents, read);
  }
}

/** Asks for a consent that prevents a failure; `undefined` if there is none, or the user does not agree. */
async function consentTo(
  ctx: Context,
  place: Place,
  error: unknown,
): Promise<Consents | undefined> {
  const isPrivate =
    error instanceof MantelError && error.extras.sentence?.code === "private_address";
  if (isPrivate && !place.allowPrivate) {
    const title = "This server is in your own network. Is that right?";
    const { agreed } = await ctx.ask({ title, text: new URL(place.url).host, form: Consent });
    return agreed ? { allowPrivate: true } : undefined;
  }
  if (error instanceof UntrustedCertificate && place.fingerprint === undefined) {
    const { fingerprint } = error;
    const title =
      "No known authority has signed this server's certificate. Is this its fingerprint?";
    const { agreed } = await ctx.ask({ title, text: fingerprint, form: Consent });
    return agreed ? { fingerprint } : undefined;
  }
  return undefined;
}

function isRefusal(error: unknown): boolean {
  return error instanceof MantelError && error.extras.sentence?.code === "wrong_password";
}

/** Asks which calendars to show, if there are several. */
async function sourcesOf(
  ctx: Context,
  given: Given,
  { place, calendars }: Found,
): Promise<OptionsPatch<Config>> {
  if (place.kind !== "feed" && calendars.length === 0) {
    throw new MantelError("not_found", "the account has no calendars: create one there");
  }
  const id = idFor(ctx.config.sources ?? {}, given, place);
  const before = ctx.config.sources?.[id]?.leaveOut;
  const all = [...new Set(calendars.map(nameOf))];
  const shown = all.length > 1 ? await chooseOf(ctx, all, before) : all;
  const leaveOut = all.filter((name) => !shown.includes(name));
  // an empty list takes away the one of before
  const source = { ...place, ...(leaveOut.length > 0 || before ? { leaveOut } : {}) };
  return { sources: { [id]: source } };
}

async function chooseOf(
  ctx: Context,
  names: readonly string[],
  leftOut: readonly string[] = [],
): Promise<readonly string[]> {
  const one = Type.Union(names.map((name) => Type.Literal(name, { title: name })));
  const form = Type.Object({
    calendars: Type.Array(one, {
      title: "Calendars",
      uniqueItems: true,
      minItems: 1,
      default: names.filter((name) => !leftOut.includes(name)),
    }),
  });
  const { calendars } = await ctx.ask({ title: "Which of them are to be shown?", form });
  return calendars;
}

/** An id that says where the calendars are from; the one that this account already has, if it is entered again. */
function idFor(sources: Config["sources"], { address }: Given, { url, username }: Place): string {
  const same = Object.entries(sources).find(
    ([, each]) => each.url === url && each.username === username,
  );
  if (same) return same[0];
  const mail = address.trim();
  const host =
    mail.includes("@") && !mail.includes("/")
      ? mail.slice(mail.lastIndexOf("@") + 1)
      : new URL(url.replace(/^webcals?:/i, "https:")).hostname;
  const readable = slugOf(host) || "calendar";
  for (let number = 1; ; number++) {
    const id = number === 1 ? readable : `${readable}-${number}`;
    if (!(id in sources)) return id;
  }
}

import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { MantelError, type SetupContext, sentence, Type } from "@mantel/plugin-sdk";
import type { OAuthOptions } from "../options.ts";
import { askOAuth, OAuthError, type TokenAnswer, tokenIn } from "../web/oauth.ts";

/** Providers whose calendars need a sign-in with a client id of the user's own. */
export type Provider = "google" | "microsoft";

type Context = Pick<SetupContext<unknown>, "signal" | "show" | "ask">;

/** A finished sign-in. */
export interface SignedIn {
  readonly kind: Provider;
  readonly url: string;
  readonly oauth: OAuthOptions;
  /** The first access token. */
  readonly first: TokenAnswer;
}

/** The addresses of the providers; tests have their own. */
export interface Endpoints {
  readonly google: {
    readonly authorize: string;
    readonly token: string;
    readonly calendars: string;
  };
  readonly microsoft: { readonly authority: string; readonly calendars: string };
  readonly allowPrivate?: boolean;
}

/** As in the developers' pages of Google (OAuth 2.0 for desktop apps, Calendar API v3) and Microsoft (identity platform, Graph). */
export const ENDPOINTS: Endpoints = {
  google: {
    authorize: "https://accounts.google.com/o/oauth2/v2/auth",
    token: "https://oauth2.googleapis.com/token",
    calendars: "https://www.googleapis.com/calendar/v3",
  },
  microsoft: {
    authority: "https://login.microsoftonline.com",
    calendars: "https://graph.microsoft.com/v1.0",
  },
};

/** Events, and the list of calendars: not their sharing and settings. */
const GOOGLE_SCOPES = [
  "https://www.googleapis.com/auth/calendar.events",
  "https://www.googleapis.com/auth/calendar.calendarlist.readonly",
];
const MICROSOFT_SCOPE = "offline_access https://graph.microsoft.com/Calendars.ReadWrite";
/**
 * The loopback address that Google allows to desktop apps. Nothing listens there: the browser may be on a phone, so the
 * user copies the address with the code.
 */
const REDIRECT = "http://127.0.0.1:48470/";
/** The pause between two questions if the provider names none (RFC 8628, 3.2). */
const USUAL_SECONDS = 5;
const SLOWER_SECONDS = 5;

const NO_CODE = sentence(
  "no_sign_in_code",
  "this is not the address of the page that follows the sign-in: it begins with http://127.0.0.1 and has a code",
);
const NOT_ALL = sentence(
  "not_all_allowed",
  "not everything was allowed that is needed: start again, and tick all boxes",
);
const NO_REFRESH = sentence(
  "no_refresh_token",
  "the provider gives no lasting access: check the kind of the client",
);
const DECLINED = sentence("sign_in_declined", "the sign-in was declined");
const TOO_LATE = sentence("sign_in_too_late", "the code has expired: start again");
const ODD_ANSWER = sentence(
  "odd_token_answer",
  "the provider's sign-in gives an answer of another form",
);

/** Where to sign in, and the sign-ins of accounts that are there already. */
interface SignInFacts {
  readonly endpoints: Endpoints;
  readonly known: readonly OAuthOptions[];
}

/** The question for the client id; the answer of before is filled in. */
function clientIdField(known: OAuthOptions | undefined) {
  const before = known ? { default: known.clientId } : {};
  return Type.String({ title: "Client id", minLength: 1, maxLength: 500, ...before });
}

const NO_SECRET = sentence("no_client_secret", "the client secret is missing");

/**
 * Signs a user in at Google: the code flow for desktop apps (RFC 8252) with PKCE (RFC 7636),
 * because Google's device flow has no calendars.
 * @throws MantelError `invalid` with the reason of the provider
 */
export async function signInAtGoogle(
  ctx: Context,
  mail: string,
  { endpoints: { google, allowPrivate }, known }: SignInFacts,
): Promise<SignedIn> {
  const before = known.find(({ tokenUrl }) => tokenUrl === google.token);
  const { clientId, clientSecret: secret } = await ctx.ask({
    title: "Sign in at Google",
    text: "Google lets programs in with a client of your own. At https://console.cloud.google.com enable the Google Calendar API, create an OAuth client of the type Desktop app, and enter it here. Without one, start again with the secret address in iCal format of a calendar.",
    form: Type.Object({
      clientId: clientIdField(before),
      clientSecret: Type.Optional(
        Type.String({ title: "Client secret", maxLength: 500, writeOnly: true }),
      ),
    }),
  });
  // the one of before is not shown, and need not be entered again
  const clientSecret = secret || (before?.clientId === clientId ? before.clientSecret : undefined);
  if (!clientSecret) throw new MantelError("invalid", NO_SECRET);
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(16).toString("base64url");
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: "code",
    scope: GOOGLE_SCOPES.join(" "),
    access_type: "offline",
    prompt: "consent",
    login_hint: mail,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const { pasted } = await ctx.ask({
    title: "Open this address and sign in. Then copy the address of the page that does not load",
    text: `${google.authorize}?${query.toString()}`,
    form: Type.Object({
      pasted: Type.String({ title: "Address of that page", minLength: 1, maxLength: 4_000 }),
    }),
  });
  const form = {
    grant_type: "authorization_code",
    code: codeIn(pasted, state),
    redirect_uri: REDIRECT,
    client_id: clientId,
    client_secret: clientSecret,
    code_verifier: verifier,
  };
  const { signal } = ctx;
  const first = await tokenIn(await askOAuth({ url: google.token, form, allowPrivate, signal }));
  const oauth = { tokenUrl: google.token, clientId, clientSecret, refreshToken: lasting(first) };
  if (!hasAllScopes(first)) throw new MantelError("invalid", NOT_ALL);
  return { kind: "google", url: google.calendars, oauth, first };
}

/** A user may allow only some of what a program asks for. */
function hasAllScopes({ scope }: TokenAnswer): boolean {
  const given = scope?.split(" ");
  return given === undefined || GOOGLE_SCOPES.every((each) => given.includes(each));
}

/** The code in the address to which the browser was sent. @throws MantelError `invalid` */
function codeIn(pasted: string, state: string): string {
  const text = pasted.trim();
  const query = URL.canParse(text) ? new URL(text).searchParams : new URLSearchParams();
  if (query.get("error") !== null) throw new MantelError("invalid", DECLINED);
  const code = query.get("code");
  if (code === null || code === "" || query.get("state") !== state) {
    throw new MantelError("invalid", NO_CODE);
  }
  return code;
}

/**
 * Signs a user in at Microsoft, for its Graph, by a code that is entered in any browser (RFC 8628).
 * @throws MantelError `invalid` with the reason of the provider
 */
export async function signInAtMicrosoft(
  ctx: Context,
  { endpoints: { microsoft, allowPrivate }, known }: SignInFacts,
): Promise<SignedIn> {
  const before = known.find(({ tokenUrl }) => tokenUrl.startsWith(`${microsoft.authority}/`));
  const { clientId, tenant } = await ctx.ask({
    title: "Sign in at Microsoft",
    text: "Microsoft lets programs in with a client of your own. At https://entra.microsoft.com register an application for personal and work accounts, allow public client flows, and enter its id here. Without one, start again with the ICS link of a published calendar.",
    form: Type.Object({
      clientId: clientIdField(before),
      tenant: Type.String({
        title: "Tenant, if your organization asks for it",
        pattern: "^[A-Za-z0-9.-]{1,100}$",
        default: before?.tokenUrl.slice(microsoft.authority.length + 1).split("/")[0] ?? "common",
      }),
    }),
  });
  const base = `${microsoft.authority}/${tenant}/oauth2/v2.0`;
  const { signal } = ctx;
  const shared = { allowPrivate, signal };
  const codes = codesIn(
    await askOAuth({
      ...shared,
      url: `${base}/devicecode`,
      form: { client_id: clientId, scope: MICROSOFT_SCOPE },
    }),
  );
  ctx.show({
    title: "Open this address in any browser, and enter the code",
    text: `${codes.place}\n${codes.userCode}`,
  });
  const tokenUrl = `${base}/token`;
  const form = {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    client_id: clientId,
    device_code: codes.deviceCode,
  };
  const first = await waitForToken(
    () => askOAuth({ ...shared, url: tokenUrl, form }),
    codes,
    signal,
  );
  const oauth = { tokenUrl, clientId, refreshToken: lasting(first) };
  return { kind: "microsoft", url: microsoft.calendars, oauth, first };
}

interface Codes {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly place: string;
  readonly intervalMs: number;
}

/** The answer of a device authorization endpoint (RFC 8628, 3.2). */
function codesIn(answer: unknown): Codes {
  const {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: place,
    interval = USUAL_SECONDS,
  } = (answer ?? {}) as Record<string, unknown>;
  const isCode = typeof deviceCode === "string" && typeof userCode === "string";
  const isPlace = typeof place === "string" && /^https:\/\/\S{1,500}$/.test(place);
  if (!isCode || !isPlace || typeof interval !== "number" || !(interval >= 0)) {
    throw new MantelError("invalid", ODD_ANSWER);
  }
  return { deviceCode, userCode: userCode.slice(0, 100), place, intervalMs: interval * 1000 };
}

/** Asks at the provider's pace until the user has signed in (RFC 8628, 3.5). */
async function waitForToken(
  ask: () => Promise<unknown>,
  { intervalMs }: Codes,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  for (let pauseMs = intervalMs; ;) {
    await delay(pauseMs, undefined, { signal });
    try {
      return await tokenIn(await ask());
    } catch (error) {
      const code = error instanceof OAuthError ? error.error : undefined;
      if (code === "slow_down") pauseMs += SLOWER_SECONDS * 1000;
      else if (code !== "authorization_pending") throw reasonOf(error, code);
    }
  }
}

function reasonOf(error: unknown, code: string | undefined): unknown {
  if (code === "expired_token") return new MantelError("invalid", TOO_LATE);
  const isDeclined = code === "authorization_declined" || code === "access_denied";
  return isDeclined ? new MantelError("invalid", DECLINED) : error;
}

function lasting({ refresh_token: token }: TokenAnswer): string {
  if (token === undefined) throw new MantelError("invalid", NO_REFRESH);
  return token;
}

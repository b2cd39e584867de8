import type { Page } from "playwright-core";
import { type Answer, ask, makeLink, send } from "./api.ts";
import { openPage, withoutBrowser } from "./browser.ts";
import type { Proof } from "./proof.ts";
import { EVENT_TIMEOUT_MS, type Stage } from "./stage.ts";
import type { Target } from "./target.ts";

/** The time in which a page could do by itself what it must not do. */
const PAGE_MS = 1_500;

interface SignIn {
  /** Of the browser, which may be signed in. */
  readonly cookie?: string;
  /** The site whose page asks; `null` is that of a page without an origin. */
  readonly origin?: string;
  readonly replace?: boolean;
}

/** Asks the host to sign a browser in, as a page does. */
function signIn({ url }: Target, token: string, options: SignIn = {}): Promise<Answer> {
  const { cookie = "", origin = url, replace = false } = options;
  const headers = { origin, ...(cookie ? { cookie } : {}) };
  return send(`${url}/api/v1/session`, "POST", { headers, json: { token, replace } });
}

/** Whom the host knows a browser as. */
async function nameIn({ url }: Target, cookie: string): Promise<string> {
  const { body } = await send(`${url}/api/v1/session`, "GET", { headers: { cookie } });
  return body.name ?? "nobody";
}

/** Attacks by links to `/#token=`, and on the session that one opens. */
export const SIGN_IN: readonly Proof[] = [
  {
    name: "sign two browsers in with one link",
    heldFrom: "permission-model",
    look: async ({ target }) => {
      const link = await makeLink(target, "anna");
      const answers = await Promise.all([1, 2, 3].map(() => signIn(target, link)));
      answers.push(await signIn(target, link));
      const { length } = answers.filter(({ cookie }) => cookie !== "");
      if (length === 1) return undefined;
      return `${length} browsers were signed in: ${answers.map(({ status }) => status).join(", ")}`;
    },
  },
  {
    name: "sign a browser out by a junk link",
    heldFrom: "permission-model",
    look: async ({ target }) => {
      const { cookie } = await signIn(target, await makeLink(target, "anna"));
      for (const [kind, token] of Object.entries(await junkFor(target, cookie))) {
        const answer = await signIn(target, token, { cookie, replace: true });
        if (answer.cookie !== "") return `the link "${kind}" was answered with a cookie`;
        const name = await nameIn(target, cookie);
        if (name !== "anna") return `after the link "${kind}" the browser is ${name}`;
      }
      return undefined;
    },
  },
  {
    name: "sign a browser in as someone else without a question",
    heldFrom: "permission-model",
    look: async ({ target }) => {
      const { cookie } = await signIn(target, await makeLink(target, "anna"));
      const link = await makeLink(target, "ben");
      const { status, body } = await signIn(target, link, { cookie });
      if (body.code !== "signed_in") return `the link was answered ${status} ${body.code ?? ""}`;
      const name = await nameIn(target, cookie);
      if (name !== "anna") return `the browser is ${name}`;
      const meant = await signIn(target, link, { cookie, replace: true });
      return meant.status === 201 ? undefined : `the refused link is used up: ${meant.status}`;
    },
  },
  {
    name: "sign a browser in from a page of another site",
    heldFrom: "permission-model",
    look: async ({ target }) => {
      const link = await makeLink(target, "ben");
      for (const origin of ["null", "http://evil.example", `${target.url}.evil.example`]) {
        const { cookie } = await signIn(target, link, { origin, replace: true });
        if (cookie !== "") return `a page of ${origin} signed the browser in`;
      }
      return undefined;
    },
  },
  {
    name: "have the dashboard replace who is signed in by a link that is opened",
    heldFrom: "permission-model",
    missing: withoutBrowser,
    look: async (stage) => {
      const { page, close } = await openPage();
      try {
        return await openLinks(stage, page);
      } finally {
        await close();
      }
    },
  },
];

/** Opens a good link in a page, and then others, while the page may do what it wants with them. */
async function openLinks(stage: Stage, page: Page): Promise<string | undefined> {
  const { target } = stage;
  const open = async (token: string): Promise<void> => {
    await page.goto("about:blank");
    const answered = page.waitForResponse((answer) => answer.url().endsWith("/api/v1/session"));
    await page.goto(`${target.url}/#token=${token}`);
    await answered;
  };
  const cookie = async (): Promise<string> =>
    (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const isAnna = async (): Promise<boolean> => (await nameIn(target, await cookie())) === "anna";
  await open(await makeLink(target, "anna"));
  if (!(await stage.waitUntil(isAnna, EVENT_TIMEOUT_MS))) return "a good link signs nobody in";
  const links = await junkFor(target, await cookie());
  for (const [kind, token] of Object.entries({ ...links, ben: await makeLink(target, "ben") })) {
    await open(token);
    const isHarmed = await stage.waitUntil(async () => !(await isAnna()), PAGE_MS);
    if (isHarmed) return `the link "${kind}" ended the session`;
  }
  return undefined;
}

/** Tokens that open no session: the cookie's own is one. */
async function junkFor(target: Target, cookie: string): Promise<Record<string, string>> {
  const [used, revoked] = [await makeLink(target, "used"), await makeLink(target, "revoked")];
  await signIn(target, used);
  await ask(target, "DELETE", "/tokens/revoked");
  return {
    text: "junk",
    unsigned: "a.b.c",
    used,
    revoked,
    session: cookie.split("=")[1] ?? "",
  };
}

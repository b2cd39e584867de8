import { type DAVResponse, propfind, syncCollection } from "tsdav";
import { multistatusOf, pathOf, textOf, whole } from "./dav-value.ts";

/** What has changed in a collection, by the paths of its objects. */
export interface DavChanges {
  /** What to ask with for the changes after these. */
  readonly token: string | undefined;
  /** True when `changed` has all objects there are. */
  readonly whole: boolean;
  /** ETags by path. */
  readonly changed: ReadonlyMap<string, string | undefined>;
  readonly gone: ReadonlySet<string>;
}

interface Place {
  readonly url: string;
  readonly fetch: typeof fetch;
}

/** Parts that one answer may come in. */
const MAX_PARTS = 100;

/**
 * What has changed since a token (RFC 6578); everything without one, or when the server has forgotten
 * it. A server that has no tokens lists all ETags.
 */
export async function changesSince(place: Place, token: string | undefined): Promise<DavChanges> {
  const known = token === undefined ? undefined : await sync(place, token);
  return known ?? (await sync(place, "")) ?? list(place);
}

/** `undefined` when the server does not know the token, or what a token is. */
async function sync({ url, fetch }: Place, token: string): Promise<DavChanges | undefined> {
  const changed = new Map<string, string | undefined>();
  const gone = new Set<string>();
  const props = { "d:getetag": {} };
  let next = token;
  for (let part = 0; part < MAX_PARTS; part++) {
    const responses = await syncCollection({ url, fetch, props, syncLevel: 1, syncToken: next });
    const given = tokenOf(responses);
    if (given === undefined) return undefined;
    next = given;
    for (const { href, status, props: found } of responses) {
      if (href === undefined) continue;
      const path = pathOf(href, url);
      if (status === 404) gone.add(path);
      else if (!path.endsWith("/")) changed.set(path, textOf(found?.["getetag"]));
    }
    // an answer that was cut off says so, and is gone on with from its own token (RFC 6578, 3.6)
    const isLast = responses.every(({ status }) => status !== 507);
    if (isLast) return { token: next, whole: token === "", changed, gone };
  }
  return undefined;
}

function tokenOf([first]: readonly DAVResponse[]): string | undefined {
  return first && textOf(multistatusOf(first)?.syncToken);
}

async function list({ url, fetch }: Place): Promise<DavChanges> {
  const props = { "d:getetag": {} };
  const responses = whole(await propfind({ url, depth: "1", props, fetch }));
  const changed = new Map<string, string | undefined>();
  for (const { href, props: found } of responses) {
    const path = pathOf(href ?? "", url);
    if (!path.endsWith("/")) changed.set(path, textOf(found?.["getetag"]));
  }
  return { token: undefined, whole: true, changed, gone: new Set() };
}

import { type DAVResponse, propfind, syncCollection } from "tsdav";
import { multistatusOf, pathOf, propertyText, responseParts } from "./dav-value.ts";

/** The changes in a collection, by the paths of its objects. */
export interface DavChanges {
  /** The sync token for the next request. */
  readonly token: string | undefined;
  /** True if `changed` lists all existing objects. */
  readonly whole: boolean;
  /** ETags by path. */
  readonly changed: ReadonlyMap<string, string | undefined>;
  readonly deletedPaths: ReadonlySet<string>;
}

interface Place {
  readonly url: string;
  readonly fetch: typeof fetch;
}

/** Maximum parts of one answer. */
const MAX_PARTS = 100;

/**
 * The changes since a token (RFC 6578); everything without a token, or if the server no longer
 * knows it. A server without tokens lists all ETags.
 */
export async function changesSince(place: Place, token: string | undefined): Promise<DavChanges> {
  const known = token === undefined ? undefined : await sync(place, token);
  return known ?? (await sync(place, "")) ?? list(place);
}

/** `undefined` if the server does not know the token, or does not support tokens. */
async function sync({ url, fetch }: Place, token: string): Promise<DavChanges | undefined> {
  const changed = new Map<string, string | undefined>();
  const deletedPaths = new Set<string>();
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
      if (status === 404) deletedPaths.add(path);
      else if (!path.endsWith("/")) changed.set(path, propertyText(found?.["getetag"]));
    }
    // a truncated answer says so, and is continued with its own token (RFC 6578, 3.6)
    const isLast = responses.every(({ status }) => status !== 507);
    if (isLast) return { token: next, whole: token === "", changed, deletedPaths };
  }
  return undefined;
}

function tokenOf([first]: readonly DAVResponse[]): string | undefined {
  return first && propertyText(multistatusOf(first)?.syncToken);
}

async function list({ url, fetch }: Place): Promise<DavChanges> {
  const props = { "d:getetag": {} };
  const responses = responseParts(await propfind({ url, depth: "1", props, fetch }));
  const changed = new Map<string, string | undefined>();
  for (const { href, props: found } of responses) {
    const path = pathOf(href ?? "", url);
    if (!path.endsWith("/")) changed.set(path, propertyText(found?.["getetag"]));
  }
  return { token: undefined, whole: true, changed, deletedPaths: new Set() };
}

import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { json } from "node:stream/consumers";
import type { Config } from "../../host/config/schema.ts";
import type { RunOptions } from "../../host/options.ts";

const ANSWER_DEADLINE_MS = 3_000;
/** Wildcard addresses: valid for listening, not for connecting. */
const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The health report of a running host. */
export interface Health {
  readonly url: string;
  readonly status: "pass" | "warn" | "fail";
  readonly modules: { readonly active: number; readonly failed: number };
}

/** Requests the health of the host at its configured address; `undefined` if no Mantel answers there. */
export async function requestHealth(
  { address, port }: RunOptions,
  { server }: Config,
): Promise<Health | undefined> {
  const reached = WILDCARDS[address] ?? address;
  const name = reached.includes(":") ? `[${reached}]` : reached;
  const url = `http${server.tls ? "s" : ""}://${name}:${port}`;
  try {
    const api = (await read(`${url}/api`)) as { name?: string; links: { health: string } };
    if (api.name !== "mantel") return undefined;
    return { url, ...((await read(url + api.links.health)) as Omit<Health, "url">) };
  } catch {
    return undefined; // nothing, or another program
  }
}

/** Skips the certificate check, because the certificate may be for a name or from this home's own authority. */
function read(url: string): Promise<unknown> {
  const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS);
  const options = { signal, agent: false, rejectUnauthorized: false } as const;
  return new Promise((resolve, reject) => {
    const get = url.startsWith("https:") ? getHttps : getHttp;
    get(url, options, (response) => void json(response).then(resolve, reject)).once(
      "error",
      reject,
    );
  });
}

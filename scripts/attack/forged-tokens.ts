import { Agent, type OutgoingHttpHeaders, request } from "node:http";

const AT_ONCE = 16;
/** The allowed answers to a request without a valid token. */
const REFUSALS = new Set([400, 401, 404, 421]);

/** An operation of the API, as its OpenAPI document has it. */
interface Operation {
  readonly method: string;
  readonly path: string;
}

/** Ways to write a path that a router and a check before it could read differently. */
const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  plain: (path) => path,
  "slash behind": (path) => `${path}/`,
  "slash twice": (path) => `/${path}`,
  capitals: (path) => path.toUpperCase(),
  "escaped letter": (path) => path.replace(/[a-z](?=[^/]*$)/, (letter) => escaped(letter)),
  "escaped slash": (path) => path.replace(/(?!^)\//, "%2F"),
  "dot segment": (path) => path.replace(/(?!^)\//, "/./"),
  "dots from a public path": (path) => `/api/v1/health/../${path.slice("/api/v1/".length)}`,
  "escaped dots": (path) => `/assets/%2e%2e${path}`,
  parameter: (path) => `${path};a=b`,
  "null byte": (path) => `${path}%00`,
  "public path behind": (path) => `${path}?/api`,
  "other method": (path) => path,
};

export interface ForgeryCount {
  readonly asked: number;
  readonly kinds: number;
  readonly operations: number;
  /** `method path: kind as place` of each request that was not refused. */
  readonly accepted: string[];
}

type Place = "header" | "cookie";

/** The ways in which a request carries a token. A cookie comes with the origin of the dashboard itself. */
const HEADERS: Readonly<Record<Place, (token: string, url: URL) => OutgoingHttpHeaders>> = {
  header: (token) => ({ authorization: `Bearer ${token}` }),
  cookie: (token, { origin, port }) => ({ origin, cookie: `mantel_session_${port}=${token}` }),
};

/** Signs in as a browser does, and gives the token in the cookie. */
export async function openSession(url: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, origin: new URL(url).origin };
  const answer = await fetch(`${url}/api/v1/session`, { method: "POST", headers });
  return /=([^;]+)/.exec(answer.headers.getSetCookie().join())?.[1] ?? "";
}

/** The status of a read with a token in one of the two places. */
export async function readStatusWithToken(
  url: string,
  place: Place,
  token: string,
): Promise<number> {
  const headers = new Headers(HEADERS[place](token, new URL(url)) as Record<string, string>);
  return (await fetch(`${url}/api/v1/config`, { headers })).status;
}

/** Tries every forged token on every operation that needs one, in every spelling, as header and as cookie. */
export async function tryForgeries(
  url: string,
  good: string,
  forged: Readonly<Record<Place, Readonly<Record<string, string>>>>,
): Promise<ForgeryCount> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const operations = await readOperations(url, good);
  const accepted: string[] = [];
  const attempts: (() => Promise<void>)[] = [];
  for (const [spelling, spell] of Object.entries(SPELLINGS)) {
    for (const { method, path } of operations) {
      const target = { method: spelling === "other method" ? "HEAD" : method, path: spell(path) };
      for (const place of ["header", "cookie"] as const) {
        for (const [kind, token] of Object.entries(forged[place])) {
          const headers = HEADERS[place](token, new URL(url));
          attempts.push(async () => {
            const status = await send(url, agent, { ...target, headers });
            const what = `${method} ${target.path}: ${kind} as ${place}: ${status}`;
            if (!REFUSALS.has(status)) accepted.push(what);
          });
        }
      }
    }
  }
  const asked = attempts.length;
  await Promise.all(Array.from({ length: AT_ONCE }, () => workThrough(attempts)));
  agent.destroy();
  return {
    asked,
    kinds: Object.keys(forged.header).length,
    operations: operations.length,
    accepted,
  };
}

async function workThrough(attempts: (() => Promise<void>)[]): Promise<void> {
  for (let next = attempts.pop(); next; next = attempts.pop()) await next();
}

async function readOperations(url: string, good: string): Promise<Operation[]> {
  const headers = { authorization: `Bearer ${good}` };
  const answer = await fetch(`${url}/api/v1/openapi.json`, { headers });
  const { paths } = (await answer.json()) as {
    paths: Record<string, Record<string, { security: object[] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.length > 0)
      .map(([method]) => ({
        method: method.toUpperCase(),
        path: path.replace("{id}", "demo:light:1").replace(/\{\w+\}/, "1"),
      })),
  );
}

interface Attempt extends Operation {
  readonly headers: OutgoingHttpHeaders;
}

/** The status, also of a stream that would not end by itself. */
function send(url: string, agent: Agent, { method, path, headers }: Attempt): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { hostname, port, agent, method, path, headers };
    request(options, (response) => {
      const status = response.statusCode ?? 0;
      response.on("end", () => resolve(status)).resume();
      if (status === 200) resolve(status);
    })
      .on("error", reject)
      .end();
  });
}

function escaped(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`;
}

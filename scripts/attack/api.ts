import type { Target } from "./target.ts";

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  /** The cookie that it sets, as a browser sends it back; empty if it sets none. */
  readonly cookie: string;
  readonly body: Body;
}

/** The parts of answers that attacks look at: the code of a problem, who is signed in, and a new token. */
type Body = Readonly<Partial<Record<"code" | "name" | "token", string>>>;

/** Sends a request with these headers, and `json` as its body if there is one. */
export async function send(
  url: string,
  method: string,
  { headers = {}, json }: { headers?: Readonly<Record<string, string>>; json?: unknown } = {},
): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(json === undefined ? {} : { "content-type": "application/json" }) },
    body: json === undefined ? null : JSON.stringify(json),
  });
  const body = (await answer.json().catch(() => ({}))) as Body;
  const [cookie = ""] = answer.headers.getSetCookie().join().split(";");
  return { status: answer.status, cookie, body };
}

/** Does something as an admin does it. @throws Error when the host refuses it */
export async function ask(
  { url, token }: Target,
  method: string,
  path: string,
  json?: unknown,
): Promise<Body> {
  const headers = { authorization: `Bearer ${token}` };
  const { status, body } = await send(`${url}/api/v1${path}`, method, { headers, json });
  if (status < 400) return body;
  throw new Error(`${method} ${path} was answered ${status}: ${JSON.stringify(body)}`);
}

/** The token of a link that signs one browser in. */
export async function makeLink(target: Target, name: string, scope = "control"): Promise<string> {
  const { token = "" } = await ask(target, "POST", "/tokens", { name, scope: [scope] });
  return token;
}

import { Agent } from "node:http";
import type * as fc from "fast-check";
import {
  type HttpAnswer,
  faultsOfAnswer,
  type Operation,
  operationsOf,
  schemaFaults,
} from "./document.ts";
import { type CallerKind, type FuzzedRequest, requestsTo } from "./requests.ts";
import { send } from "./send.ts";

const MAX_SOCKETS = 10;
/** While the host restarts, other requests have no answer. */
const LEFT_OUT = "/api/v1/restart";

export interface FuzzTarget {
  readonly url: string;
  /** Returns a currently valid token; requests of the fuzzer can revoke earlier ones. */
  readonly token: (asking: "admin" | "edit" | "read") => Promise<string>;
}

/** Sends requests to all operations of a host and checks the answers. */
export interface HttpFuzz {
  readonly requests: fc.Arbitrary<FuzzedRequest>;
  /** The number of answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** @throws Error if the answer does not match the OpenAPI document */
  readonly judge: (request: FuzzedRequest) => Promise<void>;
  readonly close: () => void;
}

/** Creates a fuzzer from the host's OpenAPI document alone. */
export async function openHttpFuzz(fuzzed: FuzzTarget): Promise<HttpFuzz> {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const statuses = new Map<number, number>();
  const tokens = new Map<CallerKind, string>();
  const tokenOf = async (asking: CallerKind): Promise<string | undefined> => {
    if (asking === "nobody") return undefined;
    if (asking === "forger") return "eyJhbGciOiJub25lIn0.e30.";
    const token = tokens.get(asking) ?? (await fuzzed.token(asking));
    tokens.set(asking, token);
    return token;
  };
  return {
    requests: requestsTo(await readOperations(fuzzed)),
    statuses,
    async judge(request) {
      const token = await tokenOf(request.asking);
      const answer = await send(fuzzed.url, agent, { ...request, token });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 401) tokens.delete(request.asking);
      const faults = faultsOfExchange(request, answer);
      if (faults.length > 0) throw new Error(`${faults.join("; ")}\n${shown(request, answer)}`);
    },
    close: () => agent.destroy(),
  };
}

function shown({ operation, ...asked }: FuzzedRequest, { status, body }: HttpAnswer): string {
  const what = { operation: `${operation.method} ${operation.path}`, ...asked };
  return `${JSON.stringify(what)}\n${status} ${body}`;
}

async function readOperations({ url, token }: FuzzTarget): Promise<Operation[]> {
  const headers = { authorization: `Bearer ${await token("read")}` };
  const answer = await fetch(`${url}/api/v1/openapi.json`, { headers });
  return operationsOf(await answer.json()).filter(({ path }) => path !== LEFT_OUT);
}

function faultsOfExchange(asked: FuzzedRequest, answer: HttpAnswer): string[] {
  const { operation, method, body } = asked;
  if (method !== operation.method || !isItsPath(operation, asked.target)) {
    return answer.status >= 500 && answer.status !== 503 ? [`the status is ${answer.status}`] : [];
  }
  const accepted = answer.status < 300 && !isTaken(operation, body);
  return [
    ...faultsOfAnswer(operation, answer),
    ...(accepted ? ["a body that does not fit the documented schema was accepted"] : []),
  ];
}

function isItsPath({ path }: Operation, target: string): boolean {
  const pattern = path.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[^/?]+");
  return new RegExp(`^${pattern}(\\?|$)`).test(target);
}

/** True if the document permits the body. */
function isTaken({ body: schema, needsBody }: Operation, body: string | undefined): boolean {
  if (!schema) return true;
  if (!body) return !needsBody;
  return schemaFaults(schema, JSON.parse(body)).length === 0;
}

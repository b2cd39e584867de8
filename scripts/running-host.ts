import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Tokens } from "../host/auth/tokens.ts";
import type { ConfigStore } from "../host/config/store.ts";
import type { HostLog } from "../host/log.ts";

/** Long enough for an installation; the token is revoked at the end. */
const TOKEN_SECONDS = 3_600;
const DEADLINE_MS = 15 * 60_000;

export interface RunningHostOptions {
  readonly data: string;
  readonly port: number;
  readonly config: ConfigStore;
  readonly log: HostLog;
}

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** The API of a running host, with a token that lasts as long as the command. */
export interface RunningHost {
  /** @throws Error with the host's sentence */
  readonly ask: (request: Ask) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** Opens the API of the host that uses a data folder. `command` is a part of the token's name. */
export async function openRunningHost(
  command: string,
  scope: "read" | "admin",
  { data, port, config, log }: RunningHostOptions,
): Promise<RunningHost> {
  const tokens = await Tokens.open({ dataFolder: data, log });
  const name = `${command}-command-${randomBytes(3).toString("hex")}`;
  const token = await tokens.issue({ name, scope: [scope], ttlSeconds: TOKEN_SECONDS });
  const { prefix } = config.current.api;
  const isTls = config.current.server.tls !== undefined;
  const ca = isTls ? await readFile(join(data, "tls/ca.pem")).catch(() => undefined) : undefined;

  const ask = async ({ method, path, body }: Ask): Promise<unknown> => {
    const send = isTls ? httpsRequest : httpRequest;
    const outgoing = send({
      host: "127.0.0.1",
      port,
      method,
      path: `${prefix}${path}`,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      timeout: DEADLINE_MS,
      ...(ca ? { ca, servername: "localhost" } : {}),
    });
    const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
      outgoing.on("error", reject);
      outgoing.on("timeout", () => outgoing.destroy(new Error("the host does not answer")));
      outgoing.on("response", (response) => {
        text(response).then(
          (read) => resolve({ status: response.statusCode ?? 0, body: read }),
          reject,
        );
      });
    });
    outgoing.end(body && JSON.stringify(body));
    return parseAnswer(await answer.catch((error: Error) => failUnreachable(port, error)));
  };
  return { ask, close: async () => void (await tokens.revoke(name)) };
}

function parseAnswer({ status, body }: { status: number; body: string }): unknown {
  const value = body === "" ? undefined : (JSON.parse(body) as unknown);
  if (status < 400) return value;
  const { detail = `the host answered ${status}` } = (value ?? {}) as { detail?: string };
  if (status === 401)
    throw new Error(`${detail}; is this the data folder of the host at this port?`);
  throw new Error(detail);
}

function failUnreachable(port: number, error: Error): never {
  throw new Error(
    `the host of this data folder does not answer at port ${port} (${error.message}); pass its port with --port`,
  );
}

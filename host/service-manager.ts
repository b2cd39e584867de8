import { execFile } from "node:child_process";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import type { HostLog } from "./log.ts";

/** systemd's own program: Node has no datagram sockets with a path, which the protocol asks for. */
const PROGRAM = "systemd-notify";
const NOTIFY_DEADLINE_MS = 5_000;
const ANSWER_DEADLINE_MS = 5_000;

interface Health {
  readonly modules: { readonly active: number; readonly failed: number };
}

/** What started the host, as far as it wants to know how the host is (sd_notify(3)). */
export interface ServiceManager {
  /** The host answers at `healthUrl`, and is looked after from now on. */
  ready(healthUrl: string): Promise<void>;
  /** The host ends because it was asked to. */
  stopping(): Promise<void>;
}

/**
 * Takes its variables out of `environment`, so that no child speaks in the host's name. Without
 * `NOTIFY_SOCKET` nobody wants to know, and nothing is told.
 *
 * Where the manager has a watchdog (sd_watchdog_enabled(3)), it hears twice in its time that the host is
 * well, which is when a request from outside would be answered. A host that does not hear itself is
 * silent, and the manager starts another. A failed module is no reason: the host looks after modules.
 */
export function openServiceManager(environment: NodeJS.ProcessEnv, log: HostLog): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: micros, WATCHDOG_PID: pid } = environment;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete environment[name];
  const notify = notifier(socket, log);
  const isForUs = pid === undefined || pid === String(process.pid);
  const everyMs = isForUs && /^[1-9]\d*$/.test(micros ?? "") ? Number(micros) / 2_000 : undefined;
  let beating: NodeJS.Timeout | undefined;
  return {
    async ready(healthUrl) {
      const beat = async () => notify("WATCHDOG=1", statusOf(await askHealth(healthUrl)));
      const missed = (error: Error) =>
        log.error("the host does not answer itself, and no sign of life is given", { error });
      if (everyMs !== undefined && socket) {
        beating = setInterval(() => void beat().catch(missed), everyMs).unref();
      }
      await notify("READY=1", statusOf(await askHealth(healthUrl).catch(() => undefined)));
    },
    async stopping() {
      clearInterval(beating);
      await notify("STOPPING=1", "STATUS=answers what is in flight, and ends its modules");
    },
  };
}

/** The state is told in a child, which needs `NotifyAccess=all`. A manager that is not told is no fault. */
function notifier(socket: string | undefined, log: HostLog) {
  let isTold = false;
  return async (...assignments: string[]): Promise<void> => {
    if (!socket) return;
    const env = { PATH: process.env["PATH"], NOTIFY_SOCKET: socket };
    try {
      await promisify(execFile)(PROGRAM, assignments, { env, timeout: NOTIFY_DEADLINE_MS });
    } catch (error) {
      if (!isTold) log.warn("the service manager cannot be told how the host is", { error });
      isTold = true;
    }
  };
}

function statusOf(health: Health | undefined): string {
  if (!health) return "STATUS=answers";
  const { active, failed } = health.modules;
  return `STATUS=${active} modules work${failed > 0 ? `, ${failed} have failed` : ""}`;
}

/** Asks as any client would, on a connection of its own. The host's own certificate may be for a name. */
function askHealth(url: string): Promise<Health> {
  const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS);
  const options = { signal, agent: false, rejectUnauthorized: false } as const;
  return new Promise((resolve, reject) => {
    const request = url.startsWith("https:")
      ? requestHttps(url, options)
      : requestHttp(url, options);
    request.once("response", (response) => {
      if (response.statusCode === 200)
        json(response).then((body) => resolve(body as Health), reject);
      else reject(new Error(`${url} answers with ${response.statusCode}`));
    });
    request.once("error", reject);
    request.end();
  });
}

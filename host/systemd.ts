import { execFile } from "node:child_process";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import type { HostLog } from "./log.ts";

/** systemd's own program: the protocol needs datagram sockets with a path, which Node does not have. */
const PROGRAM = "systemd-notify";
const NOTIFY_DEADLINE_MS = 5_000;
const ANSWER_DEADLINE_MS = 5_000;

interface Health {
  readonly modules: { readonly active: number; readonly failed: number };
}

/** The service manager that started the host, as far as it accepts notifications (sd_notify(3)). */
export interface Systemd {
  /** Reports that the host answers at `healthUrl`, and starts the watchdog. */
  ready(healthUrl: string): Promise<void>;
  /** Reports that the host will be ready again, and postpones the watchdog by one interval. */
  restarting(): Promise<void>;
  /** Reports that the host stops as requested. */
  stopping(): Promise<void>;
}

/**
 * Removes its variables from `environment`, so that no child process notifies in the host's name. Does nothing without
 * `NOTIFY_SOCKET`.
 *
 * With a watchdog (sd_watchdog_enabled(3)), it notifies the manager twice per watchdog interval,
 * as long as a request from outside would be answered. If the host does not answer itself, it
 * stays silent, and the manager restarts it. A failed module does not cause that: the host restarts modules.
 */
export function openSystemd(environment: NodeJS.ProcessEnv, log: HostLog): Systemd {
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
        log.error("the host does not answer its own health check; the watchdog is not notified", {
          error,
        });
      if (everyMs !== undefined && socket) {
        clearInterval(beating);
        beating = setInterval(() => void beat().catch(missed), everyMs).unref();
      }
      await notify("READY=1", statusOf(await askHealth(healthUrl).catch(() => undefined)));
    },
    async restarting() {
      clearInterval(beating);
      await notify("WATCHDOG=1", "STATUS=restarting, as requested");
    },
    async stopping() {
      clearInterval(beating);
      await notify("STOPPING=1", "STATUS=finishing requests in flight and stopping modules");
    },
  };
}

/** Sends notifications through a child process, which needs `NotifyAccess=all`. A failure is only logged. */
function notifier(socket: string | undefined, log: HostLog) {
  let isTold = false;
  return async (...assignments: string[]): Promise<void> => {
    if (!socket) return;
    const env = { PATH: process.env["PATH"], NOTIFY_SOCKET: socket };
    try {
      await promisify(execFile)(PROGRAM, assignments, { env, timeout: NOTIFY_DEADLINE_MS });
    } catch (error) {
      if (!isTold) log.warn("could not notify the service manager", { error });
      isTold = true;
    }
  };
}

function statusOf(health: Health | undefined): string {
  if (!health) return "STATUS=answers";
  const { active, failed } = health.modules;
  return `STATUS=${active} modules work${failed > 0 ? `, ${failed} have failed` : ""}`;
}

/**
 * Requests the health check as any client would, on its own connection. It accepts every certificate, because the
 * host's may name another address.
 */
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

import { signal, type ReadonlySignal } from "@preact/signals-core";
import { type Api, ApiError } from "../api.ts";
import { originForPhones } from "./reachable-origin.ts";

/** The state of this screen's pairing. Phones can open `link`; absent if the host listens on loopback only. */
export type PairingState =
  | { readonly step: "asking" }
  | { readonly step: "shown"; readonly code: string; readonly link: string | undefined }
  | { readonly step: "denied" }
  | { readonly step: "away" };

interface Started {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUriComplete: string;
  readonly address?: string | null;
  readonly intervalSeconds: number;
}

const TRY_AGAIN_MS = 5_000;

/**
 * Requests a code, and a new one whenever it expires, until a user approves this screen (RFC 8628).
 * `onToken` is called once.
 */
export function waitForApproval(
  api: Api,
  onToken: (token: string) => void,
): { state: ReadonlySignal<PairingState>; again: () => void } {
  const state = signal<PairingState>({ step: "asking" });
  const run = async (): Promise<void> => {
    for (;;) {
      try {
        const started = await api.post("/pairing");
        const origin = originForPhones(location, started.address);
        const link = origin && new URL(started.verificationUriComplete, origin).href;
        state.value = { step: "shown", code: started.userCode, link };
        return onToken(await collect(api, started));
      } catch (error) {
        const code = error instanceof ApiError ? error.code : "internal";
        if (code === "access_denied") return void (state.value = { step: "denied" });
        if (code === "expired_token") continue;
        state.value = { step: "away" };
        await pause((error as Partial<ApiError>).retryAfterMs ?? TRY_AGAIN_MS);
      }
    }
  };
  void run();
  return { state, again: () => void run() };
}

/** Resolves with the token. @throws ApiError `access_denied`, `expired_token` */
async function collect(api: Api, { deviceCode, intervalSeconds }: Started): Promise<string> {
  let waitMs = intervalSeconds * 1000;
  for (;;) {
    await pause(waitMs);
    try {
      return (await api.post("/pairing/token", { deviceCode })).token;
    } catch (error) {
      if (!(error instanceof ApiError) || !isPassing(error)) throw error;
      waitMs = error.retryAfterMs ?? waitMs;
    }
  }
}

/** True for temporary failures, such as a network interruption: the same code is polled again. */
function isPassing({ code, status }: ApiError): boolean {
  return (
    ["authorization_pending", "slow_down", "offline", "rate_limited"].includes(code) ||
    status >= 500
  );
}

/** Waits. A hidden screen keeps waiting, and requests no codes. */
async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (!document.hidden) return;
  await new Promise((resolve) =>
    document.addEventListener("visibilitychange", resolve, { once: true }),
  );
}

import { ReasonCodes } from "mqtt";
import { MantelError } from "../errors.ts";

/** Codes of a refused connection that say "wrong version": MQTT 3.1.1, 3.2.2.3, and MQTT 5, 3.2.2.2. */
const VERSION_CODES = new Set<unknown>([1, 132]);
/** Those that say "wrong user name or password". */
const CREDENTIAL_CODES = new Set<unknown>([4, 5, 134, 135]);

/** What a connection that closed without an answer fails with. */
export const HUNG_UP = "the broker hung up without an answer";

/** True when the broker did not understand MQTT 5: some say so, and some only hang up. */
export function speaksOlderMqtt(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: string };
  return VERSION_CODES.has(code) || message === HUNG_UP;
}

/** Why there is no connection, in a sentence for people. Credentials in the address stay out of it. */
export function awayReason(error: unknown, url: string | undefined): string {
  const { code, message } = error as { code?: unknown; message: string };
  if (url === undefined || error instanceof MantelError) return message;
  const { host, hostname } = new URL(url);
  if (CREDENTIAL_CODES.has(code)) return `${host} refuses the user name or the password`;
  switch (code) {
    case "ECONNREFUSED":
      return `nothing listens at ${host}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name ${hostname} cannot be resolved`;
  }
  if (typeof code === "string" && /CERT|SELF_SIGNED|VERIFY|ISSUER|TLS/.test(code)) {
    return `the certificate of ${host} is not trusted (${code}); the option ca names whom to trust`;
  }
  return `${host} cannot be reached: ${message}`;
}

/** What the broker, or the client library, has against `what`: one publish, or a subscription. */
export function refusal(error: Error, what: string): MantelError {
  const { code } = error as { code?: unknown };
  if (typeof code !== "number" || code < 128) {
    return new MantelError("broker_down", `the broker did not take ${what}: ${error.message}`);
  }
  const reason = ReasonCodes[code as keyof typeof ReasonCodes] ?? "no reason given";
  return new MantelError(
    "broker_refused",
    `the broker refused ${what}: ${reason.toLowerCase()} (${code})`,
  );
}

import { ReasonCodes } from "mqtt";
import { MantelError } from "../errors.ts";

/** CONNACK codes for an unsupported protocol version: MQTT 3.1.1, 3.2.2.3, and MQTT 5, 3.2.2.2. */
const VERSION_CODES = new Set<unknown>([1, 132]);
/** CONNACK codes for a wrong user name or password. */
const CREDENTIAL_CODES = new Set<unknown>([4, 5, 134, 135]);

/** The error message for a connection that was closed before CONNACK. */
export const HUNG_UP = "the broker closed the connection without an answer";

/** True if the broker may not support MQTT 5. Some brokers report it, others only close the connection. */
export function speaksOlderMqtt(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: string };
  return VERSION_CODES.has(code) || message === HUNG_UP;
}

/** The user-facing reason for a missing connection. It never contains credentials from the address. */
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
    return `the certificate of ${host} is not trusted (${code}); set the option "ca" to the certificate to trust`;
  }
  return `${host} cannot be reached: ${message}`;
}

/** Converts an error of the broker or the client library about `what`, such as a publish or a subscription. */
export function refusal(error: Error, what: string): MantelError {
  const { code } = error as { code?: unknown };
  if (typeof code !== "number" || code < 128) {
    return new MantelError("broker_down", `the broker did not accept ${what}: ${error.message}`);
  }
  const reason = ReasonCodes[code as keyof typeof ReasonCodes] ?? "no reason given";
  return new MantelError(
    "broker_refused",
    `the broker refused ${what}: ${reason.toLowerCase()} (${code})`,
  );
}

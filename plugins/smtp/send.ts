import { setTimeout as delay } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk";
import type { SMTPError } from "nodemailer/lib/smtp-connection";
import type { Options } from "./options.ts";

/** The longest wait for the server, from each of its answers to the next. */
const SILENCE_MS = 4_000;
/** The waits before further attempts. All attempts to reach a server stay within the ten seconds that the host waits. */
const RETRY_MS = [300, 1_200];
const MAX_MESSAGE_CHARACTERS = 100_000;
const MAX_SUBJECT_CHARACTERS = 100;
const MAX_REASON_CHARACTERS = 300;

/** Failures before the server had the message, by nodemailer's codes. After others it may have accepted it. */
const UNREACHED = new Set(["EDNS", "ECONNECTION"]);

/** A message for one or more addresses. */
export interface Message {
  readonly to: readonly string[];
  readonly message: string;
}

/**
 * Sends a mail (RFC 5321). A server that cannot be reached, or that asks to try again later (4yz, RFC 5321, 4.2.1), is
 * tried again twice.
 * @throws MantelError `service_unavailable` with the reason
 */
export async function send(config: Options, message: Message, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const failure = await attemptOf(config, message);
    if (failure === undefined) return;
    const wait = RETRY_MS[attempt];
    if (!mayPass(failure) || wait === undefined || signal.aborted) {
      const reason = `the message was not sent: ${reasonOf(config, failure)}`;
      throw new MantelError("service_unavailable", reason);
    }
    await delay(wait, undefined, { signal }).catch(() => undefined);
  }
}

async function attemptOf(
  config: Options,
  { to, message }: Message,
): Promise<SMTPError | undefined> {
  const { createTransport } = await import("nodemailer"); // for the first mail; homes that send none save its memory
  const transport = createTransport({ ...connectionOf(config), ...waits() });
  try {
    await transport.sendMail({
      from: config.from,
      to: [...to],
      subject: subjectOf(config.title, message),
      text: message.slice(0, MAX_MESSAGE_CHARACTERS),
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return undefined;
  } catch (error) {
    return error as SMTPError;
  } finally {
    transport.close();
  }
}

/** The server with TLS. Without a password it may be a server at home that has no certificate. */
function connectionOf({ server, user, password }: Options) {
  const { protocol, hostname, port } = new URL(server);
  const secure = protocol === "smtps:";
  const hasAccount = user !== undefined && password !== undefined;
  return {
    host: hostname.replaceAll(/[[\]]/g, ""),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: hasAccount,
    tls: { minVersion: "TLSv1.2" as const },
    ...(hasAccount && { auth: { user, pass: password } }),
  };
}

function waits() {
  return {
    dnsTimeout: SILENCE_MS,
    connectionTimeout: SILENCE_MS,
    greetingTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
  };
}

/** The heading and the beginning of the first line. */
function subjectOf(title: string, message: string): string {
  const [line = ""] = message.trim().split(/[\r\n]/, 1);
  const subject = title === "" ? line : `${title}: ${line}`;
  if (subject.length <= MAX_SUBJECT_CHARACTERS) return subject;
  return `${subject.slice(0, MAX_SUBJECT_CHARACTERS - 1).toWellFormed()}…`;
}

function mayPass({ code = "", responseCode = 0 }: SMTPError): boolean {
  return UNREACHED.has(code) || (responseCode >= 400 && responseCode < 500);
}

function reasonOf({ server }: Options, error: SMTPError): string {
  const { code, response, message } = error;
  const words = (response ?? message).slice(0, MAX_REASON_CHARACTERS);
  if (code === "EAUTH") return `${server} refused user name and password (${words})`;
  // nodemailer does not keep the code of a certificate that is refused.
  const isTls = code === "ETLS" || /certificate|altnames/i.test(message);
  if (isTls) return `${server} has no TLS with a valid certificate (${words})`;
  if (response !== undefined) return `${server} answered ${words}`;
  return `${server} cannot be reached (${words})`;
}

import type { Config } from "../../host/config/schema.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, fail } = findingsOf("broker");
const CONNECT_DEADLINE_MS = 5_000;
/** "Wrong user name or password" and "not authorized" (MQTT 3.1.1, 3.2.2.3). */
const CREDENTIAL_CODES = [4, 5];

/** Connects to the broker of the config, as Mantel would. */
export async function examineBroker({ mqtt }: Config): Promise<Finding[]> {
  if (mqtt.url === undefined) return [ok("uses Mantel's embedded broker")];
  const { host, protocol } = new URL(mqtt.url);
  const { connectAsync } = await import("mqtt");
  try {
    const client = await connectAsync(mqtt.url, {
      protocolVersion: 4,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_DEADLINE_MS,
      clientId: `mantel-doctor-${process.pid}`,
      ...(mqtt.username === undefined ? {} : { username: mqtt.username }),
      ...(mqtt.password === undefined ? {} : { password: mqtt.password }),
      ...(mqtt.ca === undefined ? {} : { ca: mqtt.ca }),
    });
    await client.endAsync(true);
    return [ok(`the broker at ${host} accepts the connection`)];
  } catch (error) {
    return [fail(...reasonOf(error, host, protocol))];
  }
}

/** The problem and its fix. Of the address only the host is shown, because it may contain credentials. */
function reasonOf(error: unknown, host: string, protocol: string): [says: string, todo: string] {
  const { code, message } = error as { code?: unknown; message: string };
  if (CREDENTIAL_CODES.includes(code as number)) {
    return [
      `the broker at ${host} refuses the user name or the password`,
      "correct mqtt.username and mqtt.password",
    ];
  }
  if (code === "ECONNREFUSED") {
    return [`nothing listens at ${host}`, "start the broker, or correct mqtt.url"];
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return [`the name ${host} cannot be resolved`, "correct mqtt.url, or use an IP address in it"];
  }
  if (/CERT|SELF_SIGNED|VERIFY|ISSUER/.test(String(code))) {
    return [
      `the certificate of ${host} is not trusted (${String(code)})`,
      "set mqtt.ca to the certificate of its authority",
    ];
  }
  return [
    `the broker at ${host} cannot be reached by ${protocol.slice(0, -1)}: ${message || String(code)}`,
    "check that it runs, that mqtt.url has the right port, and that no firewall blocks it",
  ];
}

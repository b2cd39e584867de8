import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import { type MqttPublish, mqttPublish } from "@mantel/plugin-sdk/services";
import { topicMatcher } from "@mantel/plugin-sdk/topic-filter";
import { beginningOf } from "@mantel/plugin-sdk/validation-errors";
import { Type, type Static } from "typebox";
import type { Audit } from "../auth/audit.ts";
import type { TokenIdentity } from "../auth/tokens.ts";
import type { HostLog } from "../log.ts";
import { faultsOf, invalid } from "../validate.ts";
import { isWellFormed, topicFaults } from "./topic.ts";

const PAYLOAD_BYTES = 256 * 1024;
const PUBLISH_DEADLINE_MS = 2_000;
const RETRY_AFTER_MS = 1_000;
/** Error codes of the service while the link to the broker is down or stuck. */
const LINK_DOWN = new Set(["service_unavailable", "module_down", "deadline_passed"]);

/** The body of a publish. Lengths are in bytes of UTF-8, which a schema cannot express. */
export const PublishRequest = Type.Object(
  {
    topic: Type.String({ description: "1 to 65,535 bytes, without wildcards" }),
    payload: Type.String({ description: "At most 256 KiB" }),
    qos: Type.Optional(Type.Enum([0, 1, 2], { default: 0 })),
    retain: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);

/** A published message; `bytes` is the size of the payload. */
export const PublishReceipt = Type.Object({
  topic: Type.String(),
  bytes: Type.Integer(),
  qos: Type.Enum([0, 1, 2]),
  retain: Type.Boolean(),
});
export type PublishReceipt = Static<typeof PublishReceipt>;

export interface PublisherDependencies {
  readonly config: {
    readonly current: { readonly mqtt: { readonly denyTopics: readonly string[] } };
  };
  /** Calls a service that a plugin provides. */
  readonly call: (
    service: typeof mqttPublish,
    input: MqttPublish,
    deadlineMs: number,
  ) => Promise<unknown>;
  readonly log: Pick<HostLog, "warn">;
  readonly audit: Audit;
}

/** Publishes for HTTP clients. Messages that a broker may reject are refused before a plugin sees them. */
export class Publisher {
  readonly #parts: PublisherDependencies;

  constructor(parts: PublisherDependencies) {
    this.#parts = parts;
  }

  /**
   * Resolves when the broker has acknowledged or, with QoS 0, when the message was sent.
   * The audit record is stored before that, so that none is missing.
   *
   * @throws MantelError `invalid`, `topic_denied`, `broker_refused`, `broker_down` within 2 s, `disk_full`
   */
  async publish(body: unknown, principal: TokenIdentity): Promise<PublishReceipt> {
    const message = parseMessage(body);
    const { topic, payload, qos, retain } = message;
    this.#refuseDenied(topic, principal);
    const bytes = Buffer.byteLength(payload);
    await this.#parts.audit.record(principal, { action: "mqtt.publish", topic, bytes });
    try {
      await this.#parts.call(mqttPublish, message, PUBLISH_DEADLINE_MS);
    } catch (error) {
      throw asBrokerDown(error);
    }
    return { topic, bytes, qos, retain };
  }

  #refuseDenied(topic: string, { sub, jti }: TokenIdentity): void {
    const { config, log } = this.#parts;
    const filter = config.current.mqtt.denyTopics.find((each) => topicMatcher(each)(topic));
    if (filter === undefined) return;
    log.warn("a publish was denied by the config", { sub, jti, filter });
    throw new MantelError(
      "topic_denied",
      `publishing to ${beginningOf(topic, 200)} is denied by ${filter} in mqtt.denyTopics`,
    );
  }
}

function parseMessage(body: unknown): MqttPublish {
  const errors = [...faultsOf(PublishRequest, body), ...textFaults(body ?? {})];
  if (errors.length > 0) throw invalid("the publish", errors);
  const { topic, payload, qos = 0, retain = false } = body as Static<typeof PublishRequest>;
  return { topic, payload, qos, retain };
}

/** The faults of topic and payload beyond the schema, for those that are texts. */
function textFaults({ topic, payload }: { topic?: unknown; payload?: unknown }): Fault[] {
  const ofTopic = typeof topic === "string" ? topicFaults(topic) : [];
  const ofPayload = typeof payload === "string" ? payloadFaults(payload) : [];
  return [
    ...ofTopic.map((detail) => ({ pointer: "/topic", detail })),
    ...ofPayload.map((detail) => ({ pointer: "/payload", detail })),
  ];
}

function payloadFaults(payload: string): string[] {
  const bytes = Buffer.byteLength(payload);
  return [
    ...(bytes > PAYLOAD_BYTES
      ? [`is ${bytes} bytes of UTF-8; it must be at most ${PAYLOAD_BYTES}`]
      : []),
    ...(isWellFormed(payload) ? [] : ["has a lone surrogate; it must be well-formed"]),
  ];
}

/** Reports a missing link as `broker_down`: for a client it is the same. */
function asBrokerDown(error: unknown): unknown {
  if (!(error instanceof MantelError) || !LINK_DOWN.has(error.code)) return error;
  return new MantelError("broker_down", `the link to the broker is down: ${error.message}`, {
    cause: error,
    retryAfterMs: RETRY_AFTER_MS,
  });
}

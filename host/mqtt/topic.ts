/** MQTT 5, 1.5.4: a text is preceded by its length in two bytes. */
const TOPIC_BYTES = 65_535;
/** The embedded broker matches at most this many; Mosquitto hangs up on more than 200. */
const TOPIC_LEVELS = 100;
const LONE_SURROGATE = /\p{Cs}/u;
/** Control characters and noncharacters: brokers may disconnect because of them (1.5.4). */
const UNSAFE = /[\p{Cc}\p{Noncharacter_Code_Point}]/u;

/** True if a text can be encoded in UTF-8: it has no lone surrogate. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** All faults of a topic for publishing, as phrases; empty if it is valid. */
export function topicFaults(topic: string): string[] {
  const bytes = Buffer.byteLength(topic);
  const levels = topic.split("/").length;
  const faults: [wrong: boolean, detail: string][] = [
    [topic === "", "is empty; it must have at least one character"],
    [bytes > TOPIC_BYTES, `is ${bytes} bytes of UTF-8; it must be at most ${TOPIC_BYTES}`],
    [levels > TOPIC_LEVELS, `has ${levels} levels; it must have at most ${TOPIC_LEVELS}`],
    [!isWellFormed(topic), "has a lone surrogate; it must be well-formed"],
    [UNSAFE.test(topic), "has a control character or a noncharacter; it must have neither"],
    [/[+#]/.test(topic), "has a wildcard; it must name one topic, without + and #"],
    [topic.startsWith("$"), "starts with $, which is reserved for the broker"],
  ];
  return faults.flatMap(([wrong, detail]) => (wrong ? [detail] : []));
}

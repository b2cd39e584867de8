import assert from "node:assert/strict";
import type { DeviceCommand } from "@mantel/plugin-sdk";
import { ComponentStates } from "../../../plugins/ha-discovery/component-state.ts";
import { placeOf, readAnnouncement } from "../../../plugins/ha-discovery/discovery.ts";
import { Payload } from "../../../plugins/ha-discovery/payload.ts";

/** A component as its announcement makes it, without a broker. */
export function component(platform: string, config: object) {
  const topic = `homeassistant/${platform}/thing/config`;
  const place = placeOf(topic, "homeassistant");
  assert.ok(place);
  const [announced] = readAnnouncement(topic, place, JSON.stringify(config)).components;
  assert.ok(announced);
  const garbage: string[] = [];
  const unusable: string[] = [];
  const known = new ComponentStates(announced, {
    clock: { now: () => 1e9, zone: "Europe/Berlin" },
    mayPublish: (target) => !target.startsWith("refused/"),
    onGarbage: (why) => garbage.push(why),
    onUnusable: (why) => unusable.push(why),
  });
  return {
    known,
    garbage,
    unusable,
    capabilities: known.handler.capabilities,
    names: Object.keys(known.handler.capabilities),
    /** The state after a payload. */
    tell(topicOf: string, payload: string | object, now = 0) {
      const text = typeof payload === "string" ? payload : JSON.stringify(payload);
      known.receive(topicOf, new Payload(text, false), now);
      return known.state;
    },
    /** Topics and payloads of a command. */
    ask(command: DeviceCommand): string[] {
      const messages = known.handler.write?.(command, known.state) ?? [];
      return messages.map(({ topic: to, payload }) => `${to} ${payload}`);
    },
  };
}

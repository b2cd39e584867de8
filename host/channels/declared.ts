import { CHANNEL_LIMITS, CHANNEL_SCOPES } from "@mantel/plugin-sdk/channel";
import { channelNameFault, LONGEST_CHANNEL_NAME } from "@mantel/plugin-sdk/channel-names";
import { type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import type { DeclaredChannel } from "@mantel/plugin-sdk/protocol";
import { Strict } from "@mantel/plugin-sdk/schema";
import { Type } from "typebox";
import { patternFaults } from "../config/pattern.ts";
import { JsonShape } from "../json-shape.ts";
import { check, invalid } from "../validate.ts";

/** Channels as a plugin's process reports them. */
export const Declared = Type.Object(
  {
    name: Type.String({ maxLength: LONGEST_CHANNEL_NAME }),
    schema: Type.Object({}),
    title: Type.String({ maxLength: 100 }),
    maxBytes: Type.Integer({ minimum: 1, maximum: CHANNEL_LIMITS.mostBytes }),
    scope: Type.Enum([...CHANNEL_SCOPES]),
    keep: Type.Boolean(),
  },
  Strict,
);
const DeclaredList = Type.Array(Declared, { maxItems: CHANNEL_LIMITS.channels });

/**
 * Checks the channels that a plugin's code declares. A plugin built with an earlier SDK has none.
 * @throws MantelError `invalid`, with every fault
 */
export function parseDeclaredChannels(given: unknown): readonly DeclaredChannel[] {
  const declared = check(DeclaredList, given ?? [], "the list of channels");
  const names = new Set<string>();
  for (const { name, schema } of declared) {
    const fault = names.has(name) ? "is declared twice" : channelNameFault(name);
    if (fault !== undefined) throw new MantelError("invalid", `the channel "${name}" ${fault}`);
    names.add(name);
    const faults = schemaFaults(schema);
    if (faults.length > 0) throw invalid(`the schema of the channel ${name}`, faults);
  }
  return declared;
}

function schemaFaults(schema: object): Fault[] {
  const json = Buffer.from(JSON.stringify(schema));
  const { schemaBytes, depth } = CHANNEL_LIMITS;
  if (json.length > schemaBytes) {
    return [{ pointer: "", detail: `has ${json.length} bytes, the limit is ${schemaBytes}` }];
  }
  // A level of a value takes up to three levels of its schema: `properties`, its name, `items`.
  if (new JsonShape().add(json).depth > 3 * depth)
    return [{ pointer: "", detail: "is nested too deep" }];
  return patternFaults(schema);
}

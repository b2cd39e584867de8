import { type CommandBody, DEVICE_KINDS, type DeviceKind } from "@mantel/plugin-sdk/device";
import type { RoomOrGroup } from "@mantel/plugin-sdk/widget";
import type { Box, DetailsTarget } from "../widget-context.ts";
import { type Check, record, textUpTo } from "./checks.ts";

/**
 * JSON messages from a frame to the dashboard. A frame may run hostile code, so each message is
 * checked.
 */
export type FromFrame =
  | { readonly kind: "ready" | "mounted" | "alive" | "touched" | "leave" }
  | {
      readonly kind: "refused" | "fault" | "uncaught";
      readonly message: string;
      readonly stack: string;
    }
  | {
      readonly kind: "command";
      readonly call: number;
      readonly device: string;
      readonly command: CommandBody;
    }
  | {
      readonly kind: "commandRoom";
      readonly call: number;
      readonly room: RoomOrGroup;
      readonly device: DeviceKind;
      readonly command: CommandBody;
    }
  | { readonly kind: "details"; readonly target: DetailsTarget; readonly box: Box }
  | { readonly kind: "scene"; readonly call: number; readonly scene: string }
  | { readonly kind: "read"; readonly call: number; readonly path: string }
  | {
      readonly kind: "service";
      readonly call: number;
      readonly name: string;
      readonly version: number;
      readonly input: unknown;
    }
  | { readonly kind: "cancel"; readonly call: number }
  | { readonly kind: "announce"; readonly text: string }
  | { readonly kind: "icon"; readonly name: string }
  | { readonly kind: "height"; readonly px: number }
  | { readonly kind: "definition"; readonly definition: Readonly<Record<string, unknown>> };

/**
 * Maximum length: a definition contains the texts of all languages; all other messages are much
 * smaller.
 */
const LONGEST = 256 * 1024;
const DEEPEST = 24;

const call: Check = (value) => Number.isSafeInteger(value);
const anything: Check = () => true;
const ICON: Check = (value) => typeof value === "string" && /^[a-z0-9-]{1,60}$/.test(value);
const pixels: Check = (value) => typeof value === "number" && value >= 0 && value <= 20_000;

const thrown = record({ message: textUpTo(1_000), stack: textUpTo(8_000) });
const place: Check = (value) => typeof value === "number" && Math.abs(value) <= 100_000;
const target: Check = (value) =>
  [{ device: textUpTo(300) }, { room: textUpTo(200) }, { group: textUpTo(200) }].some((shape) =>
    record(shape)(value),
  );
const roomOrGroup: Check = (value) =>
  textUpTo(200)(value) || record({ group: textUpTo(200) })(value);
const box = record({ x: place, y: place, width: pixels, height: pixels });
const KINDS: readonly unknown[] = DEVICE_KINDS;
const deviceKind: Check = (value) => KINDS.includes(value);

const SHAPES: ReadonlyMap<unknown, Check> = new Map<FromFrame["kind"], Check>([
  ["ready", record()],
  ["mounted", record()],
  ["alive", record()],
  ["touched", record()],
  ["leave", record()],
  ["refused", thrown],
  ["fault", thrown],
  ["uncaught", thrown],
  ["command", record({ call, device: textUpTo(300), command: record() })],
  ["commandRoom", record({ call, room: roomOrGroup, device: deviceKind, command: record() })],
  ["details", record({ target, box })],
  ["scene", record({ call, scene: textUpTo(300) })],
  ["read", record({ call, path: textUpTo(2_000) })],
  ["service", record({ call, name: textUpTo(100), version: call, input: anything })],
  ["cancel", record({ call })],
  ["announce", record({ text: textUpTo(500) })],
  ["icon", record({ name: ICON })],
  ["height", record({ px: pixels })],
  ["definition", record({ definition: record() })],
]);

/**
 * Parses a message from a frame. Only text is accepted; its length and depth are checked before
 * parsing.
 * @throws Error for an invalid message
 */
export function parseFromFrame(data: unknown): FromFrame {
  if (typeof data !== "string") throw new Error("not a text");
  if (data.length > LONGEST) throw new Error(`${data.length} characters long`);
  if (depthOf(data) > DEEPEST) throw new Error("too deep");
  const message: unknown = JSON.parse(data);
  const kind = record()(message) ? (message as { kind?: unknown }).kind : undefined;
  if (SHAPES.get(kind)?.(message)) return message as FromFrame;
  throw new Error(`not a known message: ${String(kind).slice(0, 40)}`);
}

/** The nesting depth of a JSON text. Brackets within strings do not count. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    else if (token === "]" || token === "}") depth--;
  }
  return deepest;
}

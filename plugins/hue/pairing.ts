import { setTimeout as delay } from "node:timers/promises";
import { MantelError, type SetupContext, Type } from "@mantel/plugin-sdk";
import { awayError } from "./bridge-error.ts";
import { Client, placeOf } from "./client.ts";
import type { FindBridges, FoundBridge } from "./discovery.ts";
import { ADDRESS, BRIDGE_ID, type Options } from "./options.ts";
import { shownAt } from "./pinned-agent.ts";
import { at, numberAt } from "./resources.ts";

const SEARCH_MS = 3_000;
const PRESS_MS = 120_000;
const ASK_EVERY_MS = 1_000;
/** Error code of the bridge until its button is pressed. */
const NOT_PRESSED = 101;
const ELSEWHERE = "elsewhere";

/** The part of a setup context that pairing uses. */
export type PairingContext = Pick<SetupContext<Options>, "config" | "signal" | "show" | "ask">;

/**
 * Pairs one bridge: finds it, pins its certificate, waits for its button, and returns the options
 * with it.
 * @throws MantelError `bridge_down`, `deadline_passed`
 */
export async function pair(context: PairingContext, find: FindBridges): Promise<Options> {
  context.show({ title: "Looking for bridges", text: "Those in this network say within seconds." });
  const found = await find(SEARCH_MS).catch(() => []); // the user can still type an address
  const address = await chooseAddress(context, found);

  context.show({ title: "Asking the bridge who it is", text: address });
  const { id, fingerprint } = await identify(address);
  const client = new Client({ id, fingerprint, address });
  const applicationKey = await waitForButton(context, client);
  return { bridges: { ...context.config.bridges, [id]: { address, fingerprint, applicationKey } } };
}

/** The field is named after the option, because its answer grants access to the host. */
const Typed = Type.Object({
  bridges: Type.String({
    title: "Address",
    description: "the IP address that the Hue app shows in its settings of the bridge",
    pattern: ADDRESS,
    maxLength: 253,
  }),
});

function choiceOf(found: readonly FoundBridge[]) {
  const choices = found.map(({ id, address }) =>
    Type.Literal(address, { title: `${id.slice(-6).toUpperCase()} at ${address}` }),
  );
  const elsewhere = Type.Literal(ELSEWHERE, { title: "Another address" });
  return Type.Object({ bridges: Type.Union([...choices, elsewhere], { title: "Bridge" }) });
}

async function chooseAddress(
  context: PairingContext,
  found: readonly FoundBridge[],
): Promise<string> {
  if (found.length > 0) {
    const { bridges } = await context.ask({ title: "Which bridge?", form: choiceOf(found) });
    if (bridges !== ELSEWHERE) return bridges;
  }
  const title = found.length > 0 ? "Where is it?" : "No bridge was found. Where is it?";
  return (await context.ask({ title, form: Typed })).bridges;
}

/** Identifies the bridge at an address by the id in its certificate and in its answer. */
async function identify(address: string): Promise<{ id: string; fingerprint: string }> {
  const { host, port } = placeOf(address);
  const pin = await shownAt(host, port).catch((error: unknown) => {
    throw awayError(error, undefined);
  });
  const client = new Client({ ...pin, address });
  try {
    const said = at(await client.call("GET", "/api/config"), "bridgeid");
    const id = typeof said === "string" ? said.toLowerCase() : "";
    if (id === pin.id && new RegExp(BRIDGE_ID).test(id)) return pin;
    throw new MantelError(
      "bridge_down",
      `the device at ${address} is not a trusted Hue bridge: its certificate is for ${pin.id || "nobody"}, and its id is ${id.slice(0, 40) || "missing"}`,
    );
  } finally {
    client.close();
  }
}

/** Requests a key until the button on the bridge is pressed. */
async function waitForButton(context: PairingContext, client: Client): Promise<string> {
  const begun = performance.now();
  try {
    for (;;) {
      const passedMs = performance.now() - begun;
      if (passedMs > PRESS_MS) {
        throw new MantelError("deadline_passed", "the button was not pressed: start again");
      }
      context.show({
        title: "Press the round button on the bridge",
        text: "The bridge then grants access to Mantel.",
        progress: Math.floor((passedMs / PRESS_MS) * 100),
      });
      const key = keyIn(await client.call("POST", "/api", { devicetype: "mantel#home" }));
      if (key !== undefined) return key;
      await delay(ASK_EVERY_MS, undefined, { signal: context.signal });
    }
  } finally {
    client.close();
  }
}

function keyIn(answer: unknown): string | undefined {
  const first: unknown = Array.isArray(answer) ? answer[0] : undefined;
  const key = at(first, "success", "username");
  if (typeof key === "string" && /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  if (numberAt(first, "error", "type") === NOT_PRESSED) return undefined;
  const said = at(first, "error", "description");
  const because = typeof said === "string" ? `: ${said.slice(0, 200)}` : "";
  throw new MantelError("bridge_down", `the bridge gives no key${because}`);
}

/**
 * Checks that each bridge is the paired one and accepts its key.
 * @throws MantelError for the first failure, with the bridge id
 */
export async function tryBridges({ bridges }: Options): Promise<string> {
  const ids = Object.keys(bridges);
  if (ids.length === 0) throw new MantelError("invalid", "no bridge is paired yet");
  const found = Object.entries(bridges).map(async ([id, options]) => {
    const client = new Client({ ...options, id });
    try {
      return `${id} answers, and has ${(await client.get("light")).length} lights`;
    } catch (error) {
      const { code, message } = awayError(error, undefined);
      throw new MantelError(code, `bridge ${id}: ${message}`, { cause: error });
    } finally {
      client.close();
    }
  });
  return (await Promise.all(found)).join("; ");
}

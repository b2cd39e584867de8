import { LONGEST_STALL_MS, type Proof } from "../proof.ts";

const MIB = 2 ** 20;

/** Attacks by messages to the host. */
export const CHANNEL: readonly Proof[] = [
  {
    name: "end the host by a call with an id of 8 MiB",
    heldFrom: "permission-model",
    attack: message(
      `'{"kind":"call","call":"' + "x".repeat(8 * ${MIB} - 60) + '","method":"nope"}'`,
    ),
    look: lookForHarm,
  },
  {
    name: "stall the host by 4 MB of nested brackets",
    heldFrom: "permission-model",
    attack: message(`'{"kind":"call","method":"log","input":' + "[".repeat(4_000_000) + "}"`),
    look: lookForHarm,
  },
  {
    name: "stall the host by 4 MB of nested brackets that are closed",
    heldFrom: "permission-model",
    attack: message(
      `'{"kind":"call","method":"log","input":' + "[".repeat(2_000_000) + "]".repeat(2_000_000) + "}"`,
    ),
    look: lookForHarm,
  },
  {
    name: "confuse the host by keys, kinds and types that no runtime sends",
    heldFrom: "permission-model",
    attack: [
      `'{"kind":"call","call":1,"method":"__proto__","input":{}}'`,
      `'{"kind":"call","call":{"toString":1},"method":"publish","input":{"__proto__":{"a":1}}}'`,
      `'{"kind":"failure","call":1,"error":{"code":"unauthorized","name":{},"message":[],"stack":{}}}'`,
      `'{"kind":"begun","call":-1}'`,
      `'null'`,
      `'{"kind":"call","call":1e999,"method":"log","input":{"level":"x","sentence":{"\\ud800":1}}}'`,
    ]
      .map(message)
      .join("\n"),
    look: lookForHarm,
  },
];

function message(text: string): string {
  return `
  writeToHost(${text} + "\\n");`;
}

async function lookForHarm(stage: Parameters<Proof["look"]>[0]): Promise<string | undefined> {
  await stage.waitUntil(async () => (await stage.get("/health")) !== undefined);
  if (!stage.isHostRunning) return "the host has ended";
  const { stalledMs } = stage;
  return stalledMs > LONGEST_STALL_MS ? `the host did not answer for ${stalledMs} ms` : undefined;
}

import { setTimeout as delay } from "node:timers/promises";
import { MantelError } from "../errors.ts";
import type { DeviceFunction } from "./device-function.ts";
import { type DeviceSession, wordsOf } from "./device-session.ts";
import { isSame, neighbours, type Setting } from "./values.ts";

const STALLED_MS = 100;

/** Checks that the state from before a command does not confirm it, also if it is close to what was requested. */
export async function checkStalled(session: DeviceSession): Promise<void> {
  if (session.device.assumed === true) return;
  for (const each of session.functions) {
    for (const setting of session.settingsOf(each)) {
      if (session.isExplained("untold", `${each.path}${setting.name}`)) continue;
      if (!(await stall(session, each, setting))) return;
    }
  }
}

/** Resolves with false if the device cannot be stalled. */
async function stall(
  session: DeviceSession,
  of: DeviceFunction,
  setting: Setting,
): Promise<boolean> {
  const [before, after] = neighbours(setting) ?? [];
  if (before === undefined || after === undefined) return true;
  const { name, capability } = setting;
  const path = `${of.path}${name}`;
  if (!(await session.confirms(of, name, { [name]: before }))) return true;
  const isThere = () => isSame(capability, before, session.state(of.path)[name]);
  if (!(await session.eventually(isThere))) return true; // another check has told
  const release = await session.bridge.stall?.(session.nativeId);
  if (!release) {
    session.cannot("stall");
    return false;
  }
  let answer: "none" | "confirmed" | "refused" = "none";
  const sent = session.send(of, { [name]: after }).then(
    () => void (answer = "confirmed"),
    (error: unknown) => {
      answer = "refused";
      const isLate = error instanceof MantelError && error.code === "deadline_passed";
      if (!isLate) session.fault(path, "that a late device confirms in the end", wordsOf(error));
    },
  );
  await delay(session.bridge.stalledMs ?? STALLED_MS);
  if ((answer as string) === "confirmed") {
    const expected = `that ${JSON.stringify(after)} is not confirmed before the device reports it`;
    const shown = JSON.stringify(session.state(of.path)[name]);
    session.fault(path, expected, `the command is confirmed while the device shows ${shown}`);
  }
  await release();
  await sent;
  const isDone = () => isSame(capability, after, session.state(of.path)[name]);
  if (await session.eventually(isDone)) return true;
  const shown = JSON.stringify(session.state(of.path)[name]);
  session.fault(path, `${JSON.stringify(after)} once the device reports it`, shown);
  return true;
}

import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { DeviceDescription } from "@mantel/plugin-sdk";
import { forEachElement } from "./json-elements.ts";
import { inSlices } from "./slices.ts";

const compress = promisify(gzip);
const decompress = promisify(gunzip);

const STORED_VERSION = 3;

/** The devices in storage. */
export interface StoredDevices {
  readonly version: typeof STORED_VERSION;
  /** A JSON list of the devices, compressed with gzip, as base64. */
  readonly devices: string;
}

/** Makes the stored form of devices. A list of 4,500 devices has 4 MB of JSON, so the work is done in slices. */
export async function storedOf(devices: readonly DeviceDescription[]): Promise<StoredDevices> {
  const texts: string[] = [];
  await inSlices(writeEach(devices, texts));
  const bytes = await compress(`[${texts.join(",")}]`);
  return { version: STORED_VERSION, devices: bytes.toString("base64") };
}

/** Reads devices from their stored form, in slices. Another version or a damaged list has none. */
export async function devicesIn(stored: unknown): Promise<DeviceDescription[]> {
  const { version, devices } = (stored ?? {}) as Partial<StoredDevices>;
  if (version !== STORED_VERSION || typeof devices !== "string") return [];
  const json = await decompress(Buffer.from(devices, "base64")).catch(() => Buffer.of());
  const read: DeviceDescription[] = [];
  await inSlices(readEach(json, read));
  return read;
}

function* writeEach(devices: readonly DeviceDescription[], to: string[]) {
  for (const device of devices) {
    to.push(JSON.stringify(device));
    yield;
  }
}

function* readEach(json: Buffer, to: DeviceDescription[]) {
  yield* forEachElement(json, (device) => {
    if (device !== undefined) to.push(device as DeviceDescription);
  });
}

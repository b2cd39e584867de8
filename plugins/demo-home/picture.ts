import { deflateSync } from "node:zlib";
import type { DeviceState } from "@mantel/plugin-sdk";

type Rgb = readonly [red: number, green: number, blue: number];

const WIDTH = 320;
const HEIGHT = 180;
const HORIZON = 96;
/** The brightness outside, in lx, at which the sky is as bright as it gets. */
const BRIGHT_LX = 400;

const NIGHT: Rgb = [18, 24, 48];
const DAY: Rgb = [150, 196, 235];
const LAWN: Rgb = [76, 122, 62];
const PATH: Rgb = [168, 158, 142];
const WALL: Rgb = [196, 178, 152];
const DOOR: Rgb = [112, 62, 40];
const LAMP_AT = { x: 248, y: 78 };
const CLOUD: Rgb = [236, 238, 242];
const CLOUD_WIDTH = 60;
/** In pixels per second. */
const CLOUD_SPEED = 6;
const LAMP: Rgb = [255, 222, 140];

/** The parts of the home that the camera sees. */
export interface Scenery {
  readonly weather: DeviceState;
  readonly terrace: DeviceState;
  /** The time in seconds, by which a cloud drifts. */
  readonly seconds: number;
}

/** The garden in front of the house as a PNG: dark at night, and lit while the terrace lights are on. */
export function gardenPicture({ weather, terrace, seconds }: Scenery): Buffer {
  const daylight = Math.min(1, Math.max(0, Number(weather["illuminance"] ?? 0) / BRIGHT_LX) ** 0.4);
  const isLit = terrace["on"] === true;
  const cloudAt = ((seconds * CLOUD_SPEED) % (WIDTH + 2 * CLOUD_WIDTH)) - CLOUD_WIDTH;
  return encodePng(WIDTH, HEIGHT, (x, y) => {
    const distance = Math.hypot(x - LAMP_AT.x, y - LAMP_AT.y);
    const light = isLit ? Math.max(daylight, 1 - distance / 90) : daylight;
    if (isLit && distance < 5) return LAMP;
    if (y < HORIZON && !isHouse(x, y)) {
      const sky = mixed(NIGHT, DAY, daylight * (0.75 + y / 400));
      return isCloud(x - cloudAt, y) ? mixed(sky, CLOUD, 0.15 + 0.5 * daylight) : sky;
    }
    return mixed(NIGHT, colorAt(x, y), 0.2 + 0.8 * light);
  });
}

const COVER_SIZE = 128;

/** The cover of a track as a PNG: a sun over hills, in colours that follow from its title. */
export function coverPicture({ title }: DeviceState): Buffer {
  const seed = Array.from(typeof title === "string" ? title : "").reduce(
    (sum, letter) => sum + letter.charCodeAt(0) * 7,
    0,
  );
  const tint = (at: number): number => 90 + Math.round(80 * Math.sin(seed + at));
  const sky: Rgb = [tint(0), tint(2), tint(4)];
  const hills: Rgb = [tint(1) / 2, tint(3) / 2, tint(5) / 2];
  const sunAt = { x: 30 + (seed % 64), y: 34 + (seed % 24) };
  return encodePng(COVER_SIZE, COVER_SIZE, (x, y) => {
    const hill = 84 + 14 * Math.sin(x / 22 + seed);
    if (y > hill) return mixed(hills, NIGHT, (y - hill) / COVER_SIZE);
    const glow = Math.max(0, 1 - Math.hypot(x - sunAt.x, y - sunAt.y) / 46);
    return mixed(mixed(NIGHT, sky, 0.4 + y / 200), LAMP, glow > 0.62 ? 1 : glow);
  });
}

/** True inside three puffs, around the point 0, 30. */
const isCloud = (x: number, y: number) =>
  [
    [-22, 34, 14],
    [0, 28, 20],
    [24, 34, 15],
  ].some(([centre = 0, middle = 0, radius = 0]) => Math.hypot(x - centre, y - middle) < radius);

const isHouse = (x: number, y: number) => x >= 200 && y >= 44;

function colorAt(x: number, y: number): Rgb {
  if (isHouse(x, y) && y < 132) return x >= 256 && x < 290 && y >= 72 ? DOOR : WALL;
  const edge = 272 - (y - 132) * 1.6;
  return y >= 132 && Math.abs(x - edge) < 18 + (y - 132) / 2 ? PATH : LAWN;
}

const mixed = ([r, g, b]: Rgb, [red, green, blue]: Rgb, share: number): Rgb => [
  r + (red - r) * share,
  g + (green - g) * share,
  b + (blue - b) * share,
];

/** A PNG of 8-bit RGB pixels (PNG specification, third edition). */
function encodePng(width: number, height: number, colorOf: (x: number, y: number) => Rgb): Buffer {
  const row = 1 + width * 3; // each row begins with its filter, which is none
  const pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) pixels.set(colorOf(x, y), y * row + 1 + x * 3);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8); // 8 bits, RGB
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(pixels)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(checksum(body));
  return Buffer.concat([length, body, sum]);
}

/** The CRC-32 of a PNG chunk; Node 20 has none. */
function checksum(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

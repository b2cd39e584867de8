import type { Color } from "@mantel/plugin-sdk";
import { toHueSaturation } from "@mantel/plugin-sdk";
import { type Fields, numberOf, refuseFields, textOf, Unmappable } from "./scope.ts";

/** Common colour names of CSS. */
const NAMES: Readonly<Record<string, readonly [red: number, green: number, blue: number]>> = {
  red: [255, 0, 0],
  green: [0, 128, 0],
  lime: [0, 255, 0],
  blue: [0, 0, 255],
  yellow: [255, 255, 0],
  orange: [255, 165, 0],
  orangered: [255, 69, 0],
  purple: [128, 0, 128],
  pink: [255, 192, 203],
  hotpink: [255, 105, 180],
  cyan: [0, 255, 255],
  aqua: [0, 255, 255],
  magenta: [255, 0, 255],
  fuchsia: [255, 0, 255],
  violet: [238, 130, 238],
  indigo: [75, 0, 130],
  gold: [255, 215, 0],
  white: [255, 255, 255],
};

type Values = Readonly<Record<string, boolean | number | string | Color>>;

/** The fields of a light in the data of `light.turn_on`. @throws Unmappable */
export function lightValues(data: Fields, note: (sentence: string) => void): Values {
  refuseFields(data, [
    ...["brightness_step", "brightness_step_pct", "flash", "profile", "white", "rgbw_color"],
    "rgbww_color",
  ]);
  if (data["transition"] !== undefined) note("lights change at once: transitions are left out");
  const brightness = brightnessOf(data);
  if (brightness === 0) return { on: false };
  const kelvin = kelvinOf(data);
  const color = colorOf(data);
  return {
    on: true,
    ...(brightness !== undefined && { brightness }),
    ...(kelvin !== undefined && { colorTemperature: kelvin }),
    ...(color && { color }),
    ...(data["effect"] !== undefined && { effect: textOf(data["effect"], "effect") }),
  };
}

function brightnessOf(data: Fields): number | undefined {
  const percent = data["brightness_pct"];
  if (percent !== undefined && percent !== null) return within(numberOf(percent, "brightness_pct"));
  const level = data["brightness"];
  if (level === undefined || level === null || level === "") return undefined;
  const number = numberOf(level, "brightness");
  // a lamp that is on does not go below 1
  return number <= 0 ? 0 : Math.max(1, within(Math.round((number / 255) * 100)));
}

const within = (percent: number) => Math.min(100, Math.max(0, percent));

function kelvinOf(data: Fields): number | undefined {
  for (const name of ["color_temp_kelvin", "kelvin"]) {
    if (data[name] !== undefined) return Math.round(numberOf(data[name], name));
  }
  if (data["color_temp"] === undefined) return undefined;
  const mireds = numberOf(data["color_temp"], "color_temp");
  if (mireds <= 0) throw new Unmappable(`"color_temp" is not a colour temperature`);
  return Math.round(1_000_000 / mireds);
}

function colorOf(data: Fields): Color | undefined {
  if (data["color_name"] !== undefined) {
    const name = textOf(data["color_name"], "color_name").toLowerCase().replaceAll(" ", "");
    const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
    if (!known) throw new Unmappable(`the colour name "${name.slice(0, 50)}" is not known`);
    return fromRgb(...known);
  }
  if (data["rgb_color"] !== undefined) {
    const [red, green, blue] = numbers(data["rgb_color"], "rgb_color", 3);
    return fromRgb(red ?? 0, green ?? 0, blue ?? 0);
  }
  if (data["hs_color"] !== undefined) {
    const [hue = 0, saturation = 0] = numbers(data["hs_color"], "hs_color", 2);
    return { hue: Math.min(360, Math.max(0, hue)), saturation: within(saturation) };
  }
  if (data["xy_color"] === undefined) return undefined;
  const [x = 0, y = 0] = numbers(data["xy_color"], "xy_color", 2);
  return toHueSaturation({ x, y });
}

function numbers(value: unknown, name: string, count: number): number[] {
  const list = typeof value === "string" ? value.replaceAll(/[[\]()]/g, "").split(",") : value;
  if (!Array.isArray(list) || list.length !== count) {
    throw new Unmappable(`"${name}" is not a list of ${count} numbers`);
  }
  return list.map((each) => numberOf(each, name));
}

/** Red, green and blue from 0 to 255 as hue and saturation. */
function fromRgb(red: number, green: number, blue: number): Color {
  const most = Math.max(red, green, blue);
  const spread = most - Math.min(red, green, blue);
  if (most <= 0 || spread <= 0) return { hue: 0, saturation: 0 };
  const sixth =
    most === red
      ? (green - blue) / spread + (green < blue ? 6 : 0)
      : most === green
        ? (blue - red) / spread + 2
        : (red - green) / spread + 4;
  return { hue: Math.round(sixth * 60) % 360, saturation: Math.round((spread / most) * 100) };
}

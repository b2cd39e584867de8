import { type Color, type DeviceCommand, toKelvin, toLevel, toPercent } from "@mantel/plugin-sdk";
import { choicesIn, mapped, numberIn, rounded, textIn, toNumber, when } from "./attributes.ts";
import { choice, COLOR, type Domain, onOff, PERCENT, SWITCH } from "./domain.ts";
import type { Attributes } from "./entities.ts";

const COLORS = ["hs", "xy", "rgb", "rgbw", "rgbww"];
/** Default bounds of Home Assistant for lights without their own. */
const WARMEST = 2_000;
const COLDEST = 6_535;

/** The bounds of the vocabulary. */
const [LEAST, MOST] = [500, 20_000];

/** The highest brightness. */
const FULL = 255;

/** `light`: brightness 0 to 255 there, percent here; colour as hue and saturation. */
export const light: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const modes = choicesIn(attributes, "supported_color_modes");
    const dims = modes.some((mode) => mode !== "onoff" && mode !== "unknown");
    const [min, max] = whites(attributes);
    const white = { type: "number", min, max, unit: "K" } as const;
    const mode = textIn(attributes, "color_mode");
    return {
      kind: "light",
      capabilities: {
        on: SWITCH,
        ...when(dims, { brightness: PERCENT }),
        ...when(modes.includes("color_temp"), { colorTemperature: white }),
        ...when(modes.some(isColorful), { color: COLOR }),
        ...choice("effect", choicesIn(attributes, "effect_list")),
      },
      // one that is off tells none of these, and what is known of them stays
      state: {
        on: onOff(entity),
        brightness: mapped(numberIn(attributes, "brightness"), (level) => toPercent(level, FULL)),
        // a light that shines white also reports the colour that this white looks like
        color: mode === "color_temp" ? null : colorIn(attributes),
        colorTemperature: isColorful(mode)
          ? null
          : mapped(kelvinIn(attributes, "color_temp_kelvin", "color_temp"), (kelvin) =>
              Math.min(max, Math.max(min, kelvin)),
            ),
        effect: textIn(attributes, "effect"),
      },
    };
  },

  calls({ on, brightness, ...rest }) {
    if (on === false) return [{ service: "light.turn_off" }];
    const data = {
      ...when(brightness !== undefined, { brightness: dimmed(Number(brightness)) }),
      ...colorOf(rest),
      ...when(rest["effect"] !== undefined, { effect: rest["effect"] }),
    };
    return [{ service: "light.turn_on", data }];
  },

  confirms({ field }, { state }) {
    return field !== "on" && state === "off" ? false : undefined;
  },
};

/** A light that is dimmed to nothing shines as dimly as it can: the level 0 would turn it off. */
const dimmed = (percent: number): number => Math.max(1, toLevel(percent, FULL));

function colorIn({ hs_color: color }: Attributes): Color | undefined {
  const [hue, saturation] = Array.isArray(color) ? color.map(toNumber) : [];
  if (hue === undefined || saturation === undefined) return undefined;
  return { hue: rounded(hue, 1), saturation: rounded(saturation, 1) };
}

const isColorful = (mode = ""): boolean => COLORS.includes(mode);

/** The warmest and the coldest white, in kelvin. */
function whites(attributes: Attributes): [min: number, max: number] {
  const min = kelvinIn(attributes, "min_color_temp_kelvin", "max_mireds") ?? WARMEST;
  const max = kelvinIn(attributes, "max_color_temp_kelvin", "min_mireds") ?? COLDEST;
  const isPlausible = min < max && min >= LEAST && max <= MOST;
  return isPlausible ? [min, max] : [WARMEST, COLDEST];
}

/** Older versions tell mireds alone. */
function kelvinIn(attributes: Attributes, kelvins: string, mireds: string): number | undefined {
  const kelvin = numberIn(attributes, kelvins);
  const mired = numberIn(attributes, mireds);
  if (kelvin !== undefined) return kelvin;
  return mired === undefined || mired <= 0 ? undefined : toKelvin(mired);
}

/** A light takes a colour or a white; of both the one that comes last counts. */
function colorOf(command: DeviceCommand): Record<string, unknown> {
  const fields = Object.keys(command);
  const { color, colorTemperature } = command;
  const isWhite = fields.indexOf("colorTemperature") > fields.indexOf("color");
  if (isWhite) return { color_temp_kelvin: colorTemperature };
  return typeof color === "object" ? { hs_color: [color.hue, color.saturation] } : {};
}

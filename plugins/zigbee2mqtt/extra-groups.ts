import type { Draft } from "./drafts.ts";
import type { Feature } from "./feature.ts";

/** Words in the names of settings that are made once. */
const SETUP =
  /calibration|sensitivity|threshold|interval|timeout|offset|limit|_delay|delay_|power_on|backlight|indicator|_led|led_|_type$|level_config|deadband|min_|max_|_min|_max|operation_mode|switch_mode|switch_actions|reset|orientation|unit$|startup|schedule|display|radio|fading|detection$|_enable|enable_|identify|_check$/i;
/** Words in the names of values about the device itself. */
const ABOUT_DEVICE =
  /linkquality|device_temperature|power_outage|uptime|count$|_count_|firmware|version|serial|_address|wifi|rssi|error|diagnostic/i;

/** Where users find an extra: definitions say so for some, and names tell for others. */
export function groupOf({ expose, path, capability }: Draft): NonNullable<Feature["group"]> {
  const isSettable = capability.readOnly !== true;
  if (expose.category === "config") return "configuration";
  if (expose.category === "diagnostic") return "diagnostic";
  const name = path.join("_");
  if (isSettable) return path.length > 1 || SETUP.test(name) ? "configuration" : "main";
  return ABOUT_DEVICE.test(name) ? "diagnostic" : "main";
}

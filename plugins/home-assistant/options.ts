import { type Static, Type } from "@mantel/plugin-sdk";

/** The domains whose entities can be devices. Scenes are `scene`, which become scenes. */
export const DOMAINS = [
  "light",
  "switch",
  "input_boolean",
  "sensor",
  "binary_sensor",
  "cover",
  "climate",
  "fan",
  "lock",
  "media_player",
  "vacuum",
  "alarm_control_panel",
  "number",
  "input_number",
  "select",
  "input_select",
  "button",
  "input_button",
  "humidifier",
  "water_heater",
  "siren",
  "valve",
  "lawn_mower",
  "event",
  "update",
  "text",
  "input_text",
  "date",
  "time",
  "datetime",
  "input_datetime",
  "weather",
  "calendar",
  "camera",
  "image",
  "device_tracker",
  "person",
  "scene",
] as const;
export type DomainName = (typeof DOMAINS)[number];

export const Options = Type.Object({
  url: Type.String({
    title: "Address",
    description: "where Home Assistant answers, such as http://homeassistant.local:8123",
    pattern: "^(https?|wss?)://[^\\s@/?#]+(/[^\\s@?#]*)?$",
    maxLength: 500,
  }),
  token: Type.String({
    title: "Access token",
    description: "a long-lived one, made on the page of your Home Assistant user, under Security",
    pattern: "^[\\x21-\\x7e]+$",
    maxLength: 4_000,
    writeOnly: true,
  }),
  ca: Type.Optional(
    Type.String({ title: "Certificate (PEM) to trust instead of the system's", minLength: 1 }),
  ),
  domains: Type.Array(Type.Enum([...DOMAINS]), {
    title: "Which entities",
    default: [...DOMAINS],
    uniqueItems: true,
  }),
});
export type Options = Static<typeof Options>;

/** The URL and credentials of the connection. */
export type Address = Pick<Options, "url" | "token" | "ca">;

/** The address of the websocket API below what people write. */
export const socketUrl = (url: string): URL => below(url.replace(/^http/, "ws"), "websocket");

/** The address of a path of the REST API. */
export const restUrl = (url: string, path: string): URL => below(url.replace(/^ws/, "http"), path);

function below(url: string, path: string): URL {
  return new URL(`${url.replace(/\/+$/, "")}/api/${path}`);
}

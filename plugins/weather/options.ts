import { type Static, Type } from "@mantel/plugin-sdk";

/** The place and the service of the forecast. */
export const Options = Type.Object({
  source: Type.Enum(["open-meteo", "met-norway"], {
    title: "Whose forecast",
    default: "open-meteo",
  }),
  latitude: Type.Optional(
    Type.Number({
      title: "Latitude in degrees, north is above 0",
      description: "Only for another place than the home.",
      minimum: -90,
      maximum: 90,
    }),
  ),
  longitude: Type.Optional(
    Type.Number({
      title: "Longitude in degrees, east is above 0",
      description: "Only for another place than the home.",
      minimum: -180,
      maximum: 180,
    }),
  ),
  place: Type.Optional(Type.String({ title: "Name of the place", maxLength: 200 })),
  refreshMinutes: Type.Integer({
    title: "Minutes between two readings",
    minimum: 10,
    maximum: 1_440,
    default: 30,
  }),
  contact: Type.Optional(
    Type.String({
      title: "Mail address or site",
      description: "MET Norway asks those who call to say who they are.",
      pattern: "^[\\x21-\\x7e]{3,200}$",
    }),
  ),
  url: Type.Optional(
    Type.String({
      title: "Another address that answers in the same way",
      description: "Such as an Open-Meteo of your own; without a query.",
      pattern: "^https?://[^\\s?#]+$",
      maxLength: 1_000,
    }),
  ),
});
export type Options = Static<typeof Options>;

import { type CanonicalCapabilities, fact, reading, text } from "./canonical.ts";

/**
 * Readings that a device of every kind may have. Sources: the measurement clusters of the Matter Application Cluster
 * Specification (chapter 2), and Home Assistant's device classes for sensors and binary sensors.
 */
export const READINGS = {
  // climate
  temperature: reading("temperature of the air, or of what the sensor touches", "°C"),
  humidity: reading("relative humidity of the air", "%", [0, 100]),
  dewPoint: reading("temperature at which water condenses", "°C"),
  pressure: reading("air pressure", "hPa", [0]),
  // light
  illuminance: reading("brightness of the surroundings", "lx", [0]),
  uvIndex: reading("ultraviolet index", undefined, [0]),
  solarIrradiance: reading("power of the sun on a surface", "W/m²", [0]),
  // electricity
  power: reading("active power; negative when fed in", "W"),
  energy: reading("consumed energy, a counter", "kWh"),
  energyReturned: reading("energy fed in, a counter", "kWh"),
  voltage: reading("voltage", "V"),
  current: reading("current", "A"),
  frequency: reading("mains frequency", "Hz", [0]),
  apparentPower: reading("apparent power", "VA"),
  reactivePower: reading("reactive power", "var"),
  powerFactor: reading("active power divided by apparent power, in percent", "%", [-100, 100]),
  // air
  co2: reading("carbon dioxide", "ppm", [0]),
  co: reading("carbon monoxide", "ppm", [0]),
  voc: reading("volatile organic compounds, by mass", "µg/m³", [0]),
  vocParts: reading("volatile organic compounds, by volume", "ppb", [0]),
  formaldehyde: reading("formaldehyde", "µg/m³", [0]),
  pm1: reading("particles up to 1 µm", "µg/m³", [0]),
  pm4: reading("particles up to 4 µm", "µg/m³", [0]),
  pm25: reading("particles up to 2.5 µm", "µg/m³", [0]),
  pm10: reading("particles up to 10 µm", "µg/m³", [0]),
  no2: reading("nitrogen dioxide", "µg/m³", [0]),
  ozone: reading("ozone", "µg/m³", [0]),
  so2: reading("sulphur dioxide", "µg/m³", [0]),
  airQualityIndex: reading("air quality index", undefined, [0]),
  // water, gas and soil
  moisture: reading("moisture of soil or material", "%", [0, 100]),
  water: reading("consumed water, a counter", "m³", [0]),
  gasVolume: reading("consumed gas, a counter", "m³", [0]),
  flow: reading("volume that flows", "m³/h"),
  conductivity: reading("conductivity of soil or water", "µS/cm", [0]),
  acidity: reading("pH value", undefined, [0, 14]),
  // weather
  windSpeed: reading("wind speed", "km/h", [0]),
  windGust: reading("speed of gusts", "km/h", [0]),
  windDirection: reading("direction the wind comes from, clockwise from north", "°", [0, 360]),
  rain: reading("rain, a counter or the sum of a day", "mm", [0]),
  rainRate: reading("rain that falls", "mm/h", [0]),
  visibility: reading("visibility", "km", [0]),
  cloudCover: reading("share of the sky under clouds", "%", [0, 100]),
  // other measures
  distance: reading("distance", "m", [0]),
  weight: reading("weight", "kg"),
  noise: reading("sound pressure level", "dB"),
  speedOfDevice: reading("speed of the device itself", "km/h", [0]),
  // the device itself
  battery: reading("charge of the battery", "%", [0, 100]),
  batteryVoltage: reading("voltage of the battery", "V"),
  signal: reading("strength of the radio signal", "dBm"),
  lastAction: {
    ...text("name of the last gesture, such as `single`; gestures are events as well"),
    types: ["text", "choice"],
  },
  // yes or no
  motion: fact("true while something moves"),
  occupancy: fact("true while somebody is there"),
  presence: fact("true while somebody or something is present"),
  contact: fact("true while closed"),
  waterLeak: fact("true while there is water where none should be"),
  smoke: fact("true while there is smoke"),
  gas: fact("true while there is combustible gas"),
  carbonMonoxide: fact("true while there is carbon monoxide"),
  vibration: fact("true while the device vibrates"),
  moving: fact("true while the device itself moves"),
  tamper: fact("true when somebody has opened or moved the device"),
  sound: fact("true while there is sound"),
  lightDetected: fact("true while there is light"),
  raining: fact("true while it rains"),
  cold: fact("true while it is too cold"),
  hot: fact("true while it is too hot"),
  problem: fact("true while something is wrong"),
  unsafe: fact("true while the place is not safe"),
  connected: fact("true while a connection stands"),
  pluggedIn: fact("true while a plug is in"),
  charging: fact("true while the battery charges"),
  running: fact("true while a machine runs"),
  poweredOn: fact("true while there is power"),
  batteryLow: fact("true when the battery should be changed"),
  windowOpen: fact("true while the device believes that a window is open"),
  sos: fact("true after a call for help"),
  updateAvailable: fact("true when newer firmware can be installed"),
} satisfies CanonicalCapabilities;

export type ReadingName = keyof typeof READINGS;

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDescriptions } from "../../../host/devices/parse-devices.ts";
import { until } from "../../helpers/until.ts";
import { real, startHome } from "./home.ts";

/**
 * A robot as Valetudo announces it (`VacuumHassComponent.js` and `HassComponent.js` of github.com/Hypfer/Valetudo), with
 * a battery sensor beside it.
 */
const ROBOT = {
  device: { identifiers: ["robot"], name: "Robot", manufacturer: "Valetudo", model: "D9" },
  availability_topic: "valetudo/robot/$state",
  payload_available: "ready",
  payload_not_available: "lost",
};

test("a robot of Valetudo cleans, docks and follows its availability", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  const base = "valetudo/robot/hass/robot_vacuum";
  await peer.tell("homeassistant/vacuum/robot/robot_vacuum/config", {
    ...ROBOT,
    unique_id: "robot_vacuum",
    name: "Robot",
    supported_features: ["status", "start", "stop", "pause", "return_home", "fan_speed", "locate"],
    state_topic: `${base}/state`,
    command_topic: `${base}/command`,
    payload_start: "START",
    payload_pause: "PAUSE",
    payload_return_to_base: "HOME",
    payload_stop: "STOP",
    payload_locate: "LOCATE",
    fan_speed_list: ["low", "medium", "max"],
    set_fan_speed_topic: "valetudo/robot/FanSpeedControlCapability/preset/set",
  });
  await peer.tell("homeassistant/sensor/robot/robot_battery/config", {
    ...ROBOT,
    unique_id: "robot_battery",
    name: "Battery level",
    device_class: "battery",
    unit_of_measurement: "%",
    state_topic: "valetudo/robot/BatteryStateAttribute/level",
  });
  await peer.tell("valetudo/robot/$state", "ready", true);
  await peer.tell(`${base}/state`, { state: "docked", fan_speed: "low" }, true);
  await peer.tell("valetudo/robot/BatteryStateAttribute/level", "87", true);
  const robot = () => [...bridge.devices.values()].find(({ kind }) => kind === "vacuum");
  await until(() => robot()?.state["battery"] === 87 && robot()?.state["action"] === "docked");
  const commands: string[] = [];
  await peer.hear(`${base}/command`, (payload) => commands.push(payload));

  for (const name of ["start", "dock"]) {
    await bridge.command(robot()?.nativeId ?? "", { [name]: true });
  }

  await until(() => commands.length === 2);
  assert.deepEqual(commands, ["START", "HOME"]);
  assert.equal(robot()?.state["fanSpeed"], "low");
  await peer.tell("valetudo/robot/$state", "lost");
  await until(() => robot()?.available === false);
});

/** The readings of a weather station as rtl_433_mqtt_hass.py announces them (github.com/merbanan/rtl_433). */
const STATION = [
  {
    suffix: "T",
    name: "Temperature",
    class: "temperature",
    unit: "°C",
    field: "temperature_C",
    told: "7.4",
  },
  { suffix: "H", name: "Humidity", class: "humidity", unit: "%", field: "humidity", told: "84" },
  {
    suffix: "F",
    name: "Temperature",
    class: "temperature",
    unit: "°F",
    field: "temperature_F",
    told: "50",
  },
  {
    suffix: "B",
    name: "Battery",
    class: "battery",
    unit: "%",
    field: "battery_ok",
    told: "1",
    template: "{{ float(value) * 99 + 1 }}",
  },
  {
    suffix: "WS",
    name: "Wind Average",
    unit: "km/h",
    field: "wind_avg_m_s",
    told: "2.5",
    template: "{{ (float(value|float) * 3.6) | round(2) }}",
  },
  { suffix: "rssi", class: "signal_strength", unit: "dB", field: "rssi", told: "-12.04" },
] as const;

test(
  "a weather station of rtl_433 is one device with its readings in canonical units",
  real,
  async (t) => {
    const { peer, bridge } = await startHome(t);
    const topic = (field: string) => `rtl_433/host/devices/Fineoffset-WHx080/1/${field}`;
    for (const reading of STATION) {
      const id = `Fineoffset-WHx080-1-${reading.suffix}`;
      await peer.tell(`homeassistant/sensor/Fineoffset-WHx080-1/${id}/config`, {
        ...("class" in reading ? { device_class: reading.class } : {}),
        ...("name" in reading ? { name: reading.name } : {}),
        unit_of_measurement: reading.unit,
        value_template: "template" in reading ? reading.template : "{{ value|float }}",
        state_class: "measurement",
        state_topic: topic(reading.field),
        unique_id: id,
        device: {
          identifiers: ["Fineoffset-WHx080-1"],
          name: "Fineoffset-WHx080-1",
          model: "Fineoffset-WHx080",
          manufacturer: "rtl_433",
        },
      });
    }
    await until(() => bridge.devices.size === 1);
    const station = () => [...bridge.devices.values()][0];
    const count = () => {
      const { capabilities, extra } = station() ?? {};
      return Object.keys({ ...capabilities, ...extra?.capabilities }).length;
    };
    await until(() => count() === STATION.length);
    for (const { field, told } of STATION) await peer.tell(topic(field), told, true);

    await until(() => station()?.state["humidity"] === 84);
    await until(() => Object.values(station()?.extra?.state ?? {}).includes(-12.04));
    const { kind, state, extra } = station() ?? assert.fail("there is no station");
    assert.equal(kind, "sensor");
    assert.deepEqual(state, { battery: 100, humidity: 84, temperature: 10, windSpeed: 9 });
    assert.deepEqual(extra?.state, { fineoffsetWhx0801T: 7.4, signal: -12.04 });
    const published = [{ ...(station() ?? assert.fail()) }];
    assert.equal(parseDescriptions("ha-discovery", published).length, 1);
  },
);

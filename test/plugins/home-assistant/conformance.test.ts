import { test } from "node:test";
import { assertConforms } from "@mantel/plugin-sdk/conformance";
import { assertListed } from "../../helpers/conforming-devices.ts";
import { startHome } from "./home.ts";

const STORED = "Home Assistant takes it when the siren is turned on, and does not report it";

for (const unit of ["°C", "°F"]) {
  test(`the bridge conforms in a home in ${unit}`, async (t) => {
    const { fake, bridge } = await startHome(t, unit);
    const entityOf = (nativeId: string) =>
      fake.entities.has(nativeId)
        ? nativeId
        : ([...fake.registry].find(([, { id }]) => id === nativeId)?.[0] ?? "");
    const before = new Map<string, { state: string; attributes: Record<string, unknown> }>();

    const tested = await assertConforms({
      plugin: bridge,
      codes: { "lock.safe": "1234", "alarm_control_panel.office": "1234" },
      settle: (nativeId) => fake.settle(entityOf(nativeId)),
      stall: (nativeId) => fake.stall(entityOf(nativeId)),
      setReachable(nativeId, isReachable) {
        const id = entityOf(nativeId);
        const entity = fake.entities.get(id);
        if (!isReachable && entity) before.set(id, entity);
        fake.headFor(id);
        const { state = "", attributes = {} } = before.get(id) ?? {};
        fake.set(id, isReachable ? state : "unavailable", attributes);
      },
      except: { "reg-sofa effect": "one of its effects is there to be refused" },
      untold: {
        "siren.hall tone": STORED,
        "siren.hall volume": STORED,
        "siren.hall duration": STORED,
        "input_text.pin value": "it is a password, which is never shown",
        "reg-update extra/installVersion": "it names the version to install",
      },
      texts: {
        "input_text.pin value": ["4711", "0815"],
        "date.holiday value": ["2026-12-24", "2027-01-06"],
        "time.wake value": ["06:30:00", "07:15:00"],
        "datetime.backup value": ["2026-11-20T12:00:00+00:00", "2026-11-21T03:30:00+00:00"],
        "input_datetime.party value": ["2026-11-20 19:00:00", "2027-01-01 00:00:00"],
        "input_datetime.lunch value": ["12:30:00", "13:00:00"],
      },
      reportMs: 5_000,
    });
    await assertListed("home-assistant", tested);
  });
}

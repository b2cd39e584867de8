import { createInterface } from "node:readline";
import { FakeHueBridge } from "../test/fakes/hue-bridge.ts";
import { idOf } from "../test/fakes/hue-home.ts";

// node --import tsx scripts/fake-hue.ts: a fake Hue bridge, for trying the plugin.

const bridge = new FakeHueBridge({ eventEveryMs: 1_000 });
await bridge.start();
console.log(`fake Hue bridge ${bridge.id} listens at ${bridge.address}
Enter presses the link button and opens or closes the door; Ctrl-C stops the bridge`);

let isOpen = false;
createInterface({ input: process.stdin }).on("line", () => {
  isOpen = !isOpen;
  bridge.pressButton();
  bridge.change(idOf("door-1-contact-0"), {
    contact_report: {
      state: isOpen ? "no_contact" : "contact",
      changed: new Date().toISOString(),
    },
  });
  console.log(`link button pressed; the door is ${isOpen ? "open" : "closed"}`);
});

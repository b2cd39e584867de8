import { createInterface } from "node:readline";
import { FakeHueBridge } from "../test/fakes/hue-bridge.ts";

// node --import tsx scripts/fake-hue.ts: a Hue bridge without hardware, to pair and to play with.

const bridge = new FakeHueBridge({ eventEveryMs: 1_000 });
await bridge.start();
console.log(`a Hue bridge with the id ${bridge.id} listens at ${bridge.address}
Enter presses its button and opens the door; Ctrl-C ends it`);

let isOpen = false;
createInterface({ input: process.stdin }).on("line", () => {
  isOpen = !isOpen;
  bridge.pressButton();
  bridge.change("door-1-contact-0", {
    contact_report: {
      state: isOpen ? "no_contact" : "contact",
      changed: new Date().toISOString(),
    },
  });
  console.log(`the button is pressed, and the door is ${isOpen ? "open" : "closed"}`);
});

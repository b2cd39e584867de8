// node --import tsx scripts/fake-home-assistant.ts: a fake Home Assistant with devices, for trying the plugin.

import { furnish } from "../test/fakes/home-assistant-entities.ts";
import { FakeHomeAssistant } from "../test/fakes/home-assistant.ts";

const fake = new FakeHomeAssistant();
furnish(fake);
await fake.listen();
console.log(JSON.stringify({ url: fake.url, token: fake.token }));

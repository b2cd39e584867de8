import { testHostilePlugins } from "./hostile.ts";

testHostilePlugins(["the network", "the channel"]);

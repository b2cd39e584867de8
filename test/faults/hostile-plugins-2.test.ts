import { testHostilePlugins } from "./hostile-plugins.ts";

testHostilePlugins(["the network", "the channel"]);

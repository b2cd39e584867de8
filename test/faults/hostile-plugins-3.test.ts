import { testHostilePlugins } from "./hostile-plugins.ts";

testHostilePlugins(["other processes"]);

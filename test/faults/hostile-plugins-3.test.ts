import { testHostilePlugins } from "./hostile.ts";

testHostilePlugins(["other processes"]);

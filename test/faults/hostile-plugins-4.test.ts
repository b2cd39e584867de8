import { testHostilePlugins } from "./hostile-plugins.ts";

testHostilePlugins(["the storage limit"]);
